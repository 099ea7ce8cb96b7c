//! Moments of folds of several row sets from cells of rows with shared products.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::FoldedRows;
use super::gram::SIDE;
use super::products::{GroupSums, add, widen};
use crate::row_groups::EMPTY_RANGE;
use vaglio_columns::gather;

impl GroupSums {
    /// Bytes of cells with rows of the given number of classes each.
    pub fn bytes(cells: usize, classes: usize, columns: usize, outputs: usize) -> usize {
        cells * classes * (columns + outputs + 1).next_multiple_of(SIDE).pow(2) * size_of::<f64>()
    }

    /// Sums of each fold, with `columns[k]` as column k; `folds` is the fold of each cell, if it has one.
    pub(super) fn folded(
        &self,
        rows: &FoldedRows<'_>,
        columns: &[usize],
        folds: &[Option<usize>],
    ) -> Option<GroupSums> {
        let (cells, outputs) = (&self.products, rows.data.outputs());
        if rows.scores_classes_alike() || folds.len() != cells.len() {
            return None;
        }
        let places = columns.iter().map(|column| self.features.binary_search(column).ok());
        let places: Vec<usize> = places.collect::<Option<_>>()?;
        let count = self.features.len();
        let mut products = vec![vec![Vec::new(); cells.first().map_or(0, Vec::len)]; rows.folds.count()];
        let mut ranges = vec![vec![EMPTY_RANGE; count]; rows.folds.count()];
        for ((cell, range), &fold) in cells.iter().zip(&self.ranges).zip(folds) {
            let Some(fold) = fold else { continue };
            products.get_mut(fold)?.iter_mut().zip(cell).for_each(|(sum, own)| add(sum, own));
            widen(&mut ranges[fold], range);
        }
        let side = (columns.len() + outputs + 1).next_multiple_of(SIDE);
        let all: Vec<usize> = places.iter().copied().chain(count..=count + outputs).collect();
        for sums in products.iter_mut().flatten().filter(|sums| !sums.is_empty()) {
            let mut picked = vec![0.0; side * side];
            for (to, (i, &from)) in picked.chunks_exact_mut(side).zip(all.iter().enumerate()) {
                for (to, &other) in to.iter_mut().zip(&all[..=i]) {
                    // Only the lower triangle is stored.
                    *to = sums[from.max(other) * self.side + from.min(other)];
                }
            }
            *sums = picked;
        }
        let ranges = ranges.iter().map(|range| gather(range, &places)).collect();
        Some(GroupSums { features: columns.to_vec(), products, ranges, side })
    }
}
