//! Models: what predicts, and its text.

use crate::errors::raised;
use crate::foreign::{FRAME, batches, release_returned};
use crate::table::FrameTable;
use crate::watch::{Ending, watched};
use ndarray::{Array2, ArrayView2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::Path;
use std::sync::Arc;
use vaglio::files::{Beside, ModelFiles};
use vaglio::pipeline::{ReadSpec, SavedModel};
use vaglio::read::Source;
use vaglio_core::{Error, Task};

/// A fitted model: the content of a `model.json`.
#[pyclass(name = "Model", module = "vaglio._vaglio", frozen)]
pub struct FrameModel(pub Arc<SavedModel>);

#[pymethods]
impl FrameModel {
    /// The model of the text of a `model.json`, which errors call `name`.
    #[staticmethod]
    #[pyo3(signature = (text, name = "model.json"))]
    fn from_text(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let read = py.detach(|| SavedModel::from_text(text, Path::new(name)));
        Ok(FrameModel(Arc::new(read.map_err(|error| raised(py, error))?)))
    }

    /// The text of its `model.json`.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.to_text()).map_err(|error| raised(py, error))
    }

    /// It is pickled, and copied, by its text.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<FrameModel>().getattr("from_text")?, (self.text(py)?,)))
    }

    /// The columns of the data that it reads.
    fn sources(&self) -> Vec<String> {
        self.0.sources.clone()
    }

    /// The columns that it was fitted on, in order; of a run from files those that it reads.
    fn columns(&self) -> Vec<String> {
        self.0.columns.clone().unwrap_or_else(|| self.0.sources.clone())
    }

    /// The chosen features in order of entry, their places among those that were selected from, and how many these were.
    fn selected(&self) -> (Vec<String>, Vec<usize>, usize) {
        match &self.0.selected {
            Some(selected) => (selected.names.clone(), selected.indices.clone(), selected.of),
            None => (self.0.inputs.clone(), Vec::new(), 0),
        }
    }

    /// The names of its outputs.
    fn outputs(&self) -> Vec<String> {
        self.0.outputs.clone()
    }

    /// The labels of its classes, in the order of their probabilities; `None` of numbers.
    fn labels(&self) -> Option<Vec<String>> {
        match &self.0.task {
            Task::Regression => None,
            Task::Binary { negative, positive } => {
                Some(vec![negative.clone().unwrap_or_else(|| format!("not {positive}")), positive.clone()])
            }
            Task::Multiclass { labels } => Some(labels.clone()),
        }
    }

    /// Predictions of the rows of a table: outputs × rows as doubles, and which rows they are of.
    fn predict<'py>(&self, py: Python<'py>, table: &mut FrameTable) -> PyResult<(Bound<'py, PyBytes>, Vec<usize>)> {
        let (table, model) = (table.take()?, Arc::clone(&self.0));
        let predictions =
            watched(py, 0, None, Ending::Left, move |_, _| model.predict(table))?.map_err(|error| raised(py, error))?;
        release_returned(py);
        Ok((doubles(py, predictions.values.view())?, predictions.rows))
    }

    /// The same of the rows of a frame with `__arrow_c_stream__`, columns matched by name and read as those of the training rows.
    fn predict_frame<'py>(
        &self,
        py: Python<'py>,
        frame: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<usize>)> {
        let (schema, batches) = batches(frame)?;
        let model = Arc::clone(&self.0);
        let predictions = watched(py, 0, None, Ending::Left, move |_, _| {
            let source = Source::of_batches(FRAME, schema, batches, &ReadSpec::default())?;
            model.predict_source(&source, Path::new(FRAME), &Beside::default())
        });
        let predictions = predictions?.map_err(|error| raised(py, error))?;
        Ok((doubles(py, predictions.values.view())?, predictions.rows))
    }

    /// The probabilities of classes, classes × rows as doubles, of predictions as [`FrameModel::predict`] gives them.
    fn probabilities<'py>(&self, py: Python<'py>, values: &[u8]) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Some(calibration) = &self.0.calibration else { return Ok(None) };
        doubles(py, calibration.probabilities(self.values(py, values)?.view()).view()).map(Some)
    }

    /// The places of the classes, among its labels, that rows are called of these predictions.
    fn called(&self, py: Python<'_>, values: &[u8]) -> PyResult<Vec<usize>> {
        let values = self.values(py, values)?;
        Ok(values.columns().into_iter().map(|of_row| self.0.class_order.class_of(of_row)).collect())
    }
}

impl FrameModel {
    /// Predictions, outputs × rows, from their bytes.
    fn values(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<Array2<f64>> {
        let values: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
        let outputs = self.0.outputs.len().max(1);
        Array2::from_shape_vec((outputs, values.len() / outputs), values)
            .map_err(|_| raised(py, Error::Shape("these are no predictions of the model".into())))
    }
}

/// Numbers row by row, as the bytes that NumPy reads.
pub fn doubles<'py>(py: Python<'py>, values: ArrayView2<'_, f64>) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 8 * values.len(), |bytes| {
        bytes.as_chunks_mut::<8>().0.iter_mut().zip(values.iter()).for_each(|(to, value)| *to = value.to_ne_bytes());
        Ok(())
    })
}
