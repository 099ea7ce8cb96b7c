//! A run: prepare, select, fit, evaluate, write.

use super::correlations::Correlations;
use super::folder::{heading, make_writable, relative, set_previous_aside, write_file};
use super::{Prepared, SavedModel, prepare};
use crate::document::to_yaml;
use crate::pipeline::ValidPipeline;
use crate::record::{
    Data, EntryRecord, ExcludedRecord, Parts, PerOutput, Record, SCHEMA, Seconds, SelectedRecord, Shown, SizePoint,
    Status, StepRecord, TestFigures, TunedSettings, in_order,
};
use crate::report::render;
use crate::resample::{self, Held, counting, unscale};
use crate::selector::Selection;
use crate::train::train;
use crate::tune::Tuned;
use ndarray::Array2;
use std::path::PathBuf;
use std::time::Instant;
use vaglio_core::{Certificate, Design, Error, Model, Observer, Problem, Result};

/// Where a run reads and writes.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The folder that paths in the pipeline are relative to.
    pub folder: PathBuf,
    /// The folder that the files are written to; made when absent.
    pub out: PathBuf,
}

/// What a run found; everything is on disk already.
#[derive(Debug)]
pub struct Outcome {
    /// The content of `selection.json`.
    pub record: Record,
    /// The trained model.
    pub model: SavedModel,
}

/// Runs a pipeline on its files and writes `selection.json`, `model.json`, `resolved.yaml` and `report.html`.
///
/// Every file appears whole, `selection.json` last. Runs on the current rayon pool; the result does not depend on the
/// number of threads.
///
/// # Errors
/// Those of the data, the settings and the arithmetic, and [`Error::Unwritable`], found before the search starts.
pub fn run(pipeline: &ValidPipeline, options: &RunOptions, observer: &mut dyn Observer) -> Result<Outcome> {
    let start = Instant::now();
    let prepared = {
        let _entered = tracing::info_span!("read").entered();
        prepare(pipeline, &options.folder)?
    };
    let read = start.elapsed().as_secs_f64();
    // Refusals come before anything is written or computed.
    let search_start = Instant::now();
    let mut design = pipeline.selector().design(&prepared.train)?;
    make_writable(&options.out)?;
    set_previous_aside(&options.out)?;
    let (selector, tuned) = pipeline.tuned(&prepared.train, observer)?;
    if tuned.is_some() {
        design = selector.design(&prepared.train)?;
    }
    let picked = resample::select(&selector, &prepared.sample, &design, search_start, observer)?;
    let selection = selector.fit_on(&design, picked)?;
    let mut record = record(pipeline, &prepared, &design, &selection, tuned)?;
    let (search, fit) = (selection.search_seconds, selection.fit_seconds);
    record.seconds = Seconds { read, search, fit, total: start.elapsed().as_secs_f64() };

    let model = selection.model;
    let inputs = model.inputs().iter().filter_map(|&f| prepared.train.names().get(f)).cloned().collect();
    let outputs = prepared.train.target_names().to_vec();
    let task = prepared.train.task().clone();
    let (series, time) = pipeline.0.data.as_ref().map_or((None, None), |d| (d.series.clone(), d.time.clone()));
    let model = SavedModel::new(task, outputs, prepared.target_scales, prepared.maps, inputs, model);
    let model = model.ordered_by(series, time);
    let resolved = resolved(pipeline, options)?;
    write_file(&options.out.join("model.json"), &model.to_text()?)?;
    write_file(&options.out.join("resolved.yaml"), &resolved)?;
    write_file(&options.out.join("report.html"), &render(&record, &heading(&options.out), &resolved)?)?;
    write_file(&options.out.join("selection.json"), &record.to_text()?)?;
    Ok(Outcome { record, model })
}

/// What `selection.json` says of a selection; the seconds are left to be filled in.
fn record(
    pipeline: &ValidPipeline,
    prepared: &Prepared,
    design: &Design,
    selection: &Selection,
    tuned: Option<Tuned>,
) -> Result<Record> {
    let Selection { path, names, model, engine, approximation, alpha, .. } = selection;
    let subset = path.result().map_or(&[][..], |entry| &entry.subset);
    let test = prepared.figures(model)?;
    let correlations = Correlations::new(design, subset);
    let curve = curve(design, prepared, path, model)?;
    let name = |feature: usize| names.get(feature).cloned().unwrap_or_default();
    let coefficients = model.coefficients();
    let is_geometric = alpha.is_some() || path.steps.iter().any(|step| step.knot.is_some());
    let selected = subset.iter().enumerate().map(|(k, &index)| SelectedRecord {
        index,
        name: name(index),
        weight: coefficients.map(|c| PerOutput::new(c.weights.row(k).to_vec())),
        alpha: alpha.as_ref().and_then(|alpha| alpha.get(k).copied()),
    });
    let excluded = design.constant().into_iter().map(|index| ExcludedRecord {
        index,
        name: name(index),
        reason: "constant".into(),
    });
    Ok(Record {
        schema: SCHEMA.into(),
        status: if path.stop_reason.is_partial() { Status::Partial } else { Status::Complete },
        stop_reason: path.stop_reason,
        pipeline: parts(pipeline, engine, *approximation),
        tuned: tuned.as_ref().map(TunedSettings::new),
        data: Data {
            rows: prepared.rows,
            features: design.features(),
            outputs: prepared.train.targets().nrows(),
            sha256: prepared.sha256.clone(),
        },
        empty_score: path.empty.loss,
        steps: (1..).zip(&path.steps).map(|(k, step)| StepRecord::new(k, step, name(step.feature))).collect(),
        path: in_order(path).into_iter().map(EntryRecord::new).collect(),
        selected: selected.collect(),
        score: path.result().map_or(path.empty, |entry| entry.score).loss,
        lambda: path.result().map_or(path.empty, |entry| entry.score).lambda.or(model.lambda()),
        intercept: coefficients.map(|c| PerOutput::new(c.intercept.clone())),
        excluded: excluded.collect(),
        redundancy: correlations.redundancy().filter(|_| is_geometric),
        certificate: path.certificate.map(|c| Certificate { gap: c.gap.filter(|_| !c.optimal), ..c }),
        test,
        nested: (),
        verify: (),
        seconds: Seconds::default(),
        peak_memory_bytes: peak_memory(),
        report: Shown {
            standard_errors: in_order(path).iter().map(|entry| entry.standard_error).collect(),
            curve,
            correlations: correlations.shown(),
            tuning: tuned,
        },
    })
}

fn parts(pipeline: &ValidPipeline, engine: &str, approximation: Option<&str>) -> Parts {
    let settings = &pipeline.0;
    Parts {
        learner: settings.learner.typetag_name().into(),
        criterion: settings.criterion.typetag_name().into(),
        search: settings.search.typetag_name().into(),
        loss: settings.criterion.loss(),
        engine: engine.into(),
        approximation: approximation.map(Into::into),
    }
}

/// The process's peak resident set, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

impl Prepared {
    /// The figures of a model on the test rows, in the target's units; `None` without test rows.
    ///
    /// # Errors
    /// Those of [`Model::predict`].
    pub fn figures(&self, model: &Model) -> Result<Option<TestFigures>> {
        let Some(test) = &self.test else { return Ok(None) };
        let predictions = self.predict(model, test)?;
        let counting = counting(test, model.counts(test.rows(), test.series().map(|series| &series[..])));
        if counting.as_ref().is_some_and(|counts| counts.iter().all(|count| *count == 0.0)) {
            return Err(Error::Shape("no test row counts: no series is longer than the learner's warm-up".into()));
        }
        Ok(Some(TestFigures::of(test.task(), test.targets().view(), predictions.view(), counting.as_deref())))
    }

    /// Predictions for the rows of a problem, in the target's units.
    fn predict(&self, model: &Model, problem: &Problem) -> Result<Array2<f64>> {
        let series = problem.series().map(|series| &series[..]);
        let mut predictions = model.predict(&problem.columns().select(model.inputs()), series)?;
        unscale(&mut predictions, self.target_scales.as_deref());
        Ok(predictions)
    }
}

/// Work of refitting that the curve of a report may take, in multiply-adds.
const CURVE_WORK: f64 = 3e10;

/// Losses on training and test rows of models of growing size, refitted but for the chosen one; of some sizes only when
/// there are many.
fn curve(
    design: &Design,
    prepared: &Prepared,
    path: &vaglio_core::Path,
    chosen_model: &Model,
) -> Result<Vec<SizePoint>> {
    let (entries, chosen) = (&path.entries, path.chosen);
    let mut train_targets = prepared.train.targets().as_ref().clone();
    unscale(&mut train_targets, prepared.target_scales.as_deref());
    let rows = prepared.train.rows() as f64;
    let mut work = 0.0;
    let mut points = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let size = entry.subset.len();
        let round = size <= 10 || size % 10 == 0 && size <= 100 || size % 100 == 0;
        if !(round || Some(index) == chosen || index + 1 == entries.len()) {
            continue;
        }
        work += 6.0 * rows * (size * size) as f64;
        if work > CURVE_WORK && Some(index) != chosen {
            continue;
        }
        let refitted = match Some(index) == chosen {
            true => None,
            false => Some(train(design, &entry.subset, entry.score.lambda)?),
        };
        let model = refitted.as_ref().unwrap_or(chosen_model);
        type Losses = (Option<f64>, Option<f64>);
        let of = |problem: &Problem, targets: ndarray::ArrayView2<f64>, predictions: Array2<f64>| -> Losses {
            let counting = counting(problem, model.counts(problem.rows(), problem.series().map(|series| &series[..])));
            let figures = TestFigures::of(problem.task(), targets, predictions.view(), counting.as_deref());
            (Some(figures.mse), figures.error_rate)
        };
        // The columns of the training rows are there already, unless rows are dropped or decided together.
        let plain = design.rows() == prepared.train.rows() && design.decisions().is_none();
        let predictions = match model.coefficients().filter(|_| plain) {
            Some(coefficients) => {
                let mut predictions = coefficients.of_columns(&design.columns().select(&entry.subset))?;
                unscale(&mut predictions, prepared.target_scales.as_deref());
                predictions
            }
            None => prepared.predict(model, &prepared.train)?,
        };
        let (train, train_error) = of(&prepared.train, train_targets.view(), predictions);
        let (test, test_error) = match &prepared.test {
            Some(problem) => of(problem, problem.targets().view(), prepared.predict(model, problem)?),
            None => (None, None),
        };
        points.push(SizePoint { size, train, test, train_error, test_error });
    }
    Ok(points)
}

/// The configuration with every default written out and paths relative to the folder it is written to.
fn resolved(pipeline: &ValidPipeline, options: &RunOptions) -> Result<String> {
    let mut copy = pipeline.clone();
    if let Some(data) = &mut copy.0.data {
        for path in std::iter::once(&mut data.train).chain(&mut data.test) {
            *path = relative(&options.folder.join(&*path), &options.out);
        }
    }
    to_yaml(&copy)
}
