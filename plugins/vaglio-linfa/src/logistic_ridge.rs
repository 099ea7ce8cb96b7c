//! Ridge logistic regression, by L-BFGS.

use crate::conversion::{check_both, check_task, finite, inputs, softmax};
use crate::{TargetKinds, matrix};
use argmin::core::{CostFunction, Executor, Gradient, IterState};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use ndarray::{Array2, s};
use std::cell::RefCell;
use vaglio_core::{Error, Result, max_abs, prelude::*, row_weights, sum_of_products, sum_of_squares};

/// Ridge logistic regression: Σ_i v_i ln(1/P_i) + λ/2 ‖W‖² with row weights v and P_i the probability of the row's
/// class; intercepts are not penalized.
///
/// For two classes P is 1/(1 + exp(−z)), for more the softmax of one z each. Predictions are 2P − 1, so that
/// `log_loss`, `auc` and squared errors (four times Brier's score) judge the probability. L-BFGS runs on centered
/// columns of unit size, which changes no minimum. It ends when the gradient is 10⁻⁹ of the sum of weights. Cost O(rows
/// · columns · outputs) per step.
#[part(
    Learner,
    "logistic_ridge",
    summary = "ridge logistic regression in the chosen columns, refitted for every subset",
    example = "learner: {kind: logistic_ridge, lambda: 1.0}"
)]
#[derive(Copy, PartialEq)]
pub struct LogisticRidge {
    /// Penalty λ, above 0.
    #[default(1.0)]
    pub lambda: f64,
    /// Maximum number of L-BFGS steps.
    #[default(1000)]
    pub iterations: u64,
}

/// Coefficients of the original columns.
#[saved(ModelData, "logistic_ridge")]
struct LogisticRidgeModel {
    inputs: Vec<Feature>,
    /// Inputs × outputs.
    weights: Array2<f64>,
    intercept: Vec<f64>,
}

impl ModelData for LogisticRidgeModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn check(&self) -> Result<()> {
        let outputs = self.intercept.len();
        let is_finite = self.weights.iter().chain(&self.intercept).all(|v| v.is_finite());
        if outputs == 0 || self.weights.dim() != (self.inputs.len(), outputs) || !is_finite {
            let found = self.weights.dim();
            return Err(Error::Shape(format!(
                "{found:?} weights and {outputs} intercepts do not fit, or are not finite"
            )));
        }
        Ok(())
    }

    fn predict(&self, inputs: &Columns, _series: Option<&[u32]>) -> Result<Array2<f64>> {
        let (rows, x) = (inputs.rows(), matrix(inputs));
        let mut out = Array2::zeros((self.intercept.len(), rows));
        for (row, mut column) in out.columns_mut().into_iter().enumerate() {
            let at = |o: usize| sum_of_products(x.row(row), self.weights.column(o));
            let mut z: Vec<f64> = (0..self.intercept.len()).map(|o| self.intercept[o] + at(o)).collect();
            match &mut z[..] {
                [z] => *z = (*z / 2.0).tanh(),
                several => {
                    softmax(several);
                    several.iter_mut().for_each(|p| *p = 2.0 * *p - 1.0);
                }
            }
            column.iter_mut().zip(z).for_each(|(out, z)| *out = z);
        }
        finite("logistic_ridge", out)
    }
}

impl Learner for LogisticRidge {
    fn readout(&self) -> Result<Option<Readout>> {
        Ok(None)
    }

    fn check_settings(&self) -> Result<()> {
        Error::unless_between("lambda", self.lambda, 1e-12..=1e12)?;
        Error::unless_between("iterations", self.iterations, 1..=1_000_000)
    }

    fn check(&self, problem: &Problem) -> Result<()> {
        check_task("logistic_ridge", TargetKinds::Classes, problem)
    }

    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        self.check_settings()?;
        for (targets, name) in problem.targets().rows().into_iter().zip(problem.target_names().iter()) {
            check_both("logistic_ridge", targets, name)?;
        }
        let (inputs, mut x) = inputs(problem, subset);
        let weight = row_weights(problem.weights());
        let total: f64 = (0..x.nrows()).map(weight).sum();
        let mut units = Vec::new();
        for mut column in x.columns_mut() {
            let mean = column.iter().enumerate().map(|(row, v)| weight(row) / total * v).sum::<f64>();
            column.mapv_inplace(|v| v - mean);
            let most = max_abs(&column);
            let deviation = if most > 1e-13 * mean.abs() { most } else { 0.0 };
            column.mapv_inplace(|v| if deviation > 0.0 { v / deviation } else { 0.0 });
            units.push((mean, deviation));
        }
        let penalty = |(_, unit): &(f64, f64)| if *unit > 0.0 { self.lambda / total / unit / unit } else { 1.0 };
        let start = vec![0.0; problem.targets().nrows() * (units.len() + 1)];
        let nearest = RefCell::new(Nearest { parameters: start.clone(), gradient: f64::INFINITY, since: 0 });
        let objective = LogisticObjective { x, problem, penalty: units.iter().map(penalty).collect(), total, nearest };
        let parameters = self.minimum(&objective, start)?;
        let place = |k: usize, o: usize| o * (units.len() + 1) + k;
        let weights = Array2::from_shape_fn((units.len(), problem.targets().nrows()), |(k, o)| match units[k].1 {
            0.0 => 0.0,
            unit => parameters[place(k, o)] / unit,
        });
        let shift = |o: usize| sum_of_products(units.iter().map(|(mean, _)| mean), weights.column(o));
        let intercept = (0..weights.ncols()).map(|o| parameters[place(units.len(), o)] - shift(o)).collect();
        let weights = weights.slice_move(s![..inputs.len(), ..]);
        Model::new(LogisticRidgeModel { weights, inputs, intercept })
    }
}

/// Objective over centered and scaled columns. Parameters: for each output its weights, then its intercept.
struct LogisticObjective<'p> {
    x: Array2<f64>,
    problem: &'p Problem,
    /// λ divided by the square of each column's scale and by the sum of weights.
    penalty: Vec<f64>,
    total: f64,
    nearest: RefCell<Nearest>,
}

/// Parameters of the smallest gradient so far.
struct Nearest {
    parameters: Vec<f64>,
    gradient: f64,
    /// Number of gradients since that were not smaller.
    since: usize,
}

impl Nearest {
    /// Records a gradient.
    ///
    /// # Errors
    /// Fails if none is smaller for long. Close to the minimum, values differ by rounding alone, and argmin's line
    /// search would not end.
    fn see(&mut self, parameters: &[f64], gradient: &[f64]) -> Result<(), argmin::core::Error> {
        let norm = sum_of_squares(gradient).sqrt();
        if norm < self.gradient {
            *self = Nearest { parameters: parameters.to_vec(), gradient: norm, since: 0 };
            return Ok(());
        }
        self.since += 1;
        if self.since < PATIENCE { Ok(()) } else { Err(argmin::core::Error::msg("no gradient is smaller")) }
    }
}

impl LogisticObjective<'_> {
    /// Objective and its gradient, both divided by the sum of weights.
    fn at(&self, parameters: &[f64]) -> (f64, Vec<f64>) {
        let (targets, columns) = (self.problem.targets(), self.x.ncols());
        let mut gradient = vec![0.0; parameters.len()];
        let mut value = 0.0;
        for (row, x) in self.x.rows().into_iter().enumerate() {
            let score = |own: &[f64]| own[columns] + sum_of_products(x, own);
            let mut z: Vec<f64> = parameters.chunks_exact(columns + 1).map(score).collect();
            let class = |o: usize| targets[[o, row]] > 0.0;
            let loss = match &mut z[..] {
                [z] => {
                    let margin = targets[[0, row]] * *z;
                    let loss = (-margin).max(0.0) + (-margin.abs()).exp().ln_1p();
                    *z = 1.0 / (1.0 + (-*z).exp());
                    loss
                }
                several => {
                    let own: f64 = (0..several.len()).filter(|&o| class(o)).map(|o| several[o]).sum();
                    softmax(several) - own
                }
            };
            let weight = row_weights(self.problem.weights())(row) / self.total;
            value += weight * loss;
            for (o, own) in gradient.chunks_exact_mut(columns + 1).enumerate() {
                let slope = weight * (z[o] - f64::from(u8::from(class(o))));
                own[columns] += slope;
                own.iter_mut().zip(x).for_each(|(g, x)| *g += slope * x);
            }
        }
        for (own, w) in gradient.chunks_exact_mut(columns + 1).zip(parameters.chunks_exact(columns + 1)) {
            for ((g, w), penalty) in own.iter_mut().zip(w).zip(&self.penalty) {
                value += penalty * w * w / 2.0;
                *g += penalty * w;
            }
        }
        (value, gradient)
    }
}

impl CostFunction for &LogisticObjective<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, parameters: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        Ok(self.at(parameters).0)
    }
}

impl Gradient for &LogisticObjective<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, parameters: &Vec<f64>) -> Result<Vec<f64>, argmin::core::Error> {
        let gradient = self.at(parameters).1;
        self.nearest.borrow_mut().see(parameters, &gradient)?;
        Ok(gradient)
    }
}

/// Gradient that ends the search, and the largest that is accepted if no smaller one is found.
const ENOUGH: [f64; 2] = [1e-9, 1e-6];
/// Number of gradients without improvement after which the search ends.
const PATIENCE: usize = 200;

impl LogisticRidge {
    fn minimum(&self, objective: &LogisticObjective<'_>, start: Vec<f64>) -> Result<Vec<f64>> {
        let failed = |error: argmin::core::Error| Error::failed("`logistic_ridge` cannot be fitted", error);
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), 10).with_tolerance_grad(ENOUGH[0]).map_err(failed)?;
        let solver = solver.with_tolerance_cost(0.0).map_err(failed)?;
        let configured = |state: IterState<_, _, _, _, _, f64>| state.param(start).max_iters(self.iterations);
        let ended = Executor::new(objective, solver).configure(configured).run();
        let nearest = objective.nearest.borrow();
        match (nearest.gradient, ended) {
            (gradient, _) if gradient <= ENOUGH[1] => Ok(nearest.parameters.clone()),
            (gradient, Err(error)) => {
                Err(Error::Numerical(format!("`logistic_ridge` is not solved: {error} than {gradient:e}")))
            }
            (gradient, Ok(_)) => {
                let steps = self.iterations;
                let message = format!("`logistic_ridge` is not solved in {steps} steps: the gradient is {gradient:e}");
                Err(Error::Numerical(message))
            }
        }
    }
}
