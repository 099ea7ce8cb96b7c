//! Normal equations of all rows, from one read of the columns.

use super::FoldedRows;
use super::products::GroupSums;
use crate::linalg::FactorizationError;
use crate::normal_equations::NormalEquations;
use crate::{Data, Folds};
use std::sync::Arc;

impl NormalEquations {
    /// Computes the products in one read of the columns. Cost O(m·n²).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if products overflow.
    pub fn new(data: &Arc<Data<'_>>, columns: &[usize]) -> Result<Self, FactorizationError> {
        let mut features = columns.to_vec();
        features.sort_unstable();
        features.dedup();
        let folds = Folds::new(&vec![0; data.rows()]);
        let rows = FoldedRows::new(Arc::clone(data), folds, false);
        let GroupSums { features, products, side, .. } = GroupSums::from_columns(&rows, features);
        let products = products.into_iter().flatten().next().unwrap_or_default();
        let equations = NormalEquations::from_products(features, products, side, data.outputs(), rows.intercept);
        if equations.is_finite() { Ok(equations) } else { Err(FactorizationError::NoConvergence) }
    }
}
