//! Cells of rows with shared products, from which the moments of folds of several row sets are computed.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::FoldedRows;
use super::gram::SIDE;
use super::products::{FoldSums, sums};

/// Products over the rows of every cell. Memory 8·n² bytes per cell.
#[derive(Debug)]
pub struct CellProducts {
    /// Index of each column in the products.
    places: Vec<Option<usize>>,
    /// Sums of each class in each cell.
    sums: Vec<Vec<FoldSums>>,
    side: usize,
    outputs: usize,
    scaling: RowScaling,
}

/// Centering, scaling and weighting of rows, which must agree between cells and folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RowScaling {
    intercept: bool,
    standardize: bool,
    balanced: bool,
}

impl RowScaling {
    fn new(rows: &FoldedRows<'_>) -> Self {
        RowScaling { intercept: rows.intercept, standardize: rows.standardize, balanced: rows.classes.is_some() }
    }
}

impl CellProducts {
    /// Computes the products in one read; the folds of `rows` are the cells. Cost O(m·n²).
    pub fn new(rows: &FoldedRows<'_>) -> Self {
        let (sums, side) = sums(rows, &rows.folds, &rows.active());
        CellProducts { places: rows.places(), sums, side, outputs: rows.data.outputs(), scaling: RowScaling::new(rows) }
    }

    /// Bytes of cells with rows of the given number of classes each.
    pub fn bytes(cells: usize, classes: usize, columns: usize, outputs: usize) -> usize {
        cells * classes * (columns + outputs + 1).next_multiple_of(SIDE).pow(2) * size_of::<f64>()
    }

    /// Sums of each class in each fold, and their side, with `columns[k]` as column k; `folds` is the fold of each
    /// cell, if it has one.
    pub(super) fn folded(
        &self,
        rows: &FoldedRows<'_>,
        columns: &[usize],
        folds: &[Option<usize>],
    ) -> Option<(Vec<Vec<FoldSums>>, usize)> {
        if rows.scores_classes_alike()
            || self.scaling != RowScaling::new(rows)
            || self.outputs != rows.data.outputs()
            || folds.len() != self.sums.len()
        {
            return None;
        }
        let places = columns.iter().map(|&column| self.places.get(column).copied().flatten());
        let places: Vec<usize> = places.collect::<Option<_>>()?;
        let classes = self.sums.first().map_or(0, Vec::len);
        let range = vec![(f64::INFINITY, f64::NEG_INFINITY); self.places.iter().flatten().count()];
        let none = FoldSums { products: Vec::new(), range };
        let mut folded = vec![vec![none; classes]; rows.folds.count()];
        for (cell, &fold) in self.sums.iter().zip(folds) {
            let Some(fold) = fold else { continue };
            folded.get_mut(fold)?.iter_mut().zip(cell).for_each(|(sum, own)| sum.add(own));
        }
        let side = (columns.len() + self.outputs + 1).next_multiple_of(SIDE);
        folded.iter_mut().flatten().for_each(|sums| *sums = self.picked(sums, &places, side));
        Some((folded, side))
    }

    /// Extracts the sums of the columns at `places`, of targets and of the ones-vector.
    fn picked(&self, sums: &FoldSums, places: &[usize], side: usize) -> FoldSums {
        let range = places.iter().map(|&place| sums.range[place]).collect();
        if sums.products.is_empty() {
            return FoldSums { products: Vec::new(), range };
        }
        let columns = sums.range.len();
        let all: Vec<usize> = places.iter().copied().chain(columns..=columns + self.outputs).collect();
        let mut products = vec![0.0; side * side];
        for (to, (i, &from)) in products.chunks_exact_mut(side).zip(all.iter().enumerate()) {
            for (to, &other) in to.iter_mut().zip(&all[..=i]) {
                // Only the lower triangle is stored.
                *to = sums.products[from.max(other) * self.side + from.min(other)];
            }
        }
        FoldSums { products, range }
    }
}
