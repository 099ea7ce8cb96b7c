//! Intervals that are to hold the loss of a selection on new rows.
//!
//! Losses of rows held out depend on each other, through the training rows that the models of all folds share, so their standard
//! error is too small. The model that is delivered is one more than the K that were judged: the error is √(K/(K − 1)) plain
//! standard errors. The bounds come by [`StandardizedMoments::interval`], which is for skewed losses.
//!
//! A loss that was chosen for the lowest of many is too low by what choosing gains: that is the mean of the losses of each fold at
//! what the *other* folds choose, less the lowest loss. The upper bound is that of the figure plus what choosing gains.
//!
//! # Reference
//! R. J. Tibshirani, R. Tibshirani, *A bias correction for the minimum error rate in
//! cross-validation*, Annals of Applied Statistics 3 (2009).

use super::tally::Tally;
use vaglio_core::{Loss, StandardizedMoments, has_width};
use vaglio_report::record::LEAST_P;

/// The level of intervals where none is given.
pub const LEVEL: f64 = 0.95;

/// Losses of folds by models without the fold.
#[derive(Debug, Clone)]
pub struct Judged<'t> {
    /// Of every fold, repeat by repeat.
    pub outer: Vec<&'t Tally>,
    /// How often rows were dealt into folds.
    pub repeats: usize,
}

/// A mean loss, or what two differ by, with what the truth should lie between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalEstimate {
    pub mean: f64,
    pub interval: [f64; 2],
}

impl<'t> Judged<'t> {
    /// Of folds alone.
    pub fn of(outer: &'t [Tally], repeats: usize) -> Self {
        Judged { outer: outer.iter().collect(), repeats }
    }

    /// The mean loss with its interval, or what it is above that of `less` on the same rows; `gained` is what choosing gained.
    /// `None` where too few rows or folds say nothing, and of a loss that all rows have alike. An interval ends where the loss does.
    pub fn bounded(
        &self,
        loss: &dyn Loss,
        less: Option<&Judged<'t>>,
        (gained, level): (f64, f64),
    ) -> Option<IntervalEstimate> {
        let others = less.map(|less| &less.outer[..]);
        let mean_of = |folds: &[&Tally]| Tally::mean(loss, folds).ok();
        let mean = mean_of(&self.outer)? - others.map_or(Some(0.0), mean_of)?;
        let spread = Tally::spread(loss, &self.outer, others, self.repeats)?;
        let (plain, _) = spread.clusters.or(spread.folds)?;
        let folds = (self.outer.len() / self.repeats.max(1)).max(2) as f64;
        let error = (folds / (folds - 1.0) * plain).sqrt();
        // Of infinite losses it is no number, and there is no interval.
        if less.is_none() && !has_width(mean, error) {
            return None;
        }
        let shape: StandardizedMoments = Tally::shape(&self.outer, others);
        let [low, _] = shape.interval(mean, error, level);
        let [_, high] = shape.interval(mean + gained.max(0.0), error, level);
        let [least, most] = loss.range();
        let [least, most] = if less.is_some() { [least - most, most - least] } else { [least, most] };
        let within = |end: f64| end.max(least).min(most);
        (low.is_finite() && high.is_finite()).then(|| IntervalEstimate { mean, interval: [within(low), within(high)] })
    }

    /// How likely noise loses so much less than `other` on the same rows: the level of the one-sided test that is just passed, at
    /// least [`LEAST_P`]. `None` where too few rows or folds say nothing.
    pub fn chance_below(&self, loss: &dyn Loss, other: &Judged<'t>) -> Option<f64> {
        let is_passed = |level: f64| {
            let bounded = self.bounded(loss, Some(other), (0.0, 1.0 - 2.0 * level));
            bounded.map(|bounded| bounded.interval[1] < 0.0)
        };
        let (mut passed, mut failed) = (0.5, LEAST_P);
        if !is_passed(passed)? {
            return Some(1.0);
        }
        if is_passed(failed)? {
            return Some(LEAST_P);
        }
        while passed - failed > 1e-6 * passed {
            let middle = 0.5 * (passed + failed);
            if is_passed(middle)? { passed = middle } else { failed = middle }
        }
        Some(passed)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
