//! Shortcut: caches squared distances of the rows over the subset; a column adds its own.

use super::settings::Hsic;
use super::weights::PairWeights;
use crate::kernel_matrix::{PaddedColumn, RowPairs, row_shares, standardized_column};
use rayon::prelude::*;
use vaglio_core::{Action, CacheEffect, Design, Evaluator, Feature, Result, Score};
use vaglio_kernels::elementary_functions::exp_of;
use vaglio_kernels::parallel;

/// Evaluator of [`Hsic`]: O(m²) per trial; trials run in parallel, each with a fixed order of sums.
pub(super) struct Distances {
    hsic: Hsic,
    weights: PairWeights,
    /// Standardized columns; `None` if constant.
    columns: Vec<Option<PaddedColumn>>,
    /// Number of non-constant columns of the subset.
    size: usize,
    /// Distances d_jk over the subset; `None` while it is empty.
    distances: Option<RowPairs>,
    /// Weights times exp(−d/2σ²) with σ for one more column, computed on demand.
    larger: Option<RowPairs>,
}

impl Distances {
    /// Starts at the empty subset. Cost O(mn + m²).
    pub fn new(hsic: Hsic, design: &Design) -> Self {
        let shares = row_shares(design);
        let column = |feature: Feature| standardized_column(design, feature, &shares).map(|u| PaddedColumn::new(&u));
        let columns = parallel::map(design.features(), column);
        let weights = PairWeights::new(&hsic, design);
        Distances { hsic, weights, columns, size: 0, distances: None, larger: None }
    }

    /// Score from a sum over pairs.
    fn score_of(&self, sum: f64) -> Result<Score> {
        Score::new(-(sum + self.weights.own)).checked()
    }

    fn enter(&mut self, feature: Feature) {
        let Some(column) = &self.columns[feature] else { return };
        let rows = self.weights.pairs.rows();
        self.distances.get_or_insert_with(|| RowPairs::zeros(rows)).add_distances(column);
        self.size += 1;
        self.larger = None;
    }

    fn restart(&mut self, subset: impl Iterator<Item = Feature>) {
        (self.size, self.distances, self.larger) = (0, None, None);
        subset.for_each(|feature| self.enter(feature));
    }

    /// The current score.
    fn current(&self) -> Result<Score> {
        let Some(distances) = &self.distances else { return Ok(Score::new(0.0)) };
        let kernels = self.weights.pairs.times_exp(distances, self.hsic.kernel.scale(self.size));
        self.score_of(kernels.total())
    }

    /// Score without a column of the subset.
    fn without(&self, column: &PaddedColumn) -> Result<Score> {
        let Some(distances) = self.distances.as_ref().filter(|_| self.size > 1) else { return Ok(Score::new(0.0)) };
        let scale = self.hsic.kernel.scale(self.size - 1);
        self.score_of(self.weights.pairs.sum_with(
            distances,
            column,
            #[inline(always)]
            move |distance, square| exp_of(scale * (distance - square)),
        ))
    }
}

impl Evaluator for Distances {
    fn score(&mut self, _: &[Feature]) -> Result<Score> {
        self.current()
    }

    fn scores(&mut self, change: Action, _: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        let (scale, current) = (self.hsic.kernel.scale(self.size + 1), self.current()?);
        if let (Action::Add, Some(distances), None) = (change, &self.distances, &self.larger) {
            self.larger = Some(self.weights.pairs.times_exp(distances, scale));
        }
        let state = &*self;
        let pairs = state.larger.as_ref().unwrap_or(&state.weights.pairs);
        let score = |&candidate: &Feature| match (&state.columns[candidate], change) {
            (Some(column), Action::Add) => state.score_of(pairs.sum_with(
                pairs,
                column,
                #[inline(always)]
                move |_, square| exp_of(scale * square),
            )),
            (Some(column), Action::Remove) => state.without(column),
            (None, _) => Ok(current),
        };
        candidates.par_iter().map(score).collect()
    }

    fn trace(&self, _: Action) -> CacheEffect {
        CacheEffect::Nothing
    }

    /// Removes a column by summing the distances anew, so that none of its rounding remains. Cost O(|S|·m²).
    fn apply(&mut self, change: Action, subset: &[Feature], feature: Feature) -> Result<()> {
        match change {
            Action::Add => self.enter(feature),
            Action::Remove => self.restart(subset.iter().copied().filter(|&other| other != feature)),
        }
        Ok(())
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.restart(subset.iter().copied());
        Ok(())
    }
}
