//! Normal equations over all rows, for fits and correlations.

use super::FoldedRows;
use super::group_sums::GroupSums;
use crate::linalg::FactorizationError;
use crate::tolerance::FEW_DIGITS;
use crate::{Data, Folds};
use ndarray::Array2;
use std::sync::Arc;

/// Products of columns, targets and the ones-vector over all rows, scaled by √r_j. Memory 8·n² bytes.
#[derive(Debug, Clone)]
pub struct NormalEquations {
    /// Columns in increasing order.
    pub(super) features: Vec<usize>,
    /// Lower triangle, side × side: columns first, then outputs, then the ones-vector.
    pub(super) products: Vec<f64>,
    pub(super) side: usize,
    pub(super) outputs: usize,
    pub(super) intercept: bool,
}

impl NormalEquations {
    /// Computes the products in one read of the columns. Cost O(m·n²).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if products overflow.
    pub fn new(data: &Arc<Data<'_>>, columns: &[usize]) -> Result<Self, FactorizationError> {
        let mut features = columns.to_vec();
        features.sort_unstable();
        features.dedup();
        let rows = FoldedRows::new(Arc::clone(data), Folds::new(&vec![0; data.rows()]), false);
        let GroupSums { features, products, side, .. } = GroupSums::from_columns(&rows, features);
        let products = products.into_iter().flatten().next().unwrap_or_default();
        if !products.iter().all(|x| x.is_finite()) {
            return Err(FactorizationError::NoConvergence);
        }
        Ok(NormalEquations { features, products, side, outputs: data.outputs(), intercept: rows.data.has_intercept() })
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.products[i.max(j) * self.side + i.min(j)]
    }

    /// Index of the ones-vector.
    fn ones(&self) -> usize {
        self.features.len() + self.outputs
    }

    /// Whether products of all columns of a subset are available.
    pub fn has(&self, subset: &[usize]) -> bool {
        self.places(subset).is_some()
    }

    fn places(&self, subset: &[usize]) -> Option<Vec<usize>> {
        subset.iter().map(|feature| self.features.binary_search(feature).ok()).collect()
    }

    /// XᵀX, columns × columns, and XᵀY, columns × outputs, of a subset over all rows; centered if there is an
    /// intercept. Returns `None` if products of a column are missing. Cost O(s²).
    pub fn restrict(&self, subset: &[usize]) -> Option<(Array2<f64>, Array2<f64>)> {
        let (places, means) = (self.places(subset)?, self.means_left(subset)?);
        let target = |(k, o): (usize, usize)| self.centered_product(places[k], self.features.len() + o, means[k]);
        Some((self.gram(&places, &means), Array2::from_shape_fn((places.len(), self.outputs), target)))
    }

    /// Product of a column i, less its mean, with j.
    fn centered_product(&self, i: usize, j: usize, mean: f64) -> f64 {
        self.at(i, j) - mean * self.at(self.ones(), j)
    }

    /// Products of the columns at some places, less their means.
    fn gram(&self, places: &[usize], means: &[f64]) -> Array2<f64> {
        let entry = |(k, l): (usize, usize)| self.centered_product(places[k.max(l)], places[k.min(l)], means[k.max(l)]);
        Array2::from_shape_fn((places.len(), places.len()), entry)
    }

    /// Remaining means of a subset's columns if there is an intercept: rounding of the removed means, which counts far
    /// from 0. Returns `None` if products of a column are missing.
    pub fn means_left(&self, subset: &[usize]) -> Option<Vec<f64>> {
        let places = self.places(subset)?;
        let (ones, weight) = (self.ones(), self.at(self.ones(), self.ones()));
        Some(places.into_iter().map(|i| if self.intercept { self.at(ones, i) / weight } else { 0.0 }).collect())
    }

    /// Correlations of a subset's columns; 0 for constant columns. Cost O(s²).
    ///
    /// Returns `None` if products of a column are missing or centering them would cost digits.
    pub fn correlations(&self, subset: &[usize]) -> Option<Array2<f64>> {
        let places = self.places(subset)?;
        let ones = self.ones();
        let means: Vec<f64> = places.iter().map(|&i| self.at(ones, i) / self.at(ones, ones)).collect();
        let gram = self.gram(&places, &means);
        if !places.iter().zip(gram.diag()).all(|(&i, square)| *square >= FEW_DIGITS * self.at(i, i)) {
            return None;
        }
        let inverse = gram.diag().mapv(|s| if s > 0.0 { 1.0 / s.sqrt() } else { 0.0 });
        let entry = |(k, l): (usize, usize)| gram[[k, l]] * inverse[k.max(l)] * inverse[k.min(l)];
        Some(Array2::from_shape_fn(gram.dim(), entry).mapv(|entry| entry.clamp(-1.0, 1.0)))
    }
}
