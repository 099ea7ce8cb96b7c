//! The model file: data only, versioned, checksummed.

use super::series::Order;
use crate::linfa_api::largest;
use crate::read::{ColumnFilter, read_header, read_table, shortened, system};
use crate::resample::{numeric, unscale};
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::path::Path;
use vaglio_core::{Cells, Error, FittedMap, Model, Result, Table, TargetScale, Task};

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
}

/// Predictions for the rows of a file.
#[derive(Debug)]
pub struct Predictions {
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Outputs × rows, in the units of the target.
    pub values: Array2<f64>,
    /// The label of each row, for classes.
    pub labels: Option<Vec<String>>,
    /// The row of the data that each prediction is for, from 0 and increasing; rows that maps dropped have none.
    pub rows: Vec<usize>,
    /// The columns of series and time, for these rows.
    pub keys: Vec<(String, Cells)>,
    /// Whether some rows have no prediction.
    pub dropped: bool,
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
        let sources = sources(&maps, &inputs);
        SavedModel { task, outputs, target_scales, sources, maps, inputs, model, series: None, time: None }
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
        let unreadable = |e: std::io::Error| system(path, &e);
        let refused = |message: String| Error::ModelRefused { path: path.to_owned(), message };
        if std::fs::metadata(path).map_err(unreadable)?.len() > LARGEST {
            return Err(refused("it is larger than any model".into()));
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
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
        if let Some(scales) = &self.target_scales
            && (scales.len() != outputs || scales.iter().any(|s| s.scale == 0.0))
        {
            return Err(format!("{} scales of targets, one of them perhaps 0, for {outputs} outputs", scales.len()));
        }
        let takes = self.model.inputs().len();
        if self.inputs.len() != takes {
            return Err(format!("{} names for the {takes} columns that the model takes", self.inputs.len()));
        }
        let mut names: Vec<&String> = self.inputs.iter().collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("the column `{}` is listed twice", twice[0]));
        }
        if self.sources != sources(&self.maps, &self.inputs) {
            return Err("the columns that are read are not those that the inputs are made from".into());
        }
        // One row of zeros tells how many outputs the model has.
        let mut row = vaglio_core::Columns::new(1);
        self.inputs.iter().for_each(|_| row.push(vec![0.0]));
        match self.model.predict(&row, None) {
            Ok(values) if values.nrows() != outputs => Err(format!("{outputs} names for {} outputs", values.nrows())),
            _ => Ok(()),
        }
    }

    /// Predicts the rows of a table that has at least the columns `sources`, `series` and `time`; others are ignored.
    ///
    /// The predictions are in the order of the table's rows, whatever the order of time.
    ///
    /// # Errors
    /// A missing column; a cell that the maps were not prepared for; times that are text, or twice in a series.
    pub fn predict(&self, mut table: Table) -> Result<Predictions> {
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
        for map in &self.maps {
            table = map.transform(table)?;
        }
        let rows = table.rows();
        let mut kept = Vec::new();
        for name in &self.inputs {
            let names: Vec<String> = table.names().map(str::to_owned).collect();
            let cells = table.take(name);
            let missing = || Error::unknown("data", "column", name, names.iter().map(String::as_str));
            kept.push((name.clone(), cells.ok_or_else(missing)?));
        }
        let columns =
            if kept.is_empty() { vaglio_core::Columns::new(rows) } else { numeric(&mut Table::new(kept)?)?.0 };
        let mut values = self.model.predict(&columns, table.series())?;
        if values.nrows() != self.outputs.len() {
            return Err(Error::Shape(format!("{} outputs, and {} are named", values.nrows(), self.outputs.len())));
        }
        unscale(&mut values, self.target_scales.as_deref());
        if let Some(row) = (0..values.ncols()).find(|&r| values.column(r).iter().any(|v| !v.is_finite())) {
            return Err(Error::Numerical(format!("row {}: the prediction overflows", table.origin(row) + 1)));
        }
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by_key(|&row| table.origin(row));
        let origins: Vec<usize> = order.iter().map(|&row| table.origin(row)).collect();
        values = values.select(Axis(1), &order);
        if !keys.is_empty() {
            keys = Table::new(keys)?.select_rows(&origins).into_columns();
        }
        let label = |row: usize| {
            let of_row = values.column(row).to_vec();
            match &self.task {
                Task::Regression => String::new(),
                Task::Binary { positive, .. } if of_row.first().is_some_and(|p| *p > 0.0) => positive.clone(),
                Task::Binary { negative, positive } => negative.clone().unwrap_or_else(|| format!("not {positive}")),
                Task::Multiclass { labels } => labels.get(largest(&of_row)).cloned().unwrap_or_default(),
            }
        };
        let labels = (self.task != Task::Regression).then(|| (0..values.ncols()).map(label).collect());
        Ok(Predictions { outputs: self.outputs.clone(), values, labels, dropped: rows < all, rows: origins, keys })
    }

    /// Predicts the rows of a data file, columns matched by name.
    ///
    /// # Errors
    /// Those of reading the file and of [`SavedModel::predict`].
    pub fn predict_file(&self, path: &Path) -> Result<Predictions> {
        let header = read_header(path)?;
        let ordered = [&self.series, &self.time].into_iter().flatten();
        if let Some(missing) = self.sources.iter().chain(ordered.clone()).find(|name| !header.contains(name)) {
            return Err(Error::unknown("data", "column", missing, header.iter().map(String::as_str)));
        }
        // A model without columns still has as many predictions as the file has rows.
        let mut wanted: Vec<String> = self.sources.iter().chain(ordered).cloned().collect();
        if wanted.is_empty() {
            wanted.extend(header.into_iter().take(1));
        }
        self.predict(read_table(path, &ColumnFilter::only(wanted))?).map_err(|error| error.in_file(path))
    }
}

impl Predictions {
    /// The predictions as CSV: `prediction` (one per output, named where there are several) and `label` for classes.
    ///
    /// The columns of series and time stand before them; where there are none and rows were dropped, `row`, from 1.
    ///
    /// # Errors
    /// [`Error::Shape`] when a name cannot be written.
    pub fn to_csv(&self) -> Result<String> {
        let failed = |e: &dyn std::fmt::Display| Error::Shape(format!("predictions cannot be written: {e}"));
        let mut writer = csv::Writer::from_writer(Vec::new());
        let numbered = self.keys.is_empty() && self.dropped;
        let mut header: Vec<String> = self.keys.iter().map(|(name, _)| name.clone()).collect();
        header.extend(numbered.then(|| "row".to_owned()));
        match self.outputs.as_slice() {
            [_] => header.push("prediction".into()),
            several => header.extend(several.iter().map(|name| format!("prediction_{name}"))),
        }
        header.extend(self.labels.as_ref().map(|_| "label".to_owned()));
        writer.write_record(&header).map_err(|e| failed(&e))?;
        for (row, column) in self.values.columns().into_iter().enumerate() {
            let mut record: Vec<String> = self.keys.iter().map(|(_, cells)| cells.label(row)).collect();
            record.extend(self.rows.get(row).filter(|_| numbered).map(|row| (row + 1).to_string()));
            record.extend(column.iter().map(|v| serde_json::json!(v).to_string()));
            record.extend(self.labels.as_ref().map(|labels| labels[row].clone()));
            writer.write_record(&record).map_err(|e| failed(&e))?;
        }
        let bytes = writer.into_inner().map_err(|e| failed(&e))?;
        String::from_utf8(bytes).map_err(|e| failed(&e))
    }
}

/// The columns of a data file that the inputs of a model are made from.
fn sources(maps: &[Box<dyn FittedMap>], inputs: &[String]) -> Vec<String> {
    let mut sources = inputs.to_vec();
    for map in maps.iter().rev() {
        let mut before: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for name in sources.iter().flat_map(|name| map.sources(name)) {
            if seen.insert(name.clone()) {
                before.push(name);
            }
        }
        sources = before;
    }
    sources
}

fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}

fn wrap(schema: &str, sha256: &str, model: &str) -> String {
    format!("{{\"schema\":\"{schema}\",\"sha256\":\"{sha256}\",\"model\":{model}}}\n")
}
