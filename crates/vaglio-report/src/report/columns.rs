//! The tables of columns: those chosen, those that come back when the selection is repeated, and the outer folds.

use super::number::{self, count, counted, escape, short, significant};
use super::source::{RecordView, finite};
use super::table::{Column, HtmlTable, bar};
use crate::record::{Frequency, OuterFold, PerOutput, SelectedRecord, StabilityBound};
use serde::Serialize;
use std::collections::HashMap;

/// Outputs whose weights have a column each; of more the norm of a row is shown.
pub const FEW_OUTPUTS: usize = 4;
/// Columns of which the frequencies are shown.
const FREQUENT: usize = 25;

/// A section of a table with sentences around it.
#[derive(Serialize)]
pub struct Section {
    id: &'static str,
    heading: String,
    lead: String,
    table: String,
    note: String,
}

type Row<'r> = (usize, &'r SelectedRecord);

/// The chosen columns with all that is known of each.
pub fn chosen(source: &RecordView<'_>) -> Option<Section> {
    let selected = &source.record.selected;
    let rows: Vec<Row<'_>> = selected.iter().enumerate().collect();
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
    let mut columns = vec![
        Column::count("Order", |row: &Row<'_>| row.0 + 1),
        Column::name("Column", |row: &Row<'_>| row.1.name.clone()),
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
    columns.push(Column::text("Tied at entry", move |row| {
        entered(row).map(|step| tied(source, &step.tied)).unwrap_or_default()
    }));
    columns.push(Column::html("Substitutes (score)", "t wide", |row: &Row<'_>| substitutes(row.1)));
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
            let original = "on the original scale they are those of the columns as they were read";
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
        out.push(
            "Substitutes are the columns outside the subset that cost least in its place, with the score they give."
                .into(),
        );
    }
    if !any(|c| c.without.is_some()) && !selected.is_empty() {
        out.push("The score without each column was not computed.".into());
    }
    if source.record.nested.is_some() || source.record.stability.is_some() {
        out.push("The shares say how often the column was selected when everything was repeated.".into());
    }
    out.push("Indices and every digit: “selected” in selection.json.".into());
    out.join(" ")
}

/// How often columns come back when the selection is repeated.
pub fn frequencies(source: &RecordView<'_>) -> Option<Section> {
    let (nested, stability) = (&source.record.nested, &source.record.stability);
    let lists = [nested.as_ref().map(|n| &n.frequency), stability.as_ref().map(|s| &s.frequency)];
    type Shares<'n> = (&'n str, Option<usize>, [Option<f64>; 2]);
    let mut rows: Vec<Shares<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (k, list) in lists.iter().enumerate() {
        for frequency in list.iter().flat_map(|list| list.iter()) {
            let place = *places.entry(&frequency.name).or_insert_with(|| {
                rows.push((&frequency.name, frequency.index, [lists[0].map(|_| 0.0), lists[1].map(|_| 0.0)]));
                rows.len() - 1
            });
            rows[place].2[k] = Some(frequency.share);
        }
    }
    let key = |shares: &[Option<f64>; 2]| shares[0].unwrap_or(0.0) + shares[1].unwrap_or(0.0);
    rows.sort_by(|a, b| key(&b.2).total_cmp(&key(&a.2)));
    let all = rows.len();
    rows.truncate(FREQUENT);
    let selected = source.selected();
    let columns = vec![
        Column::name("Column", |row: &(&str, Option<usize>, [Option<f64>; 2])| row.0.to_owned()),
        Column::share("In outer folds", |row: &(&str, Option<usize>, [Option<f64>; 2])| row.2[0]),
        Column::share("In halves", |row: &(&str, Option<usize>, [Option<f64>; 2])| row.2[1]),
    ];
    let is_chosen =
        |row: &(&str, Option<usize>, [Option<f64>; 2])| row.1.is_some_and(|index| selected.contains(&index));
    let table = HtmlTable::of("Selection frequencies", "“frequency”", columns, &rows, is_chosen).html();
    let mut note = String::from(
        "Chosen columns are marked. Columns that come back are there for a reason; those that come once may be chance.",
    );
    if all > FREQUENT {
        note.push_str(&format!(" … and {} more, see “frequency” in selection.json.", count((all - FREQUENT) as u64)));
    }
    let heading = "Which columns come back".into();
    (!table.is_empty()).then(|| Section { id: "frequencies", heading, lead: lead(source), table, note })
}

/// The sharper of the bounds on columns that are there by chance.
fn least(bound: &StabilityBound) -> f64 {
    bound.unimodal.filter(|u| u.is_finite()).map_or(bound.expected_false, |u| u.min(bound.expected_false))
}

fn lead(source: &RecordView<'_>) -> String {
    let mut out = Vec::new();
    if let Some(nested) = &source.record.nested {
        let alike = nested.jaccard.map(|j| {
            format!(
                ": on average, of the columns that either of two folds selected both have {} %",
                significant(100.0 * j, 2)
            )
        });
        let folds = counted(nested.per_fold.len() as u64, "outer fold");
        out.push(format!("{folds} selected anew{}.", alike.unwrap_or_default()));
    }
    if let Some(stability) = &source.record.stability {
        let pairs = counted(stability.pairs as u64, "pair");
        let made = stability.splits.as_ref().map_or_else(String::new, |splits| format!(" ({splits})"));
        out.push(format!(
            "{pairs} of complementary halves of the rows{made} selected {} columns on average.",
            short(stability.size)
        ));
        let tells = |bound: &&StabilityBound| bound.columns > 0 && least(bound) < bound.columns as f64;
        for bound in stability.bounds.iter().filter(tells) {
            out.push(format!(
                "On at least {} % of them: {}, of which at most {} are expected to be there by chance.",
                significant(100.0 * bound.threshold, 3),
                counted(bound.columns as u64, "column"),
                significant(least(bound), 2)
            ));
        }
    }
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
        Column::text("Columns", |fold: &OuterFold| {
            let shown = fold.selected.len().min(12);
            let more = fold.selected.len() - shown;
            let names = fold.selected[..shown].join(", ");
            if more > 0 { format!("{names} and {} more", count(more as u64)) } else { names }
        }),
    ]);
    let summary = format!("{} as a table", counted(nested.per_fold.len() as u64, "outer fold"));
    Some(HtmlTable::of("Outer folds", "“nested.per_fold”", columns, &nested.per_fold, |_| false).folded(summary))
}
