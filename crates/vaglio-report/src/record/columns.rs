//! Types of the columns as read.

use serde::{Deserialize, Serialize};
use vaglio_core::{Feature, joined};
use vaglio_tables::InferredType;

/// Candidates made of the same columns of the data, such as levels of a factor, parts of a date, or powers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeColumns {
    /// Names of the source columns.
    pub of: Vec<String>,
    /// Indexes of the candidates, from 0.
    pub columns: Vec<Feature>,
}

/// Type and role of a run of similar neighboring columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnRun {
    /// Name of the first column.
    pub name: String,
    /// Name of the last column, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Number of columns.
    pub columns: usize,
    /// Inferred type; `None` if the columns were not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<InferredType>,
    /// Role, if the columns are no features: `target`, `weights`, `groups`, `series`, `time`, `folds` or
    /// `left out`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Largest number of missing cells in a column.
    pub missing: usize,
    /// Number of levels of a class column.
    pub levels: usize,
    /// Unusual notation of the cells, or the reason for leaving the columns out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ColumnRun {
    /// Names in short, such as `p0 … p779 (780)`.
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
        let words = [self.role.clone(), taken, missing];
        joined(words.into_iter().flatten(), ", ")
            + &self.note.iter().map(|note| format!(" ({note})")).collect::<String>()
    }
}
