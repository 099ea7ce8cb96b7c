//! Evaluator: a small non-negative quadratic program for each subset, warm-started from the current coefficients.

use super::relations::Relations;
use crate::kernel_matrix::Quadratic;
use rayon::prelude::*;
use std::sync::Arc;
use vaglio_core::{Action, Evaluator, Feature, Result, Score};
use vaglio_kernels::linalg::separable_part;
use vaglio_kernels::tolerance::MINIMUM_ROUNDING;

/// Evaluator of [`Nhsic`](super::Nhsic). Trying an addition is O(s) if its coefficient would be 0, else O(s³); an added
/// column costs one pass over all columns.
#[derive(Clone)]
pub(super) struct NhsicEvaluator {
    relations: Arc<Relations>,
    /// Current subset, in the order of the quadratic program.
    selected: Vec<Feature>,
    quadratic: Quadratic,
    /// Minimizer on the current subset, in order of entry.
    alpha: Vec<f64>,
    /// Diagonal D of some columns with Q − D positive semidefinite, once a bound is asked for. By feature, NaN for others;
    /// empty if unavailable.
    separable: Option<Arc<[f64]>>,
}

/// Candidates per task.
const TOGETHER: usize = 16;
/// Maximum number of columns for which the costs of leaving some out are bounded.
const MOST_SEPARATED: usize = 256;

impl NhsicEvaluator {
    /// Starts at the empty subset.
    pub fn new(relations: Arc<Relations>) -> Self {
        let quadratic = Quadratic::new(relations.total);
        NhsicEvaluator { relations, selected: Vec::new(), quadratic, alpha: Vec::new(), separable: None }
    }

    /// Entries of Q of the selected columns with another, and its own, last.
    fn row(&self, feature: Feature) -> Result<Vec<f64>> {
        let mut row = Vec::with_capacity(self.selected.len() + 1);
        for &selected in &self.selected {
            row.push(self.relations.entry(selected, feature)?);
        }
        row.push(self.relations.own[feature]);
        Ok(row)
    }

    /// Adds columns and minimizes.
    fn larger(&self, features: &[Feature]) -> Result<NhsicEvaluator> {
        let mut larger = self.clone();
        for &feature in features {
            let row = larger.row(feature)?;
            larger.quadratic.push(self.relations.relevance[feature], row);
            larger.selected.push(feature);
            larger.alpha.push(0.0);
        }
        larger.alpha = larger.quadratic.minimizer(&larger.alpha);
        Ok(larger)
    }

    /// Minimizer on a subset, in its order.
    pub fn minimizer(relations: Arc<Relations>, subset: &[Feature]) -> Result<Vec<f64>> {
        Ok(NhsicEvaluator::new(relations).larger(subset)?.alpha)
    }

    fn value(&self) -> f64 {
        self.quadratic.value(&self.alpha)
    }

    /// Score with an added column.
    fn addition(&self, current: f64, feature: Feature) -> Result<f64> {
        let row = self.row(feature)?;
        let relevance = self.relations.relevance[feature];
        let slope = row.iter().zip(&self.alpha).fold(relevance, |slope, (entry, alpha)| slope - entry * alpha);
        if self.quadratic.is_flat(slope, self.relations.own[feature]) {
            return Ok(current);
        }
        let mut larger = self.quadratic.clone();
        larger.push(relevance, row);
        let start: Vec<f64> = self.alpha.iter().copied().chain([0.0]).collect();
        Ok(larger.value(&larger.minimizer(&start)))
    }

    /// Diagonal D of the selected and other columns. Cost O(n³) unless the known one covers them.
    fn separable(&mut self, later: &[Feature]) -> Result<Arc<[f64]>> {
        let members: Vec<Feature> = self.selected.iter().chain(later).copied().collect();
        let covers = |known: &&Arc<[f64]>| known.is_empty() || members.iter().all(|&member| !known[member].is_nan());
        if let Some(known) = self.separable.as_ref().filter(covers) {
            return Ok(Arc::clone(known));
        }
        let is_unknown =
            members.len() > MOST_SEPARATED || members.iter().any(|&feature| self.relations.own[feature] <= 0.0);
        let mut separable = vec![f64::NAN; if is_unknown { 0 } else { self.relations.own.len() }];
        if !is_unknown {
            let gram = members.iter().flat_map(|&k| members.iter().map(move |&l| (k, l)));
            let gram = gram.map(|(k, l)| self.relations.entry(k.min(l), k.max(l))).collect::<Result<_>>()?;
            members.iter().zip(separable_part(gram, members.len())).for_each(|(&f, d)| separable[f] = d);
        }
        Ok(Arc::clone(self.separable.insert(separable.into())))
    }

    /// Removes a column and minimizes, if that changes the minimum.
    fn smaller(&self, place: usize) -> NhsicEvaluator {
        let mut smaller = self.clone();
        smaller.selected.remove(place);
        smaller.quadratic.remove(place);
        if smaller.alpha.remove(place) != 0.0 {
            smaller.alpha = smaller.quadratic.minimizer(&smaller.alpha);
        }
        smaller
    }

    fn place(&self, feature: Feature) -> Option<usize> {
        self.selected.iter().position(|f| *f == feature)
    }

    fn additions(&self, candidates: &[Feature]) -> Result<Vec<Score>> {
        let current = self.value();
        let score = |&candidate: &Feature| Score::new(self.addition(current, candidate)?).checked();
        if candidates.len() * TOGETHER < self.relations.own.len() {
            return candidates.iter().map(score).collect();
        }
        for &selected in &self.selected {
            self.relations.gram(selected)?;
        }
        candidates.par_iter().with_min_len(TOGETHER).map(score).collect()
    }

    fn removals(&self, candidates: &[Feature]) -> Result<Vec<Score>> {
        let current = self.value();
        let score = |&candidate: &Feature| {
            let loss = self.place(candidate).map_or(current, |place| self.smaller(place).value());
            Score::new(loss).checked()
        };
        candidates.par_iter().with_min_len(TOGETHER).map(score).collect()
    }
}

impl Evaluator for NhsicEvaluator {
    fn score(&mut self, _: &[Feature]) -> Result<Score> {
        Score::new(self.value()).checked()
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        *self = NhsicEvaluator::new(Arc::clone(&self.relations)).larger(subset)?;
        Ok(())
    }

    fn scores(&mut self, change: Action, _: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        match change {
            Action::Add => self.additions(candidates),
            Action::Remove => self.removals(candidates),
        }
    }

    fn apply(&mut self, change: Action, _: &[Feature], feature: Feature) -> Result<()> {
        match (change, self.place(feature)) {
            (Action::Add, _) => *self = self.larger(&[feature])?,
            (Action::Remove, Some(place)) => *self = self.smaller(place),
            (Action::Remove, None) => {}
        }
        Ok(())
    }

    fn fork(&mut self, _: &[Feature], candidates: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        if !candidates.is_empty() {
            self.separable(candidates)?;
        }
        Ok(Some(Box::new(self.clone())))
    }

    /// Lower bound of every subset: the score of the current and all later columns, with coefficients α, plus a cost.
    /// The cost is the sum of the least D_k α_k² of as many columns as must be left out. It holds since the gradient at
    /// α is ≥ 0 towards all others.
    fn bound(&mut self, _: &[Feature], later: &[Feature], most: usize) -> Result<f64> {
        let d = self.separable(later)?;
        let all = self.larger(later)?;
        let cost = |(&feature, alpha): (&Feature, &f64)| d.get(feature).map_or(0.0, |d| d * alpha * alpha);
        let mut costs: Vec<f64> = later.iter().zip(&all.alpha[self.selected.len()..]).map(cost).collect();
        costs.sort_unstable_by(f64::total_cmp);
        let left_out: f64 = costs.iter().take(later.len().saturating_sub(most)).sum();
        Ok(all.value() + left_out - MINIMUM_ROUNDING * self.relations.total)
    }
}
