//! The model file: data only, versioned, checksummed.

use super::calibration::Calibration;
use super::intervals::SavedIntervals;
use super::predicting::{Chain, Predicted};
use super::predictions::Predictions;
use super::reading::Reading;
use super::series::Order;
use crate::budget::Budget;
use crate::linfa_api::largest;
use crate::read::{bounded, shortened};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::path::Path;
use vaglio_core::{AnyLoss, Cells, Error, FittedMap, Model, Result, Squared, Table, TargetScale, Task, ZeroOne};

/// The version of the format that this program writes and reads.
const SCHEMA: &str = "vaglio.model/1";
/// A larger file is not a model of ours.
const LARGEST: u64 = 1 << 30;

/// Everything that predicting needs: preprocessing, the model, and the names of the columns.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedModel {
    /// What is predicted.
    pub task: Task,
    /// Names of the outputs: targets, or labels of several classes.
    pub outputs: Vec<String>,
    /// How each target was scaled, if it was.
    pub target_scales: Option<Vec<TargetScale>>,
    /// Columns of a data file that are read.
    pub sources: Vec<String>,
    /// The fitted maps, in order.
    pub maps: Vec<Box<dyn FittedMap>>,
    /// Candidate columns that the model takes, in its order.
    pub inputs: Vec<String>,
    /// The trained model.
    pub model: Model,
    /// The column that says which time series a row belongs to, if the training rows had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The column by which the rows of a series are put in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// How files are read whose rows are to be predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// What predictions are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
    /// How predictions become probabilities of classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// Prediction intervals, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<SavedIntervals>,
}

/// What predictions are compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observed {
    /// The columns of the targets.
    pub targets: Vec<String>,
    /// The column of row weights, if the training rows had one.
    pub weights: Option<String>,
    /// The loss by which the selection was made.
    pub loss: AnyLoss,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    schema: String,
    sha256: String,
    #[serde(borrow)]
    model: &'a RawValue,
}

impl SavedModel {
    /// Works out which columns of a data file the model's inputs are made from.
    pub fn new(
        task: Task,
        outputs: Vec<String>,
        target_scales: Option<Vec<TargetScale>>,
        maps: Vec<Box<dyn FittedMap>>,
        inputs: Vec<String>,
        model: Model,
    ) -> Self {
        let mut saved = SavedModel {
            task,
            outputs,
            target_scales,
            sources: Vec::new(),
            maps,
            inputs,
            model,
            series: None,
            time: None,
            reading: None,
            observed: None,
            calibration: None,
            intervals: None,
        };
        saved.sources = saved.chain().sources();
        saved
    }

    /// The same for rows that follow each other as these columns of a data file say.
    #[must_use]
    pub fn ordered_by(self, series: Option<String>, time: Option<String>) -> Self {
        SavedModel { series, time, ..self }
    }

    /// The text of the model file.
    ///
    /// # Errors
    /// [`Error::Numerical`] when a number cannot be written.
    pub fn to_text(&self) -> Result<String> {
        let model =
            serde_json::to_string(self).map_err(|e| Error::Numerical(format!("the model cannot be written: {e}")))?;
        Ok(wrap(SCHEMA, &digest(&model), &model))
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// [`Error::Unreadable`] when there is no such file; [`Error::ModelRefused`] when it was changed, is cut short, or
    /// is of another version.
    pub fn read(path: &Path) -> Result<Self> {
        let refused = |message: String| Error::ModelRefused { path: path.to_owned(), message };
        let Some(bytes) = bounded(path, LARGEST)? else {
            return Err(refused("it is larger than any model".into()));
        };
        // Its parts are read twice, and are larger than their text.
        let what = format_args!("{}, with what it describes,", path.display());
        Budget::of_machine().need(8.0 * bytes.len() as f64, what, "take a machine with more memory")?;
        let text = String::from_utf8(bytes).map_err(|_| refused("it is not text".into()))?;
        let file: File<'_> = serde_json::from_str(&text)
            .map_err(|e| refused(format!("it is damaged or no model file: {}", shortened(&e.to_string()))))?;
        if file.schema != SCHEMA {
            return Err(refused(format!(
                "it is of version `{}`; this program reads `{SCHEMA}`",
                shortened(&file.schema)
            )));
        }
        if digest(file.model.get()) != file.sha256 || wrap(&file.schema, &file.sha256, file.model.get()) != text {
            return Err(refused("its checksum does not fit: the file was changed after it was written".into()));
        }
        let model: SavedModel = serde_json::from_str(file.model.get())
            .map_err(|e| refused(format!("it holds what this program does not know: {}", shortened(&e.to_string()))))?;
        model.check().map_err(|message| refused(format!("its parts do not fit together: {message}")))?;
        Ok(model)
    }

    /// Refuses parts that were not made together.
    fn check(&self) -> std::result::Result<(), String> {
        let outputs = self.outputs.len();
        let fits = match &self.task {
            Task::Regression => outputs > 0,
            Task::Binary { .. } => outputs == 1,
            Task::Multiclass { labels } => outputs == labels.len() && outputs > 0,
        };
        if !fits {
            return Err(format!("{outputs} outputs for a target that is {}", self.task.name()));
        }
        let chain = self.chain();
        chain.check()?;
        if self.sources != chain.sources() {
            return Err("the columns that are read are not those that the inputs are made from".into());
        }
        if let Some(calibration) = &self.calibration {
            calibration.check(&self.task, outputs)?;
        }
        match &self.intervals {
            Some(_) if self.task != Task::Regression => Err("intervals of classes".into()),
            Some(intervals) => intervals.check(outputs),
            None => Ok(()),
        }
    }

    fn chain(&self) -> Chain<'_> {
        let SavedModel { maps, inputs, model, target_scales, outputs, .. } = self;
        Chain { maps, inputs, model, scales: target_scales.as_deref(), outputs: outputs.len() }
    }

    /// What predictions are compared with. Of a file that does not say, the outputs are the targets.
    ///
    /// # Errors
    /// [`Error::Setting`] where outputs are classes.
    pub(super) fn observed(&self) -> Result<Observed> {
        if let Some(observed) = &self.observed {
            return Ok(observed.clone());
        }
        let loss = match self.task {
            Task::Regression => AnyLoss::from(Squared),
            Task::Binary { .. } => ZeroOne.into(),
            Task::Multiclass { .. } => {
                let message =
                    "the model was saved by an earlier version and does not name its target; run the pipeline again";
                return Err(Error::setting("--evaluate", message));
            }
        };
        Ok(Observed { targets: self.outputs.clone(), weights: None, loss })
    }

    /// Predicts the rows of a table that has at least the columns `sources`, `series` and `time`; others are ignored.
    ///
    /// The predictions are in the order of the table's rows, whatever the order of time.
    ///
    /// # Errors
    /// A missing column; a cell that the maps were not prepared for; times that are text, or twice in a series.
    pub fn predict(&self, table: Table) -> Result<Predictions> {
        Ok(self.predicted(table, false)?.0)
    }

    /// Predictions of a table, with intervals if they are wanted and there are any.
    pub(super) fn predicted(&self, mut table: Table, with_intervals: bool) -> Result<(Predictions, Predicted)> {
        let names = [&self.series, &self.time];
        for name in names.into_iter().flatten() {
            if table.get(name).is_none() {
                return Err(Error::unknown("data", "column", name, table.names()));
            }
        }
        let all = table.rows();
        let mut keys: Vec<(String, Cells)> =
            names.into_iter().flatten().filter_map(|name| Some((name.clone(), table.get(name)?.clone()))).collect();
        table = Order { series: self.series.as_deref(), time: self.time.as_deref() }.arrange(table)?;
        for name in names.into_iter().flatten() {
            table.take(name);
        }
        let intervals = self.intervals.as_ref().filter(|_| with_intervals);
        let intervals = intervals.map(|intervals| intervals.bounds(&table, self.outputs.len())).transpose()?;
        let predicted = self.chain().predict(table)?;
        if !keys.is_empty() {
            keys = Table::new(keys)?.select_rows(&predicted.rows).into_columns();
        }
        let label = |row: usize| {
            let of_row = predicted.values.column(row).to_vec();
            match &self.task {
                Task::Regression => String::new(),
                Task::Binary { positive, .. } if of_row.first().is_some_and(|p| *p > 0.0) => positive.clone(),
                Task::Binary { negative, positive } => negative.clone().unwrap_or_else(|| format!("not {positive}")),
                Task::Multiclass { labels } => labels.get(largest(&of_row)).cloned().unwrap_or_default(),
            }
        };
        let labels = (self.task != Task::Regression).then(|| (0..predicted.rows.len()).map(label).collect());
        let predictions = Predictions {
            outputs: self.outputs.clone(),
            values: predicted.values.clone(),
            labels,
            dropped: predicted.rows.len() < all,
            rows: predicted.rows.clone(),
            keys,
            kept: Vec::new(),
            probabilities: None,
            intervals,
            judged: None,
            raw: false,
        };
        Ok((predictions, predicted))
    }
}

fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}

fn wrap(schema: &str, sha256: &str, model: &str) -> String {
    format!("{{\"schema\":\"{schema}\",\"sha256\":\"{sha256}\",\"model\":{model}}}\n")
}
