//! Gram matrix of a tile of rows: products of all pairs of columns, in blocks that stay in registers.
//!
//! This is the one pass of O(n²m) of the book, *Cross-validation without refitting*.

use crate::f64x8::F64x8;
use crate::{checkpoint, vectorize};

/// Columns per block, in both directions.
pub(super) const SIDE: usize = 4;
/// Columns per panel, in both directions: a panel stays in the second-level cache.
const PANEL: usize = 32;

/// out_ij += x_iᵀx_j for the blocks of [`SIDE`] × [`SIDE`] on and below the diagonal.
///
/// `tile` is columns × height, in eights of rows (columns a multiple of [`SIDE`]); `out` is columns × columns. Each sum
/// runs in 8 lanes that are added in order, so equal columns get equal bits anywhere. Cost O(height·columns²).
pub(super) fn add_gram(tile: &[F64x8], height: usize, columns: usize, out: &mut [f64]) {
    vectorize!(move || {
        for i_panel in (0..columns).step_by(PANEL) {
            checkpoint();
            for j_panel in (0..=i_panel).step_by(PANEL) {
                for i in (i_panel..columns.min(i_panel + PANEL)).step_by(SIDE) {
                    for j in (j_panel..(i + 1).min(j_panel + PANEL)).step_by(SIDE) {
                        block(tile, height, columns, i, j, out);
                    }
                }
            }
        }
    });
}

#[inline(always)]
fn block(tile: &[F64x8], height: usize, columns: usize, i: usize, j: usize, out: &mut [f64]) {
    let x: [&[F64x8]; SIDE] = std::array::from_fn(|k| &tile[(i + k) * height..][..height]);
    let y: [&[F64x8]; SIDE] = std::array::from_fn(|k| &tile[(j + k) * height..][..height]);
    let mut sums = [[F64x8::ZERO; SIDE]; SIDE];
    // Zipped, so that the inner loop has no bounds checks, however the compiler inlines.
    let [[x0, x1, x2, x3], [y0, y1, y2, y3]] = [x, y];
    let rows = x0.iter().zip(x1).zip(x2).zip(x3).zip(y0).zip(y1).zip(y2).zip(y3);
    for (((((((x0, x1), x2), x3), y0), y1), y2), y3) in rows {
        let y = [*y0, *y1, *y2, *y3];
        for (x, sums) in [*x0, *x1, *x2, *x3].into_iter().zip(&mut sums) {
            for (y, sum) in y.into_iter().zip(sums) {
                *sum = x.mul_add(y, *sum);
            }
        }
    }
    // Hides the sums from the compiler: otherwise the loop below would keep them in memory in the loop above.
    let sums = std::hint::black_box(sums);
    for k in 0..SIDE {
        for l in 0..SIDE {
            out[(i + k) * columns + j + l] += sums[k][l].sum();
        }
    }
}
