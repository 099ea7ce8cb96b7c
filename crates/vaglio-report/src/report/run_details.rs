//! Details of the run: key figures, steps of the search, sizes, methods, configuration.

use crate::page::{COLORS, Chart, Mark, ScaleKind, Section, TableBuilder, count, escape, heat_map, short};
use crate::record::{EntryRecord, Record, StepRecord, TunedSettings, proof_sentence};
use std::collections::HashMap;
use vaglio_core::{Action, join};
use vaglio_tables::budget::shown;

/// Section with figures that no other section has.
pub fn key_figures(record: &Record) -> Section {
    let data = &record.data;
    let number = |number: usize| (number > 0).then(|| count(number));
    let figures = [
        ("Rows", number(data.rows)),
        ("Rows left out", number(data.left_out.iter().map(|rows| rows.rows + rows.test_rows).sum())),
        ("Candidate columns", number(data.features)),
        ("λ", record.lambda.map(short)),
        ("Penalty of the path", record.chosen.penalty.map(short)),
        ("NRMSE on rows held out", record.most_trusted_figures().and_then(|(figures, _)| figures.nrmse).map(short)),
        ("Mean absolute correlation of the chosen columns", record.redundancy.map(short)),
        ("Tuned settings", record.tuned.as_ref().map(TunedSettings::sentence)),
        ("Engine", Some(record.pipeline.engine.clone())),
        ("Certificate", record.certificate.as_ref().map(|proof| proof_sentence(proof).replace('`', ""))),
        ("Trials refitted from the rows", number(record.numerics.map_or(0, |diagnostics| diagnostics.remade as usize))),
        ("Seed", Some(record.seed.to_string())),
        ("The search ended because", Some(record.stop_reason.sentence().into())),
        ("Peak memory", record.peak_memory_bytes.map(|peak| shown(peak as f64))),
        ("Seconds", Some(short(record.seconds.total))),
    ];
    let figures: Vec<(&str, String)> = figures.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let table =
        TableBuilder::new("", &figures).name("Figure", |figure| figure.0).text("Value", |figure| figure.1.clone());
    Section::new("Key figures").table(table)
}

/// Steps and columns of a map of entries, at most.
const MOST_STEPS: usize = 40;

/// The steps of the search: coefficients along a least-angle path, a map of entries and exits, and a table.
pub fn steps(record: &Record) -> Option<Section> {
    let table = TableBuilder::new("“steps”", &record.steps)
        .count("Step", |step| step.step)
        .name("Column", |step| moved_columns(record, step))
        .count("Size", |step| step.size)
        .number("Score", |step| step.score)
        .number("λ", |step| step.lambda);
    let section = Section::new("Steps of the search").chart(coefficients(record));
    Some(section.with(&entries(record)).table(table))
}

/// Map of the columns in the subset after each step; empty without steps, or with too many.
fn entries(record: &Record) -> String {
    let steps = &record.steps;
    let mut columns = record.start_subset();
    for column in steps.iter().flat_map(StepRecord::moved_columns) {
        if !columns.contains(column) {
            columns.push(*column);
        }
    }
    if steps.is_empty() || steps.len().max(columns.len()) > MOST_STEPS {
        return String::new();
    }
    let mut cells = vec![Vec::new(); columns.len()];
    for (step, active) in record.steps_with_subsets() {
        for (column, cells) in columns.iter().zip(&mut cells) {
            let word = match (step.moved_columns().contains(column), step.action) {
                (true, Action::Add) => "+",
                (true, Action::Remove) => "−",
                (false, _) if active.contains(column) => "in the subset",
                (false, _) => "not in the subset",
            };
            let color = if record.is_chosen(*column) { 1.0 } else { 0.3 };
            cells.push((active.contains(column).then_some(color), word.to_owned()));
        }
    }
    let label = format!("Columns in the subset after each of {} steps", steps.len());
    let names: Vec<String> = columns.iter().map(|index| record.column_name(*index)).collect();
    let numbers: Vec<String> = steps.iter().map(|step| step.step.to_string()).collect();
    let caption = "+ is an entry, − an exit. Columns of the chosen subset are darker.";
    heat_map(&label, [&names, &numbers], &cells, caption)
}

/// The columns that a step moves: `+ bmi`.
fn moved_columns(record: &Record, step: &StepRecord) -> String {
    let names = join(step.moved_columns().iter().map(|index| record.column_name(*index)), ", ");
    format!("{} {names}", if step.action == Action::Add { "+" } else { "−" })
}

/// Coefficients along a least-angle path; `None` for other searches.
fn coefficients(record: &Record) -> Option<Chart> {
    let steps = &record.steps;
    if steps.is_empty() || steps.iter().any(|step| step.alpha.is_none()) {
        return None;
    }
    let mut columns: Vec<usize> = Vec::new();
    // Coefficients of the active columns before each step, and after the last.
    let mut alphas: Vec<HashMap<usize, f64>> = vec![HashMap::new()];
    for (step, active) in record.steps_with_subsets() {
        columns.extend(active.iter().copied().filter(|index| !columns.contains(index)).collect::<Vec<_>>());
        alphas.push(active.into_iter().zip(step.alpha.iter().flatten().copied()).collect());
    }
    let line = |(k, index): (usize, &usize)| {
        let off = if record.is_chosen(*index) { "" } else { " off" };
        let points = alphas.iter().enumerate();
        let points = points.map(|(at, alphas)| [at as f64, alphas.get(index).copied().unwrap_or(0.0)]);
        let points = points.filter(|point| point[1].is_finite()).collect();
        Mark::stroke(&record.column_name(*index), &format!("alpha k{}{off}", k % COLORS), points)
    };
    let label = format!("Coefficients of {} columns along {} steps", columns.len(), steps.len());
    let marks: Vec<Mark> = columns.iter().enumerate().map(line).rev().collect();
    let caption = "The coefficient of each column after each step of the least-angle path. Columns that are not chosen are faint.";
    let chart = Chart::new(label, "step", "coefficient").x(ScaleKind::Whole).y(ScaleKind::Linear);
    Some(Chart { names_at_ends: true, ..chart.marks(marks).caption(caption) })
}

/// The losses of every size.
pub fn sizes(record: &Record) -> Option<Section> {
    let path = record.path_by_size();
    let chosen = record.chosen_entry().map(|entry| entry.size);
    let best = record.best_entry().map(|entry| entry.size);
    let lowest = record.lowest(|entry| entry.cross_validated).map(|entry| entry.size);
    let tags = [("chosen", chosen), ("lowest cross-validated", lowest), ("lowest score", best)];
    let words = |entry: &&EntryRecord| {
        let own = tags.iter().filter(|(_, size)| *size == Some(entry.size)).map(|(words, _)| *words);
        join(own, ", ")
    };
    let table = TableBuilder::new("“path”", &path)
        .count("Size", |entry| entry.size)
        .text("Last step", |entry| Some(moved_columns(record, record.steps.get(entry.step?.checked_sub(1)?)?)))
        .number("Cost", |entry| entry.cost)
        .text("", words)
        .number("Cross-validated", |entry| entry.cross_validated)
        .number("Score", |entry| entry.score)
        .number("Training", |entry| entry.train)
        .number("Test", |entry| entry.test)
        .highlight(|entry| !words(entry).is_empty());
    let note = "Standard errors, R², AICc, BIC and Cp are in “path” of selection.json.";
    Some(Section::new("Sizes").table(table).note(note))
}

/// Section with a paragraph on the methods of the run.
pub fn methods(record: &Record) -> Section {
    let note = "`vaglio export --to methods` adds the REFORMS checklist.";
    Section::new("Methods").text(record.methods_paragraph()).note(note)
}

/// The pipeline with every default written out.
pub fn configuration(yaml: &str) -> Section {
    let code = format!("<pre tabindex=\"0\">{}</pre>\n", join(yaml.lines().map(escape), "\n"));
    Section::new("Configuration").with(if yaml.is_empty() { "" } else { &code })
}
