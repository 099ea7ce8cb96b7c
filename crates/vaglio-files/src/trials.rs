//! Trials that remove each column of a subset, or replace it by others.

use vaglio_core::{Action, Design, Estimate, Feature, Result, Score, SearchExtent, StopSign};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_search::{Rules, SubsetScorer};

/// A design on which the criterion of a selector tries subsets: the full one, or one restricted to some columns.
#[derive(Clone)]
pub struct TrialDesign<'s> {
    pub selector: &'s ValidSelector,
    pub design: Design,
    /// Columns of the full design that it has, in increasing order; `None` for all.
    members: Option<Vec<Feature>>,
}

impl<'s> TrialDesign<'s> {
    /// Takes the full design.
    pub fn new(selector: &'s ValidSelector, design: &Design) -> Self {
        TrialDesign { selector, design: design.clone(), members: None }
    }

    /// Lets trials stop at a sign.
    pub fn with_sign(&self, sign: &StopSign) -> Self {
        TrialDesign { design: self.design.with_sign(sign.clone()), ..self.clone() }
    }

    /// The cheaper of this design and its restriction to some columns, with its flops.
    pub fn cheapest(&self, columns: impl Iterator<Item = Feature>, flops: impl Fn(&Self) -> f64) -> (Self, f64) {
        let most = flops(self);
        match self.among(columns).map(|restricted| (flops(&restricted), restricted)) {
            Some((flops, restricted)) if flops < most => (restricted, flops),
            _ => (self.clone(), most),
        }
    }

    /// Restricts the design to these columns, if scores depend on no others.
    fn among(&self, columns: impl Iterator<Item = Feature>) -> Option<Self> {
        let mut members: Vec<Feature> = columns.collect();
        members.sort_unstable();
        members.dedup();
        let selector = self.selector;
        let design = &self.design;
        let problem = design.problem();
        let can_restrict = selector.criterion.traits().is_of_subset_alone
            && design.readout().is_some()
            && !problem.in_folds().is_by_maps();
        let some = can_restrict.then(|| problem.select_columns(&members).ok()).flatten()?;
        let all: Vec<Feature> = (0..members.len()).collect();
        Some(TrialDesign { selector, design: design.with_problem(|_| some).among(&all), members: Some(members) })
    }

    /// Indices in this design of columns of the full one.
    pub fn places(&self, columns: &[Feature]) -> Vec<Feature> {
        let Some(members) = &self.members else { return columns.to_vec() };
        columns.iter().filter_map(|column| members.binary_search(column).ok()).collect()
    }

    /// Candidates outside a subset, in increasing order.
    pub fn outside(&self, subset: &[Feature]) -> Vec<Feature> {
        let mut outside = self.design.candidates();
        outside.retain(|feature| !subset.contains(feature));
        outside
    }

    /// Opens a scorer at the empty subset.
    pub fn scorer(&self, extent: &SearchExtent) -> Result<SubsetScorer<'_>> {
        SubsetScorer::open(&*self.selector.criterion, &self.design, extent)
    }

    /// Estimate of the criterion for a search.
    pub fn estimate(&self, extent: &SearchExtent) -> Estimate {
        self.selector.criterion.plan(&self.design, extent).estimate
    }

    /// Flops of a search; if unknown, estimated as refits with one pass per column of each subset.
    pub fn flops(&self, extent: &SearchExtent) -> f64 {
        let known = self.estimate(extent).flops;
        let guessed = extent.trials * self.design.rows() as f64 * (extent.largest * extent.largest) as f64;
        if known.is_nan() { guessed } else { known }
    }

    /// Flops of [`removals`], including size² entries of conditioning state that every change rewrites. Decompositions
    /// of moments are faster than trials.
    pub fn removal_flops(&self, size: usize) -> f64 {
        let extent = removals(size);
        let faster = if self.estimate(&extent).engine == "moments" { 2.0 } else { 1.0 };
        self.flops(&extent) / faster + 4.0 * (size as f64).powi(3)
    }

    /// Flops of [`exchanges`].
    ///
    /// Search estimates omit the state updates after a removal. Leave-one-out states restart near dependent columns, for
    /// every candidate; moments always do.
    pub fn exchange_flops(&self, size: usize, tried: usize) -> f64 {
        let extent = exchanges(size, tried);
        let columns = self.design.candidates().len();
        let walk = |largest: usize| self.flops(&SearchExtent::forward(columns, largest));
        let large = size as f64;
        let columns_tried = (size * columns) as f64;
        let again = 16.0 * large.powi(3);
        again
            + match self.estimate(&extent).engine {
                "states" => walk(1) / columns as f64 * columns_tried * (1.0 + large / 2.0),
                "moments" => self.flops(&extent) + large * (walk(size) - walk(1)),
                _ => self.flops(&extent),
            }
    }

    /// Flops of replacing each column on a restricted design per position; `None` if designs cannot be restricted.
    ///
    /// Cost of a search up to the subset among these columns without its trials; for engines that fit each subset on its
    /// own, only the cost of the trials.
    fn flops_by_position(&self, selected: &[Feature], tried: &[Feature]) -> Option<f64> {
        let place = self.among(selected.iter().chain(tried).copied())?;
        let size = selected.len();
        let last = additions(size.saturating_sub(1), tried.len());
        let one = match place.estimate(&last).engine {
            "decomposition" | "refit" | "definition" => place.flops(&last),
            _ => 0.5 * place.flops(&SearchExtent::forward(size + tried.len(), size)),
        };
        Some(size as f64 * one)
    }

    /// Scores a subset without each of its columns. Returns the scores with the flops of all; `None` if these exceed
    /// `budget`.
    pub fn removal_scores(&self, selected: &[Feature], budget: f64) -> Result<Option<(Vec<f64>, f64)>> {
        let size = selected.len();
        let (place, flops) = self.cheapest(selected.iter().copied(), |trials| trials.removal_flops(size));
        if flops > budget {
            return Ok(None);
        }
        let own = place.places(selected);
        let mut subset = place.scorer(&removals(size))?;
        subset.reset(&own)?;
        let scores = subset.scores(Action::Remove, &own)?;
        Ok(Some((scores.into_iter().map(|score| score.loss).collect(), flops)))
    }
}

/// Replacement of each selected column by each of some others.
pub struct Exchanges<'d> {
    trials: &'d TrialDesign<'d>,
    selected: &'d [Feature],
    tried: Vec<Feature>,
    /// Common design of all exchanges, full or restricted; `None` if each position has a restricted design.
    pub together: Option<TrialDesign<'d>>,
}

impl<'d> Exchanges<'d> {
    /// Chooses the designs with the cheapest trials.
    pub fn new(trials: &'d TrialDesign<'d>, selected: &'d [Feature], tried: Vec<Feature>) -> Self {
        let columns = selected.iter().chain(&tried).copied();
        let (place, flops) = trials.cheapest(columns, |trials| trials.exchange_flops(selected.len(), tried.len()));
        let by_position = trials.flops_by_position(selected, &tried);
        let together = Some(place).filter(|_| by_position.is_none_or(|by_position| by_position >= flops));
        Exchanges { trials, selected, tried, together }
    }

    /// Passes the columns with the lowest scores in each position, at most `most`, to `give` until it returns false:
    /// those with finite scores that satisfy the constraints.
    pub fn each(
        &self,
        places: impl IntoIterator<Item = usize>,
        most: usize,
        mut give: impl FnMut(usize, Vec<(Feature, f64)>) -> bool,
    ) -> Result<()> {
        let selected = self.selected;
        let tried = &self.tried[..];
        let rules = self.trials.selector.search.rules(&self.trials.design).map_err(|error| error.under("search"))?;
        let mut open = None;
        if let Some(place) = self.together.as_ref().filter(|_| !selected.is_empty()) {
            let own = place.places(selected);
            let others = place.places(tried);
            let mut subset = place.scorer(&exchanges(own.len(), others.len()))?;
            subset.reset(&own)?;
            open = Some((subset, own, others));
        }
        for k in places {
            let scores = match &mut open {
                None => self.score_alone(k)?,
                Some((subset, own, others)) => {
                    subset.remove(own[k])?;
                    let scores = subset.scores(Action::Add, others)?;
                    subset.add(own[k])?;
                    scores
                }
            };
            let found = tried.iter().copied().zip(scores).filter(|(_, score)| score.loss.is_finite());
            let mut found: Vec<(Feature, Score)> = found.collect();
            found.sort_by(|(a, x), (b, y)| x.loss.total_cmp(&y.loss).then(a.cmp(b)));
            if let Some(rules) = &rules {
                found = self.lowest_allowed(rules, k, found, most)?;
            }
            found.truncate(most);
            if !give(k, found.into_iter().map(|(feature, score)| (feature, score.loss)).collect()) {
                break;
            }
        }
        Ok(())
    }

    /// The selected columns but the one at position `k`.
    fn others(&self, k: usize) -> Vec<Feature> {
        self.selected.iter().copied().filter(|f| *f != self.selected[k]).collect()
    }

    /// The first `most` columns in one position that satisfy the constraints.
    fn lowest_allowed(
        &self,
        rules: &Rules,
        k: usize,
        found: Vec<(Feature, Score)>,
        most: usize,
    ) -> Result<Vec<(Feature, Score)>> {
        let others = self.others(k);
        let mut kept = Vec::new();
        for (feature, score) in found {
            let with = [&others[..], &[feature]].concat();
            let is_open = kept.len() < most && rules.allows(&with);
            if is_open && rules.wrong_signs(&self.trials.design, &with, score)?.is_empty() {
                kept.push((feature, score));
            }
        }
        Ok(kept)
    }

    /// Scores the columns in one position on a design restricted to them and the other selected columns.
    fn score_alone(&self, k: usize) -> Result<Vec<Score>> {
        let others = self.others(k);
        let tried = &self.tried[..];
        let columns = others.iter().chain(tried).copied();
        let Some(place) = self.trials.among(columns) else {
            return Ok(vec![Score::WORST; tried.len()]);
        };
        let mut subset = place.scorer(&additions(others.len(), tried.len()))?;
        subset.reset(&place.places(&others))?;
        subset.scores(Action::Add, &place.places(tried))
    }
}

/// Search extent of adding each of `tried` columns to a subset of `size`.
fn additions(size: usize, tried: usize) -> SearchExtent {
    SearchExtent { start: 0, largest: size + 1, trials: tried as f64, steps: size + 1 }
}

/// Search extent of removing each column of a subset in turn.
fn removals(size: usize) -> SearchExtent {
    SearchExtent { start: size, largest: size, trials: size as f64, steps: 1 }
}

/// Search extent of building a subset of `size` columns, then removing and restoring each, with `tried` others tried
/// each time.
pub fn exchanges(size: usize, tried: usize) -> SearchExtent {
    SearchExtent { start: 0, largest: size, trials: (2 * size * tried) as f64, steps: 3 * size }
}
