//! Trials of columns, with the checks that every law needs.

use crate::law_violation::{Tolerance, attempt, must, no_nan, same_score};
use crate::{LawResult, SplitMix64};
use std::fmt::Display;
use vaglio_core::prelude::*;
use vaglio_search::SubsetScorer;

/// A criterion on a design, with a tolerance.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'d> {
    pub criterion: &'d dyn Criterion,
    pub design: &'d Design,
    /// Tolerance of scores.
    pub near: Tolerance,
}

impl<'d> Subject<'d> {
    pub fn new(criterion: &'d dyn Criterion, design: &'d Design) -> Self {
        Subject { criterion, design, near: Tolerance::relative(0.0) }
    }

    /// Sets the tolerance of scores.
    pub fn within(self, tolerance: f64) -> Self {
        Subject { near: Tolerance::scores(self.criterion, self.design, tolerance), ..self }
    }

    /// Replaces the design.
    pub fn with_design(self, design: &'d Design) -> Self {
        Subject { design, ..self }
    }

    /// Scores trials; fails if one is missing or NaN.
    pub fn trials(self, subset: &mut SubsetScorer<'_>, trial: Action, candidates: &[Feature]) -> LawResult<Vec<Score>> {
        let before = subset.selected().to_vec();
        let on = format!("trials of {trial:?} to subset {before:?}").to_lowercase();
        attempt(on, || subset.scores(trial, candidates))
    }

    /// Scores additions of columns; fails if a score is missing or NaN.
    pub fn additions(self, subset: &mut SubsetScorer<'_>, candidates: &[Feature]) -> LawResult<Vec<Score>> {
        self.trials(subset, Action::Add, candidates)
    }

    /// Opens the empty subset.
    pub fn open(self) -> LawResult<SubsetScorer<'d>> {
        let Subject { criterion, design, .. } = self;
        attempt("opening a subset", || SubsetScorer::open(criterion, design, &whole(design)))
    }

    /// Opens a subset and adds columns one by one.
    pub fn walk(self, subset: &[Feature]) -> LawResult<SubsetScorer<'d>> {
        let mut walked = self.open()?;
        for &feature in subset {
            attempt(format_args!("subset {subset:?}"), || walked.add(feature))?;
        }
        Ok(walked)
    }

    /// Opens a subset and resets it to columns.
    pub fn reset(self, subset: &[Feature]) -> LawResult<SubsetScorer<'d>> {
        let mut reset = self.open()?;
        attempt(format_args!("subset {subset:?}"), || reset.reset(subset))?;
        Ok(reset)
    }

    /// Evaluates the definition; fails on NaN.
    pub fn evaluate(self, subset: &[Feature]) -> LawResult<Score> {
        let on = format_args!("the definition on subset {subset:?}");
        let score = attempt(on, || self.criterion.evaluate(self.design, subset))?;
        no_nan(on, score.loss)?;
        Ok(score)
    }

    /// Fails unless a score is the definition's.
    pub fn is_defined(self, on: impl Display, subset: &[Feature], found: Score) -> LawResult {
        same_score(self.near, on, self.evaluate(subset)?, found)
    }

    /// Returns at least three and at most `longest` non-constant columns in random order.
    pub fn trail(self, longest: usize, seed: u64) -> LawResult<Vec<Feature>> {
        let columns = self.design.candidates();
        let expected = "three columns that are not constant";
        must(columns.len() >= 3, "the design", expected, columns.len())?;
        let order = SplitMix64::new(seed).order(columns.len());
        Ok(order.into_iter().take(longest.max(3)).map(|at| columns[at]).collect())
    }

    /// Returns the candidates of a change: columns outside the subset, or inside.
    pub fn candidates(self, change: Action, subset: &[Feature]) -> Vec<Feature> {
        match change {
            Action::Add => self.design.candidates().into_iter().filter(|feature| !subset.contains(feature)).collect(),
            Action::Remove => subset.to_vec(),
        }
    }
}

/// Returns the first columns of a list: none, one, …, all.
pub(crate) fn prefixes(columns: &[Feature]) -> impl Iterator<Item = &[Feature]> {
    (0..=columns.len()).map(|size| &columns[..size])
}

/// Returns the extent of a search that adds every column.
pub(crate) fn whole(design: &Design) -> SearchExtent {
    let candidates = design.candidates().len();
    SearchExtent::forward(candidates, candidates)
}
