//! Automatic grid of λ, fitted to the eigenvalues of a design.
//!
//! For λ far below the smallest eigenvalue of the Gram matrix, ridge regression is least squares; far above the
//! largest, it predicts the mean. An automatic grid spans from a tenth of the smallest to ten times the largest. Its
//! ends are rounded outward to powers of ten or their square roots, so that similar designs share a grid.

use ndarray::Array2;
use vaglio_core::{Design, Feature, geometric, row_weights, sum_of_squares, training_weights};
use vaglio_kernels::linalg::{eigh, gram};
use vaglio_kernels::tolerance::COUNTED_EIGENVALUE;

/// Factor by which the grid exceeds the eigenvalues.
const BEYOND: f64 = 10.0;
/// Largest size of a grid with two values per power of ten; larger ones have one.
const MOST_DENSE: f64 = 15.0;
/// Largest smaller side of the matrix to decompose.
const MOST_SIDE: usize = 600;
/// Largest work for a Gram matrix, in multiply-adds.
const MOST_WORK: f64 = 4e9;
/// Number of matrix entries multiplied at once.
const PANEL: usize = 1 << 20;

/// The design with its automatic grid of λ fitted. Rows of a larger design `whole` use its grid.
pub fn with_fitted_lambdas(design: Design, whole: Option<&Design>) -> Design {
    let fitted = design.readout().filter(|readout| readout.auto);
    let Some(points) = fitted.map(|readout| readout.points) else { return design };
    if let Some(readout) = whole.and_then(Design::readout) {
        return design.at_lambda(readout.lambdas.clone());
    }
    match extreme_eigenvalues(&design) {
        Some((least, largest)) => design.at_lambda(grid(points, least, largest)),
        None => design,
    }
}

/// Replaces an automatic grid by one λ, for a search whose model does not use λ.
pub fn with_one_lambda(design: Design) -> Design {
    match design.readout().is_some_and(|readout| readout.auto) {
        true => design.at_lambda([1.0]),
        false => design,
    }
}

/// The grid of λ for the smallest and largest eigenvalues.
fn grid(points: Option<usize>, least: f64, largest: f64) -> Vec<f64> {
    let (low, high) = ((least / BEYOND).log10(), (largest * BEYOND).log10());
    // Limited to the range of doubles, whatever the units of the columns.
    let ends =
        |parts: f64| [(parts * low).floor() / parts, (parts * high).ceil() / parts].map(|end| end.clamp(-300.0, 300.0));
    let count = |parts: f64, [from, to]: [f64; 2]| (parts * (to - from)).round() + 1.0;
    let parts = if count(2.0, ends(2.0)) <= MOST_DENSE { 2.0 } else { 1.0 };
    let [from, to] = ends(parts);
    let points = points.unwrap_or_else(|| count(parts, [from, to]) as usize);
    geometric(10f64.powf(from), 10f64.powf(to), points)
}

/// Smallest significant and largest eigenvalue of the weighted Gram matrix, of columns centered if there is an
/// intercept. Returns `None` if no eigenvalue is positive or squares overflow. Large designs use evenly spaced rows.
/// Cost O(rows · columns · min(rows, columns)).
fn extreme_eigenvalues(design: &Design) -> Option<(f64, f64)> {
    let columns = design.candidates();
    let rows = design.rows();
    let many = |rows: usize| rows as f64 * columns.len() as f64 * rows.min(columns.len()) as f64;
    let mut taken = if columns.len() > MOST_SIDE { rows.min(MOST_SIDE) } else { rows };
    while many(taken) > MOST_WORK && taken > MOST_SIDE {
        taken = (taken / 2).max(MOST_SIDE);
    }
    let spread: Vec<usize> =
        (0..taken).map(|place| (place as u128 * rows as u128 / taken.max(1) as u128) as usize).collect();
    let products = gram_matrix(design, &columns, &spread);
    // The later check of the data names the column that is not finite.
    if products.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (values, _) = eigh(products.view()).ok()?;
    let part = rows as f64 / taken.max(1) as f64;
    let largest = values.iter().copied().fold(0.0, f64::max) * part;
    let counting = values.iter().map(|value| value * part).filter(|value| *value > COUNTED_EIGENVALUE * largest);
    let least = counting.fold(f64::INFINITY, f64::min);
    (least.is_normal() && largest.is_finite()).then_some((least, largest))
}

/// X R Xᵀ or its transposed product, whichever is smaller: X are centered columns, R weights of some rows.
fn gram_matrix(design: &Design, columns: &[Feature], rows: &[usize]) -> Array2<f64> {
    let roots = weight_roots(design, rows);
    let has_intercept = design.has_intercept();
    let total = sum_of_squares(&roots);
    let means: Vec<f64> = columns
        .iter()
        .map(|&feature| {
            let column = design.column(feature);
            let sum: f64 = rows.iter().zip(&roots).map(|(&row, root)| root * root * column.get(row)).sum();
            if has_intercept { sum / total } else { 0.0 }
        })
        .collect();
    let entry =
        |row: usize, column: usize| roots[row] * (design.column(columns[column]).get(rows[row]) - means[column]);
    let side = rows.len().min(columns.len());
    let mut sum = Array2::zeros((side, side));
    let (along, is_tall) = (rows.len().max(columns.len()), rows.len() >= columns.len());
    let step = (PANEL / side.max(1)).max(1);
    for start in (0..along).step_by(step) {
        let height = step.min(along - start);
        let entry = |(at, k): (usize, usize)| if is_tall { entry(start + at, k) } else { entry(k, start + at) };
        sum += &gram(Array2::from_shape_fn((height, side), entry).view());
    }
    sum
}

/// Square roots of the training weights of rows.
fn weight_roots(design: &Design, rows: &[usize]) -> Vec<f64> {
    let all = training_weights(design, 0..design.rows());
    rows.iter().map(|&row| row_weights(all.as_deref())(row).sqrt()).collect()
}
