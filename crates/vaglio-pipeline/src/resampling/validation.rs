//! Cross-validation of a whole search, and its losses by size and λ, pooled over folds.

use super::{
    FittedProblem, FoldLosses, FoldTestRows, LambdaPaths, LossSums, RepeatedSplits, Sample, Splitter, TrainTestSplit,
    empty_design,
};
use crate::jobs::StageMonitor;
use crate::selector::{ValidSelector, path_lambdas};
use std::sync::Arc;
use vaglio_core::shuffle::stream;
use vaglio_core::{Design, Error, FoldLineage, Loss, Problem, Result, number_labels};
use vaglio_maps::target_maps::TargetUnits;
use vaglio_report::record::{Cell, LossTable, SizeSpread, SizeSpreadSource, Warning, WarningKind};
use vaglio_search::{CrossValidation, Judge, Path, Rule};
use vaglio_validate::splits::check_repeated_rows;

const ROUND: u64 = 1;
/// Largest number of rows over all repeats; each takes 64 bits.
const MOST_ROWS: usize = 1 << 26;

/// Splitter of the rows to choose size and λ. Unless the user asked for folds, there are at most as many as groups
/// of rows.
pub fn choice_splitter(selector: &ValidSelector, sample: &Sample, how: &CrossValidation) -> Splitter {
    match sample.splitter(selector, how.splits.as_ref(), how.folds, 0) {
        Splitter::Folds(assignment, folds) if !selector.asks_for_folds() => {
            let most = assignment.count;
            Splitter::Folds(assignment, folds.min(most))
        }
        splitter => splitter,
    }
}

/// Warning if the criterion cannot split the training rows of a fold of a cross-validation. Cost O(rows · folds).
///
/// # Errors
/// [`Error::Setting`] for invalid folds.
pub fn validation_warning(selector: &ValidSelector, sample: &Sample) -> Result<Option<Warning>> {
    let Some(how) = selector.cross_validation() else { return Ok(None) };
    let fault = choice_splits(selector, sample, &CrossValidation { repeats: 1, ..how })?.all().find_map(|split| {
        let training = sample.problem.view_rows(&split.training);
        empty_design(&training).and_then(|design| selector.criterion.folds(&design)).err()
    });
    Ok(fault.map(|error| not_validated(&error)))
}

/// Warning that the score chose the size, since folds are impossible.
pub fn not_validated(error: &Error) -> Warning {
    let message = format!(
        "the search could not be cross-validated ({error}), so the score chose the size, which is optimistic; give test rows, \
         or write `choose: best` to say that this is meant"
    );
    Warning::new(WarningKind::NotCrossValidated, message)
}

/// Train/test splits of every repeat of a choice, by [`choice_splitter`].
pub fn choice_splits<'s>(
    selector: &ValidSelector,
    sample: &'s Sample,
    how: &CrossValidation,
) -> Result<RepeatedSplits<'s>> {
    let under = |error: Error| error.under("search.choose");
    check_repeated_rows(how.repeats, sample.rows(), MOST_ROWS).map_err(under)?;
    let seeds = (0..how.repeats).map(|repeat| stream(selector.seed, ROUND, repeat as u64));
    choice_splitter(selector, sample, how).repeats(sample, seeds).map_err(under)
}

/// The design of all rows, with the data that folds share.
pub fn shared_design(design: &Design, splits: Option<&RepeatedSplits<'_>>) -> Design {
    let parts = splits.map_or_else(Vec::new, RepeatedSplits::fold_of_rows);
    let has_all = !parts.is_empty() && parts.iter().all(|part| part.len() == design.rows());
    let label = |row: usize| parts.iter().map(|part| part[row]).collect::<Vec<_>>();
    design.with_run(|run| {
        run.share(&path_lambdas(design, true));
        if has_all && !design.problem().in_folds().is_by_maps() {
            run.lineage = FoldLineage::Root(number_labels((0..design.rows()).map(label)).0.into());
        }
    })
}

/// Standard errors of the difference to the lowest loss within which other folds may choose a cell.
const CANDIDATES: f64 = 3.0;

/// Cross-validation of one search, which chooses size and λ.
#[derive(Clone, Copy)]
pub struct Validation<'a, 'o> {
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
    /// Builds a fold, whose searches share what does not depend on λ.
    pub fn fold(&self, job: usize, lambdas: &[Option<f64>]) -> Result<Fold> {
        self.watcher.check()?;
        let split = self.splits.split(job);
        let _trained = tracing::debug_span!("fold", fold = job + 1, rows = split.training.len()).entered();
        let fold = Fold::new(self.selector, self.sample, &split, Some(self.design))?;
        let design = fold.design.with_run(|run| {
            run.share(lambdas);
            run.skips_errors = true;
        });
        if lambdas.len() > 1 {
            // Data that the criterion keeps for all λ is cached before the searches, which would each compute it.
            self.selector.scorer(&design.at_lambda(lambdas[0]))?;
        }
        Ok(Fold { design, ..fold })
    }

    /// Pools the paths at each λ into a table.
    pub fn table(&self, by_lambda: &[LambdaPaths]) -> Result<LossTable> {
        let cells = by_lambda.iter().map(|paths| paths.cells(self.loss, paths.sizes())).collect::<Result<_>>()?;
        let mut table = LossTable { lambdas: by_lambda.iter().map(|paths| paths.lambda).collect(), cells };
        self.compare(&mut table, by_lambda)?;
        Ok(table)
    }

    /// Sets in every cell the standard error of the paired difference to the lowest loss. For a loss of all rows
    /// together, only in cells within both standard errors, which bound the standard error of a difference.
    pub fn compare(&self, table: &mut LossTable, by_lambda: &[LambdaPaths]) -> Result<()> {
        let (loss, at_most) = (self.loss, self.how.at_most);
        let (place, best) = table.pick(&CrossValidation { at_most, ..CrossValidation::default() })?;
        let best_losses = by_lambda[place].losses(best.size);
        let is_cheap = loss.traits().measure.is_of_rows();
        for (paths, cells) in by_lambda.iter().zip(&mut table.cells) {
            for cell in cells {
                let level = |cell: &Cell| cell.standard_error.unwrap_or(0.0);
                if is_cheap || cell.loss - best.loss <= level(cell) + level(&best) {
                    cell.difference_error = paths.losses(cell.size).difference(loss, &best_losses);
                }
            }
        }
        Ok(())
    }

    /// Loss of each fold at the size and λ with the lowest loss in the other folds of its repeat. It estimates the loss
    /// of the chosen cell without selection bias. Empty if a fold has no others, or these have no weight.
    pub fn by_others(&self, table: &LossTable, by_lambda: &[LambdaPaths], best: Cell) -> Vec<LossSums> {
        let (loss, at_most) = (self.loss, self.how.at_most);
        let fits = |cell: &&Cell| {
            let error = cell.difference_error.or(cell.standard_error).unwrap_or(f64::INFINITY);
            at_most.is_none_or(|most| cell.size <= most) && cell.loss - best.loss <= CANDIDATES * error
        };
        let mut candidates: Vec<FoldLosses<'_>> = Vec::new();
        for (paths, cells) in by_lambda.iter().zip(&table.cells) {
            candidates.extend(cells.iter().filter(fits).map(|cell| paths.losses(cell.size)));
        }
        let (folds, repeats) = by_lambda.first().map_or((0, 1), |paths| (paths.folds.len(), paths.repeats));
        let folds_per_repeat = folds / repeats.max(1);
        let one = |fold: usize| -> Option<LossSums> {
            let others =
                (0..folds).filter(|&other| other != fold && other / folds_per_repeat == fold / folds_per_repeat);
            let others: Vec<usize> = others.collect();
            let mean = |of: &FoldLosses<'_>| FoldLosses::new(others.iter().map(|&other| of.folds[other]), 1).mean(loss);
            let means: Vec<f64> = candidates.iter().map(mean).collect::<Result<_>>().ok()?;
            let least = (0..means.len()).reduce(|least, k| if means[k] < means[least] { k } else { least })?;
            Some(candidates[least].folds[fold].clone())
        };
        (0..folds).map(one).collect::<Option<_>>().unwrap_or_default()
    }

    /// Sizes that the rule chooses from each repeat alone. With one repeat, it chooses without each fold in turn. No
    /// further search is needed. Returns `None` for losses that are no mean over rows, and if no size was reached.
    ///
    /// Cost O(λ · sizes · folds) for each.
    pub fn size_spread(&self, by_lambda: &[LambdaPaths]) -> Result<Option<SizeSpread>> {
        let Validation { loss, how, .. } = *self;
        let all = by_lambda.first().map_or(0, |paths| paths.folds.len());
        if !loss.traits().measure.is_of_rows() || all < 3 || how.folds * how.repeats != all {
            return Ok(None);
        }
        let (over, kept): (SizeSpreadSource, Vec<Vec<usize>>) = match how.repeats {
            1 => {
                (SizeSpreadSource::Folds, (0..all).map(|out| (0..all).filter(|fold| *fold != out).collect()).collect())
            }
            repeats => {
                let repeat_folds = |repeat: usize| (repeat * how.folds..(repeat + 1) * how.folds).collect();
                (SizeSpreadSource::Repeats, (0..repeats).map(repeat_folds).collect())
            }
        };
        let sizes = kept.iter().map(|kept| self.size_in_folds(by_lambda, kept));
        let sizes: Option<Vec<usize>> = sizes.collect::<Result<_>>()?;
        Ok(sizes.map(|sizes| SizeSpread { over, sizes }))
    }

    /// Size that the rule chooses from some of the folds.
    fn size_in_folds(&self, by_lambda: &[LambdaPaths], kept: &[usize]) -> Result<Option<usize>> {
        let how = self.how;
        let some: Vec<LambdaPaths> = by_lambda.iter().map(|paths| paths.select_folds(kept)).collect();
        let cells = |(all, some): (&LambdaPaths, &LambdaPaths)| -> Result<Vec<Cell>> {
            let cell = |size: usize| {
                let loss = some.losses(size).mean(self.loss)?;
                Ok(Cell { size, loss, standard_error: Some(0.0), difference_error: None })
            };
            all.sizes().into_iter().map(cell).collect()
        };
        let cells = by_lambda.iter().zip(&some).map(cells).collect::<Result<_>>()?;
        let mut table = LossTable { cells, ..LossTable::default() };
        if table.cells.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        if how.rule == Rule::OneSe {
            self.compare(&mut table, &some)?;
        }
        table.pick(how).map(|(_, cell)| Some(cell.size))
    }

    /// Adds the number of a fold in its repeat to a setting error.
    pub fn in_fold(&self, job: usize) -> impl FnOnce(Error) -> Error {
        let fold = job % self.splits.folds.max(1);
        move |error| in_choice_fold(error, fold)
    }
}

/// Adds the number of a fold to a setting error.
pub fn in_choice_fold(error: Error, fold: usize) -> Error {
    on_training_rows(error, &format!("fold {} of the cross-validated search", fold + 1))
}

/// A fold: training rows with the result of fitting, and held-out rows.
pub struct Fold {
    /// Result of fitting on the training rows.
    pub fitted: FittedProblem,
    /// Design of the training rows.
    pub design: Design,
    /// Problem of the held-out rows.
    pub held: Problem,
}

impl Fold {
    /// Builds a fold from a split of a sample. The design of all rows, if given, provides λ and data that folds share.
    pub fn new(
        selector: &ValidSelector,
        sample: &Sample,
        TrainTestSplit { training, held }: &TrainTestSplit,
        whole: Option<&Design>,
    ) -> Result<Self> {
        // Warnings of maps were given when they were fitted on all rows.
        let (fitted, held) = tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::default(), || {
            let fitted = sample.select(training)?.fit()?;
            let held = sample.held_out(held, &fitted)?;
            Ok::<_, Error>((fitted, held))
        })?;
        let design = selector.design_at(&fitted.problem, whole)?;
        let design = match whole {
            Some(whole) if training.len() == design.rows() && training.iter().all(|&row| row < whole.rows()) => {
                let (whole, rows) = (Arc::new(whole.clone()), training.as_slice().into());
                design.with_run(|run| run.lineage = FoldLineage::Subset { whole, rows })
            }
            _ => design,
        };
        Ok(Fold { fitted, design, held })
    }

    /// The held-out rows, with the units of their targets.
    pub fn test_rows(&self) -> FoldTestRows<'_> {
        FoldTestRows::new(&self.held, self.fitted.units.as_deref(), &self.fitted.problem)
    }

    /// Calls `then` with the held-out rows, whose targets and predictions are on the scale `judge`.
    pub fn on_scale<T>(&self, judge: Judge, then: impl FnOnce(&FoldTestRows<'_>) -> Result<T>) -> Result<T> {
        let Some(units) = self.fitted.units.as_ref().filter(|_| judge == Judge::Mapped) else {
            return then(&self.test_rows());
        };
        let mut targets = self.held.targets().as_ref().clone();
        for (mut target, units) in targets.rows_mut().into_iter().zip(units) {
            target.mapv_inplace(|y| units.map.as_ref().map_or(y, |map| map.map(y)));
        }
        let problem = self.held.with_targets(targets)?;
        let units: Vec<TargetUnits> = units.iter().map(|units| units.scale.into()).collect();
        then(&FoldTestRows { problem: &problem, units: Some(&units), ..self.test_rows() })
    }
}

/// Adds a description of the rows to a setting error.
pub fn on_training_rows(error: Error, rows: &str) -> Error {
    match error {
        Error::Setting { field, message, place, from_root } => {
            let message = message.reword(|message| format!("on the training rows of {rows}: {message}"));
            Error::Setting { field, message, place, from_root }
        }
        other => other,
    }
}
