//! Runs a pipeline: prepare, select, fit, evaluate, write.

use super::column_diagnostics::record_columns;
use super::data::prepare;
use super::evaluations::drop_column::flops_allowed;
use super::evaluations::{EVALUATIONS, EvaluationResults, RepetitionInput, Run, RunPlan};
use super::forecast::with_history;
use super::journal::{JournalHeader, RunJournal};
use super::memory::{PeakMemory, with_scratch};
use super::path_figures::record_path;
use super::predictions::FileModel;
use super::record::{record, record_found};
use super::run_folder::{RunFolder, relative};
use super::train_test::TrainTest;
use super::warnings::{over_memory, warnings};
use super::work_units::SEARCH;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use vaglio_core::{Design, Error, ErrorClass, Result, StopReason, StopSign};
use vaglio_pipeline::document::to_yaml;
use vaglio_pipeline::pipeline::{SavedModel, ValidPipeline};
use vaglio_pipeline::resampling::{Selection, StageMonitor, TunedSearch};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_report::record::{Record, Seconds, TunedSettings};
use vaglio_report::report::{heading, render};
use vaglio_search::{Journal, Monitor};
use vaglio_tables::budget::{peak, resident, resident_within};
use vaglio_tables::scratch::Scratch;

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
/// a pipeline whose engine has workers.
pub fn run<'m>(pipeline: &ValidPipeline, options: &RunOptions, monitor: impl Into<Monitor<'m>>) -> Result<RunOutcome> {
    pipeline.engine.check_is_here()?;
    run_here(pipeline, options, monitor.into())
}

/// Like [`run`], for any engine.
pub fn run_here(pipeline: &ValidPipeline, options: &RunOptions, monitor: Monitor<'_>) -> Result<RunOutcome> {
    let mut run_folder = RunFolder::existing(&options.out)?;
    let done = run_in(&mut run_folder, pipeline, options, monitor);
    if let (Err(error), Some(run_folder)) = (&done, &run_folder)
        && error.class() != ErrorClass::Configuration
    {
        // Reports the first failure, not this one.
        let _ = run_folder.set_aside(options.pipeline.as_deref());
    }
    done
}

/// Reads and checks everything, opens folder and journal, selects, evaluates, and writes.
fn run_in(
    run_folder: &mut Option<RunFolder>,
    pipeline: &ValidPipeline,
    options: &RunOptions,
    monitor: Monitor<'_>,
) -> Result<RunOutcome> {
    let start = Instant::now();
    let prepared = read(pipeline, options, start)?;
    let read = start.elapsed().as_secs_f64();
    // Rejections come before anything is written or computed.
    let stop = monitor.stop.clone().or_after(start, pipeline.most_time());
    let RunStart { prepared, design, selector: untuned, _scratch } =
        RunStart::new(pipeline, &options.folder, prepared, &stop)?;

    let run_folder = match run_folder {
        Some(run_folder) => run_folder,
        None => run_folder.insert(RunFolder::new(&options.out)?),
    };
    run_folder.make_ready()?;
    let data = &prepared.digest;
    let configuration = pipeline.configuration()?;
    let run_journal = Arc::new(match options.resume {
        // Only to resume, the run waits for a pending hash of the data.
        true => RunJournal::resume(&options.out, &JournalHeader::new(&data.wait()?, configuration))?,
        false => RunJournal::begin(&options.out, data.clone(), configuration),
    });
    let monitor = &mut limit_monitor(monitor, &run_journal, start, pipeline);

    let input = RepetitionInput::new(pipeline, &untuned, &prepared.sample);
    // A stop does not prevent assembling the known pieces of a search; pieces too short to be kept are computed again.
    let is_searched = run_journal.known.contains_key(SEARCH);
    let stop = if is_searched { StopSign::default() } else { monitor.stop.clone() };
    let search_monitor = &mut Monitor { observer: &mut *monitor.observer, journal: monitor.journal.clone(), stop };
    let found = tracing::debug_span!("select")
        .in_scope(|| untuned.tuned_search(input.sample, &prepared.train, Some(design), search_monitor))?;
    let TunedSearch { selector, design: whole, chosen_search, tuned } = found;
    let selection = selector.fit_on(&prepared.train, &whole, chosen_search, monitor)?;

    let design = whole.at_lambda(selection.chosen.path_lambda()).with_sign(monitor.stop.at_the_end());
    let resolved = pipeline.with_resolved_defaults(&selection.chosen)?;
    let run = Run {
        pipeline: &resolved,
        prepared: &prepared,
        input,
        selector: &selector,
        design: &design,
        selection: &selection,
        verify: options.verify,
        budget: 0.0,
    };
    let run = Run { budget: flops_allowed(run, &whole)?, ..run };
    let mut evaluated = run.evaluate(tuned, monitor)?;

    let model = build_model_file(pipeline, &selector, prepared, &selection, &mut evaluated)?;
    let mut record = evaluated.record;
    record.equation = FileModel(&model).equations();
    record.warnings.extend(record.not_finite());
    let resolved = portable(&resolved, &options.folder, &options.out)?;
    (record.seconds.read, record.seconds.total) = (read, start.elapsed().as_secs_f64());
    run_journal.finish()?;
    let _written = tracing::debug_span!("write").entered();
    let report = render(&record, &heading(&options.out), &resolved);
    run_folder.put([&model.to_text()?, &resolved, &report, &record.to_text()?], run_journal.is_resumed)?;
    Ok(RunOutcome { record, model })
}

/// Reads the data. A signal ends reading at once, without the stop sign of the time limit.
fn read(pipeline: &ValidPipeline, options: &RunOptions, start: Instant) -> Result<TrainTest> {
    let _entered = tracing::info_span!("read").entered();
    let limit = StopSign::default().or_after(start, pipeline.most_time()).at_the_end();
    limit.ends(|| prepare(pipeline, &options.folder))
}

/// Minimum interval between memory queries, in milliseconds.
const ASKED: u64 = 10;

/// Adds the run's journal and the pipeline's limits to a monitor; time counts from `start`. Memory is what the system
/// reports, not an estimate.
pub fn limit_monitor<'o>(
    given: Monitor<'o>,
    run_journal: &Arc<RunJournal>,
    start: Instant,
    pipeline: &ValidPipeline,
) -> Monitor<'o> {
    let most = pipeline.limits.budget().memory();
    let journal = Journal::new(Arc::<RunJournal>::clone(run_journal));
    let run_journal = Arc::clone(run_journal);
    let held = AtomicU64::new(0);
    let last = AtomicU64::new(0);
    let is_full = move || {
        let now = start.elapsed().as_millis() as u64;
        if now >= last.load(Ordering::Relaxed) + ASKED {
            last.store(now, Ordering::Relaxed);
            held.fetch_max(resident_within(most).unwrap_or(0), Ordering::Relaxed);
        }
        held.load(Ordering::Relaxed) > most
    };
    // A failed journal ends the run with its error.
    let stop = given.stop.or(move || run_journal.has_failed().then_some(StopReason::Interrupted));
    let stop = stop.or(move || is_full().then_some(StopReason::Limit));
    Monitor { observer: given.observer, journal, stop: stop.or_after(start, pipeline.most_time()) }
}

/// A run that is checked: its data, and the design of the training rows.
#[derive(Debug)]
pub struct RunStart {
    pub prepared: TrainTest,
    pub design: Design,
    /// The selector before tuning, limited to as many folds at once as fit in memory.
    pub selector: ValidSelector,
    /// Scratch space of later columns, open as long as the run.
    _scratch: Option<Scratch>,
}

impl RunStart {
    /// Makes every check that precedes the search. The learner's map may take longer than the time limit.
    pub fn new(pipeline: &ValidPipeline, folder: &Path, prepared: TrainTest, stop: &StopSign) -> Result<Self> {
        let selector = pipeline.selector();
        let budget = pipeline.limits.budget();
        let stop = stop.at_the_end();
        let design = selector.design(&prepared.train.clone().with_sign(stop.clone()))?.with_sign(stop);
        let plan = RunPlan::new(pipeline, &selector, &prepared, &design)?;
        EVALUATIONS.iter().try_for_each(|evaluation| (evaluation.plan)(&plan).map(drop))?;
        let memory = PeakMemory::new(&plan)?;
        let design = design.with_sign(StopSign::default());
        let ((), scratch) = with_scratch(pipeline, folder, || memory.check(budget))?;
        let program = (resident().unwrap_or(0) as f64 - memory.data).max(0.0);
        let selector = selector.limit_repetitions(memory.bytes_left(budget, program), memory.repetition);
        Ok(RunStart { prepared, design, selector, _scratch: scratch })
    }
}

impl Run<'_> {
    /// Records the selection, computes its evaluations, and then the figures of path, columns and parts.
    fn evaluate(self, tuned: Option<TunedSettings>, monitor: &mut Monitor<'_>) -> Result<EvaluationResults> {
        let start = Instant::now();
        let end = monitor.stop.at_the_end();
        let mut evaluated = EvaluationResults { record: record(self, tuned)?, ..EvaluationResults::default() };
        tracing::debug_span!("evaluate").in_scope(|| evaluated.compute(self, &StageMonitor::new(&mut *monitor)))?;
        let seconds = start.elapsed().as_secs_f64();
        tracing::debug_span!("record").in_scope(|| {
            record_path(self, &mut evaluated.record)?;
            evaluated.record_predictions(self)
        })?;
        let warnings = warnings(self, &evaluated.record.steps);
        evaluated.record.warnings.extend(warnings);
        if !evaluated.record.stop_reason.is_partial() {
            let figures = || {
                record_columns(self, &mut evaluated)?;
                record_found(self, &monitor.journal, &mut evaluated.record)
            };
            match tracing::debug_span!("facts").in_scope(|| end.ends(figures)) {
                Err(Error::Stopped(_)) => {}
                done => done?,
            }
        }
        evaluated.stop(end.reason());
        let record = &mut evaluated.record;
        record.data.digest = self.prepared.digest.wait()?;
        record.peak_memory_bytes = peak();
        record.seconds = Seconds {
            search: self.selection.search_seconds,
            choose: self.selection.choose_seconds,
            evaluate: seconds,
            fit: self.selection.fit_seconds + start.elapsed().as_secs_f64() - seconds,
            ..Seconds::default()
        };
        record.warnings.extend(record.never_called());
        record.warnings.extend(over_memory(record, self.pipeline));
        Ok(evaluated)
    }
}

/// Builds the model file of a run.
fn build_model_file(
    pipeline: &ValidPipeline,
    selector: &ValidSelector,
    prepared: TrainTest,
    selection: &Selection,
    evaluated: &mut EvaluationResults,
) -> Result<SavedModel> {
    let units = prepared.target_units.as_deref();
    let saved = SavedModel::new(selector, selection, &prepared.train, prepared.maps, units)?;
    let data = pipeline.data.as_ref();
    let mut saved = SavedModel {
        series: data.and_then(|data| data.series.clone()),
        time: data.and_then(|data| data.time.clone()),
        calibration: evaluated.calibration.take(),
        intervals: evaluated.intervals.take(),
        reading: Some(prepared.reading),
        ..saved
    };
    if let Some(observed) = &mut saved.observed {
        (observed.targets, observed.horizons) = (prepared.targets, prepared.horizons);
        observed.weights = data.and_then(|data| data.weights.clone());
        observed.groups = data.and_then(|data| data.groups.clone());
    }
    Ok(with_history(saved, prepared.history.as_ref(), prepared.test_rows.as_deref().unwrap_or_default()))
}

/// The settings as a file in the folder `out`, with paths relative to it in place of `folder`.
pub fn portable(settings: &ValidPipeline, folder: &Path, out: &Path) -> Result<String> {
    let mut copy = settings.clone();
    let moved = |path: &mut String| *path = relative(&folder.join(&*path), out);
    if let Some(ledger) = &mut copy.engine.ledger {
        moved(ledger);
        // The path of the ledger to itself is empty.
        let is_here = ledger.is_empty();
        ledger.push_str(if is_here { "." } else { "" });
    }
    if let Some(data) = &mut copy.data {
        data.change_paths(moved);
    }
    to_yaml(&copy)
}
