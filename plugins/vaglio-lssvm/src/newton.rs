//! Newton's method for kernel logistic regression.

use ndarray::{Array1, Array2, Axis, stack};
use vaglio_core::{Error, Result, max_abs};
use vaglio_kernels::linalg::Cholesky;
use vaglio_kernels::tolerance::{FLAT_SLOPE, SUFFICIENT_FALL};

/// Maximum number of steps; some tens are needed for very small λ.
const MOST_STEPS: usize = 200;
/// Maximum number of halvings of a step.
const MOST_HALVINGS: usize = 50;
/// Thresholds of the squared Newton decrement relative to the objective; the decrement is twice the gain of a step.
/// Below the first, the next step is the last. Below the second, steps are full, and the last one is where rounding
/// stops the decrement from falling.
const ENOUGH: [f64; 2] = [1e-20, 1e-8];

/// Objective Σ_j ln(1 + exp(−y_j f_j)) of weighted rows + ½ βᵀKβ/λ with f = Kβ/λ + b, over β = λα and b.
///
/// At the minimum β is the slope of the loss: it has the scale of the weights for any λ.
pub(crate) struct KernelLogisticObjective<'k> {
    /// Kernel of each pair of rows.
    pub kernel: &'k Array2<f64>,
    pub lambda: f64,
    /// Weight of each row inside and outside of the class.
    pub weights: Vec<[f64; 2]>,
}

/// An iterate: β, Kβ/λ and b.
#[derive(Clone)]
struct NewtonIterate {
    beta: Array1<f64>,
    mixed: Array1<f64>,
    intercept: f64,
}

impl NewtonIterate {
    fn step_by(&self, step: &NewtonIterate, by: f64) -> Self {
        NewtonIterate {
            beta: &self.beta + &(by * &step.beta),
            mixed: &self.mixed + &(by * &step.mixed),
            intercept: self.intercept + by * step.intercept,
        }
    }
}

impl KernelLogisticObjective<'_> {
    /// Minimizes the objective and returns α and b. Both classes must have weight. Cost O(rows³) per step.
    ///
    /// # Errors
    /// [`Error::Numerical`] if rounding or the number of steps ends the search too soon.
    pub fn minimum(&self) -> Result<(Vec<f64>, f64)> {
        let rows = self.weights.len();
        let total = |class: usize| self.weights.iter().map(|w| w[class]).sum::<f64>();
        let intercept = (total(0) / total(1)).ln();
        let mut at = NewtonIterate { beta: Array1::zeros(rows), mixed: Array1::zeros(rows), intercept };
        let (mut value, mut last) = (self.value(&at), f64::INFINITY);
        for _ in 0..MOST_STEPS {
            let (step, decrement) = self.step(&at)?;
            let is_near = decrement.abs() <= ENOUGH[1] * value;
            if decrement.abs() <= ENOUGH[0] * value || is_near && decrement.abs() > 0.5 * last {
                return self.checked_solution(at.step_by(&step, 1.0));
            }
            (at, last) = if is_near {
                (at.step_by(&step, 1.0), decrement.abs())
            } else {
                (self.line_search(&at, &step, value, decrement)?, f64::INFINITY)
            };
            value = self.value(&at);
        }
        Err(numerical_error(&format!("is not solved in {MOST_STEPS} steps")))
    }

    fn value(&self, at: &NewtonIterate) -> f64 {
        let loss = |mixed: &f64, [within, outside]: &[f64; 2]| {
            let f = mixed + at.intercept;
            let least = (-f.abs()).exp().ln_1p();
            within * ((-f).max(0.0) + least) + outside * (f.max(0.0) + least)
        };
        at.mixed.iter().zip(&self.weights).map(|(f, w)| loss(f, w)).sum::<f64>() + at.beta.dot(&at.mixed) / 2.0
    }

    /// Kv/λ.
    fn mix(&self, v: &Array1<f64>) -> Array1<f64> {
        self.kernel.dot(v) / self.lambda
    }

    /// Negative slopes of the loss in each row, and the roots of its curvatures.
    fn slopes(&self, at: &NewtonIterate) -> (Array1<f64>, Array1<f64>) {
        let rows = self.weights.len();
        let (mut slopes, mut roots) = (Array1::zeros(rows), Array1::zeros(rows));
        for (row, [within, outside]) in self.weights.iter().enumerate() {
            let f = at.mixed[row] + at.intercept;
            let small = (-f.abs()).exp();
            let (near, far) = (1.0 / (1.0 + small), small / (1.0 + small));
            let (own, other) = if f < 0.0 { (near, far) } else { (far, near) };
            slopes[row] = within * own - outside * other;
            roots[row] = ((within + outside) * (near * far)).sqrt();
        }
        (slopes, roots)
    }

    /// α and b of a final iterate, after checking that β equals the slopes.
    fn checked_solution(&self, end: NewtonIterate) -> Result<(Vec<f64>, f64)> {
        let heaviest = max_abs(self.weights.iter().flatten());
        let slopes = self.slopes(&end).0;
        if max_abs(&(&slopes - &end.beta)) <= FLAT_SLOPE * (max_abs(&slopes) + FLAT_SLOPE * heaviest) {
            return Ok(((&end.beta / self.lambda).to_vec(), end.intercept));
        }
        Err(numerical_error("loses its digits"))
    }

    /// Newton step, and the square of its decrement.
    ///
    /// With W the curvatures and g the slopes of the loss, Δβ = (I + WK/λ)⁻¹(g − β − W1·Δb), and Δb makes β + Δβ sum to
    /// 0. The inverse is I − √W·B⁻¹·√W·K/λ with B = I + √W·K·√W/λ, whose eigenvalues are at least 1, so nothing is
    /// divided by W.
    fn step(&self, at: &NewtonIterate) -> Result<(NewtonIterate, f64)> {
        let (slopes, roots) = self.slopes(at);
        let rest = &slopes - &at.beta;
        let pull = self.mix(&rest);
        let mut inner = Array2::zeros(self.kernel.raw_dim());
        for (i, (mut row, kernel)) in inner.rows_mut().into_iter().zip(self.kernel.rows()).enumerate() {
            // Only the lower half is read.
            let scale = roots[i] / self.lambda;
            row.iter_mut().zip(kernel).zip(&roots).take(i + 1).for_each(|((to, k), root)| *to = scale * k * root);
            row[i] += 1.0;
        }
        let known = stack![Axis(1), &roots * &pull, roots];
        let factor =
            Cholesky::new(inner.view()).map_err(|failure| numerical_error(&format!("is not solved, as {failure}")))?;
        let solved = factor.solve(known.view());
        let level = &roots * &solved.column(1);
        let beta = &rest - &(&roots * &solved.column(0));
        let all = level.sum();
        let intercept = if all > 0.0 { (beta.sum() + at.beta.sum()) / all } else { 0.0 };
        let beta = beta - intercept * level;
        let decrement = beta.dot(&pull) + intercept * slopes.sum();
        Ok((NewtonIterate { mixed: self.mix(&beta), beta, intercept }, decrement))
    }

    /// Backtracking line search: the full step, or the first halved one that lowers the objective enough. Enough is a
    /// share of the decrease that the slope predicts.
    fn line_search(
        &self,
        at: &NewtonIterate,
        step: &NewtonIterate,
        value: f64,
        decrement: f64,
    ) -> Result<NewtonIterate> {
        let by = |halvings: usize| 0.5f64.powi(halvings as i32);
        let tried = (0..MOST_HALVINGS).map(|halvings| (at.step_by(step, by(halvings)), by(halvings)));
        let mut lower = tried.filter(|(point, by)| self.value(point) <= value - SUFFICIENT_FALL * by * decrement);
        match lower.next() {
            Some((point, _)) if decrement > 0.0 => Ok(point),
            _ => Err(numerical_error("loses its digits")),
        }
    }
}

fn numerical_error(what: &str) -> Error {
    Error::Numerical(format!("`kernel_logistic` {what}: lambda is too small beside the weights of the rows; raise it"))
}
