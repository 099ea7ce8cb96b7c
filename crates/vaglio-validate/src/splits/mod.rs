//! Resamplings other than plain folds: `splits` of [`crate::KFold`].

pub(crate) mod assignment;
mod forward_chaining;
mod given_rows;
mod monte_carlo;
mod repeated_kfold;

pub use forward_chaining::Forward;
pub use given_rows::Given;
pub use monte_carlo::MonteCarlo;
pub use repeated_kfold::Repeated;

use vaglio_core::{Error, MOST_REPEATS, Result};

/// Largest total number of held-out rows; 2 GB as 64-bit numbers.
const MOST_ROWS: usize = 1 << 28;

/// Refuses fewer than two folds.
///
/// # Errors
/// [`Error::Setting`] on `folds`.
pub(crate) fn check_folds(folds: usize) -> Result<()> {
    match folds {
        0 | 1 => Err(Error::setting("folds", "at least 2 folds are needed, so that there are rows to train on")),
        _ => Ok(()),
    }
}

/// Refuses zero repeats, or very many for the number of rows.
fn check_repeats(repeats: usize, rows: usize) -> Result<()> {
    Error::unless_between("repeats", repeats, 1..=MOST_REPEATS)?;
    check_repeated_rows(repeats, rows, MOST_ROWS)
}

/// Refuses `repeats` of `rows` rows if they exceed `most` rows in total.
///
/// # Errors
/// [`Error::Setting`] on `repeats`.
pub fn check_repeated_rows(repeats: usize, rows: usize, most: usize) -> Result<()> {
    match repeats.saturating_mul(rows) <= most {
        true => Ok(()),
        false => {
            let message = format!("{repeats} of {rows} rows are too many; {} are the most", most / rows);
            Err(Error::setting("repeats", message))
        }
    }
}
