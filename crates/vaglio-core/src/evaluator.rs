//! Evaluators: what makes the trials of a search cheap.

use crate::by_definition::ByDefinition;
use crate::criterion::definition_engine;
use crate::{Criterion, Design, Error, Feature, Geometry, Recorder, Result, Score, Winner};

/// A change of a subset by one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubsetChange {
    /// The column enters.
    Addition,
    /// The column leaves.
    Removal,
}

impl SubsetChange {
    /// The subset after the change.
    pub fn apply_to(self, subset: &[Feature], feature: Feature) -> Vec<Feature> {
        match self {
            SubsetChange::Addition => subset.iter().copied().chain([feature]).collect(),
            SubsetChange::Removal => subset.iter().copied().filter(|&f| f != feature).collect(),
        }
    }
}

/// Trials of the current subset, by the candidates that are added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trials<'c> {
    /// Those of [`Evaluator::scores`] with [`SubsetChange::Addition`].
    Additions(&'c [Feature]),
    /// Those of [`Evaluator::scores`] with [`SubsetChange::Removal`].
    Removals(&'c [Feature]),
    /// Those of [`Evaluator::best`] with [`SubsetChange::Addition`].
    BestAddition(&'c [Feature]),
    /// Those of [`Evaluator::best`] with [`SubsetChange::Removal`].
    BestRemoval(&'c [Feature]),
}

impl<'c> Trials<'c> {
    /// The columns that are tried.
    pub fn candidates(self) -> &'c [Feature] {
        match self {
            Trials::Additions(all) | Trials::Removals(all) | Trials::BestAddition(all) | Trials::BestRemoval(all) => {
                all
            }
        }
    }

    /// Whether they are added or removed.
    pub fn change(self) -> SubsetChange {
        match self {
            Trials::Additions(_) | Trials::BestAddition(_) => SubsetChange::Addition,
            Trials::Removals(_) | Trials::BestRemoval(_) => SubsetChange::Removal,
        }
    }
}

/// What trials leave behind in an evaluator's caches: whether later answers (scores, winners with their ties, bounds, standard errors, λ)
/// or diagnostics depend on which candidates were tried. They are compared to the last bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trace {
    /// Later answers may depend on which candidates were tried. This is always right: the trials are then made again, by every process.
    Lasting,
    /// Later answers depend only on whether there were trials: those of the first two candidates leave the caches where all leave them.
    Begun,
    /// Later answers do not depend on the trials.
    Nothing,
}

/// The trials of a criterion on one design, made cheap by caches that follow the current subset.
///
/// The subset itself is kept by [`SubsetScorer`](crate::SubsetScorer), which passes it to every call. Only [`Evaluator::score`] is
/// required; an evaluator without caches implements nothing else. The rules, which the test kit checks: a trial equals the
/// change, then `score`, equals [`Criterion::evaluate`](crate::Criterion::evaluate); the order of candidates and the
/// number of threads change nothing; scores may be +∞, never NaN; long walks of additions and removals stay accurate.
pub trait Evaluator: Send {
    /// The score of the current subset.
    ///
    /// # Errors
    /// [`Error::Numerical`](crate::Error::Numerical), as of all methods.
    fn score(&mut self, subset: &[Feature]) -> Result<Score>;

    /// The scores after changes of the current subset by each candidate; `scores` has one place per candidate.
    fn scores(
        &mut self,
        change: SubsetChange,
        subset: &[Feature],
        candidates: &[Feature],
        scores: &mut [Score],
    ) -> Result<()> {
        for (&candidate, score) in candidates.iter().zip(scores) {
            *score = self.score(&change.apply_to(subset, candidate))?;
        }
        Ok(())
    }

    /// The best of these changes with its ties: exactly what [`Winner::among`] makes of [`Evaluator::scores`], for evaluators
    /// that can prove candidates worse without scoring them. `None` without candidates or when all score +∞.
    fn best(&mut self, change: SubsetChange, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        let mut scores = vec![Score::WORST; candidates.len()];
        self.scores(change, subset, candidates, &mut scores)?;
        winner(change, candidates, &scores)
    }

    /// What trials leave behind in the caches. Answers of trials that leave no [lasting](Trace::Lasting) trace may come from an earlier run
    /// or in parts from other processes, and then only some candidates are tried here.
    ///
    /// The answer may depend on the trials: it is asked for after they were made, and kept with theirs.
    fn trace(&self, _trials: Trials<'_>) -> Trace {
        Trace::Lasting
    }

    /// Caches follow a change of `subset` by `feature`.
    fn apply(&mut self, _change: SubsetChange, _subset: &[Feature], _feature: Feature) -> Result<()> {
        Ok(())
    }

    /// Caches are those of `subset` from now on, whatever the subset was.
    fn reset(&mut self, _subset: &[Feature]) -> Result<()> {
        Ok(())
    }

    /// The standard error of the current score as a mean over rows, where it is one.
    fn standard_error(&mut self, _subset: &[Feature]) -> Result<Option<f64>> {
        Ok(None)
    }

    /// The λ of each output at which the current score is reached, where outputs do not share one.
    fn lambdas(&mut self, _subset: &[Feature]) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// What bounds the scores of all subsets of some columns by the squares that their fits leave over, for criteria of
    /// which larger squares give larger scores.
    fn squares(&mut self, _columns: &[Feature]) -> Result<Option<SquaresBound>> {
        Ok(None)
    }

    /// A copy that changes do not carry over to the evaluator, with caches of the current subset; `None` where a reset costs no
    /// more than a copy.
    ///
    /// `candidates` are the columns that are expected to be added to it, in this order: caches of others may be left out.
    /// Without any, the copy is asked for its score alone. Every other question is answered all the same.
    fn fork(&mut self, _subset: &[Feature], _candidates: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        Ok(None)
    }

    /// A lower bound of the scores of the current subset with one to `most` of the columns `later`; −∞ when nothing is
    /// known.
    fn bound(&mut self, _subset: &[Feature], _later: &[Feature], _most: usize) -> Result<f64> {
        Ok(f64::NEG_INFINITY)
    }
}

/// The best of trials, refusing scores that are not numbers, which would silently lose every comparison.
pub(crate) fn winner(change: SubsetChange, candidates: &[Feature], scores: &[Score]) -> Result<Option<Winner>> {
    let done = if change == SubsetChange::Addition { "added" } else { "removed" };
    match candidates.iter().zip(scores).find(|(_, score)| score.loss.is_nan()) {
        Some((feature, _)) => Err(Error::Numerical(format!("with column {feature} {done}, the score is not a number"))),
        None => Ok(Winner::among(candidates, scores)),
    }
}

/// The score of a subset with several columns added together, which leaves the evaluator at the subset.
///
/// # Errors
/// [`Error::Numerical`](crate::Error::Numerical).
pub fn score_with(evaluator: &mut dyn Evaluator, subset: &[Feature], more: &[Feature]) -> Result<Score> {
    if let Some(mut fork) = evaluator.fork(subset, &[])? {
        let mut all = subset.to_vec();
        for &feature in more {
            fork.apply(SubsetChange::Addition, &all, feature)?;
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

/// Columns and targets of which the least squares fits bound scores from below.
pub struct SquaresBound {
    /// The columns, in the order in which they were asked for, and the targets: scaled by the roots of weights, and centered
    /// where there is an intercept.
    pub columns: Vec<Vec<f64>>,
    /// Of each output.
    pub targets: Vec<Vec<f64>>,
    /// Which rows are held out together, of a criterion that counts the squares of rows held out.
    pub held_out: Option<RowsHeldOut>,
    /// What a score is not below.
    pub score: ScoreOfSquares,
}

/// A lower bound of the scores of subsets by what they leave over at least, their size, and what no eigenvalue of their XᵀX
/// is below. It grows with the squares.
pub type ScoreOfSquares = Box<dyn Fn(f64, usize, f64) -> f64 + Send + Sync>;

/// Rows that are held out in parts, each predicted by the ridge fit of all others.
pub struct RowsHeldOut {
    /// The part of each row, counted from 0.
    pub parts: Vec<u32>,
    /// The direction of the intercept among the rows, of length 1, where there is one.
    pub unit: Option<Vec<f64>>,
    /// The largest λ.
    pub lambda: f64,
}

/// The evaluator of a criterion on a design, which a [`Plan`](crate::Plan) starts.
pub struct Shortcut<'d> {
    pub(crate) engine: Engine,
    pub(crate) evaluator: Box<dyn Evaluator + 'd>,
    pub(crate) recorder: Recorder,
    pub(crate) geometry: Option<Box<dyn Fn() -> Box<dyn Geometry> + Send>>,
}

/// How scores are computed, as `selection.json` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Engine {
    /// Its identifier.
    pub name: &'static str,
    /// The identifier of the approximation, for criteria that can make one.
    pub approximation: Option<&'static str>,
    /// What the lower bounds of its evaluator rest on, in a word; `None` where it has none.
    pub bound: Option<&'static str>,
}

impl<'d> Shortcut<'d> {
    /// An evaluator at the empty subset, under the identifier of its engine.
    pub fn new(engine: &'static str, evaluator: impl Evaluator + 'd) -> Self {
        Shortcut::of(engine, Box::new(evaluator))
    }

    /// Every trial by the definition of a criterion.
    pub fn by_definition(criterion: &'d dyn Criterion, design: &'d Design) -> Self {
        Shortcut::new(definition_engine(criterion.folds(design)), ByDefinition { criterion, design })
    }

    /// The same of an evaluator in a box.
    pub fn of(engine: &'static str, evaluator: Box<dyn Evaluator + 'd>) -> Self {
        let engine = Engine { name: engine, approximation: None, bound: None };
        Shortcut { engine, evaluator, recorder: Recorder::default(), geometry: None }
    }

    /// The same, of an evaluator that records on `recorder` what rounding asks of its trials, those of forks among them.
    #[must_use]
    pub fn recording(self, recorder: Recorder) -> Self {
        Shortcut { recorder, ..self }
    }

    /// The same, of an evaluator with lower bounds, and what these rest on in a word.
    #[must_use]
    pub fn bounded_by(mut self, bound: &'static str) -> Self {
        self.engine.bound = Some(bound);
        self
    }

    /// The same, of a criterion that can make an approximation.
    #[must_use]
    pub fn approximation(mut self, approximation: &'static str) -> Self {
        self.engine.approximation = Some(approximation);
        self
    }

    /// The same with the geometry that the evaluator stands on; [`Criterion::geometry`](crate::Criterion::geometry) is not asked then.
    #[must_use]
    pub fn geometry(mut self, geometry: impl Fn() -> Box<dyn Geometry> + Send + 'static) -> Self {
        self.geometry = Some(Box::new(geometry));
        self
    }
}
