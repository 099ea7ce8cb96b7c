//! Trait of file formats: a header, and rows that are read in chunks.

use super::cell::ColumnRules;
use super::column_builder::ColumnBuilder;
use crate::ReadSpec;
use std::collections::HashSet;
use std::fmt::Debug;
use std::ops::ControlFlow;
use vaglio_core::Result;

/// Header of a file, and what its format says of the cells.
#[derive(Debug, Default)]
pub(super) struct FileHeader {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Columns that are read only on request, with the reason.
    pub aside: Vec<(String, &'static str)>,
    /// Settings with everything detected filled in; `None` for a format that declares column types.
    pub detected: Option<ReadSpec>,
    /// First rows of a text, by which columns are judged; `None` for other formats.
    pub first_rows: Option<Vec<Vec<String>>>,
    /// Names of the columns that the format declares text.
    pub texts: HashSet<String>,
    /// Columns of unsupported types, with the reason.
    pub unsupported: Vec<(String, String)>,
    /// Number of rows, if the format says it.
    pub rows: Option<usize>,
}

/// Receives the wanted columns of some rows; may end the reading.
pub(super) type Take<'t> = &'t mut dyn FnMut(Vec<ColumnBuilder>) -> Result<ControlFlow<()>>;

/// A file of a table: its header is known, its rows are read on demand.
pub(super) trait ChunkReader: Debug + Send + Sync {
    fn header(&self) -> &FileHeader;

    /// Adds columns of zeros with these names, if the format omits columns that are all 0.
    fn widen(&mut self, _names: &[&str]) {}

    /// Passes the wanted columns of all rows to `take`, in order: at most `rows` rows at a time, or, for `usize::MAX`,
    /// large parts that are read on all threads. Cost O(bytes).
    ///
    /// # Errors
    /// Fails for a damaged file, a ragged row, a file without rows, and a column of an unsupported type; returns the
    /// errors of `take`.
    fn read(&self, wanted: &[ColumnRules<'_>], rows: usize, take: Take<'_>) -> Result<()>;
}
