//! Cross-validation of a whole search.

use super::choice::{ChoiceContext, cross_validation, walk_lambdas};
use super::lockstep::{FoldTrainingSource, LambdaPaths, Lockstep};
use super::loss_sums::LossSums;
use super::pool::{Piece, PiecePhase, WalkExtent, in_turn, repeated};
use super::sample::Sample;
use super::scored::not_validated;
use super::split_rule::{LazySplits, SplitRule, TrainTestSplit, bare};
use super::table::Pooling;
use super::walks::{Fold, said_of};
use crate::final_model::FinalModelCache;
use crate::selector::ValidSelector;
use std::sync::OnceLock;
use std::time::Instant;
use vaglio_core::{Design, Error, Journal, Path, Result, get_or_try_make};
use vaglio_report::record::Warning;
use vaglio_search::shuffle::stream;
use vaglio_search::{CrossValidation, check_repeated_rows};

const ROUND: u64 = 1;
/// Largest number of rows over all repeats; each takes 64 bits in every fold.
const MOST_ROWS: usize = 1 << 26;

/// Kind of split of the rows. A default number of folds is limited by the number of groups.
pub fn parting(
    selector: &ValidSelector,
    sample: &Sample,
    how: &CrossValidation,
    is_written: bool,
) -> Result<SplitRule> {
    Ok(match sample.parting(selector, how.splits.as_ref(), how.folds, 0)? {
        SplitRule::Folds(assignment, folds) if !is_written => {
            let most = assignment.most();
            SplitRule::Folds(assignment, folds.min(most))
        }
        parting => parting,
    })
}

/// Warning that a search cannot be cross-validated, since the criterion cannot split the training rows of a fold. Cost
/// O(rows · folds).
///
/// # Errors
/// [`Error::Setting`] for invalid folds.
pub fn unvalidated(selector: &ValidSelector, sample: &Sample) -> Result<Option<Warning>> {
    let Some((how, is_written)) = cross_validation(selector) else { return Ok(None) };
    let parts = dealt_parts(selector, sample, &parting(selector, sample, &how, is_written)?, 0)?;
    let problem = sample.labelled()?;
    let fault = (0..parts.count()).find_map(|place| {
        let training = problem.view_rows(&parts.training(place));
        bare(&training).and_then(|design| selector.criterion().folds(&design)).err()
    });
    Ok(fault.map(|error| not_validated(&error)))
}

/// Train/test splits of every repeat; a single repeat if all are equal.
///
/// # Errors
/// [`Error::Setting`] for invalid splits.
pub(super) fn deals(
    selector: &ValidSelector,
    sample: &Sample,
    parting: &SplitRule,
    repeats: usize,
) -> Result<Vec<Vec<TrainTestSplit>>> {
    if repeats == 0 {
        return Err(Error::setting("search.choose.repeats", "0 repeats; 1 is the least"));
    }
    let checked = check_repeated_rows(repeats, sample.rows(), MOST_ROWS);
    checked.map_err(|error| error.under("search.choose"))?;
    let deal = |repeat: usize| dealt(selector, sample, parting, repeat);
    let mut all: Vec<Vec<TrainTestSplit>> = (0..repeats).map(deal).collect::<Result<_>>()?;
    if all.iter().all(|parts| *parts == all[0]) {
        all.truncate(1);
    }
    Ok(all)
}

/// Seed of one repeat.
pub fn seed_of(selector: &ValidSelector, repeat: usize) -> u64 {
    stream(selector.seed, ROUND, repeat as u64)
}

/// Train/test splits of one repeat.
///
/// # Errors
/// [`Error::Setting`] for invalid splits.
pub fn dealt(
    selector: &ValidSelector,
    sample: &Sample,
    parting: &SplitRule,
    repeat: usize,
) -> Result<Vec<TrainTestSplit>> {
    Ok(dealt_parts(selector, sample, parting, repeat)?.all().collect())
}

/// Like [`dealt`], but makes each split when it is needed.
///
/// # Errors
/// Returns the errors of [`dealt`].
pub fn dealt_parts<'s>(
    selector: &ValidSelector,
    sample: &'s Sample,
    parting: &SplitRule,
    repeat: usize,
) -> Result<LazySplits<'s>> {
    parting.dealt(sample, seed_of(selector, repeat)).map_err(|error| error.under("search.choose"))
}

/// Fold of each row by repeat, if rows are split into folds.
fn fold_of_rows(parting: &SplitRule, all: &[Vec<TrainTestSplit>], rows: usize) -> Vec<Vec<usize>> {
    if !matches!(parting, SplitRule::Folds(..)) {
        return Vec::new();
    }
    let of_row = |parts: &Vec<TrainTestSplit>| {
        let mut of_row = vec![0; rows];
        for (fold, part) in parts.iter().enumerate() {
            part.held.iter().for_each(|&row| of_row[row] = fold);
        }
        of_row
    };
    all.iter().map(of_row).collect()
}

/// Inputs of a cross-validated choice.
pub(super) struct ChoiceParts {
    pub how: CrossValidation,
    pub lambdas: Vec<Option<f64>>,
    /// Train/test splits of every repeat.
    pub deals: Result<Vec<Vec<TrainTestSplit>>>,
    /// Design of all rows, with the data that folds share.
    pub design: Design,
}

/// # Errors
/// [`Error::Setting`] for invalid folds.
pub(super) fn parted_choice(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    how: CrossValidation,
    is_written: bool,
) -> Result<ChoiceParts> {
    let parting = parting(selector, sample, &how, is_written)?;
    let lambdas = walk_lambdas(design, true);
    let deals = deals(selector, sample, &parting, how.repeats);
    let deal = deals.as_deref().unwrap_or_default();
    let (folds, repeats) = (deal.first().map_or(how.folds, Vec::len), deal.len());
    let how = CrossValidation { folds, repeats, splits: parting.splits().cloned(), ..how };
    let design = design.shared_by(&lambdas).with_subsets(&fold_of_rows(&parting, deal, sample.rows()));
    Ok(ChoiceParts { how, lambdas, deals, design })
}

/// Held-out losses of the whole procedure.
pub(super) struct CrossValidated {
    /// Search paths at every λ.
    pub walks: Vec<LambdaPaths>,
    /// Losses of all columns, by fold.
    pub full: Vec<Vec<LossSums>>,
}

/// A fold with the design of its training rows.
pub(super) struct FoldTraining {
    pub fold: Fold,
    pub design: Design,
    /// Index in its repeat.
    pub number: usize,
    /// Cache of final models.
    pub known: FinalModelCache,
}

/// Training rows of all folds, built together on first use.
pub(super) struct FoldTrainings<'a> {
    pub count: usize,
    made: OnceLock<Vec<FoldTraining>>,
    make: &'a (dyn Fn() -> Result<Vec<FoldTraining>> + Sync),
}

impl FoldTrainings<'_> {
    /// # Errors
    /// [`Error::Stopped`]; errors of the maps and designs.
    pub fn get(&self) -> Result<&[FoldTraining]> {
        get_or_try_make(&self.made, self.make).map(|made| &made[..])
    }
}

/// Inputs of the cross-validation of one search.
#[derive(Clone, Copy)]
pub(super) struct Validation<'a, 'o> {
    pub context: ChoiceContext<'a, 'o>,
    /// Train/test splits of every repeat.
    pub deals: &'a [Vec<TrainTestSplit>],
    pub pooling: Pooling,
    pub patience: Option<usize>,
    /// Path of all rows, if the search is evaluated at penalties.
    pub path: Option<&'a Path>,
}

impl Validation<'_, '_> {
    /// Cross-validates the searches at some λ in every fold, and all columns at the λ of `all`. Results at other λ are
    /// given by `before`. Finished work is recorded in the journal. Returns `None` if stopped.
    ///
    /// # Errors
    /// Returns the errors of the maps, the designs, the search and the fits, on the training rows of a fold.
    pub fn at(
        &self,
        lambdas: &[Option<f64>],
        all: &[Option<f64>],
        before: &[LambdaPaths],
        journal: &Journal,
    ) -> Result<Option<CrossValidated>> {
        let Validation { context, deals, pooling, patience, .. } = *self;
        let ChoiceContext { selector, sample, watcher, .. } = context;
        let loss = &*selector.loss(sample.task());
        let parts: Vec<(usize, &TrainTestSplit)> = deals.iter().flat_map(|parts| parts.iter().enumerate()).collect();
        watcher.stage("choose", parts.len() * lambdas.len());
        let (extent, shares) = self.extent()?;
        let pieces: Vec<Piece<'_, '_>> =
            (0..parts.len() * lambdas.len()).map(|_| Piece::new(watcher, shares)).collect();
        let known: Vec<Option<LambdaPaths>> =
            (0..lambdas.len()).map(|at| journal.recall(format_args!("choose/walk/{at}"))).collect();
        let full: Option<Vec<Vec<LossSums>>> = match all.is_empty() {
            true => Some(vec![Vec::new(); parts.len()]),
            false => journal.recall("choose/full"),
        };
        if let (Some(full), true) = (&full, known.iter().all(Option::is_some)) {
            return Ok(Some(CrossValidated { walks: known.into_iter().flatten().collect(), full: full.clone() }));
        }
        let begun = Instant::now();
        // If memory cannot hold all folds at once, they are rebuilt when needed.
        let occupied = selector.room.all(parts.len());
        let is_held = occupied.is_some();
        let make = |job: usize| {
            if let Some(reason) = watcher.stopped() {
                return Err(Error::Stopped(reason));
            }
            let (number, part) = parts[job];
            let _trained = tracing::debug_span!("fold", fold = number + 1, rows = part.training.len()).entered();
            let made = self.training(number, part, lambdas);
            let of_fold = &pieces[job * lambdas.len()..(job + 1) * lambdas.len()];
            of_fold.iter().for_each(|piece| piece.to(PiecePhase::Made, 1.0));
            let full = made.and_then(|(training, design)| {
                let own = match full {
                    Some(_) => Vec::new(),
                    None => training.fold.judged(|held| super::full_model::full(&design, all, held, loss))?,
                };
                Ok((is_held.then_some(training), own))
            });
            full.map_err(|error| said_of_fold(error, number))
        };
        let made = || match is_held {
            true => in_turn(parts.len(), make),
            false => repeated(&selector.room, parts.len(), make),
        };
        let make = || Ok(made()?.into_iter().filter_map(|(training, _)| training).collect());
        let held = FoldTrainings { count: parts.len(), made: OnceLock::new(), make: &make };
        let full = match &full {
            Some(full) => full.clone(),
            None => {
                let made = match made() {
                    Err(Error::Stopped(_)) => return Ok(None),
                    made => made?,
                };
                let (folds, own): (Vec<Option<FoldTraining>>, Vec<Vec<LossSums>>) = made.into_iter().unzip();
                let _ = held.made.set(folds.into_iter().flatten().collect());
                journal.keep_worth(begun, "choose/full", &own);
                own
            }
        };
        let anew = |job: usize| {
            let (number, part) = parts[job];
            let made = self.training(number, part, lambdas).map_err(|error| said_of_fold(error, number));
            made.map(|(training, _)| training)
        };
        let folds = match is_held {
            true => FoldTrainingSource::Held(&held),
            false => FoldTrainingSource::Anew(parts.len(), &anew),
        };
        let pieces = &pieces[..];
        let lockstep = Lockstep { selector, folds, loss, patience, pooling, watcher, journal, extent, pieces };
        let walks = lockstep.walks(lambdas, before, known)?;
        Ok(walks.map(|walks| CrossValidated { walks, full }))
    }

    /// Expected sizes of the paths, and the share of work of each phase: building the fold, the search by the number of
    /// subsets tried, and the losses, with fits that extend smaller ones.
    fn extent(&self) -> Result<(WalkExtent, [f64; 3])> {
        let ChoiceContext { selector, design, .. } = self.context;
        let search_extent = selector.search().extent(design).map_err(|error| error.under("search"))?;
        let extent = WalkExtent::from_search_extent(&search_extent, self.patience);
        let judged = (extent.sizes() * extent.sizes()).max(1.0);
        let walked = (0.95 * search_extent.trials / (search_extent.trials + judged)).clamp(0.05, 0.9);
        Ok((extent, [0.05, walked, 0.95 - walked]))
    }

    /// Builds a fold, with its design and a variant for its searches, which share what does not depend on λ.
    fn training(
        &self,
        number: usize,
        part: &TrainTestSplit,
        lambdas: &[Option<f64>],
    ) -> Result<(FoldTraining, Design)> {
        let ChoiceContext { selector, sample, design: whole, .. } = self.context;
        let fold = Fold::new(sample, part)?;
        let design = selector.design_at(&fold.fitted.problem, Some(whole))?;
        let design = design.as_subset_of(whole, &fold.training);
        let shared = design.shared_by(lambdas).with_run(|run| run.has_errors = false);
        if lambdas.len() > 1 {
            // Data that the criterion keeps for all λ is cached before the searches, which would each compute it.
            selector.opened(&shared.at_lambda(lambdas[0]))?;
        }
        Ok((FoldTraining { fold, design: shared, number, known: FinalModelCache::default() }, design))
    }
}

/// Adds the number of a fold to a setting error.
pub(super) fn said_of_fold(error: Error, fold: usize) -> Error {
    said_of(error, &format!("fold {} of the cross-validated search", fold + 1))
}
