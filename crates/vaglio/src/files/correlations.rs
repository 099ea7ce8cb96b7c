//! How the selected columns correlate over the training rows.

use crate::all_rows::{FitFrom, Products};
use ndarray::{Array2, ShapeBuilder};
use vaglio_core::{Design, Feature};
use vaglio_report::record::MOST_CORRELATED;

/// Multiply-adds that the correlations of a result may take.
const MOST_WORK: f64 = 3e10;

/// Correlations of the selected columns, with row weights; none where there are too many to compute in passing.
pub(super) struct Correlations(Option<Array2<f64>>);

impl Correlations {
    /// From the products that the final fit used, those of the search or its own, where there are some. Cost
    /// O(columns²), else O(rows · columns²).
    pub fn new(design: &Design, subset: &[Feature]) -> Self {
        let rows = design.rows();
        if rows as f64 * (subset.len() as f64).powi(2) > MOST_WORK {
            return Correlations(None);
        }
        let known = Products::known(design.in_units().map_or(design, |(_, scaled)| scaled), subset, FitFrom::Search);
        if let Some(known) = known.and_then(|products| products.all_rows()?.correlations(subset)) {
            return Correlations(Some(known));
        }
        let weight = |row: usize| design.weights().map_or(1.0, |w| w[row]);
        let total: f64 = (0..rows).map(weight).sum();
        let mut scaled = Array2::zeros((rows, subset.len()).f());
        for (mut to, &feature) in scaled.columns_mut().into_iter().zip(subset) {
            let values = design.column(feature).values();
            let mean = values.iter().enumerate().map(|(j, x)| weight(j) * x).sum::<f64>() / total;
            to.iter_mut().zip(values.iter()).enumerate().for_each(|(j, (to, x))| *to = weight(j).sqrt() * (x - mean));
            let norm = to.iter().map(|x| x * x).sum::<f64>().sqrt();
            // A bias has no spread, and is 0.
            to /= if norm > 0.0 { norm } else { 1.0 };
        }
        let products = vaglio_kernels::linalg::gram(scaled.view());
        Correlations(Some(products.mapv(|r| r.clamp(-1.0, 1.0))))
    }

    /// RED, the mean of |ρ_kl| over pairs of different columns; `None` for fewer than two.
    ///
    /// # Reference
    /// Z. Zhao, L. Wang, H. Liu, *Efficient spectral feature selection with minimum redundancy*, AAAI 2010.
    pub fn redundancy(&self) -> Option<f64> {
        let matrix = self.0.as_ref().filter(|matrix| matrix.nrows() > 1)?;
        let size = matrix.nrows() as f64;
        let pairs = matrix.indexed_iter().filter(|((k, l), _)| k != l);
        Some(pairs.map(|(_, r)| r.abs()).sum::<f64>() / (size * (size - 1.0)))
    }

    /// Of each column with those before it, for a report; empty for many columns.
    pub fn shown(&self) -> Vec<Vec<Option<f64>>> {
        let finite = |r: &f64| Some(*r).filter(|r| r.is_finite());
        let matrix = self.0.as_ref().filter(|matrix| matrix.nrows() <= MOST_CORRELATED);
        let rows = matrix.map(|matrix| matrix.rows().into_iter().enumerate());
        rows.into_iter().flatten().map(|(k, row)| row.iter().take(k).map(finite).collect()).collect()
    }
}
