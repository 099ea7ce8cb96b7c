//! Description of the data of a run.

use super::{ColumnRun, LeftOutRows, MadeColumns};
use serde::{Deserialize, Serialize};

/// Description of the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRecord {
    /// Number of training rows of positive weight, before preprocessing.
    pub rows: usize,
    /// Number of candidate columns.
    pub features: usize,
    /// Number of outputs: targets, or classes.
    pub outputs: usize,
    /// Names of the targets.
    pub targets: Vec<String>,
    /// Labels of the classes, in the order of outputs; for two classes, the negative one first.
    pub classes: Option<Vec<String>>,
    /// Hash of the training files: `blake3:` and hexadecimal digits. Older results call it `sha256`.
    #[serde(alias = "sha256")]
    pub digest: String,
    /// Row numbers, from 1, of the training file that were split off as test rows.
    pub test_rows: Option<Vec<usize>>,
    /// Rows left out, by reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutRows>,
    /// Types of the columns of the training file.
    #[serde(default)]
    pub columns: Vec<ColumnRun>,
    /// Candidates that preprocessing made under new names, grouped by their source columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<MadeColumns>,
}
