//! What a commit has to do with the columns and with the commits before it.

use super::Basis;
use super::basis::By;
use crate::data;
use std::sync::Arc;

/// A commit that scalars take in: what its c has to do with the columns and with the commits before.
pub(super) struct New {
    /// The place of x_iᵀc_p among the products that were read.
    pub place: Option<usize>,
    /// x_iᵀx_b for every column, where x_iᵀc_p follows from that; x_iᵀc_p of a column that left.
    pub row: Option<Arc<[f64]>>,
    /// x_bᵀc_q of each commit before.
    pub with_x: Vec<f64>,
    /// c_pᵀc_q likewise.
    pub with_c: Vec<f64>,
    pub norm: f64,
}

impl New {
    pub fn of(basis: &Basis<'_>, p: usize, place: Option<usize>, row: Option<Arc<[f64]>>) -> Self {
        let commit = &basis.commits[p];
        let [with_x, with_c] = match (&row, &commit.by) {
            (Some(_), By::Entry(feature)) => along(basis, p, [&basis.data.scaled(*feature), &commit.c]),
            _ => {
                let [with_c] = along(basis, p, [&commit.c]);
                [Vec::new(), with_c]
            }
        };
        let norm = commit.c.iter().map(|c| c * c).sum();
        New { place, row, with_x, with_c, norm }
    }
}

/// c_qᵀz of the first commits with some vectors z, for each vector.
pub(super) fn along<const N: usize>(basis: &Basis<'_>, count: usize, vectors: [&[f64]; N]) -> [Vec<f64>; N] {
    let commits: Vec<&[f64]> = basis.commits[..count].iter().map(|commit| &*commit.c).collect();
    let products = data::products(basis.data.level, &commits, &vectors);
    std::array::from_fn(|k| products.iter().skip(k).step_by(N).copied().collect())
}
