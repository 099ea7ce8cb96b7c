//! Tables from files: text, Parquet and Arrow, one file or several.
//!
//! A [`TableSource`] opens files, each by the `ChunkReader` of its format. A `ChunkReader` reads wanted columns, each by
//! its `ColumnRules`, into `ColumnBuilder`s: as numbers while all cells are numbers, else as text. `infer` decides a
//! column's type from all of its cells and from a [`Hint`]. A column of mostly numbers has bad cells and is never text.
//! Types that a run inferred are saved with the model: other files are read alike, also in batches.
//!
//! To add a format: a `FileKind`, opened in `table_file`, and a `ChunkReader` with its `FileHeader`. To change how a cell
//! of text is read: `ColumnRules` parse it, `ColumnBuilder::push` stores it. To change how a type is decided: `infer`.
//!
//! A text file stays in memory while it is read, since text columns that begin like numbers are parsed again; of a Parquet
//! file only the decoded pages are. Files are hashed in the background after they were read. The default of `decimal` is
//! `auto`, which chooses a comma only if a column is numeric in no other way.

#![cfg_attr(not(feature = "parquet"), allow(dead_code))]

mod batches;
#[cfg_attr(not(feature = "parquet"), path = "read/binary_stub.rs")]
mod binary_formats;
mod bytes;
mod cell;
mod column_builder;
mod csv_file;
mod dialect;
mod digest;
mod fault;
mod head;
mod inference;
mod loaded_file;
mod paths;
mod reader;
mod records;
mod source;
mod sparse_files;
mod table_file;
mod triplets;

pub use batches::TakeRows;
pub use cell::date_span;
pub use digest::Digest;
pub use fault::InvalidCell;
pub use inference::{BEYOND_DOUBLES, DAY_FIRST, Hint, LEADING_ZEROS, MONTH_FIRST, TRUTH, sort_levels};
pub use paths::expand_path;
pub use source::{IN_COMPANION, Notations, ReadColumn, ReadRequest, TableSource};

use crate::ReadSpec;
use crate::disk::{read_error, truncate_message};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use vaglio_core::{Cause, Error, Result, Table};

/// Reads the wanted columns of a table, in file order; wanted names that the file lacks are ignored.
///
/// Memory: the file, and the stored table.
///
/// # Errors
/// [`Error::Unreadable`] for a file that is missing, damaged, ragged or of an unknown format, and for a text cell in a
/// column of mostly numbers; [`Error::NonFinite`] for an infinity.
pub fn read_table(path: &Path, wanted: &ReadRequest) -> Result<Table> {
    Ok(TableSource::open(&[path.to_owned()], &ReadSpec::default())?.read(wanted)?.0)
}

fn unreadable(path: &Path, message: impl Into<Cause>) -> Error {
    Error::unreadable(path, message)
}

/// Index of each name, to look up thousands of columns.
fn places(names: &[String]) -> HashMap<&str, usize> {
    names.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect()
}

/// Remedies for a file that is too large, and for columns that are.
const SMALLER: &str = "read a smaller file, or raise the limit";
const FEWER: &str = "leave columns out by data.exclude, or raise the limit";

/// Maximum length of a column name, in bytes.
const LONGEST_NAME: usize = 1 << 16;

/// Checks that column names are present and unique.
fn check_names(path: &Path, names: Vec<String>) -> Result<Vec<String>> {
    let mut seen = HashSet::new();
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(unreadable(path, format!("column {} has no name in the header", index + 1)));
        }
        if name.len() > LONGEST_NAME {
            let length = name.len();
            return Err(unreadable(
                path,
                format!("the name of column {} has {length} bytes, and at most {LONGEST_NAME} are read", index + 1),
            ));
        }
        if !seen.insert(name) {
            let no_header =
                if name.parse::<f64>().is_ok() { "; if the file has no header, add a line of names" } else { "" };
            return Err(unreadable(path, format!("the column name `{name}` stands twice{no_header}")));
        }
    }
    Ok(names)
}
