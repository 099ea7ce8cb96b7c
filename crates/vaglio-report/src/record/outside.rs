//! Columns that were not chosen.

use super::Record;
use crate::names::clause;
use crate::page::{Section, TableBuilder, TableCell, count, finite, short};
use vaglio_core::{Feature, record};

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
