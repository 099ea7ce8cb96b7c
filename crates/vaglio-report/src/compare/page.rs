//! The page of a comparison.

use super::{Comparison, Difference, Run, likeness, share};
use crate::record::LossName;
use crate::report::filled;
use minijinja::value::Serde;
use serde::Serialize;
use std::collections::HashMap;

/// Shared columns that the page lists, at most.
const MOST_COLUMNS: usize = 300;

#[derive(Serialize)]
struct View {
    version: &'static str,
    title: String,
    runs: Vec<RunRow>,
    figures: Vec<Figure>,
    pairs: Vec<PairRow>,
    columns: Vec<ColumnRow>,
    left_out: usize,
    has_shares: bool,
    has_test: bool,
    has_root: bool,
}

#[derive(Serialize)]
struct RunRow {
    name: String,
    parts: String,
    loss: String,
    rows: usize,
    columns: usize,
    lambda: Option<f64>,
    score: f64,
    cross_validated: Option<f64>,
    cross_validated_error: Option<f64>,
    nested: Option<f64>,
    nested_error: Option<f64>,
    empty: Option<f64>,
    test: Option<f64>,
    test_error: Option<f64>,
    test_empty: Option<f64>,
    root: Option<f64>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Figure {
    heading: String,
    svg: String,
    legend: String,
}

#[derive(Serialize)]
struct PairRow {
    first: String,
    second: String,
    difference: Option<f64>,
    interval: Option<[f64; 2]>,
    how: String,
    shared: usize,
    likeness: f64,
}

#[derive(Serialize)]
struct ColumnRow {
    name: String,
    /// Of each run the place at which the column entered, and the share of outer folds that selected it, in percent.
    places: Vec<(Option<usize>, Option<String>)>,
}

pub(super) fn page(comparison: &Comparison) -> Result<String, minijinja::Error> {
    let style = concat!(include_str!("../report/style.css"), include_str!("style.css"));
    filled(include_str!("page.html"), "compare", style, Serde(&View::of(comparison)))
}

impl View {
    fn of(comparison: &Comparison) -> Self {
        let Comparison { runs, pairs } = comparison;
        let mut losses: Vec<LossName> = Vec::new();
        runs.iter().map(Run::loss).for_each(|loss| {
            if !losses.contains(&loss) {
                losses.push(loss);
            }
        });
        let figure = |loss: &LossName| {
            let (svg, legend) = comparison.curves(loss)?;
            Some(Figure { heading: format!("{} against size", capital(loss.title())), svg, legend })
        };
        let (columns, left_out) = columns(runs);
        View {
            version: env!("CARGO_PKG_VERSION"),
            title: runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>().join(", "),
            runs: runs.iter().map(run_row).collect(),
            figures: losses.iter().filter_map(figure).collect(),
            pairs: pairs.iter().map(|(a, b, difference)| pair_row(&runs[*a], &runs[*b], difference)).collect(),
            columns,
            left_out,
            has_shares: runs.iter().any(|run| run.record.nested.is_some()),
            has_test: runs.iter().any(|run| run.record.test.is_some()),
            has_root: runs.iter().any(|run| run.root().is_some()),
        }
    }
}

fn run_row(run: &Run) -> RunRow {
    let record = &run.record;
    let nested = record.nested.as_ref();
    RunRow {
        name: run.name.clone(),
        parts: run.parts(),
        loss: run.loss().told().to_owned(),
        rows: record.data.rows,
        columns: record.selected.len(),
        lambda: record.lambda,
        score: record.score,
        cross_validated: record.chosen.cross_validated,
        cross_validated_error: record.chosen.standard_error,
        nested: nested.map(|nested| nested.loss),
        nested_error: nested.and_then(|nested| nested.standard_error),
        empty: nested.map(|nested| nested.empty_loss).or(record.chosen.empty_loss),
        test: record.test.as_ref().map(|test| test.loss),
        test_error: record.test.as_ref().and_then(|test| test.standard_error),
        test_empty: record.test.as_ref().and_then(|test| test.empty_loss),
        root: run.root(),
        warnings: record.warnings.iter().map(|warning| warning.message.clone()).collect(),
    }
}

fn pair_row(a: &Run, b: &Run, difference: &Difference) -> PairRow {
    let (mean, interval) = match difference {
        Difference::Of { mean, interval, .. } => (Some(*mean), *interval),
        Difference::None(_) => (None, None),
    };
    let (first, second) = (a.selected(), b.selected());
    PairRow {
        first: a.name.clone(),
        second: b.name.clone(),
        difference: mean,
        interval,
        how: difference.how(),
        shared: first.intersection(&second).count(),
        likeness: likeness(&first, &second),
    }
}

/// The columns that some run selected, those of most runs first, of equals the earliest to enter; and how many there are
/// beyond.
fn columns(runs: &[Run]) -> (Vec<ColumnRow>, usize) {
    let mut places: HashMap<&str, Vec<Option<usize>>> = HashMap::new();
    for (k, run) in runs.iter().enumerate() {
        for (place, column) in run.record.selected.iter().enumerate() {
            places.entry(&column.name).or_insert_with(|| vec![None; runs.len()])[k] = Some(place + 1);
        }
    }
    let mut all: Vec<(&str, Vec<Option<usize>>)> = places.into_iter().collect();
    let key = |places: &[Option<usize>]| {
        let known: Vec<usize> = places.iter().flatten().copied().collect();
        (usize::MAX - known.len(), known.iter().copied().min())
    };
    all.sort_by(|(a, p), (b, q)| key(p).cmp(&key(q)).then(a.cmp(b)));
    let left_out = all.len().saturating_sub(MOST_COLUMNS);
    all.truncate(MOST_COLUMNS);
    let row = |(name, places): (&str, Vec<Option<usize>>)| {
        let of_run = |(place, run): (Option<usize>, &Run)| {
            let percent = share(run.record.nested.as_ref(), name).map(|share| format!("{:.0} %", 100.0 * share));
            (place, percent)
        };
        ColumnRow { name: name.to_owned(), places: places.into_iter().zip(runs).map(of_run).collect() }
    };
    (all.into_iter().map(row).collect(), left_out)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
