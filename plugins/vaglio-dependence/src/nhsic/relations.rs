//! Lazily computed inner products of kernel matrices.

use super::evaluator::NhsicEvaluator;
use super::kernels::Kernels;
use super::settings::Nhsic;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use vaglio_core::{Design, Feature, Geometry, ProcessGroup, Result, get_or_try_make};
use vaglio_kernels::tolerance::LEVEL_SIMILARITY;

/// Maximum number of columns at which a request for one entry of Q caches the whole column.
pub(super) const NARROW: usize = 512;

/// Kernels of all columns, c_i = <K̃_i, L̃> of each, and the requested columns of Q_ij = <K̃_i, K̃_j>.
///
/// Memory: the kernels, and 8 bytes per requested entry of Q. Processes that search together each compute the
/// numbers and kernels of some of the columns.
pub(super) struct Relations {
    kernels: Kernels,
    /// Q_ii, 0 for an ignored column.
    pub own: Vec<f64>,
    /// c of all columns.
    pub relevance: Vec<f64>,
    /// ‖L̃‖².
    pub total: f64,
    gram: Vec<OnceLock<Vec<f64>>>,
    /// Process group that shares the computation, and the prefix of this criterion's work items.
    process_group: Option<(Arc<dyn ProcessGroup>, String)>,
}

impl Relations {
    /// Computes kernels and relevance. Cost O(d·m·rank²), by levels O(d·m·rank).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`] if the points' kernel matrix cannot be decomposed, or
    /// [`vaglio_core::Error::Stopped`].
    pub fn new(nhsic: &Nhsic, design: &Design) -> Result<Self> {
        let all: Vec<Feature> = (0..design.features()).collect();
        let kernels = Kernels::new(nhsic, design, &all)?;
        let target = nhsic.target(design);
        let matrix = nhsic.matrix(&target, &kernels.shares)?;
        let gram = all.iter().map(|_| OnceLock::new()).collect();
        let process_group = design.run().process_group.clone().map(|process_group| (process_group, derive_name(nhsic)));
        let (own, relevance, total) = (Vec::new(), Vec::new(), 0.0);
        let mut relations = Relations { kernels, own, relevance, total, gram, process_group };
        // ‖L̃‖², c of every column, Q_ii of every column.
        let parts = relations.gather("relevance", "", |range| {
            let (relevance, total) = relations.kernels.relevance(&matrix, range.clone())?;
            Ok([vec![total], relevance, relations.kernels.own(range)?].concat())
        })?;
        for part in parts {
            let Some((total, column_sums)) = part.split_first() else { continue };
            let (relevance, own) = column_sums.split_at(column_sums.len() / 2);
            relations.total = *total;
            relations.relevance.extend(relevance);
            relations.own.extend(own);
        }
        Ok(relations)
    }

    /// Numbers of all columns, by the parts that processes computed.
    fn gather(
        &self,
        kind: &str,
        which: &str,
        mut make: impl FnMut(Range<usize>) -> Result<Vec<f64>>,
    ) -> Result<Vec<Vec<f64>>> {
        let all = self.gram.len();
        match &self.process_group {
            Some((process_group, named)) => process_group.gather(&format!("{named} {kind}"), which, all, &mut make),
            None => Ok(vec![make(0..all)?]),
        }
    }

    /// Q_ik of column i `feature` and k `with`, by the column of Q if cached or short. Cost O(m·rank²) otherwise, by
    /// levels O(m·rank).
    ///
    /// # Errors
    /// Returns the errors of [`Relations::gram`].
    pub fn entry(&self, with: Feature, feature: Feature) -> Result<f64> {
        if self.gram.len() <= NARROW || self.gram[with].get().is_some() {
            return Ok(self.gram(with)?[feature]);
        }
        if feature == with {
            return Ok(self.own[feature]);
        }
        Ok(self.for_copies(with, feature, self.kernels.products(with, feature..feature + 1)?[0]))
    }

    /// Q_ik, rounded to the value of copies if single precision cannot separate them. By levels, whose factors are in
    /// single precision, a column and its mirror image would differ otherwise.
    fn for_copies(&self, with: Feature, feature: Feature, product: f64) -> f64 {
        let (a, b) = (self.own[with], self.own[feature]);
        let are_copies = self.kernels.is_by_levels() && a + b - 2.0 * product <= LEVEL_SIMILARITY * (a + b);
        if are_copies { (a * b).sqrt() } else { product }
    }

    /// Column `feature` of Q, cached. Cost O(d·m·rank²) the first time, by levels O(d·m·rank).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Stopped`], and [`vaglio_core::Error::Numerical`] if a decomposition fails.
    pub fn gram(&self, feature: Feature) -> Result<&[f64]> {
        let column = get_or_try_make(&self.gram[feature], || -> Result<Vec<f64>> {
            let which = feature.to_string();
            let mut column = self.gather("products", &which, |range| self.kernels.products(feature, range))?.concat();
            column.iter_mut().enumerate().for_each(|(k, product)| *product = self.for_copies(feature, k, *product));
            column[feature] = self.own[feature];
            Ok(column)
        })?;
        Ok(column)
    }
}

/// Name derived from the settings, which may differ between two criteria of one search.
fn derive_name(nhsic: &Nhsic) -> String {
    let mut digest = DefaultHasher::new();
    format!("{nhsic:?}").hash(&mut digest);
    format!("nhsic {:016x}", digest.finish())
}

/// Relations of a criterion on a design as geometry of least-angle searches, made on first use and shared.
#[derive(Clone)]
pub(super) struct RelationsGeometry<'d> {
    nhsic: &'d Nhsic,
    design: &'d Design,
    relations: Arc<OnceLock<Arc<Relations>>>,
}

impl<'d> RelationsGeometry<'d> {
    pub fn new(nhsic: &'d Nhsic, design: &'d Design) -> Self {
        RelationsGeometry { nhsic, design, relations: Arc::default() }
    }

    /// The relations.
    ///
    /// # Errors
    /// Returns the errors of [`Relations::new`].
    pub fn relations(&self) -> Result<&Arc<Relations>> {
        get_or_try_make(&self.relations, || Relations::new(self.nhsic, self.design).map(Arc::new))
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
