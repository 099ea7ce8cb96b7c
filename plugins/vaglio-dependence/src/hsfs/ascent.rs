//! Gradient ascent on column weights.

use crate::hsic::Hsic;
use crate::hsic::weights::PairWeights;
use crate::kernel_matrix::{PaddedColumn, RowPairs, row_shares, standardized_column};
use argmin::core::{CostFunction, Executor, Gradient, IterState};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use std::cell::RefCell;
use vaglio_core::{Design, Error, Feature, Result, max_abs, sum_of_products, sum_of_squares};
use vaglio_kernels::parallel;
use vaglio_kernels::tolerance::ASCENT_SLOPE;

/// Steps that L-BFGS remembers.
const MEMORY: usize = 10;

/// Dependence as a function of u, with wᵢ = uᵢ²/Σ u².
pub(super) struct Ascent<'d> {
    design: &'d Design,
    weights: PairWeights,
    /// −1/2σ².
    scale: f64,
    columns: Vec<PaddedColumn>,
    /// Largest slope at the start, by which the minimized function is divided.
    size: f64,
    seen: RefCell<ObjectiveCache>,
}

/// Evaluations so far: the highest value, and the last one with its gradient.
struct ObjectiveCache {
    u: Vec<f64>,
    value: f64,
    last: Option<(Vec<f64>, f64, Vec<f64>)>,
    stopped: Option<Error>,
}

impl<'d> Ascent<'d> {
    /// Prepares kernels of target and columns. Cost O(nm + m²).
    pub fn new(hsic: &Hsic, design: &'d Design, features: &[Feature]) -> Self {
        let shares = row_shares(design);
        let column = |&feature: &Feature| {
            PaddedColumn::new(
                &standardized_column(design, feature, &shares).unwrap_or_else(|| vec![0.0; design.rows()]),
            )
        };
        let start = vec![1.0; features.len()];
        Ascent {
            design,
            weights: PairWeights::new(hsic, design),
            scale: hsic.kernel.scale(1),
            columns: parallel::map_slice(features, column),
            size: 1.0,
            seen: RefCell::new(ObjectiveCache { u: start, value: f64::NEG_INFINITY, last: None, stopped: None }),
        }
    }

    /// Dependence at weights w, and its gradient. Cost O(nm²).
    ///
    /// # Errors
    /// [`Error::Numerical`] if one of them is not finite.
    fn dependence(&self, w: &[f64]) -> Result<(f64, Vec<f64>)> {
        let (mut distances, scale) = (RowPairs::zeros(self.weights.pairs.rows()), self.scale);
        for (column, w) in self.columns.iter().zip(w).filter(|(_, w)| **w > 0.0) {
            distances.add_distances(&column.times(w.sqrt()));
        }
        let pairs = self.weights.pairs.times_exp(&distances, scale);
        let slope = |column: &PaddedColumn| {
            scale
                * pairs.sum_with(
                    &pairs,
                    column,
                    #[inline(always)]
                    |_, square| square,
                )
        };
        let (value, slopes) = (pairs.total() + self.weights.own, parallel::map_slice(&self.columns, slope));
        match value.is_finite() && slopes.iter().all(|slope| slope.is_finite()) {
            true => Ok((value, slopes)),
            false => Err(Error::Numerical("the dependence is no number".into())),
        }
    }

    /// Weights of a local maximum, starting from equal weights, which are kept if the slopes there are 0. Cost O(nm²) per
    /// step, including its line search.
    ///
    /// # Errors
    /// Returns the errors of [`Ascent::dependence`], and [`Error::Stopped`].
    pub fn maximum(mut self, steps: u64) -> Result<Vec<f64>> {
        let count = self.columns.len();
        if count < 2 {
            return Ok(vec![1.0; count]);
        }
        let start = vec![1.0; count];
        self.size = max_abs(&self.dependence(&simplex(&start))?.1);
        if self.size == 0.0 {
            return Ok(simplex(&start));
        }
        let failed = |error: argmin::core::Error| Error::failed("`hsfs`", error);
        let solver =
            LBFGS::new(MoreThuenteLineSearch::new(), MEMORY).with_tolerance_grad(ASCENT_SLOPE).map_err(failed)?;
        let solver = solver.with_tolerance_cost(0.0).map_err(failed)?;
        let configured = |state: IterState<_, _, _, _, _, f64>| state.param(start).max_iters(steps);
        // A failed line search ends the ascent at the best point.
        let _ = Executor::new(&self, solver).configure(configured).run();
        let ObjectiveCache { u, stopped, .. } = self.seen.into_inner();
        match stopped {
            Some(error) => Err(error),
            None => Ok(simplex(&u)),
        }
    }

    /// Minimized function −f(w(u))/size and its gradient, −2uᵢ(gᵢ − Σ wg)/(size·Σ u²).
    fn objective(&self, u: &[f64]) -> Result<(f64, Vec<f64>), argmin::core::Error> {
        if let Some((last, value, gradient)) = &self.seen.borrow().last
            && last == u
        {
            return Ok((*value, gradient.clone()));
        }
        let (w, total) = (simplex(u), sum_of_squares(u));
        let found = self.design.problem().sign().check().and_then(|()| self.dependence(&w));
        let mut seen = self.seen.borrow_mut();
        let (value, slopes) = found.map_err(|error| {
            seen.stopped = Some(error);
            argmin::core::Error::msg("stopped")
        })?;
        if value > seen.value {
            (seen.u, seen.value) = (u.to_vec(), value);
        }
        let mean = sum_of_products(&slopes, &w);
        let down = |(u, slope): (&f64, &f64)| -2.0 * u * (slope - mean) / (self.size * total);
        let gradient: Vec<f64> = u.iter().zip(&slopes).map(down).collect();
        seen.last = Some((u.to_vec(), -value / self.size, gradient.clone()));
        Ok((-value / self.size, gradient))
    }
}

/// wᵢ = uᵢ²/Σ u².
fn simplex(u: &[f64]) -> Vec<f64> {
    let total = sum_of_squares(u);
    u.iter().map(|u| u * u / total).collect()
}

impl CostFunction for &Ascent<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, u: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        Ok(self.objective(u)?.0)
    }
}

impl Gradient for &Ascent<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, u: &Vec<f64>) -> Result<Vec<f64>, argmin::core::Error> {
        Ok(self.objective(u)?.1)
    }
}
