//! Diagnostics of columns: score alone, rank at the steps of the search, weights over folds.

use crate::infinity;
use serde::{Deserialize, Serialize};
use vaglio_core::Feature;

/// Range of a chosen column's weights in the models of the outer folds that chose it.
///
/// The range shows how the weight varies over repeated selections. It is no confidence interval and no test: the folds
/// share most of their rows, and a fold without the column has no weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightSpread {
    /// Number of outer folds that chose the column, over all repeats.
    pub folds: usize,
    /// Lowest weight, for each output.
    pub low: PerOutput,
    /// Highest weight, for each output.
    pub high: PerOutput,
    /// Lowest weight per unit of the column as read, if `original_weight` is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_low: Option<PerOutput>,
    /// Highest weight per unit of the column as read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_high: Option<PerOutput>,
    /// Whether some output has weights of both signs, including the weight in the result.
    pub changes_sign: bool,
}

/// A column that was not chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutsideRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Score of the column alone.
    #[serde(default, deserialize_with = "infinity::computed", skip_serializing_if = "Option::is_none")]
    pub alone: Option<f64>,
    /// Rank of the column alone among all candidates, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_alone: Option<usize>,
    /// Step at which it came nearest to being chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestStep>,
    /// Share of the variance explained by least squares on the chosen columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained: Option<f64>,
    /// Share of training rows with a missing value in a source of the column.
    pub missing: f64,
}

/// Step at which a column came nearest to being chosen.
///
/// Step k adds the column to the first k − 1 chosen columns, in order of entry. The step after the last adds it to the
/// result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NearestStep {
    /// Step with the best rank, the first of ties, from 1.
    pub step: usize,
    /// Rank of the score at that step, among the candidates not chosen before, from 1.
    pub rank: usize,
    /// Score minus the score of the column chosen at that step; after the last step, minus the score of the result. May
    /// be negative.
    pub above: f64,
}

/// One number for each output of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerOutput {
    /// One output.
    One(#[serde(deserialize_with = "infinity::number")] f64),
    /// A number for each output.
    Several(#[serde(deserialize_with = "infinity::several")] Vec<f64>),
}

impl PerOutput {
    /// Creates [`PerOutput::One`] from a single number, else [`PerOutput::Several`].
    pub fn new(values: Vec<f64>) -> Self {
        match values[..] {
            [value] => PerOutput::One(value),
            _ => PerOutput::Several(values),
        }
    }

    /// Numbers in the order of outputs.
    pub fn values(&self) -> &[f64] {
        match self {
            PerOutput::One(value) => std::slice::from_ref(value),
            PerOutput::Several(values) => values,
        }
    }

    /// Euclidean norm over the outputs.
    pub(crate) fn norm(&self) -> f64 {
        self.values().iter().map(|value| value * value).sum::<f64>().sqrt()
    }
}
