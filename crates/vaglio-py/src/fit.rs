//! Fits pipelines on tables.

use crate::errors::{NO_FILE, to_py_err};
use crate::foreign::release_returned;
use crate::functions::Functions;
use crate::model::FrameModel;
use crate::program::parse_pipeline;
use crate::table::{FrameTable, numbers};
use crate::watch::WatchedCall;
use linfa::dataset::TargetDim;
use ndarray::{Array2, Ix1, Ix2};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use vaglio::{FitError, Rows, Selection, TargetValue, TargetedTable};
use vaglio_core::{Error, Task};
use vaglio_pipeline::pipeline::{Pipeline, SavedModel, SavedReadOptions};
use vaglio_report::record::{Cell, path_records};
use vaglio_tables::ReadSpec;

/// Targets and roles of a table's rows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct KnownRows<'py> {
    /// Rows × outputs; classes coded like [`TargetedTable::targets`].
    targets: Bound<'py, PyAny>,
    /// Names of the target columns.
    names: Vec<String>,
    /// Class labels; absent for numbers.
    labels: Option<Vec<String>>,
    /// Rows × 1.
    weights: Option<Bound<'py, PyAny>>,
    groups: Option<Vec<u32>>,
    folds: Option<Vec<u32>>,
}

impl KnownRows<'_> {
    fn take_from(self, table: &mut FrameTable) -> PyResult<TargetedTable> {
        let columns = |array: &Bound<'_, PyAny>| -> PyResult<Vec<Vec<f64>>> {
            let (_, count): (usize, usize) = array.getattr("shape")?.extract()?;
            let places: Vec<usize> = (0..count).collect();
            Ok(numbers(array, &places)?.iter().map(|column| column.view().values().into_owned()).collect())
        };
        let targets = columns(&self.targets)?;
        let rows = targets.first().map_or(0, Vec::len);
        let targets = Array2::from_shape_fn((targets.len(), rows), |(output, row)| targets[output][row]);
        let task = match self.labels.as_deref() {
            None => Task::Regression,
            Some([negative, positive]) => Task::Binary { negative: Some(negative.clone()), positive: positive.clone() },
            Some(labels) => Task::Multiclass { labels: labels.to_vec() },
        };
        let weights = self.weights.as_ref().map(columns).transpose()?.map(|mut weights| weights.swap_remove(0));
        let mut known = Rows::new();
        if let Some(groups) = self.groups {
            known = known.groups(groups);
        }
        if let Some(folds) = self.folds {
            known = known.folds(folds);
        }
        Ok(TargetedTable { table: table.take()?, targets, task, names: self.names, weights, rows: known })
    }
}

/// Fits a pipeline with settings in YAML or JSON on a table; returns the model and further results as JSON.
#[pyfunction]
pub fn fit(
    py: Python<'_>,
    settings: &str,
    table: &mut FrameTable,
    known: KnownRows<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    functions: Option<&Bound<'_, Functions>>,
) -> PyResult<(FrameModel, String)> {
    let pipeline = parse_pipeline(settings, NO_FILE).map_err(to_py_err)?;
    let types = std::mem::take(&mut table.types);
    let given = known.take_from(table)?;
    let functions = functions.map(Bound::get);
    let call = WatchedCall { functions, threads, progress, writes_files: false };
    let fitted = call.run(py, move |seen, sign| {
        let pipeline = pipeline.observer(seen).stop_at(sign).threads(0);
        let fitted = match given.task {
            Task::Regression => fit_and_save::<f64, Ix2>(&pipeline, given),
            Task::Binary { .. } | Task::Multiclass { .. } => fit_and_save::<String, Ix1>(&pipeline, given),
        };
        fitted.map_err(|error| match error {
            FitError::Vaglio(error) => error,
            error => Error::failed("linfa", error),
        })
    });
    release_returned(py);
    let (mut model, found) = fitted?;
    if let Some(model) = Arc::get_mut(&mut model) {
        model.reading =
            (!types.is_empty()).then(|| SavedReadOptions { read: ReadSpec::default(), types, notations: None });
    }
    Ok((FrameModel(model), found.to_string()))
}

/// Fits a pipeline on a table; returns the model and further results.
fn fit_and_save<E: TargetValue, I: TargetDim>(
    pipeline: &Pipeline,
    given: TargetedTable,
) -> Result<(Arc<SavedModel>, Value), FitError> {
    let fitted = pipeline.fit_table::<E, I>(given)?;
    let found = fitted.selection().map(found_json).unwrap_or_default();
    Ok((fitted.into_saved(), found))
}

/// Results of a selection besides its model, as JSON.
fn found_json(selection: &Selection) -> Value {
    let Selection { path, chosen, warnings, names, .. } = selection;
    let cell = |cell: &Option<Cell>| cell.map_or(Value::Null, |cell| json!([cell.loss, cell.standard_error]));
    let coefficients = selection.coefficients().map(|own| {
        let rows: Vec<Vec<f64>> = own.weights.rows().into_iter().map(|row| row.to_vec()).collect();
        json!({"weights": rows, "intercept": own.intercept})
    });
    let entries = path.entries.iter().map(|entry| {
        json!({
            "size": entry.subset.len(), "subset": entry.subset, "score": entry.score.loss,
            "standard_error": entry.standard_error, "lambda": entry.score.lambda
        })
    });
    let (steps, _) = path_records(path, |feature| selection.name(feature));
    json!({
        "stop_reason": path.stop_reason,
        "empty_score": path.empty.loss,
        "candidates": names,
        "path": entries.collect::<Vec<_>>(),
        "steps": steps,
        "chosen": {
            "by": chosen.by, "rule": chosen.rule, "size": chosen.size, "lambda": chosen.lambda,
            "cross_validated": cell(&chosen.cell), "empty": cell(&chosen.empty)
        },
        "certificate": path.certificate,
        "coefficients": coefficients,
        "warnings": warnings,
        "seconds": {
            "search": selection.search_seconds, "choose": selection.choose_seconds, "fit": selection.fit_seconds
        }
    })
}
