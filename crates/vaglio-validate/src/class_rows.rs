//! Rows that are left out one by one where the classes of a readout count alike.

use super::balance::{self, Weighting};
use vaglio_core::Design;
use vaglio_kernels::Data;
use vaglio_kernels::loo::{ClassPart, ClassSums};

/// The rows by class and weight, with what states and decompositions of each would be made of.
pub(super) struct ClassRows {
    of_row: Vec<usize>,
    pub parts: Vec<ClassPart>,
    pub weightings: Vec<Weighting>,
}

impl ClassRows {
    /// From leave-one-out's parts of the rows; `None` where there are none.
    pub fn new(design: &Design, weightings: Vec<Weighting>) -> Option<Self> {
        let of_row = balance::classes_of(design)?.of_row;
        let weight = |row: usize| design.weights().map_or(1.0, |weights| weights[row]);
        let part = |Weighting { folds, .. }: &Weighting| {
            let first = *folds.first()?;
            Some(ClassPart { class: of_row[first], weight: weight(first), rows: folds.clone() })
        };
        let parts = weightings.iter().map(part).collect::<Option<Vec<_>>>().filter(|parts| !parts.is_empty())?;
        Some(ClassRows { of_row, parts, weightings })
    }

    /// The sums of a subset. Cost O(m·s²).
    pub fn sums<'r, 'd>(&self, data: &'r Data<'d>, subset: &[usize]) -> Option<ClassSums<'r, 'd>> {
        ClassSums::new(data, &self.of_row, subset)
    }
}
