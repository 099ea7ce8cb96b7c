//! The current subset of a search, with its scores.

mod retraining;
mod trials;

use crate::{EntryFit, Journal, Monitor, PathEntry, plan_geometry};
use retraining::{RetrainingEvaluator, UnscoredEvaluator, criterion_error};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Instant;
use trials::{Trials, describe};
use vaglio_core::{
    Action, CacheEffect, Criterion, Design, Diagnostics, EngineEvaluator, Error, Evaluator, Feature, Geometry, Result,
    Score, SearchExtent, SquaresBound, StopSign, Winner, definition_engine, single_outputs,
};

/// The current subset of a search, scored by a criterion's evaluator.
pub struct SubsetScorer<'d> {
    /// The criterion that scores subsets.
    pub criterion: &'d dyn Criterion,
    /// The design that is searched.
    pub design: &'d Design,
    selected: Vec<Feature>,
    /// The engine, unless it is the criterion's definition.
    engine: Option<&'static str>,
    pub(crate) shortcut: EngineEvaluator<'d>,
    /// The geometry of the engine, if it has one.
    geometry: Option<Arc<dyn Geometry + 'd>>,
    /// Whether the evaluator's caches may belong to another subset.
    is_stale: bool,
    /// Journal of the answers that took long.
    journal: Journal,
    /// Number of questions about trials so far.
    asked: usize,
    /// Whether an earlier search of the run asked these questions, so that nothing is journaled.
    pub(crate) is_known: bool,
    sign: StopSign,
    /// The diagnostics of the trials so far, if the evaluator records them.
    pub diagnostics: Option<Diagnostics>,
}

impl<'d> SubsetScorer<'d> {
    /// Starts at the empty subset, with the criterion's engine for the design, or else its definition.
    ///
    /// # Errors
    /// Returns an error of [`Plan::start`](vaglio_core::Plan::start).
    pub fn open(criterion: &'d dyn Criterion, design: &'d Design, extent: &SearchExtent) -> Result<Self> {
        let by_definition = SubsetScorer::by_definition(criterion, design);
        if let Some(unscored) = UnscoredEvaluator::for_walk(design, extent) {
            return Ok(SubsetScorer { shortcut: unscored.into(), ..by_definition });
        }
        let mut plan = criterion.plan(design, extent);
        let (engine, has_engine, geometry) = (Some(plan.estimate.engine), plan.has_engine, plan.geometry.take());
        Ok(match plan.start().map_err(|error| error.from_part(criterion))? {
            Some(shortcut) => SubsetScorer { engine, shortcut, geometry, ..by_definition },
            None if has_engine => by_definition,
            None => SubsetScorer { engine, ..by_definition },
        })
    }

    /// Starts at the empty subset, with every trial by the definition: always right, never fast.
    pub fn by_definition(criterion: &'d dyn Criterion, design: &'d Design) -> Self {
        SubsetScorer {
            criterion,
            design,
            selected: Vec::new(),
            engine: None,
            shortcut: RetrainingEvaluator { criterion, design }.into(),
            geometry: None,
            is_stale: false,
            journal: Journal::default(),
            asked: 0,
            is_known: false,
            sign: StopSign::default(),
            diagnostics: None,
        }
    }

    /// Attributes an error of the evaluator to the criterion, on the given columns.
    pub(crate) fn blame(&self, error: Error, columns: &[Feature]) -> Error {
        criterion_error(error, self.criterion, self.design.problem().names(), columns)
    }

    /// Calls the evaluator; attributes errors to the criterion on the current subset.
    fn ask<T>(&mut self, ask: impl FnOnce(&mut (dyn Evaluator + 'd), &[Feature]) -> Result<T>) -> Result<T> {
        let answer = self.evaluator().and_then(|(evaluator, selected)| ask(evaluator, selected));
        answer.map_err(|error| self.blame(error, &self.selected))
    }

    /// Refuses NaN scores of trials, which would lose every comparison silently.
    fn check(&self, scores: &[Score], trial: impl Fn(usize) -> Vec<Feature>) -> Result<()> {
        match scores.iter().position(|score| score.loss.is_nan()) {
            Some(place) => Err(self.blame(Error::Numerical("the score is not a number".into()), &trial(place))),
            None => Ok(()),
        }
    }

    /// The evaluator, with its caches at the current subset.
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

    /// The score of the subset.
    ///
    /// # Errors
    /// Returns an error of [`Evaluator::score`], like every method.
    pub fn score(&mut self) -> Result<Score> {
        let score = self.ask(|evaluator, selected| evaluator.score(selected))?;
        self.check(&[score], |_| self.selected.clone())?;
        Ok(score)
    }

    /// Makes `subset` the current subset and scores it.
    pub(crate) fn score_at(&mut self, subset: &[Feature]) -> Result<Score> {
        self.reset(subset)?;
        self.score()
    }

    /// The score of another subset; the current one stays.
    pub fn try_subset(&mut self, subset: &[Feature]) -> Result<Score> {
        let current = self.selected.clone();
        let score = self.score_at(subset)?;
        self.reset(&current)?;
        Ok(score)
    }

    /// Attaches the run: a journal for answers and a stop sign for trials.
    pub(crate) fn attach(&mut self, monitor: &Monitor<'_>) {
        (self.journal, self.asked, self.sign) = (monitor.journal.clone(), 0, monitor.stop.clone());
    }

    /// Answers trials: from an earlier run if the answer `fits`, or by `ask`, a call of the evaluator for the subset and
    /// candidates.
    fn answer_trials<T: Serialize + DeserializeOwned>(
        &mut self,
        trials: Trials<'_>,
        fits: impl Fn(&T) -> bool,
        ask: impl Fn(&mut (dyn Evaluator + 'd), &[Feature], &[Feature]) -> Result<T>,
    ) -> Result<T> {
        self.sign.check()?;
        let Trials { change, candidates, is_best } = trials;
        let (asked, key) = (describe(&self.selected, trials), format!("answer/{}", self.asked));
        self.asked += 1;
        let known: Option<(String, T, Option<Diagnostics>)> = self.journal.recall(&key);
        let known = known.filter(|(described, answer, _)| *described == asked && fits(answer));
        if let Some((_, answer, diagnostics)) = known {
            // Brings caches to the state that trials with trace `CacheEffect::Begun` leave.
            let first = &candidates[..candidates.len().min(2)];
            self.ask(|evaluator, selected| match evaluator.trace(change) {
                CacheEffect::Nothing => Ok(()),
                _ => ask(evaluator, selected, first).map(drop),
            })?;
            self.note(diagnostics);
            return Ok(answer);
        }
        let begun = Instant::now();
        let (answer, diagnostics) =
            self.record(|scorer| scorer.ask(|evaluator, selected| ask(evaluator, selected, candidates)))?;
        let lines = if is_best { 1 } else { candidates.len() };
        let is_lasting = self.shortcut.evaluator.trace(change) == CacheEffect::Lasting;
        if !self.is_known && !is_lasting && self.journal.is_worth(begun, lines) {
            self.journal.keep_worth(begun, key, &(asked, &answer, diagnostics));
        }
        Ok(answer)
    }

    /// Calls `ask` and returns its result with the diagnostics of its trials alone.
    fn record<T>(&mut self, ask: impl FnOnce(&mut Self) -> Result<T>) -> Result<(T, Option<Diagnostics>)> {
        let recorder = self.shortcut.recorder.clone();
        // Diagnostics of scores outside of answers depend on how much an earlier run has done.
        recorder.take();
        let (answer, diagnostics) = (ask(self)?, recorder.take());
        self.note(diagnostics);
        Ok((answer, diagnostics))
    }

    fn note(&mut self, diagnostics: Option<Diagnostics>) {
        self.diagnostics = Diagnostics::merge([self.diagnostics, diagnostics]);
    }

    /// The scores of the subset with each candidate added or removed.
    pub fn scores(&mut self, change: Action, candidates: &[Feature]) -> Result<Vec<Score>> {
        let trials = Trials { change, candidates, is_best: false };
        let fits = |found: &Vec<Score>| found.len() == candidates.len();
        let found = self.answer_trials(trials, fits, |evaluator, selected, candidates| {
            match evaluator.scores(change, selected, candidates)? {
                scores if scores.len() == candidates.len() => Ok(scores),
                scores => Err(Error::Shape(format!("{} scores of {} candidates", scores.len(), candidates.len()))),
            }
        })?;
        self.check(&found, |place| change.apply_to(&self.selected, candidates[place]))?;
        Ok(found)
    }

    /// The addition or removal that gives the best subset, with its ties; `None` without candidates or when all score
    /// +∞.
    pub fn best(&mut self, change: Action, candidates: &[Feature]) -> Result<Option<Winner>> {
        let trials = Trials { change, candidates, is_best: true };
        let fits = |found: &Option<Winner>| found.as_ref().is_none_or(|winner| winner.is_among(candidates));
        self.answer_trials(trials, fits, |evaluator, selected, candidates| evaluator.best(change, selected, candidates))
    }

    /// Adds a column that is not in the subset.
    pub fn add(&mut self, feature: Feature) -> Result<()> {
        self.apply(Action::Add, feature)
    }

    /// Removes a column; does nothing if it is not in the subset.
    pub fn remove(&mut self, feature: Feature) -> Result<()> {
        if self.selected.contains(&feature) { self.apply(Action::Remove, feature) } else { Ok(()) }
    }

    /// Adds a column that is not in the subset, or removes one that is.
    pub fn apply(&mut self, change: Action, feature: Feature) -> Result<()> {
        self.record(|scorer| scorer.ask(|evaluator, selected| evaluator.apply(change, selected, feature)))?;
        self.selected = change.apply_to(&self.selected, feature);
        Ok(())
    }

    /// Adds or removes several columns, one by one.
    pub(crate) fn apply_all(&mut self, change: Action, features: &[Feature]) -> Result<()> {
        features.iter().try_for_each(|&feature| self.apply(change, feature))
    }

    /// Makes `subset` the current subset.
    pub fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.is_stale = false;
        let done = self.shortcut.evaluator.reset(subset);
        done.map_err(|error| self.blame(error, subset))?;
        self.selected = subset.to_vec();
        Ok(())
    }

    /// The standard error of the score; `None` unless the score is a mean over rows.
    pub fn standard_error(&mut self) -> Result<Option<f64>> {
        self.ask(|evaluator, selected| evaluator.standard_error(selected))
    }

    /// Entry of a path for the subset, with a `score` from a trial or [`SubsetScorer::score`]. Has a standard error
    /// unless the design skips them ([`Design::run`]).
    pub fn entry(&mut self, score: Score) -> Result<PathEntry> {
        let standard_error = if self.design.run().skips_errors { None } else { self.standard_error()? };
        let lambdas = match single_outputs(self.design) {
            Some(_) => self.ask(|evaluator, selected| evaluator.lambdas(selected))?,
            None => None,
        };
        let fit = lambdas.map_or(EntryFit::Readout, EntryFit::Lambdas);
        Ok(PathEntry { subset: self.selected.clone(), score, standard_error, fit })
    }

    /// Bounds of the scores of all subsets of some columns, if the criterion has such bounds.
    pub(crate) fn squares(&self, columns: &[Feature]) -> Option<SquaresBound> {
        self.shortcut.squares.as_ref().map(|bound| bound(columns))
    }

    /// The score with several columns added together; the subset stays as it is.
    pub fn score_with(&mut self, more: &[Feature]) -> Result<Score> {
        let score = self.ask(|evaluator, selected| score_with(evaluator, selected, more))?;
        self.check(&[score], |_| self.selected.iter().chain(more).copied().collect())?;
        Ok(score)
    }

    /// Lends the evaluator at the subset. Callers may move it; the scorer resets it before its next use.
    pub fn lend(&mut self) -> Result<&mut (dyn Evaluator + 'd)> {
        self.evaluator()?;
        self.is_stale = true;
        Ok(&mut *self.shortcut.evaluator)
    }

    /// The identifier of the engine that computes scores.
    pub fn engine(&self) -> &'static str {
        self.engine.unwrap_or_else(|| definition_engine(self.criterion.folds(self.design)))
    }

    /// The identifier of the engine's approximation, if it has one.
    pub fn approximation(&self) -> Option<&'static str> {
        self.shortcut.approximation
    }

    /// The geometry for least-angle searches.
    pub fn geometry(&self) -> Arc<dyn Geometry + 'd> {
        self.geometry.clone().unwrap_or_else(|| plan_geometry(self.criterion, self.design))
    }

    /// The coefficients at the minimum that defines the engine's score of a subset; `None` if it is no such minimum.
    ///
    /// # Errors
    /// Returns an error of [`Geometry::minimizer`].
    pub fn minimizer(&self, subset: &[Feature]) -> Result<Option<Vec<f64>>> {
        self.geometry.as_ref().map_or(Ok(None), |geometry| geometry.minimizer(subset))
    }
}

/// Scores a subset with several columns added together; the evaluator stays at `subset`.
pub(crate) fn score_with(evaluator: &mut dyn Evaluator, subset: &[Feature], more: &[Feature]) -> Result<Score> {
    if let Some(mut fork) = evaluator.fork(subset, &[])? {
        let mut all = subset.to_vec();
        for &feature in more {
            fork.apply(Action::Add, &all, feature)?;
            all.push(feature);
        }
        return fork.score(&all);
    }
    let all = [subset, more].concat();
    evaluator.reset(&all)?;
    let score = evaluator.score(&all)?;
    evaluator.reset(subset)?;
    Ok(score)
}
