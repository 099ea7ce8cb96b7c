//! How rows are parted around a search, for people.

use super::Parting;
use crate::resample::{FoldAssignment, Sample};

impl FoldAssignment {
    /// How so many folds are made, for people.
    pub fn sentence(&self, folds: usize) -> String {
        match self {
            FoldAssignment::Blocks { .. } => format!("{folds} blocks in time, each predicted from all others"),
            FoldAssignment::Rows(_, classes) | FoldAssignment::Units { classes, .. } => {
                let is_of_rows = matches!(self, FoldAssignment::Rows(..));
                let units = if is_of_rows { "shuffled rows" } else { "whole groups of rows" };
                let evenly = if classes.is_some() { ", classes spread evenly" } else { "" };
                format!("{folds} folds of {units}{evenly}")
            }
        }
    }
}

impl Parting {
    /// How many parts there are, as far as they can be made.
    pub fn count(&self, sample: &Sample) -> usize {
        match self {
            Parting::Folds(_, folds) => *folds,
            Parting::Splits(..) | Parting::Dealt(..) => self.parts(sample, 0).map_or(0, |parts| parts.len()),
        }
    }

    /// How rows are parted, for people.
    pub fn sentence(&self) -> String {
        match self {
            Parting::Folds(assignment, folds) => assignment.sentence(*folds),
            Parting::Splits(splits, _) | Parting::Dealt(splits, _) => splits.sentence(),
        }
    }
}
