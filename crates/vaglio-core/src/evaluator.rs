//! Evaluators: caches that make the trials of a search cheap.

use crate::{Action, Error, Feature, Recorder, Result, Score, Winner};

/// Effect of trials on an evaluator's later answers and diagnostics, compared to the last bit.
///
/// Answers are scores, winners with their ties, bounds, standard errors and λ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheEffect {
    /// Later answers may depend on which candidates were tried. Always correct, but a later run must then run the
    /// trials again.
    Lasting,
    /// Later answers depend only on whether there were trials. Trials of the first two candidates leave the caches as
    /// trials of all do.
    Begun,
    /// Later answers do not depend on the trials.
    Nothing,
}

/// The trials of a criterion on one design, made cheap by caches that follow the current subset.
///
/// The search's scorer keeps the subset and passes it to every call. Only [`Evaluator::score`] is
/// required; an evaluator without caches implements nothing else. The test kit checks these rules:
/// - A trial scores like the change followed by `score`, and like [`Criterion::evaluate`](crate::Criterion::evaluate).
/// - The order of candidates and the number of threads change nothing.
/// - Scores may be +∞, never NaN.
/// - Long walks of additions and removals stay accurate.
pub trait Evaluator: Send {
    /// The score of the current subset.
    ///
    /// # Errors
    /// Returns [`Error::Numerical`](crate::Error::Numerical), like every method.
    fn score(&mut self, subset: &[Feature]) -> Result<Score>;

    /// The scores of the current subset changed by each candidate, in their order.
    fn scores(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        candidates.iter().map(|&candidate| self.score(&change.apply_to(subset, candidate))).collect()
    }

    /// The best candidate to change, with its ties, exactly as [`Winner::among`] finds it in [`Evaluator::scores`].
    /// Evaluators may override it to rule candidates out without scoring them. `None` without candidates, or when all
    /// score +∞.
    fn best(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        let scores = self.scores(change, subset, candidates)?;
        refuse_nan(change, candidates, &scores)?;
        Ok(Winner::among(candidates, &scores))
    }

    /// The effect of trials of additions or removals on later answers. Unless it is [lasting](CacheEffect::Lasting),
    /// answers may come from an earlier run. Then at most two candidates are tried here.
    ///
    /// Searches call this after the trials, since the effect may depend on them.
    fn trace(&self, _change: Action) -> CacheEffect {
        CacheEffect::Lasting
    }

    /// Updates the caches for a change of `subset` by `feature`.
    fn apply(&mut self, _change: Action, _subset: &[Feature], _feature: Feature) -> Result<()> {
        Ok(())
    }

    /// Rebuilds the caches for `subset`, whatever the subset was before.
    fn reset(&mut self, _subset: &[Feature]) -> Result<()> {
        Ok(())
    }

    /// The standard error of the current score; `None` unless the score is a mean over rows.
    fn standard_error(&mut self, _subset: &[Feature]) -> Result<Option<f64>> {
        Ok(None)
    }

    /// The λ of each output at the current subset; `None` if outputs share one.
    fn lambdas(&mut self, _subset: &[Feature]) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// A copy with the caches of the current subset, which can change independently. `None` if a reset costs no more
    /// than a copy.
    ///
    /// `candidates` are the columns that will probably be added to the copy, in this order; caches of others may be
    /// left out. Without candidates, the caller asks the copy only for its score. The copy must still answer every
    /// other question.
    fn fork(&mut self, _subset: &[Feature], _candidates: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        Ok(None)
    }

    /// A lower bound of the scores of the current subset with one to `most` of the columns `later`; −∞ if unknown.
    fn bound(&mut self, _subset: &[Feature], _later: &[Feature], _most: usize) -> Result<f64> {
        Ok(f64::NEG_INFINITY)
    }
}

/// Refuses NaN scores of trials, which would lose every comparison silently.
///
/// # Errors
/// [`Error::Numerical`] with the first such trial.
pub fn refuse_nan(change: Action, candidates: &[Feature], scores: &[Score]) -> Result<()> {
    let done = if change == Action::Add { "added" } else { "removed" };
    match candidates.iter().zip(scores).find(|(_, score)| score.loss.is_nan()) {
        Some((feature, _)) => Err(Error::Numerical(format!("with column {feature} {done}, the score is not a number"))),
        None => Ok(()),
    }
}

/// Columns and targets whose least squares fits bound scores from below.
pub struct SquaresBound {
    /// The columns in the requested order, scaled by the square roots of the weights, and centered if there is an
    /// intercept.
    pub columns: Vec<Vec<f64>>,
    /// The targets of each output, scaled and centered like the columns.
    pub targets: Vec<Vec<f64>>,
    /// The rows that are held out together, for a criterion that counts squares of held-out rows.
    pub held_out: Option<RowsHeldOut>,
    /// Lower bound of the scores of subsets, which grows with the squares. Arguments: least squared residuals, size, and
    /// a lower bound of the eigenvalues of XᵀX.
    pub score: Box<dyn Fn(f64, usize, f64) -> f64 + Send + Sync>,
}

/// Rows held out in parts; each part is predicted by the ridge fit of all others.
#[derive(Debug)]
pub struct RowsHeldOut {
    /// The part of each row, counted from 0.
    pub parts: Vec<u32>,
    /// The unit vector of the intercept over the rows, if there is an intercept.
    pub unit: Option<Vec<f64>>,
    /// The largest λ.
    pub lambda: f64,
}

/// An evaluator of a criterion on a design, with facts about its engine; a [`Plan`](crate::Plan) starts it. An evaluator
/// converts into one without facts.
pub struct EngineEvaluator<'d> {
    /// The evaluator, at the empty subset.
    pub evaluator: Box<dyn Evaluator + 'd>,
    /// Recorder on which the evaluator and its forks note their [`Diagnostics`](crate::Diagnostics).
    pub recorder: Recorder,
    /// The identifier of the approximation, for criteria that can approximate.
    pub approximation: Option<&'static str>,
    /// The source of the evaluator's lower bounds, in a word; `None` without bounds.
    pub bound: Option<&'static str>,
    /// Bounds of the scores of all subsets of some columns, if scores grow with the squared residuals.
    pub squares: Option<Squares<'d>>,
}

type Squares<'d> = Box<dyn Fn(&[Feature]) -> SquaresBound + Send + 'd>;

impl<'d> EngineEvaluator<'d> {
    /// Sets the bounds of the scores of all subsets of some columns.
    #[must_use]
    pub fn with_squares(self, bound: Option<impl Fn(&[Feature]) -> SquaresBound + Send + 'd>) -> Self {
        EngineEvaluator { squares: bound.map(|bound| Box::new(bound) as Squares<'d>), ..self }
    }
}

impl<'d, E: Evaluator + 'd> From<E> for EngineEvaluator<'d> {
    fn from(evaluator: E) -> Self {
        let (evaluator, recorder) = (Box::new(evaluator), Recorder::default());
        EngineEvaluator { evaluator, recorder, approximation: None, bound: None, squares: None }
    }
}
