//! Traits of file formats: a header, and rows that are read whole or in chunks.

use super::cell::CellSyntax;
use super::column_builder::ColumnBuilder;
use super::digest::HashSteps;
use super::inference::Hint;
use super::precision::Singles;
use crate::ReadSpec;
use crate::budget::Budget;
use std::fmt::Debug;
use vaglio_core::{Error, Result};

/// A file of a table: its header is known, its rows are read on demand.
pub(super) trait FileReader: Debug + Send + Sync {
    /// Names of the columns.
    fn names(&self) -> &[String];

    /// Columns that are read only on request, with the reason.
    fn aside(&self) -> &[(String, &'static str)] {
        &[]
    }

    /// Whether the format gives the column types.
    fn is_typed(&self) -> bool {
        true
    }

    /// Whether a column holds text by the format.
    fn is_text(&self, _name: &str) -> bool {
        false
    }

    /// Hint for a column, including its type by the format.
    fn hint(&self, name: &str, hint: Hint) -> Hint {
        match hint {
            Hint::Auto | Hint::Target | Hint::Label if self.is_text(name) => Hint::Stored,
            known => known,
        }
    }

    /// Rules for parsing text cells; `None` if the format has numbers only.
    fn rules(&self, spec: &ReadSpec) -> Option<CellSyntax>;

    /// Fills in the settings that were detected.
    fn detected(&self, spec: &ReadSpec) -> ReadSpec {
        spec.clone()
    }

    /// Whether each of these columns looks numeric.
    fn look_like_numbers(&self, names: &[&str], _rules: &CellSyntax) -> Vec<bool> {
        vec![true; names.len()]
    }

    /// Adds columns of zeros with these names, if the format omits columns that are all 0.
    fn widen(&mut self, _names: &[&str]) {}

    /// Stores numbers in single precision while they are read.
    fn store_in_single(&mut self, _columns: &Singles) {}

    /// Hash of the file. Cost O(bytes).
    ///
    /// # Errors
    /// Fails if a file on disk cannot be read or was modified since it was opened.
    fn digest(&self) -> Result<blake3::Hash> {
        Err(Error::Shape("the format keeps no bytes to hash".into()))
    }

    /// Hashes a file on disk from now on while it is read.
    fn hash_along(&self) {}

    /// Steps of hashing a file on disk.
    fn hash_steps(&self) -> Option<HashSteps> {
        None
    }

    /// Reads columns by name, as numbers or text if the format leaves it open. Cost O(bytes), on all threads.
    ///
    /// # Errors
    /// Fails for a damaged file, a ragged row, and a column of an unsupported type.
    fn read(
        &self,
        names: &[&str],
        as_numbers: &[bool],
        rules: &CellSyntax,
        budget: Budget,
    ) -> Result<Vec<ColumnBuilder>>;
}

/// Rows of a file, read in chunks.
pub(super) trait ChunkReader: Send {
    /// The file; only its header is used.
    fn file(&self) -> &dyn FileReader;

    /// First cells of a column, for inferring its type; `None` if the format gives the type.
    fn first_cells(&self, _name: &str) -> Option<Vec<&str>> {
        None
    }

    /// Whether a column's type can be inferred only from all its cells.
    fn needs_all_cells(&self, _name: &str, _hint: Hint) -> bool {
        false
    }

    /// Sets the wanted columns and the rows per chunk.
    ///
    /// # Errors
    /// Fails for a damaged file.
    fn start(&mut self, wanted: &[&str], rows: usize) -> Result<()>;

    /// Reads at most `rows` rows, starting at row `first` of the file. Returns no columns or no rows at the end.
    ///
    /// # Errors
    /// Fails like [`FileReader::read`].
    fn next(&mut self, first: usize, rows: usize) -> Result<Vec<ColumnBuilder>>;
}
