//! Memory owned by others. Frames come through Arrow's PyCapsule stream interface, which polars, pandas, pyarrow and
//! duckdb have, without importing them; arrays through the buffer protocol. All unsafe code of the extension is here.

use crate::errors::to_py_err;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};
use vaglio_core::{Cause, Error, Numbers, lock};

/// Name of a frame in messages.
pub const FRAME: &str = "the frame";

/// Batches of an object with `__arrow_c_stream__`, without copying.
pub fn batches(frame: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let made = frame.call_method0("__arrow_c_stream__")?;
    let capsule = made.cast::<PyCapsule>().map_err(|_| PyTypeError::new_err("`__arrow_c_stream__` gave no capsule"))?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of that name holds a stream of Arrow's C interface, by its specification. It is moved out and
    // left marked as released, so that the capsule does not release it again.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.cast::<FFI_ArrowArrayStream>().as_ptr()) };
    let failed = |error: ArrowError| to_py_err(Error::unreadable(FRAME, Cause::from_error(error)));
    let reader = reader.map_err(failed)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<_, _>>().map_err(failed)?;
    Ok((schema, batches))
}

/// Writes a frame to an Arrow file.
#[pyfunction]
pub fn write_arrow(py: Python<'_>, frame: &Bound<'_, PyAny>, path: PathBuf) -> PyResult<()> {
    let (schema, batches) = batches(frame)?;
    py.detach(|| write_batches(&path, schema, &batches)).map_err(to_py_err)
}

fn write_batches(path: &Path, schema: SchemaRef, batches: &[RecordBatch]) -> vaglio_core::Result<()> {
    let file = std::fs::File::create(path).map_err(|error| Error::unwritable(path, error))?;
    let write = |file| -> Result<(), ArrowError> {
        let mut writer = FileWriter::try_new_buffered(file, &schema)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()
    };
    write(file).map_err(|error| Error::unwritable(path, Cause::from_error(error)))
}

/// Cells of a buffer in C or Fortran order, as they lie in memory; `None` for others.
pub fn cells<'b, T: Element>(_: Python<'b>, buffer: &'b PyBuffer<T>) -> Option<&'b [T]> {
    // SAFETY: the buffer outlives the cells, so that its memory stays, and so does the interpreter's lock, without
    // which no Python code writes to it.
    unsafe {
        match buffer.as_fortran_slice_ptr() {
            Some(cells) => Some(cells.as_ref()),
            None => buffer.as_slice_ptr().map(|cells| cells.as_ref()),
        }
    }
}

/// Buffers that are no longer read.
static RETURNED: Mutex<Vec<PyBuffer<f64>>> = Mutex::new(Vec::new());

/// Releases buffers that are no longer read. Worker threads do not, since the interpreter may be gone when they end.
pub fn release_returned(_: Python<'_>) {
    let returned = std::mem::take(&mut *lock(&RETURNED));
    drop(returned);
}

/// A buffer that columns still read.
struct HeldBuffer(Option<PyBuffer<f64>>);

impl Drop for HeldBuffer {
    fn drop(&mut self) {
        lock(&RETURNED).extend(self.0.take());
    }
}

/// Cells of a held buffer.
struct HeldCells {
    cells: NonNull<[f64]>,
    _buffer: Arc<HeldBuffer>,
}

// SAFETY: cells are only read, and a buffer is released by a thread with the interpreter's lock.
unsafe impl Send for HeldCells {}
// SAFETY: as above.
unsafe impl Sync for HeldCells {}

impl AsRef<[f64]> for HeldCells {
    fn as_ref(&self) -> &[f64] {
        // SAFETY: the buffer is held, so its memory stays. Users must not write to it meanwhile, as for any reader of
        // arrays without the interpreter's lock.
        unsafe { self.cells.as_ref() }
    }
}

/// Columns of a two-dimensional buffer of doubles in Fortran order, in place; returns the buffer if its order differs.
pub fn columns_in_place(buffer: PyBuffer<f64>, places: &[usize]) -> Result<Vec<Numbers>, PyBuffer<f64>> {
    let &[rows, columns] = buffer.shape() else { return Err(buffer) };
    if rows == 0 || buffer.as_fortran_slice_ptr().is_none() || places.iter().any(|place| *place >= columns) {
        return Err(buffer);
    }
    let first = buffer.buf_ptr().cast::<f64>();
    let buffer = Arc::new(HeldBuffer(Some(buffer)));
    let column = |&place: &usize| {
        // SAFETY: the buffer has `columns` times `rows` contiguous doubles, and the column exists.
        let cells = unsafe { std::slice::from_raw_parts(first.add(place * rows), rows) };
        Numbers::from_owner(HeldCells { cells: cells.into(), _buffer: Arc::clone(&buffer) })
    };
    Ok(places.iter().map(column).collect())
}
