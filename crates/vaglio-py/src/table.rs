//! Builds tables from arrays and frames.

use crate::errors::to_py_err;
use crate::foreign::{self, FRAME, batches};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use vaglio_core::{Cells, Numbers, SparseNumbers, Table};
use vaglio_pipeline::pipeline::ColumnType;
use vaglio_tables::ReadSpec;
use vaglio_tables::read::{ReadRequest, TableSource};

/// A table, consumed by a fit or a prediction.
#[pyclass(name = "Table", module = "vaglio._vaglio")]
pub struct FrameTable {
    table: Option<Table>,
    /// Types of non-numeric columns.
    pub types: BTreeMap<String, ColumnType>,
}

#[pymethods]
impl FrameTable {
    /// Columns at `places` of a two-dimensional numeric buffer, rows × columns. Doubles in Fortran order stay in place;
    /// others are copied once. NaN means missing; the caller ensures that no cell is infinite. Whole numbers up to 255
    /// take one byte.
    #[staticmethod]
    #[pyo3(signature = (array, names, places = None))]
    fn from_array(array: &Bound<'_, PyAny>, names: Vec<String>, places: Option<Vec<usize>>) -> PyResult<Self> {
        let places = places.unwrap_or_else(|| (0..names.len()).collect());
        if places.len() != names.len() {
            return Err(PyValueError::new_err(format!("{} names for {} columns", names.len(), places.len())));
        }
        FrameTable::new(names, numbers(array, &places)?)
    }

    /// Columns at `places` of a CSC matrix: its entries, their rows, and the start of each column. Rows increase within
    /// a column. Columns with few entries stay sparse.
    #[staticmethod]
    fn from_csc(
        data: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        starts: Vec<usize>,
        rows: usize,
        names: Vec<String>,
        places: Vec<usize>,
    ) -> PyResult<Self> {
        let py = data.py();
        let columns = match (PyBuffer::<f64>::get(data), PyBuffer::<i32>::get(indices), PyBuffer::<i64>::get(indices)) {
            (Ok(data), Ok(own), _) => sparse_columns(entries(py, &data)?, entries(py, &own)?, &starts, rows, &places)?,
            (Ok(data), _, Ok(own)) => sparse_columns(entries(py, &data)?, entries(py, &own)?, &starts, rows, &places)?,
            _ => return Err(PyTypeError::new_err("expected entries of float64, with rows of int32 or int64")),
        };
        FrameTable::new(names, columns)
    }

    /// Columns of a frame with `__arrow_c_stream__`, read like its Arrow file.
    #[staticmethod]
    fn from_frame(frame: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = frame.py();
        let (schema, batches) = batches(frame)?;
        let read =
            || TableSource::from_batches(FRAME, schema, batches, &ReadSpec::default())?.read(&ReadRequest::default());
        let (table, profile) = py.detach(read).map_err(to_py_err)?;
        let types = profile
            .columns
            .iter()
            .filter_map(|column| Some((column.name.clone(), ColumnType::from_profile(column)?)))
            .collect();
        Ok(FrameTable { table: Some(table), types })
    }
}

impl FrameTable {
    /// A table of numeric columns.
    fn new(names: Vec<String>, columns: Vec<Numbers>) -> PyResult<Self> {
        let columns = names.into_iter().zip(columns).map(|(name, column)| (name, Cells::Numbers(column))).collect();
        Ok(FrameTable { table: Some(Table::new(columns).map_err(to_py_err)?), types: BTreeMap::new() })
    }

    /// Takes the table out.
    pub fn take(&mut self) -> PyResult<Table> {
        self.table.take().ok_or_else(|| PyValueError::new_err("the table was used already"))
    }
}

fn wrong(what: &str) -> PyErr {
    PyValueError::new_err(format!("the sparse matrix {what}"))
}

fn entries<'b, T: Element>(py: Python<'b>, buffer: &'b PyBuffer<T>) -> PyResult<&'b [T]> {
    let entries = foreign::cells(py, buffer).filter(|_| buffer.dimensions() == 1);
    entries.ok_or_else(|| wrong("has gaps between its entries"))
}

/// Selected columns of a CSC matrix.
fn sparse_columns<I: Element + Copy + TryInto<u32>>(
    data: &[f64],
    indices: &[I],
    starts: &[usize],
    rows: usize,
    places: &[usize],
) -> PyResult<Vec<Numbers>> {
    let column = |&place: &usize| {
        let &[from, to] = starts
            .get(place..place + 2)
            .and_then(|ends| ends.first_chunk())
            .ok_or_else(|| wrong("has fewer columns"))?;
        let (Some(values), Some(own)) = (data.get(from..to), indices.get(from..to)) else {
            return Err(wrong("has fewer entries than its columns say"));
        };
        let own: Vec<u32> = own.iter().filter_map(|&row| row.try_into().ok()).collect();
        let is_sorted = own.is_sorted_by(|a, b| a < b);
        if own.len() < values.len() || !is_sorted || own.last().is_some_and(|last| *last as usize >= rows) {
            return Err(wrong("has rows that do not increase, or that are not there"));
        }
        let sparse = SparseNumbers::new(rows, own, values.to_vec());
        // Sparse columns cannot hold missing cells.
        let is_missing = values.iter().any(|value| value.is_nan());
        Ok(if is_missing { sparse.view().to_vec().into() } else { sparse.into() })
    };
    places.iter().map(column).collect()
}

/// Selected columns of a buffer with a known element type.
pub fn numbers(array: &Bound<'_, PyAny>, places: &[usize]) -> PyResult<Vec<Numbers>> {
    if let Ok(buffer) = PyBuffer::<f64>::get(array) {
        foreign::release_returned(array.py());
        return match foreign::columns_in_place(buffer, places) {
            Ok(columns) => Ok(columns),
            Err(buffer) => from_buffer(array.py(), &buffer, places, |value| value),
        };
    }
    match (PyBuffer::<u8>::get(array), PyBuffer::<f32>::get(array)) {
        (Ok(buffer), _) => from_buffer(array.py(), &buffer, places, f64::from),
        (_, Ok(buffer)) => from_buffer(array.py(), &buffer, places, f64::from),
        _ => Err(PyTypeError::new_err("expected an array of float64, float32 or uint8 in native byte order")),
    }
}

/// Number of columns copied from row-major cells at once, so that each cache line is read once.
const TOGETHER: usize = 16;

fn from_buffer<T: Element>(
    py: Python<'_>,
    buffer: &PyBuffer<T>,
    places: &[usize],
    number: impl Fn(T) -> f64,
) -> PyResult<Vec<Numbers>> {
    let &[rows, columns] = buffer.shape() else {
        return Err(PyValueError::new_err(format!("expected 2 dimensions, found {}", buffer.dimensions())));
    };
    if let Some(place) = places.iter().find(|place| **place >= columns) {
        return Err(PyValueError::new_err(format!("there is no column {place} among {columns}")));
    }
    let order = || PyValueError::new_err("expected an array in C or Fortran order");
    let cells = foreign::cells(py, buffer).ok_or_else(order)?;
    if buffer.is_fortran_contiguous() {
        let column =
            |place: usize| cells[place * rows..][..rows].iter().map(|&cell| number(cell)).collect::<Vec<f64>>();
        return Ok(places.iter().map(|&place| column(place).into()).collect());
    }
    let mut all = Vec::with_capacity(places.len());
    for places in places.chunks(TOGETHER) {
        let mut some = vec![Vec::with_capacity(rows); places.len()];
        for row in cells.chunks_exact(columns.max(1)) {
            some.iter_mut().zip(places).for_each(|(column, &place)| column.push(number(row[place])));
        }
        all.extend(some.into_iter().map(Numbers::from));
    }
    Ok(all)
}
