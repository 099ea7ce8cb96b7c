//! The columns: weights and equation of the chosen ones, and types of all as read.

use crate::names::{clause, join_up_to};
use crate::page::{Section, TableBuilder, TableCell, escape, short};
use crate::record::{ColumnRun, Frequency, PerOutput, Record, SelectedRecord, WeightSpread, left_out_rows, range_text};
use vaglio_core::join;

/// Largest number of outputs with a column of weights each; for more, the norm is shown.
const FEW_OUTPUTS: usize = 4;
/// Rows of the table, at most.
const OPEN: usize = 60;
/// Largest number of constant columns that are named.
const MOST_NAMES: usize = 25;

/// The chosen columns with their weights, and the equation.
pub fn chosen_columns(record: &Record) -> Option<Section> {
    let rows = record.group_by_source(record.selected.iter().enumerate().collect());
    let folds = record.nested.as_ref().map_or(0, |nested| nested.per_fold.len());
    let share = |list: &[Frequency], column: &SelectedRecord| {
        list.iter().find(|known| known.index == Some(column.index)).map_or(0.0, |known| known.share)
    };
    let sources = record.sources();
    let table = TableBuilder::new("“selected”", &rows).count("Order", |row| row.0 + 1).cells("Column", "name", |row| {
        let origin = sources.get(&row.1.index).map(|place| format!("of {}", record.data.made[*place].of.join(", ")));
        Some(TableCell::text(row.1.name.clone()).note(origin.unwrap_or_default()))
    });
    let table = weights(record, table)
        .cells("Over outer folds", "text", |row| row.1.over_folds.as_ref().map(|spread| weight_range(spread, folds)))
        .share("In outer folds", |row| Some(share(&record.nested.as_ref()?.frequency, row.1)))
        .share("In half-samples", |row| Some(share(&record.stability.as_ref()?.frequency, row.1)));
    let section = Section::new("Chosen columns").table(table.most(OPEN));
    let equation: String =
        record.equation.iter().map(|line| format!("<p class=\"formula\">{}</p>\n", escape(line))).collect();
    let has_ranges = record.selected.iter().any(|column| column.over_folds.is_some());
    let ranges = if has_ranges { "Ranges over outer folds are no confidence intervals. " } else { "" };
    Some(section.with(&equation).note(format!("{ranges}{}", equation_note(record))))
}

/// Note on how to read the equation.
fn equation_note(record: &Record) -> String {
    let decision = match record.data.classes.as_deref() {
        _ if record.equation.is_empty() => return String::new(),
        Some([negative, positive]) => format!(" A row is “{positive}” where the score is above 0, else “{negative}”."),
        Some(_) => " A row is of the class of the largest score.".to_owned(),
        None => String::new(),
    };
    let has_condition = record.equation.iter().any(|line| line.contains('['));
    let condition = if has_condition { "; [condition] is 1 where it holds, else 0" } else { "" };
    format!("The equation is in the units of the data{condition}.{decision}")
}

/// Adds the weights of each output, or their norm for many outputs.
fn weights<'a, 'r>(
    record: &Record,
    table: TableBuilder<'a, (usize, &'r SelectedRecord)>,
) -> TableBuilder<'a, (usize, &'r SelectedRecord)> {
    let outputs = record.outputs();
    if outputs.len() > FEW_OUTPUTS {
        return table
            .number("Norm of weights", |row| row.1.weight.as_ref().map(PerOutput::norm))
            .number("Norm, original scale", |row| row.1.original_weight.as_ref().map(PerOutput::norm));
    }
    let named = |head: &str, name: &str| if outputs.len() > 1 { format!("{head}, {name}") } else { head.to_owned() };
    let places = || outputs.iter().enumerate();
    let value = |weight: &Option<PerOutput>, k: usize| weight.as_ref()?.values().get(k).copied();
    let table =
        places().fold(table, |table, (k, name)| table.number(&named("Weight", name), |row| value(&row.1.weight, k)));
    let table = places().fold(table, |table, (k, name)| {
        table.number(&named("Original scale", name), |row| value(&row.1.original_weight, k))
    });
    table.number("Coefficient", |row| row.1.alpha)
}

/// The lowest and the highest weight, on the original scale if it is known, and whether the sign changes.
fn weight_range(spread: &WeightSpread, folds: usize) -> TableCell {
    let original = spread.original_low.as_ref().zip(spread.original_high.as_ref());
    let (low, high) = original.unwrap_or((&spread.low, &spread.high));
    let ends = low.values().iter().zip(high.values()).take(FEW_OUTPUTS);
    // Lines break between ranges only.
    let text = join(ends.map(|(low, high)| range_text(*low, *high, short).replace(' ', "\u{a0}")), "; ");
    let sign = if spread.changes_sign { ", sign changes" } else { "" };
    TableCell::text(text).note(format!("{} of {folds}{sign}", spread.folds))
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
