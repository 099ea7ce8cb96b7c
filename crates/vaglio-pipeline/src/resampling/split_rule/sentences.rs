//! Descriptions of splits in words.

use super::SplitRule;
use crate::folds::FoldAssignment;
use crate::resampling::Sample;

impl FoldAssignment {
    /// Describes a split into folds.
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

impl SplitRule {
    /// Number of splits, or 0 if they are invalid.
    pub fn count(self, sample: &Sample) -> usize {
        match self {
            SplitRule::Folds(_, folds) => folds,
            SplitRule::Splits(..) => self.repeats(sample, [0]).map_or(0, |splits| splits.count()),
        }
    }

    /// Describes the splits.
    pub fn sentence(&self) -> String {
        match self {
            SplitRule::Folds(assignment, folds) => assignment.sentence(*folds),
            SplitRule::Splits(splits, _) => splits.sentence(),
        }
    }
}
