//! Leave-one-out rows for a readout with balanced classes.

use super::balance::{self, FoldGroupWeights};
use vaglio_core::{Design, row_weights};
use vaglio_kernels::Data;
use vaglio_kernels::loo::{ClassPart, ClassSums};

/// The rows grouped by class and weight, with the inputs of states and decompositions of each group.
pub(super) struct ClassRows {
    of_row: Vec<usize>,
    pub parts: Vec<ClassPart>,
    pub weightings: Vec<FoldGroupWeights>,
}

impl ClassRows {
    /// Groups the rows of leave-one-out; `None` without balanced classes.
    pub fn new(design: &Design, weightings: Vec<FoldGroupWeights>) -> Option<Self> {
        let of_row = balance::classes_of(design)?.of_row;
        let weight = row_weights(design.weights());
        let part = |FoldGroupWeights { folds, .. }: &FoldGroupWeights| {
            let first = *folds.first()?;
            Some(ClassPart { class: of_row[first], weight: weight(first), rows: folds.clone() })
        };
        let parts = weightings.iter().map(part).collect::<Option<Vec<_>>>().filter(|parts| !parts.is_empty())?;
        Some(ClassRows { of_row, parts, weightings })
    }

    /// Class sums of a subset; `None` if targets differ within a class. Cost O(m·s²).
    pub fn sums<'r, 'd>(&self, data: &'r Data<'d>, subset: &[usize]) -> Option<ClassSums<'r, 'd>> {
        ClassSums::new(data, &self.of_row, subset)
    }
}
