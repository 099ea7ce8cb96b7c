//! The subset that a search changes, with its scores.

use crate::{
    Branch, Criterion, Design, Diagnostics, Engine, EntryFit, Error, Evaluator, Feature, Geometry, Journal, Outline,
    PathEntry, Recorder, Result, Role, Score, Shortcut, SquaresBound, StopSign, Trials, Winner, larger, smaller,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The current subset of a search, with its scores under a criterion.
pub struct Subset<'d> {
    selected: Vec<Feature>,
    shortcut: Shortcut<'d>,
    /// Whether the evaluator's caches may be those of another subset.
    is_stale: bool,
    /// Where answers of the evaluator are kept, in their order.
    journal: Journal,
    sign: StopSign,
    asked: usize,
    /// Of the answers so far.
    diagnostics: Option<Diagnostics>,
    /// What scores, and the names of the columns, for errors.
    blamed: Option<(&'d dyn Criterion, &'d [String])>,
    /// Whether entries have standard errors.
    has_errors: bool,
}

/// What an evaluator was asked, in short, and its answer.
#[derive(Serialize, Deserialize)]
struct Answered<T> {
    asked: String,
    answer: T,
    /// Whether the trials have to be made again for what they leave behind.
    again: bool,
    #[serde(default, rename = "health", skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Diagnostics>,
}

impl<'d> Subset<'d> {
    /// The empty subset: by the criterion's shortcut where it has one for the design, else by its definition.
    ///
    /// # Errors
    /// Those of [`Criterion::accelerate`].
    pub fn open(criterion: &'d dyn Criterion, design: &'d Design, outline: &Outline) -> Result<Self> {
        let failed = |error: Error| error.of(Role::Criterion, criterion.typetag_name());
        let subset = match criterion.accelerate(design, outline).map_err(failed)? {
            Some(shortcut) => Subset { blamed: Some((criterion, design.names())), ..Subset::new(shortcut) },
            None => Subset::by_definition(criterion, design),
        };
        Ok(Subset { has_errors: design.data().extent.has_errors, ..subset })
    }

    /// The empty subset by a shortcut.
    pub fn new(shortcut: Shortcut<'d>) -> Self {
        let (journal, sign) = (Journal::default(), StopSign::default());
        let selected = Vec::new();
        let (asked, diagnostics, blamed) = (0, None, None);
        Subset { selected, shortcut, is_stale: false, journal, sign, asked, diagnostics, blamed, has_errors: true }
    }

    /// The empty subset, with every trial by the definition: always right, never fast.
    pub fn by_definition(criterion: &'d dyn Criterion, design: &'d Design) -> Self {
        let blamed = Some((criterion, design.names()));
        Subset { blamed, ..Subset::new(Shortcut::new("refit", ByDefinition { criterion, design })) }
    }

    /// An error of the criterion's evaluator as one of the criterion, on these columns.
    pub fn blame(&self, error: Error, columns: &[Feature]) -> Error {
        match self.blamed {
            Some((criterion, names)) => of_criterion(error, criterion, names, columns),
            None => error,
        }
    }

    /// What the evaluator gives, or its error as one of the criterion on the current subset.
    fn ask<T>(&mut self, ask: impl FnOnce(&mut (dyn Evaluator + 'd), &[Feature]) -> Result<T>) -> Result<T> {
        let answer = self.evaluator().and_then(|(evaluator, selected)| ask(evaluator, selected));
        answer.map_err(|error| self.blame(error, &self.selected))
    }

    /// Refuses scores of trials that are not numbers, which would silently lose every comparison.
    fn check(&self, scores: &[Score], trial: impl Fn(usize) -> Vec<Feature>) -> Result<()> {
        match scores.iter().position(|score| score.loss.is_nan()) {
            Some(place) => Err(self.blame(no_number(), &trial(place))),
            None => Ok(()),
        }
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
        let score = self.ask(|evaluator, selected| evaluator.score(selected))?;
        self.check(&[score], |_| self.selected.clone())?;
        Ok(score)
    }

    /// From now on answers are kept in a journal, or recalled from it, and the sign may end trials.
    pub(crate) fn attach(&mut self, journal: Journal, sign: StopSign) {
        (self.journal, self.sign, self.asked) = (journal, sign, 0);
    }

    /// What the evaluator gives for these trials, or gave in an earlier run where that fits; `size` counts numbers of the
    /// answer.
    fn answered<T: Serialize + DeserializeOwned>(
        &mut self,
        trials: Trials<'_>,
        size: usize,
        fits: impl Fn(&T) -> bool,
        ask: impl FnOnce(&mut (dyn Evaluator + 'd), &[Feature]) -> Result<T>,
    ) -> Result<T> {
        self.sign.check()?;
        let place = self.asked;
        self.asked += 1;
        if !self.journal.is_kept() {
            return Ok(self.recorded(ask)?.0);
        }
        let (key, asked) = (format!("answer/{place}"), question(&self.selected, trials));
        let known: Option<Answered<T>> = self.journal.recall(&key);
        if let Some(known) = known.filter(|known| known.asked == asked && !known.again && fits(&known.answer)) {
            self.ask(|evaluator, selected| evaluator.skip(selected, trials))?;
            self.note(known.diagnostics);
            return Ok(known.answer);
        }
        let begun = Instant::now();
        let (answer, diagnostics) = self.recorded(ask)?;
        let again = !self.shortcut.evaluator.can_skip(trials);
        if !self.journal.is_worth(begun, size) {
            return Ok(answer);
        }
        let answered = Answered { asked, answer, again, diagnostics };
        self.journal.keep(&key, &answered);
        Ok(answered.answer)
    }

    /// An answer, or a change, and the diagnostics of its trials alone.
    fn recorded<T>(
        &mut self,
        ask: impl FnOnce(&mut (dyn Evaluator + 'd), &[Feature]) -> Result<T>,
    ) -> Result<(T, Option<Diagnostics>)> {
        let recorder = self.recorder();
        let (answer, diagnostics) = self.ask(|evaluator, selected| {
            // What scores outside of answers note depends on what an earlier run has left to do.
            recorder.take();
            Ok((ask(evaluator, selected)?, recorder.take()))
        })?;
        self.note(diagnostics);
        Ok((answer, diagnostics))
    }

    /// What records the diagnostics of trials.
    pub fn recorder(&self) -> Recorder {
        self.shortcut.recorder.clone()
    }

    /// The diagnostics of all trials so far, those of branches included, are these.
    pub fn recall_diagnostics(&mut self, diagnostics: Option<Diagnostics>) {
        self.diagnostics = diagnostics;
    }

    fn note(&mut self, diagnostics: Option<Diagnostics>) {
        self.diagnostics = Diagnostics::of([self.diagnostics, diagnostics]);
    }

    /// The diagnostics of the trials so far, where the evaluator records them.
    pub fn diagnostics(&self) -> Option<Diagnostics> {
        self.diagnostics
    }

    /// The scores with each candidate added; `scores` has one place per candidate.
    pub fn score_additions(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let size = candidates.len();
        let fits = |found: &Vec<Score>| found.len() == size;
        let found = self.answered(Trials::Additions(candidates), size, fits, |evaluator, selected| {
            evaluator.score_additions(selected, candidates, scores).map(|()| scores.to_vec())
        })?;
        self.check(&found, |place| larger(&self.selected, candidates[place]))?;
        scores.copy_from_slice(&found);
        Ok(())
    }

    /// The scores with each candidate removed; `scores` has one place per candidate.
    pub fn score_removals(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let size = candidates.len();
        let fits = |found: &Vec<Score>| found.len() == size;
        let found = self.answered(Trials::Removals(candidates), size, fits, |evaluator, selected| {
            evaluator.score_removals(selected, candidates, scores).map(|()| scores.to_vec())
        })?;
        self.check(&found, |place| smaller(&self.selected, candidates[place]))?;
        scores.copy_from_slice(&found);
        Ok(())
    }

    /// The best addition with its ties; `None` without candidates or when all score +∞.
    pub fn best_addition(&mut self, candidates: &[Feature]) -> Result<Option<Winner>> {
        let fits = |found: &Option<Winner>| found.as_ref().is_none_or(|winner| winner.is_among(candidates));
        self.answered(Trials::BestAddition(candidates), 1, fits, |evaluator, selected| {
            evaluator.best_addition(selected, candidates)
        })
    }

    /// The removal that leaves the best subset, with its ties, likewise.
    pub fn best_removal(&mut self, candidates: &[Feature]) -> Result<Option<Winner>> {
        let fits = |found: &Option<Winner>| found.as_ref().is_none_or(|winner| winner.is_among(candidates));
        self.answered(Trials::BestRemoval(candidates), 1, fits, |evaluator, selected| {
            evaluator.best_removal(selected, candidates)
        })
    }

    /// Adds a column, which is not in the subset.
    pub fn add(&mut self, feature: Feature) -> Result<()> {
        self.recorded(|evaluator, selected| evaluator.add(selected, feature))?;
        self.selected.push(feature);
        Ok(())
    }

    /// Removes a column; one that is not in the subset changes nothing.
    pub fn remove(&mut self, feature: Feature) -> Result<()> {
        let Some(place) = self.selected.iter().position(|&f| f == feature) else { return Ok(()) };
        self.recorded(|evaluator, selected| evaluator.remove(selected, feature))?;
        self.selected.remove(place);
        Ok(())
    }

    /// Makes `subset` the current subset.
    pub fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        let done = self.shortcut.evaluator.reset(subset);
        done.map_err(|error| self.blame(error, subset))?;
        self.selected = subset.to_vec();
        self.is_stale = false;
        Ok(())
    }

    /// The standard error of the score as a mean over rows, where it is one.
    pub fn standard_error(&mut self) -> Result<Option<f64>> {
        self.ask(|evaluator, selected| evaluator.standard_error(selected))
    }

    /// The subset as an entry of a path, with a score that a trial or [`Subset::score`] gave; with its standard error,
    /// unless the design does [without](crate::engine::EngineDesign::without_errors).
    pub fn entry(&mut self, score: Score) -> Result<PathEntry> {
        let standard_error = if self.has_errors { self.standard_error()? } else { None };
        let lambdas = self.ask(|evaluator, selected| evaluator.lambdas(selected))?;
        let fit = lambdas.map_or(EntryFit::Readout, EntryFit::Lambdas);
        Ok(PathEntry { subset: self.selected.clone(), score, standard_error, fit })
    }

    /// What bounds the scores of all subsets of some columns, where the criterion has such bounds.
    pub fn squares(&mut self, columns: &[Feature]) -> Result<Option<SquaresBound>> {
        self.ask(|evaluator, _| evaluator.squares(columns))
    }

    /// The score with several columns added together; `None` where the tree of these columns tells it.
    pub fn score_with(&mut self, more: &[Feature]) -> Result<Option<Score>> {
        let score = self.ask(|evaluator, selected| evaluator.score_with(selected, more))?;
        self.check(score.as_slice(), |_| self.selected.iter().chain(more).copied().collect())?;
        Ok(score)
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

/// A question in short: what is tried, at what size, of how many, and a digest of subset and candidates.
fn question(selected: &[Feature], trials: Trials<'_>) -> String {
    let (what, candidates) = match trials {
        Trials::Additions(candidates) => ("additions", candidates),
        Trials::Removals(candidates) => ("removals", candidates),
        Trials::BestAddition(candidates) => ("addition", candidates),
        Trials::BestRemoval(candidates) => ("removal", candidates),
    };
    // FNV-1a over words.
    let mixed = |digest: u64, word: &Feature| (digest ^ *word as u64).wrapping_mul(0x100_0000_01b3);
    let digest = selected.iter().fold(0xcbf2_9ce4_8422_2325, mixed);
    let digest = candidates.iter().fold(digest.rotate_left(1), mixed);
    format!("{what} {}/{} {digest:016x}", selected.len(), candidates.len())
}

fn no_number() -> Error {
    Error::Numerical("the score is not a number".into())
}

/// An error as one of a criterion, on these columns.
fn of_criterion(error: Error, criterion: &dyn Criterion, names: &[String], columns: &[Feature]) -> Error {
    error.of(Role::Criterion, criterion.typetag_name()).on(|| named(names, columns))
}

/// Columns that a message names, at most.
const NAMED: usize = 8;

/// Columns by their names, in words.
fn named(names: &[String], columns: &[Feature]) -> String {
    let name = |feature: &Feature| names.get(*feature).map_or_else(|| feature.to_string(), |name| format!("`{name}`"));
    let first: Vec<String> = columns.iter().take(NAMED).map(name).collect();
    match columns.len() {
        0 => "no columns".into(),
        count if count > NAMED => format!("{} and {} more columns", first.join(", "), count - NAMED),
        _ => first.join(", "),
    }
}

/// The evaluator that retrains for every trial.
struct ByDefinition<'d> {
    criterion: &'d dyn Criterion,
    design: &'d Design,
}

impl ByDefinition<'_> {
    fn all(&mut self, subsets: impl Iterator<Item = Vec<Feature>>, scores: &mut [Score]) -> Result<()> {
        for (subset, score) in subsets.zip(scores) {
            self.design.data().sign.check()?;
            *score = self.score(&subset)?;
        }
        Ok(())
    }
}

impl Evaluator for ByDefinition<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        let score = self.criterion.evaluate(self.design, subset);
        let score = score.and_then(|score| if score.loss.is_nan() { Err(no_number()) } else { Ok(score) });
        score.map_err(|error| of_criterion(error, self.criterion, self.design.names(), subset))
    }

    fn score_additions(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.all(candidates.iter().map(|&candidate| larger(subset, candidate)), scores)
    }

    fn score_removals(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.all(candidates.iter().map(|&candidate| smaller(subset, candidate)), scores)
    }

    fn can_skip(&self, _: Trials<'_>) -> bool {
        true
    }
}
