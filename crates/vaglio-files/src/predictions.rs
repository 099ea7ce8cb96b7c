//! Predictions of the rows of a file, with probabilities, intervals and kept columns.

use super::column_types::hint;
use super::comparison::TargetComparison;
use super::model_files::FileModel;
use ndarray::Array2;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use vaglio_core::{Cells, Error, Result, SourceLocation, Task, short};
use vaglio_pipeline::maps::UnseenLevels;
use vaglio_pipeline::pipeline::IntervalEnds;
use vaglio_tables::read::{ColumnFilter, Hint, Notations, ReadRequest, TableProfile, TableSource};

/// Options of a prediction: outputs besides the predicted values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PredictOptions {
    /// Columns of the data file to write before the predictions.
    pub keep: Vec<String>,
    /// Whether to compare predictions with the targets in the file.
    pub evaluate: bool,
    /// Whether to add the probability of each class.
    pub probabilities: bool,
    /// Whether to add prediction intervals.
    pub intervals: bool,
    /// Whether kept columns are numbers and dates if the file or the model says so; else the text of each cell.
    pub typed: bool,
    /// Whether to write text to CSV unescaped, even if a spreadsheet would run it as a formula.
    pub raw: bool,
}

/// Predictions for the rows of a file.
#[derive(Debug)]
pub struct Predictions {
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Predicted values, outputs × rows, in the units of the target.
    pub values: Array2<f64>,
    /// Label of each row, for classes.
    pub labels: Option<Vec<String>>,
    /// Row of the data for each prediction, from 0 and increasing; rows that maps dropped have no prediction.
    pub rows: Vec<usize>,
    /// Columns of series and time, for these rows.
    pub keys: Vec<(String, Cells)>,
    /// Whether some rows have no prediction.
    pub dropped: bool,
    /// Kept columns of the data, for these rows.
    pub kept: Vec<(String, Cells)>,
    /// Class labels and their probabilities, classes × rows.
    pub probabilities: Option<(Vec<String>, Array2<f64>)>,
    /// Prediction intervals.
    pub intervals: Option<IntervalEnds>,
    /// Comparison with the targets in the data.
    pub judged: Option<TargetComparison>,
    /// Whether text is written to CSV unescaped.
    pub raw: bool,
    /// Levels that no training row has.
    pub unseen: UnseenLevels,
}

/// Locates the error of a missing cell that a model cannot handle, and adds a remedy.
pub(super) fn unfilled(profile: &TableProfile, error: Error) -> Error {
    profile.located(error).with_remedy(
        "fill it in, or leave the row out; the model has no map that does, and data.read.na of its pipeline lists the words for missing cells",
    )
}

impl FileModel<'_> {
    /// Implements `ModelFiles::predict_file_with`.
    ///
    /// # Errors
    /// Returns the errors of `ModelFiles::predict_file_with`.
    pub(super) fn predict_file_with(&self, path: &Path, beside: &PredictOptions) -> Result<Predictions> {
        let read = self.reading.as_ref().map(|reading| reading.read.clone()).unwrap_or_default();
        let wanted = self.reads(beside);
        let source = TableSource::open(&[path.to_owned()], &read)?.widened(wanted.iter().map(String::as_str));
        self.predict_source(&source, path, beside)
    }

    /// Implements `ModelFiles::predict_source`.
    ///
    /// # Errors
    /// Returns the errors of `ModelFiles::predict_source`.
    pub(super) fn predict_source(
        &self,
        source: &TableSource,
        path: &Path,
        beside: &PredictOptions,
    ) -> Result<Predictions> {
        let header = source.names();
        self.check_beside(beside, header)?;
        let (wanted, hints) = self.wanted(path, header, beside)?;
        let in_file = |error: Error| error.in_file(path);
        let notations = self.notations(&wanted);
        let (mut table, profile) =
            source.read(&ReadRequest { hints, notations, filter: ColumnFilter::only(wanted) })?;
        if self.takes_nothing(beside) {
            table.take_columns();
        }
        let (mut predictions, predicted, counts) =
            self.predicted(table, beside.intervals).map_err(|error| in_file(unfilled(&profile, error)))?;
        warn_of(&predictions.unseen);
        self.add_probabilities(&mut predictions, beside);
        predictions.raw = beside.raw;
        if beside.evaluate {
            let (targets, profile) = self.observed_in(source).map_err(in_file)?;
            let judged = self.judged(targets, &profile, &predicted, counts, predictions.intervals.as_ref());
            predictions.judged = Some(judged.map_err(in_file)?);
        }
        if !beside.keep.is_empty() {
            let hint = |name: &String| (name.clone(), self.kept_hint(name, beside, source.is_typed()));
            let hints = beside.keep.iter().map(hint).collect();
            predictions.keep(source, &beside.keep, hints).map_err(in_file)?;
        }
        Ok(predictions)
    }

    /// Columns that are read.
    fn reads(&self, beside: &PredictOptions) -> Vec<String> {
        let ordered = [&self.series, &self.time].into_iter().flatten().cloned();
        let of_folds = self.intervals.as_ref().filter(|_| beside.intervals).map(|intervals| intervals.sources());
        self.sources.iter().cloned().chain(of_folds.into_iter().flatten()).chain(ordered).collect()
    }

    /// Whether predictions use no column.
    pub(super) fn takes_nothing(&self, beside: &PredictOptions) -> bool {
        self.reads(beside).is_empty()
    }

    /// Columns that are read from the file `path` with this header, with their types.
    pub(super) fn wanted(
        &self,
        path: &Path,
        header: &[String],
        beside: &PredictOptions,
    ) -> Result<(Vec<String>, HashMap<String, Hint>)> {
        let there: HashSet<&String> = header.iter().collect();
        let mut wanted = self.reads(beside);
        // Missing columns of lagged targets are forecast.
        let lagged = self.lagged_targets();
        wanted.retain(|name| there.contains(name) || self.is_ahead() || !lagged.contains(name));
        if let Some(missing) = wanted.iter().find(|name| !there.contains(name)) {
            let unknown = Error::unknown("data", "column", missing, header.iter().map(String::as_str));
            return Err(unknown.at(Some(SourceLocation { file: path.display().to_string(), line: 0, column: 0 })));
        }
        let mut hints = self.hints(&wanted);
        // A model without columns still predicts every row.
        if wanted.is_empty() {
            wanted.extend(header.iter().take(1).cloned());
            hints = wanted.iter().map(|name| (name.clone(), Hint::Written)).collect();
        }
        Ok((wanted, hints))
    }

    /// Adds probabilities if asked for.
    pub(super) fn add_probabilities(&self, predictions: &mut Predictions, beside: &PredictOptions) {
        let of = |calibration: &vaglio_pipeline::pipeline::Calibration| {
            (classes(&self.task), calibration.probabilities(predictions.values.view()))
        };
        predictions.probabilities = self.calibration.as_ref().filter(|_| beside.probabilities).map(of);
    }

    /// Type of a kept column; `is_typed`: the file declares types.
    pub(super) fn kept_hint(&self, name: &String, beside: &PredictOptions, is_typed: bool) -> Hint {
        let is_target = self.observed.as_ref().is_some_and(|observed| observed.targets.contains(name));
        let is_known = self.sources.contains(name) || is_target && self.task == Task::Regression;
        match self.hints(std::slice::from_ref(name)).get(name) {
            _ if !beside.typed => Hint::Written,
            _ if is_typed => Hint::Auto,
            Some(hint @ (Hint::Number | Hint::Date)) if is_known => *hint,
            _ => Hint::Written,
        }
    }

    /// Types of a file's columns, as in the training rows.
    fn hints(&self, wanted: &[String]) -> HashMap<String, Hint> {
        let Some(reading) = &self.reading else { return HashMap::new() };
        let known = |name: &String| match reading.types.get(name) {
            Some(kind) => hint(*kind),
            None if self.series.as_ref() == Some(name) => Hint::Label,
            None if self.time.as_ref() == Some(name) => Hint::Auto,
            None => Hint::Number,
        };
        wanted.iter().map(|name| (name.clone(), known(name))).collect()
    }

    /// Notations of a file's columns, as in the training rows.
    pub(super) fn notations<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> Notations {
        let Some(known) = self.reading.as_ref().and_then(|reading| reading.notations.as_ref()) else {
            return Notations::new();
        };
        names.into_iter().map(|name| (name.clone(), known.get(name).copied().unwrap_or_default())).collect()
    }

    /// Rejects outputs that the model or the file cannot give.
    pub(super) fn check_beside(&self, beside: &PredictOptions, header: &[String]) -> Result<()> {
        let is_numbers = self.task == Task::Regression;
        if beside.probabilities && is_numbers {
            return Err(Error::setting("--proba", "the targets are numbers, and probabilities are of classes"));
        }
        if beside.probabilities && self.calibration.is_none() {
            let message = "the model has none, since no predictions of rows held out were at hand when it was trained; run \
                           the pipeline again with `evaluate: {nested: {folds: 5}}`";
            return Err(Error::setting("--proba", message));
        }
        if beside.intervals && self.intervals.is_none() {
            let message = match is_numbers {
                true => "the model has none; run the pipeline again with `evaluate: {intervals: 0.9}`",
                false => "intervals are of numbers, and the targets are classes; `--proba` gives their probabilities",
            };
            return Err(Error::setting("--interval", message));
        }
        let known = |option: &str, name: &String| match header.contains(name) {
            true => Ok(()),
            false => Err(Error::unknown(option, "column", name, header.iter().map(String::as_str))),
        };
        if beside.evaluate {
            for name in &self.observed()?.targets {
                known("--evaluate", name)?;
            }
        }
        let own = self.header(beside);
        for (index, name) in beside.keep.iter().enumerate() {
            known("--keep", name)?;
            if beside.keep[..index].contains(name) {
                return Err(Error::setting("--keep", format!("`{name}` is listed twice")));
            }
            if own.contains(name) {
                let message = format!("`{name}` is also the name of a column that is predicted; rename it in the data");
                return Err(Error::setting("--keep", message));
            }
        }
        Ok(())
    }

    /// Names of the prediction columns.
    pub(super) fn header(&self, beside: &PredictOptions) -> Vec<String> {
        let classes = if self.task == Task::Regression { Vec::new() } else { classes(&self.task) };
        let classes = Some(&classes[..]).filter(|classes| !classes.is_empty());
        header(&self.outputs, classes.is_some(), classes.filter(|_| beside.probabilities), beside.intervals)
    }
}

/// Warns of levels that no training row has.
pub(super) fn warn_of(unseen: &UnseenLevels) {
    if let Some(sentence) = unseen.sentence() {
        tracing::warn!("{sentence}");
    }
}

/// Names of the prediction columns.
fn header(outputs: &[String], has_labels: bool, classes: Option<&[String]>, has_intervals: bool) -> Vec<String> {
    let named = |word: &str| -> Vec<String> {
        match outputs {
            [_] => vec![word.to_owned()],
            several => several.iter().map(|name| format!("{word}_{name}")).collect(),
        }
    };
    let mut header = named("prediction");
    header.extend(has_labels.then(|| "label".to_owned()));
    header.extend(classes.unwrap_or_default().iter().map(|class| format!("proba_{class}")));
    if has_intervals {
        header.extend(named("lower").into_iter().zip(named("upper")).flat_map(|(lower, upper)| [lower, upper]));
    }
    header
}

impl Predictions {
    /// Reads the kept columns for these rows.
    fn keep(&mut self, source: &TableSource, names: &[String], hints: HashMap<String, Hint>) -> Result<()> {
        let wanted = ReadRequest { filter: ColumnFilter::only(names.iter().cloned()), hints, ..ReadRequest::default() };
        let mut table = source.read(&wanted)?.0.select_rows(&self.rows);
        self.kept = names.iter().filter_map(|name| Some((name.clone(), table.take(name)?))).collect();
        // A key column that is also kept is written once.
        self.keys.retain(|(name, _)| !names.contains(name));
        Ok(())
    }

    /// Data columns written before the predictions.
    pub(super) fn before(&self) -> impl Iterator<Item = &(String, Cells)> {
        self.keys.iter().chain(&self.kept)
    }

    /// Whether rows are identified by their number.
    pub(super) fn is_numbered(&self) -> bool {
        self.keys.is_empty() && self.kept.is_empty() && self.dropped
    }

    /// Names of all columns.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.before().map(|(name, _)| name.clone()).collect();
        names.extend(self.is_numbered().then(|| "row".to_owned()));
        let classes = self.probabilities.as_ref().map(|(classes, _)| &classes[..]);
        names.extend(header(&self.outputs, self.labels.is_some(), classes, self.intervals.is_some()));
        names
    }

    /// The figures as a short table for people, if predictions were compared with targets.
    pub fn table(&self) -> Option<String> {
        let TargetComparison { figures, loss, classes, coverage } = self.judged.as_ref()?;
        let mut text = figures.table(loss, classes);
        if let (Some(bounds), Some(coverage)) = (&self.intervals, coverage) {
            for ((name, share), width) in self.outputs.iter().zip(coverage).zip(bounds.median_widths()) {
                let which = if self.outputs.len() == 1 { String::new() } else { format!(" of {name}") };
                let level = bounds.level;
                let (share, width) = (short(*share), short(width));
                text +=
                    &format!("intervals{which} of level {level} hold {share} of the targets, median width {width}\n");
            }
        }
        Some(text)
    }
}

/// Class labels of a task, in the order of their probabilities.
pub(super) fn classes(task: &Task) -> Vec<String> {
    match task {
        Task::Regression => Vec::new(),
        Task::Binary { negative, positive } => {
            vec![negative.clone().unwrap_or_else(|| format!("not {positive}")), positive.clone()]
        }
        Task::Multiclass { labels } => labels.clone(),
    }
}
