//! Description of the data of a run.

use super::{ColumnRun, LeftOutRows, MadeColumns};
use serde::{Deserialize, Serialize};

/// Description of the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecord {
    /// Training rows as read.
    pub rows: usize,
    /// Candidate columns.
    pub features: usize,
    /// Outputs: targets, or classes.
    pub outputs: usize,
    /// Names of the targets.
    pub targets: Vec<String>,
    /// The labels of classes, in the order of outputs; of two classes the negative one first.
    pub classes: Option<Vec<String>>,
    /// The hash of the training files: `blake3:` and hexadecimal digits. Older results call it `sha256`.
    #[serde(alias = "sha256")]
    pub digest: String,
    /// Rows of the training file that were set aside as test rows, from 1.
    pub test_rows: Option<Vec<usize>>,
    /// Rows that take no part, by why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutRows>,
    /// Types of the columns of the training file.
    #[serde(default)]
    pub columns: Vec<ColumnRun>,
    /// Candidates that preprocessing made of columns under other names, those of the same columns together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<MadeColumns>,
}
