//! Sums over sparse columns: x = fill + (x − fill), where the second term is 0 in most rows.
//!
//! Shifting, and so centering and standardizing, changes the fill alone. Sums run over the entries in row order.

use super::products::PlacedColumn;
use crate::SparseColumn;
use crate::parallel;
use crate::sums::{axpy, sparse_product, sum};

/// Σ_j w_j·(x_j − shift)² for weights w_j = root_j² that add up to `total`; all 1 if absent. Cost O(entries).
///
/// Returns `None` if so many rows have stored entries that the remaining weight would lose digits.
pub(crate) fn squares(x: SparseColumn<'_>, shift: f64, root: Option<&[f64]>, total: f64) -> Option<f64> {
    if 2 * x.count() > x.len() {
        return None;
    }
    let (mut squares, mut counted) = (0.0, 0.0);
    x.for_each(|row, value| {
        let root = root.map_or(1.0, |root| root[row]);
        squares += ((value - shift) * root).powi(2);
        counted += root * root;
    });
    let left = total - counted;
    (2.0 * left >= total).then_some(squares + left * (x.fill() - shift).powi(2))
}

/// Products of each column with every vector. A column's bits do not depend on the other columns.
///
/// Several vectors are laid out row by row, so that an entry finds all their values in one place. Cost O(entries ·
/// vectors + m · vectors), memory 8·m·vectors.
pub(crate) fn products(columns: &[PlacedColumn<SparseColumn<'_>>], vectors: &[&[f64]]) -> Vec<(usize, Vec<f64>)> {
    if columns.is_empty() {
        return Vec::new();
    }
    let sums: Vec<f64> = parallel::map_slice(vectors, |v| sum(v));
    let by_row = if let [_] = vectors { Vec::new() } else { by_row(vectors) };
    let sum_column = |&(place, x, shift): &PlacedColumn<SparseColumn<'_>>| {
        let (fill, count) = (x.fill(), vectors.len());
        let mut out = vec![0.0; count];
        match vectors {
            [one] => out[0] = sparse_product(x, one),
            _ => x.for_each(|row, value| {
                let by = value - fill;
                out.iter_mut().zip(&by_row[row * count..][..count]).for_each(|(sum, v)| *sum += by * v);
            }),
        }
        axpy(fill - shift, &sums, &mut out);
        (place, out)
    };
    parallel::flat_map_chunks(columns, AT_LEAST, |some| some.iter().map(sum_column).collect::<Vec<_>>())
}

/// Interleaves vectors of equal length: the numbers of each row are contiguous.
fn by_row(vectors: &[&[f64]]) -> Vec<f64> {
    let (count, rows) = (vectors.len(), vectors.first().map_or(0, |v| v.len()));
    let mut out = vec![0.0; count * rows];
    for (k, v) in vectors.iter().enumerate() {
        out[k..].iter_mut().step_by(count).zip(*v).for_each(|(to, from)| *to = *from);
    }
    out
}

/// Minimum number of columns that a thread takes at a time.
const AT_LEAST: usize = 32;
