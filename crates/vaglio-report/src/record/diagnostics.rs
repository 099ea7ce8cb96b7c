//! Residuals of the training rows against chosen columns and time, and the rows that are predicted worst.

use super::PredictionRows;
use serde::{Deserialize, Serialize};
use vaglio_core::Feature;

/// Residuals of a sample of the training rows, and what they are drawn against; of the first target where there are several.
///
/// Values are rounded to six digits, since they are for drawings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResidualsRecord {
    /// The rows of the data, from 1, where they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<usize>,
    /// Residuals of the model of all rows, on the scale on which it was trained, in the units of the target.
    pub fitted: Vec<f64>,
    /// Residuals of these rows when they were held out, in the units of the target; null for rows that never were, and no list
    /// where none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_out: Vec<Option<f64>>,
    /// Where these come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PredictionRows>,
    /// The place of each row in the order of time, where rows have one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub time: Vec<f64>,
    /// The first chosen columns.
    pub columns: Vec<DrawnColumn>,
    /// The rows held out, or test rows, whose residuals are largest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub largest: Vec<WorstRow>,
    /// Where these come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_from: Option<PredictionRows>,
}

/// Points and lines of the chart of a chosen column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnColumn {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Whether values are those of the column as it was read, in place of those after preprocessing.
    pub as_read: bool,
    /// The value in each row of the sample; none where it is missing.
    pub values: Vec<Option<f64>>,
    /// By how much the prediction rises for one unit of these values; absent where the model is not linear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<f64>,
    /// The value from which the component is counted, the mean over all rows.
    pub center: f64,
    /// Means of value and partial residual over tenths of all rows, in increasing order of the value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trend: Vec<[f64; 2]>,
}

/// How many rows have values between evenly spaced bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// The lowest value.
    pub from: f64,
    /// The highest.
    pub to: f64,
    /// Rows in each part of the range; one part where all values are equal.
    pub counts: Vec<usize>,
    /// Whether values are those of the column as it was read.
    pub as_read: bool,
}

/// A row that is predicted badly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorstRow {
    /// The row of the data, from 1: of the training file, or of the file of test rows.
    pub row: usize,
    /// Observed targets, twelve at most; of classes the number of the class in `data.classes`.
    pub observed: Vec<f64>,
    /// Predictions of these.
    pub predicted: Vec<f64>,
}
