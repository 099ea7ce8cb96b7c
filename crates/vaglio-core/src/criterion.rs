//! Criteria: how good a subset of columns is.

use crate::{Correlation, Design, Error, Feature, Geometry, Loss, Outline, Result};
use std::fmt::Debug;

/// The score of a subset: lower is better, +∞ is the worst, NaN does not occur.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The criterion's value.
    pub loss: f64,
    /// The λ that won for this subset, where the criterion has one; the smallest among equals.
    pub lambda: Option<f64>,
}

impl Score {
    /// The worst score.
    pub const WORST: Score = Score { loss: f64::INFINITY, lambda: None };

    /// A score without a λ.
    pub fn of(loss: f64) -> Self {
        Score { loss, lambda: None }
    }

    /// Refuses NaN, which would silently lose every comparison.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    pub fn checked(self) -> Result<Self> {
        if self.loss.is_nan() {
            return Err(Error::Numerical("a score is not a number; rescale or standardize the columns".into()));
        }
        Ok(self)
    }
}

/// A measure of how good a subset is; its fields are its settings.
///
/// Only [`Criterion::evaluate`] is required. It is the definition, and what every shortcut is tested against.
#[typetag::serde(tag = "kind")]
pub trait Criterion: Debug + Send + Sync {
    /// The definition, by plain retraining: slow and obviously right.
    ///
    /// # Errors
    /// [`Error::Numerical`] where retraining fails.
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score>;

    /// The shortcut, where there is one for this design. `None`: every trial calls [`Criterion::evaluate`].
    ///
    /// `outline` says how far the search will go, for criteria that choose among several ways; it changes no result.
    ///
    /// # Errors
    /// [`Error::Numerical`] when the columns over- or underflow.
    fn accelerate<'d>(&'d self, _design: &'d Design, _outline: &Outline) -> Result<Option<Box<dyn Evaluator + 'd>>> {
        Ok(None)
    }

    /// Relevance and Gram columns that least-angle searches walk on; linear correlation unless overridden.
    ///
    /// # Errors
    /// [`Error::Setting`] where there is no such path, [`Error::Numerical`].
    fn geometry<'d>(&'d self, design: &'d Design) -> Result<Box<dyn Geometry + 'd>> {
        Ok(Box::new(Correlation::new(design)?))
    }

    /// The fold of each row, counted from 0, where the criterion holds rows out together; a map with `scope: fold` is
    /// refitted on the others.
    ///
    /// # Errors
    /// [`Error::Setting`] for folds that cannot be made.
    fn folds(&self, _design: &Design) -> Result<Option<Vec<u32>>> {
        Ok(None)
    }

    /// The column of the data that gives every row its fold, if a setting names one; it is no feature.
    fn assignment(&self) -> Option<&str> {
        None
    }

    /// Refuses a design on which the criterion has no meaning, before the search starts.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path inside this criterion.
    fn check(&self, _design: &Design) -> Result<()> {
        Ok(())
    }

    /// The loss that the score is a mean of, if it is one.
    fn loss(&self) -> Option<Loss> {
        None
    }

    /// What a search would use and cost, for `plan`.
    fn estimate(&self, design: &Design, outline: &Outline) -> Estimate {
        let Outline { largest, trials, .. } = *outline;
        Estimate {
            engine: "refit",
            reason: "the criterion has no shortcut for this learner: every subset is evaluated by its definition"
                .into(),
            flops: trials * design.rows() as f64 * (largest * largest) as f64,
            bytes: 0.0,
        }
    }
}

/// The engine that a criterion would choose, and its cost.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// The word for it in `selection.json`.
    pub engine: &'static str,
    /// Why it was chosen.
    pub reason: String,
    /// Floating-point operations of the search.
    pub flops: f64,
    /// Bytes beside the data.
    pub bytes: f64,
}

/// The best addition or removal of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Winner {
    /// The column; the lowest index among equals.
    pub feature: Feature,
    /// Its score.
    pub score: Score,
    /// The other columns with exactly that score, in increasing order.
    pub tied: Vec<Feature>,
}

impl Winner {
    /// The lowest score among `candidates`, ties to the lowest index; `None` without candidates or when all are +∞.
    pub fn among(candidates: &[Feature], scores: &[Score]) -> Option<Winner> {
        let lowest = scores.iter().map(|s| s.loss).filter(|l| !l.is_nan()).fold(f64::INFINITY, f64::min);
        if lowest == f64::INFINITY {
            return None;
        }
        let mut equals: Vec<(Feature, Score)> =
            candidates.iter().copied().zip(scores.iter().copied()).filter(|(_, s)| s.loss == lowest).collect();
        equals.sort_by_key(|(feature, _)| *feature);
        let (feature, score) = equals[0];
        Some(Winner { feature, score, tied: equals[1..].iter().map(|(f, _)| *f).collect() })
    }
}

/// A criterion bound to one design: it holds a current subset and the caches that make trials cheap.
///
/// The rules, which the conformance kit checks: a trial equals `add` then `score` equals [`Criterion::evaluate`], and
/// likewise for removals; the order of candidates and the number of threads change nothing; scores may be +∞, never
/// NaN; long walks of additions and removals stay accurate (an evaluator may rebuild itself at any call).
pub trait Evaluator: Send {
    /// The current subset, in order of entry.
    fn selected(&self) -> &[Feature];

    /// The score of the current subset.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn score(&mut self) -> Result<Score>;

    /// Makes `subset` the current subset.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn reset(&mut self, subset: &[Feature]) -> Result<()>;

    /// The scores of the current subset with each candidate added; `scores` has one place per candidate.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn score_additions(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()>;

    /// The scores of the current subset with each candidate removed; `scores` has one place per candidate.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn score_removals(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()>;

    /// Adds a column to the current subset.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn add(&mut self, feature: Feature) -> Result<()>;

    /// Removes a column from the current subset.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn remove(&mut self, feature: Feature) -> Result<()>;

    /// The best addition with its ties: exactly what [`Winner::among`] makes of [`Evaluator::score_additions`], for
    /// evaluators that can prove candidates worse without scoring them.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn best_addition(&mut self, candidates: &[Feature]) -> Result<Option<Winner>> {
        let mut scores = vec![Score::WORST; candidates.len()];
        self.score_additions(candidates, &mut scores)?;
        Ok(Winner::among(candidates, &scores))
    }

    /// The removal that leaves the best subset, with its ties: exactly what [`Winner::among`] makes of
    /// [`Evaluator::score_removals`], likewise.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn best_removal(&mut self, candidates: &[Feature]) -> Result<Option<Winner>> {
        let mut scores = vec![Score::WORST; candidates.len()];
        self.score_removals(candidates, &mut scores)?;
        Ok(Winner::among(candidates, &scores))
    }

    /// The standard error of the current score as a mean over rows, where it is one.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn standard_error(&mut self) -> Result<Option<f64>> {
        Ok(None)
    }

    /// The criterion's geometry, where the evaluator has made it already.
    fn geometry(&self) -> Option<Box<dyn Geometry>> {
        None
    }

    /// The criterion's own coefficients on the current subset, in order of entry, if it has any.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn alpha(&mut self) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// The word for an approximation in `selection.json`, where the criterion makes one.
    fn approximation(&self) -> Option<&'static str> {
        None
    }

    /// The word for this way of computing in `selection.json`.
    fn engine(&self) -> &'static str {
        "refit"
    }

    /// A child for depth-first search: the subset plus `feature`, keeping state of `later` columns alone. `None`: the
    /// search walks with `add` and `remove`.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn branch(&self, _feature: Feature, _later: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        Ok(None)
    }

    /// A score that no subset of the current columns and `later` ones, larger than the current, can be below; −∞ when
    /// nothing is known.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn bound(&mut self, _later: &[Feature]) -> Result<f64> {
        Ok(f64::NEG_INFINITY)
    }
}

impl dyn Criterion + '_ {
    /// The evaluator for a design: the shortcut where there is one, else plain re-evaluation.
    ///
    /// # Errors
    /// Those of [`Criterion::accelerate`].
    pub fn open<'d>(&'d self, design: &'d Design, outline: &Outline) -> Result<Box<dyn Evaluator + 'd>> {
        Ok(match self.accelerate(design, outline)? {
            Some(evaluator) => evaluator,
            None => Box::new(Refit::new(self, design)),
        })
    }
}

/// The evaluator that calls the definition for every trial: always right, never fast.
pub struct Refit<'d> {
    criterion: &'d dyn Criterion,
    design: &'d Design,
    selected: Vec<Feature>,
}

impl<'d> Refit<'d> {
    /// Starts at the empty subset.
    pub fn new(criterion: &'d dyn Criterion, design: &'d Design) -> Self {
        Refit { criterion, design, selected: Vec::new() }
    }

    fn evaluate(&self, subset: &[Feature]) -> Result<Score> {
        self.criterion.evaluate(self.design, subset)?.checked()
    }
}

impl Evaluator for Refit<'_> {
    fn selected(&self) -> &[Feature] {
        &self.selected
    }

    fn score(&mut self) -> Result<Score> {
        self.evaluate(&self.selected)
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.selected = subset.to_vec();
        Ok(())
    }

    fn score_additions(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        for (candidate, score) in candidates.iter().zip(scores) {
            let larger: Vec<Feature> = self.selected.iter().chain([candidate]).copied().collect();
            *score = self.evaluate(&larger)?;
        }
        Ok(())
    }

    fn score_removals(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        for (candidate, score) in candidates.iter().zip(scores) {
            let smaller: Vec<Feature> = self.selected.iter().filter(|f| *f != candidate).copied().collect();
            *score = self.evaluate(&smaller)?;
        }
        Ok(())
    }

    fn add(&mut self, feature: Feature) -> Result<()> {
        self.selected.push(feature);
        Ok(())
    }

    fn remove(&mut self, feature: Feature) -> Result<()> {
        self.selected.retain(|&f| f != feature);
        Ok(())
    }
}
