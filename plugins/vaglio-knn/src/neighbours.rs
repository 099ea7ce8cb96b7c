//! Search for nearest rows by a k-d tree or a scan.

use linfa_nn::{KdTree, NearestNeighbour, distance::L2Dist};
use ndarray::Array2;
use vaglio_core::{Columns, Error, Result, magnitude};

/// Minimum number of points for which building a tree pays off.
const FEWEST_FOR_TREE: usize = 8;
/// Maximum number of columns for a tree: in more it visits nearly every row.
const MOST_FOR_TREE: usize = 12;

const UNSEARCHED: &str = "the neighbours cannot be searched";

/// Calls `take` with every point and its nearest rows, until their weights add up to `k`. Rows are in order of
/// distance, ties by row number. Distances share one unit.
///
/// Many points in few columns are searched by a tree, others by a scan; the neighbours are the same.
pub(crate) fn each_nearest(
    rows: &Array2<f64>,
    weight: impl Fn(usize) -> f64,
    points: &Columns,
    k: f64,
    mut take: impl FnMut(usize, &[(usize, f64)]),
) -> Result<()> {
    let points = Array2::from_shape_fn((points.rows(), points.len()), |(row, k)| points.column(k).get(row));
    let unit = magnitude(rows.iter().chain(&points));
    let (all, rows, points) = (rows.nrows(), rows.as_standard_layout().mapv(|v| v / unit), points / unit);

    let pays = points.nrows() >= FEWEST_FOR_TREE && (1..=MOST_FOR_TREE).contains(&points.ncols());
    let tree = pays.then(|| KdTree.from_batch(&rows, L2Dist)).transpose().map_err(|e| Error::failed(UNSEARCHED, e))?;
    for (place, point) in points.rows().into_iter().enumerate() {
        let near = |row: usize| {
            let square: f64 = point.iter().zip(rows.row(row)).map(|(a, b)| (a - b) * (a - b)).sum();
            (row, square.sqrt())
        };
        let mut wanted = all.min(k as usize);
        loop {
            let mut found: Vec<_> = match &tree {
                Some(tree) if wanted < all => {
                    // A tree returns arbitrary rows among ties for the last place: all rows within its distance are
                    // requested.
                    let nearest = tree.k_nearest(point, wanted).map_err(|e| Error::failed(UNSEARCHED, e))?;
                    let farthest = nearest.iter().map(|(_, row)| near(*row).1).fold(0.0, f64::max);
                    let with_room = (1.0 + 1e-12) * (farthest + f64::MIN_POSITIVE.sqrt());
                    let within = tree.within_range(point, with_room).map_err(|e| Error::failed(UNSEARCHED, e))?;
                    within.iter().map(|(_, row)| near(*row)).filter(|(_, distance)| *distance <= farthest).collect()
                }
                _ => (0..all).map(near).collect(),
            };
            found.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            if found.len() == all || found.iter().fold(k, |left, (row, _)| left - weight(*row)) <= 0.0 {
                take(place, &found);
                break;
            }
            wanted = all.min(2 * wanted);
        }
    }
    Ok(())
}
