//! Rows that are held out otherwise than once each, by folds.

use super::KFold;
use crate::shuffle::{shuffled, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vaglio_core::{Classes, Design, Error, Measure, Result};

/// Which rows are held out, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Splits {
    /// The rows that a column of the data calls `validation` are held out once and trained on never; those that it calls
    /// `train` are trained on.
    Given {
        /// The column.
        column: String,
    },
    /// Shuffled folds, several times; every row is held out once in each. Rows of one group stay together where the data
    /// have groups.
    Repeated {
        /// How many folds.
        #[serde(default = "folds")]
        #[schemars(extend("minimum" = 2))]
        folds: usize,
        /// How many times.
        #[serde(default = "repeats")]
        #[schemars(extend("minimum" = 1))]
        repeats: usize,
    },
}

fn folds() -> usize {
    5
}

fn repeats() -> usize {
    3
}

/// The words of the column of given rows, in the order of their numbers.
pub(super) const WORDS: [&str; 2] = ["train", "validation"];
/// The number of rows that are held out.
const VALIDATION: u32 = 1;
/// What the seeds of repeats are apart by.
const REPEAT: u64 = 4;

impl Splits {
    /// The fold of each row in every round.
    ///
    /// # Errors
    /// [`Error::Setting`] for rounds that cannot be made.
    pub(super) fn rounds(
        &self,
        criterion: &KFold,
        design: &Design,
        classes: Option<&Classes>,
    ) -> Result<Vec<Vec<Option<u32>>>> {
        match self {
            Splits::Given { column } => {
                let of_row = given(design, column)?;
                check_given(criterion, design, classes, &of_row).map_err(|error| error.under("splits"))?;
                Ok(vec![of_row])
            }
            Splits::Repeated { repeats: 0, .. } => Err(Error::setting("splits.repeats", "0 repeats; 1 is the least")),
            Splits::Repeated { folds: 0 | 1, .. } => {
                Err(Error::setting("splits.folds", "at least 2 folds are needed, so that there are rows to train on"))
            }
            Splits::Repeated { folds, repeats } => {
                let round = |repeat: usize| {
                    let seed = if repeat == 0 { design.seed() } else { stream(design.seed(), REPEAT, repeat as u64) };
                    let order = |count: usize| shuffled(count, seed);
                    let of_row = match design.groups() {
                        Some(groups) => criterion.of_groups(groups, Some(*folds), order),
                        None => criterion.of_rows(design, classes, *folds, order),
                    };
                    Ok(of_row.map_err(|error| error.under("splits"))?.into_iter().map(Some).collect())
                };
                (0..*repeats).map(round).collect()
            }
        }
    }
}

fn given(design: &Design, column: &str) -> Result<Vec<Option<u32>>> {
    let Some(of_row) = design.assignment() else {
        return Err(Error::setting(
            "splits.column",
            format!("the data have no column `{column}` that says which rows are for validation"),
        ));
    };
    Ok(of_row.iter().map(|&word| (word == VALIDATION).then_some(0)).collect())
}

/// Both parts have rows, the training rows of every class, the others of as many as the loss needs.
fn check_given(criterion: &KFold, design: &Design, classes: Option<&Classes>, of_row: &[Option<u32>]) -> Result<()> {
    let rows = |held_out: bool| (0..of_row.len()).filter(move |&row| of_row[row].is_some() == held_out);
    for (held_out, word) in [(false, WORDS[0]), (true, WORDS[1])] {
        if rows(held_out).next().is_none() {
            return Err(Error::setting("column", format!("no row is `{word}`")));
        }
    }
    if design.decisions().is_some() {
        return Err(Error::setting(
            "kind",
            "`given` parts single rows, and predictions are averaged over several; use `by: groups`",
        ));
    }
    let Some(classes) = classes else { return Ok(()) };
    let has = |held_out: bool, class: usize| rows(held_out).any(|row| classes.of_row[row] == class);
    for (class, name) in classes.names.iter().enumerate() {
        if !has(false, class) && has(true, class) {
            return Err(Error::setting("column", format!("every row of class `{name}` is `{}`", WORDS[1])));
        }
        if criterion.loss.measure() == Measure::Auc && !has(true, class) {
            let message = format!("no row of class `{name}` is `{}`, and `auc` needs rows of both", WORDS[1]);
            return Err(Error::setting("column", message));
        }
    }
    Ok(())
}
