//! SciPy's `.npz`: an archive of arrays written by `scipy.sparse.save_npz`.

mod npy;

use crate::budget::Budget;
use crate::read::loaded_file::read_bytes;
use crate::read::triplets::Triplets;
use crate::read::{SMALLER, unreadable};
use npy::Array;
use std::io::Cursor;
use std::path::Path;
use vaglio_core::{Cause, Error, Result};
use zip::ZipArchive;

/// Reads a matrix stored by rows (CSR), columns (CSC) or entries (COO); duplicate entries are added up. Cost O(entries
/// + columns); the memory limit is checked first.
///
/// # Errors
/// [`vaglio_core::Error::Unreadable`] with the array at fault: it is missing, truncated, of a wrong kind or length, or
/// names a place outside the matrix.
pub(in crate::read) fn read(path: &Path, bytes: &[u8], budget: Budget) -> Result<Triplets> {
    let failed = |error: zip::result::ZipError| unreadable(path, Cause::after("the archive cannot be read", error));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(failed)?;
    let mut array = |name: &'static str| array(path, &mut archive, name, budget);
    let format = array("format")?.text();
    let shape = array("shape")?;
    let (2, Some(rows), Some(columns)) = (shape.len(), shape.index(0), shape.index(1)) else {
        return Err(at_fault(path, "shape", "it is not two whole numbers, the rows and the columns"));
    };
    let data = array("data")?;
    if data.shape.len() != 1 {
        return Err(at_fault(path, "data", "it is not one number for each entry"));
    }
    let mut entries = Triplets::new(path, [rows, columns], data.len(), budget)?;
    entries.adds = true;
    let is_by_row = match format.as_str() {
        "csr" => true,
        "csc" => false,
        "coo" => {
            let (row_numbers, column_numbers) = (array("row")?, array("col")?);
            check_length(path, &row_numbers, data.len())?;
            check_length(path, &column_numbers, data.len())?;
            for at in 0..data.len() {
                let (row, column) = (place(path, &row_numbers, at, rows)?, place(path, &column_numbers, at, columns)?);
                entries.push(row, column, data.number(at));
            }
            return Ok(entries);
        }
        other => {
            let message = format!(
                "the matrix is stored as `{other}`, and csr, csc and coo are read; write it by \
                                   `save_npz(file, matrix.tocsc())`"
            );
            return Err(unreadable(path, message));
        }
    };
    let (outer, inner) = if is_by_row { (rows, columns) } else { (columns, rows) };
    let (starts, indices) = (array("indptr")?, array("indices")?);
    check_length(path, &starts, outer + 1)?;
    check_length(path, &indices, data.len())?;
    let start = |at: usize| starts.index(at).filter(|start| *start <= data.len());
    if start(0) != Some(0) || start(outer) != Some(data.len()) {
        return Err(at_fault(path, "indptr", "it does not lead from the first entry to the last"));
    }
    for own in 0..outer {
        let (Some(from), Some(to)) = (start(own), start(own + 1)) else {
            return Err(at_fault(path, "indptr", format!("entry {} lies outside the matrix", own + 1)));
        };
        if from > to {
            return Err(at_fault(path, "indptr", format!("entry {} is less than the one before it", own + 2)));
        }
        for at in from..to {
            let other = place(path, &indices, at, inner)?;
            let (row, column) = if is_by_row { (own, other) } else { (other, own) };
            entries.push(row, column, data.number(at));
        }
    }
    Ok(entries)
}

/// An array, decompressed within the memory limit.
fn array(path: &Path, archive: &mut ZipArchive<Cursor<&[u8]>>, name: &'static str, budget: Budget) -> Result<Array> {
    let member = match archive.by_name(&format!("{name}.npy")) {
        Ok(member) => member,
        Err(zip::result::ZipError::FileNotFound) => {
            let message = format!("it has no array `{name}`; what is read are files of `scipy.sparse.save_npz`");
            return Err(unreadable(path, message));
        }
        Err(error) => return Err(at_fault(path, name, Cause::from_error(error))),
    };
    // The size in an archive may be wrong; reads on if there is more.
    let size = usize::try_from(member.size()).unwrap_or(usize::MAX);
    budget.need(size as f64, format_args!("{}, array `{name}`,", path.display()), SMALLER)?;
    let bytes = read_bytes(path, member, size, budget, |error| at_fault(path, name, error))?;
    Array::new(name, bytes).map_err(|wrong| at_fault(path, name, wrong))
}

fn at_fault(path: &Path, name: &str, wrong: impl Into<Cause>) -> Error {
    unreadable(path, wrong.into().reword(|wrong| format!("array `{name}`: {wrong}")))
}

fn check_length(path: &Path, array: &Array, expected: usize) -> Result<()> {
    match (array.shape.len(), array.len()) {
        (1, length) if length == expected => Ok(()),
        (_, length) => Err(at_fault(path, array.name, format!("it has {length} numbers, and {expected} are expected"))),
    }
}

/// A row or column index below `most`.
fn place(path: &Path, array: &Array, at: usize, most: usize) -> Result<usize> {
    let found = array.index(at).filter(|index| *index < most);
    found.ok_or_else(|| {
        let value = array.number(at);
        let message = format!("entry {} is {value}, which is no whole number from 0 to {}", at + 1, most - 1);
        at_fault(path, array.name, message)
    })
}
