//! Fits pipelines on tables.

use crate::errors::{NO_FILE, raised};
use crate::foreign::release_returned;
use crate::functions::Functions;
use crate::model::FrameModel;
use crate::table::{FrameTable, numbers};
use crate::watch::{InterruptWait, watched_with};
use linfa::dataset::TargetDim;
use ndarray::{Array2, Ix1, Ix2};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use vaglio::{FitError, Rows, Selection, TargetValue, TargetedTable};
use vaglio_core::{Error, Result, Task};
use vaglio_pipeline::document::Document;
use vaglio_pipeline::pipeline::{Pipeline, ReadSpec, SavedModel, SavedReadOptions};

/// Targets and roles of a table's rows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct KnownRows<'py> {
    /// Rows × outputs.
    targets: Bound<'py, PyAny>,
    /// Names of the target columns.
    names: Vec<String>,
    /// Class labels, whose codes are the targets; absent for numbers.
    labels: Option<Vec<String>>,
    /// Rows × 1.
    weights: Option<Bound<'py, PyAny>>,
    groups: Option<Vec<u32>>,
    folds: Option<Vec<u32>>,
}

impl KnownRows<'_> {
    fn taken(self, table: &mut FrameTable) -> PyResult<TargetedTable> {
        let columns = |array: &Bound<'_, PyAny>, count: usize| -> PyResult<Vec<Vec<f64>>> {
            let places: Vec<usize> = (0..count).collect();
            Ok(numbers(array, &places)?.iter().map(|column| column.view().values().into_owned()).collect())
        };
        let targets = columns(&self.targets, self.names.len())?;
        let rows = targets.first().map_or(0, Vec::len);
        let (task, targets) = match self.labels {
            None => (Task::Regression, Array2::from_shape_fn((targets.len(), rows), |(o, row)| targets[o][row])),
            Some(labels) => {
                let outputs = if labels.len() == 2 { 1 } else { labels.len() };
                let first = usize::from(outputs == 1);
                let code = |(o, row): (usize, usize)| if targets[0][row] == (o + first) as f64 { 1.0 } else { -1.0 };
                let coded = Array2::from_shape_fn((outputs, rows), code);
                let task = match &labels[..] {
                    [negative, positive] => {
                        Task::Binary { negative: Some(negative.clone()), positive: positive.clone() }
                    }
                    _ => Task::Multiclass { labels },
                };
                (task, coded)
            }
        };
        let weights = self.weights.map(|weights| Ok::<_, PyErr>(columns(&weights, 1)?.swap_remove(0))).transpose()?;
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
#[pyo3(signature = (settings, table, known, threads = 0, progress = None, functions = None))]
pub fn fit(
    py: Python<'_>,
    settings: &str,
    table: &mut FrameTable,
    known: KnownRows<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    functions: Option<&Bound<'_, Functions>>,
) -> PyResult<(FrameModel, String)> {
    let fail = |error: Error| raised(py, error);
    let mut document = Document::parse(settings, NO_FILE).map_err(fail)?;
    let pipeline = Pipeline::from_document(&mut document).map_err(fail)?;
    let types = std::mem::take(&mut table.types);
    let given = known.taken(table)?;
    let functions = functions.map(Bound::get);
    let fitted = watched_with(py, functions, threads, progress, InterruptWait::Left, move |seen, sign| {
        let pipeline = pipeline.observer(seen).stop_at(sign).threads(0);
        let fitted = match given.task {
            Task::Regression => fitted::<f64, Ix2>(&pipeline, given),
            Task::Binary { .. } | Task::Multiclass { .. } => fitted::<String, Ix1>(&pipeline, given),
        };
        fitted.map_err(|error| match error {
            FitError::Vaglio(error) => error,
            error => Error::failed("linfa", error),
        })
    });
    release_returned(py);
    let (mut model, found) = fitted?.map_err(fail)?;
    if let Some(model) = Arc::get_mut(&mut model) {
        model.reading =
            (!types.is_empty()).then(|| SavedReadOptions { read: ReadSpec::default(), types, notations: None });
    }
    Ok((FrameModel(model), found.to_string()))
}

/// Fits a pipeline on a table; returns the model and further results.
fn fitted<E: TargetValue, I: TargetDim>(
    pipeline: &Pipeline,
    given: TargetedTable,
) -> Result<(Arc<SavedModel>, Value), FitError> {
    let fitted = pipeline.fit_table::<E, I>(given)?;
    let found = fitted.selection().map(found).transpose()?.unwrap_or_default();
    Ok((fitted.into_saved(), found))
}

/// Results of a selection besides its model, as JSON.
fn found(selection: &Selection) -> Result<Value> {
    let Selection { path, chosen, warnings, engine, approximation, alpha, names, .. } = selection;
    let cell = |cell: &Option<vaglio_report::record::Cell>| {
        cell.map_or(Value::Null, |cell| json!([cell.loss, cell.standard_error]))
    };
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
    let steps = path.steps.iter().enumerate().map(|(place, step)| {
        json!({
            "step": place + 1, "action": step.action, "index": step.feature, "score": step.score.loss,
            "lambda": step.score.lambda, "size": step.size, "tied": step.tied
        })
    });
    Ok(json!({
        "stop_reason": value(&path.stop_reason)?,
        "empty_score": path.empty.loss,
        "candidates": names,
        "path": entries.collect::<Vec<_>>(),
        "steps": steps.collect::<Vec<_>>(),
        "chosen": {
            "by": value(&chosen.by)?, "rule": value(&chosen.rule)?, "size": chosen.size, "lambda": chosen.lambda,
            "cross_validated": cell(&chosen.cell), "empty": cell(&chosen.empty)
        },
        "certificate": value(&path.certificate)?,
        "coefficients": coefficients,
        "warnings": value(&warnings)?,
        "engine": engine,
        "approximation": approximation,
        "alpha": alpha,
        "seconds": {
            "search": selection.search_seconds, "choose": selection.choose_seconds, "fit": selection.fit_seconds
        }
    }))
}

fn value<T: Serialize>(of: &T) -> Result<Value> {
    Ok(serde_json::to_value(of)?)
}
