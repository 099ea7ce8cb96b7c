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

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_core::Correlation;
    use vaglio_testkit::data;

    #[test]
    fn they_are_those_of_the_default_geometry() {
        let plain = data::regression(40, 9, 3).duplicates(2).constants(2);
        for recipe in [plain.clone(), plain.clone().weighted(), plain.clone().bytes(), plain.weighted().condition(1e6)]
        {
            for intercept in [true, false] {
                let design = recipe.design(&[1.0], intercept);
                let (mut fast, mut plain) = (PearsonCorrelation::new(&design), Correlation::new(&design));
                let near = |a: Vec<f64>, b: Vec<f64>| {
                    assert_eq!(a.len(), b.len());
                    a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} is not {b}"));
                };
                near(fast.relevances().unwrap().concat(), plain.relevances().unwrap().concat());
                for feature in (0..design.features()).filter(|&f| !design.column(f).is_constant()) {
                    near(fast.gram(feature).unwrap(), plain.gram(feature).unwrap());
                }
            }
        }
        let two = data::regression(20, 4, 3).outputs(2).design(&[1.0], true);
        let (fast, plain) =
            (PearsonCorrelation::new(&two).relevances().unwrap(), Correlation::new(&two).relevances().unwrap());
        assert_eq!(fast.len(), 2);
        for (a, b) in fast.iter().flatten().zip(plain.iter().flatten()) {
            assert!((a - b).abs() < 1e-12, "{a} is not {b}");
        }
    }
}
