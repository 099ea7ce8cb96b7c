//! Training of a final model on the selected columns.
//!
//! The table is restricted to the selected columns, in table order. The learner is trained on them like a pipeline of
//! these columns with `search: all`. Its settings are tuned, and its own criterion chooses λ, on the same rows.

use super::{FoldTestRows, PathModels, TargetsAndPredictions, predictions_along};
use crate::final_fit::{train, train_entry};
use crate::final_model::{FinalModel, FittedFinalModel};
use crate::jobs::StageMonitor;
use crate::selector::ValidSelector;
use crate::tune;
use ndarray::{Array2, Axis};
use std::sync::Arc;
use vaglio_core::{
    ByKey, Coefficients, Columns, Design, Error, Expression, Feature, Model, ModelData, Problem, Result, Round,
    StopSign, feature_map, saved,
};
use vaglio_report::record::FinalModelRecord;
use vaglio_search::{All, Choose, Monitor, Path, Search, Silent};
use vaglio_validate::{HeldOutPredictions, Loo};

impl FinalModel {
    /// Checks the settings that need no data.
    pub(crate) fn check(&self) -> Result<()> {
        self.learner.check_settings().map_err(|error| self.in_learner(error))?;
        if let Some(criterion) = &self.criterion {
            criterion.check_settings().map_err(|error| error.under("criterion"))?;
            if criterion.traits().loss.is_none() {
                let message = format!("`{}` has no loss, by which lambda could be taken", criterion.kind());
                return Err(Error::setting("criterion", message));
            }
        }
        let Some(tune) = &self.tune else { return Ok(()) };
        if !tune.search.is_empty() {
            return Err(Error::setting("tune.search", "a model takes the chosen columns and has no search"));
        }
        tune::check(tune, &*self.learner).map_err(|error| error.under("tune"))
    }

    /// A selection of all given columns, by the criterion that chooses λ.
    fn selector(&self, selector: &ValidSelector) -> ValidSelector {
        let own = || {
            if selector.criterion.traits().loss.is_some() {
                Arc::clone(&selector.criterion)
            } else {
                Arc::new(Loo::default())
            }
        };
        let search: Search = Search::new(All {}).choose(Choose::Last);
        let (learner, criterion) = (Arc::clone(&self.learner), self.criterion.clone().unwrap_or_else(own));
        let (seed, tune, slots) = (selector.seed, self.tune.clone(), selector.slots.clone());
        ValidSelector { criterion, search, learner, seed, tune, model: None, slots }
    }

    /// Trains on all rows of a problem and its columns `subset`, which is not empty.
    pub fn train(
        &self,
        selector: &ValidSelector,
        problem: &Problem,
        subset: &[Feature],
        monitor: &mut Monitor<'_>,
    ) -> Result<FittedFinalModel> {
        let _entered = tracing::info_span!("model", columns = subset.len()).entered();
        let model_error = |error: Error| error.under("model");
        let mut sorted = subset.to_vec();
        sorted.sort_unstable();
        let cut = problem.select_columns(&sorted)?;
        let tuned = tune::tune_learner(&self.selector(selector), &cut, monitor);
        let (own, tuned) = tuned.map_err(model_error)?;
        let design = own.design(&cut).map_err(model_error)?;
        let (trained, score) = match own.learner.readout().map_err(model_error)? {
            // A learner without λ needs no score.
            None => (design.train(&(0..sorted.len()).collect::<Vec<_>>(), None).map_err(model_error)?, None),
            Some(_) => {
                let selection = own.select_on(&cut, &design, monitor).map_err(model_error)?;
                let score = selection.path.result().map(|entry| entry.score.loss);
                (selection.model, score)
            }
        };
        let score = score.or_else(|| tuned.as_ref().map(|tuned| tuned.score));
        let found = feature_map(&design).map(|map| map.found().to_json()).transpose()?.unwrap_or_default();
        let row = |feature: &Feature| trained.inputs().iter().position(|&input| sorted[input] == *feature);
        let rows: Option<Vec<usize>> = subset.iter().map(row).collect();
        let readout = trained.coefficients().filter(|_| trained.takes_rows_alone()).zip(rows);
        Ok(FittedFinalModel {
            readout: readout.map(|(readout, rows)| Coefficients {
                weights: readout.weights.select(Axis(0), &rows),
                intercept: readout.intercept.clone(),
            }),
            record: FinalModelRecord {
                kind: own.learner.kind().into(),
                settings: serde_json::to_value(&own.learner)?,
                criterion: score.map(|_| own.criterion.kind().into()),
                lambda: trained.lambda(),
                score,
                tuned,
            },
            model: on_all_columns(trained, &sorted)?,
            found,
        })
    }

    /// Trains like [`FinalModel::train`], without a monitor. Returns the model.
    fn model(&self, selector: &ValidSelector, problem: &Problem, subset: &[Feature], stop: &StopSign) -> Result<Model> {
        let mut silent = Silent;
        let monitor = &mut Monitor { stop: stop.clone(), ..Monitor::from(&mut silent) };
        Ok(self.train(selector, problem, subset, monitor)?.model)
    }

    /// Out-of-fold predictions for the rows of a round, by models of the columns `subset`. Returns `None` if:
    /// predictions are averaged over the rows of a series; the work was stopped. Cost: one training per fold.
    pub(crate) fn predicted_held_out(
        &self,
        selector: &ValidSelector,
        problem: &Problem,
        round: &Round,
        subset: &[Feature],
        watcher: &StageMonitor<'_>,
    ) -> Result<Option<HeldOutPredictions>> {
        let rows: Vec<usize> = (0..problem.rows()).filter(|&row| round.fold_of_rows()[row].is_some()).collect();
        let mut predictions = Array2::zeros((problem.targets().nrows(), rows.len()));
        for fold in 0..round.count() {
            let model = self.model(selector, &problem.select_rows(&round.training(fold)), subset, &watcher.stop)?;
            let fold_rows: Vec<usize> = round.held_out(fold).collect();
            let held = problem.select_rows(&fold_rows);
            let series = held.series();
            if watcher.check_stop().is_some() || model.counts(held.rows(), series).is_some() {
                return Ok(None);
            }
            let found = model.predict(&held.columns().select(model.inputs()), series)?;
            for (row, column) in fold_rows.iter().zip(found.columns()) {
                if let Ok(at) = rows.binary_search(row) {
                    predictions.column_mut(at).assign(&column);
                }
            }
        }
        Ok(Some(HeldOutPredictions { rows, predictions }))
    }
}

/// Final model of the columns `subset`: from the cache of the design, or else made by `train`.
pub fn final_model(design: &Design, subset: &[Feature], train: impl FnOnce() -> Result<Model>) -> Result<Model> {
    let mut subset = subset.to_vec();
    subset.sort_unstable();
    design.session::<ByKey<Vec<Feature>, Model>>().get_or_try_make(subset, train)
}

impl ValidSelector {
    /// Calls `each` with the predictions of the model of each entry of a path, by its index. The models are trained on
    /// `design`, whose stop sign ends the calls early.
    pub fn path_predictions(
        &self,
        design: &Design,
        path: &Path,
        held: &FoldTestRows<'_>,
        each: impl FnMut(usize, TargetsAndPredictions<'_>) -> Result<()>,
    ) -> Result<()> {
        let models = PathModels { design, entries: &path.entries, reduced: None };
        self.predictions(models, design.problem().sign(), held, each)
    }

    /// Calls `each` with the predictions of every subset's model. The models are of the learner, or of the final model,
    /// which is trained on the training rows of `held`. A stop sign ends the calls early.
    pub(super) fn predictions(
        &self,
        models: PathModels<'_>,
        stop: &StopSign,
        held: &FoldTestRows<'_>,
        mut each: impl FnMut(usize, TargetsAndPredictions<'_>) -> Result<()>,
    ) -> Result<()> {
        let (design, last) = (models.design, self.model.as_ref());
        if last.is_none() && design.readout().is_some() {
            return predictions_along(models, held, each);
        }
        for (index, entry) in models.entries.iter().enumerate() {
            let model = match last {
                _ if entry.subset.is_empty() => train(design, &[], entry.score.lambda)?,
                None => train_entry(design, entry, None)?,
                Some(_) if stop.reason().is_some() => return Ok(()),
                Some(last) => {
                    final_model(design, &entry.subset, || last.model(self, held.training, &entry.subset, stop))?
                }
            };
            held.with_predictions(&model, |rows| each(index, rows))??;
        }
        Ok(())
    }
}

/// A model trained on some columns of a problem, with the indices of its inputs.
#[saved(ModelData, "on_columns")]
struct SubsetModel {
    /// Indices of the model's inputs in the problem.
    inputs: Vec<Feature>,
    model: Model,
}

/// Converts a model trained on the columns `among` into a model of the problem with all columns.
fn on_all_columns(model: Model, among: &[Feature]) -> Result<Model> {
    let place = |&input: &Feature| among.get(input).copied();
    let inputs: Option<Vec<Feature>> = model.inputs().iter().map(place).collect();
    let inputs = inputs.ok_or_else(|| Error::Shape(format!("a model of {} columns reads others", among.len())))?;
    Model::new(SubsetModel { inputs, model })
}

impl ModelData for SubsetModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn counts(&self, rows: usize, series: Option<&[u32]>) -> Option<Vec<f64>> {
        self.model.counts(rows, series)
    }

    fn held(&self) -> Option<&Model> {
        Some(&self.model)
    }

    fn check(&self) -> Result<()> {
        let (inputs, takes) = (self.inputs.len(), self.model.inputs().len());
        if inputs == takes { Ok(()) } else { Err(Error::Shape(format!("{inputs} columns for a model of {takes}"))) }
    }

    fn predict(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Array2<f64>> {
        self.model.predict(inputs, series)
    }

    fn expressions(&self, inputs: &[Expression]) -> Option<Vec<Expression>> {
        self.model.expressions(inputs)
    }
}
