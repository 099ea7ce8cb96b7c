//! Shortcut: caches the dependence of the selected columns with all others.

use super::pairwise_dependence::{Dependence, Scheme};
use vaglio_core::{Result, prelude::*};
use vaglio_kernels::parallel;

/// Plans the relevance of all columns, then one pass over them for each column selected for the first time.
pub(super) fn plan<'d, D: Dependence + 'd>(
    scheme: Scheme,
    design: &'d Design,
    extent: &SearchExtent,
    make_dependence: impl FnOnce(&[Feature]) -> D + 'd,
) -> Plan<'d> {
    let SearchExtent { largest, trials, .. } = *extent;
    let (rows, features) = (design.planned_rows() as f64, design.features() as f64);
    // A search that tries every column at each step takes trials / features steps.
    let passes = (trials / features.max(1.0)).max(largest as f64).min(features);
    let once = (D::PREPARATION + D::FLOPS * design.targets().nrows() as f64) * rows * features;
    let estimate = Estimate {
        engine: D::ENGINE,
        reason: D::REASON.into(),
        flops: once + D::FLOPS * rows * features * passes + trials * largest as f64,
        bytes: features * (D::BYTES * rows + 8.0 * passes),
    };
    Plan::by_engine(estimate, move || {
        let all: Vec<Feature> = (0..design.features()).collect();
        Ok(PairSums::new(scheme, make_dependence(&all)))
    })
}

/// Evaluator of both mRMR criteria: O(mn) for a column selected for the first time, O(|S|) per trial.
///
/// For S with Σᵢⱼ sᵢⱼ = P, adding i gives P + 2 Σⱼ sᵢⱼ + sᵢᵢ, and removing it P − 2 Σⱼ sᵢⱼ + sᵢᵢ, with sums over j ∈ S.
struct PairSums<D> {
    scheme: Scheme,
    dependence: D,
    /// rᵢ of every column.
    relevance: Vec<f64>,
    /// sᵢᵢ of every column.
    own: Vec<f64>,
    /// For every column j, sᵢⱼ with every column i; empty until j is selected.
    with: Vec<Vec<f64>>,
}

impl<D: Dependence> PairSums<D> {
    /// Starts at the empty subset. Cost O(mn · outputs).
    fn new(scheme: Scheme, dependence: D) -> Self {
        let count = dependence.columns();
        let relevance = parallel::map(count, |i| dependence.relevance(i));
        let own = parallel::map(count, |i| dependence.between(i, i));
        PairSums { scheme, relevance, own, with: vec![Vec::new(); count], dependence }
    }

    /// Σⱼ sᵢⱼ over j ∈ S.
    fn redundancy_with(&self, subset: &[Feature], i: Feature) -> f64 {
        subset.iter().map(|&j| self.with[j][i]).sum()
    }

    /// Σᵢ rᵢ and Σᵢⱼ sᵢⱼ over S.
    fn sums(&mut self, subset: &[Feature]) -> (f64, f64) {
        for &j in subset {
            if self.with[j].is_empty() {
                let dependence = &self.dependence;
                self.with[j] = parallel::map(dependence.columns(), |i| dependence.between(i, j));
            }
        }
        let relevance = subset.iter().map(|&i| self.relevance[i]).sum();
        (relevance, subset.iter().map(|&i| self.redundancy_with(subset, i)).sum())
    }
}

impl<D: Dependence> Evaluator for PairSums<D> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        let (relevance, redundancy) = self.sums(subset);
        Ok(self.scheme.score::<D>(subset.len(), relevance, redundancy))
    }

    fn scores(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        let (relevance, redundancy) = self.sums(subset);
        let (sign, size) = match change {
            Action::Add => (1.0, subset.len() + 1),
            Action::Remove => (-1.0, subset.len().saturating_sub(1)),
        };
        let score = |&i: &Feature| {
            let redundancy = redundancy + sign * (2.0 * self.redundancy_with(subset, i)) + self.own[i];
            self.scheme.score::<D>(size, relevance + sign * self.relevance[i], redundancy)
        };
        Ok(candidates.iter().map(score).collect())
    }
}
