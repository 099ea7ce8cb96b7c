//! Trait of file formats: a header, and rows that are read in chunks.

use super::cell::CellSyntax;
use super::column_builder::ColumnBuilder;
use super::inference::Hint;
use crate::{Delimiter, ReadSpec};
use std::collections::HashSet;
use std::fmt::Debug;
use std::ops::ControlFlow;
use vaglio_core::Result;

/// Header of a file.
#[derive(Debug)]
pub(super) struct FileHeader {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Columns that are read only on request, with the reason.
    pub aside: Vec<(String, &'static str)>,
    pub cells: CellFormat,
}

/// Format of a file's cells, as far as it was detected.
#[derive(Debug)]
pub(super) enum CellFormat {
    /// Text with this delimiter and decimal commas or points, and its first rows, by which columns are judged.
    Text { delimiter: Delimiter, comma: bool, first_rows: Vec<Vec<String>> },
    /// Cells of known types, with the names of the text columns, the columns of unsupported types, and the number of rows.
    Typed { texts: HashSet<String>, unsupported: Vec<(String, String)>, rows: usize },
    /// Sparse numbers, with the index of svmlight's first column; there a missing column is all zeros.
    Sparse(Option<u32>),
}

impl FileHeader {
    /// Whether the format gives the column types.
    pub fn is_typed(&self) -> bool {
        self.first_rows().is_none()
    }

    /// First rows of a text; `None` if the format gives the column types.
    pub fn first_rows(&self) -> Option<&[Vec<String>]> {
        if let CellFormat::Text { first_rows, .. } = &self.cells { Some(first_rows) } else { None }
    }

    /// Number of rows, if the format says it.
    pub fn rows(&self) -> Option<usize> {
        if let CellFormat::Typed { rows, .. } = self.cells { Some(rows) } else { None }
    }

    /// Hint for a column, including its type by the format.
    pub fn hint(&self, name: &str, hint: Hint) -> Hint {
        match (&self.cells, hint) {
            (CellFormat::Typed { texts, .. }, Hint::Auto | Hint::Target | Hint::Label) if texts.contains(name) => {
                Hint::Stored
            }
            _ => hint,
        }
    }

    /// Rules for parsing text cells; `None` if the format has numbers only.
    pub fn rules(&self, spec: &ReadSpec) -> Option<CellSyntax> {
        match self.cells {
            CellFormat::Text { comma, .. } => Some(CellSyntax::new(spec).with_comma(comma)),
            CellFormat::Typed { .. } => Some(CellSyntax::for_typed_file(spec)),
            CellFormat::Sparse(_) => None,
        }
    }
}

/// A column to read.
#[derive(Clone, Copy)]
pub(super) struct WantedColumn<'n> {
    pub name: &'n str,
    /// Whether text is read as numbers while its cells are numbers.
    pub as_numbers: bool,
    /// Whether numbers are stored in single precision.
    pub is_single: bool,
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
    fn read(&self, wanted: &[WantedColumn<'_>], rules: &CellSyntax, rows: usize, take: Take<'_>) -> Result<()>;
}
