//! Rows left out of many others, which are reduced to a triangle once.

use crate::ridge::{back_substituted, reduce};
use crate::sums::scaled;
use crate::{Data, linalg};
use ndarray::{Array2, Axis, concatenate, s};

/// The rows [1 | X_S | y], scaled: some apart, and all others as the triangle of an orthogonal reduction.
///
/// A row apart is left out by reducing the triangle with the other rows apart and √λ·I. Neither forms normal equations.
#[derive(Debug)]
pub(crate) struct Reduced {
    /// Columns before the targets.
    width: usize,
    /// Whether the first of them is the intercept's, which has no penalty.
    intercept: usize,
    triangle: Array2<f64>,
    rows: Vec<usize>,
    /// Rows apart × columns and targets.
    apart: Array2<f64>,
}

/// A column, scaled, less one of its entries where there is an intercept: differences that leave zeros where most rows
/// are equal, as in a column that the rows apart carry alone.
fn shifted(data: &Data<'_>, feature: usize) -> Vec<f64> {
    let (column, mean) = data.column(feature);
    let nearest = |a: f64, b: f64| if (b - mean).abs() < (a - mean).abs() { b } else { a };
    let entries = (0..column.len()).map(|row| column.get(row));
    let shift = if data.unit().is_some() { entries.fold(f64::INFINITY, nearest) } else { 0.0 };
    let mut out = vec![0.0; column.len()];
    scaled(data.level, column, shift, data.root(), &mut out);
    out
}

/// How many times as many other rows there must be than columns and rows apart, so that it pays.
const ENOUGH: usize = 4;

impl Reduced {
    /// `None` where that does not pay, or an entry overflows. Cost O(m·s²), memory O(m·s).
    pub fn new(data: &Data<'_>, subset: &[usize], rows: &[usize]) -> Option<Self> {
        if rows.is_empty() || ENOUGH * (subset.len() + rows.len() + 2) > data.rows() {
            return None;
        }
        let intercept = usize::from(data.unit().is_some());
        let width = intercept + subset.len();
        let mut all = Array2::zeros((data.rows(), width + data.outputs()));
        let ones = (0..intercept).map(|_| data.ones());
        let columns = subset.iter().map(|&feature| shifted(data, feature));
        let targets = (0..data.outputs()).map(|o| data.centered(o).to_vec());
        for (mut to, from) in all.columns_mut().into_iter().zip(ones.chain(columns).chain(targets)) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
        }
        let apart = all.select(Axis(0), rows);
        // A row of nothing adds nothing to the triangle.
        rows.iter().for_each(|&row| all.row_mut(row).fill(0.0));
        let triangle = reduce(all.slice(s![.., ..width]), all.slice(s![.., width..])).ok()?;
        Some(Reduced { width, intercept, triangle, rows: rows.to_vec(), apart })
    }

    /// The residual of each output of a row apart, scaled, from all other rows; without the column of the subset at
    /// `removed`, if given. `None` when an entry overflows. Cost O((s + w)·s²) with w rows apart.
    pub fn residual(&self, row: usize, lambda: f64, removed: Option<usize>) -> Option<Vec<f64>> {
        let place = self.rows.iter().position(|&r| r == row).unwrap_or_default();
        let others: Vec<usize> = (0..self.rows.len()).filter(|&k| k != place).collect();
        let mut penalty = Array2::zeros((self.width - self.intercept, self.triangle.ncols()));
        penalty.slice_mut(s![.., self.intercept..self.width]).diag_mut().fill(lambda.sqrt());
        let mut stacked = concatenate![Axis(0), self.triangle, self.apart.select(Axis(0), &others), penalty];
        let mut own = self.apart.row(place).insert_axis(Axis(0)).to_owned();
        let mut width = self.width;
        if let Some(removed) = removed {
            let kept: Vec<usize> = (0..stacked.ncols()).filter(|&k| k != self.intercept + removed).collect();
            (stacked, own, width) = (stacked.select(Axis(1), &kept), own.select(Axis(1), &kept), width - 1);
        }
        let weights = back_substituted(linalg::triangle(stacked.view()).ok()?.view(), width);
        let predicted = own.slice(s![.., ..width]).dot(&weights);
        Some((&own.slice(s![0, width..]) - &predicted.row(0)).to_vec())
    }
}
