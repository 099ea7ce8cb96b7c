//! Evaluations of the selection procedure: outer folds, shuffled targets, half-samples.

use super::{Figures, LossDifference};
use crate::infinity;
use vaglio_core::{Feature, record};

/// Nested cross-validation: the selection, with the choice of size and λ, is repeated in outer folds.
#[record]
pub struct NestedEvaluation {
    /// Number of outer folds per repeat.
    pub folds: usize,
    /// Number of repeated fold assignments.
    pub repeats: usize,
    /// Loss pooled over all held-out rows.
    #[serde(deserialize_with = "infinity::number")]
    pub loss: f64,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// Loss without features, in the same folds.
    #[serde(deserialize_with = "infinity::number")]
    pub empty_loss: f64,
    /// Figures pooled over all held-out rows.
    pub figures: Figures,
    /// Each outer fold.
    pub per_fold: Vec<OuterFold>,
    /// Share of outer folds that selected each column; columns that none selected are left out.
    pub frequency: Vec<Frequency>,
    /// Share of outer folds that selected a candidate made of each column of the data, if maps make candidates.
    #[optional]
    pub by_source: Vec<Frequency>,
    /// Mean Jaccard index of the selected columns over pairs of folds: |A ∩ B| / |A ∪ B|.
    pub jaccard: Option<f64>,
    /// Prediction intervals from the outer folds, if requested.
    #[optional]
    pub intervals: Option<Intervals>,
    /// Losses for a paired comparison with another run.
    #[optional]
    pub paired: Option<PairedLosses>,
    /// Description of the splits, if they are not plain folds.
    #[optional]
    pub splits: Option<String>,
    /// Confidence interval of the expected loss on new rows, selection included, at `level`.
    #[optional]
    pub interval: Option<[f64; 2]>,
    /// Confidence level of the intervals.
    #[optional]
    pub level: Option<f64>,
    /// Difference to the loss without features, on the same rows.
    #[optional]
    pub difference: Option<LossDifference>,
}

/// Losses of held-out rows for a paired comparison of two runs, with a hash of rows and folds.
#[record]
pub struct PairedLosses {
    /// Hash of each fold's held-out rows, with their targets and weights.
    #[serde(alias = "sha256")]
    pub digest: String,
    /// Loss of each row in order, as a mean over repeats. Absent for many rows, or if the loss is no mean over rows.
    pub losses: Option<Vec<f64>>,
    /// Weights of these rows, if they differ.
    pub weights: Option<Vec<f64>>,
    /// Clusters of these rows, if some share one.
    #[optional]
    pub clusters: Option<Vec<u32>>,
}

/// One outer fold.
#[record]
pub struct OuterFold {
    /// Number, from 1.
    pub fold: usize,
    /// Repeat, from 1.
    pub repeat: usize,
    /// Number of held-out rows.
    pub rows: usize,
    /// Loss of the held-out rows.
    #[serde(deserialize_with = "infinity::number")]
    pub loss: f64,
    /// Loss of the held-out rows without features.
    #[serde(deserialize_with = "infinity::number")]
    pub empty_loss: f64,
    /// Number of selected columns.
    pub size: usize,
    /// λ of the model.
    pub lambda: Option<f64>,
    /// The criterion's score of the selection.
    #[serde(deserialize_with = "infinity::number")]
    pub score: f64,
    /// Cross-validated loss of the chosen size and λ.
    pub cross_validated: Option<f64>,
    /// Names of the selected columns, in order of entry.
    pub selected: Vec<String>,
}

/// Selection frequency of a column.
#[record]
pub struct Frequency {
    /// Index of the candidate column, from 0; absent if the run on all rows has no such column.
    pub index: Option<Feature>,
    /// Name.
    pub name: String,
    /// Share of the repeated selections that contain the column.
    pub share: f64,
}

/// Prediction intervals from the models of outer folds (CV+).
#[record]
pub struct Intervals {
    /// Nominal coverage of new rows.
    pub level: f64,
}

/// Figures of the selection procedure on shuffled targets.
#[record]
pub struct Permutations {
    /// Number of shuffles.
    pub count: usize,
    /// The criterion's score of the selection.
    pub score: NullFigure,
    /// Cross-validated loss of the chosen size and λ.
    pub cross_validated: Option<NullFigure>,
}

/// Null distribution of a figure, from shuffled targets.
#[record]
pub struct NullFigure {
    /// Mean over the shuffled targets.
    #[serde(deserialize_with = "infinity::number")]
    pub mean: f64,
    /// P-value (1 + m) / (1 + n), where m of the n shuffles have a figure at most that of the data.
    pub p: f64,
    /// Value of each shuffle, in order.
    pub values: Vec<f64>,
}

/// Stability selection: selection frequencies on complementary half-samples.
#[record]
pub struct Stability {
    /// Number of pairs of half-samples.
    pub pairs: usize,
    /// Mean number of columns selected on a half-sample.
    pub size: f64,
    /// Share of half-samples that selected each column; columns that none selected are left out.
    pub frequency: Vec<Frequency>,
    /// Share of half-samples that selected a candidate made of each column of the data, if maps make candidates.
    #[optional]
    pub by_source: Vec<Frequency>,
    /// Largest size up to which stability paths are integrated, from 1.
    #[serde(default)]
    pub sizes: usize,
    /// Columns with a positive score, the highest first.
    #[serde(default)]
    pub columns: Vec<StableColumn>,
    /// Description of the units that are not split between halves, if they are neither rows nor groups.
    #[optional]
    pub splits: Option<String>,
}

/// Column with the score of its integrated stability path.
#[record]
pub struct StableColumn {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Mean over sizes of (2π − 1)³, or 0 for π below ½, where π is the share of half-samples that select the column.
    pub score: f64,
    /// Bound on the expected number of chance columns with at least this score.
    pub expected_false: f64,
    /// Q-value: lowest bound on the share of chance columns, over all thresholds at or below this score.
    pub q: f64,
}

/// Scores recomputed by plain retraining, the criterion's definition.
#[record]
#[derive(Copy)]
pub struct Verified {
    /// Number of random steps that were recomputed; entries of the path for a search without steps.
    pub steps: usize,
    /// Largest difference, relative to the score or to 1e-10 of the empty subset's score, whichever is larger.
    pub max_relative_error: f64,
}
