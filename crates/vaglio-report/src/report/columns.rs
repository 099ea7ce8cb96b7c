//! The tables of the chosen columns, and of the outer folds.

use super::number::{self, count, counted, escape};
use super::source::{RecordView, finite};
use super::table::{Column, HtmlTable, bar};
use crate::record::{Frequency, OuterFold, OutputFigures, PerOutput, SelectedRecord, WorthRecord};
use serde::Serialize;
use std::collections::HashMap;

/// Outputs whose weights have a column each; of more the norm of a row is shown.
pub const FEW_OUTPUTS: usize = 4;

/// A section of a table with sentences around it.
#[derive(Serialize)]
pub struct Section {
    pub id: &'static str,
    pub heading: String,
    pub lead: String,
    pub table: String,
    pub note: String,
}

type Row<'r> = (usize, &'r SelectedRecord);

/// The chosen columns with all that is known of each.
pub fn chosen(source: &RecordView<'_>) -> Option<Section> {
    let rows: Vec<Row<'_>> = source.record.grouped(source.record.selected.iter().enumerate().collect());
    let shares = |list: Option<&'_ Vec<Frequency>>| -> HashMap<usize, f64> {
        let known = list.into_iter().flatten().filter_map(|f| Some((f.index?, f.share)));
        known.collect()
    };
    let nested = source.record.nested.as_ref().map(|nested| shares(Some(&nested.frequency)));
    let stable = source.record.stability.as_ref().map(|stability| shares(Some(&stability.frequency)));
    let share = |map: &Option<HashMap<usize, f64>>, row: &Row<'_>| {
        Some(map.as_ref()?.get(&row.1.index).copied().unwrap_or(0.0))
    };
    let score = source.score();
    let cost = |row: &Row<'_>| Some(row.1.without.and_then(finite)? - score?);
    let most = rows.iter().filter_map(cost).fold(0.0, f64::max);
    let sources = source.record.sources();
    let mut columns = vec![
        Column::count("Order", |row: &Row<'_>| row.0 + 1),
        Column::html("Column", "t name", move |row: &Row<'_>| {
            let of = sources.get(&row.1.index).map(|place| source.record.data.made[*place].of.join(", "));
            let of = of.map(|of| format!("<span class=\"of\">of {}</span>", escape(&of))).unwrap_or_default();
            Some(escape(&row.1.name) + &of)
        }),
    ];
    columns.extend(weights(source));
    columns.push(Column::html("Score rises without it by", "share", move |row| {
        let cost = cost(row)?;
        Some(bar(if most > 0.0 { cost / most } else { 0.0 }, &number::html(Some(cost))))
    }));
    columns.push(Column::share("In outer folds", move |row| share(&nested, row)));
    columns.push(Column::share("In halves", move |row| share(&stable, row)));
    let entered = |row: &Row<'_>| source.entry_step(row.1.index);
    columns.push(Column::number("Score after entry", move |row| entered(row).map(|step| step.score)));
    columns.push(Column::list("Tied at entry", move |row| {
        entered(row).map(|step| tied(source, &step.tied)).unwrap_or_default()
    }));
    columns.push(Column::html("Substitutes (score)", "t list long", |row: &Row<'_>| substitutes(row.1)));
    let table = HtmlTable::of("Chosen columns", "“selected”", columns, &rows, |_| false).open_to(60).html();
    let heading = "Chosen columns".into();
    (!table.is_empty()).then(|| Section { id: "chosen", heading, lead: String::new(), table, note: note(source) })
}

/// Columns of which a few are named.
pub fn tied(source: &RecordView<'_>, columns: &[usize]) -> String {
    let shown = 8;
    match columns.len().saturating_sub(shown) {
        0 => source.names(columns),
        more => format!("{} and {} more", source.names(&columns[..shown]), count(more as u64)),
    }
}

fn values(weight: &Option<PerOutput>) -> &[f64] {
    weight.as_ref().map_or(&[], PerOutput::values)
}

fn norm(weight: &Option<PerOutput>) -> Option<f64> {
    let values = values(weight);
    (!values.is_empty()).then(|| values.iter().map(|w| w * w).sum::<f64>().sqrt())
}

/// The weights of each output, or of many the norm.
fn weights<'r>(source: &RecordView<'r>) -> Vec<Column<'static, Row<'r>>> {
    let outputs = source.outputs();
    if outputs.len() > FEW_OUTPUTS {
        return vec![
            Column::number("Norm of weights", |row: &Row<'_>| norm(&row.1.weight)),
            Column::number("Norm, original scale", |row: &Row<'_>| norm(&row.1.original_weight)),
        ];
    }
    let several = outputs.len() > 1;
    let head = |words: &str, name: &str| if several { format!("{words}, {name}") } else { words.to_owned() };
    let of = |k: usize| move |row: &Row<'_>| values(&row.1.weight).get(k).copied();
    let original = |k: usize| move |row: &Row<'_>| values(&row.1.original_weight).get(k).copied();
    let here = outputs.iter().enumerate().map(|(k, name)| Column::number(&head("Weight", name), of(k)));
    let there = outputs.iter().enumerate().map(|(k, name)| Column::number(&head("Original scale", name), original(k)));
    let mut all: Vec<Column<'static, Row<'r>>> = here.chain(there).collect();
    all.push(Column::number("Coefficient", |row: &Row<'_>| row.1.alpha));
    all
}

fn substitutes(column: &SelectedRecord) -> Option<String> {
    let found = column.substitutes.as_ref()?;
    let told = found.iter().map(|s| format!("{} ({})", escape(&s.name), number::html(Some(s.score))));
    Some(told.collect::<Vec<_>>().join(", ")).filter(|told| !told.is_empty())
}

fn note(source: &RecordView<'_>) -> String {
    let selected = &source.record.selected;
    let any = |known: fn(&SelectedRecord) -> bool| selected.iter().any(known);
    let mut out = Vec::new();
    if any(|c| c.weight.is_some()) {
        let place = "Weights are those of the columns as the learner sees them, after preprocessing";
        out.push(if any(|c| c.original_weight.is_some()) {
            let original = "on the original scale they are those of the columns as they were read, for one step of a code that was made of text or of a date";
            format!("{place}; {original}.")
        } else {
            format!("{place}; there are none on the original scale, since preprocessing does more than shift and divide, or the learner makes columns of its own.")
        });
    } else if !selected.is_empty() {
        out.push("The model is not linear in the columns, so they have no weights.".into());
    }
    if any(|c| c.without.is_some()) {
        out.push(
            "A column without which the score hardly rises can go; what the others cannot replace comes first.".into(),
        );
    }
    if any(|c| c.substitutes.is_some()) {
        let told =
            "Substitutes are the columns outside the subset that cost least in its place, with the score they give.";
        out.push(told.into());
    }
    match source.record.worth.as_ref().and_then(WorthRecord::sentence) {
        Some(sentence) => out.push(escape(&sentence)),
        None if !any(|c| c.without.is_some()) && !selected.is_empty() => {
            out.push("The score without each column was not computed.".into());
        }
        None => {}
    }
    if source.record.nested.is_some() || source.record.stability.is_some() {
        out.push("The shares say how often the column was selected when everything was repeated.".into());
    }
    out.push("Indices and every digit: “selected” in selection.json.".into());
    out.join(" ")
}

/// Every outer fold.
pub fn folds(source: &RecordView<'_>) -> Option<HtmlTable> {
    let nested = source.record.nested.as_ref()?;
    let mut columns = Vec::new();
    if nested.repeats > 1 {
        columns.push(Column::count("Repeat", |fold: &OuterFold| fold.repeat));
    }
    columns.extend([
        Column::count("Fold", |fold: &OuterFold| fold.fold),
        Column::count("Rows", |fold: &OuterFold| fold.rows),
        Column::number("Loss", |fold: &OuterFold| finite(fold.loss)),
        Column::number("Without columns", |fold: &OuterFold| finite(fold.empty_loss)),
        Column::number("Cross-validated", |fold: &OuterFold| fold.cross_validated),
        Column::number("Score", |fold: &OuterFold| finite(fold.score)),
        Column::count("Size", |fold: &OuterFold| fold.size),
        Column::short("λ", |fold: &OuterFold| fold.lambda),
        Column::list("Columns", |fold: &OuterFold| {
            let shown = fold.selected.len().min(12);
            let more = fold.selected.len() - shown;
            let names = fold.selected[..shown].join(", ");
            if more > 0 { format!("{names} and {} more", count(more as u64)) } else { names }
        }),
    ]);
    let summary = format!("{} as a table", counted(nested.per_fold.len() as u64, "outer fold"));
    Some(HtmlTable::of("Outer folds", "“nested.per_fold”", columns, &nested.per_fold, |_| false).folded(summary))
}

/// How each of several targets is predicted, on the rows that are most to be trusted.
pub fn targets(source: &RecordView<'_>) -> Option<Section> {
    let (figures, rows) = source.record.trusted().filter(|(figures, _)| !figures.by_output.is_empty())?;
    let columns = vec![
        Column::name("Target", |of: &OutputFigures| of.name.clone()),
        Column::number("Mean squared error", |of: &OutputFigures| finite(of.mse)),
        Column::number("Root of it", |of: &OutputFigures| finite(of.mse.sqrt())),
        Column::number("R²", |of: &OutputFigures| of.r2),
    ];
    let table = HtmlTable::of("Each target", "“by_output”", columns, &figures.by_output, |_| false).html();
    let lead = format!("By the model of all targets, on {} {rows}.", count(figures.rows as u64));
    Some(Section { id: "targets", heading: "Each target".into(), lead, table, note: String::new() })
}
