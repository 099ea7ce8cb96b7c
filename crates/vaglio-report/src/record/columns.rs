//! Columns of the result and outside: selected, excluded, and not chosen.

use super::Record;
use crate::names::clause;
use crate::page::{Section, TableBuilder, TableCell, count, finite, short};
use vaglio_core::{Feature, record, sum_of_squares};

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
    /// Reason: `constant`, or the setting `search.excluded`.
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

impl Record {
    /// Name of a column, or its index if no name is known.
    pub(crate) fn column_name(&self, index: usize) -> String {
        let known = self.candidates.get(index).filter(|name| !name.is_empty());
        known.map_or_else(|| format!("column {index}"), Clone::clone)
    }

    /// Whether a column is in the result.
    pub(crate) fn is_chosen(&self, index: usize) -> bool {
        self.selected.iter().any(|column| column.index == index)
    }
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

/// The columns that were not chosen.
pub(crate) fn outside_section(record: &Record) -> Option<Section> {
    let empty = finite(record.empty_score);
    let chosen_at = |step: usize| record.selected.get(step.checked_sub(1)?).map(|column| column.name.clone());
    let outside = &record.outside;
    let all = record.data.features.saturating_sub(record.selected.len() + record.excluded.len());
    let more = all.checked_sub(outside.len()).filter(|more| *more > 0).map(count);
    let more = clause(" `vaglio explain` describes {} more.", more);
    let table = TableBuilder::new("“outside”", outside)
        .name("Column", |column| &column.name)
        .cells("Rank alone", "number", |column| Some(TableCell::text(count(column.rank_alone?))))
        .number("Alone it lowers the score by", |column| Some(empty? - column.alone.and_then(finite)?))
        .cells("Nearest", "text", |column| {
            let nearest = column.nearest?;
            let chosen = chosen_at(nearest.step).unwrap_or_else(|| "the result".into());
            let word = if nearest.above < 0.0 { "below" } else { "above" };
            let cell = TableCell::text(format!("rank {} at step {}", count(nearest.rank), nearest.step));
            Some(cell.note(format!("{} {word} {chosen}", short(nearest.above.abs()))))
        })
        .share("The chosen explain", |column| column.explained)
        .text("False discovery", |column| record.fdr.as_ref()?.verdict_text(column.index));
    let note =
        format!("“Nearest”: the step of its best rank. “The chosen explain”: its R² on the chosen columns.{more}");
    Some(Section::new("Columns that were not chosen").table(table).note(note))
}
