//! Correlations computed from stored columns.

use super::kernel::kernel_data;
use vaglio_core::{Design, Feature, Geometry, Result};
use vaglio_kernels::{Data, Operand};

/// The numbers of [`vaglio_core::Correlation`], with one read of the columns for each column of the Gram matrix.
///
/// Uses correlations over all rows, even if columns are standardized in each fold. Memory O(rows).
pub(super) struct PearsonCorrelation<'d> {
    design: &'d Design,
    /// Data of the kernels; created on first use.
    data: Option<Data<'d>>,
}

impl<'d> PearsonCorrelation<'d> {
    /// Creates the geometry; nothing is computed yet.
    pub fn new(design: &'d Design) -> Self {
        PearsonCorrelation { design, data: None }
    }

    fn correlations(&mut self, with: Operand) -> Result<Vec<f64>> {
        let data = match self.data.take() {
            Some(data) => data,
            None => kernel_data(self.design, true)?,
        };
        Ok(self.data.insert(data).correlations(with))
    }
}

impl Geometry for PearsonCorrelation<'_> {
    fn relevances(&mut self) -> Result<Vec<Vec<f64>>> {
        (0..self.design.targets().nrows()).map(|output| self.correlations(Operand::Target(output))).collect()
    }

    /// Cost O(rows · columns).
    fn gram(&mut self, feature: Feature) -> Result<Vec<f64>> {
        self.correlations(Operand::Column(feature))
    }

    fn is_linear(&self) -> bool {
        true
    }
}
