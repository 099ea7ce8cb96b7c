//! Pairwise dependences, and the objective that combines them.

use vaglio_core::{Design, Feature, PartOutputs, Score, serde_json::json, setting};

/// Combination of relevance and redundancy.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// Relevance minus redundancy.
    #[default]
    Difference,
    /// Relevance divided by redundancy.
    Quotient,
}

/// Pairwise dependence of two columns, or of a column and the target: |ρ|, or mutual information.
pub(crate) trait Dependence: Send + Sync {
    /// Redundancy below which all columns are constant.
    const NOTHING: f64;
    /// Identifier of the shortcut in `selection.json` and in plans.
    const ENGINE: &'static str;
    /// Reason for the shortcut in `selection.json` and in plans.
    const REASON: &'static str;
    /// Flops to prepare an entry of a column.
    const PREPARATION: f64;
    /// Flops per entry of the dependence on an output, or on another column.
    const FLOPS: f64;
    /// Bytes of a prepared entry.
    const BYTES: f64;

    /// Number of columns.
    fn columns(&self) -> usize;

    /// Dependence of a column and the target: the mean over outputs. Cost O(m · outputs).
    fn relevance(&self, i: usize) -> f64;

    /// Dependence of two columns, or of one with itself. Cost O(m).
    fn between(&self, i: usize, j: usize) -> f64;

    /// Objective of all columns. Cost O(n·m·(n + outputs)).
    fn objective(&self, scheme: Scheme) -> Score {
        let all = 0..self.columns();
        let redundancy = all.clone().map(|i| all.clone().map(|j| self.between(i, j)).sum::<f64>()).sum();
        let relevance = all.clone().map(|i| self.relevance(i)).sum();
        scheme.score::<Self>(self.columns(), relevance, redundancy)
    }

    /// Relevance of each column, and its mean redundancy with the others; the columns are the features `subset`. Cost as
    /// of the objective.
    fn sides(&self, design: &Design, subset: &[Feature]) -> PartOutputs {
        let others = (subset.len() as f64 - 1.0).max(1.0);
        let record = |(i, &feature): (usize, &Feature)| {
            let redundancy = (0..self.columns()).filter(|&j| j != i).map(|j| self.between(i, j)).sum::<f64>();
            json!({
                "column": design.problem().names()[feature],
                "relevance": self.relevance(i),
                "redundancy": redundancy / others
            })
        };
        PartOutputs::new("columns", subset.iter().enumerate().map(record).collect::<Vec<_>>())
    }
}

impl Scheme {
    /// Score of `size` columns with Σᵢ rᵢ = `relevance` and Σᵢⱼ sᵢⱼ = `redundancy`.
    pub(super) fn score<D: Dependence + ?Sized>(self, size: usize, relevance: f64, redundancy: f64) -> Score {
        if size == 0 || redundancy < D::NOTHING {
            return Score::new(0.0);
        }
        let size = size as f64;
        let (relevance, redundancy) = (relevance / size, redundancy / (size * size));
        Score::new(match self {
            Scheme::Difference => redundancy - relevance,
            Scheme::Quotient => -relevance / redundancy,
        })
    }
}
