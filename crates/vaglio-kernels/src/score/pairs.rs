//! Pairs of a row of each class in the wrong order (1 − AUC).

use super::Scorer;
use super::radix_sort::ascending;
use crate::tolerance::TIED_PREDICTION;

impl Scorer {
    /// Share of pairs of a row of each class that predictions order wrongly, ties counted half; NaN if a prediction is
    /// NaN.
    ///
    /// Sums n·(P + p/2) over ties from the lowest, where p and n are the weights of their positives and negatives, and
    /// P that of the positives below. A tie comprises all rows within [`TIED_PREDICTION`] of its lowest. Cost that of
    /// [`ascending`].
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
            let (weight, of_positive) = (self.targets.weight(row), is_positive * self.targets.weight(row));
            plus += of_positive;
            minus += weight - of_positive;
        }
        pairs += minus * (positives + 0.5 * plus);
        pairs / ((positives + plus) * (negatives + minus))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measure;
    use crate::score::Targets;
    use std::sync::Arc;

    /// The definition: ties start at the lowest value; every pair of rows in two ties counts.
    fn plain(predictions: &[f64], targets: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
        let mut order: Vec<usize> = (0..predictions.len()).collect();
        order.sort_by(|&a, &b| predictions[a].total_cmp(&predictions[b]));
        let (mut rank, mut first) = (vec![0; order.len()], 0);
        for (place, &row) in order.iter().enumerate() {
            if predictions[row] > predictions[order[first]] + TIED_PREDICTION {
                first = place;
            }
            rank[row] = first;
        }
        let of_class = |positive: bool| order.iter().copied().filter(move |&row| (targets[row] > 0.0) == positive);
        let (mut pairs, mut all) = (0.0, 0.0);
        for plus in of_class(true) {
            for minus in of_class(false) {
                let product = weight(plus) * weight(minus);
                all += product;
                pairs += match rank[plus].cmp(&rank[minus]) {
                    std::cmp::Ordering::Less => product,
                    std::cmp::Ordering::Equal => 0.5 * product,
                    std::cmp::Ordering::Greater => 0.0,
                };
            }
        }
        pairs / all
    }

    /// Returns a reproducible number between −1 and 1.
    fn noise(j: usize) -> f64 {
        (j as f64 * 78.233 + 12.9898).sin() * 43758.5453 % 1.0
    }

    #[test]
    fn pairs_are_those_of_the_definition_whatever_is_tied() {
        let kinds: [fn(usize) -> f64; 7] = [
            noise,
            |_| 0.5,
            // Clustered ties: exact, within rounding, and in chains longer than the tie width.
            |j| (3.0 * noise(j)).round(),
            |j| (3.0 * noise(j)).round() + 1e-15 * noise(j + 3),
            |j| (3.0 * noise(j)).round() + 3e-12 * noise(j + 3),
            |j| 5e-11 * noise(j),
            |j| if j == 9 { 1e6 } else { (20.0 * noise(j)).round() + 0.8e-12 * (j % 5) as f64 },
        ];
        for kind in kinds {
            for rows in [2, 10, 100, 1500] {
                let predictions: Vec<f64> = (0..rows).map(kind).collect();
                let y: Vec<f64> =
                    (0..rows).map(|j| if j == 0 || noise(7 * j + 2) > 0.1 { 1.0 } else { -1.0 }).collect();
                let y = if y.iter().all(|y| *y > 0.0) { [&y[1..], &[-1.0]].concat() } else { y };
                for is_weighted in [false, true] {
                    let root: Vec<f64> =
                        (0..rows).map(|j| [1.0, 0.5, 2.0, 0.0][j % 4 * usize::from(is_weighted)]).collect();
                    let targets = Targets {
                        root: is_weighted.then(|| root.clone()),
                        scaled: vec![y.clone()],
                        total_weight: root.iter().map(|r| r * r).sum(),
                    };
                    let found = Scorer::new(Arc::new(targets), Measure::Auc).wrong_pairs(&predictions);
                    let expected = plain(&predictions, &y, |row| root[row] * root[row]);
                    // All terms are multiples of one sixteenth, so sums are exact.
                    assert!(found == expected || expected.is_nan(), "{rows} rows: {found} is not {expected}");
                }
            }
        }
    }

    #[test]
    fn a_prediction_that_is_no_number_gives_none() {
        let y = vec![1.0, -1.0, 1.0];
        let targets = Targets { root: None, scaled: vec![y], total_weight: 3.0 };
        let scorer = Scorer::new(Arc::new(targets), Measure::Auc);
        assert!([f64::NAN, -f64::NAN].iter().all(|nan| scorer.wrong_pairs(&[0.5, *nan, 0.25]).is_nan()));
    }
}
