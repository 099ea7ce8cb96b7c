//! What the template fills in: sentences, figures, tables and drawings, all made here.

use super::figures::{Figure, figures};
use super::number::{self, counted, short};
use super::record::{Entry, Record, StepRecord};
use super::tuning::Tuning;
use super::{Report, chart, knots, words};
use serde::Serialize;

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
    pub fn of(record: &Record, report: &Report<'_>) -> View {
        let heat = chart::correlations(record, report.correlation);
        let outputs = record.selected.iter().map(|f| f.weights.len()).max().unwrap_or(0);
        let any = |value: fn(&Entry) -> Option<f64>| record.path.iter().any(|entry| value(entry).is_some());
        View {
            title: report.title.to_owned(),
            version: report.version.to_owned(),
            headline: words::headline(record),
            warnings: words::warnings(record),
            optimism: words::optimism(record, report.tuning.is_some()),
            cards: cards(record),
            facts: facts(record),
            figures: figures(record),
            tuning: report.tuning.map(Tuning::of),
            entries: chart::entries(record),
            coefficients: knots::coefficients(record),
            steps: record.steps.iter().map(|step| step_row(record, step)).collect(),
            ties: record.steps.iter().any(|step| !step.tied.is_empty()),
            chosen: chosen_rows(record, outputs),
            weight_heads: match outputs {
                0 | 1 => vec!["Weight".into()],
                n => (1..=n).map(|k| format!("Weight, output {k}")).collect(),
            },
            heat_note: heat_note(record, heat.is_some()),
            heat,
            sizes: size_rows(record),
            shows: Shows {
                error: any(|e| e.standard_error),
                lambda: any(|e| e.lambda),
                train: any(|e| e.curve.train),
                test: any(|e| e.curve.test),
                train_rate: any(|e| e.curve.train_error),
                test_rate: any(|e| e.curve.test_error),
            },
            excluded: record
                .excluded
                .iter()
                .map(|(index, reason)| (record.name(*index), *index, reason.replace('_', " ")))
                .collect(),
            configuration: report.configuration.to_owned(),
            sha256: record.sha256.clone(),
            fold: FOLD,
        }
    }
}

fn cards(record: &Record) -> Vec<Card> {
    let mut out = Vec::new();
    let inner = words::capital(&words::score(record));
    if let Some(value) = record.score {
        out.push(Card {
            label: inner,
            value,
            note: if record.loss.is_some() { "inner score, optimistic" } else { "inner score" }.into(),
            class: "inner",
        });
    }
    if let Some((name, value)) = words::test_figure(record) {
        let rows = record.test.and_then(|t| t.rows);
        let note = rows.map_or_else(|| "on test rows".into(), |n| format!("on {}", counted(n, "test row")));
        out.push(Card { label: format!("Test {name}"), value, note, class: "test" });
    }
    if let Some(value) = record.empty_score.filter(|_| record.loss.is_some()) {
        out.push(Card {
            label: "Without any column".into(),
            value,
            note: "inner score, to compare".into(),
            class: "empty",
        });
    }
    out
}

fn facts(record: &Record) -> Vec<Fact> {
    let mut out: Vec<Fact> = Vec::new();
    let mut word = |label: &str, text: String| {
        if !text.is_empty() {
            out.push(Fact { label: label.into(), text, full: String::new() });
        }
    };
    word("Rows", record.rows.map(number::count).unwrap_or_default());
    word("Candidate columns", record.features.map(number::count).unwrap_or_default());
    if record.outputs > 1 {
        word("Outputs", number::count(record.outputs));
    }
    word("Columns chosen", record.selected.len().to_string());
    let mut number = |label: &str, value: Option<f64>| {
        if let Some(value) = value.filter(|v| v.is_finite()) {
            out.push(Fact { label: label.into(), text: short(value), full: number::full(value) });
        }
    };
    number("Standard error of the score", record.chosen_entry().and_then(|entry| entry.standard_error));
    number("Redundancy of the chosen columns", record.redundancy);
    number("λ", record.lambda);
    if record.intercepts.len() == 1 {
        number("Intercept", record.intercepts.first().copied());
    }
    if let Some(test) = record.test {
        let figures = [
            ("Test mean squared error", test.mse),
            ("Test NRMSE", test.nrmse),
            ("Test error rate", test.error_rate),
            ("Test balanced error rate", test.balanced_error_rate),
            ("Test AUC", test.auc),
        ];
        let on_card = words::test_figure(record).map(|(_, value)| value);
        figures.into_iter().filter(|(_, value)| *value != on_card).for_each(|(label, value)| number(label, value));
    }
    if let Some((steps, error)) = record.verify {
        let text = format!("{}, relative error at most {}", counted(steps, "step"), short(error));
        out.push(Fact { label: "Checked by retraining".into(), text, full: number::full(error) });
    }
    let mut told = |label: &str, text: String, full: String| out.push(Fact { label: label.into(), text, full });
    if record.intercepts.len() > 1 {
        let all: Vec<String> = record.intercepts.iter().map(|b| short(*b)).collect();
        told("Intercepts", all.join(", "), String::new());
    }
    if !record.learner.is_empty() {
        told("Learner", record.learner.clone(), String::new());
    }
    if !record.engine.is_empty() {
        told("Engine", record.engine.clone(), String::new());
    }
    told("The search ended because", words::stop_reason(&record.stop_reason), String::new());
    let seconds = |key: &str| super::record::finite(&record.seconds, key);
    if let Some(total) = seconds("total") {
        let parts = ["read", "search", "fit"]
            .iter()
            .filter_map(|key| Some(format!("{key} {}", number::duration(seconds(key)?))));
        told("Time", number::duration(total), parts.collect::<Vec<_>>().join(", "));
    }
    if let Some(peak) = record.peak_memory {
        told("Peak memory", number::bytes(peak), format!("{peak} bytes"));
    }
    out
}

fn names(record: &Record, indices: &[usize]) -> String {
    indices.iter().map(|index| record.name(*index)).collect::<Vec<_>>().join(", ")
}

fn step_row(record: &Record, step: &StepRecord) -> StepRow {
    StepRow {
        step: step.step,
        added: step.added,
        name: names(record, &step.columns),
        index: step.index,
        size: step.size,
        score: step.score,
        lambda: step.lambda,
        tied: names(record, &step.tied),
    }
}

fn chosen_rows(record: &Record, outputs: usize) -> Vec<ChosenRow> {
    let row = |(place, feature): (usize, &super::record::Chosen)| {
        let entry = record.entry_step(feature.index);
        ChosenRow {
            order: place + 1,
            index: feature.index,
            name: record.name(feature.index),
            weights: (0..outputs.max(1)).map(|k| feature.weights.get(k).copied()).collect(),
            score: entry.and_then(|step| step.score),
            tied: entry.map(|step| names(record, &step.tied)).unwrap_or_default(),
        }
    };
    record.selected.iter().enumerate().map(row).collect()
}

fn size_rows(record: &Record) -> Vec<SizeRow> {
    let chosen = record.chosen_entry().map(|entry| entry.size);
    let best = record.best_entry().map(|entry| entry.size);
    let row = |entry: &Entry| SizeRow {
        size: entry.size,
        chosen: Some(entry.size) == chosen,
        best: Some(entry.size) == best,
        score: entry.score,
        error: entry.standard_error,
        lambda: entry.lambda,
        train: entry.curve.train,
        test: entry.curve.test,
        train_rate: entry.curve.train_error,
        test_rate: entry.curve.test_error,
    };
    record.path.iter().map(row).collect()
}

fn heat_note(record: &Record, drawn: bool) -> String {
    match record.selected.len() {
        _ if drawn => "Correlations of the chosen columns on the training rows, in order of entry. Strong colours off the diagonal mark columns that say much the same.".into(),
        0 | 1 => String::new(),
        n if n > chart::MOST_CORRELATED => format!(
            "The correlation map is left out: it is drawn for at most {} chosen columns, and there are {n}.",
            chart::MOST_CORRELATED
        ),
        _ => "No correlations of the chosen columns are at hand.".into(),
    }
}
