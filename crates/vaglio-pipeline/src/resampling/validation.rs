//! Cross-validation of a whole search.

use super::choice::{cross_validation, walk_lambdas};
use super::full_model;
use super::lockstep::{LambdaPaths, Lockstep};
use super::loss_sums::LossSums;
use super::pool::{StageMonitor, in_turn, repeated};
use super::sample::Sample;
use super::score_choice::not_validated;
use super::split_rule::{LazySplits, SplitRule, TrainTestSplit, bare};
use super::table::PooledFolds;
use super::walks::{Fold, said_of};
use crate::selector::ValidSelector;
use std::time::Instant;
use vaglio_core::{Design, Error, Journal, Loss, Path, Result};
use vaglio_report::record::Warning;
use vaglio_search::shuffle::stream;
use vaglio_search::{CrossValidation, check_repeated_rows};

const ROUND: u64 = 1;
/// Largest number of rows over all repeats; each takes 64 bits in every fold.
const MOST_ROWS: usize = 1 << 26;

/// Rule that splits the rows to choose size and λ. Unless the user set the folds (`is_written`), there are at most as
/// many as groups of rows.
///
/// # Errors
/// Returns the errors of [`Sample::parting`].
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

/// Warning if the criterion cannot split the training rows of a fold of a cross-validation. Cost O(rows · folds).
///
/// # Errors
/// [`Error::Setting`] for invalid folds.
pub fn unvalidated(selector: &ValidSelector, sample: &Sample) -> Result<Option<Warning>> {
    let Some((how, is_written)) = cross_validation(selector) else { return Ok(None) };
    let parts = dealt(selector, sample, &parting(selector, sample, &how, is_written)?, 0)?;
    let problem = sample.labelled()?;
    let fault = (0..parts.count()).find_map(|place| {
        let training = problem.view_rows(&parts.part(place).training);
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
    let deal = |repeat: usize| Ok(dealt(selector, sample, parting, repeat)?.all().collect());
    let mut all: Vec<Vec<TrainTestSplit>> = (0..repeats).map(deal).collect::<Result<_>>()?;
    if all.iter().all(|parts| *parts == all[0]) {
        all.truncate(1);
    }
    Ok(all)
}

/// Train/test splits of one repeat.
///
/// # Errors
/// [`Error::Setting`] for invalid splits.
pub fn dealt<'s>(
    selector: &ValidSelector,
    sample: &'s Sample,
    parting: &SplitRule,
    repeat: usize,
) -> Result<LazySplits<'s>> {
    parting.dealt(sample, stream(selector.seed, ROUND, repeat as u64)).map_err(|error| error.under("search.choose"))
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

/// The design of all rows, with the data that folds share.
pub(super) fn shared_design(
    design: &Design,
    sample: &Sample,
    parting: &SplitRule,
    deals: &[Vec<TrainTestSplit>],
) -> Design {
    let design = design.shared_by(&walk_lambdas(design, true));
    design.with_subsets(&fold_of_rows(parting, deals, sample.rows()))
}

/// Held-out losses of the whole procedure.
pub(super) struct CrossValidated {
    /// Values of λ of the searches.
    pub lambdas: Vec<Option<f64>>,
    /// Search paths at every λ.
    pub walks: Vec<LambdaPaths>,
    /// Values of λ for the models of all columns.
    pub full_lambdas: Vec<Option<f64>>,
    /// Losses of all columns, by fold and λ.
    pub full: Vec<Vec<LossSums>>,
}

/// Cross-validation of one search, which chooses size and λ.
#[derive(Clone, Copy)]
pub(super) struct Validation<'a, 'o> {
    pub selector: &'a ValidSelector,
    pub sample: &'a Sample,
    /// Design of all rows.
    pub design: &'a Design,
    pub watcher: &'a StageMonitor<'o>,
    pub loss: &'a dyn Loss,
    pub how: &'a CrossValidation,
    /// Train/test splits of every repeat.
    pub deals: &'a [Vec<TrainTestSplit>],
    /// Size of the full subset on all rows.
    pub everything: usize,
    /// Path of all rows, if the search is evaluated at penalties.
    pub path: Option<&'a Path>,
}

impl Validation<'_, '_> {
    /// Cross-validates the searches at some λ in every fold, and all columns at the λ of `full_lambdas`. Results at
    /// other λ are given by `before`. Finished work is recorded in the journal.
    ///
    /// # Errors
    /// [`Error::Stopped`]; errors of the maps, the designs, the search and the fits, on the training rows of a fold.
    pub fn at(
        &self,
        lambdas: Vec<Option<f64>>,
        full_lambdas: Vec<Option<f64>>,
        before: &[LambdaPaths],
        journal: &Journal,
    ) -> Result<CrossValidated> {
        let (count, room) = (self.count(), &self.selector.room);
        self.watcher.stage("choose", count * lambdas.len());
        let known: Vec<Option<LambdaPaths>> =
            (0..lambdas.len()).map(|at| journal.recall(format_args!("choose/walk/{at}"))).collect();
        let full: Option<Vec<Vec<LossSums>>> = match full_lambdas.is_empty() {
            true => Some(vec![Vec::new(); count]),
            false => journal.recall("choose/full"),
        };
        if known.iter().all(Option::is_some)
            && let Some(full) = &full
        {
            let (walks, full) = (known.into_iter().flatten().collect(), full.clone());
            return Ok(CrossValidated { lambdas, walks, full_lambdas, full });
        }
        let begun = Instant::now();
        // If memory cannot hold all folds at once, they are rebuilt when needed.
        let occupied = room.all(count);
        let make = |job: usize| {
            let fold = self.fold(job, &lambdas)?;
            let losses = match full {
                Some(_) => Ok(Vec::new()),
                None => fold.judged(|held| full_model::full(&fold.design, &full_lambdas, held, self.loss)),
            };
            Ok((occupied.is_some().then_some(fold), losses.map_err(|error| self.in_fold(error, job))?))
        };
        let made = match (&occupied, &full) {
            (Some(_), _) => in_turn(count, make)?,
            (None, None) => repeated(room, count, make)?,
            (None, Some(_)) => Vec::new(),
        };
        let (folds, losses): (Vec<Option<Fold>>, Vec<Vec<LossSums>>) = made.into_iter().unzip();
        let folds: Vec<Fold> = folds.into_iter().flatten().collect();
        let full = full.unwrap_or_else(|| {
            journal.keep_worth(begun, "choose/full", &losses);
            losses
        });
        let walks = Lockstep::new(self, &folds, &lambdas, journal)?.walks(before, known)?;
        Ok(CrossValidated { lambdas, walks, full_lambdas, full })
    }

    /// Number of splits over all repeats.
    pub fn count(&self) -> usize {
        self.deals.iter().map(Vec::len).sum()
    }

    /// Pools the folds at one λ.
    pub fn pooled<'t>(&self, walks: &'t LambdaPaths) -> PooledFolds<'t> {
        walks.pooled(self.everything, self.how.repeats)
    }

    /// Builds a fold, whose searches share what does not depend on λ.
    ///
    /// # Errors
    /// [`Error::Stopped`]; errors of the maps and the design.
    pub fn fold(&self, job: usize, lambdas: &[Option<f64>]) -> Result<Fold> {
        self.watcher.check()?;
        let lost = || Error::Shape("there is no such fold".into());
        let part = self.deals.iter().flatten().nth(job).ok_or_else(lost)?;
        let _trained = tracing::debug_span!("fold", fold = job + 1, rows = part.training.len()).entered();
        let made = || {
            let fold = Fold::new(self.selector, self.sample, part, Some(self.design))?;
            let design = fold.design.shared_by(lambdas).with_run(|run| run.has_errors = false);
            if lambdas.len() > 1 {
                // Data that the criterion keeps for all λ is cached before the searches, which would each compute it.
                self.selector.opened(&design.at_lambda(lambdas[0]))?;
            }
            Ok(Fold { design, ..fold })
        };
        made().map_err(|error| self.in_fold(error, job))
    }

    /// Adds the number of a fold in its repeat to a setting error.
    pub fn in_fold(&self, error: Error, job: usize) -> Error {
        said_of_fold(error, job % self.deals.first().map_or(1, |parts| parts.len().max(1)))
    }
}

/// Adds the number of a fold to a setting error.
pub(super) fn said_of_fold(error: Error, fold: usize) -> Error {
    said_of(error, &format!("fold {} of the cross-validated search", fold + 1))
}
