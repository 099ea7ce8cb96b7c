//! Confidence intervals for the loss of a selection on new rows.
//!
//! Held-out losses are dependent, since the models of all folds share training rows, so their standard error is too
//! small. The delivered model is one more than the K that were evaluated, so the error is √(K/(K − 1)) standard errors.
//! The bounds come from [`StandardizedMoments::interval`](vaglio_report::StandardizedMoments::interval), which handles
//! skewed losses.
//!
//! A loss chosen as the lowest of many is optimistic. The optimism is the mean loss of each fold at the choice of the
//! *other* folds, minus the lowest loss. It is added to the upper bound.
//!
//! # Reference
//! R. J. Tibshirani, R. Tibshirani, *A bias correction for the minimum error rate in
//! cross-validation*, Annals of Applied Statistics 3 (2009).

use super::FoldLosses;
use vaglio_core::Loss;
use vaglio_report::has_width;
use vaglio_report::record::LEAST_P;

impl<'t> FoldLosses<'t> {
    /// Mean loss with its interval, or the mean difference to `less` on the same rows; `gained` is the optimism of the
    /// choice. Returns `None` if: there are too few rows or folds; all rows have the same loss. The interval is limited
    /// to the range of the loss.
    pub fn mean_with_interval(
        &self,
        loss: &dyn Loss,
        less: Option<&FoldLosses<'t>>,
        gained: f64,
        level: f64,
    ) -> Option<(f64, [f64; 2])> {
        let mean = self.mean(loss).ok()? - less.map_or(Some(0.0), |less| less.mean(loss).ok())?;
        let spread = self.spread(loss, less)?;
        let (plain, _) = spread.clusters.or(spread.folds)?;
        let folds = (self.folds.len() / self.repeats.max(1)).max(2) as f64;
        let error = (folds / (folds - 1.0) * plain).sqrt();
        // Infinite losses have no interval.
        if less.is_none() && !has_width(mean, error) {
            return None;
        }
        let shape = self.shape(less);
        let [low, _] = shape.interval(mean, error, level);
        let [_, high] = shape.interval(mean + gained.max(0.0), error, level);
        let [least, most] = loss.traits().range;
        let [least, most] = if less.is_some() { [least - most, most - least] } else { [least, most] };
        let within = |end: f64| end.max(least).min(most);
        (low.is_finite() && high.is_finite()).then(|| (mean, [within(low), within(high)]))
    }

    /// p-value of the hypothesis that these losses are not below those of `other` on the same rows, by inverting the
    /// one-sided interval; at least [`LEAST_P`]. Returns `None` for too few rows or folds.
    pub fn chance_below(&self, loss: &dyn Loss, other: &FoldLosses<'t>) -> Option<f64> {
        let is_passed = |level: f64| {
            let bounded = self.mean_with_interval(loss, Some(other), 0.0, 1.0 - 2.0 * level);
            bounded.map(|(_, [_, high])| high < 0.0)
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
