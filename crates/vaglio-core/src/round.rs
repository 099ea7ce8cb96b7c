//! Rounds: partitions of rows into folds, held out in turn.

use crate::{Error, Result};

/// Rows that are held out together, and the training rows for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The held-out rows.
    pub held_out: Vec<usize>,
    /// The training rows; `None` for all others.
    pub training: Option<Vec<usize>>,
}

impl Split {
    /// Holds out rows, counted from 0, and trains on all others.
    pub fn holding_out(held_out: Vec<usize>) -> Self {
        Split { held_out, training: None }
    }

    /// Restricts training to these rows.
    #[must_use]
    pub fn training_on(self, rows: Vec<usize>) -> Self {
        Split { training: Some(rows), ..self }
    }
}

/// Folds that hold out each row at most once. Each fold is predicted from all other rows, or from its own list of
/// training rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    per_row: Vec<Option<u32>>,
    training: Option<Vec<Vec<usize>>>,
}

impl Round {
    /// Creates a round from the fold of each row, counted from 0. Rows without a fold are in every training set.
    pub fn new(per_row: Vec<Option<u32>>) -> Self {
        Round { per_row, training: None }
    }

    /// Groups splits into rounds. Consecutive splits share a round as long as no row is held out twice. Either each is
    /// predicted from all other rows, or each from its own list.
    ///
    /// # Errors
    /// Returns [`Error::Setting`] for a split without held-out or training rows, with a row in both, or with a row that
    /// does not exist. Splits count from 1 in messages.
    pub fn from_splits(rows: usize, splits: Vec<Split>) -> Result<Vec<Round>> {
        let (mut rounds, mut fold): (Vec<Round>, u32) = (Vec::new(), 0);
        for (number, split) in splits.into_iter().enumerate() {
            let Split { held_out, training } =
                check(split, rows).map_err(|why| Error::setting("", format!("split {} {why}", number + 1)))?;
            let goes_on = rounds.last().is_some_and(|round| {
                round.training.is_some() == training.is_some()
                    && held_out.iter().all(|&row| round.per_row[row].is_none())
            });
            if !goes_on {
                fold = 0;
                rounds.push(Round { per_row: vec![None; rows], training: training.as_ref().map(|_| Vec::new()) });
            }
            if let Some(round) = rounds.last_mut() {
                held_out.iter().for_each(|&row| round.per_row[row] = Some(fold));
                fold += 1;
                round.training.iter_mut().zip(training).for_each(|(all, own)| all.push(own));
            }
        }
        match rounds.is_empty() {
            true => Err(Error::setting("", "no row is held out")),
            false => Ok(rounds.into_iter().map(Round::without_lists_of_all).collect()),
        }
    }

    /// Drops lists of training rows if each fold is predicted from all other rows.
    fn without_lists_of_all(self) -> Self {
        let is_of_others =
            |(fold, rows): (usize, &Vec<usize>)| rows.len() + self.held_out(fold).count() == self.per_row.len();
        match &self.training {
            Some(training) if training.iter().enumerate().all(is_of_others) => Round { training: None, ..self },
            _ => self,
        }
    }

    /// The fold of each row; `None` for a row that is not held out.
    pub fn fold_of_rows(&self) -> &[Option<u32>] {
        &self.per_row
    }

    /// Number of folds.
    pub fn count(&self) -> usize {
        self.per_row.iter().flatten().max().map_or(0, |fold| *fold as usize + 1)
    }

    /// Number of rows of each fold. Cost O(m).
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.count()];
        self.per_row.iter().flatten().for_each(|&fold| sizes[fold as usize] += 1);
        sizes
    }

    /// The held-out rows of a fold, in increasing order.
    pub fn held_out(&self, fold: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.per_row.len()).filter(move |&row| self.per_row[row] == Some(fold as u32))
    }

    /// The training rows of a fold, in increasing order.
    pub fn training(&self, fold: usize) -> Vec<usize> {
        match &self.training {
            Some(training) => training.get(fold).cloned().unwrap_or_default(),
            None => {
                let mut rows = Vec::with_capacity(self.per_row.len() - self.held_out(fold).count());
                rows.extend((0..self.per_row.len()).filter(|&row| self.per_row[row] != Some(fold as u32)));
                rows
            }
        }
    }

    /// The training rows of each fold, unless they are all other rows.
    pub fn trainings(&self) -> Option<&[Vec<usize>]> {
        self.training.as_deref()
    }
}

/// Sorts the rows of a split, or describes its fault.
fn check(mut split: Split, rows: usize) -> Result<Split, String> {
    for (some, what) in [(Some(&mut split.held_out), "holds out"), (split.training.as_mut(), "is trained on")] {
        let Some(some) = some else { continue };
        some.sort_unstable();
        some.dedup();
        match some.last() {
            None => return Err(format!("{what} no row")),
            Some(&last) if last >= rows => return Err(format!("{what} row {} of {rows}", last + 1)),
            _ => {}
        }
    }
    let others = rows - split.held_out.len();
    match &split.training {
        None if others == 0 => Err("is trained on no row".into()),
        None => Ok(split),
        Some(training) => match split.held_out.iter().find(|row| training.binary_search(row).is_ok()) {
            Some(row) => Err(format!("holds out row {} and is trained on it", row + 1)),
            None => Ok(split),
        },
    }
}
