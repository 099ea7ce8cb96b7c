//! Evaluations of the whole selection: outer folds, shuffled targets, halves of the rows.

use super::{Figures, LossDifference};
use crate::infinity;
use serde::{Deserialize, Serialize};
use vaglio_core::Feature;

/// The whole selection, choice of size and λ included, repeated on the training rows of outer folds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NestedEvaluation {
    /// Outer folds.
    pub folds: usize,
    /// How often rows were dealt into them.
    pub repeats: usize,
    /// The loss of all rows held out, pooled.
    #[serde(with = "infinity")]
    pub loss: f64,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// The loss without any column, by the same folds.
    #[serde(with = "infinity")]
    pub empty_loss: f64,
    /// All figures of the rows held out, pooled.
    pub figures: Figures,
    /// Each outer fold.
    pub per_fold: Vec<OuterFold>,
    /// The share of outer folds that selected each column; columns that none selected are left out.
    pub frequency: Vec<Frequency>,
    /// The share of outer folds that selected something made of each column of the data, where candidates are made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_source: Vec<Frequency>,
    /// Mean over pairs of folds of the share of columns that both selected among those that either did.
    pub jaccard: Option<f64>,
    /// Prediction intervals by the outer folds, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Intervals>,
    /// Key and losses that pair these figures with another run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paired: Option<PairedLosses>,
    /// How rows are parted, where that is not into folds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splits: Option<String>,
    /// Between what the loss on new rows of a selection made like this lies, at the level of `level`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The share of repetitions in which an interval is to hold the truth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Difference to the loss without features, on the same rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<LossDifference>,
}

/// Key and losses that pair the figures of two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairedLosses {
    /// Hash of the rows held out by each fold, with their targets and weights: equal where rows and folds are.
    #[serde(alias = "sha256")]
    pub digest: String,
    /// The losses of the rows, in their order, as means over repeats; absent where there are many, and of a loss that is no
    /// mean over rows.
    pub losses: Option<Vec<f64>>,
    /// The weights of these rows, where they differ.
    pub weights: Option<Vec<f64>>,
    /// The clusters of these rows, where several share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Vec<u32>>,
}

/// One outer fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OuterFold {
    /// Number, from 1.
    pub fold: usize,
    /// Repeat, from 1.
    pub repeat: usize,
    /// Rows held out.
    pub rows: usize,
    /// Their loss.
    #[serde(with = "infinity")]
    pub loss: f64,
    /// The loss without any column.
    #[serde(with = "infinity")]
    pub empty_loss: f64,
    /// Columns that were selected.
    pub size: usize,
    /// The λ of the model.
    pub lambda: Option<f64>,
    /// The criterion's score of the selection.
    #[serde(with = "infinity")]
    pub score: f64,
    /// The cross-validated loss by which size and λ were chosen.
    #[serde(default, with = "infinity::optional")]
    pub cross_validated: Option<f64>,
    /// Names of the columns, in order of entry.
    pub selected: Vec<String>,
}

/// How often a column was selected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frequency {
    /// The candidate column, from 0; absent where the run on all rows has no such column.
    pub index: Option<Feature>,
    /// Name.
    pub name: String,
    /// The share of the selections that hold it.
    pub share: f64,
}

/// Prediction intervals by the models of outer folds (CV+).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intervals {
    /// The share of new rows that they are to cover.
    pub level: f64,
    /// Their median width on the rows held out, or on test rows where there are any; one number for each output.
    pub width: Vec<f64>,
    /// The share of test rows that they cover, for each output.
    pub test_coverage: Option<Vec<f64>>,
}

/// Losses of the whole selection on shuffled targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permutations {
    /// How often targets were shuffled.
    pub count: usize,
    /// The criterion's score of the selection.
    pub score: NullFigure,
    /// The cross-validated loss by which size and λ were chosen.
    pub cross_validated: Option<NullFigure>,
}

/// A figure on shuffled targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NullFigure {
    /// Mean over the shuffled targets.
    #[serde(with = "infinity")]
    pub mean: f64,
    /// (1 + the number of shuffled targets on which it was at most that of the data) / (1 + their number).
    pub p: f64,
    /// Every value, in order of the shuffles.
    pub values: Vec<f64>,
}

/// How often columns are selected on complementary halves of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stability {
    /// Pairs of halves.
    pub pairs: usize,
    /// Mean number of columns selected on a half.
    pub size: f64,
    /// The share of halves on which each column was selected; columns that none selected are left out.
    pub frequency: Vec<Frequency>,
    /// The share of halves on which something made of each column of the data was selected, where candidates are made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_source: Vec<Frequency>,
    /// Columns above thresholds, and how many of them are expected to be selected by no more than chance; in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<StabilityBound>,
    /// Stability paths are integrated over so many sizes, from 1 on.
    #[serde(default)]
    pub sizes: usize,
    /// Columns by their integrated stability paths, the highest score first; those of no score are left out.
    #[serde(default)]
    pub columns: Vec<StableColumn>,
    /// Unit that stays whole in the halves, if it is neither a row nor a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splits: Option<String>,
}

/// A column by its integrated stability path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StableColumn {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// The mean over sizes of (2π − 1)³, where its share π of the halves is above one half.
    pub score: f64,
    /// A bound on the expected number of columns of so high a score that are selected by no more than chance.
    pub expected_false: f64,
    /// The smallest share of such columns, by that bound, among those of a score at most as high.
    pub q: f64,
}

/// Columns selected on at least so many halves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StabilityBound {
    /// The share of halves.
    pub threshold: f64,
    /// How many columns reach it.
    pub columns: usize,
    /// A bound on the expected number of them that are selected with at most the mean probability.
    pub expected_false: f64,
    /// A bound for unimodal selection frequencies; absent outside of the range in which that bound is
    /// proven.
    pub unimodal: Option<f64>,
}

/// Scores that were recomputed by plain retraining, the criterion's definition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verified {
    /// How many steps, drawn at random; of a search without steps, entries of the path.
    pub steps: usize,
    /// The largest difference, as a part of the score, or of 1e-10 of the score of the empty subset where that is more.
    pub max_relative_error: f64,
}
