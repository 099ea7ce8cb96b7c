//! Leave-one-out of one subset for every λ, from one decomposition of the rows.

use super::dual::fits_every_row;
use super::held_out::left_out;
use super::reduced::Reduced;
use crate::linalg::{self, Failure, Svd, kept_digits};
use crate::sums::axpy;
use crate::{Data, is_unreliable};
use ndarray::Array2;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// X_S = U·diag(s)·Vᵀ of all rows, scaled and centered: a = y − U·diag(s²/(s² + λ))·Uᵀy and the diagonal d of
/// I − v̂v̂ᵀ − U·diag(s²/(s² + λ))·Uᵀ, v̂ being the direction of the intercept, give the residuals a/d left out.
///
/// Memory 8·m·s bytes.
#[derive(Debug)]
pub struct AllLambdas<'d> {
    data: Arc<Data<'d>>,
    subset: Vec<usize>,
    /// Columns of U, each contiguous.
    directions: Vec<Vec<f64>>,
    values: Vec<f64>,
    /// Uᵀy: directions × outputs.
    along: Array2<f64>,
    /// What no direction reaches: 1 − v̂_j² − Σ_k U_jk² of each row.
    apart: Vec<f64>,
    /// What rows are left out of that can have leverage nearly 1, made when one is.
    reduced: OnceLock<Option<Reduced>>,
}

impl<'d> AllLambdas<'d> {
    /// Decomposes the columns of `subset`; `None` where these can fit every row, which has a way of its own. Cost O(m·s²).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when entries overflow.
    pub fn new(data: Arc<Data<'d>>, subset: &[usize]) -> Result<Option<Self>, Failure> {
        if fits_every_row(&data, subset) {
            return Ok(None);
        }
        let Svd { u, d, .. } = linalg::svd(data.matrix(subset).view())?;
        let directions: Vec<Vec<f64>> = u.columns().into_iter().map(|direction| direction.to_vec()).collect();
        drop(u);
        let product =
            |(k, o): (usize, usize)| directions[k].iter().zip(data.centered(o)).map(|(u, y)| u * y).sum::<f64>();
        let along = Array2::from_shape_fn((directions.len(), data.outputs()), product);
        let mut apart = data.empty_diagonal();
        for direction in &directions {
            apart.iter_mut().zip(direction).for_each(|(apart, u)| *apart -= u * u);
        }
        Ok(Some(AllLambdas {
            subset: subset.to_vec(),
            directions,
            values: d.to_vec(),
            along,
            apart,
            data,
            reduced: OnceLock::new(),
        }))
    }

    /// The residuals of every row left out, scaled like the rows: outputs × rows. `None` where singular values have lost
    /// digits that count with this λ. Cost O(m·s · outputs), and for rows of leverage nearly 1 that of leaving these out.
    pub fn residuals(&self, lambda: f64) -> Option<Vec<Vec<f64>>> {
        if is_unreliable(kept_digits(&self.values, lambda)) {
            return None;
        }
        let data = &*self.data;
        let (mut d, mut residuals) = (self.apart.clone(), Vec::new());
        residuals.extend((0..data.outputs()).map(|o| data.centered(o).to_vec()));
        for ((direction, value), along) in self.directions.iter().zip(&self.values).zip(self.along.rows()) {
            let (keep, share) = (value * (value / (value * value + lambda)), lambda / (value * value + lambda));
            d.iter_mut().zip(direction).for_each(|(d, u)| *d += share * u * u);
            for (a, along) in residuals.iter_mut().zip(along) {
                axpy(data.level, -keep * along, direction, a);
            }
        }
        for a in &mut residuals {
            a.iter_mut().zip(&d).for_each(|(a, d)| *a /= d);
        }
        let weak: Vec<usize> = (0..d.len()).filter(|&row| is_unreliable(d[row])).collect();
        if weak.is_empty() {
            return Some(residuals);
        }
        // A larger λ makes no row weak that was not.
        let possible = || (0..d.len()).filter(|&row| is_unreliable(self.apart[row])).collect::<Vec<usize>>();
        let reduced = self.reduced.get_or_init(|| Reduced::new(data, &self.subset, &possible()));
        let exact = |&row: &usize| left_out(data, lambda, &self.subset, row, None, reduced.as_ref());
        let exact: Vec<Vec<f64>> = weak.par_iter().map(exact).collect();
        for (&row, exact) in weak.iter().zip(exact) {
            residuals.iter_mut().zip(exact).for_each(|(residuals, e)| residuals[row] = e);
        }
        Some(residuals)
    }
}
