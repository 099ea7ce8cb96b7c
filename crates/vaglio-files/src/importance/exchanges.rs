//! Trials without each column of a subset, and with others in its place.

use std::borrow::Cow;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, Feature, Outline, Result, Rules, Score, Subset};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_search::of_other_sign;

/// A design on which the columns of some exchanges are scored: the whole one, or one of these columns alone.
pub(crate) struct ExchangePlace<'d> {
    pub design: Cow<'d, Design>,
    /// The columns of the whole that it has, in increasing order, where it has not all.
    members: Option<Vec<Feature>>,
}

impl<'d> ExchangePlace<'d> {
    /// The cheaper one for a search that is outlined, with its flops.
    pub fn cheapest(
        selector: &ValidSelector,
        design: &'d Design,
        columns: impl Iterator<Item = Feature>,
        flops: impl Fn(&Design) -> f64,
    ) -> (Self, f64) {
        let whole = ExchangePlace { design: Cow::Borrowed(design), members: None };
        let most = flops(design);
        match ExchangePlace::alone(selector, design, columns).map(|alone| (flops(&alone.design), alone)) {
            Some((flops, alone)) if flops < most => (alone, flops),
            _ => (whole, most),
        }
    }

    /// Of these columns alone, where scores can be told by them.
    fn alone(selector: &ValidSelector, design: &Design, columns: impl Iterator<Item = Feature>) -> Option<Self> {
        let mut members: Vec<Feature> = columns.collect();
        members.sort_unstable();
        members.dedup();
        let alone = selector.criterion().is_of_subset_alone().then(|| design.alone(&members)).flatten()?;
        Some(ExchangePlace { design: Cow::Owned(alone), members: Some(members) })
    }

    /// The columns as this design numbers them.
    pub fn places(&self, columns: &[Feature]) -> Vec<Feature> {
        let Some(members) = &self.members else { return columns.to_vec() };
        columns.iter().filter_map(|column| members.binary_search(column).ok()).collect()
    }
}

/// Each column of a subset out, one by one.
pub(crate) struct Removals<'d, 's> {
    place: ExchangePlace<'d>,
    selected: &'s [Feature],
    pub flops: f64,
}

impl<'d, 's> Removals<'d, 's> {
    pub fn new(selector: &ValidSelector, design: &'d Design, selected: &'s [Feature]) -> Self {
        let of = |design: &Design| of_removals(selector, design, selected.len());
        let (place, flops) = ExchangePlace::cheapest(selector, design, selected.iter().copied(), of);
        Removals { place, selected, flops }
    }

    /// The score without each.
    ///
    /// # Errors
    /// Those of the criterion's scores.
    pub fn scores(&self, selector: &ValidSelector) -> Result<Vec<f64>> {
        let own = self.place.places(self.selected);
        let mut subset = Subset::open(&**selector.criterion(), &self.place.design, &removals(own.len()))?;
        subset.reset(&own)?;
        let mut scores = vec![Score::WORST; own.len()];
        subset.score_removals(&own, &mut scores)?;
        Ok(scores.into_iter().map(|score| score.loss).collect())
    }
}

/// Each of some columns in the place of each selected one.
pub(crate) struct Exchanges<'d, 's> {
    design: &'d Design,
    selected: &'s [Feature],
    tried: Vec<Feature>,
    /// The design of all of them: the whole, or that of the selected columns and all that are tried; `None` where each place has one
    /// of its columns alone.
    pub(super) together: Option<ExchangePlace<'d>>,
}

impl<'d, 's> Exchanges<'d, 's> {
    /// Chooses the designs on which the trials cost least.
    pub fn new(selector: &ValidSelector, design: &'d Design, selected: &'s [Feature], tried: Vec<Feature>) -> Self {
        let columns = selected.iter().chain(&tried).copied();
        let flops = |design: &Design| of_exchanges(selector, design, selected.len(), tried.len());
        let (place, together) = ExchangePlace::cheapest(selector, design, columns, flops);
        let apart = of_alone(selector, design, selected, &tried);
        let together = Some(place).filter(|_| apart.is_none_or(|apart| apart >= together));
        Exchanges { design, selected, tried, together }
    }

    /// Gives the scores of the columns in these places, until it is told to end; under constraints those of columns that keep
    /// them there, and where they ask for signs the `most` of lowest score.
    ///
    /// # Errors
    /// Those of the criterion's scores.
    pub fn each(
        &self,
        selector: &ValidSelector,
        places: impl IntoIterator<Item = usize>,
        most: usize,
        mut give: impl FnMut(usize, Vec<(Feature, f64)>) -> bool,
    ) -> Result<()> {
        let outline = exchanges(self.selected.len(), self.tried.len());
        let rules = selector.search().rules(self.design).map_err(|error| error.under("search"))?;
        let mut open = None;
        for k in places {
            let tried = &self.tried[..];
            let mut scores = vec![Score::WORST; tried.len()];
            match &self.together {
                None => self.score_alone(selector, k, &mut scores)?,
                Some(place) => {
                    let selected = place.places(self.selected);
                    let subset = match &mut open {
                        Some(subset) => subset,
                        none => {
                            let mut subset = Subset::open(&**selector.criterion(), &place.design, &outline)?;
                            subset.reset(&selected)?;
                            none.insert(subset)
                        }
                    };
                    subset.remove(selected[k])?;
                    subset.score_additions(&place.places(tried), &mut scores)?;
                    subset.add(selected[k])?;
                }
            }
            let mut found: Vec<(Feature, Score)> = tried.iter().copied().zip(scores).collect();
            if let Some(rules) = &rules {
                found = self.kept(rules, k, found, most)?;
            }
            if !give(k, found.into_iter().map(|(feature, score)| (feature, score.loss)).collect()) {
                break;
            }
        }
        Ok(())
    }

    /// Those of the columns in one place that keep the constraints.
    fn kept(
        &self,
        rules: &Rules,
        k: usize,
        mut found: Vec<(Feature, Score)>,
        most: usize,
    ) -> Result<Vec<(Feature, Score)>> {
        let rest: Vec<Feature> = self.selected.iter().copied().filter(|f| *f != self.selected[k]).collect();
        let with = |feature: Feature| [&rest[..], &[feature]].concat();
        found.retain(|(feature, _)| rules.allows(&with(*feature)));
        if !rules.has_signs() {
            return Ok(found);
        }
        found.retain(|(_, score)| score.loss.is_finite());
        found.sort_by(|(a, x), (b, y)| x.loss.total_cmp(&y.loss).then(a.cmp(b)));
        let mut kept = Vec::new();
        for (feature, score) in found {
            if kept.len() < most && of_other_sign(rules, self.design, &with(feature), score)?.is_empty() {
                kept.push((feature, score));
            }
        }
        Ok(kept)
    }

    /// The scores of the columns in one place, on a design of these and of the others that are selected.
    fn score_alone(&self, selector: &ValidSelector, k: usize, scores: &mut [Score]) -> Result<()> {
        let tried = &self.tried[..];
        let others: Vec<Feature> = self.selected.iter().copied().filter(|f| *f != self.selected[k]).collect();
        let columns = others.iter().chain(tried).copied();
        let Some(place) = ExchangePlace::alone(selector, self.design, columns) else { return Ok(()) };
        let mut subset = Subset::open(&**selector.criterion(), &place.design, &additions(others.len(), tried.len()))?;
        subset.reset(&place.places(&others))?;
        subset.score_additions(&place.places(tried), scores)
    }
}

/// Others added to a subset of `size` columns.
fn additions(size: usize, tried: usize) -> Outline {
    Outline { start: 0, largest: size + 1, trials: tried as f64, steps: size + 1 }
}

/// Flops of the trials of some columns in each place, on a design of each place; `None` where there are no such designs.
///
/// That of a walk to the subset among these columns, of which the trials are not made; where each subset is fitted by itself,
/// that of these alone.
fn of_alone(selector: &ValidSelector, design: &Design, selected: &[Feature], tried: &[Feature]) -> Option<f64> {
    let place = ExchangePlace::alone(selector, design, selected.iter().chain(tried).copied())?;
    let size = selected.len();
    let last = additions(size.saturating_sub(1), tried.len());
    let one = match selector.criterion().estimate(&place.design, &last).engine {
        "decomposition" | "refit" | "definition" => work(selector, &place.design, &last),
        _ => 0.5 * work(selector, &place.design, &Outline::forward(size + tried.len(), size)),
    };
    Some(size as f64 * one)
}

/// All columns of a subset out, one by one.
pub(super) fn removals(size: usize) -> Outline {
    Outline { start: size, largest: size, trials: size as f64, steps: 1 }
}

/// Up to a subset of `size` columns, then each of them out and in again, and `tried` others follow both.
pub(super) fn exchanges(size: usize, tried: usize) -> Outline {
    Outline { start: 0, largest: size, trials: (2 * size * tried) as f64, steps: 3 * size }
}

/// Flops of a search; of unknown work all subsets are refitted, as if each took one pass for each of its columns.
pub(crate) fn work(selector: &ValidSelector, design: &Design, outline: &Outline) -> f64 {
    let known = selector.criterion().estimate(design, outline).flops;
    let guessed = outline.trials * design.rows() as f64 * (outline.largest * outline.largest) as f64;
    if known.is_nan() { guessed } else { known }
}

/// Flops of the trials of [`removals`], with what tells these apart: size² entries, which every change rewrites. Those of moments are
/// decompositions, which are faster than trials.
pub(super) fn of_removals(selector: &ValidSelector, design: &Design, size: usize) -> f64 {
    let outline = removals(size);
    let is_of_moments = selector.criterion().estimate(design, &outline).engine == "moments";
    let faster = if is_of_moments { 2.0 } else { 1.0 };
    work(selector, design, &outline) / faster + 4.0 * (size as f64).powi(3)
}

/// Flops of the trials of [`exchanges`].
///
/// Estimates are of searches, of which the states that others follow after a removal are not: those of leave-one-out begin again
/// where columns are nearly dependent, for every candidate, and those of moments always do.
pub(super) fn of_exchanges(selector: &ValidSelector, design: &Design, size: usize, tried: usize) -> f64 {
    let outline = exchanges(size, tried);
    let columns = design.candidates().len();
    let walk = |largest: usize| work(selector, design, &Outline::forward(columns, largest));
    let (large, columns_tried) = (size as f64, (size * columns) as f64);
    let again = 16.0 * large.powi(3);
    again
        + match selector.criterion().estimate(design, &outline).engine {
            "states" => walk(1) / columns as f64 * columns_tried * (1.0 + large / 2.0),
            "moments" => work(selector, design, &outline) + large * (walk(size) - walk(1)),
            _ => work(selector, design, &outline),
        }
}
