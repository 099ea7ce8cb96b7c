//! Imputation of missing cells by training means, from the products of columns and masks.
//!
//! Let x be a column that holds f in its missing cells, M their indicator vector and μ the mean of the other cells in
//! the training rows. The imputed column is x + (μ − f)M, so every product with it follows from products with x and M.
//! The book, *Cross-validation without refitting*, "Missing cells".

use super::FoldedRows;
use super::gram::SIDE;
use super::products::fills;
use super::training::SplitProducts;
use crate::row_groups::ValueRange;

/// Layout of columns, masks, targets and ones-vector in the products, and the values in missing cells.
#[derive(Debug)]
pub(super) struct Imputation {
    columns: usize,
    outputs: usize,
    /// Places of columns with missing cells, and the value in them.
    fills: Vec<(usize, f64)>,
    /// Side of the products with masks.
    side: usize,
}

impl Imputation {
    /// Prepares the imputation of `features`; their products, with masks, have the side `side`.
    pub fn new(rows: &FoldedRows<'_>, features: &[usize], side: usize) -> Self {
        let fills = if rows.missing.is_empty() { Vec::new() } else { fills(rows, features) };
        Imputation { columns: features.len(), outputs: rows.data.outputs(), fills, side }
    }

    /// Whether some column has missing cells.
    pub fn is_needed(&self) -> bool {
        !self.fills.is_empty()
    }

    /// Side of products without masks.
    pub fn side(&self) -> usize {
        match self.is_needed() {
            true => (self.columns + self.outputs + 1).next_multiple_of(SIDE),
            false => self.side,
        }
    }

    /// Index of the ones-vector in the products with masks.
    pub fn ones(&self) -> usize {
        self.columns + self.fills.len() + self.outputs
    }

    /// Imputes the products of one fold; `ranges` are the columns' ranges in its training rows. Cost O(n²).
    pub fn filled(&self, split: SplitProducts, ranges: &[ValueRange]) -> SplitProducts {
        if !self.is_needed() {
            return split;
        }
        let at = |a: usize, b: usize| split.training[a.max(b) * self.side + a.min(b)];
        let ones = self.ones();
        let change = |(k, &(place, fill)): (usize, &(usize, f64))| {
            let masks = self.columns + k;
            let (least, greatest) = ranges[place];
            let total = at(ones, ones) - at(ones, masks);
            // Without other cells there is no mean, and nothing changes.
            if least > greatest || total <= 0.0 { 0.0 } else { (at(ones, place) - at(masks, place)) / total - fill }
        };
        let changes: Vec<f64> = self.fills.iter().enumerate().map(change).collect();
        SplitProducts {
            training: self.imputed_products(&split.training, &changes),
            held_out: self.imputed_products(&split.held_out, &changes),
            from: self.imputed_products(&split.from, &changes),
        }
    }

    /// Products of the columns after adding `changes` to their missing cells.
    fn imputed_products(&self, products: &[f64], changes: &[f64]) -> Vec<f64> {
        let at = |a: usize, b: usize| products[a.max(b) * self.side + a.min(b)];
        let mut masks = vec![None; self.columns];
        for (k, (&(place, _), &change)) in self.fills.iter().zip(changes).enumerate() {
            masks[place] = Some((self.columns + k, change));
        }
        let kept: Vec<(usize, Option<(usize, f64)>)> = (0..self.columns)
            .map(|place| (place, masks[place]))
            .chain((self.columns + self.fills.len()..=self.ones()).map(|place| (place, None)))
            .collect();
        let side = self.side();
        let mut out = vec![0.0; side * side];
        for (i, &(a, of_a)) in kept.iter().enumerate() {
            for (j, &(b, of_b)) in kept[..=i].iter().enumerate() {
                let mut sum = at(a, b);
                if let Some((mask, change)) = of_a {
                    sum += change * at(mask, b);
                }
                if let Some((mask, change)) = of_b {
                    sum += change * at(mask, a);
                }
                if let (Some((x, by_x)), Some((y, by_y))) = (of_a, of_b) {
                    sum += by_x * by_y * at(x, y);
                }
                out[i * side + j] = sum;
            }
        }
        out
    }
}
