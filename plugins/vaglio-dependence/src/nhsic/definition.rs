//! Definition of the criterion by m × m kernel matrices.

use super::settings::Nhsic;
use crate::kernel_matrix::{Quadratic, row_shares, standardized_column};
use ndarray::{Array1, Array2};
use vaglio_core::{Design, Feature, Result, Score};

/// min over α ≥ 0 of ‖L̃ − Σ α_k K̃_k‖²_F.
pub(super) fn evaluate(nhsic: &Nhsic, design: &Design, subset: &[Feature]) -> Result<Score> {
    let shares = row_shares(design);
    let target = normalize(nhsic, center(target(nhsic, design)?, &shares));
    let mut matrices = Vec::with_capacity(subset.len());
    for &feature in subset {
        let matrix = match standardized_column(design, feature, &shares) {
            Some(values) => column(nhsic, &values, &shares)?,
            None => Array2::zeros(target.dim()),
        };
        matrices.push(normalize(nhsic, center(matrix, &shares)));
    }
    let inner = |a: &Array2<f64>, b: &Array2<f64>| (a * b).sum();
    let mut quadratic = Quadratic::new(inner(&target, &target));
    for (k, matrix) in matrices.iter().enumerate() {
        quadratic.push(inner(matrix, &target), matrices[..=k].iter().map(|other| inner(matrix, other)).collect());
    }
    let alpha = quadratic.minimizer(&vec![0.0; subset.len()]);
    Score::new(quadratic.value(&alpha)).checked()
}

/// The kernel matrix of a standardized column.
fn column(nhsic: &Nhsic, u: &[f64], shares: &[f64]) -> Result<Array2<f64>> {
    let (rows, bandwidth) = (u.len(), nhsic.kernel.bandwidth);
    let kernel = |(j, k): (usize, usize)| (-(u[j] - u[k]).powi(2) / (2.0 * bandwidth * bandwidth)).exp();
    Ok(match (nhsic.levels(rows), nhsic.columns_landmarks(rows)?) {
        (Some(levels), _) => product(&levels.column(shares, u).features(), rows),
        (None, Some(landmarks)) => product(&landmarks.features(u), rows),
        (None, None) => Array2::from_shape_fn((rows, rows), kernel),
    })
}

/// FFᵀ of the columns of F.
fn product(features: &[Vec<f64>], rows: usize) -> Array2<f64> {
    let f = Array2::from_shape_fn((rows, features.len()), |(j, k)| features[k][j]);
    f.dot(&f.t())
}

/// The kernel matrix of the target.
fn target(nhsic: &Nhsic, design: &Design) -> Result<Array2<f64>> {
    let (rows, target) = (design.rows(), nhsic.target(design));
    Ok(match nhsic.target_features(&target)? {
        Some(features) => product(&features, rows),
        None => Array2::from_shape_fn((rows, rows), |(j, k)| target.kernel(j, k)),
    })
}

/// P^{½}HKHᵀP^{½} with H = I − 1pᵀ.
fn center(kernel: Array2<f64>, shares: &[f64]) -> Array2<f64> {
    let p = Array1::from_iter(shares.iter().copied());
    let means = kernel.dot(&p);
    let mean = means.dot(&p);
    Array2::from_shape_fn(kernel.dim(), |(j, k)| {
        (shares[j] * shares[k]).sqrt() * (kernel[[j, k]] - means[j] - means[k] + mean)
    })
}

/// Divides a matrix by its norm if `normalize` is set.
fn normalize(nhsic: &Nhsic, kernel: Array2<f64>) -> Array2<f64> {
    let norm = (&kernel * &kernel).sum().sqrt();
    if nhsic.normalize && norm > 0.0 { kernel / norm } else { kernel }
}
