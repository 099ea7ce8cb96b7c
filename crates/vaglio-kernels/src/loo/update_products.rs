//! What an update has to do with the columns and with the updates before it.

use super::Basis;
use super::basis::UpdateKind;
use crate::sweep;
use std::sync::Arc;

/// An update that scalars take in: what its c has to do with the columns and with the updates before.
pub(super) struct UpdateProducts {
    /// The place of x_iᵀc_p among the products that were read.
    pub place: Option<usize>,
    /// x_iᵀx_b for every column, where x_iᵀc_p follows from that; x_iᵀc_p of a column that left.
    pub row: Option<Arc<[f64]>>,
    /// x_bᵀc_q of each update before.
    pub with_x: Vec<f64>,
    /// c_pᵀc_q likewise.
    pub with_c: Vec<f64>,
    pub norm: f64,
}

impl UpdateProducts {
    pub fn of(basis: &Basis<'_>, p: usize, place: Option<usize>, row: Option<Arc<[f64]>>) -> Self {
        let update = &basis.updates[p];
        let [with_x, with_c] = match (&row, &update.kind) {
            (Some(_), UpdateKind::Entry(feature)) => along(basis, p, [&basis.data.scaled(*feature), &update.c]),
            _ => {
                let [with_c] = along(basis, p, [&update.c]);
                [Vec::new(), with_c]
            }
        };
        let norm = update.c.iter().map(|c| c * c).sum();
        UpdateProducts { place, row, with_x, with_c, norm }
    }
}

/// c_qᵀz of the first updates with some vectors z, for each vector.
pub(super) fn along<const N: usize>(basis: &Basis<'_>, count: usize, vectors: [&[f64]; N]) -> [Vec<f64>; N] {
    let updates: Vec<&[f64]> = basis.updates[..count].iter().map(|update| &*update.c).collect();
    let products = sweep::products(basis.data.level, &updates, &vectors);
    std::array::from_fn(|k| products.iter().skip(k).step_by(N).copied().collect())
}
