//! A λ for each output: one subset, scored for each output by itself.

use crate::{Branch, Design, Evaluator, Feature, Recorder, Result, Score, Shortcut};

/// The mean over outputs of the scores that `evaluate` gives on the design of each.
///
/// # Errors
/// The first that `evaluate` gives.
pub fn mean_over_outputs(outputs: &[Design], evaluate: impl FnMut(&Design) -> Result<Score>) -> Result<Score> {
    mean(outputs.iter().map(evaluate))
}

fn mean(scores: impl Iterator<Item = Result<Score>>) -> Result<Score> {
    let losses = scores.map(|score| Ok(score?.loss)).collect::<Result<Vec<f64>>>()?;
    Ok(Score { loss: losses.iter().sum::<f64>() / losses.len() as f64, lambda: None })
}

/// Means over outputs of the scores that `trials` gives for each.
fn means<P>(
    outputs: &mut [P],
    scores: &mut [Score],
    mut trials: impl FnMut(&mut P, &mut [Score]) -> Result<()>,
) -> Result<()> {
    let mut of_outputs = vec![vec![Score::WORST; scores.len()]; outputs.len()];
    outputs.iter_mut().zip(&mut of_outputs).try_for_each(|(output, own)| trials(output, own))?;
    for (k, score) in scores.iter_mut().enumerate() {
        *score = mean(of_outputs.iter().map(|of_output| Ok(of_output[k])))?;
    }
    Ok(())
}

impl<'d> Shortcut<'d> {
    /// Of the shortcuts of single outputs, of which there is at least one: scores are means, each at its own λ.
    pub fn of_outputs(shortcuts: Vec<Shortcut<'d>>) -> Option<Shortcut<'d>> {
        let engine = shortcuts.first()?.engine;
        let evaluators = shortcuts.into_iter().map(|shortcut| shortcut.evaluator).collect();
        Some(Shortcut { engine, evaluator: Box::new(EachOutput { evaluators }), geometry: None })
    }
}

/// The evaluators of single outputs.
struct EachOutput<'d> {
    evaluators: Vec<Box<dyn Evaluator + 'd>>,
}

impl Evaluator for EachOutput<'_> {
    fn recorder(&self) -> Recorder {
        Recorder::of(self.evaluators.iter().map(|evaluator| evaluator.recorder()))
    }

    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        mean(self.evaluators.iter_mut().map(|evaluator| evaluator.score(subset)))
    }

    fn score_additions(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        means(&mut self.evaluators, scores, |evaluator, own| evaluator.score_additions(subset, candidates, own))
    }

    fn score_removals(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        means(&mut self.evaluators, scores, |evaluator, own| evaluator.score_removals(subset, candidates, own))
    }

    fn add(&mut self, subset: &[Feature], feature: Feature) -> Result<()> {
        self.evaluators.iter_mut().try_for_each(|evaluator| evaluator.add(subset, feature))
    }

    fn remove(&mut self, subset: &[Feature], feature: Feature) -> Result<()> {
        self.evaluators.iter_mut().try_for_each(|evaluator| evaluator.remove(subset, feature))
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.evaluators.iter_mut().try_for_each(|evaluator| evaluator.reset(subset))
    }

    /// The mean of those of the outputs, which no correlation of their losses exceeds.
    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        let errors = self.evaluators.iter_mut().map(|evaluator| evaluator.standard_error(subset));
        let errors = errors.collect::<Result<Option<Vec<f64>>>>()?;
        Ok(errors.map(|errors| errors.iter().sum::<f64>() / errors.len() as f64))
    }

    fn lambdas(&mut self, subset: &[Feature]) -> Result<Option<Vec<f64>>> {
        self.evaluators.iter_mut().map(|evaluator| Ok(evaluator.score(subset)?.lambda)).collect()
    }

    fn tree(&mut self, subset: &[Feature], later: &[Feature]) -> Result<Box<dyn Branch + '_>> {
        let nodes = self.evaluators.iter_mut().map(|evaluator| evaluator.tree(subset, later));
        Ok(Box::new(NodeOfOutputs { nodes: nodes.collect::<Result<_>>()? }))
    }

    fn bound(&mut self, subset: &[Feature], later: &[Feature], most: usize) -> Result<f64> {
        let count = self.evaluators.len() as f64;
        let bounds = self.evaluators.iter_mut().map(|evaluator| evaluator.bound(subset, later, most));
        Ok(bounds.sum::<Result<f64>>()? / count)
    }

    fn bound_by(&self) -> Option<&'static str> {
        self.evaluators.first()?.bound_by()
    }
}

/// The same node of every output.
struct NodeOfOutputs<'e> {
    nodes: Vec<Box<dyn Branch + 'e>>,
}

impl Branch for NodeOfOutputs<'_> {
    fn score(&mut self) -> Result<Score> {
        mean(self.nodes.iter_mut().map(|node| node.score()))
    }

    fn score_additions(&mut self, places: &[usize], scores: &mut [Score]) -> Result<()> {
        means(&mut self.nodes, scores, |node, own| node.score_additions(places, own))
    }

    fn child(&mut self, place: usize) -> Result<Box<dyn Branch + '_>> {
        let nodes = self.nodes.iter_mut().map(|node| node.child(place)).collect::<Result<_>>()?;
        Ok(Box::new(NodeOfOutputs { nodes }))
    }

    fn moves_caches(&self) -> bool {
        self.nodes.iter().any(|node| node.moves_caches())
    }

    fn bound(&mut self, place: usize, most: usize) -> Result<f64> {
        let count = self.nodes.len() as f64;
        Ok(self.nodes.iter_mut().map(|node| node.bound(place, most)).sum::<Result<f64>>()? / count)
    }

    fn bound_by(&self) -> Option<&'static str> {
        self.nodes.first()?.bound_by()
    }
}
