//! Chosen columns alone, beside the others and over folds; and those that were not chosen.

use super::columns::Section;
use super::number::{self, count, counted, escape, short};
use super::source::{RecordView, finite};
use super::svg;
use super::table::{Column, HtmlTable, bar};
use crate::record::{Histogram, OutsideRecord, SelectedRecord, WeightSpread};
use std::fmt::Write;

/// What is known of the chosen columns beside their place in the result.
pub fn chosen(source: &RecordView<'_>) -> Option<Section> {
    let record = source.record;
    let selected = &record.selected;
    let (empty, score) = (source.empty_score(), source.score());
    let alone = move |column: &SelectedRecord| Some(empty? - column.alone.and_then(finite)?);
    let given = move |column: &SelectedRecord| Some(column.without.and_then(finite)? - score?);
    let most = selected.iter().flat_map(|c| [alone(c), given(c)]).flatten().fold(0.0, f64::max);
    let gain = move |value: Option<f64>| {
        value.map(|value| bar(if most > 0.0 { value / most } else { 0.0 }, &number::html(Some(value))))
    };
    let folds = record.nested.as_ref().map_or(0, |nested| nested.per_fold.len());
    let is_scaled = selected.iter().any(|c| c.over_folds.as_ref().is_some_and(|s| s.original_low.is_some()));
    let mut columns = vec![
        Column::name("Column", |column: &SelectedRecord| column.name.clone()),
        Column::html("Values", "t", |column: &SelectedRecord| column.histogram.as_ref().map(histogram)),
        Column::html("Missing", "", |column: &SelectedRecord| column.missing.filter(|m| *m > 0.0).map(percent)),
        Column::html("Alone it lowers the score by", "share", move |column| gain(alone(column))),
        Column::html("Beside the others by", "share", move |column| gain(given(column))),
        Column::html("Variance inflation", "", |column: &SelectedRecord| column.vif.map(inflation)),
        Column::html("Weight over outer folds", "t", move |column: &SelectedRecord| {
            column.over_folds.as_ref().map(|spread| interval(spread, folds, false))
        }),
    ];
    if is_scaled {
        columns.push(Column::html("On the original scale", "t", move |column: &SelectedRecord| {
            column.over_folds.as_ref().filter(|s| s.original_low.is_some()).map(|spread| interval(spread, folds, true))
        }));
    }
    let changes = |column: &SelectedRecord| column.over_folds.as_ref().is_some_and(|spread| spread.changes_sign);
    columns.push(Column::html("Sign", "t", move |column: &SelectedRecord| {
        column.over_folds.as_ref()?;
        let mark = if changes(column) { "<span class=\"tag warn\">changes</span>" } else { "the same" };
        Some(mark.into())
    }));
    let table = HtmlTable::of("Alone and beside the others", "“selected”", columns, selected, |_| false);
    let is_known = selected.iter().any(|c| c.alone.is_some() || c.vif.is_some() || c.over_folds.is_some());
    is_known.then(|| Section {
        id: "beside",
        heading: "Alone, beside the others, and over folds".into(),
        lead: lead(selected, folds),
        table: table.open_to(60).html(),
        note: note(selected, folds),
    })
}

fn lead(selected: &[SelectedRecord], folds: usize) -> String {
    let changing: Vec<&str> = selected
        .iter()
        .filter(|column| column.over_folds.as_ref().is_some_and(|spread| spread.changes_sign))
        .map(|column| column.name.as_str())
        .collect();
    if changing.is_empty() || folds == 0 {
        return String::new();
    }
    let shown = changing.len().min(12);
    let more = match changing.len() - shown {
        0 => String::new(),
        more => format!(" and {} more", count(more as u64)),
    };
    format!(
        "The sign of {} changes over {}: {}{more}.",
        counted(changing.len() as u64, "weight"),
        counted(folds as u64, "outer fold"),
        changing[..shown].join(", ")
    )
}

fn note(selected: &[SelectedRecord], folds: usize) -> String {
    let mut out = vec![
        "A column that gains much alone and little beside the others is replaced by them; one that gains more beside them needs them.".to_owned(),
    ];
    if selected.iter().any(|column| column.vif.is_some()) {
        out.push(
            "Variance inflation is 1/(1 − R²) of the column on the other chosen ones: from 5 to 10 on, its weight is shared with them.".into(),
        );
    }
    if folds > 0 && selected.iter().any(|column| column.over_folds.is_some()) {
        out.push(
            "Weights over outer folds are the lowest and the highest among the folds that chose the column. They show how the weight moves when everything is repeated on other rows. They are no confidence interval and no test: none that is made after a selection on the same rows holds its level."
                .into(),
        );
    }
    out.join(" ")
}

fn percent(share: f64) -> String {
    format!("<span class=\"n\" title=\"{}\">{} %</span>", number::full(share), number::significant(100.0 * share, 2))
}

fn inflation(factor: f64) -> String {
    match finite(factor) {
        Some(factor) => {
            let class = if factor >= 10.0 { " class=\"tag warn\"" } else { "" };
            format!("<span{class} title=\"{}\">{}</span>", number::full(factor), number::significant(factor, 3))
        }
        None => "<span class=\"tag warn\" title=\"it depends on the other chosen columns\">∞</span>".into(),
    }
}

/// From the lowest weight to the highest, of the first outputs.
fn interval(spread: &WeightSpread, folds: usize, is_original: bool) -> String {
    let ends = if is_original {
        spread.original_low.as_ref().zip(spread.original_high.as_ref())
    } else {
        Some((&spread.low, &spread.high))
    };
    let Some((low, high)) = ends else { return number::html(None) };
    let shown = low.values().len().min(super::columns::FEW_OUTPUTS);
    let of_output = |(low, high): (&f64, &f64)| {
        let (low, high) = (number::html(Some(*low)), number::html(Some(*high)));
        format!("<span class=\"range\">{low} to {high}</span>")
    };
    let all: Vec<String> = low.values().iter().zip(high.values()).take(shown).map(of_output).collect();
    let of = if is_original { String::new() } else { format!("<span class=\"of\">{} of {folds}</span>", spread.folds) };
    format!("{}{of}", all.join("<br>"))
}

/// A small histogram with its range in the tooltip.
fn histogram(of: &Histogram) -> String {
    let (width, height) = (64.0, 20.0);
    let most = of.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let part = width / of.counts.len().max(1) as f64;
    let words = format!("from {} to {}", short(of.from), short(of.to));
    let mut out = svg::framed("spark", (width, height), &words);
    let _ = write!(out, "<title>{}</title><path class=\"bins\" d=\"", escape(&words));
    for (k, &count) in of.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        // What is there is seen.
        let tall = (height * count as f64 / most).max(1.0);
        let _ = write!(
            out,
            "M{},{}h{}v-{}h-{}Z",
            svg::px(k as f64 * part),
            svg::px(height),
            svg::px(part),
            svg::px(tall),
            svg::px(part)
        );
    }
    out.push_str("\"/></svg>");
    out
}

/// The columns that were not chosen, a line each.
pub fn outside(source: &RecordView<'_>) -> Option<Section> {
    let record = source.record;
    let empty = source.empty_score();
    let chosen_at = |step: usize| record.selected.get(step.checked_sub(1)?).map(|column| column.name.clone());
    let columns = vec![
        Column::name("Column", |column: &OutsideRecord| column.name.clone()),
        Column::html("Rank alone", "", |column: &OutsideRecord| column.rank_alone.map(|rank| count(rank as u64))),
        Column::number("Alone it lowers the score by", move |column: &OutsideRecord| {
            Some(empty? - column.alone.and_then(finite)?)
        }),
        Column::html("Nearest", "t", move |column: &OutsideRecord| {
            let nearest = column.nearest?;
            let place = format!("rank {} at step {}", count(nearest.rank as u64), nearest.step);
            let beside = chosen_at(nearest.step).unwrap_or_else(|| "the result".into());
            let word = if nearest.above < 0.0 { "below" } else { "above" };
            let apart = format!("{} {word} {}", short(nearest.above.abs()), beside);
            Some(format!("{}<span class=\"of\">{}</span>", escape(&place), escape(&apart)))
        }),
        Column::html("The chosen explain", "share", |column: &OutsideRecord| {
            column.explained.map(|share| bar(share, &format!("{:.0} %", 100.0 * share)))
        }),
        Column::html("Most like", "t list", |column: &OutsideRecord| {
            let alike = column.most_alike?;
            let sign = if alike.correlation < 0.0 { "−" } else { "" };
            Some(format!("{} ({sign}{:.2})", escape(&source.name(alike.index)), alike.correlation.abs()))
        }),
        Column::list("Constant", |column: &OutsideRecord| {
            column.constant_in.sentence().map(|told| told.replacen("constant ", "", 1)).unwrap_or_default()
        }),
        Column::html("False discovery", "t", |column: &OutsideRecord| {
            record.fdr.as_ref().and_then(|fdr| fdr.said_of(column.index)).map(|said| escape(&said))
        }),
        Column::html("Missing", "", |column: &OutsideRecord| Some(column.missing).filter(|m| *m > 0.0).map(percent)),
    ];
    let outside = &record.outside;
    let table = HtmlTable::of("Columns not chosen", "“outside”", columns, outside, |_| false);
    let all = record.data.features.saturating_sub(record.selected.len() + record.excluded.len());
    let more = match all.saturating_sub(outside.len()) {
        0 => String::new(),
        more => format!(" {} more have no line; vaglio explain with a name has it.", count(more as u64)),
    };
    (!outside.is_empty()).then(|| Section {
        id: "outside",
        heading: "Columns that were not chosen".into(),
        lead: String::new(),
        table: table.folded(format!("{} as a table", counted(outside.len() as u64, "column"))).html(),
        note: format!(
            "Nearest is the step at which the column ranked best beside the columns chosen before, in order of entry. What the chosen columns explain of it is the R² of least squares; near 100 % the chosen columns stand for it.{more}"
        ),
    })
}
