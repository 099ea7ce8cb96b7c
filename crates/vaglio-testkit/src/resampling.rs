//! Laws of a resampling: its splits use existing rows, and are repeatable.
//!
//! Splits may depend on targets, as in stratification or in holding out the largest values: no law forbids it. Its
//! meaning is the author's decision: rows held out because of their targets are no sample of new rows, so their loss
//! estimates the loss on such rows only.

use crate::law_violation::{attempt, equals, law, must, on_each, on_few_rows, unless};
use crate::{LawResult, LawViolation, data};
use vaglio_core::{Error, Problem, Resampling, Split};

/// Checks all laws of a resampling on a problem.
///
/// # Errors
/// Fails with every violated law.
pub fn check_resampling(resampling: &dyn Resampling, problem: &Problem) -> LawResult {
    law("check", || attempt("the settings", || resampling.check_settings()))?;
    LawViolation::among([sound(resampling, problem), repeatable(resampling, problem), few_rows(resampling, problem)])
}

/// Checks all laws of a resampling on the problems of [`data::standard_designs`], except those that it rejects as a
/// setting.
///
/// # Errors
/// Fails with every violated law, or if the resampling rejects every problem.
pub fn check_resampling_on_standard_data(resampling: &dyn Resampling) -> LawResult {
    law("designs", || {
        on_each(
            data::standard_designs(),
            |design| !matches!(splits(resampling, design.problem()), Err(Error::Setting { .. })),
            |design| check_resampling(resampling, design.problem()),
        )
    })
}

/// Splits exist; each holds out existing rows, each once, and trains on others.
fn sound(resampling: &dyn Resampling, problem: &Problem) -> LawResult {
    law("sound", || {
        let splits = attempt("the problem", || splits(resampling, problem))?;
        must(!splits.is_empty(), "the problem", "at least one split", 0)?;
        let rows = problem.rows();
        for (number, split) in splits.iter().enumerate() {
            let on = format_args!("split {} of {}", number + 1, splits.len());
            let mut part = vec![0u8; rows];
            for (&row, mark) in
                split.held_out.iter().map(|row| (row, 1)).chain(split.training.iter().flatten().map(|row| (row, 2)))
            {
                must(row < rows, on, format!("rows below {rows}"), row)?;
                unless(part[row] == 0, on, "every row once, held out or trained on", format_args!("row {row} twice"))?;
                part[row] = mark;
            }
            let held_out = split.held_out.len();
            must(held_out > 0, on, "rows that are held out", held_out)?;
            let trained = split.training.as_ref().map_or(rows - held_out, Vec::len);
            must(trained > 0, on, "rows that are trained on", trained)?;
        }
        Ok(())
    })
}

/// Equal problems have equal splits.
fn repeatable(resampling: &dyn Resampling, problem: &Problem) -> LawResult {
    law("repeatable", || {
        let on = "the problem";
        let (first, second) =
            (attempt(on, || splits(resampling, problem))?, attempt(on, || splits(resampling, problem))?);
        equals(on, &first, &second)
    })
}

/// On the first one to four rows, splits are made or an error is returned, without a panic.
fn few_rows(resampling: &dyn Resampling, problem: &Problem) -> LawResult {
    on_few_rows(problem.rows(), |rows| splits(resampling, &problem.select_rows(rows)).map(drop))
}

fn splits(resampling: &dyn Resampling, problem: &Problem) -> vaglio_core::Result<Vec<Split>> {
    let classes = problem.classes().filter(|_| resampling.traits().can_stratify);
    resampling.splits(problem, classes.as_ref())
}
