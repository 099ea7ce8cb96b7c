//! The subset that a search changes, with its scores.

use crate::{
    Branch, Criterion, Design, Engine, EntryFit, Evaluator, Feature, Geometry, Outline, PathEntry, Result, Score,
    Shortcut, Winner,
};

/// The current subset of a search, with its scores under a criterion.
pub struct Subset<'d> {
    selected: Vec<Feature>,
    shortcut: Shortcut<'d>,
    /// Whether the evaluator's caches may be those of another subset.
    is_stale: bool,
}

impl<'d> Subset<'d> {
    /// The empty subset: by the criterion's shortcut where it has one for the design, else by its definition.
    ///
    /// # Errors
    /// Those of [`Criterion::accelerate`].
    pub fn open(criterion: &'d dyn Criterion, design: &'d Design, outline: &Outline) -> Result<Self> {
        Ok(match criterion.accelerate(design, outline)? {
            Some(shortcut) => Subset::new(shortcut),
            None => Subset::by_definition(criterion, design),
        })
    }

    /// The empty subset by a shortcut.
    pub fn new(shortcut: Shortcut<'d>) -> Self {
        Subset { selected: Vec::new(), shortcut, is_stale: false }
    }

    /// The empty subset, with every trial by the definition: always right, never fast.
    pub fn by_definition(criterion: &'d dyn Criterion, design: &'d Design) -> Self {
        Subset::new(Shortcut::new("refit", ByDefinition { criterion, design }))
    }

    /// The evaluator, with caches of the subset.
    fn evaluator(&mut self) -> Result<(&mut (dyn Evaluator + 'd), &[Feature])> {
        if std::mem::take(&mut self.is_stale) {
            self.shortcut.evaluator.reset(&self.selected)?;
        }
        Ok((&mut *self.shortcut.evaluator, &self.selected))
    }

    /// The subset, in order of entry.
    pub fn selected(&self) -> &[Feature] {
        &self.selected
    }

    /// Its score.
    ///
    /// # Errors
    /// Those of [`Evaluator::score`], as of all methods.
    pub fn score(&mut self) -> Result<Score> {
        let (evaluator, selected) = self.evaluator()?;
        evaluator.score(selected)
    }

    /// The scores with each candidate added; `scores` has one place per candidate.
    pub fn score_additions(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let (evaluator, selected) = self.evaluator()?;
        evaluator.score_additions(selected, candidates, scores)
    }

    /// The scores with each candidate removed; `scores` has one place per candidate.
    pub fn score_removals(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let (evaluator, selected) = self.evaluator()?;
        evaluator.score_removals(selected, candidates, scores)
    }

    /// The best addition with its ties; `None` without candidates or when all score +∞.
    pub fn best_addition(&mut self, candidates: &[Feature]) -> Result<Option<Winner>> {
        let (evaluator, selected) = self.evaluator()?;
        evaluator.best_addition(selected, candidates)
    }

    /// The removal that leaves the best subset, with its ties, likewise.
    pub fn best_removal(&mut self, candidates: &[Feature]) -> Result<Option<Winner>> {
        let (evaluator, selected) = self.evaluator()?;
        evaluator.best_removal(selected, candidates)
    }

    /// Adds a column, which is not in the subset.
    pub fn add(&mut self, feature: Feature) -> Result<()> {
        let (evaluator, selected) = self.evaluator()?;
        evaluator.add(selected, feature)?;
        self.selected.push(feature);
        Ok(())
    }

    /// Removes a column; one that is not in the subset changes nothing.
    pub fn remove(&mut self, feature: Feature) -> Result<()> {
        let Some(place) = self.selected.iter().position(|&f| f == feature) else { return Ok(()) };
        let (evaluator, selected) = self.evaluator()?;
        evaluator.remove(selected, feature)?;
        self.selected.remove(place);
        Ok(())
    }

    /// Makes `subset` the current subset.
    pub fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.shortcut.evaluator.reset(subset)?;
        self.selected = subset.to_vec();
        self.is_stale = false;
        Ok(())
    }

    /// The standard error of the score as a mean over rows, where it is one.
    pub fn standard_error(&mut self) -> Result<Option<f64>> {
        let (evaluator, selected) = self.evaluator()?;
        evaluator.standard_error(selected)
    }

    /// The subset as an entry of a path, with a score that a trial or [`Subset::score`] gave.
    pub fn entry(&mut self, score: Score) -> Result<PathEntry> {
        let standard_error = self.standard_error()?;
        let (evaluator, selected) = self.evaluator()?;
        let fit = evaluator.lambdas(selected)?.map_or(EntryFit::Readout, EntryFit::Lambdas);
        Ok(PathEntry { subset: selected.to_vec(), score, standard_error, fit })
    }

    /// The root of a depth-first search of the subset with any of the columns `later`.
    pub fn tree(&mut self, later: &[Feature]) -> Result<Box<dyn Branch + '_>> {
        self.evaluator()?;
        let root = self.shortcut.evaluator.tree(&self.selected, later)?;
        self.is_stale = root.moves_caches();
        Ok(root)
    }

    /// How scores are computed.
    pub fn engine(&self) -> Engine {
        self.shortcut.engine
    }

    /// The geometry that the evaluator stands on, where it has one.
    pub fn geometry(&self) -> Option<Box<dyn Geometry>> {
        self.shortcut.geometry.as_ref().map(|geometry| geometry())
    }
}

/// The evaluator that retrains for every trial.
struct ByDefinition<'d> {
    criterion: &'d dyn Criterion,
    design: &'d Design,
}

impl Evaluator for ByDefinition<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        self.criterion.evaluate(self.design, subset)?.checked()
    }
}
