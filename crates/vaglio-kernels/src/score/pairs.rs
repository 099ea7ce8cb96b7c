//! Pairs of a row of each class in the wrong order (1 − AUC).

use super::Scorer;
use super::radix_sort::ascending;
use crate::tolerance::TIED_PREDICTION;

impl Scorer {
    /// Share of pairs of a row of each class that predictions order wrongly, ties counted half; NaN if a prediction is
    /// NaN.
    ///
    /// Sums n·(P + p/2) over ties from the lowest. Their positives and negatives weigh p and n, the positives below P.
    /// A tie comprises all rows within [`TIED_PREDICTION`] of its lowest. Cost that of [`ascending`].
    pub(super) fn wrong_pairs(&self, predictions: &[f64]) -> f64 {
        let rows = ascending(predictions, &self.targets.scaled[0], TIED_PREDICTION);
        // NaN sorts first or last.
        if [rows.first(), rows.last()].into_iter().flatten().any(|row| predictions[row.row()].is_nan()) {
            return f64::NAN;
        }
        let (mut pairs, mut positives, mut negatives) = (0.0, 0.0, 0.0);
        let (mut plus, mut minus, mut limit) = (0.0, 0.0, f64::NEG_INFINITY);
        for row in rows {
            let (is_positive, row) = (f64::from(u8::from(row.is_marked())), row.row());
            if predictions[row] > limit {
                // Pairs of each negative with the positives below it.
                pairs += minus * (positives + 0.5 * plus);
                positives += plus;
                negatives += minus;
                (plus, minus, limit) = (0.0, 0.0, predictions[row] + TIED_PREDICTION);
            }
            // Without a branch, which would be unpredictable.
            let (weight, positive_weight) = (self.targets.weight(row), is_positive * self.targets.weight(row));
            plus += positive_weight;
            minus += weight - positive_weight;
        }
        pairs += minus * (positives + 0.5 * plus);
        pairs / ((positives + plus) * (negatives + minus))
    }
}
