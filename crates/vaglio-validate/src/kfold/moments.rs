//! The engine of moments. See *Cross-validation without refitting*, "Moments: forward" and "Moments: backward", in the
//! book.

use super::evaluator::FoldEngine;
use super::known_moments::KnownMoments;
use super::settings::KFold;
use crate::fits::{RoundFits, fit_error};
use crate::shared_lambdas::SharedLambdas;
use std::sync::Arc;
use vaglio_core::{Action, Design, Feature, Result, minimum};
use vaglio_kernels::Trial;
use vaglio_kernels::kfold::{BackwardMoments, FoldedRows, ForwardMoments, MomentTree, Moments, losses_by_lambda};

/// Opens the engine on the rows of a round.
pub(super) fn open<'d>(
    criterion: &KFold,
    design: &Design,
    rows: &Arc<FoldedRows<'d>>,
    by_columns: bool,
) -> Result<Box<dyn FoldEngine<'d> + 'd>> {
    let known = KnownMoments::get_or_compute(criterion, design, rows, by_columns)?;
    let lambdas = SharedLambdas::new(design, Arc::clone(&known.subsets));
    Ok(Box::new(MomentEngine::new(Arc::clone(&known.moments), Arc::clone(rows), lambdas)))
}

/// Largest subset that is decomposed if only its score is needed. For larger subsets, a state that follows every other
/// column is copied.
const FEW: usize = 512;

/// Number of columns to prefetch; more than a pass has room for, since some may be known.
const LIKELY: usize = 32;

/// Moments, with the states for additions and removals.
struct MomentEngine<'d> {
    moments: Arc<Moments>,
    /// The rows of the moments.
    rows: Arc<FoldedRows<'d>>,
    /// The λ, with loss in each fold and conditioning of subsets without a state.
    lambdas: SharedLambdas<(Vec<f64>, f64)>,
    /// The best candidates of the last trials of additions. One of them enters next, and some of the others later.
    likely: Vec<Feature>,
    forward: Option<ForwardMoments>,
    backward: Option<BackwardMoments>,
    /// The state that tries the columns that a fork expects.
    expected: Option<Arc<MomentTree>>,
    /// Loss in each fold and conditioning of the current subset, for each λ, if it has no state.
    alone: Option<Vec<(Vec<f64>, f64)>>,
}

impl<'d> MomentEngine<'d> {
    /// Creates the engine without states.
    fn new(moments: Arc<Moments>, rows: Arc<FoldedRows<'d>>, lambdas: SharedLambdas<(Vec<f64>, f64)>) -> Self {
        let (likely, forward, backward, expected, alone) = (Vec::new(), None, None, None, None);
        MomentEngine { moments, rows, lambdas, likely, forward, backward, expected, alone }
    }

    /// The state that tries the expected columns of a fork.
    fn expecting(&self, subset: &[Feature], candidates: &[Feature]) -> Arc<MomentTree> {
        if let Some(tree) = self.expected.as_ref().filter(|tree| tree.later().ends_with(candidates)) {
            return Arc::clone(tree);
        }
        let (moments, columns) = (&self.moments, [subset, candidates].concat());
        moments.read(&self.rows, &columns, &[]);
        // The selected columns come first.
        let tree = MomentTree::new(moments, &self.lambdas.own, &columns);
        Arc::new(subset.iter().fold(tree, |tree, _| tree.child(0)))
    }

    /// The state that tries additions to a subset.
    fn forward(&mut self, subset: &[Feature]) -> &mut ForwardMoments {
        let start = || {
            self.moments.read(&self.rows, subset, &[]);
            ForwardMoments::new(&self.moments, &self.lambdas.own, subset)
        };
        self.forward.get_or_insert_with(start)
    }

    /// Loss in each fold and conditioning of a subset, for each λ.
    fn fold_losses(&mut self, subset: &[Feature]) -> Result<Vec<(Vec<f64>, f64)>> {
        Ok(match (&self.forward, &self.backward, &self.alone) {
            (Some(forward), ..) => forward.losses(),
            (None, Some(backward), _) => backward.losses(),
            (None, None, Some(alone)) => alone.clone(),
            (None, None, None) => {
                let alone = self.lambdas.for_subset(subset, |lambdas| {
                    self.moments.read(&self.rows, subset, &[]);
                    losses_by_lambda(&self.moments, subset, lambdas).map_err(fit_error)
                })?;
                self.alone.insert(alone).clone()
            }
        })
    }
}

/// The `count` candidates with the lowest loss over λ, the best first.
fn best(trials: &[Vec<Trial>], candidates: &[Feature], count: usize) -> Vec<Feature> {
    let least = |k: usize| minimum(trials.iter().map(|lambda_trials| lambda_trials[k].loss));
    let mut all: Vec<(f64, Feature)> = candidates.iter().enumerate().map(|(k, &f)| (least(k), f)).collect();
    let by_loss = |a: &(f64, Feature), b: &(f64, Feature)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if count < all.len() {
        all.select_nth_unstable_by(count, by_loss);
        all.truncate(count);
    }
    all.sort_unstable_by(by_loss);
    all.into_iter().map(|(_, feature)| feature).collect()
}

impl<'d> FoldEngine<'d> for MomentEngine<'d> {
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<Vec<Trial>>>> {
        if let Some(tree) = &self.expected {
            return Ok(Some(tree.current()));
        }
        let losses = self.fold_losses(subset)?;
        let trial = |(folds, conditioning): &(Vec<f64>, f64)| self.moments.trial(folds.iter().sum(), *conditioning);
        Ok(Some(losses.iter().map(|losses| vec![trial(losses)]).collect()))
    }

    fn trials(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<Trial>> {
        if change == Action::Remove {
            let moments = &self.moments;
            moments.read(&self.rows, subset, &[]);
            let start = || BackwardMoments::new(moments, &self.lambdas.own, subset);
            return self.backward.get_or_insert_with(start).trials(candidates);
        }
        if let Some(tree) = &self.expected
            && candidates.iter().all(|candidate| tree.later().contains(candidate))
        {
            return tree.trials(candidates);
        }
        let trials = self.forward(subset).trials(candidates);
        if self.moments.are_by_columns() {
            self.likely = best(&trials, candidates, LIKELY);
        }
        trials
    }

    fn apply(&mut self, change: Action, feature: Feature) -> bool {
        self.alone = None;
        if change == Action::Remove {
            self.expected = None;
            if let Some(forward) = &mut self.forward {
                forward.remove(feature);
            }
            return self.backward.as_mut().is_some_and(|backward| backward.remove(feature));
        }
        self.backward = None;
        self.expected = self.expected.take().and_then(|tree| {
            let place = tree.later().iter().position(|&column| column == feature)?;
            Some(Arc::new(tree.child(place)))
        });
        if let Some(forward) = &mut self.forward {
            self.moments.read(&self.rows, &[feature], &self.likely);
            forward.add(feature);
        }
        false
    }

    fn reset(&mut self) {
        (self.forward, self.backward, self.expected, self.alone) = (None, None, None, None);
    }

    fn standard_error(&mut self, fits: &RoundFits<'_>, subset: &[Feature], lambda: usize) -> Result<Option<f64>> {
        Ok(Some(fits.error_of_squares(&self.fold_losses(subset)?[lambda].0)))
    }

    fn fork(&mut self, subset: &[Feature], candidates: &[Feature]) -> Box<dyn FoldEngine<'d> + 'd> {
        let is_large = candidates.is_empty() && subset.len() > FEW;
        let forward = is_large.then(|| self.forward(subset).clone());
        let expected = (!candidates.is_empty()).then(|| self.expecting(subset, candidates));
        let (moments, rows) = (Arc::clone(&self.moments), Arc::clone(&self.rows));
        let fork = MomentEngine::new(moments, rows, self.lambdas.without_others());
        Box::new(MomentEngine { forward, expected, ..fork })
    }
}
