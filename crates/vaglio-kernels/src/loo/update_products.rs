//! Products of an update with the columns and with earlier updates.

use super::RidgeState;
use super::basis::UpdateKind;
use crate::sweep;
use std::sync::Arc;
use vaglio_columns::sum_of_squares;

/// Products of an update's c with the columns and with earlier updates.
pub(super) struct UpdateProducts {
    /// Index of the update.
    pub update: usize,
    /// Row x_iᵀx_b of every column if x_iᵀc_p follows from it, else x_iᵀc_p itself.
    pub row: Arc<[f64]>,
    /// x_bᵀc_q of each earlier update, or empty if the row is x_iᵀc_p itself.
    pub with_x: Vec<f64>,
    /// c_pᵀc_q of each earlier update.
    pub with_c: Vec<f64>,
    pub norm: f64,
}

impl UpdateProducts {
    /// Computes the products, given the row if it is known, and a function that reads x_iᵀc_p otherwise.
    pub fn new(basis: &RidgeState<'_>, p: usize, row: Option<Arc<[f64]>>, read: impl FnOnce() -> Arc<[f64]>) -> Self {
        let update = &basis.updates[p];
        let [with_x, with_c] = match (&row, &update.kind) {
            (Some(_), UpdateKind::Entry(feature)) => along(basis, p, [&basis.data.scaled_column(*feature), &update.c]),
            _ => {
                let [with_c] = along(basis, p, [&update.c]);
                [Vec::new(), with_c]
            }
        };
        let norm = sum_of_squares(&update.c);
        UpdateProducts { update: p, row: row.unwrap_or_else(read), with_x, with_c, norm }
    }
}

/// Products c_qᵀz of the first updates with some vectors z, for each vector.
pub(super) fn along<const N: usize>(basis: &RidgeState<'_>, count: usize, vectors: [&[f64]; N]) -> [Vec<f64>; N] {
    let updates: Vec<&[f64]> = basis.updates[..count].iter().map(|update| &*update.c).collect();
    let products = sweep::products(&updates, &vectors);
    std::array::from_fn(|k| products.iter().skip(k).step_by(N).copied().collect())
}
