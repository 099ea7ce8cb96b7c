//! The nearest rows, whatever finds them.

use linfa_nn::distance::L2Dist;
use linfa_nn::{CommonNearestNeighbour, NearestNeighbour, NearestNeighbourIndex};
use ndarray::{Array2, ArrayView1};
use vaglio_core::{Error, Result};

/// Fewer points than this do not repay the making of a tree.
const FEWEST_FOR_TREE: usize = 8;
/// In more columns a tree looks at nearly every row.
const MOST_FOR_TREE: usize = 12;
/// Rounding of a range by which rows are asked for, with room.
const ROOM: f64 = 1.0 + 1e-12;

/// A training row and its distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Near {
    pub row: usize,
    /// In units of [`Search`]; ratios alone matter.
    pub distance: f64,
}

/// Training rows and points among which neighbours are sought, all divided by one power of two.
pub(crate) struct Search {
    rows: Array2<f64>,
    points: Array2<f64>,
}

/// An index of linfa over the rows of a [`Search`].
pub(crate) type Index<'a> = dyn NearestNeighbourIndex<f64> + Send + Sync + 'a;

impl Search {
    /// The largest entry comes to lie between ½ and 1, so that no square overflows and ratios of distances are exact.
    pub fn new(rows: &Array2<f64>, points: Array2<f64>) -> Self {
        let largest = rows.iter().chain(&points).fold(0.0, |most: f64, v| most.max(v.abs()));
        // Twice, since 2⁻¹⁰⁷⁴ and 2¹⁰²⁴ have no inverse.
        let half = if largest > 0.0 { (-0.5 * largest.log2()).floor().exp2() } else { 1.0 };
        Search { rows: rows.mapv(|v| v * half * half), points: points.mapv(|v| v * half * half) }
    }

    /// A tree where there are many points in few columns, else a plain scan; the neighbours are the same.
    pub fn index(&self) -> Result<Box<Index<'_>>> {
        let tree = self.points.nrows() >= FEWEST_FOR_TREE && self.points.ncols() <= MOST_FOR_TREE;
        let way = if tree { CommonNearestNeighbour::KdTree } else { CommonNearestNeighbour::LinearSearch };
        let made = way.from_batch(&self.rows, L2Dist);
        made.map_err(|e| Error::Numerical(format!("the neighbours cannot be searched: {e}")))
    }

    /// The `wanted` nearest rows of a point in order of distance, the lowest row first among equals.
    pub fn nearest(&self, index: &Index<'_>, point: usize, wanted: usize) -> Result<Vec<Near>> {
        let point = self.points.row(point);
        let failed = |e| Error::Numerical(format!("the neighbours cannot be searched: {e}"));
        let distance = |row: usize| distance(point, self.rows.row(row));
        if wanted >= self.rows.nrows() {
            return Ok(ordered(
                (0..self.rows.nrows()).map(|row| Near { row, distance: distance(row) }).collect(),
                wanted,
            ));
        }
        // An index gives any of the rows that tie for the last place: all within its distance are asked for.
        let found = index.k_nearest(point, wanted).map_err(failed)?;
        let farthest = found.iter().map(|(_, row)| distance(*row)).fold(0.0, f64::max);
        let range = farthest * ROOM + f64::MIN_POSITIVE.sqrt() * ROOM;
        let within = index.within_range(point, range).map_err(failed)?;
        let mut near: Vec<Near> = within.iter().map(|(_, row)| Near { row: *row, distance: distance(*row) }).collect();
        near.retain(|near| near.distance <= farthest);
        Ok(ordered(near, wanted))
    }
}

fn ordered(mut near: Vec<Near>, wanted: usize) -> Vec<Near> {
    near.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.row.cmp(&b.row)));
    near.truncate(wanted);
    near
}

/// ‖a − b‖, summed in the order of the columns.
fn distance(a: ArrayView1<f64>, b: ArrayView1<f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_and_a_scan_find_the_same_rows_ties_included() {
        // Points of a small lattice, each several times: most distances tie.
        let rows = Array2::from_shape_fn((60, 2), |(row, k)| ((row * (7 + 4 * k)) % 5) as f64);
        let points = Array2::from_shape_fn((20, 2), |(row, k)| ((row * (3 + k)) % 9) as f64 / 2.0);
        let many = Search::new(&rows, points.clone());
        let tree = many.index().unwrap();
        for point in 0..20 {
            let one = Search::new(&rows, points.clone());
            let scan = CommonNearestNeighbour::LinearSearch.from_batch(&one.rows, L2Dist).unwrap();
            let mut expected: Vec<Near> =
                (0..60).map(|row| Near { row, distance: distance(one.points.row(point), one.rows.row(row)) }).collect();
            expected.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.row.cmp(&b.row)));
            for wanted in [1, 2, 5, 17, 59, 60] {
                assert_eq!(many.nearest(&*tree, point, wanted).unwrap(), expected[..wanted], "{point} {wanted}");
                assert_eq!(one.nearest(&*scan, point, wanted).unwrap(), expected[..wanted], "{point} {wanted}");
            }
        }
    }

    #[test]
    fn huge_and_tiny_columns_keep_their_order() {
        for factor in [1e-310, 1e-200, 1.0, 1e200, 1e307] {
            let rows = Array2::from_shape_fn((9, 1), |(row, _)| factor * (row as f64 - 4.0));
            let search = Search::new(&rows, Array2::from_elem((1, 1), 2.2 * factor));
            let found = search.nearest(&*search.index().unwrap(), 0, 3).unwrap();
            assert_eq!(found.iter().map(|near| near.row).collect::<Vec<_>>(), [6, 7, 5], "{factor}");
        }
    }
}
