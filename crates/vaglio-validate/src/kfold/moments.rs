//! The engine of moments. See *Cross-validation without refitting*, "Moments: forward" and "Moments: backward", in the
//! book.

use super::cells;
use super::evaluator::FoldEngine;
use super::settings::KFold;
use crate::fits::{SubsetFits, fit_error};
use crate::session::{KnownMoments, Session};
use crate::shared_lambdas::SharedLambdas;
use crate::trial_loss::TrialLoss;
use std::sync::Arc;
use vaglio_core::{Action, Design, Feature, Result};
use vaglio_kernels::kfold::{BackwardMoments, FoldedRows, ForwardMoments, MomentTree, Moments, Spectrum, TrialLosses};
use vaglio_kernels::linalg::FactorizationError;

/// The moments of a design in folds. The session caches them for other λ.
/// Builds them from shared group sums if training sets overlap, or lazily per selected column.
///
/// # Errors
/// [`vaglio_core::Error::Numerical`] when products overflow.
pub(super) fn from_design(
    criterion: &KFold,
    design: &Design,
    rows: &FoldedRows<'_>,
    by_columns: bool,
) -> Result<Arc<KnownMoments>> {
    let session = Session::for_design(design);
    if let Some(moments) = session.moments_in(&rows.folds, rows.scores_classes_alike(), by_columns) {
        return Ok(moments);
    }
    let made = |made: Result<Moments, FactorizationError>| made.map_err(fit_error);
    let moments = match by_columns {
        true => made(Moments::by_columns(rows))?,
        false => match cells::moments(criterion, design, rows)? {
            Some(moments) => moments,
            None => made(Moments::new(rows))?,
        },
    };
    Ok(session.keep_moments(&rows.folds, moments))
}

/// Number of stored entries of a design's columns, for lazy moments. `None` if folds fill missing cells.
pub(super) fn entries_of(design: &Design) -> Option<f64> {
    let (columns, share) = (design.columns(), design.columns().share_stored());
    design.problem().in_folds().missing().is_none().then(|| share * (columns.len() * design.planned_rows()) as f64)
}

/// Largest subset that is decomposed if only its score is needed. For larger subsets, a state that follows every other
/// column is copied.
const FEW: usize = 512;

/// Number of columns to prefetch; more than a pass has room for, since some may be known.
const LIKELY: usize = 32;

/// Moments, with the states for additions and removals.
pub(super) struct MomentEngine<'d> {
    known: Arc<KnownMoments>,
    moments: Arc<Moments>,
    /// The rows of the moments.
    rows: Arc<FoldedRows<'d>>,
    lambdas: SharedLambdas,
    /// The best candidates of the last trials of additions. One of them enters next, and some of the others later.
    likely: Vec<Feature>,
    forward: Option<ForwardMoments>,
    backward: Option<BackwardMoments>,
    /// The remaining columns that a fork expects.
    expected: Option<Arc<ExpectedColumns>>,
    /// Loss in each fold and conditioning of the current subset, for each λ, if it has no state.
    alone: Option<Vec<(Vec<f64>, f64)>>,
}

/// Columns that will probably be added in their order, and the state that tries them.
struct ExpectedColumns {
    columns: Vec<Feature>,
    tree: MomentTree,
}

impl ExpectedColumns {
    fn places(&self, candidates: &[Feature]) -> Option<Vec<usize>> {
        candidates.iter().map(|candidate| self.columns.iter().position(|column| column == candidate)).collect()
    }
}

impl<'d> MomentEngine<'d> {
    pub fn new(known: Arc<KnownMoments>, rows: Arc<FoldedRows<'d>>, lambdas: SharedLambdas) -> Self {
        let (moments, likely) = (Arc::clone(&known.moments), Vec::new());
        let (forward, backward, expected, alone) = (None, None, None, None);
        MomentEngine { known, moments, rows, lambdas, likely, forward, backward, expected, alone }
    }

    /// The state that tries the expected columns of a fork.
    fn expecting(&self, subset: &[Feature], candidates: &[Feature]) -> Arc<ExpectedColumns> {
        if let Some(expected) = self.expected.as_ref().filter(|expected| expected.columns.ends_with(candidates)) {
            return Arc::clone(expected);
        }
        let columns = [subset, candidates].concat();
        self.moments.read(&self.rows, &columns, &[]);
        let tree = MomentTree::new(&self.moments, &self.lambdas.own, &columns);
        // The selected columns come first.
        let tree = subset.iter().fold(tree, |tree, _| tree.child(0));
        Arc::new(ExpectedColumns { columns: candidates.to_vec(), tree })
    }

    /// The losses with some of the expected columns added: λ × columns.
    fn expected_losses(&self, tree: &MomentTree, places: &[usize]) -> Vec<Vec<TrialLoss>> {
        let (losses, conditioning) = tree.trials();
        let count = losses.len() / self.lambdas.own.len().max(1);
        let trial = |at: usize| loss(&self.moments, losses[at], conditioning[at]);
        (0..self.lambdas.own.len()).map(|l| places.iter().map(|&place| trial(l * count + place)).collect()).collect()
    }

    fn losses(&self, trials: &TrialLosses, candidates: &[Feature]) -> Vec<Vec<TrialLoss>> {
        let lambda_trials = |l: usize| {
            let trial = |candidate: &Feature| match trials.features.binary_search(candidate) {
                Ok(k) => loss(&self.moments, trials.losses[l][k], trials.conditioning[l][k]),
                Err(_) => TrialLoss::UNKNOWN,
            };
            candidates.iter().map(trial).collect()
        };
        (0..self.lambdas.own.len()).map(lambda_trials).collect()
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
                let Self { moments, rows, lambdas, known, .. } = self;
                let alone = lambdas.for_subset(&known.subsets, subset, |lambdas| {
                    moments.read(rows, subset, &[]);
                    Ok(Spectrum::new(moments, subset).map_err(fit_error)?.losses(lambdas))
                })?;
                self.alone.insert(alone).clone()
            }
        })
    }
}

fn loss(moments: &Moments, sum: f64, conditioning: f64) -> TrialLoss {
    TrialLoss::from_difference(moments.mean_of(sum), conditioning, moments.mean_of(moments.squares()))
}

impl<'d> FoldEngine<'d> for MomentEngine<'d> {
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<TrialLoss>>> {
        let sums: Vec<(f64, f64)> = match self.expected.as_deref() {
            Some(ExpectedColumns { tree, .. }) => tree.losses(),
            None => self.fold_losses(subset)?.into_iter().map(|(losses, least)| (losses.iter().sum(), least)).collect(),
        };
        let trial = |(sum, conditioning)| loss(&self.moments, sum, conditioning);
        Ok(Some(sums.into_iter().map(trial).collect()))
    }

    fn trials(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<TrialLoss>> {
        if change == Action::Remove {
            self.moments.read(&self.rows, subset, &[]);
            let start = || BackwardMoments::new(&self.moments, &self.lambdas.own, subset);
            let trials = self.backward.get_or_insert_with(start).trials();
            return self.losses(&trials, candidates);
        }
        if let Some(expected) = &self.expected
            && let Some(places) = expected.places(candidates)
        {
            return self.expected_losses(&expected.tree, &places);
        }
        let trials = self.forward(subset).trials();
        if self.moments.are_by_columns() {
            self.likely = trials.best(LIKELY);
        }
        self.losses(&trials, candidates)
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
        self.expected = self.expected.take().and_then(|expected| {
            let place = expected.columns.iter().position(|&column| column == feature)?;
            let columns = expected.columns[place + 1..].to_vec();
            Some(Arc::new(ExpectedColumns { columns, tree: expected.tree.child(place) }))
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

    fn standard_error(&mut self, fits: &SubsetFits<'_>, subset: &[Feature], lambda: usize) -> Result<Option<f64>> {
        Ok(Some(fits.error_of_squares(&self.fold_losses(subset)?[lambda].0)))
    }

    fn fork(&mut self, subset: &[Feature], candidates: &[Feature]) -> Box<dyn FoldEngine<'d> + 'd> {
        let is_large = candidates.is_empty() && subset.len() > FEW;
        let forward = is_large.then(|| self.forward(subset).clone());
        let expected = (!candidates.is_empty()).then(|| self.expecting(subset, candidates));
        let (known, rows) = (Arc::clone(&self.known), Arc::clone(&self.rows));
        Box::new(MomentEngine { forward, expected, ..MomentEngine::new(known, rows, self.lambdas.without_others()) })
    }
}
