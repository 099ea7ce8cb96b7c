//! The shortcut: sums of correlations, kept as columns enter and leave.

use crate::Scheme;
use crate::correlation::{Scale, Standardised};
use vaglio_core::{Design, Evaluator, Feature, Result, Score};

/// The evaluator of [`crate::Mrmr`]: O(1) a trial, O(mn) to add or remove, O(n) memory beside the data.
///
/// For S with Σᵢⱼ |ρᵢⱼ| = P, adding i makes P + 2 Σⱼ |ρᵢⱼ| + |ρᵢᵢ|, and removing it makes P − 2 Σⱼ |ρᵢⱼ| − |ρᵢᵢ|, the
/// sums over j ∈ S other than i.
pub(crate) struct Sums<'d> {
    scheme: Scheme,
    design: &'d Design,
    candidates: Vec<Candidate>,
    /// Σᵢ rᵢ over the current subset.
    relevance: f64,
    /// Σᵢⱼ |ρᵢⱼ| over the current subset.
    redundancy: f64,
}

/// What is kept of each column.
struct Candidate {
    scale: Scale,
    /// rᵢ, the mean over outputs of |ρ(xᵢ, yₒ)|.
    relevance: f64,
    /// |ρᵢᵢ|: 1, or 0 for a constant column.
    own: f64,
    /// Σⱼ |ρᵢⱼ| over the current subset without i.
    shared: f64,
}

impl<'d> Sums<'d> {
    /// Starts at the empty subset. Cost O(mn · outputs).
    pub(crate) fn new(scheme: Scheme, design: &'d Design) -> Self {
        let weights = design.weights();
        let outputs: Vec<Standardised> =
            design.targets().rows().into_iter().map(|y| Standardised::of(&y.to_vec(), weights)).collect();
        let candidate = |feature: Feature| {
            let values = design.column(feature).values();
            let scale = Scale::of(&values, weights);
            let relevance = outputs.iter().map(|y| y.with(&values, &scale)).sum::<f64>() / outputs.len() as f64;
            Candidate { scale, relevance, own: if scale.is_constant() { 0.0 } else { 1.0 }, shared: 0.0 }
        };
        let candidates = (0..design.features()).map(candidate).collect();
        Sums { scheme, design, candidates, relevance: 0.0, redundancy: 0.0 }
    }

    /// Adds (`sign` 1) or takes away (`sign` −1) the correlations with `feature`.
    fn shift(&mut self, feature: Feature, sign: f64) {
        let entered = Standardised::of(&self.design.column(feature).values(), self.design.weights());
        for (other, candidate) in self.candidates.iter_mut().enumerate().filter(|(other, _)| *other != feature) {
            candidate.shared += sign * entered.with(&self.design.column(other).values(), &candidate.scale);
        }
    }

    /// Σᵢ rᵢ and Σᵢⱼ |ρᵢⱼ| from what is kept of the selected columns, so that only the `shared` carry rounding on.
    fn sum(&mut self, subset: &[Feature]) {
        let members = || subset.iter().filter_map(|&f| self.candidates.get(f));
        self.relevance = members().map(|c| c.relevance).sum();
        self.redundancy = members().map(|c| c.shared + c.own).sum();
    }

    /// The score with a column more (`sign` 1) or less (`sign` −1).
    fn trial(&self, size: usize, feature: Feature, sign: f64) -> Score {
        let Some(candidate) = self.candidates.get(feature) else { return Score::WORST };
        let relevance = self.relevance + sign * candidate.relevance;
        let redundancy = self.redundancy + sign * (2.0 * candidate.shared + candidate.own);
        self.scheme.score(size, relevance, redundancy)
    }
}

impl Evaluator for Sums<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        self.sum(subset);
        Ok(self.scheme.score(subset.len(), self.relevance, self.redundancy))
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.candidates.iter_mut().for_each(|candidate| candidate.shared = 0.0);
        subset.iter().for_each(|&feature| self.shift(feature, 1.0));
        Ok(())
    }

    fn score_additions(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.sum(subset);
        candidates.iter().zip(scores).for_each(|(&f, score)| *score = self.trial(subset.len() + 1, f, 1.0));
        Ok(())
    }

    fn score_removals(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.sum(subset);
        candidates.iter().zip(scores).for_each(|(&f, score)| *score = self.trial(subset.len() - 1, f, -1.0));
        Ok(())
    }

    fn add(&mut self, _: &[Feature], feature: Feature) -> Result<()> {
        self.shift(feature, 1.0);
        Ok(())
    }

    fn remove(&mut self, _: &[Feature], feature: Feature) -> Result<()> {
        self.shift(feature, -1.0);
        Ok(())
    }
}
