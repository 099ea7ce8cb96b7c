//! Cross-validation of a whole search.

use super::pool::StageMonitor;
use super::pooled_folds::{LambdaPaths, PooledFolds};
use super::sample::Sample;
use super::split_rule::{RepeatedSplits, SplitRule, bare};
use super::walks::{Fold, said_of};
use crate::selector::{ValidSelector, walk_lambdas};
use vaglio_core::{Design, Error, Loss, Path, Result};
use vaglio_report::record::{Warning, WarningKind};
use vaglio_search::shuffle::stream;
use vaglio_search::{CrossValidation, check_repeated_rows};

const ROUND: u64 = 1;
/// Largest number of rows over all repeats; each takes 64 bits.
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
    let problem = sample.labelled()?;
    let fault = repeats(selector, sample, &how, is_written, 1)?.all().find_map(|part| {
        let training = problem.view_rows(&part.training);
        bare(&training).and_then(|design| selector.criterion.folds(&design)).err()
    });
    Ok(fault.map(|error| not_validated(&error)))
}

/// Train/test splits of the first repeats, by the rule of [`parting`].
///
/// # Errors
/// [`Error::Setting`] for invalid splits.
pub(super) fn repeats<'s>(
    selector: &ValidSelector,
    sample: &'s Sample,
    how: &CrossValidation,
    is_written: bool,
    repeats: usize,
) -> Result<RepeatedSplits<'s>> {
    let seeds = (0..repeats).map(|repeat| stream(selector.seed, ROUND, repeat as u64));
    let rule = parting(selector, sample, how, is_written)?;
    rule.repeats(sample, seeds).map_err(|error| error.under("search.choose"))
}

/// Train/test splits of every repeat of a choice.
///
/// # Errors
/// [`Error::Setting`] for invalid splits, and for too many rows over all repeats.
pub(super) fn all_repeats<'s>(
    selector: &ValidSelector,
    sample: &'s Sample,
    how: &CrossValidation,
    is_written: bool,
) -> Result<RepeatedSplits<'s>> {
    if how.repeats == 0 {
        return Err(Error::setting("search.choose.repeats", "0 repeats; 1 is the least"));
    }
    let checked = check_repeated_rows(how.repeats, sample.rows(), MOST_ROWS);
    checked.map_err(|error| error.under("search.choose"))?;
    repeats(selector, sample, how, is_written, how.repeats)
}

/// The design of all rows, with the data that folds share.
pub(super) fn shared_design(design: &Design, splits: Option<&RepeatedSplits<'_>>) -> Design {
    let design = design.shared_by(&walk_lambdas(design, true));
    design.with_subsets(&splits.map_or_else(Vec::new, RepeatedSplits::fold_of_rows))
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
    pub splits: &'a RepeatedSplits<'a>,
    /// Size of the full subset on all rows.
    pub everything: usize,
    /// Path of all rows, if the search is evaluated at penalties.
    pub path: Option<&'a Path>,
}

impl Validation<'_, '_> {
    /// Number of splits over all repeats.
    pub fn count(&self) -> usize {
        self.splits.count()
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
        let part = self.splits.part(job);
        let _trained = tracing::debug_span!("fold", fold = job + 1, rows = part.training.len()).entered();
        let fold = Fold::new(self.selector, self.sample, &part, Some(self.design))?;
        let design = fold.design.shared_by(lambdas).with_run(|run| run.skips_errors = true);
        if lambdas.len() > 1 {
            // Data that the criterion keeps for all λ is cached before the searches, which would each compute it.
            self.selector.scorer(&design.at_lambda(lambdas[0]))?;
        }
        Ok(Fold { design, ..fold })
    }

    /// Adds the number of a fold in its repeat to a setting error.
    pub fn in_fold(&self, error: Error, job: usize) -> Error {
        said_of_fold(error, job % self.splits.folds.max(1))
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
