//! What the template fills in: sentences, figures, tables and drawings, all made here.

use super::figures::{Figure, figures};
use super::number::{self, counted, short};
use super::source::{Entry, Source, finite};
use super::tuning::Tuning;
use super::{chart, knots, labels};
use crate::record::{MOST_CORRELATED, PerOutput, Seconds, SelectedRecord, StepRecord};
use serde::Serialize;
use vaglio_core::Action;

/// Longer tables are folded away.
const FOLD: usize = 60;

/// Everything on the page.
#[derive(Serialize)]
pub struct View {
    title: String,
    version: String,
    headline: String,
    warnings: Vec<String>,
    optimism: String,
    cards: Vec<Card>,
    facts: Vec<Fact>,
    figures: Vec<Figure>,
    tuning: Option<Tuning>,
    entries: Option<String>,
    coefficients: Option<String>,
    steps: Vec<StepRow>,
    ties: bool,
    chosen: Vec<ChosenRow>,
    weight_heads: Vec<String>,
    heat: Option<String>,
    heat_note: String,
    sizes: Vec<SizeRow>,
    shows: Shows,
    excluded: Vec<(String, usize, String)>,
    configuration: String,
    sha256: String,
    fold: usize,
}

/// A figure in large type.
#[derive(Serialize)]
struct Card {
    label: String,
    value: f64,
    note: String,
    class: &'static str,
}

/// A name and a value, for figures that are on no card; `full` is the value with every digit.
#[derive(Serialize)]
struct Fact {
    label: String,
    text: String,
    full: String,
}

#[derive(Serialize)]
struct StepRow {
    step: usize,
    added: bool,
    name: String,
    index: usize,
    size: usize,
    score: Option<f64>,
    lambda: Option<f64>,
    tied: String,
}

#[derive(Serialize)]
struct ChosenRow {
    order: usize,
    index: usize,
    name: String,
    weights: Vec<Option<f64>>,
    score: Option<f64>,
    tied: String,
}

#[derive(Serialize)]
struct SizeRow {
    size: usize,
    chosen: bool,
    best: bool,
    score: Option<f64>,
    error: Option<f64>,
    lambda: Option<f64>,
    train: Option<f64>,
    test: Option<f64>,
    train_rate: Option<f64>,
    test_rate: Option<f64>,
}

/// Which optional columns of the table of sizes hold something.
#[derive(Serialize)]
struct Shows {
    error: bool,
    lambda: bool,
    train: bool,
    test: bool,
    train_rate: bool,
    test_rate: bool,
}

impl View {
    /// The page of a record.
    pub fn of(source: &Source<'_>, title: &str, configuration: &str) -> View {
        let record = source.record;
        let heat = chart::correlations(source);
        let outputs = record.selected.iter().map(|f| weights(f).len()).max().unwrap_or(0);
        let any = |value: fn(&Entry) -> Option<f64>| source.path.iter().any(|entry| value(entry).is_some());
        View {
            title: title.to_owned(),
            version: env!("CARGO_PKG_VERSION").into(),
            headline: labels::headline(source),
            warnings: labels::warnings(source),
            optimism: labels::optimism(source),
            cards: cards(source),
            facts: facts(source),
            figures: figures(source),
            tuning: record.report.tuning.as_ref().map(Tuning::of),
            entries: chart::entries(source),
            coefficients: knots::coefficients(source),
            steps: record.steps.iter().map(|step| step_row(source, step)).collect(),
            ties: record.steps.iter().any(|step| !step.tied.is_empty()),
            chosen: chosen_rows(source, outputs),
            weight_heads: match outputs {
                0 | 1 => vec!["Weight".into()],
                n => (1..=n).map(|k| format!("Weight, output {k}")).collect(),
            },
            heat_note: heat_note(record.selected.len(), heat.is_some()),
            heat,
            sizes: size_rows(source),
            shows: Shows {
                error: any(|e| e.standard_error),
                lambda: any(|e| e.lambda),
                train: any(|e| e.train),
                test: any(|e| e.test),
                train_rate: any(|e| e.rates.train_error),
                test_rate: any(|e| e.rates.test_error),
            },
            excluded: record.excluded.iter().map(|e| (e.name.clone(), e.index, e.reason.replace('_', " "))).collect(),
            configuration: configuration.to_owned(),
            sha256: record.data.sha256.clone(),
            fold: FOLD,
        }
    }
}

fn cards(source: &Source<'_>) -> Vec<Card> {
    let mut out = Vec::new();
    let is_loss = source.record.pipeline.loss.is_some();
    if let Some(value) = source.score() {
        out.push(Card {
            label: labels::capital(&labels::score(source)),
            value,
            note: if is_loss { "inner score, optimistic" } else { "inner score" }.into(),
            class: "inner",
        });
    }
    if let Some((rows, name, value)) = labels::test_figure(source) {
        let note = format!("on {}", counted(rows as u64, "test row"));
        out.push(Card { label: format!("Test {name}"), value, note, class: "test" });
    }
    if let Some(value) = source.empty_score().filter(|_| is_loss) {
        out.push(Card {
            label: "Without any column".into(),
            value,
            note: "inner score, to compare".into(),
            class: "empty",
        });
    }
    out
}

fn facts(source: &Source<'_>) -> Vec<Fact> {
    let (record, intercepts) = (source.record, source.intercepts());
    let mut out: Vec<Fact> = Vec::new();
    let mut counted = |label: &str, count: usize| {
        out.push(Fact { label: label.into(), text: number::count(count as u64), full: String::new() });
    };
    counted("Rows", record.data.rows);
    counted("Candidate columns", record.data.features);
    if record.data.outputs > 1 {
        counted("Outputs", record.data.outputs);
    }
    counted("Columns chosen", record.selected.len());
    let mut number = |label: &str, value: Option<f64>| {
        if let Some(value) = value.and_then(finite) {
            out.push(Fact { label: label.into(), text: short(value), full: number::full(value) });
        }
    };
    number("Standard error of the score", source.chosen_entry().and_then(|entry| entry.standard_error));
    number("Redundancy of the chosen columns", record.redundancy);
    number("λ", record.lambda);
    if let [intercept] = *intercepts {
        number("Intercept", Some(intercept));
    }
    if let Some(test) = &record.test {
        let figures = [
            ("Test mean squared error", Some(test.mse)),
            ("Test NRMSE", test.nrmse),
            ("Test error rate", test.error_rate),
            ("Test balanced error rate", test.balanced_error_rate),
            ("Test AUC", test.auc),
        ];
        let on_card = labels::test_figure(source).map(|(.., value)| value);
        figures.into_iter().filter(|(_, value)| *value != on_card).for_each(|(label, value)| number(label, value));
    }
    let mut told = |label: &str, text: String, full: String| out.push(Fact { label: label.into(), text, full });
    if intercepts.len() > 1 {
        let all: Vec<String> = intercepts.iter().map(|b| short(*b)).collect();
        told("Intercepts", all.join(", "), String::new());
    }
    told("Learner", record.pipeline.learner.clone(), String::new());
    told("Engine", record.pipeline.engine.clone(), String::new());
    told("The search ended because", record.stop_reason.sentence().into(), String::new());
    let Seconds { read, search, choose, evaluate, fit, total } = record.seconds;
    let parts = [("read", read), ("search", search), ("choose", choose), ("evaluate", evaluate), ("fit", fit)];
    let parts = parts.map(|(part, seconds)| format!("{part} {}", number::duration(seconds)));
    told("Time", number::duration(total), parts.join(", "));
    if let Some(peak) = record.peak_memory_bytes {
        told("Peak memory", number::bytes(peak as f64), format!("{peak} bytes"));
    }
    out
}

fn weights(column: &SelectedRecord) -> &[f64] {
    column.weight.as_ref().map_or(&[], PerOutput::values)
}

fn names(source: &Source<'_>, indices: &[usize]) -> String {
    indices.iter().map(|index| source.name(*index)).collect::<Vec<_>>().join(", ")
}

fn step_row(source: &Source<'_>, step: &StepRecord) -> StepRow {
    StepRow {
        step: step.step,
        added: step.action == Action::Add,
        name: names(source, step.moved()),
        index: step.index,
        size: step.size,
        score: finite(step.score),
        lambda: step.lambda,
        tied: names(source, &step.tied),
    }
}

fn chosen_rows(source: &Source<'_>, outputs: usize) -> Vec<ChosenRow> {
    let row = |(place, feature): (usize, &SelectedRecord)| {
        let entry = source.entry_step(feature.index);
        ChosenRow {
            order: place + 1,
            index: feature.index,
            name: feature.name.clone(),
            weights: (0..outputs.max(1)).map(|k| weights(feature).get(k).copied()).collect(),
            score: entry.and_then(|step| finite(step.score)),
            tied: entry.map(|step| names(source, &step.tied)).unwrap_or_default(),
        }
    };
    source.record.selected.iter().enumerate().map(row).collect()
}

fn size_rows(source: &Source<'_>) -> Vec<SizeRow> {
    let chosen = source.chosen_entry().map(|entry| entry.size);
    let best = source.best_entry().map(|entry| entry.size);
    let row = |entry: &Entry| SizeRow {
        size: entry.size,
        chosen: Some(entry.size) == chosen,
        best: Some(entry.size) == best,
        score: entry.score,
        error: entry.standard_error,
        lambda: entry.lambda,
        train: entry.train,
        test: entry.test,
        train_rate: entry.rates.train_error,
        test_rate: entry.rates.test_error,
    };
    source.path.iter().map(row).collect()
}

fn heat_note(selected: usize, drawn: bool) -> String {
    match selected {
        _ if drawn => "Correlations of the chosen columns on the training rows, in order of entry. Strong colours off the diagonal mark columns that say much the same.".into(),
        0 | 1 => String::new(),
        n if n > MOST_CORRELATED => format!(
            "The correlation map is left out: it is drawn for at most {} chosen columns, and there are {n}.",
            MOST_CORRELATED
        ),
        _ => "No correlations of the chosen columns are at hand.".into(),
    }
}
