//! Describes a run without running it.
//!
//! Reads the beginning of large files and estimates the number of rows: text by bytes, Parquet and Arrow by their
//! metadata. If the sample is rejected, everything is read, since a class may come late. Estimates use `planned_rows`,
//! so that engine, memory and work are those of all rows, and the run decides likewise. Nothing is searched.

use super::data::prepare_sample;
use super::evaluations::{EVALUATIONS, RepetitionInput, RunPlan, drop_column, shapley};
use super::memory::{PeakMemory, with_scratch};
use super::train_test::TrainTest;
use super::warnings::{separated_groups, single_rows};
use super::work_units::WorkUnits;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use vaglio_core::{
    Criterion, Design, Error, HeldOut, Result, SearchExtent, StopSign, abridge, escape_controls, pluralize, short,
    significant, single_outputs,
};
use vaglio_pipeline::pipeline::ValidPipeline;
use vaglio_pipeline::resampling::{choice_splitter, validation_warning};
use vaglio_pipeline::selector::{ValidSelector, at_first_lambda, data_bytes, takes_lambda_of_all};
use vaglio_report::record::{Warning, left_out_rows};
use vaglio_tables::budget::{release, resident};

/// Assumed flops per second.
const PACE: f64 = 2e9;
/// Time limit of the learner's map on the rows read, and fallback numbers of rows.
const MADE: Duration = Duration::from_millis(400);
const FEWER: [usize; 2] = [10, 200];

/// Describes the run for people: data, engine with reason, searches, λ, folds, work and memory.
///
/// The data are read, so that every rejection is already found here.
///
/// # Errors
/// Returns the errors that `run` would give before its search.
pub fn plan(pipeline: &ValidPipeline, folder: &Path) -> Result<String> {
    describe_with_warning(pipeline, folder).map(|(text, _)| text)
}

/// Like [`plan`], with a warning if the search cannot be cross-validated.
pub fn describe_with_warning(pipeline: &ValidPipeline, folder: &Path) -> Result<(String, Option<Warning>)> {
    let prepared = prepare_sample(pipeline, folder)?;
    let selector = pipeline.selector();
    let mut lines = Lines::new();
    let Some(design) = planned_design(&selector, &prepared)? else {
        let rows = about(prepared.rows, prepared.row_factors[0]);
        lines.push(("data", format!("{rows}, {}", prepared.train.task().name())));
        lines.push(("work", "unknown: the map of the learner takes longer than a second on ten rows".into()));
        return Ok((text(&lines), None));
    };
    let soon = design.with_sign(StopSign::default().or_after(Instant::now(), MADE));
    let plan = RunPlan { design: &design, ..RunPlan::new(pipeline, &selector, &prepared, &soon)? };
    plan.data(&mut lines);
    plan.parts(&mut lines);
    plan.search(&mut lines)?;
    let unvalidated = validation_warning(&selector, &prepared.sample)?;
    lines.extend(unvalidated.iter().map(|warning| ("warning", warning.message.clone())));
    plan.evaluations(&mut lines)?;
    plan.lambda(&mut lines);
    plan.folds(&mut lines)?;
    plan.cost(&mut lines, folder)?;
    Ok((text(&lines), unvalidated))
}

/// Lines of a plan, each with the name of what it describes.
type Lines = Vec<(&'static str, String)>;

fn text(lines: &[(&str, String)]) -> String {
    lines.iter().map(|(name, text)| format!("{name:<12}{}\n", escape_controls(text))).collect()
}

impl RunPlan<'_> {
    fn data(&self, lines: &mut Lines) {
        let RunPlan { pipeline, prepared, design, .. } = self;
        let [row_factor, test_row_factor] = prepared.row_factors;
        let outputs = prepared.train.targets().nrows();
        let several = if outputs == 1 { String::new() } else { format!(", {outputs} outputs") };
        let columns = pluralize(design.features(), "candidate column");
        let rows = about(prepared.rows, row_factor);
        let task = prepared.train.task().name();
        lines.push(("data", format!("{rows}, {columns}, {task}{several}")));
        if prepared.row_factors != [1.0, 1.0] {
            let message =
                format!("columns, constants and folds are those of the first {} rows, a sample", prepared.rows);
            lines.push(("", message));
        }
        lines.extend(left_out_rows(&prepared.left_out).map(|rows| ("", format!("left out: {rows}"))));
        let constant = design.problem().constant();
        if !constant.is_empty() {
            let names = abridge(constant.iter().map(|&f| &design.problem().names()[f]), 5);
            let columns = if constant.len() == 1 { "column is" } else { "columns are" };
            lines.push(("", format!("{} constant {columns} never selected ({names})", constant.len())));
        }
        for (number, columns) in prepared.columns.iter().take(LISTED).enumerate() {
            let more = if number + 1 == LISTED && prepared.columns.len() > LISTED { "; …" } else { "" };
            let name = if number == 0 { "columns" } else { "" };
            lines.push((name, format!("{:<20}  {}{more}", columns.names(), columns.words())));
        }
        let held_out = [single_rows(&*pipeline.criterion, design), separated_groups(pipeline, design)];
        for warning in prepared.data_warnings.iter().chain(held_out.iter().flatten()) {
            lines.push(("warning", warning.message.clone()));
        }
        if let Some(test) = &prepared.test {
            lines.push(("test", about(test.rows(), test_row_factor)));
        }
    }

    fn parts(&self, lines: &mut Lines) {
        let RunPlan { pipeline, .. } = self;
        let criterion = pipeline.criterion.kind();
        let learner = pipeline.learner.kind();
        lines.push(("pipeline", format!("{} on {criterion} with {learner}", pipeline.search.kind())));
        if let Some(model) = &pipeline.model {
            let fits = count((self.searches.count() * self.extent.largest.max(1)) as f64);
            let kind = model.learner.kind();
            lines.push(("model", format!("{kind} on the chosen columns: at most {fits} fits")));
        }
        if let Some(map) = &pipeline.target_map {
            let kind = map.kind();
            let message = format!("{kind}: scores are on its scale, other figures in the target's units");
            lines.push(("target_map", message));
        }
        if let Some(tune) = &pipeline.tune {
            lines.push(("tune", tune.to_string()));
        }
        lines.push(("engine", format!("{}: {}", self.estimate.engine, self.estimate.reason)));
        if let Some(slow) = pipeline.criterion.traits().loss.and_then(|loss| loss.traits().slow_reason) {
            lines.push(("loss", slow));
        }
    }

    fn search(&self, lines: &mut Lines) -> Result<()> {
        let RunPlan { pipeline, design, extent, .. } = self;
        if pipeline.engine.cluster().is_some() {
            let input = RepetitionInput::new(pipeline, self.selector, &self.prepared.sample);
            lines.push(("units", WorkUnits::new(&input)?.to_string()));
        }
        let run = design.run();
        lines.extend([&run.imputed_once, &run.standardized_once].into_iter().flatten().map(|once| ("", once.clone())));
        let steps = pluralize(extent.steps, "step");
        let columns = pluralize(extent.largest, "column");
        let subsets = if extent.trials == 1.0 { "subset" } else { "subsets" };
        let trials = count(extent.trials);
        lines.push(("search", format!("at most {steps} to {columns}; {trials} {subsets} compared")));
        if let Some(rules) = pipeline.search.rules(design)? {
            lines.push(("constraints", rules.sentence.clone()));
        }
        if self.searches.count() > 1 {
            lines.push(("walks", self.searches.to_string()));
        }
        Ok(())
    }

    fn lambda(&self, lines: &mut Lines) {
        let design = self.design;
        let text = match design.readout().map_or(&[][..], |readout| &readout.lambdas) {
            [] => "none".into(),
            [one] => format!("{one}"),
            all @ [first, .., last] => {
                let count = all.len();
                let first = short(*first);
                let last = short(*last);
                let what = match (self.searches.lambdas > 1, single_outputs(design).is_some()) {
                    (true, _) => "one for the whole walk",
                    (false, false) => "the best for every subset",
                    (false, true) => "the best for every subset and output",
                };
                if design.readout().is_some_and(|readout| readout.refine) {
                    format!("searched between {first} and {last} for every subset, from {count} values")
                } else {
                    format!("{count} values from {first} to {last}, {what}")
                }
            }
        };
        lines.push(("lambda", text));
    }

    fn folds(&self, lines: &mut Lines) -> Result<()> {
        let avoided = (!["refit", "definition"].contains(&self.estimate.engine)).then_some(self.extent.trials);
        for (number, text) in folds(&*self.selector.criterion, self.design, avoided)?.into_iter().enumerate() {
            lines.push((if number == 0 { "folds" } else { "" }, text));
        }
        Ok(())
    }

    /// Work of the searches, of tuning and of evaluations, and the memory of all.
    fn cost(&self, lines: &mut Lines, folder: &Path) -> Result<()> {
        let RunPlan { pipeline, prepared, design, searches, .. } = self;
        let at_one = at_first_lambda(design, searches.lambdas);
        let held = data_bytes(&prepared.train, design) as u64;
        let program = resident().map_or(0.0, |bytes| bytes.saturating_sub(held) as f64);
        let memory = PeakMemory::new(self)?;
        let beyond = |search: f64| (drop_column::exchange_bytes(self, &at_one) - search).max(0.0);
        let exchanges = memory.search.map_or(0.0, beyond);
        let work = self.search_flops() * searches.count() as f64 + self.tuning_flops()? + shapley::flops(self, &at_one);
        let kind = pipeline.criterion.kind();
        let unknown = format!("unknown: the criterion `{kind}` gives no estimate");
        lines
            .push(("work", if work.is_nan() { unknown } else { format!("{} floating-point operations", count(work)) }));
        let budget = pipeline.limits.budget();
        let ((), scratch) = with_scratch(pipeline, folder, || memory.check(budget))?;
        release();
        budget.check_limit("the run", "raise the limit")?;
        if let Some(scratch) = scratch.as_ref().or(prepared.scratch.as_ref()) {
            lines.push(("scratch", scratch.to_string()));
        }
        let limit = pipeline.limits.memory.map_or_else(String::new, |limit| format!("; at most {limit}"));
        lines.push(("memory", format!("{}{limit}", memory.sentence(budget, program, exchanges))));
        lines.push(("time", if work.is_nan() { "unknown, like the work".into() } else { time(work / PACE) }));
        Ok(())
    }

    /// Flops of one search.
    fn search_flops(&self) -> f64 {
        self.estimate.flops + if takes_lambda_of_all(self.design) { self.flops_of_all() } else { 0.0 }
    }

    /// Flops of one score of all columns.
    fn flops_of_all(&self) -> f64 {
        let all = SearchExtent::fixed(self.design.candidates().len());
        self.selector.criterion.plan(self.design, &all).estimate.flops
    }

    /// Flops of tuning, and of the searches that are compared.
    fn tuning_flops(&self) -> Result<f64> {
        let mut flops = 0.0;
        for (_, other) in self.pipeline.compared_searches() {
            let (_, estimate) = other.extent_and_estimate(self.design)?;
            flops += estimate.flops * self.searches.count() as f64;
        }
        if let Some(tune) = self.pipeline.tune.as_ref().filter(|tune| !tune.parameters.is_empty()) {
            let trial_flops = if tune.scores_search() { self.search_flops() } else { self.flops_of_all() };
            flops += tune.budget as f64 * trial_flops;
        }
        Ok(flops)
    }

    /// Describes the splits that choose, and the evaluations.
    fn evaluations(&self, lines: &mut Lines) -> Result<()> {
        let selector = self.selector;
        let sample = &self.prepared.sample;
        if let Some(how) = selector.cross_validation() {
            lines.push(("choose", choice_splitter(selector, sample, &how).sentence()));
        }
        for evaluation in &EVALUATIONS {
            lines.extend((evaluation.plan)(self)?.map(|text| (evaluation.name, text)));
        }
        Ok(())
    }
}

/// Design of the training rows, of as many planned rows as the run has; of fewer rows if the learner's map is slow.
/// `None` if it is slow on ten rows.
fn planned_design(selector: &ValidSelector, prepared: &TrainTest) -> Result<Option<Design>> {
    let train = &prepared.train;
    let all = train.rows();
    let mut made = None;
    for rows in FEWER.into_iter().filter(|rows| *rows < all).chain([all]) {
        let some: Vec<usize> = (0..rows).map(|row| row * all / rows).collect();
        let train = if rows == all { train.clone() } else { train.view_rows(&some) };
        let soon = StopSign::default().or_after(Instant::now(), MADE);
        let design = match selector.design(&train.with_sign(soon)) {
            Err(Error::Stopped(_)) => break,
            // Few rows may be refused where all are not.
            Err(_) if rows < all => continue,
            design => design?.with_sign(StopSign::default()),
        };
        let planned = (design.rows() as f64 * prepared.row_factors[0] * all as f64 / rows as f64).round() as usize;
        let planned = Some(planned).filter(|planned| *planned > design.rows());
        made = Some(design.with_run(|run| run.planned_rows = planned));
    }
    Ok(made)
}

/// Seconds for people, with the assumed pace.
fn time(seconds: f64) -> String {
    let (count, unit) = match seconds {
        7200.0.. => (seconds / 3600.0, "hours"),
        120.0.. => (seconds / 60.0, "minutes"),
        _ => (seconds, "s"),
    };
    format!("about {} {unit} at {} Gflop/s, less if the search ends early", significant(count, 2), PACE / 1e9)
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
        HeldOut::EachRow => {
            let rows = design.planned_rows();
            return Ok(vec![format!(
                "every one of {} is left out once; {}",
                pluralize(rows, "row"),
                avoided(rows as f64)
            )]);
        }
        HeldOut::Nothing => Vec::new(),
        HeldOut::Folds(rounds) => rounds,
    };
    let Some(first) = rounds.first() else { return Ok(vec!["none".into()]) };
    let sizes = first.sizes();
    let folds = sizes.len();
    let least = sizes.iter().min().copied().unwrap_or(0);
    let most = sizes.iter().max().copied().unwrap_or(0);
    let rows = if least == most { pluralize(least, "row") } else { format!("{least} to {most} rows") };
    let avoided = avoided((folds * rounds.len() * design.lambdas().len()) as f64);
    let times = if rounds.len() > 1 { format!("{} times ", rounds.len()) } else { String::new() };
    let mut lines = vec![format!("{times}{folds} of {rows} each; {avoided}")];
    if folds > LISTED || rounds.len() > 1 {
        return Ok(lines);
    }
    let classes = design.problem().classes();
    for (fold, size) in sizes.iter().enumerate() {
        let mut text = format!(
            "fold {:<3} {} held out, {} to train on",
            fold + 1,
            pluralize(*size, "row"),
            first.training(fold).len()
        );
        if let Some(classes) = &classes {
            for (k, label) in classes.names.iter().enumerate() {
                let members = first.held_out(fold).filter(|&row| classes.per_row[row] == k).count();
                let _ = write!(text, "{} {label}: {members}", if k == 0 { ";" } else { "," });
            }
        }
        lines.push(text);
    }
    Ok(lines)
}

/// Formats a number of rows, as an estimate if a sample was read.
fn about(rows: usize, row_factor: f64) -> String {
    if row_factor > 1.0 {
        format!("about {}", pluralize((rows as f64 * row_factor).round() as usize, "row"))
    } else {
        pluralize(rows, "row")
    }
}

fn count(value: f64) -> String {
    if value < 1e6 { format!("{value:.0}") } else { format!("{value:.2e}") }
}
