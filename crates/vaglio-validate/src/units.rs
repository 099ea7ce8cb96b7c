//! Scores of a design in other units, told in its own.

use super::penalty;
use vaglio_core::{
    Branch, Criterion, Design, Evaluator, Feature, Loss, Outline, Recorder, Result, Score, Shortcut, Trials, Units,
    Winner,
};
use vaglio_kernels::tolerance::LOST_WEIGHTS;

/// The power of the targets with which a loss grows; one that grows with none sees targets as the data have them.
fn degree(loss: &dyn Loss) -> i32 {
    loss.degree().unwrap_or(0)
}

/// Refuses targets of which the loss is no double.
///
/// # Errors
/// [`vaglio_core::Error::Numerical`].
pub(super) fn check(loss: &dyn Loss, design: &Design) -> Result<()> {
    design.check_targets(degree(loss))
}

/// The score of a subset by the definition on a design in other units; `None` where it is not to be in others.
///
/// # Errors
/// Those of the criterion; [`vaglio_core::Error::Numerical`] where scores are no doubles in the design's own units.
pub(super) fn evaluated(
    criterion: &dyn Criterion,
    loss: &dyn Loss,
    design: &Design,
    subset: &[Feature],
) -> Result<Option<Score>> {
    let Some((units, scaled)) = design.in_units() else { return Ok(None) };
    units.check(design, degree(loss))?;
    Ok(Some(units.back(criterion.evaluate(scaled, subset)?, degree(loss))))
}

fn are_spread(design: &Design) -> bool {
    let Some(weights) = design.weights() else { return false };
    let (least, greatest) =
        weights.iter().fold((f64::MAX, 0.0f64), |(least, greatest), w| (least.min(*w), greatest.max(*w)));
    greatest / LOST_WEIGHTS > least
}

/// The shortcut of a criterion on a design in other units, none where rows weigh too unlike; `None` where it is not to be in
/// others.
///
/// # Errors
/// See [`evaluated`].
pub(super) fn accelerated<'d>(
    criterion: &'d dyn Criterion,
    loss: &dyn Loss,
    design: &'d Design,
    outline: &Outline,
) -> Result<Option<Option<Shortcut<'d>>>> {
    let in_units = design.in_units();
    in_units.map_or(Ok(()), |(units, _)| units.check(design, degree(loss)))?;
    penalty::check(criterion, design, outline)?;
    if are_spread(design) {
        return Ok(Some(None));
    }
    let Some((units, scaled)) = in_units else { return Ok(None) };
    let back = Back { units, degree: degree(loss) };
    let inner = criterion.accelerate(scaled, outline)?;
    Ok(Some(inner.map(|inner| inner.told(|evaluator| Box::new(Told { evaluator, back })))))
}

#[derive(Clone, Copy)]
struct Back {
    units: Units,
    degree: i32,
}

impl Back {
    fn score(self, score: Score) -> Score {
        self.units.back(score, self.degree)
    }

    fn scores(self, scores: &mut [Score]) {
        scores.iter_mut().for_each(|score| *score = self.score(*score));
    }

    fn winner(self, winner: Option<Winner>) -> Option<Winner> {
        winner.map(|winner| Winner { score: self.score(winner.score), ..winner })
    }

    fn loss(self, loss: f64) -> f64 {
        self.units.loss_back(loss, self.degree)
    }
}

/// An evaluator in other units.
struct Told<'d> {
    evaluator: Box<dyn Evaluator + 'd>,
    back: Back,
}

impl Evaluator for Told<'_> {
    fn recorder(&self) -> Recorder {
        self.evaluator.recorder()
    }

    fn bound_by(&self) -> Option<&'static str> {
        self.evaluator.bound_by()
    }

    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        Ok(self.back.score(self.evaluator.score(subset)?))
    }

    fn score_additions(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.evaluator.score_additions(subset, candidates, scores)?;
        self.back.scores(scores);
        Ok(())
    }

    fn score_removals(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.evaluator.score_removals(subset, candidates, scores)?;
        self.back.scores(scores);
        Ok(())
    }

    fn best_addition(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        Ok(self.back.winner(self.evaluator.best_addition(subset, candidates)?))
    }

    fn best_removal(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        Ok(self.back.winner(self.evaluator.best_removal(subset, candidates)?))
    }

    fn can_skip(&self, trials: Trials<'_>) -> bool {
        self.evaluator.can_skip(trials)
    }

    fn skip(&mut self, subset: &[Feature], trials: Trials<'_>) -> Result<()> {
        self.evaluator.skip(subset, trials)
    }

    fn add(&mut self, subset: &[Feature], feature: Feature) -> Result<()> {
        self.evaluator.add(subset, feature)
    }

    fn remove(&mut self, subset: &[Feature], feature: Feature) -> Result<()> {
        self.evaluator.remove(subset, feature)
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.evaluator.reset(subset)
    }

    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        Ok(self.evaluator.standard_error(subset)?.map(|error| self.back.loss(error)))
    }

    fn lambdas(&mut self, subset: &[Feature]) -> Result<Option<Vec<f64>>> {
        let back = |lambda| self.back.score(Score { loss: 0.0, lambda: Some(lambda) }).lambda;
        let lambdas = self.evaluator.lambdas(subset)?;
        Ok(lambdas.and_then(|lambdas| lambdas.into_iter().map(back).collect()))
    }

    fn tree(&mut self, subset: &[Feature], later: &[Feature]) -> Result<Box<dyn Branch + '_>> {
        Ok(Box::new(ToldNode { node: self.evaluator.tree(subset, later)?, back: self.back }))
    }

    fn bound(&mut self, subset: &[Feature], later: &[Feature], most: usize) -> Result<f64> {
        Ok(self.back.loss(self.evaluator.bound(subset, later, most)?))
    }
}

/// A node of a depth-first search in other units.
struct ToldNode<'e> {
    node: Box<dyn Branch + 'e>,
    back: Back,
}

impl Branch for ToldNode<'_> {
    fn bound_by(&self) -> Option<&'static str> {
        self.node.bound_by()
    }

    fn score(&mut self) -> Result<Score> {
        Ok(self.back.score(self.node.score()?))
    }

    fn score_additions(&mut self, places: &[usize], scores: &mut [Score]) -> Result<()> {
        self.node.score_additions(places, scores)?;
        self.back.scores(scores);
        Ok(())
    }

    fn child(&mut self, place: usize) -> Result<Box<dyn Branch + '_>> {
        Ok(Box::new(ToldNode { node: self.node.child(place)?, back: self.back }))
    }

    fn moves_caches(&self) -> bool {
        self.node.moves_caches()
    }

    fn bound(&mut self, place: usize, most: usize) -> Result<f64> {
        Ok(self.back.loss(self.node.bound(place, most)?))
    }
}
