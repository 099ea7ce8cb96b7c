//! A run: prepare, select, fit, evaluate, write.

use super::correlations::Correlations;
use super::metrics::unscale;
use super::record::{DataWords, Facts, PipelineWords, Seconds, in_order};
use super::{Prepared, RunRecord, SavedModel, TestFigures, ValidPipeline, prepare, write_file};
use crate::document::to_yaml;
use crate::report::{Report, SizePoint, render};
use crate::selector::Selection;
use crate::train::train;
use ndarray::Array2;
use std::path::{Path, PathBuf};
use std::time::Instant;
use vaglio_core::{Design, Error, Model, Observer, Problem, Result};

/// Where a run reads and writes.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The folder that paths in the pipeline are relative to.
    pub folder: PathBuf,
    /// The folder that the files are written to; made when absent.
    pub out: PathBuf,
    /// What the report is headed with.
    pub title: String,
}

/// What a run found; everything is on disk already.
#[derive(Debug)]
pub struct Outcome {
    /// The content of `selection.json`.
    pub record: RunRecord,
    /// The selection with its path and model's coefficients is in the record; the model itself is here.
    pub model: SavedModel,
}

/// Sets the result of an earlier run in `out` aside as `selection.previous.json`, so that a run that fails leaves no
/// result that looks like its own.
///
/// # Errors
/// [`Error::Unwritable`].
pub fn set_previous_aside(out: &Path) -> Result<()> {
    let current = out.join("selection.json");
    if !current.exists() {
        return Ok(());
    }
    std::fs::rename(&current, out.join("selection.previous.json"))
        .map_err(|e| Error::Unwritable { path: current, message: e.to_string() })
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
    let (constant, features) = (design.constant(), design.features());

    let searched = selector.search_on(&design, search_start, observer)?;
    let Selection { path, names, model, engine, approximation, alpha, search_seconds, fit_seconds } =
        selector.fit_on(&design, searched)?;
    let test = prepared.figures(&model)?;
    let correlations = Correlations::new(&design, path.result().map_or(&[], |e| &e.subset));
    let curve = curve(&design, &prepared, &path, &model)?;
    let standard_errors: Vec<Option<f64>> = in_order(&path).iter().map(|e| e.standard_error).collect();
    let facts = Facts {
        pipeline: words(pipeline, engine, approximation),
        tuned: tuned.as_ref(),
        data: DataWords {
            rows: prepared.rows,
            features,
            outputs: prepared.train.targets().nrows(),
            sha256: prepared.sha256.clone(),
        },
        names: &names,
        path: &path,
        coefficients: model.coefficients(),
        alpha: alpha.as_deref(),
        redundancy: if alpha.is_some() || path.steps.iter().any(|step| step.knot.is_some()) {
            correlations.redundancy()
        } else {
            None
        },
        lambda: path.result().map_or(path.empty.lambda, |e| e.score.lambda).or(model.lambda()),
        constant: &constant,
        test,
        seconds: Seconds { read, search: search_seconds, fit: fit_seconds, total: start.elapsed().as_secs_f64() },
    };
    let record = RunRecord::new(facts);

    let inputs = model.inputs().iter().filter_map(|&f| prepared.train.names().get(f)).cloned().collect();
    let outputs = prepared.train.target_names().to_vec();
    let task = prepared.train.task().clone();
    let (series, time) = pipeline.data.as_ref().map_or((None, None), |d| (d.series.clone(), d.time.clone()));
    let model = SavedModel::new(task, outputs, prepared.target_scales, prepared.maps, inputs, model);
    let model = model.ordered_by(series, time);
    let resolved = resolved(pipeline, options)?;
    let text = record.to_text()?;
    let report = Report {
        title: &options.title,
        selection: &serde_json::from_str(&text).unwrap_or_default(),
        standard_errors: &standard_errors,
        curve: &curve,
        correlation: &correlations.shown(),
        tuning: tuned.as_ref(),
        configuration: &resolved,
        version: env!("CARGO_PKG_VERSION"),
    };
    write_file(&options.out.join("model.json"), &model.to_text()?)?;
    write_file(&options.out.join("resolved.yaml"), &resolved)?;
    write_file(&options.out.join("report.html"), &render(&report)?)?;
    write_file(&options.out.join("selection.json"), &text)?;
    Ok(Outcome { record, model })
}

/// The threads that a run computes on; 0 for as many as there are processors.
///
/// # Errors
/// [`Error::Setting`] when the system gives no more threads.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|e| Error::setting("engine.threads", e.to_string()))
}

fn make_writable(out: &Path) -> Result<()> {
    std::fs::create_dir_all(out).map_err(|e| Error::Unwritable { path: out.to_owned(), message: e.to_string() })?;
    let probe = out.join(format!(".probe.{}", std::process::id()));
    let written = std::fs::write(&probe, "").and_then(|()| std::fs::remove_file(&probe));
    written.map_err(|e| Error::Unwritable { path: out.to_owned(), message: e.to_string() })
}

fn words(pipeline: &ValidPipeline, engine: &'static str, approximation: Option<&'static str>) -> PipelineWords {
    PipelineWords {
        learner: pipeline.learner.typetag_name().into(),
        criterion: pipeline.criterion.typetag_name().into(),
        search: pipeline.search.typetag_name().into(),
        loss: pipeline.criterion.loss().map(vaglio_core::Loss::name),
        engine,
        approximation,
    }
}

impl Prepared {
    /// The figures of a model on the test rows, in the target's units; `None` without test rows.
    ///
    /// # Errors
    /// Those of [`Model::predict`].
    pub fn figures(&self, model: &Model) -> Result<Option<TestFigures>> {
        let Some(test) = &self.test else { return Ok(None) };
        let predictions = self.predict(model, test)?;
        let counting = counting(test, model);
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

/// How much each row of a problem counts in figures: by its weight, and by what the model says of it.
fn counting(problem: &Problem, model: &Model) -> Option<Vec<f64>> {
    let weights = problem.weights().map(|w| w.to_vec());
    let counts = model.counts(problem.rows(), problem.series().map(|series| &series[..]));
    match (weights, counts) {
        (Some(weights), Some(counts)) => Some(weights.iter().zip(counts).map(|(w, c)| w * c).collect()),
        (weights, counts) => weights.or(counts),
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
            let counting = counting(problem, model);
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
    if let Some(data) = &mut copy.data {
        for path in std::iter::once(&mut data.train).chain(&mut data.test) {
            *path = relative(&options.folder.join(&*path), &options.out);
        }
    }
    to_yaml(&copy)
}

/// `file` as seen from `folder`; absolute where they share no root.
fn relative(file: &Path, folder: &Path) -> String {
    let absolute = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (file, folder) = (absolute(file), absolute(folder));
    let common = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return file.to_string_lossy().into_owned();
    }
    let up = folder.components().skip(common).map(|_| std::path::Component::ParentDir);
    let down = file.components().skip(common);
    up.chain(down).collect::<PathBuf>().to_string_lossy().into_owned()
}
