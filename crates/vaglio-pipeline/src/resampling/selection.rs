//! A selection: search, choice of size and λ with the record of how it was made, and final fit.

use super::{FoldLosses, LossSums, Sample, final_model, select};
use crate::final_fit::train_entry;
use crate::final_model::FittedFinalModel;
use crate::selector::{SearchResult, ValidSelector};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;
use vaglio_core::{Coefficients, Design, Error, Feature, Loss, Model, Problem, Result, StopSign, join, short};
use vaglio_report::record::{
    Cell, ChosenBy, ComparedSearch, FalseDiscoveries, GainTest, LossTable, SizeSpread, Warning, WarningKind,
};
use vaglio_search::{CrossValidation, Monitor, Path, PathEntry, Rule};

/// Result of a selection. `Display` and `Debug` print one line: the selected features, and the cross-validated loss with
/// the baseline, if known.
#[derive(Clone, Serialize)]
#[non_exhaustive]
pub struct Selection {
    /// Search path: its steps and the best subset of each size.
    pub path: Path,
    /// Choice of size and λ.
    pub chosen: Choice,
    /// Searches that were compared on the same folds, if there are several; the path is the winner's.
    pub searches: Vec<ComparedSearch>,
    /// Warnings about results to distrust.
    pub warnings: Vec<Warning>,
    /// Names of the candidate features: the learner's if it makes features, else the problem's columns.
    pub names: Vec<String>,
    /// The learner trained on the selected subset and all rows.
    pub model: Model,
    /// Final model trained on the selected columns, if the pipeline has a `model` and any were selected.
    #[serde(skip)]
    pub final_model: Option<FittedFinalModel>,
    /// Engine of the criterion.
    pub engine: String,
    /// Approximation of the criterion, if any.
    pub approximation: Option<String>,
    /// The criterion's own coefficients of the result, in order of entry, if it has any.
    pub alpha: Option<Vec<f64>>,
    /// Seconds of the search on all rows, with the criterion's preparation.
    pub search_seconds: f64,
    /// Seconds of the searches in folds that chose the result.
    pub choose_seconds: f64,
    /// Seconds of the final fit.
    pub fit_seconds: f64,
}

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Selection({self})")
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.selected();
        f.write_str(&if names.is_empty() { "no features".to_owned() } else { join(names, ", ") })?;
        if let (Some(cell), Some(how)) = (self.chosen.cell, &self.chosen.folds) {
            write!(f, ": {}-fold error {}", how.folds, short(cell.loss))?;
        }
        self.chosen.empty.map_or(Ok(()), |empty| write!(f, "; without features {}", short(empty.loss)))
    }
}

impl Selection {
    /// Name of a candidate feature.
    pub fn name(&self, feature: Feature) -> String {
        self.names.get(feature).cloned().unwrap_or_default()
    }

    /// Names of the selected features, in order of entry.
    pub fn selected(&self) -> Vec<String> {
        self.path.subset().iter().filter_map(|&feature| self.names.get(feature).cloned()).collect()
    }

    /// The model that predicts: the final model if there is one, else the learner's.
    pub fn predictor(&self) -> &Model {
        self.final_model.as_ref().map_or(&self.model, |fitted| &fitted.model)
    }

    /// Readout of the selected features by the predictor, in order of entry, if it has one.
    pub fn coefficients(&self) -> Option<&Coefficients> {
        self.final_model.as_ref().map_or(self.model.coefficients(), |fitted| fitted.readout.as_ref())
    }
}

impl ValidSelector {
    /// Searches, chooses a size and λ, and trains the learner on the selected subset.
    ///
    /// If the search's `choose` cross-validates, the whole search is repeated on the training rows of folds.
    pub fn select<'m>(&self, problem: &Problem, monitor: impl Into<Monitor<'m>>) -> Result<Selection> {
        let mut monitor: Monitor<'m> = monitor.into();
        self.select_on(problem, &self.design(problem)?, &mut monitor)
    }

    /// Like [`ValidSelector::select`], but on the design of the problem.
    pub(super) fn select_on(&self, problem: &Problem, design: &Design, monitor: &mut Monitor<'_>) -> Result<Selection> {
        let sample = Sample::from_problem(problem.clone(), self.needs_order());
        let chosen_search = select(self, &sample, design, monitor)?;
        self.fit_on(problem, design, chosen_search, monitor)
    }

    /// Trains on the selected subset and all rows of a problem's design. A stop leaves the model without columns.
    pub fn fit_on(
        &self,
        problem: &Problem,
        design: &Design,
        chosen_search: ChosenSearch,
        monitor: &mut Monitor<'_>,
    ) -> Result<Selection> {
        let _entered = tracing::info_span!("fit").entered();
        let (start, end) = (Instant::now(), monitor.stop.at_the_end());
        let ChosenSearch { searched, mut chosen, mut warnings, seconds: choose_seconds, searches } = chosen_search;
        let SearchResult { mut path, engine, approximation, mut alpha, seconds, .. } = searched;
        let trained = end.ends(|| {
            let Some(entry) = path.result() else { return Ok(None) };
            let model = train_entry(&design.with_sign(end.clone()), entry, chosen.lambda)?;
            let Some(last) = &self.model else { return Ok(Some((model, None))) };
            let journal = monitor.journal.under("model");
            let fitted = last.train(self, problem, &entry.subset, &mut monitor.with_journal(journal))?;
            final_model(design, &entry.subset, || Ok(fitted.model.clone()))?;
            Ok(Some((model, Some(fitted))))
        });
        let trained = match trained {
            Err(Error::Stopped(reason)) => {
                (path.chosen, path.stop_reason, alpha) = (None, reason, None);
                chosen = Choice::by_score(&path, Rule::Best);
                warnings.push(Warning::new(WarningKind::Interrupted, UNTRAINED));
                None
            }
            trained => trained?,
        };
        let (model, final_model) = match trained {
            Some(trained) => trained,
            None => {
                let (design, empty) = (design.with_sign(StopSign::default()), PathEntry::new(Vec::new(), path.empty));
                (train_entry(&design, &empty, chosen.lambda)?, None)
            }
        };
        Ok(Selection {
            path,
            chosen,
            searches,
            warnings,
            names: design.problem().names().to_vec(),
            model,
            final_model,
            engine,
            approximation,
            alpha,
            search_seconds: seconds,
            choose_seconds,
            fit_seconds: start.elapsed().as_secs_f64(),
        })
    }
}

/// Chosen size and λ of a selection, with the losses that decided.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// Method of the choice: cross-validation, the score, the user or false discoveries.
    pub by: ChosenBy,
    /// Rule that compared sizes, if any.
    pub rule: Option<Rule>,
    /// Cross-validation settings, if it was used.
    pub folds: Option<CrossValidation>,
    /// Number of features.
    pub size: usize,
    /// λ of the search path, or of the subset if each has its own.
    pub lambda: Option<f64>,
    /// λ of a least-angle path at which its model was taken, if the path is evaluated at several.
    pub penalty: Option<f64>,
    /// Cross-validated loss of the whole procedure at the chosen size and λ.
    pub cell: Option<Cell>,
    /// Cross-validated loss of the empty subset (baseline).
    pub empty: Option<Cell>,
    /// Losses of all sizes and λ.
    pub table: Option<LossTable>,
    /// Index of the chosen λ in the table.
    pub place: usize,
    /// Whether λ belongs to the whole path: there was a path for each λ, or λ was chosen for all columns first.
    pub of_path: bool,
    /// Size at which the paths at that λ were ended early in all folds, if they were.
    #[serde(skip)]
    pub until: Option<usize>,
    /// Variation of the size with the split into folds, if known.
    pub sizes: Option<SizeSpread>,
    /// Models of the first repeat's folds at the chosen size and λ.
    #[serde(skip)]
    pub fold_entries: Vec<PathEntry>,
    /// Losses of the folds at the chosen λ, repeat by repeat, by sizes at and near the chosen one.
    #[serde(skip)]
    pub losses: BTreeMap<usize, Vec<LossSums>>,
    /// Loss of each fold at the choice of the others of its repeat; empty unless the rule takes the lowest loss.
    #[serde(skip)]
    pub(super) by_others: Vec<LossSums>,
    /// Cross-validated loss of the columns that the rule chose but the test of gain rejected.
    pub declined: Option<Cell>,
    /// Test whether columns improve on none, if it was made.
    pub test: Option<GainTest>,
    /// False-discovery results, if they made the choice.
    #[serde(skip)]
    pub confirmed: Option<FalseDiscoveries>,
}

impl Choice {
    /// Choice by the score alone.
    pub(crate) fn by_score(path: &Path, rule: Rule) -> Self {
        let (size, lambda) = path.result().map_or((0, path.empty.lambda), |e| (e.subset.len(), e.score.lambda));
        Choice { rule: Some(rule), size, lambda, ..Choice::default() }
    }

    /// λ of the whole path, unless each subset has its own.
    pub fn path_lambda(&self) -> Option<f64> {
        self.of_path.then_some(self.lambda).flatten()
    }

    /// Confidence interval at `level` for the loss on new rows, selection included, from the losses of the folds.
    /// `loss` is the loss that made the choice. Returns `None` without cross-validation.
    pub fn interval(&self, loss: &dyn Loss, level: f64) -> Option<[f64; 2]> {
        let bounded = self.losses_at(self.size)?.mean_with_interval(loss, None, self.optimism(loss), level);
        bounded.map(|(_, interval)| interval)
    }

    /// Losses of the folds at a size, if they are known.
    pub fn losses_at(&self, size: usize) -> Option<FoldLosses<'_>> {
        let repeats = self.folds.as_ref()?.repeats;
        self.losses.get(&size).map(|losses| FoldLosses::new(losses, repeats))
    }

    /// Optimism of choosing the lowest of many losses. It is the loss of each fold at the choice of the others, minus
    /// the loss at the chosen size.
    pub fn optimism(&self, loss: &dyn Loss) -> f64 {
        let gained = self.losses_at(self.size).filter(|_| self.size > 0).and_then(|own| {
            let by_others = FoldLosses::new(&self.by_others, own.repeats).mean(loss).ok()?;
            Some(by_others - own.mean(loss).ok()?)
        });
        gained.unwrap_or(0.0)
    }
}

/// Warning for a model without columns although some were selected.
const UNTRAINED: &str = "the run was stopped while the model of the chosen columns was trained, so the model has no columns; \
                         `path` holds the search, and `--resume` goes on from there";

/// A search with its chosen result.
pub struct ChosenSearch {
    /// Result of the search.
    pub searched: SearchResult,
    /// Choice of size and λ.
    pub chosen: Choice,
    pub warnings: Vec<Warning>,
    /// Seconds of the searches in folds.
    pub seconds: f64,
    /// Searches that were compared on the same folds, if there are several.
    pub searches: Vec<ComparedSearch>,
}

impl ChosenSearch {
    /// Choice of a single search by its score alone.
    pub fn by_score(searched: SearchResult, warnings: Vec<Warning>) -> Self {
        let chosen = Choice::by_score(&searched.path, Rule::Best);
        ChosenSearch::new(searched, chosen, warnings)
    }

    /// Choice of a single search, with no seconds spent in folds.
    pub fn new(searched: SearchResult, chosen: Choice, warnings: Vec<Warning>) -> Self {
        ChosenSearch { searched, chosen, warnings, seconds: 0.0, searches: Vec::new() }
    }
}
