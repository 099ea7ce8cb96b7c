//! The selected columns, and columns that could not be selected.

use super::{Histogram, PerOutput, WeightSpread};
use crate::infinity;
use serde::{Deserialize, Serialize};
use vaglio_core::Feature;

/// A selected column.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SelectedRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Weight in the model, if it is linear.
    pub weight: Option<PerOutput>,
    /// Weight per unit of the column as read, if preprocessing only shifts and divides it. For `ordinal` levels and
    /// parts of dates, the weight per step of the code.
    pub original_weight: Option<PerOutput>,
    /// Score of the selection without this column.
    pub without: Option<f64>,
    /// Other columns that raise the score least in place of this one.
    pub substitutes: Option<Vec<Substitute>>,
    /// The criterion's own coefficient, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Score of the column alone.
    #[serde(default, deserialize_with = "infinity::computed", skip_serializing_if = "Option::is_none")]
    pub alone: Option<f64>,
    /// Variance inflation factor 1/(1 − R²), where R² is the share of variance explained by the other chosen columns.
    #[serde(default, deserialize_with = "infinity::computed", skip_serializing_if = "Option::is_none")]
    pub vif: Option<f64>,
    /// Share of training rows with a missing value in a source of the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<f64>,
    /// Range of the weights in the models of outer folds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_folds: Option<WeightSpread>,
    /// Histogram of the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
}

/// A column in the place of a selected one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Substitute {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Score of the selection with this column in that place.
    #[serde(deserialize_with = "infinity::number")]
    pub score: f64,
}

/// A column that could not be selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Reason: `constant`.
    pub reason: String,
}
