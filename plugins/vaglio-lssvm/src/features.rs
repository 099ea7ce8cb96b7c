//! Kernel components of any rows, given landmarks.

use crate::similarity::KernelFunction;
use vaglio_core::{Column, Columns, Error, Result};
use vaglio_kernels::tile::{Tile, by_tiles};
use vaglio_kernels::vectors::Vectors;

/// Σ_j c_ij k(u, ũ_j) for every row u of the inputs and component i; k(u, ũ_i) without components. Cost
/// O(rows·landmarks·(inputs + components)).
///
/// A row's components depend on its inputs alone, bit for bit, and not on which other components are requested.
///
/// # Errors
/// [`Error::Numerical`] for kernels that overflow.
pub(crate) fn columns_of(
    kernel: KernelFunction,
    landmarks: &[Vec<f64>],
    components: Option<&[Vec<f64>]>,
    inputs: &Columns,
) -> Result<Columns> {
    let rows = inputs.rows();
    let inputs: Vec<Column<'_>> = inputs.iter().collect();
    let points = Vectors::new(landmarks.len(), inputs.len(), |k, i| landmarks[k][i]);
    let count = components.map_or(landmarks.len(), <[_]>::len);
    let mixed = components.map(|own| Vectors::new(count, landmarks.len(), |i, j| own[i][j]));
    let start = vec![0.0; count];
    let made = by_tiles(rows, count, |range| {
        let kernels = kernel.matrix(&points, &Tile::from_columns(&inputs, range));
        let tile = match &mixed {
            Some(mixed) => mixed.products(&kernels, &start),
            None => kernels,
        };
        if tile.is_finite() { Ok(tile) } else { Err(overflow()) }
    })?;
    let mut columns = Columns::new(rows);
    made.into_iter().for_each(|column| columns.push(column));
    Ok(columns)
}

pub(crate) fn overflow() -> Error {
    Error::Numerical("the kernel of some rows overflows; standardize the columns, or lower the degree".into())
}
