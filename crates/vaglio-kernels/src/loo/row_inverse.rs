//! Leave-one-out from the m × m inverse, for subsets that can fit every row.
//!
//! [`crate::exclusion`] can do the same with every row excluded, by reflections instead of a Cholesky factor; greedy on
//! wide data then takes 1.6 to 1.8 times as long (`cargo bench -p vaglio --bench leverage -- greedy`).

use crate::tolerance::{INVERSE_ERROR, SMALL_PENALTY};
use crate::{Data, linalg};
use ndarray::{Array2, ArrayView1};
use vaglio_columns::minimum;

/// Maximum number of rows for an m × m inverse.
const MOST_ROWS: usize = 2048;

/// Leave-one-out residuals for a subset of at least m − 2 columns; `None` for fewer columns, too many rows, or too
/// small a λ.
///
/// With A = X_S X_Sᵀ + λI and M = A⁻¹, the residual of row j left out is (M y)_j / M_jj. If columns can fit every row,
/// only the last digits of G = λM are correct. M itself is computed without cancellation. With an intercept the
/// direction v of the ones gets weight γ in A and is removed from M again: M = A⁻¹ − v̂v̂ᵀ/(λ + γ). Cost O(m³ + m²·s).
pub(super) fn residuals(data: &Data<'_>, lambda: f64, subset: &[usize]) -> Option<Vec<Vec<f64>>> {
    let rows = data.rows();
    if subset.len() + 2 < rows || rows > MOST_ROWS {
        return None;
    }
    let x = data.matrix(subset);
    let mut a = linalg::gemm(x.view(), x.t());
    let trace = a.diag().sum();
    if lambda < SMALL_PENALTY * trace {
        return None;
    }
    let gamma = trace / rows as f64;
    let unit = data.unit.as_deref();
    if let Some(unit) = unit {
        let unit = ArrayView1::from(unit);
        a.zip_mut_with(&outer(unit, gamma), |a, v| *a += v);
    }
    a.diag_mut().mapv_inplace(|d| d + lambda);
    let mut inverse = linalg::solve(a.view(), Array2::eye(rows).view()).ok()?;
    if let Some(unit) = unit {
        inverse -= &outer(ArrayView1::from(unit), 1.0 / (lambda + gamma));
    }
    // Entries of M have an error of ε·κ times the largest, which is up to 1/λ: too much if M_jj is far smaller.
    let least = minimum(inverse.diag().iter().copied());
    let error = f64::EPSILON * trace / (lambda * lambda * least);
    if error.is_nan() || error > INVERSE_ERROR {
        return None;
    }
    let output_residuals = |y: &Vec<f64>| {
        let fitted = inverse.dot(&ArrayView1::from(y));
        fitted.iter().zip(inverse.diag()).map(|(e, d)| e / d).collect::<Vec<f64>>()
    };
    Some(data.centered.iter().map(output_residuals).collect())
}

fn outer(v: ArrayView1<'_, f64>, factor: f64) -> Array2<f64> {
    Array2::from_shape_fn((v.len(), v.len()), |(i, j)| factor * v[i] * v[j])
}
