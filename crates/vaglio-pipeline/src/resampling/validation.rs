//! Cross-validation of a whole search.

use super::pool::StageMonitor;
use super::pooled_folds::{LambdaPaths, PooledFolds};
use super::sample::Sample;
use super::split_rule::{LazySplits, SplitRule, TrainTestSplit, bare};
use super::walks::{Fold, said_of};
use crate::selector::{ValidSelector, walk_lambdas};
use vaglio_core::{Design, Error, Loss, Path, Result};
use vaglio_report::record::{Warning, WarningKind};
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
    let Some((how, is_written)) = selector.cross_validation() else { return Ok(None) };
    let parts = dealt(selector, sample, &parting(selector, sample, &how, is_written)?, 0)?;
    let problem = sample.labelled()?;
    let fault = (0..parts.count()).find_map(|place| {
        let training = problem.view_rows(&parts.part(place).training);
        bare(&training).and_then(|design| selector.criterion.folds(&design)).err()
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

/// Warning that the score chose the size, since folds are impossible.
pub(super) fn not_validated(error: &Error) -> Warning {
    let message = format!(
        "the search could not be cross-validated ({error}), so the score chose the size, which is optimistic; give test rows, \
         or write `choose: best` to say that this is meant"
    );
    Warning::new(WarningKind::NotCrossValidated, message)
}
