//! The whole procedure on some rows: maps, tuning, search, choice of size and λ, final fit.

use super::{
    ChosenSearch, EVERY, FittedProblem, FoldTestRows, LossSums, PooledPredictions, RepeatedSplits, Sample, Selection,
    Splitter, TargetsAndPredictions, TrainTestSplit, on_training_rows, select, smear_units,
};
use crate::final_fit::train;
use crate::jobs::{Jobs, StageMonitor, SubTask};
use crate::selector::ValidSelector;
use crate::tune;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use vaglio_core::shuffle::stream;
use vaglio_core::{Design, Error, Loss, MapFormulas, Model, Problem, Result, StopSign, join};
use vaglio_kernels::tolerance::SCORE_ROUNDING;
use vaglio_maps::target_maps::TargetUnits;
use vaglio_report::record::{Cell, ComparedSearch, OuterFolds, TunedSettings};
use vaglio_search::{Monitor, Search};

const OUTER: u64 = 2;

/// A selector fitted on the rows of a sample.
pub struct SampleFit {
    /// Result of fitting maps on its rows.
    pub fitted: FittedProblem,
    /// Design of its rows.
    pub design: Design,
    /// Result of the selection.
    pub selection: Selection,
}

impl ValidSelector {
    /// Runs the whole procedure on a sample, with the observer and journal of `subtask`. Returns `None` if stopped.
    pub fn fit_sample(&self, sample: &Sample, mut subtask: SubTask<'_, '_>) -> Result<Option<SampleFit>> {
        let (fitted, watcher) = (sample.fit()?, subtask.watcher);
        let monitor = &mut subtask.monitor();
        let found = self.tuned_search(sample, &fitted.problem, None, monitor)?;
        let TunedSearch { selector, design, chosen_search, .. } = found;
        if watcher.check_stop().is_some() {
            return Ok(None);
        }
        let selection = selector.fit_on(&fitted.problem, &design, chosen_search, monitor)?;
        Ok(Some(SampleFit { fitted, design, selection }))
    }

    /// Tunes, searches, and chooses size and λ on the problem of a sample. `known` is the design before tuning, if
    /// available.
    pub fn tuned_search(
        &self,
        sample: &Sample,
        problem: &Problem,
        known: Option<Design>,
        monitor: &mut Monitor<'_>,
    ) -> Result<TunedSearch> {
        let (selector, tuned) = tune::tune_learner(self, problem, monitor)?;
        let design = match known.filter(|_| tuned.is_none()) {
            Some(design) => design,
            None => selector.design(problem)?.with_sign(StopSign::default()),
        };
        let chosen_search = select(&selector, sample, &design, monitor)?;
        let first = TunedSearch { selector, design, chosen_search, tuned };
        best_search(first, self.tune.as_ref().map_or(&[], |tune| &tune.search), sample, problem, monitor)
    }
}

impl Sample {
    /// Splitter of the rows into outer folds.
    pub fn outer_splitter(&self, selector: &ValidSelector, how: &OuterFolds) -> Splitter {
        let within = usize::from(selector.cross_validation().is_some());
        self.splitter(selector, how.splits.as_ref(), how.folds, within)
    }

    /// Train/test splits of all repeats of outer folds.
    ///
    /// # Errors
    /// [`Error::Setting`] for invalid folds, with the path inside these settings.
    pub fn outer_splits(&self, selector: &ValidSelector, how: &OuterFolds) -> Result<RepeatedSplits<'_>> {
        let seeds = (0..how.repeats).map(|repeat| stream(selector.seed, OUTER, repeat as u64));
        self.outer_splitter(selector, how).repeats(self, seeds)
    }
}

/// Result of one outer fold: the selection on its training rows, and its held-out predictions.
#[derive(Serialize, Deserialize)]
pub struct OuterFoldFit {
    /// Index of the repeat.
    pub repeat: usize,
    /// Index of the fold in its repeat.
    pub fold: usize,
    /// Names of the selected features, in order of entry.
    pub selected: Vec<String>,
    /// Score of the selected subset.
    #[serde(with = "vaglio_core::exact_float")]
    pub score: f64,
    /// Cross-validated loss of the selected subset, if any.
    pub cross_validated: Option<Cell>,
    /// Maps fitted on the training rows.
    pub maps: Vec<MapFormulas>,
    /// Maps and scales of the targets, with the residuals of the model, if any.
    pub target_units: Option<Vec<TargetUnits>>,
    /// Names of the columns that the maps make.
    pub columns: Vec<String>,
    /// The model.
    pub model: Model,
    /// Held-out rows, as indices in the sample.
    pub rows: Vec<usize>,
    /// Held-out predictions.
    pub held: PooledPredictions,
    /// Predictions of the empty model in the user's units, outputs × rows.
    pub empty: Array2<f64>,
}

impl OuterFoldFit {
    /// Whether the fold holds out these rows and all parts have equally many; a journal does not guarantee it. Rows of
    /// weight 0 are dropped.
    fn holds_out(&self, rows: &[usize]) -> bool {
        let PooledPredictions { targets, predictions, weights, units, clusters, .. } = &self.held;
        let (outputs, count) = targets.dim();
        let shape = (outputs, count.min(rows.len()));
        self.rows == rows
            && [targets, predictions, &self.empty].iter().all(|matrix| matrix.dim() == shape)
            && [weights.len(), clusters.len(), units.as_ref().map_or(count, Vec::len)] == [count; 3]
    }

    /// Losses of the predictions.
    pub fn loss_sums(&self, loss: &dyn Loss) -> LossSums {
        LossSums::new(loss, self.held.targets_and_predictions(), EVERY)
    }

    /// Losses of the empty model.
    pub fn empty_loss_sums(&self, loss: &dyn Loss) -> LossSums {
        LossSums::new(
            loss,
            TargetsAndPredictions { predictions: self.empty.view(), ..self.held.targets_and_predictions() },
            EVERY,
        )
    }
}

/// Runs the procedure on the training rows of outer folds; `None` if stopped, or if another process works on some.
///
/// # Errors
/// [`Error::Setting`] for invalid folds; errors of the procedure, with the fold.
pub fn outer(
    selector: &ValidSelector,
    sample: &Sample,
    how: &OuterFolds,
    watcher: &StageMonitor<'_>,
) -> Result<Option<Vec<OuterFoldFit>>> {
    let splits = sample.outer_splits(selector, how).map_err(|error| error.under("evaluate.nested"))?;
    let jobs = Jobs::new(Jobs::NESTED, splits.count());
    let number = |job: usize| (job / splits.folds, job % splits.folds);
    let done = jobs.run("nested", &selector.slots, watcher, |job, subtask| {
        let (repeat, fold) = number(job);
        let _outer = tracing::debug_span!("nested", repeat = repeat + 1, fold = fold + 1).entered();
        let outer = outer_fold(selector, sample, &splits.split(job), subtask);
        let outer = outer.map_err(|error| on_training_rows(error, &format!("outer fold {}", fold + 1)))?;
        Ok(outer.map(|outer| OuterFoldFit { repeat, fold, ..outer }))
    })?;
    for (job, outer) in done.iter().flatten().enumerate() {
        let (repeat, fold) = number(job);
        let held = splits.split(job).held;
        let is_placed = (outer.repeat, outer.fold) == (repeat, fold);
        if !is_placed || !outer.holds_out(&held) {
            let key = jobs.key(job);
            let message = format!("`{key}` of the journal is not of this fold's rows; run without --resume");
            return Err(Error::Shape(message));
        }
    }
    Ok(done)
}

/// Runs the procedure on the training rows of a split, and predicts the others; the result is numbered as fold 0.
pub fn outer_fold(
    selector: &ValidSelector,
    sample: &Sample,
    TrainTestSplit { training, held: rows }: &TrainTestSplit,
    subtask: SubTask<'_, '_>,
) -> Result<Option<OuterFoldFit>> {
    let Some(fit) = selector.fit_sample(&sample.select(training)?, subtask)? else { return Ok(None) };
    let SampleFit { fitted, design, selection } = fit;
    let problem = sample.held_out(rows, &fitted)?;
    let test = FoldTestRows::new(&problem, fitted.units.as_deref(), &fitted.problem);
    let empty = test.predict(&train(&design, &[], selection.path.empty.lambda)?)?;
    let held = test.with_predictions(selection.predictor(), PooledPredictions::from_rows)?;
    let target_units = smear_units(fitted.units.as_deref(), &fitted.problem, selection.predictor())?;
    Ok(Some(OuterFoldFit {
        repeat: 0,
        fold: 0,
        selected: selection.selected(),
        score: selection.path.score().loss,
        cross_validated: selection.chosen.cell,
        maps: fitted.maps,
        target_units,
        columns: fitted.problem.names().to_vec(),
        model: selection.predictor().clone(),
        rows: rows.clone(),
        held,
        empty,
    }))
}

/// A search on all rows with its choice, after tuning.
pub struct TunedSearch {
    /// The selector after tuning.
    pub selector: ValidSelector,
    /// Design of all rows.
    pub design: Design,
    /// The search with its choice.
    pub chosen_search: ChosenSearch,
    /// Record of the tuned settings, if there are any.
    pub tuned: Option<TunedSettings>,
}

/// Cross-validates the search of a selector and others. Takes the first unless another loses less by more than one
/// standard error of their paired difference. Every search must be cross-validated.
fn best_search(
    first: TunedSearch,
    others: &[Search],
    sample: &Sample,
    problem: &Problem,
    monitor: &mut Monitor<'_>,
) -> Result<TunedSearch> {
    let loss = first.selector.loss(sample.task());
    let (mut all, mut stopped) = (vec![first], None);
    for (place, search) in others.iter().enumerate() {
        let TunedSearch { selector: own, design, chosen_search, .. } = &all[0];
        if chosen_search.chosen.cell.is_none() || chosen_search.searched.path.stop_reason.is_partial() {
            break;
        }
        if *search == own.search {
            continue;
        }
        let under = |error: Error| error.under(&format!("tune.search[{place}]"));
        let selector = own.with_search(search.clone());
        let design = selector.design_reusing(&own.search, design, problem).map_err(under)?;
        let journal = monitor.journal.under(format_args!("tune/search/{place}"));
        let other = select(&selector, sample, &design, &mut monitor.with_journal(journal))?;
        if other.searched.path.stop_reason.is_partial() {
            stopped = Some(other);
            break;
        }
        let folds = |of: &ChosenSearch| of.chosen.folds.clone().map(|how| (how.folds, how.repeats, how.splits));
        if folds(&other) != folds(chosen_search) {
            let message = "searches are compared on the same folds; give all of them the same `choose`";
            return Err(under(Error::setting("choose", message)));
        }
        all.push(TunedSearch { selector, design, chosen_search: other, tuned: None });
    }
    let won = winner(&*loss, &all);
    let records = all.iter().enumerate().map(|(place, one)| one.record(place == won));
    let searches = if all.len() > 1 { records.collect() } else { Vec::new() };
    let tuned = all[0].tuned.take();
    let mut best = TunedSearch { tuned, ..all.swap_remove(won) };
    best.chosen_search.seconds +=
        all.iter().map(|other| other.chosen_search.seconds + other.chosen_search.searched.seconds).sum::<f64>();
    best.chosen_search.searches = searches;
    if let Some(other) = stopped {
        best.chosen_search.searched.path.stop_reason = other.searched.path.stop_reason;
        best.chosen_search.warnings.extend(other.warnings);
    }
    Ok(best)
}

impl TunedSearch {
    /// Record of the search in a comparison.
    fn record(&self, won: bool) -> ComparedSearch {
        let (search, chosen) = (&self.selector.search, &self.chosen_search.chosen);
        let search = match search.stages() {
            [] => search.kind().to_owned(),
            stages => join(stages.iter().map(Search::kind), ", "),
        };
        ComparedSearch {
            search,
            won,
            size: chosen.size,
            lambda: chosen.lambda,
            loss: chosen.cell.map_or(f64::INFINITY, |cell| cell.loss),
            standard_error: chosen.cell.and_then(|cell| cell.standard_error),
        }
    }
}

/// Index of the search to take.
fn winner(loss: &dyn Loss, all: &[TunedSearch]) -> usize {
    let value = |place: usize| all[place].chosen_search.chosen.cell.map_or(f64::INFINITY, |cell| cell.loss);
    let losses = |place: usize| {
        let chosen = &all[place].chosen_search.chosen;
        chosen.losses_at(chosen.size)
    };
    let mut winner = 0;
    for place in 1..all.len() {
        let error = losses(0).zip(losses(place)).and_then(|(a, b)| a.difference(loss, &b));
        let least = error.unwrap_or(0.0).max(SCORE_ROUNDING * value(place).abs());
        if value(0) - value(place) > least && value(place) < value(winner) {
            winner = place;
        }
    }
    winner
}
