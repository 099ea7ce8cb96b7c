//! Evaluators: what makes the trials of a search cheap.

use crate::{Error, Feature, Geometry, Recorder, Result, Score, Winner};

/// Trials of the current subset, by the candidates that are added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trials<'c> {
    /// Those of [`Evaluator::score_additions`].
    Additions(&'c [Feature]),
    /// Those of [`Evaluator::score_removals`].
    Removals(&'c [Feature]),
    /// Those of [`Evaluator::best_addition`].
    BestAddition(&'c [Feature]),
    /// Those of [`Evaluator::best_removal`].
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

    /// Whether they are added, and not removed.
    pub fn are_additions(self) -> bool {
        matches!(self, Trials::Additions(_) | Trials::BestAddition(_))
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

    /// The scores of the current subset with each candidate added; `scores` has one place per candidate.
    fn score_additions(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        for (&candidate, score) in candidates.iter().zip(scores) {
            *score = self.score(&larger(subset, candidate))?;
        }
        Ok(())
    }

    /// The scores of the current subset with each candidate removed; `scores` has one place per candidate.
    fn score_removals(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        for (&candidate, score) in candidates.iter().zip(scores) {
            *score = self.score(&smaller(subset, candidate))?;
        }
        Ok(())
    }

    /// The best addition with its ties: exactly what [`Winner::among`] makes of [`Evaluator::score_additions`], for
    /// evaluators that can prove candidates worse without scoring them. `None` without candidates or when all score +∞.
    fn best_addition(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        let mut scores = vec![Score::WORST; candidates.len()];
        self.score_additions(subset, candidates, &mut scores)?;
        winner(candidates, &scores, "added")
    }

    /// The removal that leaves the best subset, with its ties: exactly what [`Winner::among`] makes of
    /// [`Evaluator::score_removals`], likewise.
    fn best_removal(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        let mut scores = vec![Score::WORST; candidates.len()];
        self.score_removals(subset, candidates, &mut scores)?;
        winner(candidates, &scores, "removed")
    }

    /// What trials leave behind in the caches. Answers of trials that leave no [lasting](Trace::Lasting) trace may come from an earlier run
    /// or in parts from other processes, and then only some candidates are tried here.
    ///
    /// The answer may depend on the trials: it is asked for after they were made, and kept with theirs.
    fn trace(&self, _trials: Trials<'_>) -> Trace {
        Trace::Lasting
    }

    /// Caches follow the addition of `feature` to `subset`.
    fn add(&mut self, _subset: &[Feature], _feature: Feature) -> Result<()> {
        Ok(())
    }

    /// Caches follow the removal of `feature` from `subset`, of which it is one.
    fn remove(&mut self, _subset: &[Feature], _feature: Feature) -> Result<()> {
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

    /// The score with several columns added together, for evaluators that add them to a copy of their state; `None` where
    /// the nodes of [`Evaluator::tree`] do it, each of which keeps what its columns that follow need.
    ///
    /// # Errors
    /// Those of [`Evaluator::score`].
    fn score_with(&mut self, _subset: &[Feature], _more: &[Feature]) -> Result<Option<Score>> {
        Ok(None)
    }

    /// The root of a depth-first search of the current subset with any of the columns `later`, for evaluators whose
    /// nodes can share states; by default each node resets the evaluator.
    fn tree(&mut self, subset: &[Feature], later: &[Feature]) -> Result<Box<dyn Branch + '_>> {
        Ok(walked(self, subset, later))
    }

    /// A lower bound of the scores of the current subset with one to `most` of the columns `later`; −∞ when nothing is
    /// known. For evaluators without a tree of their own.
    fn bound(&mut self, _subset: &[Feature], _later: &[Feature], _most: usize) -> Result<f64> {
        Ok(f64::NEG_INFINITY)
    }
}

/// The best of trials, refusing scores that are not numbers, which would silently lose every comparison.
pub(crate) fn winner(candidates: &[Feature], scores: &[Score], done: &str) -> Result<Option<Winner>> {
    match candidates.iter().zip(scores).find(|(_, score)| score.loss.is_nan()) {
        Some((feature, _)) => Err(Error::Numerical(format!("with column {feature} {done}, the score is not a number"))),
        None => Ok(Winner::among(candidates, scores)),
    }
}

/// A node of a depth-first search: a subset, and the columns that may follow it, in a fixed order.
pub trait Branch {
    /// The score of the subset.
    ///
    /// # Errors
    /// [`Error::Numerical`](crate::Error::Numerical), as of all methods.
    fn score(&mut self) -> Result<Score>;

    /// The scores with the later column of each place added, places counted from 0.
    fn score_additions(&mut self, places: &[usize], scores: &mut [Score]) -> Result<()>;

    /// The node with the later column at `place` added; the columns after it may follow.
    fn child(&mut self, place: usize) -> Result<Box<dyn Branch + '_>>;

    /// Whether visiting nodes moves the evaluator's caches, which are then reset before they are used again.
    fn moves_caches(&self) -> bool {
        false
    }

    /// A lower bound of the scores with one to `most` of the later columns from `place` on; −∞ when nothing is known.
    ///
    /// From place 0 on it may take more work, since it decides on the whole node; from others it is asked for often.
    fn bound(&mut self, _place: usize, _most: usize) -> Result<f64> {
        Ok(f64::NEG_INFINITY)
    }
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

/// How a criterion computes on a design: what [`Criterion::accelerate`](crate::Criterion::accelerate) returns.
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
    /// What the lower bounds of its evaluator and branches rest on, in a word; `None` where it has none.
    pub bound: Option<&'static str>,
}

impl<'d> Shortcut<'d> {
    /// An evaluator at the empty subset, under the identifier of its engine.
    pub fn new(engine: &'static str, evaluator: impl Evaluator + 'd) -> Self {
        Shortcut::of(engine, Box::new(evaluator))
    }

    /// The same of an evaluator in a box.
    pub fn of(engine: &'static str, evaluator: Box<dyn Evaluator + 'd>) -> Self {
        let engine = Engine { name: engine, approximation: None, bound: None };
        Shortcut { engine, evaluator, recorder: Recorder::default(), geometry: None }
    }

    /// The same, of an evaluator that records on `recorder` what rounding asks of its trials, those of branches among them.
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

/// The root of a depth-first search that resets the evaluator at every node: what [`Evaluator::tree`] does by default.
pub fn walked<'e, E: Evaluator + ?Sized>(
    evaluator: &'e mut E,
    subset: &[Feature],
    later: &[Feature],
) -> Box<dyn Branch + 'e> {
    Box::new(ResetNode { evaluator, subset: subset.to_vec(), later: later.to_vec(), is_there: true })
}

struct ResetNode<'e, E: ?Sized> {
    evaluator: &'e mut E,
    subset: Vec<Feature>,
    later: Vec<Feature>,
    /// Whether the evaluator's caches are those of this node.
    is_there: bool,
}

impl<E: Evaluator + ?Sized> ResetNode<'_, E> {
    fn arrive(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.is_there, true) {
            self.evaluator.reset(&self.subset)?;
        }
        Ok(())
    }
}

impl<E: Evaluator + ?Sized> Branch for ResetNode<'_, E> {
    fn moves_caches(&self) -> bool {
        true
    }

    fn score(&mut self) -> Result<Score> {
        self.arrive()?;
        self.evaluator.score(&self.subset)
    }

    fn score_additions(&mut self, places: &[usize], scores: &mut [Score]) -> Result<()> {
        self.arrive()?;
        let candidates: Vec<Feature> = places.iter().map(|&place| self.later[place]).collect();
        self.evaluator.score_additions(&self.subset, &candidates, scores)
    }

    fn child(&mut self, place: usize) -> Result<Box<dyn Branch + '_>> {
        self.is_there = false;
        let (subset, later) = (larger(&self.subset, self.later[place]), self.later[place + 1..].to_vec());
        Ok(Box::new(ResetNode { evaluator: &mut *self.evaluator, subset, later, is_there: false }))
    }

    fn bound(&mut self, place: usize, most: usize) -> Result<f64> {
        self.arrive()?;
        self.evaluator.bound(&self.subset, &self.later[place..], most)
    }
}

/// A subset with one column more.
pub fn larger(subset: &[Feature], feature: Feature) -> Vec<Feature> {
    subset.iter().copied().chain([feature]).collect()
}

/// A subset without one of its columns.
pub fn smaller(subset: &[Feature], feature: Feature) -> Vec<Feature> {
    subset.iter().copied().filter(|&f| f != feature).collect()
}
