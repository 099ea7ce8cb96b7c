//! Fitted models: predictions and serialization.

use crate::errors::to_py_err;
use crate::foreign::{FRAME, batches, release_returned};
use crate::table::FrameTable;
use crate::watch::WatchedCall;
use ndarray::{Array2, ArrayView2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::Path;
use std::sync::Arc;
use vaglio::files::{FileModel, PredictOptions, Predictions};
use vaglio_core::{Error, Result, Task};
use vaglio_pipeline::pipeline::SavedModel;
use vaglio_tables::ReadSpec;
use vaglio_tables::read::TableSource;

/// A fitted model: the content of a `model.json`.
#[pyclass(name = "Model", module = "vaglio._vaglio", frozen)]
pub struct FrameModel(pub Arc<SavedModel>);

#[pymethods]
impl FrameModel {
    /// Reads a model from the text of a `model.json`, called `name` in errors.
    #[staticmethod]
    #[pyo3(signature = (text, name = "model.json"))]
    fn from_text(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let read = py.detach(|| SavedModel::from_text(text, Path::new(name)));
        Ok(FrameModel(Arc::new(read.map_err(to_py_err)?)))
    }

    /// The text of the `model.json`.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.to_text()).map_err(to_py_err)
    }

    /// Pickles and copies the model through its text.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<FrameModel>().getattr("from_text")?, (self.text(py)?,)))
    }

    /// The data columns that the model reads.
    fn sources(&self) -> Vec<String> {
        self.0.sources.clone()
    }

    /// The chosen features in order of entry, and their indices among the candidates.
    fn selected(&self) -> (Vec<String>, Vec<usize>) {
        match &self.0.selected {
            Some(selected) => (selected.names.clone(), selected.indices.clone()),
            None => (self.0.inputs.clone(), Vec::new()),
        }
    }

    /// Names of the outputs.
    fn outputs(&self) -> Vec<String> {
        self.0.outputs.clone()
    }

    /// Class labels in the order of their probabilities; `None` for numbers.
    fn labels(&self) -> Option<Vec<String>> {
        (self.0.task != Task::Regression).then(|| self.0.task.classes())
    }

    /// Predictions for a table: outputs × rows as doubles, and the rows they belong to.
    fn predict<'py>(&self, py: Python<'py>, table: &mut FrameTable) -> PyResult<(Bound<'py, PyBytes>, Vec<usize>)> {
        let (table, model) = (table.take()?, Arc::clone(&self.0));
        run_prediction(py, move || FileModel(&model).predict(table))
    }

    /// Like `predict`, for a frame with `__arrow_c_stream__`; columns are matched by name and read like the training
    /// columns.
    fn predict_frame<'py>(
        &self,
        py: Python<'py>,
        frame: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<usize>)> {
        let (schema, batches) = batches(frame)?;
        let model = Arc::clone(&self.0);
        run_prediction(py, move || {
            let source = TableSource::from_batches(FRAME, schema, batches, &ReadSpec::default())?;
            FileModel(&model).predict_source(&source, Path::new(FRAME), &PredictOptions::default())
        })
    }

    /// Class probabilities, classes × rows as doubles, for predictions from [`FrameModel::predict`].
    fn probabilities<'py>(&self, py: Python<'py>, values: &[u8]) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Some(calibration) = &self.0.calibration else { return Ok(None) };
        doubles(py, calibration.probabilities(self.values(values)?.view()).view()).map(Some)
    }

    /// Index of each row's predicted class among the labels.
    fn called(&self, values: &[u8]) -> PyResult<Vec<usize>> {
        let values = self.values(values)?;
        Ok(values.columns().into_iter().map(|outputs| self.0.class_order.class_of(outputs)).collect())
    }
}

impl FrameModel {
    /// Predictions, outputs × rows, from their bytes.
    fn values(&self, bytes: &[u8]) -> PyResult<Array2<f64>> {
        let values: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
        let outputs = self.0.outputs.len().max(1);
        Array2::from_shape_vec((outputs, values.len() / outputs), values)
            .map_err(|_| to_py_err(Error::Shape("these are no predictions of the model".into())))
    }
}

/// Runs a prediction. Returns outputs × rows as doubles, and the rows they belong to.
fn run_prediction<'py>(
    py: Python<'py>,
    predict: impl FnOnce() -> Result<Predictions> + Send + 'static,
) -> PyResult<(Bound<'py, PyBytes>, Vec<usize>)> {
    let predictions = WatchedCall::default().run(py, move |_, _| predict())?;
    release_returned(py);
    Ok((doubles(py, predictions.values.view())?, predictions.rows))
}

/// Row-major numbers as bytes for NumPy.
pub fn doubles<'py>(py: Python<'py>, values: ArrayView2<'_, f64>) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 8 * values.len(), |bytes| {
        bytes.as_chunks_mut::<8>().0.iter_mut().zip(values.iter()).for_each(|(to, value)| *to = value.to_ne_bytes());
        Ok(())
    })
}
