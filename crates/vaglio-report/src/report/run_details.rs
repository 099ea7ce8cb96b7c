//! Details of the run: key figures, steps of the search, sizes, tuning, methods, configuration.

use super::chart::{Chart, ChartScale, Mark, ScaleKind};
use super::number::{bytes, count, counted, duration, short};
use super::record_view::{PathEntryView, RecordView, finite};
use super::section::{Section, TextStyle};
use super::table::{ColumnStyle, TableBuilder, TableCell};
use crate::record::{Bounds, Method, Scale, ScoredSelection, Seconds, StepRecord, TuningResult, proven};
use vaglio_core::{Action, Squared};

/// Steps and columns of a chart of entries, at most.
const MOST_STEPS: usize = 40;
/// Colors of lines in the style sheet.
const COLORS: usize = 6;

type Fact = (&'static str, TableCell);
type TunedRow<'t> = (&'t String, &'t Bounds, f64);

/// Section with figures that no other section has.
pub fn key_figures(view: &RecordView<'_>) -> Section {
    let record = view.record;
    let mut facts: Vec<Fact> = Vec::new();
    let counts = [
        ("Rows", record.data.rows),
        ("Rows left out", record.data.left_out.iter().map(|rows| rows.rows + rows.test_rows).sum()),
        ("Candidate columns", record.data.features),
        ("Classes", record.data.classes.as_ref().map_or(0, Vec::len)),
        ("Targets", if record.data.classes.is_none() && record.data.outputs > 1 { record.data.outputs } else { 0 }),
    ];
    facts.extend(counts.into_iter().filter(|(_, n)| *n > 0).map(|(name, n)| (name, TableCell::text(count(n as u64)))));
    let chosen = view.chosen_entry();
    let figures = record.trusted().map(|(figures, _)| figures);
    let numbers = [
        ("Standard error of the score", chosen.and_then(|entry| entry.standard_error)),
        ("Adjusted R² of the training rows", chosen.and_then(|entry| entry.figures.adjusted_r2)),
        ("Mean absolute correlation of the chosen columns", record.redundancy),
        ("λ", record.lambda),
        ("Penalty of the path", record.chosen.penalty),
        ("Intercept", Some(view.intercepts()).filter(|all| all.len() == 1).map(|all| all[0])),
        ("Mean squared error on rows held out", figures.map(|f| f.mse).filter(|_| !view.loss().is(&Squared))),
        ("NRMSE on rows held out", figures.and_then(|figures| figures.nrmse)),
        ("Balanced error rate on rows held out", figures.and_then(|figures| figures.balanced_error_rate)),
        ("Brier score on rows held out", figures.and_then(|figures| figures.brier)),
    ];
    let numbers =
        numbers.into_iter().filter_map(|(name, value)| Some((name, TableCell::number(value.and_then(finite)?))));
    facts.extend(numbers);
    let intercepts = view.intercepts().len();
    let several = (intercepts > 1).then(|| format!("{intercepts}, in selection.json"));
    let trials = record
        .numerics
        .filter(|diagnostics| diagnostics.remade > 0)
        .map(|diagnostics| format!("{} (conditioning {:e} at worst)", diagnostics.remade, diagnostics.conditioning));
    let words = [
        ("Intercepts", several),
        ("Learner", Some(record.pipeline.learner.clone())),
        ("Model", record.model.as_ref().map(|model| model.words())),
        ("Engine", Some(record.pipeline.engine.clone())),
        ("Certificate", record.certificate.as_ref().map(proven)),
        ("Trials refitted from the rows", trials),
        ("Seed", Some(record.seed.to_string())),
        ("The search ended because", Some(record.stop_reason.sentence().into())),
        ("Peak memory", record.peak_memory_bytes.map(|peak| bytes(peak as f64))),
    ];
    facts.extend(words.into_iter().filter_map(|(name, words)| Some((name, TableCell::text(words?)))));
    let seconds = TableCell { full: stages(&record.seconds), ..TableCell::text(duration(record.seconds.total)) };
    facts.push(("Time", seconds));
    Section::new("facts", "Key figures").table(
        TableBuilder::new("Key figures", "", &facts)
            .name("Figure", |fact| fact.0.to_owned())
            .cells("Value", ColumnStyle::Text, |fact| Some(fact.1.clone()))
            .build(),
    )
}

fn stages(seconds: &Seconds) -> String {
    let Seconds { read, search, choose, evaluate, fit, .. } = *seconds;
    let stages = [("read", read), ("search", search), ("choose", choose), ("evaluate", evaluate), ("fit", fit)];
    stages.map(|(stage, seconds)| format!("{stage} {}", duration(seconds))).join(", ")
}

/// The steps of the search: a chart of entries, coefficients along a least-angle path, and a table.
pub fn steps(view: &RecordView<'_>) -> Option<Section> {
    let steps = &view.record.steps;
    let section = Section::new("steps", "Steps of the search").chart(coefficients(view)).chart(entries(view));
    // Where each step is a size, the table of sizes has all of them.
    let is_needed = steps.len() != view.path.len() || steps.iter().any(|step| step.action == Action::Remove);
    let steps = if is_needed { &steps[..] } else { &[] };
    section
        .table(
            TableBuilder::new("Steps", "“steps”", steps)
                .count("Step", |step| step.step)
                .name("Column", |step| moved(view, step))
                .count("Size", |step| step.size)
                .number("Score", |step| finite(step.score))
                .short("λ", |step| step.lambda)
                .build(),
        )
        .non_empty()
}

/// The columns that a step moves: `+ bmi`.
fn moved(view: &RecordView<'_>, step: &StepRecord) -> String {
    let names: Vec<String> = step.moved().iter().map(|index| view.name(*index)).collect();
    format!("{} {}", if step.action == Action::Add { "+" } else { "−" }, names.join(", "))
}

fn last_step(view: &RecordView<'_>, entry: &PathEntryView<'_>) -> String {
    let step = entry.figures.step.and_then(|step| view.record.steps.get(step.checked_sub(1)?));
    step.map_or_else(String::new, |step| moved(view, step))
}

/// A stretch of steps during which a column was in the subset.
struct SelectedStretch {
    column: usize,
    from: f64,
    to: f64,
    tips: Vec<String>,
    left: bool,
    entered: bool,
}

/// Columns that were ever in the subset, in order of first entry, and their stretches.
fn stays(view: &RecordView<'_>) -> (Vec<usize>, Vec<SelectedStretch>) {
    let steps = &view.record.steps;
    let last = steps.len() as f64 + 0.5;
    let is_backward = steps.first().is_some_and(|step| step.action == Action::Remove);
    let full = view.path.last().filter(|_| is_backward).map_or(Vec::new(), |entry| entry.subset.clone());
    let from_start =
        |column: usize| SelectedStretch { column, from: 0.5, to: last, tips: Vec::new(), left: false, entered: false };
    let mut stays: Vec<SelectedStretch> = full.iter().map(|&column| from_start(column)).collect();
    let mut columns = full;
    for (place, step) in steps.iter().enumerate() {
        let at = place as f64 + 1.0;
        let is_entry = step.action == Action::Add;
        for &column in step.moved() {
            let verb = if is_entry { "enters" } else { "leaves" };
            let score = finite(step.score).map(|score| format!(", score {}", short(score))).unwrap_or_default();
            let tip = format!("step {}: {} {verb}{score}", step.step, view.name(column));
            if !columns.contains(&column) {
                columns.push(column);
                stays.extend((!is_entry).then(|| from_start(column)));
            }
            if is_entry {
                stays.push(SelectedStretch { from: at, entered: true, tips: vec![tip], ..from_start(column) });
            } else if let Some(stay) = stays.iter_mut().rev().find(|stay| stay.column == column) {
                (stay.to, stay.left) = (at, true);
                stay.tips.push(tip);
            }
        }
    }
    (columns, stays)
}

/// Chart of the columns in the subset at each step; `None` without steps, or with too many.
fn entries(view: &RecordView<'_>) -> Option<Chart> {
    let steps = view.record.steps.len();
    let (columns, stays) = stays(view);
    if steps == 0 || steps > MOST_STEPS || columns.len() > MOST_STEPS {
        return None;
    }
    let chosen = view.selected();
    let names: Vec<String> = columns.iter().map(|index| view.name(*index)).collect();
    let (x, y) = (ChartScale::new("step", ScaleKind::Whole), ChartScale::new("", ScaleKind::Names(names)));
    let marks = stays.iter().flat_map(|stay| {
        let row = columns.iter().position(|column| *column == stay.column).unwrap_or(0) as f64;
        let state = if chosen.contains(&stay.column) { "on" } else { "off" };
        let tip = if stay.tips.is_empty() { "in every subset".into() } else { stay.tips.join("; ") };
        let bar = Mark::bars(&format!("stay {state}"), vec![[[stay.from, row], [stay.to, row]]], vec![tip.clone()]);
        let ends = [(stay.entered, "enter", stay.from), (stay.left, "exit", stay.to)];
        let ends = ends.into_iter().filter(|(is_there, ..)| *is_there);
        let ends = ends.map(move |(_, class, at)| {
            Mark::points("", &format!("{class} {state}"), vec![[at, row]], vec![tip.clone()])
        });
        std::iter::once(bar).chain(ends)
    });
    let label = format!("Columns in the subset at each of {steps} steps");
    let caption = "A dot is an entry, a cross an exit. Columns of the chosen subset are in color.";
    Some(Chart::new(label, x, y).marks(marks).caption(caption))
}

/// Coefficients along a least-angle path; `None` for other searches.
fn coefficients(view: &RecordView<'_>) -> Option<Chart> {
    let steps = &view.record.steps;
    if steps.is_empty() || steps.iter().any(|step| step.alpha.is_none()) {
        return None;
    }
    let mut active: Vec<usize> = Vec::new();
    let mut lines: Vec<(usize, Vec<[f64; 2]>)> = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        for &index in step.moved() {
            if step.action == Action::Remove {
                active.retain(|&known| known != index);
                continue;
            }
            active.push(index);
            if !lines.iter().any(|(known, _)| *known == index) {
                lines.push((index, (0..=steps.len()).map(|at| [at as f64, 0.0]).collect()));
            }
        }
        for (index, value) in active.iter().zip(step.alpha.iter().flatten()) {
            if let Some((_, line)) = lines.iter_mut().find(|(known, _)| known == index) {
                line[place + 1][1] = *value;
            }
        }
    }
    let chosen = view.selected();
    let line = |(k, (index, points)): (usize, (usize, Vec<[f64; 2]>))| {
        let off = if chosen.contains(&index) { "" } else { " off" };
        let points = points.into_iter().filter(|point| point[1].is_finite()).collect();
        Mark::stroke(&view.name(index), &format!("alpha k{}{off}", k % COLORS), points)
    };
    let (x, y) = (ChartScale::new("step", ScaleKind::Whole), ChartScale::new("coefficient", ScaleKind::Linear));
    let label = format!("Coefficients of {} columns along {} steps", lines.len(), steps.len());
    let marks: Vec<Mark> = lines.into_iter().enumerate().map(line).rev().collect();
    let caption = "The coefficient of each column after each step of the least-angle path. Columns that are not chosen are faint.";
    Some(Chart { names_at_ends: true, ..Chart::new(label, x, y).marks(marks).caption(caption) })
}

/// The losses of every size.
pub fn sizes(view: &RecordView<'_>) -> Option<Section> {
    let chosen = view.chosen_entry().map(|entry| entry.size);
    let best = view.best_entry().map(|entry| entry.size);
    let lowest = view.lowest(|entry| entry.cross).map(|entry| entry.size);
    let tags = [("chosen", chosen), ("lowest cross-validated", lowest), ("lowest score", best)];
    let words = move |entry: &PathEntryView<'_>| {
        let own = tags.iter().filter(|(_, size)| *size == Some(entry.size)).map(|(words, _)| *words);
        own.collect::<Vec<_>>().join(", ")
    };
    let is_marked = |entry: &PathEntryView<'_>| [chosen, lowest, best].contains(&Some(entry.size));
    let table = TableBuilder::new("Sizes", "“path”", &view.path)
        .count("Size", |entry| entry.size)
        .text("Last step", move |entry| last_step(view, entry))
        .short("Cost", |entry| entry.cost)
        .text("", words)
        .number("Cross-validated", |entry| entry.cross)
        .number("Score", |entry| entry.score)
        .number("Training", |entry| entry.train)
        .number("Test", |entry| entry.test)
        .number("Training error rate", |entry| entry.rates.train_error)
        .number("Test error rate", |entry| entry.rates.test_error)
        .marked(is_marked)
        .build();
    let note = "Standard errors, R², AICc, BIC and Cp: “path” in selection.json.";
    Section::new("sizes", "Sizes").table(table).non_empty().map(|section| section.note(note))
}

/// The settings that tuning found, and the score of every trial.
pub fn tuning(tuned: &TuningResult) -> Section {
    let tune = &tuned.tune;
    let method = match tune.method {
        Method::NelderMead => "the simplex method of Nelder and Mead",
        Method::ParticleSwarm => "a particle swarm",
    };
    let what = match tune.score {
        ScoredSelection::All => "all columns",
        ScoredSelection::Search => "the subset that the search finds",
    };
    let pairs = tune.parameters.iter().zip(tuned.values());
    let rows: Vec<TunedRow<'_>> = pairs.map(|((path, bounds), value)| (path, bounds, *value)).collect();
    let table = TableBuilder::new("Tuned settings", "“tuned”", &rows)
        .name("Setting", |row| row.0.clone())
        .short("From", |row| Some(row.1.from))
        .short("To", |row| Some(row.1.to))
        .text("Scale", |row| {
            let scale = if row.1.scale == Scale::Log { "logarithmic" } else { "linear" };
            format!("{scale}{}", if row.1.integer { ", whole numbers" } else { "" })
        })
        .short("Chosen", |row| Some(row.2))
        .build();
    let scores = tuned.trials.iter().map(|trial| finite(trial.score));
    let mut lowest = f64::INFINITY;
    let so_far = scores.clone().enumerate().map(|(k, score)| {
        lowest = lowest.min(score.unwrap_or(f64::INFINITY));
        Some([k as f64 + 1.0, finite(lowest)?])
    });
    let so_far = Mark::line("lowest so far", "inner", so_far.collect());
    let scores = scores.enumerate().map(|(k, score)| Some([k as f64 + 1.0, score?])).collect();
    let (x, y) = (ChartScale::new("evaluation", ScaleKind::Whole), ChartScale::new("score", ScaleKind::Auto));
    let chart = Chart::new("Score of every evaluation while tuning", x, y)
        .mark(Mark::chosen((tuned.best + 1) as f64, format!("lowest: {}", tuned.best + 1)))
        .mark(Mark::line("score", "train", scores))
        .mark(so_far)
        .caption("Settings that were refused have no point.");
    let lead = format!(
        "Before the search {method} tuned the learner by the score of {what}: {} after {}. That score is optimistic.",
        short(tuned.score()),
        counted(tuned.trials.len() as u64, "evaluation"),
    );
    Section::new("tuning", "Tuned settings").lead(lead).table(table).chart(Some(chart))
}

/// Section with a paragraph on the methods of the run.
pub fn methods(view: &RecordView<'_>) -> Section {
    let note = "vaglio export --to methods adds the REFORMS checklist.";
    Section::new("methods", "Methods").lead(view.record.methods().paragraph).note(note)
}

/// The pipeline with every default written out.
pub fn configuration(yaml: &str) -> Option<Section> {
    Section::new("configuration", "Configuration").styled(TextStyle::Code, yaml).non_empty()
}
