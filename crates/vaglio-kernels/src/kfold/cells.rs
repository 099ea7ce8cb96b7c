//! Cells of rows with shared products, from which the moments of folds of several row sets are computed.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::FoldedRows;
use super::gram::SIDE;
use super::products::{GroupSums, add, widen};
use crate::row_groups::EMPTY_RANGE;

/// Products over the rows of every cell. Memory 8·n² bytes per cell.
#[derive(Debug)]
pub struct CellProducts {
    /// Index of each column in the products.
    places: Vec<Option<usize>>,
    sums: GroupSums,
    outputs: usize,
    scaling: [bool; 3],
}

/// Centering, scaling and weighting of rows, which must agree between cells and folds.
fn scaling(rows: &FoldedRows<'_>) -> [bool; 3] {
    [rows.intercept, rows.standardize, rows.classes.is_some()]
}

impl CellProducts {
    /// Computes the products in one read; the folds of `rows` are the cells. Cost O(m·n²).
    pub fn new(rows: &FoldedRows<'_>) -> Self {
        let sums = GroupSums::new(rows, &rows.folds, &rows.active());
        CellProducts { places: rows.places(), sums, outputs: rows.data.outputs(), scaling: scaling(rows) }
    }

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
        let cells = &self.sums.products;
        if rows.scores_classes_alike()
            || self.scaling != scaling(rows)
            || self.outputs != rows.data.outputs()
            || folds.len() != cells.len()
        {
            return None;
        }
        let places = columns.iter().map(|&column| self.places.get(column).copied().flatten());
        let places: Vec<usize> = places.collect::<Option<_>>()?;
        let count = self.places.iter().flatten().count();
        let mut products = vec![vec![Vec::new(); cells.first().map_or(0, Vec::len)]; rows.folds.count()];
        let mut ranges = vec![vec![EMPTY_RANGE; count]; rows.folds.count()];
        for ((cell, range), &fold) in cells.iter().zip(&self.sums.ranges).zip(folds) {
            let Some(fold) = fold else { continue };
            products.get_mut(fold)?.iter_mut().zip(cell).for_each(|(sum, own)| add(sum, own));
            widen(&mut ranges[fold], range);
        }
        let side = (columns.len() + self.outputs + 1).next_multiple_of(SIDE);
        let all: Vec<usize> = places.iter().copied().chain(count..=count + self.outputs).collect();
        for sums in products.iter_mut().flatten().filter(|sums| !sums.is_empty()) {
            let mut picked = vec![0.0; side * side];
            for (to, (i, &from)) in picked.chunks_exact_mut(side).zip(all.iter().enumerate()) {
                for (to, &other) in to.iter_mut().zip(&all[..=i]) {
                    // Only the lower triangle is stored.
                    *to = sums[from.max(other) * self.sums.side + from.min(other)];
                }
            }
            *sums = picked;
        }
        let ranges = ranges.iter().map(|range| places.iter().map(|&place| range[place]).collect()).collect();
        Some(GroupSums { products, ranges, side })
    }
}
