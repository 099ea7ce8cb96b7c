//! The geometry in which least-angle searches walk: the criterion's, or correlation.

use std::sync::Arc;
use vaglio_core::{
    Criterion, Design, Feature, Geometry, Result, SearchExtent, standardize_column, standardize_outputs,
    sum_of_products,
};

/// Geometry of a criterion on a design for least-angle searches: its [plan](vaglio_core::Plan::geometry)'s, or
/// correlation.
pub fn plan_geometry<'d>(criterion: &'d dyn Criterion, design: &'d Design) -> Arc<dyn Geometry + 'd> {
    let own = criterion.plan(design, &SearchExtent::fixed(0)).geometry;
    own.unwrap_or_else(|| Arc::new(correlation(design)))
}

/// Correlations of the columns, and of columns with targets, under the row weights. Each is scaled to mean 0 and norm
/// 1. Memory O(rows · columns).
pub fn correlation(design: &Design) -> impl Geometry + use<> {
    let columns = (0..design.features()).map(|feature| standardize_column(design, feature)).collect();
    Correlation { columns, targets: standardize_outputs(design) }
}

struct Correlation {
    /// Entries √r_j (x_ij − mean)/norm of each column; empty for a constant one.
    columns: Vec<Vec<f64>>,
    targets: Vec<Vec<f64>>,
}

impl Geometry for Correlation {
    fn relevances(&self) -> Result<Vec<Vec<f64>>> {
        Ok(self
            .targets
            .iter()
            .map(|target| self.columns.iter().map(|x| sum_of_products(x, target)).collect())
            .collect())
    }

    /// Cost O(rows · columns).
    fn gram(&self, feature: Feature) -> Result<Vec<f64>> {
        Ok(self.columns.iter().map(|x| sum_of_products(x, &self.columns[feature])).collect())
    }

    fn is_linear(&self) -> bool {
        true
    }
}
