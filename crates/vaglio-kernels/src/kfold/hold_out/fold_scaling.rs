//! Rows held out: columns that each fold divides by their deviations in its training rows.
//!
//! A column divided by s_k is the column as it is with the penalty λ·s_k². The penalty differs from fold to fold, so
//! products over training rows are no differences of one over all rows: an update keeps its residual in the rows
//! that train each fold, and columns are multiplied with that.

use super::HoldOutRows;
use super::fold_products::with_each;
use crate::sums::center;

/// A column in the rows that train each fold, about its mean there; 0 in the fold: folds × rows. Cost O(K·m).
pub(super) fn apart(rows: &HoldOutRows<'_>, (feature, x): (usize, &[f64])) -> Vec<f64> {
    let means = rows.training_means(x);
    let mut out = Vec::with_capacity(x.len() * means.len());
    for (fold, mean) in means.iter().enumerate() {
        if rows.flat(feature).contains(&fold) {
            out.resize(out.len() + x.len(), 0.0);
            continue;
        }
        let start = out.len();
        out.extend(x.iter().zip(&rows.root).map(|(x, root)| x - mean * root));
        out[start + rows.starts[fold]..start + rows.starts[fold + 1]].fill(0.0);
    }
    out
}

/// The products of a column with the residual that an update has in the rows that train each fold. Cost O(K·m).
pub(super) fn products(rows: &HoldOutRows<'_>, (feature, x): (usize, &[f64]), apart: &[f64]) -> Vec<f64> {
    let mut h = with_each(rows.level(), x, apart);
    rows.flat(feature).iter().for_each(|&fold| h[fold] = 0.0);
    h
}

/// A column as one fold sees it, less its mean in the rows that train the fold, scaled by √r_j.
pub(super) struct Alone {
    pub training: Vec<f64>,
    pub held_out: Vec<f64>,
    /// In the training rows; 1 of a constant.
    pub variance: f64,
}

impl Alone {
    /// The part of the column, with its penalty, that the training rows have: next to nothing where the rows held out are
    /// many of their deviations off, whose residuals then cancel when the column leaves.
    pub fn part(&self, lambda: f64) -> f64 {
        let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let training = squares(&self.training);
        if training == 0.0 {
            // Its weight is 0.
            return 1.0;
        }
        let sigma = lambda * self.variance + training;
        sigma / (sigma + squares(&self.held_out))
    }
}

/// From the entries, since a column may be small in the training rows beside what it is in the fold. Cost O(m).
pub(super) fn alone(rows: &HoldOutRows<'_>, feature: usize, fold: usize) -> Alone {
    let (column, shift) = rows.rows().data.column(feature);
    let (order, range) = (rows.rows().folds().order(), rows.starts[fold]..rows.starts[fold + 1]);
    let entries = |at: std::ops::Range<usize>| order[at].iter().map(|&row| column.get(row) - shift);
    let roots: Vec<f64> = rows.root[..range.start].iter().chain(&rows.root[range.end..]).copied().collect();
    let mut training: Vec<f64> = entries(0..range.start).chain(entries(range.end..order.len())).collect();
    let mut held_out: Vec<f64> = entries(range.clone()).collect();
    let total: f64 = roots.iter().map(|v| v * v).sum();
    let is_flat = rows.flat(feature).contains(&fold);
    let means = if is_flat {
        let first = training[0];
        training.fill(0.0);
        [first, 0.0]
    } else {
        center((&mut training[..]).into(), |j| roots[j] * roots[j], total)
    };
    for mean in means {
        held_out.iter_mut().for_each(|x| *x -= mean);
    }
    training.iter_mut().zip(&roots).for_each(|(x, v)| *x *= v);
    held_out.iter_mut().zip(&rows.root[range]).for_each(|(x, v)| *x *= v);
    let variance = if is_flat { 1.0 } else { training.iter().map(|x| x * x).sum::<f64>() / total };
    Alone { training, held_out, variance }
}
