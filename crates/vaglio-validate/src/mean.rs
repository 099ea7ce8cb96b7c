//! Scores as means of other scores, in one fixed order.
//!
//! From the inside out, a score is
//!
//! 1. **the mean over rounds, for each λ** (`Rounds::mean_trials`): rounds hold out the same rows for the same model,
//!    which has one λ;
//! 2. **the lowest over λ** ([`lowest`]), the choice of that λ;
//! 3. **times 2^k** ([`PowerOfTwoScaling`]): the steps before see only numbers near 1, and a power of two causes no rounding;
//! 4. **the mean over outputs** ([`MeanOverOutputs`]), since each output chose its own λ.
//!
//! Groups of rows with states of their own belong to the first step. Each gives a sum over its rows, and
//! [`vaglio_kernels::Scorer::join`] adds these up.

use super::engine_names::REFIT;
use super::pearson::PearsonCorrelation;
use super::penalty;
use vaglio_core::{
    Action, CacheEffect, Criterion, Design, EngineEvaluator, Estimate, Evaluator, Feature, Loss, Part, Plan,
    PowerOfTwoScaling, Recorder, Result, Score, SearchExtent, Squared, SquaresBound, Winner, max_abs, minimum, rescale,
    single_outputs,
};
use vaglio_kernels::tolerance::LOST_WEIGHTS;

/// The mean of values; NaN without values.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut count = 0usize;
    values.into_iter().inspect(|_| count += 1).sum::<f64>() / count as f64
}

/// The lowest loss over λ, with its λ; the first among equals.
pub(super) fn lowest(losses: impl Iterator<Item = (f64, f64)>) -> Result<Score> {
    let mut best = Score::WORST;
    for (lambda, loss) in losses {
        let score = Score { loss, lambda: Some(lambda) }.checked()?;
        if loss < best.loss {
            best = score;
        }
    }
    Ok(best)
}

/// The mean over outputs of their scores, each at its own λ; with one output, its score.
fn over_outputs(scores: &[Score]) -> Score {
    match scores {
        [only] => *only,
        _ => Score::new(mean(scores.iter().map(|score| score.loss))),
    }
}

/// The power of the targets with which a loss grows. 0 for a loss without a degree, which sees targets in the data's
/// units.
fn degree(loss: &dyn Loss) -> i32 {
    loss.traits().degree.unwrap_or(0)
}

/// The rescaled design, with the units that convert its scores back.
fn rescaled<'d>(loss: &dyn Loss, design: &'d Design) -> Result<(PowerOfTwoScaling, &'d Design)> {
    let (units, scaled) = rescale(design);
    units.check(design, degree(loss))?;
    Ok((units, scaled))
}

/// Converts a bound back into a design's units.
fn unscale_bound(
    units: PowerOfTwoScaling,
    degree: i32,
    bound: impl Fn(&[Feature]) -> SquaresBound,
) -> impl Fn(&[Feature]) -> SquaresBound {
    move |columns: &[Feature]| {
        let bound = bound(columns);
        let score = bound.score;
        let score = Box::new(move |squares: f64, size: usize, least: f64| {
            units.unscale_loss(score(squares, size, least), degree)
        });
        SquaresBound { score, ..bound }
    }
}

/// Refuses a loss without a meaning on a design, and targets whose loss is out of range.
///
/// # Errors
/// [`vaglio_core::Error::Setting`] on `loss`; [`vaglio_core::Error::Numerical`] for such targets.
pub(super) fn check(loss: &Part<dyn Loss>, design: &Design) -> Result<()> {
    loss.check(design.problem().task()).map_err(|error| error.under("loss"))?;
    penalty::check_outputs(design, loss)?;
    design.problem().check_targets(degree(&**loss))
}

/// The rescaled design with its units; if outputs have their own λ, the design of each output.
fn rescaled_outputs<'d>(loss: &dyn Loss, design: &'d Design) -> Result<Vec<(PowerOfTwoScaling, &'d Design)>> {
    let (units, scaled) = rescaled(loss, design)?;
    let Some(outputs) = single_outputs(scaled) else { return Ok(vec![(units, scaled)]) };
    // The outputs of a rescaled design are not rescaled again.
    let one = |one: &'d Design| match units == PowerOfTwoScaling::default() {
        true => rescaled(loss, one),
        false => Ok((units, one)),
    };
    outputs.iter().map(one).collect()
}

/// Scores by `definition` on the rescaled design; if outputs have their own λ, averages their scores.
pub(super) fn evaluate(
    loss: &dyn Loss,
    design: &Design,
    definition: impl Fn(&Design) -> Result<Score>,
) -> Result<Score> {
    let outputs = rescaled_outputs(loss, design)?.into_iter();
    let score = |(units, one): (PowerOfTwoScaling, &Design)| Ok(units.unscale_score(definition(one)?, degree(loss)));
    let scores = outputs.map(score).collect::<Result<Vec<_>>>()?;
    Ok(over_outputs(&scores))
}

/// Plans a criterion. `decide` chooses the engine for a design whose outputs share λ, and `engage` creates its
/// evaluator on the rescaled design. Falls back to the definition if row weights differ too much.
pub(super) fn plan<'d, C: Criterion>(
    criterion: &'d C,
    design: &'d Design,
    extent: &SearchExtent,
    decide: impl Fn(&Design) -> Estimate,
    engage: impl Fn(&'d Design, &'static str, &SearchExtent) -> Result<Option<EngineEvaluator<'d>>> + 'd,
) -> Plan<'d> {
    let outputs = single_outputs(design);
    let mut estimate = decide(outputs.map_or(design, |outputs| &outputs[0])).times(outputs.map_or(1, <[Design]>::len));
    if estimate.engine != REFIT && are_unlike(design) {
        let reason = "rows weigh so unlike that rounding leaves closed forms too little, so all are refitted";
        estimate = Estimate::unknown(REFIT, reason);
    }
    let (engine, extent) = (estimate.engine, *extent);
    let start = move || {
        let loss = criterion.traits().loss.unwrap_or_else(|| Squared.into());
        rescaled(&*loss, design)?;
        penalty::check(criterion, design, &extent)?;
        match engine {
            REFIT => Ok(None),
            _ => combine_evaluators(&*loss, design, |one| engage(one, engine, &extent)),
        }
    };
    Plan::new(estimate, engine != REFIT, start).with_geometry(PearsonCorrelation::new(design))
}

/// Combines the evaluators of rescaled designs with one λ for all outputs. `None` if one of these designs has no
/// evaluator.
fn combine_evaluators<'d>(
    loss: &dyn Loss,
    design: &'d Design,
    engage: impl Fn(&'d Design) -> Result<Option<EngineEvaluator<'d>>>,
) -> Result<Option<EngineEvaluator<'d>>> {
    let (outputs, degree) = (rescaled_outputs(loss, design)?.into_iter(), degree(loss));
    let engaged = outputs.map(|(units, one)| Ok(engage(one)?.map(|own| (units, own))));
    let Some(mut engaged) = engaged.collect::<Result<Option<Vec<_>>>>()? else { return Ok(None) };
    let squares = match &mut engaged[..] {
        [(units, _)] if *units == PowerOfTwoScaling::default() => return Ok(engaged.pop().map(|(_, only)| only)),
        [(units, only)] => only.squares.take().map(|bound| unscale_bound(*units, degree, bound)),
        _ => None,
    };
    let recorder = Recorder::merge(engaged.iter().map(|(_, own)| own.recorder.clone()));
    let terms = engaged.into_iter().map(|(units, own)| (units, own.evaluator)).collect();
    let skips_errors = design.run().skips_errors;
    let mean = MeanOverOutputs { terms, degree, skips_errors };
    Ok(Some(EngineEvaluator { recorder, ..mean.into() }.with_squares(squares)))
}

fn are_unlike(design: &Design) -> bool {
    design.weights().is_some_and(|weights| max_abs(weights) / LOST_WEIGHTS > minimum(weights.iter().copied()))
}

/// Mean over outputs of scores, each in the design's units.
struct MeanOverOutputs<'d> {
    /// The evaluators of rescaled designs, with the units that convert their scores back.
    terms: Vec<(PowerOfTwoScaling, Box<dyn Evaluator + 'd>)>,
    /// The power of the targets with which the loss grows.
    degree: i32,
    /// Whether standard errors are not needed.
    skips_errors: bool,
}

impl MeanOverOutputs<'_> {
    /// The score of each output.
    fn each_score(&mut self, subset: &[Feature]) -> Result<Vec<Score>> {
        let degree = self.degree;
        self.terms.iter_mut().map(|(units, term)| Ok(units.unscale_score(term.score(subset)?, degree))).collect()
    }
}

impl Evaluator for MeanOverOutputs<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        Ok(over_outputs(&self.each_score(subset)?))
    }

    fn scores(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        let mut all_scores = vec![Vec::new(); candidates.len()];
        for (units, term) in &mut self.terms {
            let scores = term.scores(change, subset, candidates)?;
            let scores = scores.into_iter().map(|score| units.unscale_score(score, self.degree));
            all_scores.iter_mut().zip(scores).for_each(|(subset_scores, score)| subset_scores.push(score));
        }
        Ok(all_scores.iter().map(|scores| over_outputs(scores)).collect())
    }

    /// Delegates to the only term, or compares the scores of all.
    fn best(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        if let [(units, only)] = &mut self.terms[..] {
            let winner = only.best(change, subset, candidates)?;
            let score = |score| units.unscale_score(score, self.degree);
            return Ok(winner.map(|found| Winner { score: score(found.score), ..found }));
        }
        Ok(Winner::among(candidates, &self.scores(change, subset, candidates)?))
    }

    fn trace(&self, change: Action) -> CacheEffect {
        if let [(_, only)] = &self.terms[..] { only.trace(change) } else { CacheEffect::Lasting }
    }

    fn apply(&mut self, change: Action, subset: &[Feature], feature: Feature) -> Result<()> {
        self.terms.iter_mut().try_for_each(|(_, term)| term.apply(change, subset, feature))
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.terms.iter_mut().try_for_each(|(_, term)| term.reset(subset))
    }

    /// The mean of standard errors, an upper bound whatever the correlation of outputs.
    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        if self.skips_errors {
            return Ok(None);
        }
        let errors = self.terms.iter_mut().map(|(units, term)| {
            let error = term.standard_error(subset)?;
            Ok(error.map(|error| units.unscale_loss(error, self.degree)))
        });
        Ok(errors.collect::<Result<Option<Vec<f64>>>>()?.map(mean))
    }

    fn lambdas(&mut self, subset: &[Feature]) -> Result<Option<Vec<f64>>> {
        if self.terms.len() < 2 {
            return Ok(None);
        }
        Ok(self.each_score(subset)?.into_iter().map(|score| score.lambda).collect())
    }

    fn fork(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        let mut terms = Vec::with_capacity(self.terms.len());
        for (units, term) in &mut self.terms {
            let Some(fork) = term.fork(subset, candidates)? else { return Ok(None) };
            terms.push((*units, fork));
        }
        Ok(Some(Box::new(MeanOverOutputs { terms, degree: self.degree, skips_errors: self.skips_errors })))
    }
}
