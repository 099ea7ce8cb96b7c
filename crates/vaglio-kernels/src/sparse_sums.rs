//! Sums over sparse columns: x = fill + (x − fill), where the second term is 0 in most rows.
//!
//! Shifting, and so centering and standardizing, changes the fill alone. Sums run over the entries in row order.

use crate::SparseColumn;
use crate::parallel;
use crate::sums::{axpy, sparse_product, sum};
use crate::sweep::PlacedColumn;

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
    let of = |&(place, x, shift): &PlacedColumn<SparseColumn<'_>>| {
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
    parallel::flat_map_chunks(columns, AT_LEAST, |some| some.iter().map(of).collect::<Vec<_>>())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column::{Double, Sparse};
    use crate::sums::{TILE, product, scaled};
    use vaglio_columns::SparseNumbers;

    #[test]
    fn sums_are_those_of_the_dense_column() {
        let rows = TILE + 333;
        let series = |seed: f64| -> Vec<f64> { (0..rows).map(|j| 0.3 + (j as f64 * seed).sin()).collect() };
        let [u, v, w] = [0.7, 1.3, 0.2].map(series);
        let root: Vec<f64> = w.iter().map(|w| w.abs()).collect();
        let total: f64 = root.iter().map(|r| r * r).sum();
        let own: Vec<u32> = (0..rows as u32).filter(|row| row % 9 == 4).collect();
        let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * rows as f64, "{a} is not {b}");
        let cases: [fn(u32) -> f64; 3] = [|_| 1.0, |row| f64::from(row % 13), |row| f64::from(row).cos()];
        for of in cases {
            let plain = SparseNumbers::new(rows, own.clone(), own.iter().map(|&row| of(row)).collect());
            for x in [plain.clone(), plain.map(|x| x / 3.0 - 0.25)] {
                let (x, dense) = (x.view(), x.view().to_vec());
                for shift in [0.0, x.fill(), 0.4] {
                    near(product(Sparse(x), shift, &v), product(Double(&dense), shift, &v));
                    for scale in [None, Some(&root[..])] {
                        let (mut ours, mut theirs) = (vec![0.0; rows], vec![0.0; rows]);
                        scaled(Sparse(x), shift, scale, &mut ours);
                        scaled(Double(&dense), shift, scale, &mut theirs);
                        assert_eq!(ours, theirs);
                        let all = theirs.iter().map(|x| x * x).sum::<f64>();
                        near(squares(x, shift, scale, scale.map_or(rows as f64, |_| total)).unwrap(), all);
                    }
                    let alone = products(&[(3, x, shift)], &[&v]);
                    let together = products(&[(0, x, 0.1), (3, x, shift)], &[&u, &v, &w]);
                    assert_eq!((alone[0].0, together[1].0), (3, 3));
                    near(alone[0].1[0], product(Sparse(x), shift, &v));
                    for (found, with) in together[1].1.iter().zip([&u, &v, &w]) {
                        near(*found, product(Sparse(x), shift, with));
                    }
                }
            }
        }
    }

    #[test]
    fn squares_of_columns_that_are_mostly_entries_are_left_to_others() {
        let full = SparseNumbers::new(4, vec![0, 1, 2], vec![1.0, 2.0, 3.0]);
        assert_eq!(squares(full.view(), 0.0, None, 4.0), None);
        // Few rows have an entry, but these have nearly all of the weight.
        let heavy = SparseNumbers::new(4, vec![1], vec![2.0]);
        assert_eq!(squares(heavy.view(), 0.0, Some(&[1e-9, 1.0, 1e-9, 1e-9]), 1.0), None);
        assert_eq!(squares(heavy.view(), 0.5, None, 4.0), Some(3.0));
    }
}
