//! Trials that remove each column of a subset, or replace it by others.

use vaglio_core::{Action, Design, Feature, Result, Score, SearchExtent};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_search::{Rules, SubsetScorer, wrong_signs};

/// Opens a scorer of the selector's criterion at the empty subset.
///
/// # Errors
/// Returns the errors of [`SubsetScorer::open`].
pub fn scorer<'d>(selector: &'d ValidSelector, design: &'d Design, extent: &SearchExtent) -> Result<SubsetScorer<'d>> {
    SubsetScorer::open(&*selector.criterion, design, extent)
}

/// Candidates outside a subset, in increasing order.
pub fn candidates_outside(design: &Design, subset: &[Feature]) -> Vec<Feature> {
    let mut outside = design.candidates();
    outside.retain(|feature| !subset.contains(feature));
    outside
}

/// Design for scoring exchanges: the full one, or one restricted to the columns involved.
pub struct SwapDesign {
    pub design: Design,
    /// Columns of the full design that it has, in increasing order; `None` for all.
    members: Option<Vec<Feature>>,
}

impl SwapDesign {
    /// The cheaper design for a search, with its flops.
    pub fn cheapest(
        selector: &ValidSelector,
        design: &Design,
        columns: impl Iterator<Item = Feature>,
        flops: impl Fn(&Design) -> f64,
    ) -> (Self, f64) {
        let whole = SwapDesign { design: design.clone(), members: None };
        let most = flops(design);
        match SwapDesign::alone(selector, design, columns).map(|alone| (flops(&alone.design), alone)) {
            Some((flops, alone)) if flops < most => (alone, flops),
            _ => (whole, most),
        }
    }

    /// Restricts the design to these columns, if scores depend on no others.
    fn alone(selector: &ValidSelector, design: &Design, columns: impl Iterator<Item = Feature>) -> Option<Self> {
        let mut members: Vec<Feature> = columns.collect();
        members.sort_unstable();
        members.dedup();
        let problem = design.problem();
        let has_alone = selector.criterion.traits().is_of_subset_alone
            && design.readout().is_some()
            && !problem.in_folds().is_by_maps();
        let alone = has_alone.then(|| problem.select_columns(&members).ok()).flatten()?;
        Some(SwapDesign { design: design.with_problem(|_| alone), members: Some(members) })
    }

    /// Indices of the columns in this design.
    pub fn places(&self, columns: &[Feature]) -> Vec<Feature> {
        let Some(members) = &self.members else { return columns.to_vec() };
        columns.iter().filter_map(|column| members.binary_search(column).ok()).collect()
    }
}

/// Scores a subset without each of its columns. Returns the scores with the flops of all; `None` if these exceed
/// `budget`.
///
/// # Errors
/// Returns the errors of the criterion's scores.
pub fn removal_scores(
    selector: &ValidSelector,
    design: &Design,
    selected: &[Feature],
    budget: f64,
) -> Result<Option<(Vec<f64>, f64)>> {
    let removal = |design: &Design| removal_flops(selector, design, selected.len());
    let (place, flops) = SwapDesign::cheapest(selector, design, selected.iter().copied(), removal);
    if flops > budget {
        return Ok(None);
    }
    let own = place.places(selected);
    let mut subset = scorer(selector, &place.design, &removals(own.len()))?;
    subset.reset(&own)?;
    let scores = subset.scores(Action::Remove, &own)?;
    Ok(Some((scores.into_iter().map(|score| score.loss).collect(), flops)))
}

/// Replacement of each selected column by each of some others.
pub struct Exchanges<'d> {
    selector: &'d ValidSelector,
    design: &'d Design,
    selected: &'d [Feature],
    tried: Vec<Feature>,
    /// Common design of all exchanges, full or restricted; `None` if each position has a restricted design.
    pub together: Option<SwapDesign>,
}

impl<'d> Exchanges<'d> {
    /// Chooses the designs with the cheapest trials.
    pub fn new(selector: &'d ValidSelector, design: &'d Design, selected: &'d [Feature], tried: Vec<Feature>) -> Self {
        let columns = selected.iter().chain(&tried).copied();
        let flops = |design: &Design| exchange_flops(selector, design, selected.len(), tried.len());
        let (place, together) = SwapDesign::cheapest(selector, design, columns, flops);
        let alone = flops_alone(selector, design, selected, &tried);
        let together = Some(place).filter(|_| alone.is_none_or(|alone| alone >= together));
        Exchanges { selector, design, selected, tried, together }
    }

    /// Passes the columns with the lowest scores in each position, at most `most`, to `give` until it returns false:
    /// those with finite scores that satisfy the constraints.
    ///
    /// # Errors
    /// Returns the errors of the criterion's scores.
    pub fn each(
        &self,
        places: impl IntoIterator<Item = usize>,
        most: usize,
        mut give: impl FnMut(usize, Vec<(Feature, f64)>) -> bool,
    ) -> Result<()> {
        let (selected, tried) = (self.selected, &self.tried[..]);
        let rules = self.selector.search.rules(self.design).map_err(|error| error.under("search"))?;
        let mut open = None;
        if let Some(place) = self.together.as_ref().filter(|_| !selected.is_empty()) {
            let (own, others) = (place.places(selected), place.places(tried));
            let mut subset = scorer(self.selector, &place.design, &exchanges(own.len(), others.len()))?;
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
        let (others, mut kept) = (self.others(k), Vec::new());
        for (feature, score) in found {
            let with = [&others[..], &[feature]].concat();
            let is_open = kept.len() < most && rules.allows(&with);
            if is_open && (!rules.has_signs() || wrong_signs(rules, self.design, &with, score)?.is_empty()) {
                kept.push((feature, score));
            }
        }
        Ok(kept)
    }

    /// Scores the columns in one position on a design restricted to them and the other selected columns.
    fn score_alone(&self, k: usize) -> Result<Vec<Score>> {
        let (others, tried) = (self.others(k), &self.tried[..]);
        let columns = others.iter().chain(tried).copied();
        let Some(place) = SwapDesign::alone(self.selector, self.design, columns) else {
            return Ok(vec![Score::WORST; tried.len()]);
        };
        let mut subset = scorer(self.selector, &place.design, &additions(others.len(), tried.len()))?;
        subset.reset(&place.places(&others))?;
        subset.scores(Action::Add, &place.places(tried))
    }
}

/// Search extent of adding each of `tried` columns to a subset of `size`.
fn additions(size: usize, tried: usize) -> SearchExtent {
    SearchExtent { start: 0, largest: size + 1, trials: tried as f64, steps: size + 1 }
}

/// Flops of replacing each column on a restricted design per position; `None` if designs cannot be restricted.
///
/// Cost of a search up to the subset among these columns without its trials; for engines that fit each subset on its
/// own, only the cost of the trials.
fn flops_alone(selector: &ValidSelector, design: &Design, selected: &[Feature], tried: &[Feature]) -> Option<f64> {
    let place = SwapDesign::alone(selector, design, selected.iter().chain(tried).copied())?;
    let size = selected.len();
    let last = additions(size.saturating_sub(1), tried.len());
    let one = match selector.criterion.plan(&place.design, &last).estimate.engine {
        "decomposition" | "refit" | "definition" => work(selector, &place.design, &last),
        _ => 0.5 * work(selector, &place.design, &SearchExtent::forward(size + tried.len(), size)),
    };
    Some(size as f64 * one)
}

/// Search extent of removing each column of a subset in turn.
pub fn removals(size: usize) -> SearchExtent {
    SearchExtent { start: size, largest: size, trials: size as f64, steps: 1 }
}

/// Search extent of building a subset of `size` columns, then removing and restoring each, with `tried` others tried
/// each time.
pub fn exchanges(size: usize, tried: usize) -> SearchExtent {
    SearchExtent { start: 0, largest: size, trials: (2 * size * tried) as f64, steps: 3 * size }
}

/// Flops of a search; if unknown, estimated as refits with one pass per column of each subset.
pub fn work(selector: &ValidSelector, design: &Design, extent: &SearchExtent) -> f64 {
    let known = selector.criterion.plan(design, extent).estimate.flops;
    let guessed = extent.trials * design.rows() as f64 * (extent.largest * extent.largest) as f64;
    if known.is_nan() { guessed } else { known }
}

/// Flops of [`removals`], including size² entries of conditioning state that every change rewrites. Decompositions of
/// moments are faster than trials.
pub fn removal_flops(selector: &ValidSelector, design: &Design, size: usize) -> f64 {
    let extent = removals(size);
    let is_of_moments = selector.criterion.plan(design, &extent).estimate.engine == "moments";
    let faster = if is_of_moments { 2.0 } else { 1.0 };
    work(selector, design, &extent) / faster + 4.0 * (size as f64).powi(3)
}

/// Flops of [`exchanges`].
///
/// Search estimates omit the state updates after a removal. Leave-one-out states restart near dependent columns, for
/// every candidate; moments always do.
pub fn exchange_flops(selector: &ValidSelector, design: &Design, size: usize, tried: usize) -> f64 {
    let extent = exchanges(size, tried);
    let columns = design.candidates().len();
    let walk = |largest: usize| work(selector, design, &SearchExtent::forward(columns, largest));
    let (large, columns_tried) = (size as f64, (size * columns) as f64);
    let again = 16.0 * large.powi(3);
    again
        + match selector.criterion.plan(design, &extent).estimate.engine {
            "states" => walk(1) / columns as f64 * columns_tried * (1.0 + large / 2.0),
            "moments" => work(selector, design, &extent) + large * (walk(size) - walk(1)),
            _ => work(selector, design, &extent),
        }
}
