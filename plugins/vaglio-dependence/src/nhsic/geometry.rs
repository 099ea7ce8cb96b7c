//! Relevance and Gram columns of the kernels, for least-angle searches.

use super::evaluator::NhsicEvaluator;
use super::relations::Relations;
use std::sync::{Arc, LazyLock};
use vaglio_core::{Feature, Geometry, Result};

/// Relations of a criterion on a design as geometry of least-angle searches, made on first use and shared.
#[derive(Clone)]
pub(super) struct RelationsGeometry<'d>(Arc<LazyLock<Result<Arc<Relations>>, MakeRelations<'d>>>);

type MakeRelations<'d> = Box<dyn FnOnce() -> Result<Arc<Relations>> + Send + 'd>;

impl<'d> RelationsGeometry<'d> {
    pub fn new(make: impl FnOnce() -> Result<Arc<Relations>> + Send + 'd) -> Self {
        RelationsGeometry(Arc::new(LazyLock::new(Box::new(make))))
    }

    /// The relations.
    ///
    /// # Errors
    /// Returns an error of making them.
    pub fn relations(&self) -> Result<&Arc<Relations>> {
        (**self.0).as_ref().map_err(Clone::clone)
    }
}

impl Geometry for RelationsGeometry<'_> {
    fn relevances(&self) -> Result<Vec<Vec<f64>>> {
        Ok(vec![self.relations()?.relevance.clone()])
    }

    /// Column of Q. Cost O(d·m·rank²), by levels O(d·m·rank).
    fn gram(&self, feature: Feature) -> Result<Vec<f64>> {
        Ok(self.relations()?.gram(feature)?.to_vec())
    }

    fn minimizer(&self, subset: &[Feature]) -> Result<Option<Vec<f64>>> {
        Ok(Some(NhsicEvaluator::minimizer(Arc::clone(self.relations()?), subset)?))
    }
}
