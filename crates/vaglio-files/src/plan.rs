//! Predicts the course of a run without running it.
//!
//! Reads the beginning of large files and estimates the number of rows: text by bytes, Parquet and Arrow by their
//! metadata. If the sample is rejected, everything is read, since a class may come late. Estimates use `planned_rows`,
//! so that engine, memory and time are those of all rows, and the run decides likewise. Nothing is searched: time is
//! work at a typical pace.

mod span;
pub(super) mod walks;

use super::drop_column;
use super::half_samples::halves;
use super::held_out::single_rows;
use super::memory::Memory;
use super::prepare_sample;
use super::scratch::with_scratch;
use super::shard::WorkUnits;
use super::{near_best, shapley};
use span::Span;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Criterion, Design, Error, HeldOut, Outline, Problem, Result, StopSign, counted, short, shown};
use vaglio_pipeline::pipeline::{Evaluate, ValidPipeline};
use vaglio_pipeline::resample::Sample;
use vaglio_pipeline::resample::choice::cross_validation;
use vaglio_pipeline::resample::lockstep::expected_sizes;
use vaglio_pipeline::resample::validated::{parting, unvalidated};
use vaglio_pipeline::selector::{ValidSelector, all_at_once, takes_lambda_of_all};
use vaglio_pipeline::tune::{Scored, Tune};
use vaglio_report::record::{Warning, left_out_rows};
use vaglio_tables::budget::resident;
use walks::Walks;

/// Typical flops per second of one thread.
const PACE: f64 = 2e9;
/// Fixed seconds of a run: start and files.
const STARTING: f64 = 0.05;
/// Time limit of the learner's map on the rows read, and fallback numbers of rows.
const MADE: Duration = Duration::from_millis(400);
const FEWER: [usize; 2] = [200, 10];

/// Describes the run for people: engine with reason, subsets, work, memory, time, λ, folds.
///
/// The data are read, so that every rejection is already found here.
///
/// # Errors
/// Returns the errors that `run` would give before its search.
pub fn plan(pipeline: &ValidPipeline, folder: &Path) -> Result<String> {
    planned(pipeline, folder).map(|(text, _)| text)
}

/// Like [`plan`], with a warning if the search cannot be cross-validated.
///
/// # Errors
/// Returns the errors of [`plan`].
pub(super) fn planned(pipeline: &ValidPipeline, folder: &Path) -> Result<(String, Option<Warning>)> {
    let begun = Instant::now();
    let prepared = prepare_sample(pipeline, folder)?;
    let [times, of_test] = prepared.times.unwrap_or([1.0, 1.0]);
    let threads = rayon::current_num_threads();
    let read = begun.elapsed().as_secs_f64() * times;
    let selector = pipeline.selector();
    let mut out = String::new();
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "{name:<12}{}", shown(&text));
    };
    let Some((design, share)) = designed(&selector, &prepared.train)? else {
        line("data", format!("{}, {}", about(prepared.rows as f64, times), prepared.train.task().name()));
        line("work", "unknown: the map of the learner takes longer than a second on ten rows".into());
        return Ok((out, None));
    };
    let planned = (design.rows() as f64 * times / share).round() as usize;
    let design = if planned > design.rows() { design.sampled_from(planned) } else { design };
    let sample =
        prepared.train.columns().bytes() + if design.is_of(&prepared.train) { 0 } else { design.columns().bytes() };
    let program = resident().map_or(0.0, |bytes| bytes.saturating_sub(sample as u64) as f64);
    let constant = design.constant();
    let settings = pipeline.settings();
    let walks = Walks::new(&selector, &design, &prepared.sample, settings.evaluate.as_ref());
    let one_lambda = design.lambdas()[0].filter(|_| walks.lambdas > 1);
    let soon = StopSign::default().or_after(Instant::now(), MADE);
    let (outline, mut estimate) = selector.outlined(&design.stopping_at(soon), walks.lambdas)?;
    let shortest = expected(&selector, &design, &outline);
    let all = design.lambdas();
    let at_one = design.at_lambda(one_lambda).shared_by(&all[..walks.lambdas.min(all.len())]);
    let shortest = selector.criterion().plan(&at_one, &shortest).estimate.flops.min(estimate.flops);
    if takes_lambda_of_all(&design) {
        estimate.flops += selector.criterion().plan(&design, &all_at_once(design.candidates().len())).estimate.flops;
    }
    let mut others = 0.0;
    for search in pipeline.compared_searches() {
        search.search().check(&**search.criterion(), &design).map_err(|error| error.under("tune.search"))?;
        let (_, estimate) = search.outlined(&design, walks.lambdas)?;
        others += estimate.flops * walks.count() as f64;
    }
    let of_tuning = |tune: &Tune| {
        let all = all_at_once(design.candidates().len());
        let flops = match tune.score {
            Scored::All => selector.criterion().plan(&design, &all).estimate.flops,
            Scored::Search => estimate.flops,
        };
        let flops = if tune.parameters.is_empty() { 0.0 } else { tune.budget as f64 * flops };
        flops + others
    };
    let of_tuning = settings.tune.as_ref().map_or(0.0, of_tuning);
    let train = &prepared.train;

    let outputs = train.targets().nrows();
    let several = if outputs == 1 { String::new() } else { format!(", {outputs} outputs") };
    line(
        "data",
        format!(
            "{}, {}, {}{several}",
            about(prepared.rows as f64, times),
            counted(design.features(), "candidate column"),
            train.task().name()
        ),
    );
    if prepared.times.is_some() {
        line("", format!("columns, constants and folds are those of the first {} rows, a sample", prepared.rows));
    }
    if !prepared.left_out.is_empty() {
        line("", format!("left out: {}", left_out_rows(&prepared.left_out)));
    }
    if !constant.is_empty() {
        let names: Vec<&str> = constant.iter().take(5).map(|&f| design.names()[f].as_str()).collect();
        let more = if constant.len() > 5 { ", …" } else { "" };
        let columns = if constant.len() == 1 { "column is" } else { "columns are" };
        line("", format!("{} constant {columns} never selected ({}{more})", constant.len(), names.join(", ")));
    }
    for (number, columns) in prepared.columns.iter().take(LISTED).enumerate() {
        let more = if number + 1 == LISTED && prepared.columns.len() > LISTED { "; …" } else { "" };
        line(if number == 0 { "columns" } else { "" }, format!("{:<20}  {}{more}", columns.names(), columns.words()));
    }
    for warning in prepared.findings.iter().chain(&single_rows(pipeline, &design)) {
        line("warning", warning.message.clone());
    }
    if let Some(test) = &prepared.test {
        line("test", about(test.rows() as f64, of_test));
    }
    line(
        "pipeline",
        format!(
            "{} on {} with {}",
            settings.search.kind(),
            settings.criterion.typetag_name(),
            settings.learner.typetag_name()
        ),
    );
    if let Some(model) = &settings.model {
        let fits = walks.count() * outline.largest.max(1);
        let kind = model.learner().typetag_name();
        line("model", format!("{kind} on the chosen columns: at most {} fits", count(fits as f64)));
    }
    if let Some(map) = &settings.target_map {
        line(
            "target_map",
            format!("{}: scores are on its scale, other figures in the target's units", map.typetag_name()),
        );
    }
    if let Some(tune) = &settings.tune {
        line("tune", tune.to_string());
    }
    line("engine", format!("{}: {}", estimate.engine, estimate.reason));
    if let Some(slow) = settings.criterion.traits().loss.and_then(|loss| loss.slowness()) {
        line("loss", slow);
    }
    if pipeline.cluster().is_some() {
        line("units", WorkUnits::new(pipeline, &prepared)?.to_string());
    }
    design.in_folds().once().iter().for_each(|once| line("", once.to_string()));
    line(
        "search",
        format!(
            "at most {} to {}; {} subset{} compared",
            counted(outline.steps, "step"),
            counted(outline.largest, "column"),
            count(outline.trials),
            if outline.trials == 1.0 { "" } else { "s" }
        ),
    );
    if let Some(rules) = settings.search.rules(&design).map_err(|error| error.under("search"))? {
        line("constraints", rules.sentence().to_owned());
    }
    if walks.count() > 1 {
        line("walks", walks.to_string());
    }
    let unvalidated = unvalidated(&selector, &prepared.sample)?;
    unvalidated.iter().for_each(|warning| line("warning", warning.message.clone()));
    for (name, sentence) in around(&selector, (&prepared.sample, &design), settings.evaluate.as_ref())? {
        line(name, sentence);
    }
    let lambdas = design.readout().map_or(&[][..], |r| &r.lambdas);
    line(
        "lambda",
        match lambdas {
            [] => "none".into(),
            [one] => format!("{one}"),
            [first, .., last] if design.readout().is_some_and(|r| r.refine) => {
                let (first, last) = (short(*first), short(*last));
                format!("searched between {first} and {last} for every subset, from {} values", lambdas.len())
            }
            [first, .., last] => {
                let what = match (walks.lambdas > 1, design.of_outputs().is_some()) {
                    (true, _) => "one for the whole walk",
                    (false, false) => "the best for every subset",
                    (false, true) => "the best for every subset and output",
                };
                format!("{} values from {} to {}, {what}", lambdas.len(), short(*first), short(*last))
            }
        },
    );
    let avoided = (!["refit", "definition"].contains(&estimate.engine)).then_some(outline.trials);
    for (number, text) in folds(&*settings.criterion, &design, avoided)?.into_iter().enumerate() {
        line(if number == 0 { "folds" } else { "" }, text);
    }
    let result = outline.largest.min(RESULT);
    let evaluate = settings.evaluate.as_ref();
    let shares = if evaluate.is_some_and(|evaluate| evaluate.shares) {
        line("shares", shapley::sentence(result));
        shapley::flops(&selector, &at_one, result)
    } else {
        0.0
    };
    if evaluate.is_some_and(|evaluate| evaluate.alternatives.is_some()) {
        line("as good", near_best::sentence(&settings.search));
    }
    let work = estimate.flops * walks.count() as f64 + of_tuning + shares;
    let unknown = || format!("unknown: the criterion `{}` says nothing of it", settings.criterion.typetag_name());
    let operations = format!("{} floating-point operations", count(work));
    line("work", if work.is_nan() { unknown() } else { operations });
    let (worth, exchanges) = drop_column::estimate(evaluate, &selector, &at_one, (&outline, walks), result);
    let memory = Memory::new(&prepared, &design, &outline, &estimate).with(program, exchanges).repeated(&walks);
    let budget = pipeline.budget();
    let ((), scratch) = with_scratch(pipeline, folder, || memory.check(budget))?;
    if let Some(scratch) = scratch.as_ref().or(prepared.scratch.as_ref()) {
        line("scratch", scratch.to_string());
    }
    let limit = settings.limits.memory.map_or_else(String::new, |limit| format!("; at most {limit}"));
    line("memory", format!("{}{limit}", memory.sentence(budget)));
    let dummies = super::discoveries::flops(&selector, &design, evaluate);
    let seconds = |of_walk: f64| {
        let work = of_walk * walks.rounds() + of_tuning + shares + worth + dummies;
        STARTING + read + work / (PACE * threads as f64)
    };
    let span = Span { low: seconds(shortest), high: seconds(estimate.flops) };
    let time = format!("{span}, at two billion operations a second and thread");
    line("time", if span.high.is_nan() { "unknown, as the work is".into() } else { time });
    Ok((out, unvalidated))
}

/// Design of the training rows and the share of rows it uses; fewer rows if the learner's map is slow. `None` if it is
/// slow on ten rows.
fn designed(selector: &ValidSelector, train: &Problem) -> Result<Option<(Design, f64)>> {
    let all = train.rows();
    for rows in [all].into_iter().chain(FEWER.into_iter().filter(|rows| *rows < all)) {
        let some: Vec<usize> = (0..rows).map(|row| row * all / rows).collect();
        let train = if rows == all { train.clone() } else { train.view_rows(&some) };
        let sign = StopSign::default().or_after(Instant::now(), MADE);
        match selector.design(&train.stopping_at(sign)) {
            Err(Error::Stopped(_)) => {}
            design => return Ok(Some((design?.stopping_at(StopSign::default()), rows as f64 / all as f64))),
        }
    }
    Ok(None)
}

/// Typical extent of the search: cross-validated paths end soon after their lowest loss, and bounds leave few subsets.
fn expected(selector: &ValidSelector, design: &Design, outline: &Outline) -> Outline {
    let patience = cross_validation(selector).and_then(|(how, _)| how.patience);
    let forward = Outline::forward(design.candidates().len(), expected_sizes(outline.largest, patience));
    match outline.start == 0 && forward.trials < outline.trials {
        true => forward,
        false => *outline,
    }
}

/// Describes the splits around the search, by purpose.
fn around(
    selector: &ValidSelector,
    (sample, design): (&Sample, &Design),
    evaluate: Option<&Evaluate>,
) -> Result<Vec<(&'static str, String)>> {
    let mut all = Vec::new();
    if let Some((how, is_written)) = cross_validation(selector) {
        all.push(("choose", parting(selector, sample, &how, is_written)?.sentence()));
    }
    if let Some(how) = evaluate.and_then(Evaluate::outer_folds) {
        all.push(("nested", how.parting(selector, sample)?.sentence()));
    }
    if let Some(how) = evaluate.filter(|evaluate| evaluate.outer_folds().is_none()).and_then(Evaluate::learning_folds) {
        all.push(("learning", how.parting(selector, sample)?.sentence()));
    }
    if let Some(how) = evaluate.and_then(|evaluate| evaluate.stability.as_ref()) {
        all.push(("stability", halves(how, selector, sample)?.sentence()));
    }
    if let Some(sentence) = super::discoveries::planned(selector, (sample, design), evaluate)? {
        all.push(("fdr", sentence));
    }
    Ok(all)
}

/// Maximum number of folds or columns listed one per line; of more folds, the smallest and largest are given.
const LISTED: usize = 25;

/// Table of folds: rows held out, training rows and rows per class, and the number of fits avoided unless each trial is
/// refitted.
fn folds(criterion: &dyn Criterion, design: &Design, trials: Option<f64>) -> Result<Vec<String>> {
    let avoided = |fits: f64| match trials {
        Some(trials) => format!("fits avoided: {}", count(trials * fits)),
        None => "each is refitted".into(),
    };
    let rounds = match criterion.folds(design)? {
        HeldOut::Nothing => return Ok(vec!["none".into()]),
        HeldOut::EachRow => {
            let rows = design.planned_rows();
            return Ok(vec![format!(
                "every one of {} is left out once; {}",
                counted(rows, "row"),
                avoided(rows as f64)
            )]);
        }
        HeldOut::Folds(rounds) => rounds,
    };
    let Some(first) = rounds.first() else { return Ok(vec!["none".into()]) };
    let sizes = first.sizes();
    let folds = sizes.len();
    let (least, most) = (sizes.iter().min().copied().unwrap_or(0), sizes.iter().max().copied().unwrap_or(0));
    let rows = if least == most { counted(least, "row") } else { format!("{least} to {most} rows") };
    let avoided = avoided((folds * rounds.len() * design.lambdas().len()) as f64);
    let times = if rounds.len() > 1 { format!("{} times ", rounds.len()) } else { String::new() };
    let mut lines = vec![format!("{times}{folds} of {rows} each; {avoided}")];
    if folds > LISTED || rounds.len() > 1 {
        return Ok(lines);
    }
    let classes = design.classes();
    for (fold, size) in sizes.iter().enumerate() {
        let mut text = format!(
            "fold {:<3} {} held out, {} to train on",
            fold + 1,
            counted(*size, "row"),
            first.training(fold).len()
        );
        for (k, label) in classes.iter().flat_map(|classes| classes.names.iter().enumerate()) {
            let is_member = |row: usize| classes.as_ref().is_some_and(|classes| classes.of_row[row] == k);
            let members = first.held_out(fold).filter(|&row| is_member(row)).count();
            let _ = write!(text, "{} {label}: {members}", if k == 0 { ";" } else { "," });
        }
        lines.push(text);
    }
    Ok(lines)
}

/// Assumed size of a result for the estimate of replacements.
const RESULT: usize = 10;

/// Formats a number of rows, as an estimate if a sample was read.
fn about(rows: f64, times: f64) -> String {
    match times > 1.0 {
        true => format!("about {}", counted((rows * times).round() as usize, "row")),
        false => counted(rows as usize, "row"),
    }
}

fn count(value: f64) -> String {
    if value < 1e6 { format!("{value:.0}") } else { format!("{value:.2e}") }
}
