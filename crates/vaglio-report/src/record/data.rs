//! Description of the data: columns as read, and rows left out.

use crate::names::clause;
use vaglio_core::{Feature, escape_controls, join, pluralize, record, setting};
use vaglio_tables::InferredType;

/// Description of the data.
#[record]
#[derive(Eq, Default)]
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
    #[optional]
    pub left_out: Vec<LeftOutRows>,
    /// Types of the columns of the training file.
    #[serde(default)]
    pub columns: Vec<ColumnRun>,
    /// Candidates that preprocessing made under new names, grouped by their source columns.
    #[optional]
    pub made: Vec<MadeColumns>,
}

/// Candidates made of the same columns of the data, such as levels of a factor, parts of a date, or powers.
#[record]
#[derive(Eq)]
pub struct MadeColumns {
    /// Names of the source columns.
    pub of: Vec<String>,
    /// Indexes of the candidates, from 0.
    pub columns: Vec<Feature>,
}

/// Type and role of a run of similar neighboring columns.
#[record]
#[derive(Eq)]
pub struct ColumnRun {
    /// Name of the first column.
    pub name: String,
    /// Name of the last column, if there are several.
    #[optional]
    pub to: Option<String>,
    /// Number of columns.
    pub columns: usize,
    /// Inferred type; `None` if the columns were not read.
    #[optional]
    pub taken: Option<InferredType>,
    /// Role, if the columns are no features: `target`, `weights`, `groups`, `series`, `time`, `folds` or
    /// `left out`.
    #[optional]
    pub role: Option<String>,
    /// Largest number of missing cells in a column.
    pub missing: usize,
    /// Number of levels of a class column.
    pub levels: usize,
    /// Unusual notation of the cells, or the reason for leaving the columns out.
    #[optional]
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
        let levels = self.taken.filter(|taken| *taken == InferredType::Class).map(|_| self.levels);
        let levels = clause(" of {} levels", levels);
        let missing = (self.missing > 0).then(|| format!("{} missing", self.missing));
        let taken = self.taken.map(|taken| format!("{}{levels}", taken.word()));
        let words = [self.role.clone(), taken, missing];
        join(words.into_iter().flatten(), ", ") + &clause(" ({})", self.note.as_ref())
    }
}

/// Number of rows left out for one reason. A row counts once, under the first reason that holds.
#[record]
#[derive(Eq)]
pub struct LeftOutRows {
    /// Reason.
    pub reason: LeftOutReason,
    /// Column with the decisive cells.
    pub column: String,
    /// Condition of the filter, if there is one.
    #[optional]
    pub filter: Option<String>,
    /// Number of rows of the training file.
    pub rows: usize,
    /// Number of rows of the files of test rows.
    #[serde(default)]
    pub test_rows: usize,
}

/// Reason for leaving rows out.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum LeftOutReason {
    /// A filter of `data.rows`.
    Filter,
    /// A target is missing.
    MissingTarget,
    /// The weight is missing.
    MissingWeight,
}

impl LeftOutRows {
    /// Number and reason in words.
    pub fn words(&self) -> String {
        let test = (self.test_rows > 0).then(|| pluralize(self.test_rows, "test row"));
        let test = clause(" and {}", test);
        let column = &self.column;
        let why = match (self.reason, &self.filter) {
            (LeftOutReason::Filter, filter) => format!("not of `{}`", filter.as_ref().unwrap_or(column)),
            (LeftOutReason::MissingTarget, _) => format!("without the target `{column}`"),
            (LeftOutReason::MissingWeight, _) => format!("without the weight `{column}`"),
        };
        format!("{}{test} {why}", pluralize(self.rows, "row"))
    }
}

/// Numbers and reasons of all rows left out, in words without control characters; `None` without such rows.
pub fn left_out_rows(rows: &[LeftOutRows]) -> Option<String> {
    let words = join(rows.iter().map(LeftOutRows::words), "; ");
    (!rows.is_empty()).then(|| escape_controls(&words).into_owned())
}
