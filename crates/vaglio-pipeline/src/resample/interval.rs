//! Intervals that are to hold the loss of a selection on new rows.
//!
//! Losses of rows held out depend on each other, through the training rows that the models of all folds share, so their standard
//! error is too small by a third or more. How far a cross-validated figure lies from the truth is measured instead. For each fold
//! j let ē_j be the mean of the losses of the other folds k by models without j and k, and l_j the mean loss of fold j by the
//! model without it: both estimate the loss of a procedure trained on the rows outside j, l_j from rows that none of the models
//! saw. With a = mean (ē_j − l_j)² and b = mean var(l_j), the mean squared error of a cross-validated figure is a − b of K − 1
//! folds, and (K − 1)/K of it of K. Of few folds this is uncertain, so its root is kept between √(K/(K − 1)) and √K plain
//! standard errors: the model that is delivered is one more than those that were judged.
//!
//! The bounds come by [`StandardizedMoments::interval`], which is for skewed losses. The estimate itself is that of all K folds.
//! The paper moves it by what smaller training sets cost, which is of the size of its own error where K is 5. Here the lower
//! bound alone moves, and never up: where models without two folds lose more on the mean than those without one, the model of
//! all rows is expected to lose less by (K − 2)/K of that, as a loss does whose part that learning costs falls with one over the
//! rows; by no more than a standard error, since rows that teach what no others do follow no such law. What was chosen for the lowest loss of many is too low by what choosing gains: with the loss of each fold at what the
//! *other* folds choose, that is its mean less the lowest loss. The upper bound is that of the figure plus what choosing gains.
//!
//! # Reference
//! S. Bates, T. Hastie, R. Tibshirani, *Cross-validation: what does it estimate and how well does it do it?*, Journal of the
//! American Statistical Association 119 (2024). R. J. Tibshirani, R. Tibshirani, *A bias correction for the minimum error rate in
//! cross-validation*, Annals of Applied Statistics 3 (2009).

use super::tally::Tally;
use vaglio_core::{Loss, StandardizedMoments, has_width};
use vaglio_report::record::LEAST_P;

/// The level of intervals where none is given.
pub const LEVEL: f64 = 0.95;

/// Losses of folds: by models without the fold, and by those without it and another.
#[derive(Debug, Clone, Default)]
pub struct Judged<'t> {
    /// Of every fold, repeat by repeat.
    pub outer: Vec<&'t Tally>,
    /// For each fold of the first repeat what the others lost without it; none where pairs were not trained.
    pub inner: Vec<Vec<&'t Tally>>,
    /// How often rows were dealt into folds.
    pub repeats: usize,
}

/// A mean loss, or what two differ by, with what the truth should lie between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalEstimate {
    pub mean: f64,
    pub interval: [f64; 2],
}

/// Means of the losses of one procedure, or of what it loses more than another on the same rows.
#[derive(Clone, Copy)]
struct Of<'a, 't> {
    loss: &'a dyn Loss,
    own: &'a Judged<'t>,
    less: Option<&'a Judged<'t>>,
}

impl<'t> Of<'_, 't> {
    fn mean(&self, of: impl Fn(&Judged<'t>) -> Vec<&'t Tally>) -> Option<f64> {
        let own = Tally::mean(self.loss, &of(self.own)).ok()?;
        let less = self.less.map(|less| Tally::mean(self.loss, &of(less)));
        Some(own - less.unwrap_or(Ok(0.0)).ok()?)
    }

    /// What models of all rows are expected to lose less than those without a fold, by what those without two lose more.
    fn learned(&self) -> Option<f64> {
        let folds = self.own.inner.len();
        let without_two = (0..folds).map(|fold| self.mean(|judged| judged.inner[fold].clone())).sum::<Option<f64>>()?;
        // The pairs are of the first repeat.
        let without_one = self.mean(|judged| judged.outer[..folds].to_vec())?;
        let folds = folds as f64;
        Some((folds - 2.0) / folds * (without_two / folds - without_one)).filter(|less| less.is_finite())
    }

    /// The squared standard error of the mean over some folds.
    fn variance(&self, folds: std::ops::Range<usize>, repeats: usize) -> Option<f64> {
        let less = self.less.map(|less| &less.outer[folds.clone()]);
        let spread = Tally::spread(self.loss, &self.own.outer[folds.clone()], less, repeats)?;
        spread.clusters.or(spread.folds).map(|(variance, _)| variance)
    }

    /// The mean squared error of the cross-validated figure, by pairs of folds.
    fn squared_error(&self) -> Option<f64> {
        let folds = self.own.inner.len();
        let of_fold = |fold: usize| -> Option<f64> {
            let inner = self.mean(|judged| judged.inner[fold].clone())?;
            let outer = self.mean(|judged| vec![judged.outer[fold]])?;
            Some((inner - outer).powi(2) - self.variance(fold..fold + 1, 1)?)
        };
        let all: Vec<f64> = (0..folds).map(of_fold).collect::<Option<_>>()?;
        let mean = all.iter().sum::<f64>() / folds as f64;
        (folds > 1 && mean.is_finite()).then(|| mean * (folds as f64 - 1.0) / folds as f64)
    }
}

impl<'t> Judged<'t> {
    /// Of folds alone.
    pub fn of(outer: &'t [Tally], repeats: usize) -> Self {
        Judged { outer: outer.iter().collect(), inner: Vec::new(), repeats }
    }

    /// The mean loss with its interval, or what it is above that of `less` on the same rows; `gained` is what choosing gained.
    /// `None` where too few rows or folds say nothing, and of a loss that all rows have alike. An interval ends where the loss does.
    pub fn bounded(
        &self,
        loss: &dyn Loss,
        less: Option<&Judged<'t>>,
        (gained, level): (f64, f64),
    ) -> Option<IntervalEstimate> {
        let has_pairs = !self.inner.is_empty() && less.is_none_or(|less| !less.inner.is_empty());
        let of = Of { loss, own: self, less };
        let mean = of.mean(|judged| judged.outer.clone())?;
        let plain = of.variance(0..self.outer.len(), self.repeats)?;
        let folds = (self.outer.len() / self.repeats.max(1)).max(2) as f64;
        let least = folds / (folds - 1.0) * plain;
        let squared = if has_pairs { of.squared_error() } else { None };
        // Of infinite losses it is no number, and there is no interval.
        let error = squared.unwrap_or(least).max(least).min(folds * plain).sqrt();
        if less.is_none() && !has_width(mean, error) {
            return None;
        }
        let shape: StandardizedMoments = Tally::shape(&self.outer, less.map(|less| &less.outer[..]));
        let learned = if has_pairs { of.learned() } else { None };
        let [low, _] = shape.interval(mean - learned.unwrap_or(0.0).max(0.0).min(error), error, level);
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
