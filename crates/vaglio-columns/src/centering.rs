//! Weights of rows, and centering by weighted means.

use ndarray::ArrayViewMut1;

/// Weight of a row by its index; 1 without weights.
pub fn row_weights(weights: Option<&[f64]>) -> impl Fn(usize) -> f64 + Copy {
    move |row| weights.map_or(1.0, |weights| weights[row])
}

/// Subtracts the weighted mean from values, in two passes, and returns both means. The second corrects the rounding of
/// the first, which matters far from 0. `total` is the sum of the weights. Cost O(m).
pub fn center(mut values: ArrayViewMut1<'_, f64>, weight: impl Fn(usize) -> f64, total: f64) -> [f64; 2] {
    [(); 2].map(|()| {
        let mean = values.iter().enumerate().map(|(j, v)| weight(j) * v).sum::<f64>() / total;
        values -= mean;
        mean
    })
}
