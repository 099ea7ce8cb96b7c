//! Options for reading files with the columns of the training rows.

use crate::pipeline::ColumnType;
use std::collections::BTreeMap;
use vaglio_core::saved;
use vaglio_tables::{Notation, ReadSpec};

/// Options for reading files to predict, equal to those of the training rows.
#[saved]
#[derive(Clone, PartialEq, Eq)]
pub struct SavedReadOptions {
    /// Options for reading text files.
    pub read: ReadSpec,
    /// Types of columns that are not numbers.
    pub types: BTreeMap<String, ColumnType>,
    /// Notations of columns that are not plain; absent if not all cells were read.
    #[optional]
    pub notations: Option<BTreeMap<String, Notation>>,
}
