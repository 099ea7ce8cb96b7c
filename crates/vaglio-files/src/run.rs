//! Runs a pipeline: prepare, select, fit, evaluate, write.

use super::column_diagnostics::ColumnDiagnostics;
use super::discoveries::planned;
use super::drop_column::{self, Importance};
use super::figures::Evaluations;
use super::folder::relative;
use super::forecast::with_history;
use super::journal::{JournalHeader, RunJournal};
use super::memory::PeakMemory;
use super::model_files::FileModel;
use super::monitor::{limited, most, timed};
use super::origins::Origins;
use super::part_outputs::found;
use super::prepare::prepare;
use super::record::{Computed, record};
use super::run_folder::RunFolder;
use super::scratch::with_scratch;
use super::{TrainTest, target_file};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use vaglio_core::{AnyLoss, Design, Error, ErrorClass, Monitor, Result, StopSign};
use vaglio_pipeline::document::to_yaml;
use vaglio_pipeline::pipeline::{Evaluate, Names, Observed, SavedModel, ScratchSpec, ValidPipeline};
use vaglio_pipeline::resample::path_predictions::smeared;
use vaglio_pipeline::resample::{Procedure, ProcedureSearch, SearchOnDesign};
use vaglio_pipeline::selector::{Selection, ValidSelector};
use vaglio_pipeline::tune::TuningResult;
use vaglio_report::record::{Record, Seconds, Status, Warning, WarningKind};
use vaglio_report::report::{heading, render};
use vaglio_tables::budget::{peak, resident, shown};

/// Folders and options of a run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Folder that paths in the pipeline are relative to.
    pub folder: PathBuf,
    /// The pipeline file, if any. It is kept even if it is `resolved.yaml` in `out` and the run fails.
    pub pipeline: Option<PathBuf>,
    /// Folder to write to; created if missing.
    pub out: PathBuf,
    /// Whether to resume from the journal in that folder.
    pub resume: bool,
    /// Number of random steps to recompute by plain retraining.
    pub verify: Option<usize>,
}

/// Results of a run, already written to disk.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunOutcome {
    /// The content of `selection.json`.
    pub record: Record,
    /// The trained model.
    pub model: SavedModel,
}

/// Runs a pipeline on its files. Writes `selection.json`, `model.json`, `resolved.yaml` and `report.html`, which are
/// renamed into place together, and `journal.jsonl` while running.
///
/// An existing result is kept as `selection.previous.json`, with its other files, even if the run fails; it stays in
/// place if the settings are rejected. Runs on this machine, on the current rayon pool. The result depends neither on
/// the number of threads nor on resumptions. The monitor's journal is ignored: the run has its own in that folder.
///
/// # Errors
/// Returns the errors of data, settings and arithmetic. [`vaglio_core::Error::Unwritable`], usually before the search,
/// also while another run is in the folder. [`vaglio_core::Error::JournalRefused`]. [`vaglio_core::Error::Setting`] for
/// a pipeline whose engine has workers, [`Cluster`](vaglio_pipeline::pipeline::Cluster).
pub fn run<'m>(pipeline: &ValidPipeline, options: &RunOptions, monitor: impl Into<Monitor<'m>>) -> Result<RunOutcome> {
    pipeline.settings().engine.check_is_here()?;
    run_here(pipeline, options, monitor.into(), false)
}

/// Like [`run`], for any engine. With known pieces of the search, a stop does not prevent assembling them; pieces too
/// short to be kept are computed again.
pub(super) fn run_here(
    pipeline: &ValidPipeline,
    options: &RunOptions,
    monitor: Monitor<'_>,
    is_searched: bool,
) -> Result<RunOutcome> {
    let mut claim = RunFolder::existing(&options.out)?;
    let done = run_in(&mut claim, pipeline, options, monitor, is_searched);
    if let (Err(error), Some(claim)) = (&done, &claim)
        && error.class() != ErrorClass::Configuration
    {
        // Reports the first failure, not this one.
        let _ = claim.set_aside(options.pipeline.as_deref());
    }
    done
}

/// A run after its selection, which figures, record and model are made from.
#[derive(Clone, Copy)]
pub(super) struct Run<'r> {
    pub pipeline: &'r ValidPipeline,
    pub prepared: &'r TrainTest,
    /// The selector after tuning.
    pub selector: &'r ValidSelector,
    /// The design at the λ of the result's path.
    pub design: &'r Design,
}

impl<'r> Run<'r> {
    /// Evaluation settings of the pipeline, if any.
    pub fn evaluate(&self) -> Option<&'r Evaluate> {
        self.pipeline.settings().evaluate.as_ref()
    }

    /// Loss that compares selections.
    pub fn loss(&self) -> AnyLoss {
        self.selector.loss(self.prepared.train.task())
    }
}

fn run_in(
    claim: &mut Option<RunFolder>,
    pipeline: &ValidPipeline,
    options: &RunOptions,
    monitor: Monitor<'_>,
    is_searched: bool,
) -> Result<RunOutcome> {
    let start = Instant::now();
    let prepared = read(pipeline, options, start)?;
    let read = start.elapsed().as_secs_f64();
    // Rejections come before anything is written or computed.
    let search_start = Instant::now();
    let (design, memory) = checked(pipeline, &prepared, &timed(monitor.stop.clone(), start, pipeline.most_time()))?;
    let _scratch = with_scratch(pipeline, &options.folder, || memory.check(pipeline.budget()))?;
    let held = resident().unwrap_or(0) as f64;
    let claim = match claim {
        Some(claim) => claim,
        None => claim.insert(RunFolder::new(&options.out)?),
    };
    claim.make_ready()?;
    let book = Arc::new(begun(pipeline, options, &prepared)?);
    let monitor = &mut limited(monitor, &book, start, most(pipeline));
    let untuned = pipeline.selector().in_room(memory.in_process(held).room(pipeline.budget()));
    let procedure = Procedure { selector: &untuned, tune: pipeline.settings().tune.as_ref() };
    let stop = is_searched.then(|| std::mem::take(&mut monitor.stop));
    let found = tracing::debug_span!("select")
        .in_scope(|| procedure.search(&prepared.sample, &prepared.train, Some(design), search_start, monitor))?;
    if let Some(stop) = stop {
        monitor.stop = stop;
    }
    let ProcedureSearch { best: SearchOnDesign { selector, design: whole, picked }, tuned } = found;
    let mut selection = selector.fit_on(&prepared.train, &whole, picked, monitor)?;
    let end = monitor.stop.at_the_end();
    let design = whole.at_lambda(selection.chosen.walk_lambda()).stopping_at(end);
    let run = Run { pipeline, prepared: &prepared, selector: &selector, design: &design };
    let (mut record, evaluated) = run.evaluated(&whole, &mut selection, tuned, options.verify, monitor)?;
    record.warnings.extend(record.never_called());
    record.warnings.extend(over(&record, pipeline));
    (record.seconds.read, record.seconds.total) = (read, start.elapsed().as_secs_f64());

    let _written = tracing::debug_span!("write").entered();
    let resolved = resolved(&pipeline.resolved(&selection.chosen)?, options)?;
    let model = saved(pipeline, &selector, prepared, &selection, evaluated)?;
    record.equation = FileModel(&model).equations();
    record.warnings.extend(record.not_finite());
    book.finish()?;
    let texts = [
        ("model.json", &*model.to_text()?),
        ("resolved.yaml", &resolved),
        ("report.html", &render(&record, &heading(&options.out), &resolved)?),
        ("selection.json", &record.to_text()?),
    ];
    claim.put(&texts, book.is_resumed())?;
    Ok(RunOutcome { record, model })
}

/// Reads the data. A signal ends reading at once, without the stop sign of the time limit.
fn read(pipeline: &ValidPipeline, options: &RunOptions, start: Instant) -> Result<TrainTest> {
    let _entered = tracing::info_span!("read").entered();
    let limit = timed(StopSign::default(), start, pipeline.most_time()).at_the_end();
    limit.ends(|| prepare(pipeline, &options.folder))
}

/// The design of the training rows, after every check that precedes the search, and the estimated memory. The learner's
/// map may take longer than the time limit.
pub(super) fn checked(pipeline: &ValidPipeline, prepared: &TrainTest, stop: &StopSign) -> Result<(Design, PeakMemory)> {
    let (selector, evaluate, stop) = (pipeline.selector(), pipeline.settings().evaluate.as_ref(), stop.at_the_end());
    let train = prepared.train.clone().stopping_at(stop.clone());
    let design = selector.design(&train)?.stopping_at(StopSign::default());
    planned(&selector, &prepared.sample, &design, evaluate)?;
    let stopping = design.stopping_at(stop);
    let memory = PeakMemory::before(&selector, prepared, &stopping, evaluate)?;
    Ok((design, memory.with_compared(pipeline, prepared, &stopping)?))
}

impl Run<'_> {
    /// Evaluates the selection and records everything. `whole` is the design at every λ; `verify` is the number of
    /// steps to verify.
    fn evaluated(
        self,
        whole: &Design,
        selection: &mut Selection,
        tuned: Option<TuningResult>,
        verify: Option<usize>,
        monitor: &mut Monitor<'_>,
    ) -> Result<(Record, Evaluations)> {
        let (end, origins) = (monitor.stop.at_the_end(), Origins::new(self.prepared, self.design));
        let mut evaluated =
            tracing::debug_span!("evaluate").in_scope(|| Evaluations::new(self, selection, &origins, &mut *monitor))?;
        tracing::debug_span!("verify").in_scope(|| evaluated.verify(self, verify, selection, &mut *monitor))?;
        let fit_start = Instant::now();
        let budget = drop_column::flops_allowed(self, whole, &selection.path)?;
        let importance = tracing::debug_span!("worth")
            .in_scope(|| Importance::from_selection(self, budget, selection, &mut *monitor))?;
        tracing::debug_span!("alternatives")
            .in_scope(|| evaluated.near_best(self, selection, &importance, &mut *monitor))?;
        let written = self.pipeline.resolved(&selection.chosen)?;
        let computed = Computed { evaluated: &evaluated, importance, budget, tuned };
        let mut record = tracing::debug_span!("record")
            .in_scope(|| record(Run { pipeline: &written, ..self }, selection, computed))?;
        record.data.made = origins.made();
        let described = ColumnDiagnostics { run: self, selection: &*selection, evaluated: &evaluated, budget };
        tracing::debug_span!("facts").in_scope(|| unless_stopped(end.ends(|| described.put(&mut record))))?;
        record.found = unless_stopped(end.ends(|| found(self, selection, monitor)))?;
        if let (Some(reason), false) = (end.reason(), record.stop_reason.is_partial()) {
            (record.stop_reason, record.status) = (reason, Status::Partial);
            let message = "the run was stopped before all figures were computed; those that are null are missing";
            record.warnings.push(Warning::new(WarningKind::Interrupted, message));
        }
        record.seconds = Seconds {
            search: selection.search_seconds,
            choose: selection.choose_seconds,
            evaluate: evaluated.seconds,
            fit: selection.fit_seconds + fit_start.elapsed().as_secs_f64(),
            ..Seconds::default()
        };
        Ok((record, evaluated))
    }
}

/// Replaces a stopped figure by an empty one.
fn unless_stopped<T: Default>(done: Result<T>) -> Result<T> {
    match done {
        Err(Error::Stopped(_)) => Ok(T::default()),
        done => done,
    }
}

/// Warns if the memory limit ended the run.
fn over(record: &Record, pipeline: &ValidPipeline) -> Option<Warning> {
    let (peak, budget) = (peak()?, pipeline.budget());
    let is_over = record.stop_reason.is_partial() && peak > budget.memory();
    is_over.then(|| {
        let message = format!(
            "the run held {} and ended there, since the limit is {budget}; `limits.memory` sets it, and fewer columns, rows, folds or \
             threads take less",
            shown(peak as f64)
        );
        Warning::new(WarningKind::Interrupted, message)
    })
}

/// Opens the journal of a run. Waits for a pending hash of the data only to resume.
fn begun(pipeline: &ValidPipeline, options: &RunOptions, prepared: &TrainTest) -> Result<RunJournal> {
    let (data, configuration) = (&prepared.digest, pipeline.configuration()?);
    if !options.resume && !data.is_known() {
        return Ok(RunJournal::begin_behind(&options.out, data.clone(), configuration));
    }
    let header = JournalHeader::new(&data.written()?, configuration);
    if options.resume { RunJournal::resume(&options.out, &header) } else { RunJournal::begin(&options.out, &header) }
}

/// Builds the model file of a run.
fn saved(
    pipeline: &ValidPipeline,
    selector: &ValidSelector,
    prepared: TrainTest,
    selection: &Selection,
    evaluated: Evaluations,
) -> Result<SavedModel> {
    let model = selection.predictor().clone();
    let units = smeared(prepared.target_units.as_deref(), &prepared.train, &model)?;
    let inputs = model.inputs().iter().filter_map(|&f| prepared.train.names().get(f)).cloned().collect();
    let (outputs, task) = (prepared.train.target_names().to_vec(), prepared.train.task().clone());
    let data = pipeline.settings().data.as_ref();
    let (series, time) = data.map_or((None, None), |d| (d.series.clone(), d.time.clone()));
    let observed = Observed {
        targets: prepared.targets,
        weights: data.and_then(|data| data.weights.clone()),
        groups: data.and_then(|data| data.groups.clone()),
        horizons: prepared.horizons,
        loss: selector.loss(&task),
    };
    let reading = prepared.reading;
    let class_order = prepared.train.class_order().unwrap_or_default();
    let saved =
        SavedModel::new(task, outputs, units, prepared.maps, inputs, model).selecting(selection).made_by(selector);
    let Evaluations { calibration, intervals, .. } = evaluated;
    let reading = Some(reading);
    let observed = Some(observed);
    let saved = saved.ordered_by(series, time);
    let saved = SavedModel { observed, class_order, calibration, intervals, reading, ..saved };
    Ok(with_history(saved, prepared.history.as_ref()))
}

/// The configuration with all defaults and with paths relative to the output folder.
pub(super) fn resolved(pipeline: &ValidPipeline, options: &RunOptions) -> Result<String> {
    let mut copy = pipeline.clone();
    let moved = |path: &mut String| *path = relative(&options.folder.join(&*path), &options.out);
    if let Some(ledger) = copy.settings_mut().engine.ledger_mut() {
        moved(ledger);
        // The path of the ledger to itself is empty.
        let is_here = ledger.is_empty();
        ledger.push_str(if is_here { "." } else { "" });
    }
    if let Some(data) = &mut copy.settings_mut().data {
        target_file::named(data).into_iter().for_each(moved);
        if let ScratchSpec::Folder(folder) = &mut data.scratch {
            moved(folder);
        }
        std::iter::once(&mut data.train).chain(&mut data.test).flat_map(names_mut).for_each(moved);
    }
    to_yaml(&copy)
}

fn names_mut(names: &mut Names) -> &mut [String] {
    match names {
        Names::One(name) => std::slice::from_mut(name),
        Names::Several(names) => names,
    }
}
