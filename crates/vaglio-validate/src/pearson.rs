//! Correlations computed from stored columns.

use super::kernel::kernel_data;
use std::sync::OnceLock;
use vaglio_core::{Design, Feature, Geometry, Result, get_or_try_make};
use vaglio_kernels::Data;

/// The numbers of `vaglio_search::correlation`, with one read of the columns for each column of the Gram matrix.
///
/// Uses correlations over all rows, even if columns are standardized in each fold. Memory O(rows).
pub(super) struct PearsonCorrelation<'d> {
    design: &'d Design,
    /// Data of the kernels; created on first use.
    data: OnceLock<Data<'d>>,
}

impl<'d> PearsonCorrelation<'d> {
    /// Creates the geometry; nothing is computed yet.
    pub fn new(design: &'d Design) -> Self {
        PearsonCorrelation { design, data: OnceLock::new() }
    }

    fn data(&self) -> Result<&Data<'d>> {
        get_or_try_make(&self.data, || kernel_data(self.design, true))
    }
}

impl Geometry for PearsonCorrelation<'_> {
    fn relevances(&self) -> Result<Vec<Vec<f64>>> {
        let data = self.data()?;
        Ok(data.centered.iter().map(|targets| data.correlations(targets.clone())).collect())
    }

    /// Cost O(rows · columns).
    fn gram(&self, feature: Feature) -> Result<Vec<f64>> {
        let data = self.data()?;
        Ok(data.correlations(data.scaled_column(feature)))
    }

    fn is_linear(&self) -> bool {
        true
    }
}
