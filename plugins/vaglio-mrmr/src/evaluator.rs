//! The shortcut: correlations with the selected columns are kept.

use crate::{Scheme, columns, correlation, relevance};
use vaglio_core::{Design, Evaluator, Feature, Result, Score};

/// The evaluator of [`crate::Mrmr`]: O(mn) for a column that is selected the first time, O(|S|) a trial.
///
/// For S with Σᵢⱼ |ρᵢⱼ| = P, adding i makes P + 2 Σⱼ |ρᵢⱼ| + |ρᵢᵢ|, and removing it P − 2 Σⱼ |ρᵢⱼ| + |ρᵢᵢ|, the sums over
/// j ∈ S.
pub(crate) struct Correlations {
    scheme: Scheme,
    columns: Vec<Vec<f64>>,
    /// rᵢ of every column.
    relevance: Vec<f64>,
    /// |ρᵢᵢ| of every column.
    own: Vec<f64>,
    /// For every column j, |ρᵢⱼ| with every column i; empty until j is selected.
    with: Vec<Vec<f64>>,
}

impl Correlations {
    /// Starts at the empty subset. Cost O(mn · outputs).
    pub(crate) fn new(scheme: Scheme, design: &Design) -> Self {
        let columns = columns(design, &(0..design.features()).collect::<Vec<_>>());
        let own = columns.iter().map(|x| correlation(x, x)).collect();
        let with = vec![Vec::new(); columns.len()];
        Correlations { scheme, relevance: relevance(design, &columns), columns, own, with }
    }

    /// Σⱼ |ρᵢⱼ| over j ∈ S.
    fn shared(&self, subset: &[Feature], i: Feature) -> f64 {
        subset.iter().map(|&j| self.with[j][i]).sum()
    }

    /// Σᵢ rᵢ and Σᵢⱼ |ρᵢⱼ| over S.
    fn sums(&mut self, subset: &[Feature]) -> (f64, f64) {
        for &j in subset {
            if self.with[j].is_empty() {
                self.with[j] = self.columns.iter().map(|x| correlation(x, &self.columns[j])).collect();
            }
        }
        let sum = |of: &dyn Fn(Feature) -> f64| subset.iter().map(|&i| of(i)).sum();
        (sum(&|i| self.relevance[i]), sum(&|i| self.shared(subset, i)))
    }
}

impl Evaluator for Correlations {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        let (relevance, redundancy) = self.sums(subset);
        Ok(self.scheme.score(subset.len(), relevance, redundancy))
    }

    fn score_additions(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let (relevance, redundancy) = self.sums(subset);
        for (&i, score) in candidates.iter().zip(scores) {
            let redundancy = redundancy + 2.0 * self.shared(subset, i) + self.own[i];
            *score = self.scheme.score(subset.len() + 1, relevance + self.relevance[i], redundancy);
        }
        Ok(())
    }

    fn score_removals(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let (relevance, redundancy) = self.sums(subset);
        for (&i, score) in candidates.iter().zip(scores) {
            let redundancy = redundancy - 2.0 * self.shared(subset, i) + self.own[i];
            *score = self.scheme.score(subset.len() - 1, relevance - self.relevance[i], redundancy);
        }
        Ok(())
    }
}
