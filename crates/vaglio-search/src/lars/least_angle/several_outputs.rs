//! Paths of several outputs: rows of W enter together, by the norm ‖u_j‖ of a column's correlations with all residuals.
//!
//! With C the relevance, features × outputs, and U = C − QW, active columns share ‖u_j‖ = λ, and the next column enters
//! when its norm reaches λ.
//!
//! T. Similä and J. Tikka, *Multiresponse sparse regression with application to multidimensional scaling*, ICANN 2005;
//! M. Yuan and Y. Lin, *Model selection and estimation in regression with grouped variables*, JRSS B 68 (2006).

use super::active_set::norm;
use super::group::Point;
use super::{LeastAngle, LeastAngleEvent, PathShape};
use vaglio_kernels::parallel;
use vaglio_kernels::sums::axpy;
use vaglio_kernels::tolerance::EQUAL_CORRELATION;

impl LeastAngle {
    /// W, row-major, at a λ between the knot that [`LeastAngle::advance`] returned last and the one before; `None` if
    /// the columns are too nearly dependent. Cost O(s²·q), for groups O(s³) for each of a few Newton steps.
    pub fn at(&self, lambda: f64) -> Option<Vec<f64>> {
        let (from, before) = &self.last_knot;
        let share = (from - lambda) / (from - self.lambda);
        let guess = before.iter().zip(&self.norms).map(|(a, b)| a + share * (b - a)).collect();
        let norms = match self.shape {
            PathShape::GroupLasso if lambda > self.lambda => self.solve_norms(lambda, guess, None)?,
            _ => self.norms.clone(),
        };
        Some(self.weights_at(lambda, &norms)?.concat())
    }

    /// Direction of an entering column: its normalized correlations with the residuals.
    pub(super) fn direction(&self, feature: usize, rows: &[Vec<f64>]) -> Vec<f64> {
        let direction: Vec<f64> = self.residual_products(rows).into_iter().map(|output| output[feature]).collect();
        let length = norm(direction.iter().copied());
        direction.iter().map(|d| d / length).collect()
    }

    /// Possible next events of multiresponse regression.
    pub(super) fn multiresponse_events(&self) -> Option<Vec<LeastAngleEvent>> {
        let falling = self.falling(&self.solve(|active, output| self.directions[active][output]));
        Some(self.entries(&self.residual_products(&self.weights()?), &falling))
    }

    /// Columns whose norm ‖u_j − a f_j‖ reaches λ − a, with that a.
    pub(super) fn entries(&self, left: &[Vec<f64>], falling: &[Vec<f64>]) -> Vec<LeastAngleEvent> {
        let entry = |j: usize| {
            let sum = |a: &[Vec<f64>], b: &[Vec<f64>]| a.iter().zip(b).map(|(a, b)| a[j] * b[j]).sum::<f64>();
            let length = sum(left, left).sqrt();
            let gap = (self.lambda - length).max(0.0) * (self.lambda + length);
            let (square, linear) = (sum(falling, falling) - 1.0, self.lambda - sum(left, falling));
            Some(LeastAngleEvent::new(root(square, linear, gap, self.lambda)?, j, 1.0, None))
        };
        self.outside().filter_map(entry).collect()
    }

    /// Open columns that are not active.
    pub(super) fn outside(&self) -> impl Iterator<Item = usize> {
        let mut open = self.open.clone();
        self.active.columns.iter().for_each(|active| open[active.feature] = false);
        (0..open.len()).filter(move |&j| open[j])
    }

    /// W at the current λ, row-major; `None` if the columns are too nearly dependent.
    pub(super) fn weights(&self) -> Option<Vec<Vec<f64>>> {
        self.weights_at(self.lambda, &self.norms)
    }

    /// W at a λ, given the row norms of a group path there.
    fn weights_at(&self, lambda: f64, norms: &[f64]) -> Option<Vec<Vec<f64>>> {
        let relevance = |active: usize, output: usize| self.relevance[output][self.active.columns[active].feature];
        match self.shape {
            _ if lambda == 0.0 => Some(self.solve(relevance)),
            PathShape::GroupLasso => Some(Point::new(self, lambda, norms)?.weights(norms)),
            _ => Some(self.solve(|k, output| relevance(k, output) - lambda * self.directions[k][output])),
        }
    }

    /// Q_AA⁻¹B, row-major.
    fn solve(&self, b: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
        let size = self.active.columns.len();
        let outputs = (0..self.relevance.len())
            .map(|output| self.active.solve(&(0..size).map(|k| b(k, output)).collect::<Vec<f64>>()))
            .collect::<Vec<_>>();
        (0..size).map(|k| outputs.iter().map(|output| output[k]).collect()).collect()
    }

    /// Q_·A W, for each output. Cost O(n·s) each.
    pub(super) fn falling(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let sums = |output: usize| {
            let mut sum = vec![0.0; self.open.len()];
            self.active.columns.iter().zip(rows).for_each(|(a, row)| axpy(row[output], &a.gram, &mut sum));
            sum
        };
        parallel::map(self.relevance.len(), sums)
    }

    /// U = C − Q_·A W, for each output.
    pub(super) fn residual_products(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut fits = self.falling(rows);
        for (fit, relevance) in fits.iter_mut().zip(&self.relevance) {
            fit.iter_mut().zip(relevance).for_each(|(fit, c)| *fit = c - *fit);
        }
        fits
    }
}

/// The least a > 0, or a = 0 if the norm comes from below, with `square`·a² + 2·`linear`·a = `gap` for a non-negative
/// `gap`.
fn root(square: f64, linear: f64, gap: f64, lambda: f64) -> Option<f64> {
    if square.abs() <= EQUAL_CORRELATION && linear.abs() <= EQUAL_CORRELATION * lambda {
        return None;
    }
    let spread = (linear * linear + square * gap).max(0.0).sqrt();
    let a = if linear > 0.0 { gap / (linear + spread) } else { (spread - linear) / square };
    (a.is_finite() && a >= 0.0).then_some(a)
}
