//! Relevance and Gram columns of the kernels, for least-angle searches.

use super::evaluator::NhsicEvaluator;
use super::relations::Relations;
use super::settings::Nhsic;
use std::sync::{Arc, OnceLock};
use vaglio_core::{Design, Error, Feature, Geometry, Result, Signs};

/// Relations of a criterion on a design, computed on first use.
pub(super) struct LazyRelations<'d>(&'d Nhsic, &'d Design, OnceLock<GeometryWalk>);

impl<'d> LazyRelations<'d> {
    pub fn new(nhsic: &'d Nhsic, design: &'d Design) -> Self {
        LazyRelations(nhsic, design, OnceLock::new())
    }

    fn walk(&mut self) -> Result<&mut GeometryWalk> {
        let LazyRelations(nhsic, design, made) = self;
        if made.get().is_none() {
            let _ = made.set(GeometryWalk(Arc::new(Relations::new(nhsic, design)?)));
        }
        made.get_mut().ok_or_else(|| Error::Numerical("the relations of the columns are not there".into()))
    }
}

impl Geometry for LazyRelations<'_> {
    fn relevance(&mut self) -> Result<Vec<f64>> {
        self.walk()?.relevance()
    }

    fn gram(&mut self, feature: Feature) -> Result<Vec<f64>> {
        self.walk()?.gram(feature)
    }

    fn signs(&self) -> Signs {
        Signs::NonNegative
    }
}

/// Relations as the geometry of least-angle searches.
pub(super) struct GeometryWalk(pub Arc<Relations>);

impl Geometry for GeometryWalk {
    fn relevance(&mut self) -> Result<Vec<f64>> {
        Ok(self.0.relevances().to_vec())
    }

    /// Column of Q. Cost O(d·m·rank²), by levels O(d·m·rank).
    fn gram(&mut self, feature: Feature) -> Result<Vec<f64>> {
        Ok(self.0.gram(feature)?.to_vec())
    }

    fn signs(&self) -> Signs {
        Signs::NonNegative
    }

    fn minimizer(&mut self, subset: &[Feature]) -> Result<Option<Vec<f64>>> {
        Ok(Some(NhsicEvaluator::minimizer(Arc::clone(&self.0), subset)?))
    }
}
