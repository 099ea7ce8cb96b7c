//! Columns that were not chosen, or left out.

use crate::names::{clause, join_up_to};
use crate::page::{Section, TableBuilder, TableCell, count, finite, short};
use crate::record::{ColumnRun, Record, left_out_rows};

/// Largest number of constant columns that are named.
const MOST_NAMES: usize = 25;

/// The columns that were not chosen.
pub fn columns_not_chosen(record: &Record) -> Option<Section> {
    let empty = finite(record.empty_score);
    let chosen_at = |step: usize| record.selected.get(step.checked_sub(1)?).map(|column| column.name.clone());
    let outside = &record.outside;
    let all = record.data.features.saturating_sub(record.selected.len() + record.excluded.len());
    let more = all.checked_sub(outside.len()).filter(|more| *more > 0).map(count);
    let more = clause(" `vaglio explain` describes {} more.", more);
    let table = TableBuilder::new("“outside”", outside)
        .name("Column", |column| column.name.clone())
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

/// The type of each column as read, and the columns and rows that were left out.
pub fn columns_as_read(record: &Record) -> Option<Section> {
    let data = &record.data;
    let left_out = clause("Left out: {}.", left_out_rows(&data.left_out));
    let table = TableBuilder::new("“data.columns”", &data.columns)
        .name("Columns", ColumnRun::names)
        .text("Taken for", ColumnRun::words);
    let excluded = record.excluded.iter().map(|column| format!("{} ({})", column.name, column.reason));
    let excluded =
        (!record.excluded.is_empty()).then(|| format!("Could not be chosen: {}.", join_up_to(excluded, MOST_NAMES)));
    Some(Section::new("Columns as read").text(left_out).text(excluded).table(table))
}
