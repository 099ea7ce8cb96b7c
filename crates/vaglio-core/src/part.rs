//! Designs of parts of the rows of another, which have in common what was computed of it.

use crate::Design;
use crate::outputs::OfOutputs;
use crate::refit::InFold;
use std::sync::Arc;

/// A label of each row: rows of one label are in the same parts.
pub(crate) type Parted = Arc<[u32]>;

/// Of which rows of which design another is.
#[derive(Debug)]
pub(crate) struct Part {
    whole: Design,
    rows: Vec<usize>,
}

impl Design {
    /// The same, parts of which are to be searched too: rows with the same entry in every one of `parts` are in the same
    /// parts. Lists of another length than the rows say nothing, nor do any of a design whose maps are refitted in each.
    #[must_use]
    pub fn parted(mut self, parts: &[Vec<usize>]) -> Self {
        let is_of_rows =
            !self.in_folds.is_by_maps() && !parts.is_empty() && parts.iter().all(|part| part.len() == self.rows());
        let mut numbers = std::collections::HashMap::new();
        let mut label = |row: usize| {
            let next = numbers.len() as u32;
            *numbers.entry(parts.iter().map(|part| part[row]).collect::<Vec<_>>()).or_insert(next)
        };
        self.parted = is_of_rows.then(|| (0..self.rows()).map(&mut label).collect());
        self
    }

    /// The same without what was made of it, or it was made of: designs of its outputs, of its parts and of the whole.
    pub(crate) fn alone(mut self) -> Self {
        (self.parted, self.part, self.of_outputs, self.in_fold) = (None, None, OfOutputs::default(), InFold::default());
        self
    }

    /// The same as a part of another design, whose rows `rows` are the own rows; where they are not as many, it is none.
    ///
    /// Columns, targets and weights may still differ.
    #[must_use]
    pub fn part_of(mut self, whole: &Design, rows: &[usize]) -> Self {
        let is_part = rows.len() == self.rows() && rows.iter().all(|&row| row < whole.rows());
        self.part = is_part.then(|| Arc::new(Part { whole: whole.clone(), rows: rows.to_vec() }));
        self
    }

    /// A label of each row, where parts of the rows are searched too: rows of one label are in the same parts.
    pub fn parts(&self) -> Option<&[u32]> {
        self.parted.as_deref()
    }

    /// The design of which this is a part, and the row of that for each row.
    pub fn whole(&self) -> Option<(&Design, &[usize])> {
        self.part.as_ref().map(|part| (&part.whole, &part.rows[..]))
    }
}
