//! How other files with the columns of the training rows are read.

use crate::pipeline::{ColumnType, ReadSpec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vaglio_tables::Notation;

/// How files are read whose rows are to be predicted: as the training rows were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// How text files are read.
    pub read: ReadSpec,
    /// What columns hold that are not numbers.
    pub types: BTreeMap<String, ColumnType>,
    /// How columns are written that are not plain; absent where not all cells were seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notations: Option<BTreeMap<String, Notation>>,
}
