//! The subset that a search changes, with its scores.

use crate::by_definition::{ByDefinition, Unscored, no_number, of_criterion};
use crate::criterion::definition_engine;
use crate::evaluator::winner;
use crate::process_group::Together;
use crate::tape::{
    ADD, Answered, LAMBDAS, REMOVE, RESET, SCORE, SCORE_WITH, SETTLED, STANDARD_ERROR, Tape, digest, kind_of, question,
};
use crate::{
    Branch, Criterion, Design, Diagnostics, Engine, EntryFit, Error, Evaluator, Feature, Geometry, Journal, Outline,
    PathEntry, ProcessGroup, Recorder, Result, Role, Score, Shortcut, SquaresBound, StopSign, Trials, Winner, larger,
    smaller,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
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
    /// All answers, of a search that may pause.
    tape: Option<Tape>,
    /// Of the answers so far.
    diagnostics: Option<Diagnostics>,
    /// What scores, and the names of the columns, for errors.
    blamed: Option<(&'d dyn Criterion, &'d [String])>,
    /// Whether entries have standard errors.
    has_errors: bool,
    /// The processes that make the trials together.
    processes: Option<Arc<dyn ProcessGroup>>,
}

impl<'d> Subset<'d> {
    /// The empty subset: by the criterion's shortcut where it has one for the design, else by its definition.
    ///
    /// # Errors
    /// Those of [`Criterion::accelerate`].
    pub fn open(criterion: &'d dyn Criterion, design: &'d Design, outline: &Outline) -> Result<Self> {
        let failed = |error: Error| error.of(Role::Criterion, criterion.typetag_name());
        if outline.is_unscored(design) {
            let shortcut = Shortcut::new(definition_engine(criterion.folds(design)), Unscored::new(design));
            return Ok(Subset { has_errors: false, ..Subset::new(shortcut) });
        }
        let subset = match criterion.accelerate(design, outline).map_err(failed)? {
            Some(shortcut) => Subset { blamed: Some((criterion, design.names())), ..Subset::new(shortcut) },
            None => Subset::by_definition(criterion, design),
        };
        Ok(Subset { has_errors: design.data().extent.has_errors, ..subset })
    }

    /// The empty subset by a shortcut.
    pub fn new(shortcut: Shortcut<'d>) -> Self {
        let (journal, sign) = (Journal::default(), StopSign::default());
        let (selected, asked, tape, diagnostics, blamed) = (Vec::new(), 0, None, None, None);
        let (is_stale, has_errors, processes) = (false, true, None);
        Subset { selected, shortcut, is_stale, journal, sign, asked, tape, diagnostics, blamed, has_errors, processes }
    }

    /// The empty subset, with every trial by the definition: always right, never fast.
    pub fn by_definition(criterion: &'d dyn Criterion, design: &'d Design) -> Self {
        let blamed = Some((criterion, design.names()));
        let engine = definition_engine(criterion.folds(design));
        Subset { blamed, ..Subset::new(Shortcut::new(engine, ByDefinition { criterion, design })) }
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
        let score = self.taped(SCORE, &[], |subset| subset.ask(|evaluator, selected| evaluator.score(selected)))?;
        self.check(&[score], |_| self.selected.clone())?;
        Ok(score)
    }

    /// From now on answers are kept in a journal, or recalled from it, and the sign may end trials.
    pub(crate) fn attach(&mut self, journal: Journal, sign: StopSign, processes: Option<&Arc<dyn ProcessGroup>>) {
        (self.journal, self.sign, self.asked, self.processes) = (journal, sign, 0, processes.cloned());
    }

    /// Those with whom the trials that are asked next are made.
    fn together(&self, trials: Trials<'_>) -> Option<Together> {
        let processes = Arc::clone(self.processes.as_ref()?);
        let which = format!("{} {}", self.asked, question(&self.selected, trials));
        Some(Together { processes, recorder: self.recorder(), kind: format!("{}answer", self.journal.path()), which })
    }

    /// From now on all answers are kept in memory, so that the search can pause.
    pub(crate) fn tape(&mut self) {
        self.tape = Some(Tape::default());
    }

    /// The search pauses, and can go on from where it is; false where that is not so, and it may not pause.
    pub(crate) fn pause(&mut self) -> bool {
        self.tape.as_mut().map(Tape::pause).is_some()
    }

    /// The empty subset of a search that is begun again, which gets the answers that it had before it paused; false where
    /// it did not stay there.
    pub(crate) fn rewind(&mut self) -> bool {
        let goes_on = self.tape.as_mut().is_some_and(Tape::rewind);
        if goes_on {
            (self.asked, self.selected) = (0, Vec::new());
        }
        goes_on
    }

    /// The answer of the tape, where the search goes on, or that of `ask`, which is kept where it may pause.
    fn taped<T: Clone + Send + 'static>(
        &mut self,
        kind: u64,
        columns: &[Feature],
        ask: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let Some(tape) = &mut self.tape else { return ask(self) };
        let digest = digest(kind, [&self.selected, columns]);
        if let Some(played) = tape.play(digest) {
            return played;
        }
        let answer = ask(self)?;
        if let Some(tape) = &mut self.tape {
            tape.keep(digest, answer.clone());
        }
        Ok(answer)
    }

    /// What is asked has no answer that can be kept, so that the search pauses no more.
    fn untaped(&mut self) -> Result<()> {
        let is_playing = self.tape.take().is_some_and(|tape| tape.is_playing());
        let unlike = || Error::Shape("a search that goes on asks otherwise than it did before it paused".into());
        if is_playing { Err(unlike()) } else { Ok(()) }
    }

    /// What the evaluator gives for these trials, or gave before: to this search, or in an earlier run where that fits; `size`
    /// counts numbers of the answer.
    fn answered<T: Serialize + DeserializeOwned + Clone + Send + 'static>(
        &mut self,
        trials: Trials<'_>,
        size: usize,
        fits: impl Fn(&T) -> bool,
        ask: impl FnOnce(&mut (dyn Evaluator + 'd), &[Feature]) -> Result<T>,
    ) -> Result<T> {
        self.sign.check()?;
        let place = self.asked;
        self.asked += 1;
        self.taped(kind_of(trials), trials.candidates(), |subset| subset.journaled(place, trials, size, fits, ask))
    }

    /// The same of the evaluator or an earlier run.
    fn journaled<T: Serialize + DeserializeOwned>(
        &mut self,
        place: usize,
        trials: Trials<'_>,
        size: usize,
        fits: impl Fn(&T) -> bool,
        ask: impl FnOnce(&mut (dyn Evaluator + 'd), &[Feature]) -> Result<T>,
    ) -> Result<T> {
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
        self.journal.keep_of(begun, &key, &answered);
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
        self.tried(Trials::Additions(candidates), scores)
    }

    /// The scores with each candidate removed; `scores` has one place per candidate.
    pub fn score_removals(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.tried(Trials::Removals(candidates), scores)
    }

    fn tried(&mut self, trials: Trials<'_>, scores: &mut [Score]) -> Result<()> {
        let (together, candidates) = (self.together(trials), trials.candidates());
        let fits = |found: &Vec<Score>| found.len() == candidates.len();
        let found = self.answered(trials, candidates.len(), fits, |evaluator, selected| {
            if let Some(found) = together.map_or(Ok(None), |of| of.scores(evaluator, selected, trials))? {
                return Ok(found);
            }
            match trials.are_additions() {
                true => evaluator.score_additions(selected, candidates, scores)?,
                false => evaluator.score_removals(selected, candidates, scores)?,
            }
            Ok(scores.to_vec())
        })?;
        self.check(&found, |place| match trials.are_additions() {
            true => larger(&self.selected, candidates[place]),
            false => smaller(&self.selected, candidates[place]),
        })?;
        scores.copy_from_slice(&found);
        Ok(())
    }

    /// The best addition with its ties; `None` without candidates or when all score +∞.
    pub fn best_addition(&mut self, candidates: &[Feature]) -> Result<Option<Winner>> {
        self.best(Trials::BestAddition(candidates))
    }

    /// The removal that leaves the best subset, with its ties, likewise.
    pub fn best_removal(&mut self, candidates: &[Feature]) -> Result<Option<Winner>> {
        self.best(Trials::BestRemoval(candidates))
    }

    fn best(&mut self, trials: Trials<'_>) -> Result<Option<Winner>> {
        let (together, candidates) = (self.together(trials), trials.candidates());
        let fits = |found: &Option<Winner>| found.as_ref().is_none_or(|winner| winner.is_among(candidates));
        self.answered(trials, 1, fits, |evaluator, selected| {
            match together.map_or(Ok(None), |of| of.scores(evaluator, selected, trials))? {
                Some(scores) => winner(candidates, &scores, if trials.are_additions() { "added" } else { "removed" }),
                None if trials.are_additions() => evaluator.best_addition(selected, candidates),
                None => evaluator.best_removal(selected, candidates),
            }
        })
    }

    /// Adds a column, which is not in the subset.
    pub fn add(&mut self, feature: Feature) -> Result<()> {
        self.taped(ADD, &[feature], |subset| {
            subset.recorded(|evaluator, selected| evaluator.add(selected, feature)).map(drop)
        })?;
        self.selected.push(feature);
        Ok(())
    }

    /// Removes a column; one that is not in the subset changes nothing.
    pub fn remove(&mut self, feature: Feature) -> Result<()> {
        let Some(place) = self.selected.iter().position(|&f| f == feature) else { return Ok(()) };
        self.taped(REMOVE, &[feature], |subset| {
            subset.recorded(|evaluator, selected| evaluator.remove(selected, feature)).map(drop)
        })?;
        self.selected.remove(place);
        Ok(())
    }

    /// Makes `subset` the current subset.
    pub fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.taped(RESET, subset, |of| {
            let done = of.shortcut.evaluator.reset(subset);
            of.is_stale = false;
            done.map_err(|error| of.blame(error, subset))
        })?;
        self.selected = subset.to_vec();
        Ok(())
    }

    /// The standard error of the score as a mean over rows, where it is one.
    pub fn standard_error(&mut self) -> Result<Option<f64>> {
        self.taped(STANDARD_ERROR, &[], |subset| subset.ask(|evaluator, selected| evaluator.standard_error(selected)))
    }

    /// The subset as an entry of a path, with a score that a trial or [`Subset::score`] gave; with its standard error,
    /// unless the design does [without](crate::engine::EngineDesign::without_errors).
    pub fn entry(&mut self, score: Score) -> Result<PathEntry> {
        let standard_error = if self.has_errors { self.standard_error()? } else { None };
        let lambdas =
            self.taped(LAMBDAS, &[], |subset| subset.ask(|evaluator, selected| evaluator.lambdas(selected)))?;
        let fit = lambdas.map_or(EntryFit::Readout, EntryFit::Lambdas);
        Ok(PathEntry { subset: self.selected.clone(), score, standard_error, fit })
    }

    /// What bounds the scores of all subsets of some columns, where the criterion has such bounds.
    pub fn squares(&mut self, columns: &[Feature]) -> Result<Option<SquaresBound>> {
        self.untaped()?;
        self.ask(|evaluator, _| evaluator.squares(columns))
    }

    /// The score with several columns added together; `None` where the tree of these columns tells it.
    pub fn score_with(&mut self, more: &[Feature]) -> Result<Option<Score>> {
        let ask = |subset: &mut Self| subset.ask(|evaluator, selected| evaluator.score_with(selected, more));
        let score = self.taped(SCORE_WITH, more, ask)?;
        self.check(score.as_slice(), |_| self.selected.iter().chain(more).copied().collect())?;
        Ok(score)
    }

    /// The root of a depth-first search of the subset with any of the columns `later`.
    pub fn tree(&mut self, later: &[Feature]) -> Result<Box<dyn Branch + '_>> {
        self.untaped()?;
        self.evaluator()?;
        let root = self.shortcut.evaluator.tree(&self.selected, later)?;
        self.is_stale = root.moves_caches();
        Ok(root)
    }

    /// What `ask` finds of the subset with `more` columns, beside its score; a search that goes on from a pause gets the answer
    /// that it had.
    pub fn settled<T: Clone + Send + 'static>(
        &mut self,
        more: &[Feature],
        ask: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.taped(SETTLED, more, |_| ask())
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
