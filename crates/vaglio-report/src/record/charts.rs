//! Data of the charts of the report.

use super::{Figures, LossTable, PredictionRows, ResidualsRecord, TuningResult};
use serde::{Deserialize, Serialize};

/// Data of the charts of the report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChartData {
    /// Error rates of the models along the path, for classes.
    pub curve: Vec<SizePoint>,
    /// Cross-validated losses of all sizes and λ.
    pub table: Option<LossTable>,
    /// Predictions of rows that the model was not trained on.
    pub predictions: Option<ShownPredictions>,
    /// Figures of the rows held out in the folds of the search, if there are no other held-out figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
    /// Correlations of each selected column with earlier ones, in order of entry; empty for many columns.
    pub correlations: Vec<Vec<Option<f64>>>,
    /// Result of tuning, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuning: Option<TuningResult>,
    /// Residuals against the chosen columns and time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residuals: Option<ResidualsRecord>,
}

/// Error rates of the model of one size, refitted on the training rows.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SizePoint {
    /// Number of columns.
    pub size: usize,
    /// Error rate on the training rows.
    pub train_error: Option<f64>,
    /// Error rate on the test rows.
    pub test_error: Option<f64>,
}

/// Observed and predicted targets of rows that the model was not trained on; a sample of many rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
}
