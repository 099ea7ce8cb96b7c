//! The shortcut: squared distances of the rows in the subset, to which a column adds its own.

use super::Hsic;
use super::weights::Weights;
use rayon::prelude::*;
use vaglio_core::{Design, Evaluator, Feature, Result, Score, Trials};
use vaglio_kernels::Level;
use vaglio_kernels::hsic::{Padded, Pairs, shares, standardized};
use vaglio_kernels::parallel;

/// The evaluator of [`Hsic`]: O(m²) a trial, trials side by side, each sum in one order.
pub(super) struct Distances {
    hsic: Hsic,
    level: Level,
    weights: Weights,
    /// Standardized; `None` of a constant column.
    columns: Vec<Option<Padded>>,
    /// Columns of the subset that are not constant.
    size: usize,
    /// d_jk of the subset; none while it is empty.
    distances: Option<Pairs>,
    /// The weights times exp(−d/2σ²) with σ of the subset and one column more; made when it is needed.
    larger: Option<Pairs>,
}

impl Distances {
    /// Starts at the empty subset. Cost O(mn + m²).
    pub fn new(hsic: Hsic, design: &Design) -> Self {
        let (level, shares) = (Level::best(), shares(design.rows(), design.weights()));
        let column =
            |feature: Feature| standardized(&design.column(feature).values(), &shares).map(|u| Padded::new(&u));
        let columns = parallel::map(design.features(), column);
        let weights = Weights::new(&hsic, level, design, &shares);
        Distances { hsic, level, weights, columns, size: 0, distances: None, larger: None }
    }

    /// The score that a sum over pairs gives.
    fn score_of(&self, sum: f64) -> Result<Score> {
        Score::of(-(sum + self.weights.own)).checked()
    }

    fn enter(&mut self, feature: Feature) {
        let Some(column) = &self.columns[feature] else { return };
        let rows = self.weights.pairs.rows();
        self.distances.get_or_insert_with(|| Pairs::zeros(rows)).add_distances(self.level, column);
        self.size += 1;
        self.larger = None;
    }

    fn restart(&mut self, subset: impl Iterator<Item = Feature>) {
        (self.size, self.distances, self.larger) = (0, None, None);
        subset.for_each(|feature| self.enter(feature));
    }

    /// The current score.
    fn current(&self) -> Result<Score> {
        let Some(distances) = &self.distances else { return Ok(Score::of(0.0)) };
        let kernels = self.weights.pairs.times_exp(self.level, distances, self.hsic.kernel.scale(self.size));
        self.score_of(kernels.total())
    }

    /// The score without a column of the subset.
    fn without(&self, column: &Padded) -> Result<Score> {
        let Some(distances) = self.distances.as_ref().filter(|_| self.size > 1) else { return Ok(Score::of(0.0)) };
        let scale = self.hsic.kernel.scale(self.size - 1);
        self.score_of(self.weights.pairs.sum_without(self.level, distances, column, scale))
    }
}

impl Evaluator for Distances {
    fn score(&mut self, _: &[Feature]) -> Result<Score> {
        self.current()
    }

    fn score_additions(&mut self, _: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let (scale, current) = (self.hsic.kernel.scale(self.size + 1), self.current()?);
        if let (Some(distances), None) = (&self.distances, &self.larger) {
            self.larger = Some(self.weights.pairs.times_exp(self.level, distances, scale));
        }
        let state = &*self;
        let pairs = state.larger.as_ref().unwrap_or(&state.weights.pairs);
        scores.par_iter_mut().zip(candidates).try_for_each(|(score, &candidate)| {
            *score = match &state.columns[candidate] {
                Some(column) => state.score_of(pairs.sum(state.level, column, scale))?,
                None => current,
            };
            Ok(())
        })
    }

    fn score_removals(&mut self, _: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let (state, current) = (&*self, self.current()?);
        scores.par_iter_mut().zip(candidates).try_for_each(|(score, &candidate)| {
            *score = match &state.columns[candidate] {
                Some(column) => state.without(column)?,
                None => current,
            };
            Ok(())
        })
    }

    fn can_skip(&self, _: Trials<'_>) -> bool {
        true
    }

    fn add(&mut self, _: &[Feature], feature: Feature) -> Result<()> {
        self.enter(feature);
        Ok(())
    }

    /// The distances are added up anew, so that no rounding is left of a column that has gone. Cost O(|S|·m²).
    fn remove(&mut self, subset: &[Feature], feature: Feature) -> Result<()> {
        self.restart(subset.iter().copied().filter(|&other| other != feature));
        Ok(())
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.restart(subset.iter().copied());
        Ok(())
    }
}
