//! Jackknife of losses over all rows: their values without some of the rows.

use super::Scorer;
use super::ascending::ascending;
use crate::Measure;
use crate::tolerance::{TIED_PREDICTION, WEIGHT_GONE};

/// Rows left out, each with the weight removed: all of its own, or a share.
pub(super) type Part = Vec<(usize, f64)>;

impl Scorer {
    /// Whether the loss is not a mean over rows.
    pub(super) fn is_pooled(&self) -> bool {
        !self.measure.is_of_rows()
    }

    /// Jackknife error √((n − 1)/n · Σ_k (θ_k − θ̄)²) with θ_k the loss without part k; `None` if undefined. Cost O(m
    /// log m).
    pub(super) fn jackknife(&self, residuals: &[Vec<f64>], parts: &[Part]) -> Option<f64> {
        if parts.len() < 2 {
            return None;
        }
        let without: Vec<f64> = match self.measure {
            Measure::Auc => {
                let pairs = WrongPairs::new(self, residuals);
                parts.iter().map(|part| pairs.without(part)).collect::<Option<_>>()?
            }
            Measure::Whole => {
                let predictions = self.predictions(residuals);
                parts.iter().map(|part| self.all_without(&predictions, part)).collect()
            }
            _ => {
                let classes = LossByClass::new(self, residuals)?;
                parts.iter().map(|part| classes.without(part)).collect::<Option<_>>()?
            }
        };
        let count = without.len() as f64;
        let mean = without.iter().sum::<f64>() / count;
        let squares: f64 = without.iter().map(|theta| (theta - mean) * (theta - mean)).sum();
        let error = ((count - 1.0) / count * squares).sqrt();
        error.is_finite().then_some(error)
    }

    /// Loss of all rows without those of a part. Cost O(m) plus that of the loss.
    fn all_without(&self, predictions: &[f64], part: &Part) -> f64 {
        let mut left: Vec<f64> = (0..self.targets.rows()).map(|row| self.targets.weight(row)).collect();
        for &(row, weight) in part {
            left[row] = if left[row] - weight > WEIGHT_GONE * left[row] { left[row] - weight } else { 0.0 };
        }
        let (targets, predictions, weights) = self.counted(predictions, |row| left[row]);
        self.rule.of_all(&targets, &predictions, &weights)
    }
}

/// A mean of class losses: the weight and the loss of each class.
struct LossByClass<'s> {
    scorer: &'s Scorer,
    losses: Vec<f64>,
    of_classes: Vec<f64>,
}

impl<'s> LossByClass<'s> {
    /// Returns `None` if all rows are of one class.
    fn new(scorer: &'s Scorer, residuals: &[Vec<f64>]) -> Option<Self> {
        if scorer.class_weights.iter().filter(|weight| **weight > 0.0).count() < 2 {
            return None;
        }
        let counts = |row: usize| scorer.targets.weight(row) > 0.0;
        let loss = |row: usize| if counts(row) { scorer.row_loss(row, |o| residuals[o][row]) } else { 0.0 };
        let losses: Vec<f64> = (0..scorer.targets.rows()).map(loss).collect();
        let mut of_classes = vec![0.0; scorer.class_weights.len()];
        for (row, loss) in losses.iter().enumerate() {
            of_classes[scorer.classes[row] as usize] += scorer.targets.weight(row) * loss;
        }
        Some(LossByClass { scorer, losses, of_classes })
    }

    /// Mean over the remaining classes without a part.
    fn without(&self, part: &Part) -> Option<f64> {
        let (mut losses, mut weights) = (self.of_classes.clone(), self.scorer.class_weights.clone());
        for &(row, weight) in part {
            let class = self.scorer.classes[row] as usize;
            weights[class] -= weight;
            losses[class] -= weight * self.losses[row];
        }
        let is_left = |&class: &usize| weights[class] > WEIGHT_GONE * self.scorer.class_weights[class];
        let left: Vec<usize> = (0..weights.len()).filter(is_left).collect();
        let sum: f64 = left.iter().map(|&class| losses[class] / weights[class]).sum();
        (!left.is_empty()).then_some(sum / left.len() as f64)
    }
}

/// Wrongly ordered pairs of a row of each class, ties counted half.
struct WrongPairs<'s> {
    scorer: &'s Scorer,
    /// Rank of each row's prediction; ties share one.
    rank: Vec<usize>,
    /// For each row, the weight of the rows of the other class on its wrong side.
    wrong: Vec<f64>,
    /// Weight of all wrong pairs, and of the negatives and positives.
    all: f64,
    weights: [f64; 2],
}

impl<'s> WrongPairs<'s> {
    fn new(scorer: &'s Scorer, residuals: &[Vec<f64>]) -> Self {
        let targets = &scorer.targets;
        let prediction = |row: usize| (targets.scaled[0][row] - residuals[0][row]) / targets.root(row);
        let predictions: Vec<f64> = (0..targets.rows()).map(prediction).collect();
        let order = ascending(&predictions, &targets.scaled[0], TIED_PREDICTION);
        let order: Vec<usize> = order.into_iter().map(|row| row.row()).collect();
        let (mut rank, mut first) = (vec![0; order.len()], 0);
        for (place, &row) in order.iter().enumerate() {
            if predictions[row] > predictions[order[first]] + TIED_PREDICTION {
                first = place;
            }
            rank[row] = first;
        }
        let mut pairs = WrongPairs { scorer, rank, wrong: Vec::new(), all: 0.0, weights: [0.0; 2] };
        let mut rows: Vec<(usize, f64)> = order.into_iter().map(|row| (row, targets.weight(row))).collect();
        let mut wrong = vec![0.0; rows.len()];
        pairs.weights[1] = pairs.place(&rows, true, |(row, _), weight| wrong[row] = weight);
        rows.reverse();
        pairs.weights[0] = pairs.place(&rows, false, |(row, _), weight| wrong[row] = weight);
        pairs.wrong = wrong;
        pairs.all = rows.iter().filter(|(row, _)| pairs.is_positive(*row)).map(|&(row, w)| w * pairs.wrong[row]).sum();
        pairs
    }

    fn is_positive(&self, row: usize) -> bool {
        self.scorer.targets.scaled[0][row] > 0.0
    }

    /// Calls `tell` for each row outside the class with the weight of the rows of the class before it, ties counted
    /// half. Returns the weight of the class. Rows are in ascending or descending order of rank.
    fn place(&self, rows: &[(usize, f64)], class: bool, mut tell: impl FnMut((usize, f64), f64)) -> f64 {
        let mut before = 0.0;
        for tied in rows.chunk_by(|a, b| self.rank[a.0] == self.rank[b.0]) {
            let of_class = tied.iter().filter(|(row, _)| self.is_positive(*row) == class);
            let weight: f64 = of_class.map(|(_, weight)| weight).sum();
            for &row in tied.iter().filter(|(row, _)| self.is_positive(*row) != class) {
                tell(row, before + 0.5 * weight);
            }
            before += weight;
        }
        before
    }

    /// Share of wrong pairs without a part, by inclusion–exclusion: pairs inside the part are subtracted twice and
    /// added back once.
    fn without(&self, part: &Part) -> Option<f64> {
        let mut part = part.clone();
        part.sort_by_key(|(row, _)| self.rank[*row]);
        let of_part: f64 = part.iter().map(|&(row, weight)| weight * self.wrong[row]).sum();
        let (mut inside, mut negatives) = (0.0, 0.0);
        let positives = self.place(&part, true, |(_, weight), below| {
            inside += weight * below;
            negatives += weight;
        });
        let left = [self.weights[0] - negatives, self.weights[1] - positives];
        let is_gone = left.iter().zip(&self.weights).any(|(left, all)| *left <= WEIGHT_GONE * all);
        (!is_gone).then_some((self.all - of_part + inside) / (left[0] * left[1]))
    }
}
