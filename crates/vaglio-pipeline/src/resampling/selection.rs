//! A selection: search, choice of size and λ, and final fit.

use super::choice::select;
use super::sample::Sample;
use super::size_choice::{Choice, ChosenSearch};
use crate::final_model::FittedFinalModel;
use crate::selector::ValidSelector;
use crate::selector::resumable_search::SearchResult;
use serde::Serialize;
use std::borrow::Cow;
use std::time::Instant;
use vaglio_core::{Coefficients, Design, Feature, Model, Monitor, Path, Problem, Result};
use vaglio_report::record::{ComparedSearch, Warning};

/// Result of a selection.
#[derive(Debug, Clone, Serialize)]
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
    pub engine: Cow<'static, str>,
    /// Approximation of the criterion, if any.
    pub approximation: Option<Cow<'static, str>>,
    /// The criterion's own coefficients of the result, in order of entry, if it has any.
    pub alpha: Option<Vec<f64>>,
    /// Seconds of the search, with the learner's features and the criterion's preparation.
    pub search_seconds: f64,
    /// Seconds of the searches in folds that chose the result.
    pub choose_seconds: f64,
    /// Seconds of the final fit.
    pub fit_seconds: f64,
}

impl Selection {
    /// Name of a candidate feature.
    pub fn name(&self, feature: Feature) -> String {
        self.names.get(feature).cloned().unwrap_or_default()
    }

    /// Names of the selected features, in order of entry.
    pub fn selected(&self) -> Vec<String> {
        let subset = self.path.result().map_or(&[][..], |entry| &entry.subset);
        subset.iter().filter_map(|&feature| self.names.get(feature).cloned()).collect()
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
    ///
    /// # Errors
    /// Errors of [`ValidSelector::design`], the criterion and the final fit.
    pub fn select<'m>(&self, problem: &Problem, monitor: impl Into<Monitor<'m>>) -> Result<Selection> {
        let mut monitor: Monitor<'m> = monitor.into();
        let sample = Sample::plain(problem.clone(), self.needs_order());
        let start = Instant::now();
        let design = self.design(problem)?;
        let picked = select(self, &sample, &design, start, &mut monitor)?;
        self.fit_on(problem, &design, picked, &mut monitor)
    }

    /// Trains on the selected subset and all rows of a problem's design.
    pub fn fit_on(
        &self,
        problem: &Problem,
        design: &Design,
        mut picked: ChosenSearch,
        monitor: &mut Monitor<'_>,
    ) -> Result<Selection> {
        let start = Instant::now();
        let stop = monitor.stop.clone();
        let (model, final_model) = picked.train(design, &stop, |subset| {
            let Some(last) = &self.model else { return Ok(None) };
            let journal = monitor.journal.under("model");
            last.train(self, problem, subset, &mut monitor.with_journal(journal)).map(Some)
        })?;
        let ChosenSearch { searched, chosen, warnings, seconds: choose_seconds, searches } = picked;
        let SearchResult { path, engine, approximation, alpha, seconds, .. } = searched;
        let fit_seconds = start.elapsed().as_secs_f64();
        let names = design.names().to_vec();
        Ok(Selection {
            path,
            chosen,
            searches,
            warnings,
            names,
            model,
            final_model: final_model.flatten(),
            engine,
            approximation,
            alpha,
            search_seconds: seconds,
            choose_seconds,
            fit_seconds,
        })
    }
}
