//! Leave-one-out with at least as many columns as rows, for every λ from one decomposition.

use crate::Data;
use crate::linalg::{self, FactorizationError};
use crate::tolerance::CONDITIONING_SPARE;
use ndarray::{Array2, ArrayView1, Axis, concatenate, s};
use vaglio_columns::max_abs;

/// Eigenvectors of XXᵀ of some columns, rows scaled and centered: gives leave-one-out residuals for any λ.
///
/// With X = U·diag(s)·Wᵀ and v̂ the direction of the intercept, G = λ·U·diag(1/(s² + λ))·Uᵀ − v̂v̂ᵀ. X is extended by
/// the column ‖X‖·v̂, which separates v̂ from the directions that the columns hardly reach. G is then a sum of squares
/// except for that one term, whatever the leverage. Rounding of U is relative to the largest of the weights λ/(s² + λ):
/// a row whose G_jj is far smaller has lost digits. Memory 8·m² bytes.
#[derive(Debug)]
pub struct RowSpectrum {
    /// U: rows × rows.
    directions: Array2<f64>,
    /// Singular values.
    values: Vec<f64>,
    /// Uᵀy: directions × outputs.
    along: Array2<f64>,
    /// v̂ with ‖X‖².
    unit: Option<(Vec<f64>, f64)>,
}

/// Columns reduced at once, together with the triangle.
const PANEL: usize = 512;

impl RowSpectrum {
    /// Decomposes the columns `subset`, each listed once, at least as many as rows. Cost O(m²·s).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn new(data: &Data<'_>, subset: &[usize]) -> Result<Self, FactorizationError> {
        let rows = data.rows();
        let squares: f64 = subset.iter().map(|&column| data.squares(column)).sum();
        let unit = data.unit.clone().map(|unit| (unit, squares));
        let mut triangle = Array2::zeros((0, rows));
        if let Some((unit, squares)) = &unit {
            triangle = (&ArrayView1::from(unit) * squares.sqrt()).insert_axis(Axis(0));
        }
        for panel in subset.chunks(PANEL.max(rows)) {
            let stacked = concatenate![Axis(0), triangle, data.matrix(panel).t()];
            let reduced = linalg::triangle(stacked.view())?;
            triangle = reduced.slice(s![..rows.min(reduced.nrows()), ..]).to_owned();
        }
        let (u, d, _) = linalg::svd(triangle.t())?;
        Ok(RowSpectrum { along: data.along_targets(&u), directions: u, values: d.to_vec(), unit })
    }

    /// Leave-one-out residuals, scaled like the rows, as outputs × rows; and their conditioning, for
    /// [`crate::is_unreliable`]. Cost O(m²·outputs).
    pub fn residuals(&self, lambda: f64) -> (Vec<Vec<f64>>, f64) {
        let shares: Vec<f64> = self.values.iter().map(|d| lambda / (d * d + lambda)).collect();
        let mut along = self.along.clone();
        along.rows_mut().into_iter().zip(&shares).for_each(|(mut row, share)| row *= *share);
        let fitted = linalg::gemm(self.directions.view(), along.view());
        let largest = max_abs(&shares);
        let (mut out, mut left) = (vec![Vec::with_capacity(fitted.nrows()); fitted.ncols()], 1.0f64);
        for (row, (directions, residuals)) in self.directions.rows().into_iter().zip(fitted.rows()).enumerate() {
            let all: f64 = directions.iter().zip(&shares).map(|(u, share)| u * u * share).sum();
            let unit_part =
                self.unit.as_ref().map_or(0.0, |(unit, squares)| unit[row] * unit[row] * (lambda / (squares + lambda)));
            let own = all - unit_part;
            left = left.min(own / all).min(CONDITIONING_SPARE * own / largest);
            out.iter_mut().zip(residuals).for_each(|(out, residual)| out.push(residual / own));
        }
        // A NaN or infinite conditioning counts as 0.
        let conditioning = left * linalg::conditioning(&self.values, lambda);
        (out, if conditioning.is_finite() { conditioning } else { 0.0 })
    }
}
