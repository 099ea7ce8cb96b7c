//! What the template fills in: sentences, figures, tables and drawings, all made here.

use super::classes::Classes;
use super::columns::{self, Section};
use super::costs::CostSection;
use super::drawn::{self, DrawnSection};
use super::figures::{Figure, figures};
use super::found::PartFound;
use super::honest::{self, Card};
use super::number::{self, counted, short};
use super::race::RaceSection;
use super::scatter::Predictions;
use super::shape::Shape;
use super::source::{Entry, RecordView, finite};
use super::table::{Column, HtmlTable};
use super::tuning::Tuning;
use super::{beside, chart, discoveries, evidence, frequency, heat, knots, labels, near};
use crate::record::{
    ExcludedRecord, MOST_CORRELATED, Methods, Seconds, StepRecord, TakenColumns, left_out_rows, proven,
};
use serde::Serialize;
use vaglio_core::Action;

/// Everything on the page.
#[derive(Serialize)]
pub struct View {
    title: String,
    target: String,
    version: String,
    headline: String,
    warnings: Vec<String>,
    verdict: String,
    floor: String,
    fewest: String,
    /// How much the size hangs on the folds.
    dealt: String,
    optimism: String,
    cards: Vec<Card>,
    evidence: Option<String>,
    folds: Option<String>,
    facts: Vec<Fact>,
    figures: Vec<Figure>,
    predictions: Option<Predictions>,
    targets: Option<Section>,
    classes: Option<Classes>,
    race: Option<RaceSection>,
    costs: Option<CostSection>,
    tuning: Option<Tuning>,
    found: Vec<PartFound>,
    chosen: Option<Section>,
    equation: Vec<String>,
    equation_note: String,
    methods: Methods,
    shares: Option<Section>,
    alternatives: Option<Section>,
    drawn: Vec<DrawnSection>,
    beside: Option<Section>,
    shape: Option<Shape>,
    outside: Option<Section>,
    weights: Option<String>,
    discoveries: Option<Section>,
    frequencies: Option<Section>,
    entries: Option<String>,
    coefficients: Option<String>,
    steps: String,
    heat: Option<String>,
    heat_note: String,
    sizes: String,
    excluded: String,
    taken: String,
    left_out: String,
    configuration: String,
    digest: String,
}

/// A name and a value, for figures that are on no card; `full` is the value with every digit.
#[derive(Serialize)]
struct Fact {
    label: String,
    text: String,
    full: String,
}

impl View {
    /// The page of a record.
    pub fn of(source: &RecordView<'_>, title: &str, configuration: &str) -> View {
        let record = source.record;
        let honest = honest::honest(source);
        let heat = heat::correlations(source);
        let outputs = source.outputs().len();
        View {
            title: title.to_owned(),
            target: labels::target(source),
            version: env!("CARGO_PKG_VERSION").into(),
            headline: labels::headline(source),
            warnings: labels::warnings(source),
            verdict: honest::verdict(source, &honest),
            floor: honest::floor(source),
            fewest: honest::fewest(source),
            dealt: labels::dealt(source),
            optimism: labels::optimism(source),
            cards: honest::cards(source, &honest),
            evidence: evidence::drawing(source, &honest),
            folds: columns::folds(source).map(|table| table.html()),
            facts: facts(source),
            figures: figures(source),
            predictions: Predictions::of(source),
            targets: columns::targets(source),
            classes: Classes::of(source),
            race: RaceSection::of(source),
            costs: CostSection::of(source),
            tuning: record.report.tuning.as_ref().map(Tuning::of),
            found: PartFound::all(&record.found),
            chosen: columns::chosen(source),
            equation: record.equation.clone(),
            equation_note: equation_note(source),
            methods: record.methods(),
            shares: near::shares(source),
            alternatives: near::alternatives(source),
            drawn: [drawn::learning_curve(source), drawn::calibration(source)].into_iter().flatten().collect(),
            beside: beside::chosen(source),
            shape: Shape::of(source),
            outside: beside::outside(source),
            weights: if outputs > columns::FEW_OUTPUTS { heat::weights(source) } else { None },
            discoveries: discoveries::discoveries(source),
            frequencies: frequency::frequencies(source),
            entries: chart::entries(source),
            coefficients: knots::coefficients(source),
            steps: steps(source).html(),
            heat_note: heat_note(record.selected.len(), heat.is_some()),
            heat,
            sizes: sizes(source).html(),
            excluded: excluded(source).html(),
            taken: taken(source).html(),
            left_out: left_out_rows(&record.data.left_out),
            configuration: configuration.to_owned(),
            digest: record.data.digest.clone(),
        }
    }
}

/// How the equation is read.
fn equation_note(source: &RecordView<'_>) -> String {
    let decision = match source.record.data.classes.as_deref() {
        Some([negative, positive]) => format!(" A row is `{positive}` where the score is above 0, else `{negative}`."),
        Some(_) => " A row is of the class of the largest score.".to_owned(),
        None => String::new(),
    };
    format!(
        "In the units of the data, with five digits of each number; [condition] is 1 where it holds, else 0, and missing cells are \
         filled first where a map fills them.{decision} `vaglio export` writes all digits in other languages."
    )
}

fn facts(source: &RecordView<'_>) -> Vec<Fact> {
    let (record, intercepts) = (source.record, source.intercepts());
    let mut out: Vec<Fact> = Vec::new();
    let mut counted = |label: &str, count: usize| {
        out.push(Fact { label: label.into(), text: number::count(count as u64), full: String::new() });
    };
    counted("Rows", record.data.rows);
    if !record.data.left_out.is_empty() {
        let count = record.data.left_out.iter().map(|of| of.rows + of.test_rows).sum::<usize>();
        counted("Rows left out", count);
    }
    counted("Candidate columns", record.data.features);
    if let Some(classes) = &record.data.classes {
        counted("Classes", classes.len());
    } else if record.data.outputs > 1 {
        counted("Targets", record.data.outputs);
    }
    counted("Columns chosen", record.selected.len());
    let mut number = |label: &str, value: Option<f64>| {
        if let Some(value) = value.and_then(finite) {
            out.push(Fact { label: label.into(), text: short(value), full: number::full(value) });
        }
    };
    number("Standard error of the score", source.chosen_entry().and_then(|entry| entry.standard_error));
    number("Adjusted R² of the training rows", source.chosen_entry().and_then(|entry| entry.figures.adjusted_r2));
    number("Redundancy of the chosen columns", record.redundancy);
    number("λ", record.lambda);
    number("Penalty of the path", record.chosen.penalty);
    if let [intercept] = *intercepts {
        number("Intercept", Some(intercept));
    }
    let figures = [("Nested", record.nested.as_ref().map(|n| &n.figures)), ("Test", record.test.as_ref())];
    for (name, figures) in figures.into_iter().filter_map(|(name, figures)| Some((name, figures?))) {
        let mut figure = |label: &str, value: Option<f64>| number(&format!("{name} {label}"), value);
        figure("mean squared error", Some(figures.mse));
        figure("root mean squared error", Some(figures.mse.sqrt()).filter(|_| record.data.classes.is_none()));
        figure("NRMSE", figures.nrmse);
        figure("R²", figures.r2.filter(|_| record.data.classes.is_none()));
        figure("error rate", figures.error_rate);
        figure("balanced error rate", figures.balanced_error_rate);
        figure("AUC", figures.auc);
        figure("Brier score", figures.brier);
    }
    let mut told = |label: &str, text: String, full: String| out.push(Fact { label: label.into(), text, full });
    if intercepts.len() > 1 {
        told("Intercepts", format!("{}, in selection.json", intercepts.len()), String::new());
    }
    told("Learner", record.pipeline.learner.clone(), String::new());
    if let Some(model) = &record.model {
        told("Model", model.words(), model.settings.to_string());
    }
    told("Engine", record.pipeline.engine.clone(), String::new());
    if let Some(certificate) = &record.certificate {
        told("Certificate", proven(certificate), String::new());
    }
    if let Some(alternatives) = &record.alternatives {
        told("Nearly as good", alternatives.sentence(), String::new());
    }
    if let Some(diagnostics) = record.numerics.filter(|diagnostics| diagnostics.remade > 0) {
        let worst = format!("conditioning {:e} at worst", diagnostics.conditioning);
        told("Trials made again from the rows", diagnostics.remade.to_string(), worst);
    }
    told("Seed", record.seed.to_string(), String::new());
    told("The search ended because", record.stop_reason.sentence().into(), String::new());
    told("Time", number::duration(record.seconds.total), time(&record.seconds));
    if let Some(peak) = record.peak_memory_bytes {
        told("Peak memory", number::bytes(peak as f64), format!("{peak} bytes"));
    }
    out
}

fn time(seconds: &Seconds) -> String {
    let Seconds { read, search, choose, evaluate, fit, .. } = *seconds;
    let parts = [("read", read), ("search", search), ("choose", choose), ("evaluate", evaluate), ("fit", fit)];
    parts.map(|(part, seconds)| format!("{part} {}", number::duration(seconds))).join(", ")
}

fn steps(source: &RecordView<'_>) -> HtmlTable {
    let steps = &source.record.steps;
    let columns = vec![
        Column::count("Step", |step: &StepRecord| step.step),
        Column::text(
            "Action",
            |step: &StepRecord| {
                if step.action == Action::Add { "enters".into() } else { "leaves".into() }
            },
        ),
        Column::name("Column", |step: &StepRecord| source.names(step.moved())),
        Column::count("Index", |step: &StepRecord| step.index),
        Column::count("Size", |step: &StepRecord| step.size),
        Column::number("Score", |step: &StepRecord| finite(step.score)),
        Column::short("λ", |step: &StepRecord| step.lambda),
        Column::text("Tied", |step: &StepRecord| columns::tied(source, &step.tied)),
    ];
    let summary = format!("{} as a table", counted(steps.len() as u64, "step"));
    HtmlTable::of("Steps", "“steps”", columns, steps, |_| false).folded(summary)
}

fn sizes(source: &RecordView<'_>) -> HtmlTable {
    let chosen = source.chosen_entry().map(|entry| entry.size);
    let best = source.best_entry().map(|entry| entry.size);
    let lowest = source.lowest(|entry| entry.cross).map(|entry| entry.size);
    let mark = move |entry: &Entry| {
        let tags = [
            ("chosen", "tag", chosen),
            ("lowest cross-validated", "tag low", lowest),
            ("lowest score", "tag low", best),
        ];
        let told = tags.iter().filter(|(.., size)| *size == Some(entry.size));
        let told = told.map(|(words, class, _)| format!("<span class=\"{class}\">{words}</span>"));
        Some(told.collect::<Vec<_>>().join(" "))
    };
    let columns = vec![
        Column::count("Size", |entry: &Entry| entry.size),
        Column::short("Cost", |entry: &Entry| entry.cost),
        Column::html("", "t list", mark),
        Column::number("Cross-validated", |entry: &Entry| entry.cross),
        Column::number("± its error", |entry: &Entry| entry.cross_error),
        Column::number("Score", |entry: &Entry| entry.score),
        Column::number("± its error", |entry: &Entry| entry.standard_error),
        Column::short("λ", |entry: &Entry| entry.lambda),
        Column::number("Training loss", |entry: &Entry| entry.train),
        Column::number("R²", |entry: &Entry| entry.figures.r2),
        Column::number("Adjusted R²", |entry: &Entry| entry.figures.adjusted_r2),
        Column::number("Degrees of freedom", |entry: &Entry| entry.figures.freedom),
        Column::number("AICc", |entry: &Entry| entry.figures.aicc),
        Column::number("BIC", |entry: &Entry| entry.figures.bic),
        Column::number("Cp", |entry: &Entry| entry.figures.cp),
        Column::number("Test loss", |entry: &Entry| entry.test),
        Column::number("Training error rate", |entry: &Entry| entry.rates.train_error),
        Column::number("Test error rate", |entry: &Entry| entry.rates.test_error),
    ];
    let is_marked = |entry: &Entry| [chosen, lowest, best].contains(&Some(entry.size));
    HtmlTable::of("Sizes", "“path”", columns, &source.path, is_marked)
}

fn excluded(source: &RecordView<'_>) -> HtmlTable {
    let columns = vec![
        Column::name("Column", |column: &ExcludedRecord| column.name.clone()),
        Column::count("Index", |column: &ExcludedRecord| column.index),
        Column::text("Reason", |column: &ExcludedRecord| column.reason.replace('_', " ")),
    ];
    HtmlTable::of("Columns left out", "“excluded”", columns, &source.record.excluded, |_| false)
}

fn taken(source: &RecordView<'_>) -> HtmlTable {
    let columns = vec![Column::name("Columns", TakenColumns::names), Column::text("Taken for", TakenColumns::words)];
    HtmlTable::of("What the columns were taken for", "“data.columns”", columns, &source.record.data.columns, |_| {
        false
    })
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
