//! What a run would do, before it is run.

use super::prepare;
use crate::pipeline::ValidPipeline;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;
use vaglio_core::{Criterion, Design, HeldOut, Problem, Result};

/// A description of the run for people: engine and why, subsets, work, memory, time, λ, folds.
///
/// The data are read, so that every refusal is found here already.
///
/// # Errors
/// Those that `run` would give before its search starts.
pub fn plan(pipeline: &ValidPipeline, folder: &Path) -> Result<String> {
    let prepared = prepare(pipeline, folder)?;
    let selector = pipeline.selector();
    let design = selector.design(&prepared.train)?;
    let constant = design.constant();
    let settings = &pipeline.0;
    let outline = settings.search.outline(&design).map_err(|e| e.under("search"))?;
    let mut estimate = settings.criterion.estimate(&design, &outline);
    if let Some(tune) = &settings.tune {
        estimate.flops += tune.flops(&*settings.criterion, &design, estimate.flops);
    }
    let train = &prepared.train;

    let mut out = String::new();
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "{name:<12}{text}");
    };
    let outputs = train.targets().nrows();
    let several = if outputs == 1 { String::new() } else { format!(", {outputs} outputs") };
    line(
        "data",
        format!("{} rows, {} candidate columns, {}{several}", prepared.rows, design.features(), train.task().name()),
    );
    if !constant.is_empty() {
        let names: Vec<&str> = constant.iter().take(5).map(|&f| design.names()[f].as_str()).collect();
        let more = if constant.len() > 5 { ", …" } else { "" };
        let columns = if constant.len() == 1 { "column is" } else { "columns are" };
        line("", format!("{} constant {columns} never selected ({}{more})", constant.len(), names.join(", ")));
    }
    if let Some(test) = &prepared.test {
        line("test", format!("{} rows", test.rows()));
    }
    line(
        "pipeline",
        format!(
            "{} on {} with {}",
            settings.search.typetag_name(),
            settings.criterion.typetag_name(),
            settings.learner.typetag_name()
        ),
    );
    if let Some(tune) = &settings.tune {
        line("tune", tune.to_string());
    }
    line("engine", format!("{}: {}", estimate.engine, estimate.reason));
    line(
        "search",
        format!(
            "at most {} steps to {} columns; {} subset{} compared",
            outline.steps,
            outline.largest,
            count(outline.trials),
            if outline.trials == 1.0 { "" } else { "s" }
        ),
    );
    let lambdas = design.readout().map_or(&[][..], |r| &r.lambdas);
    line(
        "lambda",
        match lambdas {
            [] => "none".into(),
            [one] => format!("{one}"),
            [first, .., last] if design.readout().is_some_and(|r| r.refine) => {
                format!("searched between {first} and {last} for every subset, from {} values", lambdas.len())
            }
            [first, .., last] => format!("{} values from {first} to {last}, the best for every subset", lambdas.len()),
        },
    );
    for (number, text) in folds(&*settings.criterion, &design, outline.trials)?.into_iter().enumerate() {
        line(if number == 0 { "folds" } else { "" }, text);
    }
    line("work", format!("{} floating-point operations", count(estimate.flops)));
    // What the search gives back, the system may not; the final fit holds the chosen columns, and the targets, while it
    // reduces them to a triangle.
    let mapped = if design.is_of(train) { 0 } else { design.columns().bytes() };
    let test = prepared.test.as_ref().map_or(0, |t| t.columns().bytes());
    let data = (train.columns().bytes() + mapped + test) as f64;
    let fit = 8.0 * (train.rows() * (outline.largest + 2 * outputs)) as f64 + 64.0 * (outline.largest as f64).powi(2);
    line(
        "memory",
        format!(
            "{} at its peak: {} for the data, {} for the search and {} for the final fit",
            bytes(data + estimate.bytes + fit),
            bytes(data),
            bytes(estimate.bytes),
            bytes(fit)
        ),
    );
    line("time", format!("about {}", duration(estimate.flops / rate(train))));
    Ok(out)
}

/// Folds of which each gets a line; of more, the smallest and largest are told.
const LISTED: usize = 25;

/// The table of folds: rows held out and trained on, and the rows of each class.
fn folds(criterion: &dyn Criterion, design: &Design, trials: f64) -> Result<Vec<String>> {
    let of_row = match criterion.folds(design)? {
        HeldOut::Nothing => return Ok(vec!["none".into()]),
        HeldOut::EachRow => {
            let (rows, avoided) = (design.rows(), count(trials * design.rows() as f64));
            return Ok(vec![format!("every one of {rows} rows is left out once; fits avoided: {avoided}")]);
        }
        HeldOut::Folds(of_row) => of_row,
    };
    let folds = vaglio_kernels::Folds::new(&of_row);
    let sizes: Vec<usize> = (0..folds.count()).map(|fold| folds.held_out(fold).len()).collect();
    let (least, most) = (sizes.iter().min().copied().unwrap_or(0), sizes.iter().max().copied().unwrap_or(0));
    let rows = if least == most { format!("{least} rows") } else { format!("{least} to {most} rows") };
    let avoided = count(trials * folds.count() as f64 * design.lambdas().len() as f64);
    let mut lines = vec![format!("{} of {rows} each; fits avoided: {avoided}", folds.count())];
    if folds.count() > LISTED {
        return Ok(lines);
    }
    let classes = design.classes();
    for (fold, held_out) in sizes.iter().enumerate() {
        let mut text =
            format!("fold {:<3} {held_out} rows held out, {} to train on", fold + 1, design.rows() - held_out);
        for (k, label) in classes.iter().flat_map(|classes| classes.names.iter().enumerate()) {
            let is_member = |row: &&usize| classes.as_ref().is_some_and(|classes| classes.of_row[**row] == k);
            let members = folds.held_out(fold).iter().filter(is_member).count();
            let _ = write!(text, "{} {label}: {members}", if k == 0 { ";" } else { "," });
        }
        lines.push(text);
    }
    Ok(lines)
}

/// Operations a second of the inner loop on this machine now, from a short trial on the data's own first columns.
fn rate(problem: &Problem) -> f64 {
    let level = vaglio_kernels::Level::best();
    let vector = vec![1.0; problem.rows()];
    let columns = problem.columns();
    let start = Instant::now();
    let (mut done, mut sum) = (0.0, 0.0);
    for index in (0..columns.len()).cycle() {
        let column = columns.column(index);
        sum += vaglio_kernels::sums::product(level, column, 0.0, &vector);
        done += 2.0 * problem.rows() as f64;
        if start.elapsed().as_secs_f64() > 0.02 {
            break;
        }
    }
    std::hint::black_box(sum);
    // One product is the least that is done with a column in cache; several share its reading.
    1.5 * rayon::current_num_threads() as f64 * done / start.elapsed().as_secs_f64()
}

fn count(value: f64) -> String {
    if value < 1e6 { format!("{value:.0}") } else { format!("{value:.2e}") }
}

fn bytes(value: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let unit = UNITS.iter().find(|(size, _)| value >= *size);
    unit.map_or_else(|| format!("{value:.0} B"), |(size, name)| format!("{:.1} {name}", value / size))
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => "a tenth of a second or less".into(),
        s if s < 120.0 => format!("{s:.1} seconds"),
        s if s < 7200.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{:.1} hours", s / 3600.0),
    }
}
