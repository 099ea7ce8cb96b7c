//! Data of the charts of the report: predictions and residuals.

use super::{Figures, LossTable, Record};
use crate::page::{Section, finite, heat_map, significant};
use vaglio_core::{Feature, record, setting};

/// Largest number of selected columns whose correlations a record holds.
pub const MOST_CORRELATED: usize = 60;

/// Data of the charts of the report.
#[record]
#[derive(Default)]
pub struct ChartData {
    /// Cross-validated losses of all sizes and λ.
    pub table: Option<LossTable>,
    /// Predictions of rows that the model was not trained on.
    pub predictions: Option<ShownPredictions>,
    /// Figures of the rows held out in the folds of the search, if there are no other held-out figures.
    #[optional]
    pub figures: Option<Figures>,
    /// Correlations of each selected column with earlier ones, in order of entry; empty for many columns.
    pub correlations: Vec<Vec<Option<f64>>>,
    /// Partial residuals of the chosen columns, and the rows with the largest errors.
    #[optional]
    pub residuals: Option<ResidualsRecord>,
}

/// Observed and predicted targets of rows that the model was not trained on; a sample of many rows.
#[record]
pub struct ShownPredictions {
    /// Source of the predictions.
    pub from: PredictionRows,
    /// Number of rows before sampling.
    pub rows: usize,
    /// Observed targets in the target's units, one list per target. For classes, one list of positions in
    /// `data.classes`.
    pub observed: Vec<Vec<f64>>,
    /// Predictions, one list for each output.
    pub predicted: Vec<Vec<f64>>,
    /// Weight of each row; absent if they are equal.
    #[optional]
    pub weights: Vec<f64>,
}

/// Residuals of a sample of the training rows, for the first target, with the columns that they are plotted against.
///
/// Values are rounded to six digits, enough for a plot.
#[record]
#[derive(Default)]
pub struct ResidualsRecord {
    /// Residuals of the final model on the scale of its training, in the units of the target.
    pub fitted: Vec<f64>,
    /// The first chosen columns.
    pub columns: Vec<DrawnColumn>,
    /// Held-out or test rows with the largest residuals.
    #[optional]
    pub largest: Vec<WorstRow>,
    /// Source of these residuals.
    #[optional]
    pub largest_from: Option<PredictionRows>,
}

/// Points and lines of the chart of a chosen column.
#[record]
pub struct DrawnColumn {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Value in each row of the sample; `None` if missing.
    pub values: Vec<Option<f64>>,
    /// Rise of the prediction per unit of these values; absent if not finite.
    #[optional]
    pub slope: Option<f64>,
    /// Value at which the component is 0: the mean over all rows.
    pub center: f64,
    /// Means of value and partial residual over tenths of all rows, in increasing order of the value.
    #[optional]
    pub trend: Vec<[f64; 2]>,
}

/// Row with a large prediction error.
#[record]
pub struct WorstRow {
    /// Row number in the training file, or in the file of test rows, from 1.
    pub row: usize,
    /// Observed targets, at most twelve; for classes, the position in `data.classes`.
    pub observed: Vec<f64>,
    /// Predictions of `observed`.
    pub predicted: Vec<f64>,
}

/// Source of predictions.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum PredictionRows {
    /// Outer folds.
    Nested,
    /// Folds of the cross-validated search.
    CrossValidation,
    /// Test rows.
    Test,
}

impl PredictionRows {
    /// Title of the figures from this source, and their class in the style sheet.
    pub(crate) fn title(self) -> &'static str {
        match self {
            PredictionRows::Nested => "nested",
            PredictionRows::CrossValidation => "cross-validated",
            PredictionRows::Test => "test",
        }
    }

    /// Words for the predicted rows.
    pub(crate) fn rows(self) -> &'static str {
        match self {
            PredictionRows::Nested => "rows held out in outer folds",
            PredictionRows::CrossValidation => "rows held out in the folds of the search",
            PredictionRows::Test => "test rows",
        }
    }
}

/// Correlations of the chosen columns.
pub(crate) fn correlations_section(record: &Record) -> Option<Section> {
    let rows = &record.report.correlations;
    let n = record.selected.len();
    let section = Section::new("Correlation of the chosen columns");
    if n > MOST_CORRELATED {
        return Some(
            section
                .text(format!("Correlations are drawn for at most {MOST_CORRELATED} chosen columns; there are {n}.")),
        );
    }
    if rows.len() != n || n < 2 {
        return None;
    }
    let cell = |r: &Option<f64>| {
        let r = r.and_then(finite);
        (r, r.map_or_else(|| "–".into(), |r| significant((100.0 * r).round() / 100.0, 2)))
    };
    let cells: Vec<Vec<_>> = rows[1..].iter().map(|row| row.iter().map(cell).collect()).collect();
    let names: Vec<String> = record.selected.iter().map(|column| record.column_name(column.index)).collect();
    let label = "Correlations of the chosen columns";
    let caption = "On the training rows, in order of entry. Strong colors mark redundant columns.";
    Some(section.with(&heat_map(label, [&names[1..], &names[..n - 1]], &cells, caption)))
}
