//! Types of the columns as read.

use serde::{Deserialize, Serialize};
use vaglio_core::Feature;
use vaglio_tables::InferredType;

/// Candidates that were made of the same columns of the data: the levels of a factor, the parts of a date, powers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeColumns {
    /// The names of these columns.
    pub of: Vec<String>,
    /// The candidates, from 0.
    pub columns: Vec<Feature>,
}

/// Type of neighboring columns that are alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnRun {
    /// The name of the first of them.
    pub name: String,
    /// The name of the last, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// How many there are.
    pub columns: usize,
    /// Inferred type; none if they were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<InferredType>,
    /// Role, if they are no features: `target`, `weights`, `groups`, `series`, `time`, `folds` or
    /// `left out`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The rows whose cell is missing, of the column that has most.
    pub missing: usize,
    /// The distinct texts of a class.
    pub levels: usize,
    /// How cells are written where that is not plain, or why columns are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ColumnRun {
    /// The columns in words, such as `p0 … p779 (780)`.
    pub fn names(&self) -> String {
        match &self.to {
            Some(last) => format!("{} … {last} ({})", self.name, self.columns),
            None => self.name.clone(),
        }
    }

    /// Type and role in words: `class of 3 levels, target`.
    pub fn words(&self) -> String {
        let levels = match self.taken {
            Some(InferredType::Class) => format!(" of {} levels", self.levels),
            _ => String::new(),
        };
        let missing = (self.missing > 0).then(|| format!("{} missing", self.missing));
        let taken = self.taken.map(|taken| format!("{}{levels}", taken.word()));
        let words: Vec<String> = self.role.clone().into_iter().chain(taken).chain(missing).collect();
        words.join(", ") + &self.note.iter().map(|note| format!(" ({note})")).collect::<String>()
    }
}
