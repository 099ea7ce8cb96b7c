//! Nested cross-validation.

use super::{Figures, LossDifference, Record, check_splits};
use crate::names::join_up_to;
use crate::page::{Section, TableBuilder};
use vaglio_core::{Error, Feature, MOST_REPEATS, Part, Resampling, Result, record, setting};
use vaglio_search::MOST_FOLDS;

/// Settings of outer folds.
#[setting]
#[derive(PartialEq)]
pub struct OuterFolds {
    /// Number of folds.
    #[default(5)]
    #[schemars(extend("minimum" = 2, "maximum" = MOST_FOLDS))]
    pub folds: usize,
    /// Number of random splits into folds.
    #[default(1)]
    #[schemars(extend("minimum" = 1, "maximum" = MOST_REPEATS))]
    pub repeats: usize,
    /// Another splitter in place of the folds. By default rows are split forward in time if the criterion's splits are,
    /// with `folds` folds.
    #[optional]
    pub splits: Option<Part<dyn Resampling>>,
    /// Confidence level of the interval of the loss; 0.95 by default.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    #[optional]
    pub interval: Option<f64>,
}

impl OuterFolds {
    /// Checks the numbers of folds and repeats, and the confidence level.
    ///
    /// # Errors
    /// [`Error::Setting`] with the path of the field.
    pub fn check(&self) -> Result<()> {
        check_splits(self.splits.as_ref())?;
        Error::unless_between("folds", self.folds, 2..=MOST_FOLDS)?;
        Error::unless_between("repeats", self.repeats, 1..=MOST_REPEATS)?;
        self.interval.map_or(Ok(()), |level| Error::unless_share("interval", level))
    }
}

/// Nested cross-validation: the selection, with the choice of size and λ, is repeated in outer folds.
#[record]
pub struct NestedEvaluation {
    /// Number of outer folds per repeat.
    pub folds: usize,
    /// Number of repeated fold assignments.
    pub repeats: usize,
    /// Loss pooled over all held-out rows.
    pub loss: f64,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// Loss without features, in the same folds.
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
    pub loss: f64,
    /// Loss of the held-out rows without features.
    pub empty_loss: f64,
    /// Number of selected columns.
    pub size: usize,
    /// λ of the model.
    pub lambda: Option<f64>,
    /// The criterion's score of the selection.
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

/// Table of the outer folds.
pub(crate) fn outer_folds_section(record: &Record) -> Option<Section> {
    let nested = record.nested.as_ref()?;
    let mut table = TableBuilder::new("“nested.per_fold”", &nested.per_fold);
    if nested.repeats > 1 {
        table = table.count("Repeat", |fold| fold.repeat);
    }
    let table = table
        .count("Fold", |fold| fold.fold)
        .count("Rows", |fold| fold.rows)
        .number("Loss", |fold| fold.loss)
        .number("Without features", |fold| fold.empty_loss)
        .number("Cross-validated", |fold| fold.cross_validated)
        .number("Score", |fold| fold.score)
        .count("Size", |fold| fold.size)
        .number("λ", |fold| fold.lambda)
        .text("Columns", |fold| join_up_to(&fold.selected, 12));
    Some(Section::new("Outer folds").table(table))
}
