//! Path of the group lasso, with curved segments.
//!
//! With ρ_j = ‖w_j‖ and w_j = ρ_j n_j, the conditions u_j = λn_j of the active columns are N = (Q diag ρ + λI)⁻¹C and
//! ‖n_j‖ = 1. They are as many smooth equations as columns, even where ρ_j is 0, as at every knot. Their Jacobian in ρ
//! is −H ∘ NNᵀ with H = (Q diag ρ + λI)⁻¹Q, where H ∘ NNᵀ is positive definite. With Q = LLᵀ, H = LT⁻¹Lᵀ, T = Lᵀ diag ρ
//! L + λI.

use super::active_set::norm;
use super::{LeastAngle, LeastAngleEvent};
use ndarray::{Array1, Array2, Axis};
use vaglio_core::{max_abs, minimum};
use vaglio_kernels::linalg::{Cholesky, gemm};
use vaglio_kernels::tolerance::{EQUAL_CORRELATION, SHORT_STEP, UNIT_LENGTH};

/// Maximum Newton steps, and attempts to reach a knot, before a path is given up.
const MOST_STEPS: usize = 60;
/// Maximum steps of iterative refinement of a solve.
const MOST_REFINEMENTS: usize = 6;

/// Directions N and H at λ and ρ.
pub(super) struct Point {
    l: Array2<f64>,
    t: Cholesky,
    n: Array2<f64>,
    h: Array2<f64>,
}

impl Point {
    /// Computes N and H. Cost O(s³ + s²·q).
    pub fn new(path: &LeastAngle, lambda: f64, norms: &[f64]) -> Option<Point> {
        let active = &path.active.columns;
        let c =
            Array2::from_shape_fn((active.len(), path.relevance.len()), |(k, o)| path.relevance[o][active[k].feature]);
        let q = Array2::from_shape_fn((active.len(), active.len()), |(i, j)| active[j].gram[active[i].feature]);
        let rho = Array1::from(norms.to_vec()).insert_axis(Axis(1));
        let l = path.active.factor.matrix();
        let mut t = gemm(l.t(), (&l * &rho).view());
        t.diag_mut().iter_mut().for_each(|d| *d += lambda);
        let t = Cholesky::new(t.view()).ok()?;
        let h = gemm(l.view(), t.solve(l.t()).view());
        let mut point = Point { l, t, n: c.clone(), h };
        point.n = point.solve(&c);
        // Iterative refinement, as long as the residual shrinks.
        let mut before = f64::INFINITY;
        for _ in 0..MOST_REFINEMENTS {
            let rest = &c - &gemm(q.view(), (&point.n * &rho).view()) - &point.n * lambda;
            let most = max_abs(&rest);
            if most >= 0.5 * before {
                break;
            }
            before = most;
            point.n = &point.n + &point.solve(&rest);
        }
        point.n.iter().all(|v| v.is_finite()).then_some(point)
    }

    /// (Q diag ρ + λI)⁻¹B = LT⁻¹L⁻¹B.
    fn solve(&self, b: &Array2<f64>) -> Array2<f64> {
        let mut x = b.clone();
        for i in 0..x.nrows() {
            for j in 0..i {
                let (before, mut rest) = x.view_mut().split_at(Axis(0), i);
                rest.row_mut(0).scaled_add(-self.l[[i, j]], &before.row(j));
            }
            x.row_mut(i).mapv_inplace(|v| v / self.l[[i, i]]);
        }
        gemm(self.l.view(), self.t.solve(x.view()).view())
    }

    /// diag(ρ)N, row-major.
    pub fn weights(&self, norms: &[f64]) -> Vec<Vec<f64>> {
        self.n.rows().into_iter().zip(norms).map(|(row, size)| row.iter().map(|n| n * size).collect()).collect()
    }

    /// ½(‖n_j‖² − 1); 0 for a row held at 0.
    fn excess(&self, held: Option<usize>) -> Array1<f64> {
        let mut excess = self.n.map_axis(Axis(1), |row| 0.5 * (row.dot(&row) - 1.0));
        held.into_iter().for_each(|place| excess[place] = 0.0);
        excess
    }

    /// (H ∘ NNᵀ)⁻¹g over the rows that are not held at 0.
    fn newton(&self, g: &Array1<f64>, held: Option<usize>) -> Option<Array1<f64>> {
        let mut matrix = &self.h * &gemm(self.n.view(), self.n.t());
        if let Some(place) = held {
            matrix.row_mut(place).fill(0.0);
            matrix.column_mut(place).fill(0.0);
            matrix[[place, place]] = 1.0;
        }
        let column = g.clone().insert_axis(Axis(1));
        Some(Cholesky::new(matrix.view()).ok()?.solve(column.view()).column(0).to_owned())
    }

    /// Derivatives dρ/dλ and dW/dλ.
    fn rates(&self, norms: &[f64]) -> Option<(Array1<f64>, Vec<Vec<f64>>)> {
        let p = self.solve(&self.n);
        let along = (&self.n * &p).sum_axis(Axis(1));
        let rho = -self.newton(&along, None)?;
        let turned = &self.n * &rho.clone().insert_axis(Axis(1));
        let n = -(&p + &gemm(self.h.view(), turned.view()));
        let rate = |k: usize| turned.row(k).iter().zip(n.row(k)).map(|(t, n)| t + norms[k] * n).collect();
        Some((rho, (0..norms.len()).map(rate).collect()))
    }
}

impl LeastAngle {
    /// Lowers λ along the curve to the next knot and returns the events there; `None` at the end of the path.
    ///
    /// Tangents predict the knot, and Newton's method returns to the curve. A step beyond a knot is halved or cut by
    /// the secant.
    pub(super) fn fall_to_next_knot(&mut self) -> Option<Vec<LeastAngleEvent>> {
        self.norms = self.solve_norms(self.lambda, self.norms.clone(), None)?;
        for _ in 0..MOST_STEPS {
            let point = Point::new(self, self.lambda, &self.norms)?;
            let (fall, rates) = point.rates(&self.norms)?;
            // dU/dλ = −Q_·A dW/dλ, so u falls at the rate −Q_·A dW/dλ.
            let rows: Vec<Vec<f64>> = rates.iter().map(|row| row.iter().map(|v| -v).collect()).collect();
            let mut events = self.entries(&self.residual_products(&point.weights(&self.norms)), &self.falling(&rows));
            for (place, active) in self.active.columns.iter().enumerate().filter(|(place, _)| fall[*place] > 0.0) {
                let after = self.norms[place].max(0.0) / fall[place];
                events.push(LeastAngleEvent::new(after, active.feature, 1.0, Some(place)));
            }
            let first = minimum(events.iter().map(|event| event.after));
            if first <= EQUAL_CORRELATION * self.largest {
                return Some(events);
            }
            let by = first.min(self.lambda);
            let (by, norms) = self.longest_step(by, &fall)?;
            (self.lambda, self.norms) = (if by >= self.lambda { 0.0 } else { self.lambda - by }, norms);
            if self.lambda <= EQUAL_CORRELATION * self.largest {
                return Some(Vec::new());
            }
        }
        None
    }

    /// Longest step found, at most `by`, that passes no knot, with ρ after it.
    fn longest_step(&self, by: f64, fall: &Array1<f64>) -> Option<(f64, Vec<f64>)> {
        let mut step = by;
        for _ in 0..MOST_STEPS {
            let lambda = (self.lambda - step).max(0.0);
            let guess = self.norms.iter().zip(fall).map(|(size, fall)| (size - step * fall).max(0.0)).collect();
            let Some(norms) = self.solve_norms(lambda, guess, None) else {
                step *= 0.5;
                continue;
            };
            let slack = EQUAL_CORRELATION * self.largest;
            match self.share_to_knot(lambda, &norms)? {
                share if share >= 1.0 => return Some((step, norms)),
                // The knot is within rounding.
                _ if step <= slack => return Some((step, norms)),
                share => step *= share.clamp(0.1, 0.999),
            }
        }
        None
    }

    /// Share of a step at which secants reach the first knot; 1 if the step passes none.
    fn share_to_knot(&self, lambda: f64, norms: &[f64]) -> Option<f64> {
        let slack = 0.1 * EQUAL_CORRELATION * self.largest;
        let before = self.residual_products(&Point::new(self, self.lambda, &self.norms)?.weights(&self.norms));
        let after = self.residual_products(&Point::new(self, lambda, norms)?.weights(norms));
        let length = |left: &[Vec<f64>], j: usize| norm(left.iter().map(|output| output[j]));
        let outside = self.outside().map(|j| (length(&before, j) - self.lambda, length(&after, j) - lambda));
        let inside = self.norms.iter().zip(norms).map(|(from, to)| (-from, -to));
        let share = |(from, to): (f64, f64)| if to > slack { (-from).max(0.0) / (to - from).max(slack) } else { 1.0 };
        Some(outside.chain(inside).map(share).fold(1.0, f64::min))
    }

    /// ρ at the current knot when the row of a place leaves: 0 there up to rounding, and set to 0.
    pub(super) fn norms_without(&self, place: usize) -> Option<Vec<f64>> {
        let mut norms = self.norms.clone();
        norms[place] = 0.0;
        self.solve_norms(self.lambda, norms, Some(place))
    }

    /// ρ at λ by damped Newton steps; a row may be held at 0.
    pub(super) fn solve_norms(&self, lambda: f64, mut norms: Vec<f64>, held: Option<usize>) -> Option<Vec<f64>> {
        let mut point = Point::new(self, lambda, &norms)?;
        let mut excess = point.excess(held);
        for _ in 0..MOST_STEPS {
            let step = point.newton(&excess, held)?;
            let mut share = 1.0;
            let better = loop {
                let next: Vec<f64> = norms.iter().zip(&step).map(|(size, by)| size + share * by).collect();
                let found = Point::new(self, lambda, &next).map(|point| (point.excess(held), point, next));
                match found.filter(|(g, ..)| max_abs(g) < max_abs(&excess)) {
                    Some(found) => break Some(found),
                    None if max_abs(&excess) <= UNIT_LENGTH || share < SHORT_STEP => break None,
                    None => share *= 0.5,
                }
            };
            let Some(found) = better else { break };
            (excess, point, norms) = found;
        }
        (max_abs(&excess) <= UNIT_LENGTH).then_some(norms)
    }
}
