//! Columns of the result: selected, not selected, and excluded.

use vaglio_core::{Feature, join, pluralize, record, setting, sum_of_squares};

/// A selected column.
#[record]
#[derive(Default)]
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
    #[optional]
    pub alpha: Option<f64>,
    /// Score of the column alone.
    #[optional]
    #[serde(deserialize_with = "vaglio_core::infinity::computed")]
    pub alone: Option<f64>,
    /// Variance inflation factor 1/(1 − R²), where R² is the share of variance explained by the other chosen columns.
    #[optional]
    #[serde(deserialize_with = "vaglio_core::infinity::computed")]
    pub vif: Option<f64>,
    /// Range of the weights in the models of outer folds.
    #[optional]
    pub over_folds: Option<WeightSpread>,
}

/// A column in the place of a selected one.
#[record]
pub struct Substitute {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Score of the selection with this column in that place.
    pub score: f64,
}

/// A column that could not be selected.
#[record]
#[derive(Eq)]
pub struct ExcludedRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Reason: `constant`.
    pub reason: String,
}

/// Range of a chosen column's weights in the models of the outer folds that chose it.
///
/// The range shows how the weight varies over repeated selections. It is no confidence interval and no test: the folds
/// share most of their rows, and a fold without the column has no weight.
#[record]
pub struct WeightSpread {
    /// Number of outer folds that chose the column, over all repeats.
    pub folds: usize,
    /// Lowest weight, for each output.
    pub low: PerOutput,
    /// Highest weight, for each output.
    pub high: PerOutput,
    /// Lowest weight per unit of the column as read, if `original_weight` is known.
    #[optional]
    pub original_low: Option<PerOutput>,
    /// Highest weight per unit of the column as read.
    #[optional]
    pub original_high: Option<PerOutput>,
    /// Whether some output has weights of both signs, including the weight in the result.
    pub changes_sign: bool,
}

/// A column that was not chosen.
#[record]
pub struct OutsideRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Score of the column alone.
    #[optional]
    #[serde(deserialize_with = "vaglio_core::infinity::computed")]
    pub alone: Option<f64>,
    /// Rank of the column alone among all candidates, from 1.
    #[optional]
    pub rank_alone: Option<usize>,
    /// Step at which it came nearest to being chosen.
    #[optional]
    pub nearest: Option<NearestStep>,
    /// Share of the variance explained by least squares on the chosen columns.
    #[optional]
    pub explained: Option<f64>,
}

/// Step at which a column came nearest to being chosen.
///
/// Step k adds the column to the first k − 1 chosen columns, in order of entry. The step after the last adds it to the
/// result.
#[record]
#[derive(Copy)]
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
#[record]
#[serde(untagged)]
pub enum PerOutput {
    /// One output.
    One(#[serde(deserialize_with = "vaglio_core::infinity::number")] f64),
    /// A number for each output.
    Several(#[serde(deserialize_with = "vaglio_core::infinity::several")] Vec<f64>),
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
        sum_of_squares(self.values()).sqrt()
    }
}

/// How much is computed of drop-column importance.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum DropColumnBudget {
    /// Results that take at most a quarter of the search's work; the rest is named as omitted.
    #[default]
    Auto,
    /// All results.
    All,
    /// No result.
    None,
}

/// Figures of chosen columns that were not computed; `vaglio explain` and `vaglio run --worth` compute them.
#[record]
#[derive(Eq, Default)]
pub struct WorthRecord {
    /// Chosen columns whose drop-column score was not computed.
    pub no_without: Vec<Feature>,
    /// Chosen columns whose substitutes were not tried.
    pub no_substitutes: Vec<Feature>,
}

impl WorthRecord {
    /// Sentence with the missing figures and how to compute them; `None` if there are none.
    pub fn sentence(&self) -> Option<String> {
        let parts = [("the score without", &self.no_without), ("substitutes of", &self.no_substitutes)];
        let parts = parts.into_iter().filter(|(_, columns)| !columns.is_empty());
        let parts = join(parts.map(|(what, of)| format!("{what} {}", pluralize(of.len(), "chosen column"))), " and ");
        (!parts.is_empty()).then(|| format!(
            "not computed, as it would take long compared with the search: {parts}; `vaglio explain` with the folder of this run computes it, \
             as does `vaglio run --worth`"
        ))
    }
}
