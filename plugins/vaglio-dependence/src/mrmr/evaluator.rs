//! The shortcut: informations with the selected columns are kept.

use super::MrmrInformation;
use crate::bins::{Binned, Rows};
use rayon::prelude::*;
use vaglio_core::{Design, Evaluator, Feature, Result, Score};

/// The evaluator of [`MrmrInformation`]: O(mn) for a column that is selected the first time, O(|S|) a trial.
///
/// For S with Σᵢⱼ Iᵢⱼ = P, adding i makes P + 2 Σⱼ Iᵢⱼ + Iᵢᵢ, and removing it P − 2 Σⱼ Iᵢⱼ + Iᵢᵢ, the sums over j ∈ S.
pub(super) struct Informations {
    criterion: MrmrInformation,
    rows: Rows,
    columns: Vec<Binned>,
    /// I(xᵢ, y) of every column.
    relevance: Vec<f64>,
    /// Iᵢᵢ of every column.
    own: Vec<f64>,
    /// For every column j, Iᵢⱼ with every column i; empty until j is selected.
    with: Vec<Vec<f64>>,
}

impl Informations {
    /// Starts at the empty subset. Cost O(mn · outputs).
    pub fn new(criterion: MrmrInformation, design: &Design) -> Self {
        let rows = Rows::new(criterion.bins, design);
        let targets = rows.targets(design);
        let columns: Vec<Binned> =
            (0..design.features()).into_par_iter().map(|feature| rows.column(design, feature)).collect();
        let own = columns.par_iter().map(|x| rows.information(x, x)).collect();
        let relevance = columns.par_iter().map(|x| rows.relevance(x, &targets)).collect();
        let with = vec![Vec::new(); columns.len()];
        Informations { criterion, rows, columns, relevance, own, with }
    }

    /// Σⱼ Iᵢⱼ over j ∈ S.
    fn shared(&self, subset: &[Feature], i: Feature) -> f64 {
        subset.iter().map(|&j| self.with[j][i]).sum()
    }

    /// Σᵢ I(xᵢ, y) and Σᵢⱼ Iᵢⱼ over S.
    fn sums(&mut self, subset: &[Feature]) -> (f64, f64) {
        for &j in subset {
            if self.with[j].is_empty() {
                let (rows, selected) = (&self.rows, &self.columns[j]);
                self.with[j] = self.columns.par_iter().map(|x| rows.information(x, selected)).collect();
            }
        }
        let sum = |of: &dyn Fn(Feature) -> f64| subset.iter().map(|&i| of(i)).sum();
        (sum(&|i| self.relevance[i]), sum(&|i| self.shared(subset, i)))
    }
}

impl Evaluator for Informations {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        let (relevance, redundancy) = self.sums(subset);
        Ok(self.criterion.scheme.score(subset.len(), relevance, redundancy))
    }

    fn score_additions(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let (relevance, redundancy) = self.sums(subset);
        for (&i, score) in candidates.iter().zip(scores) {
            let redundancy = redundancy + 2.0 * self.shared(subset, i) + self.own[i];
            *score = self.criterion.scheme.score(subset.len() + 1, relevance + self.relevance[i], redundancy);
        }
        Ok(())
    }

    fn score_removals(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let (relevance, redundancy) = self.sums(subset);
        for (&i, score) in candidates.iter().zip(scores) {
            let redundancy = redundancy - 2.0 * self.shared(subset, i) + self.own[i];
            *score = self.criterion.scheme.score(subset.len() - 1, relevance - self.relevance[i], redundancy);
        }
        Ok(())
    }
}
