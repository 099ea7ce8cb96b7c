//! Triangular reduction of rows, tile by tile.

use crate::linalg::{self, FactorizationError};
use crate::tolerance::UNLIKE_WEIGHTS;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder};
use vaglio_columns::{argsort_by, max_abs, minimum};

/// Order of the rows from the heaviest to the lightest if weights are very unlike; reflections then lose no digits of
/// light rows.
///
/// A. J. Cox, N. J. Higham, *Stability of Householder QR factorization for weighted least squares problems* (1998).
pub(super) fn by_weight(weights: &Array1<f64>) -> Option<Vec<usize>> {
    (max_abs(weights) > UNLIKE_WEIGHTS * minimum(weights.iter().copied()))
        .then(|| argsort_by(weights.len(), |a, b| weights[b].total_cmp(&weights[a])))
}

/// Minimum rows per tile; they stay in cache with the triangle of the rows before.
const TILE: usize = 1024;
/// Number of blocks of rows that threads reduce in parallel, whatever the number of threads.
pub(super) const PARTS: usize = 8;

/// Rows per tile for this many columns.
pub fn tile_of(width: usize) -> usize {
    TILE.max(4 * width)
}

/// Reduces `height` rows, which `fill` writes, together with the triangle of the rows before them. Returns the triangle
/// of all. Cost O(rows · columns²).
///
/// # Errors
/// [`FactorizationError::NoConvergence`] if entries are not finite.
pub fn append_rows(
    triangle: &Array2<f64>,
    height: usize,
    fill: impl FnOnce(ArrayViewMut2<f64>),
) -> Result<Array2<f64>, FactorizationError> {
    let mut stacked = Array2::zeros((triangle.nrows() + height, triangle.ncols()).f());
    let (mut above, below) = stacked.view_mut().split_at(Axis(0), triangle.nrows());
    above.assign(triangle);
    fill(below);
    linalg::triangle(stacked.view())
}

/// Reduces tiles of rows one after the other, each with the triangle of those before.
pub(crate) fn reduce<T>(
    width: usize,
    mut tiles: impl Iterator<Item = T>,
    height: impl Fn(&T) -> usize,
    fill: impl Fn(T, ArrayViewMut2<f64>),
) -> Result<Array2<f64>, FactorizationError> {
    let append = |triangle, tile: T| append_rows(&triangle, height(&tile), |below| fill(tile, below));
    tiles.try_fold(Array2::zeros((0, width)), append)
}

/// Triangle R of the QR decomposition of `x`.
pub(crate) fn triangle_of(x: ArrayView2<f64>) -> Result<Array2<f64>, FactorizationError> {
    let tiles = x.axis_chunks_iter(Axis(0), tile_of(x.ncols()));
    reduce(x.ncols(), tiles, ArrayView2::nrows, |rows, mut to| to.assign(&rows))
}
