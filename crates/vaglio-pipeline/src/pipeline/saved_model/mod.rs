//! Saved models: plain data.

mod calibration;
mod chain;
#[cfg(feature = "documents")]
mod file;
mod intervals;

pub use calibration::Calibration;
pub use chain::TablePredictions;
use chain::{PredictionChain, needed_maps};
pub use intervals::SavedIntervals;

use super::ColumnType;
use crate::resampling::{Selection, smear_units};
use crate::selector::ValidSelector;
use std::collections::BTreeMap;
use vaglio_core::{
    Cells, ClassOrder, Error, Feature, Loss, MapFormulas, Model, Part, Problem, Registration, Result, Squared, Table,
    Task, ZeroOne, registrations, saved, setting,
};
use vaglio_maps::target_maps::TargetUnits;
use vaglio_search::Path as SearchPath;
use vaglio_tables::{Notation, ReadSpec};

/// Largest distance from 0.5 of the probability at the class border that counts as agreement with labels.
const NEARLY_EVEN: f64 = 0.05;

/// Saved state for prediction: preprocessing, the model, and the names of the columns.
#[saved]
pub struct SavedModel {
    /// Prediction task.
    pub task: Task,
    /// Names of the outputs: targets, or labels of several classes.
    pub outputs: Vec<String>,
    /// Maps and scales of the targets, if any.
    pub target_scales: Option<Vec<TargetUnits>>,
    /// Columns of a data file that predictions read.
    pub sources: Vec<String>,
    /// Selected features, if known.
    #[optional]
    pub selected: Option<SelectedFeatures>,
    /// Column names of the linfa dataset that the model was fitted on, in order.
    #[optional]
    pub columns: Option<Vec<String>>,
    /// Search path of a fit on a linfa dataset.
    #[optional]
    pub path: Option<SearchPath>,
    /// Crates of the parts that made the model.
    #[optional]
    pub parts: Vec<Registration>,
    /// Fitted maps, in order.
    pub maps: Vec<MapFormulas>,
    /// Candidate columns that the model takes, in its order.
    pub inputs: Vec<String>,
    /// The trained model.
    pub model: Model,
    /// Column of time series, if the training rows had one.
    #[optional]
    pub series: Option<String>,
    /// Column that orders the rows of a series.
    #[optional]
    pub time: Option<String>,
    /// Options for reading files to predict.
    #[optional]
    pub reading: Option<SavedReadOptions>,
    /// Columns and loss for comparing predictions with observed targets.
    #[optional]
    pub observed: Option<Observed>,
    /// Class order that breaks ties of the largest prediction.
    #[optional]
    pub class_order: ClassOrder,
    /// Calibration of class probabilities.
    #[optional]
    pub calibration: Option<Calibration>,
    /// Prediction intervals, if requested.
    #[optional]
    pub intervals: Option<SavedIntervals>,
    /// Last known rows of each series, if lagged targets are used.
    #[optional]
    pub history: Option<History>,
}

/// Last training rows of each series, as many as the longest lag of the maps, and test rows after them.
#[saved]
pub struct History {
    /// Columns of the data, including series and time.
    columns: Vec<(String, Cells)>,
}

/// Options for reading files to predict, equal to the options for the training rows.
#[saved]
#[derive(Clone, PartialEq, Eq)]
pub struct SavedReadOptions {
    /// Options for reading text files.
    pub read: ReadSpec,
    /// Types of columns that are not numbers.
    pub types: BTreeMap<String, ColumnType>,
    /// Notations of columns that are not plain; absent if not all cells were read.
    #[optional]
    pub notations: Option<BTreeMap<String, Notation>>,
}

/// Features chosen by a selection.
#[setting]
#[derive(PartialEq, Eq)]
pub struct SelectedFeatures {
    /// Names, in order of entry.
    pub names: Vec<String>,
    /// Indices among the candidates, from 0.
    pub indices: Vec<Feature>,
    /// Number of candidates.
    pub of: usize,
}

/// Columns and loss for comparing predictions with observed targets.
#[setting]
#[derive(PartialEq)]
pub struct Observed {
    /// Columns of the targets.
    pub targets: Vec<String>,
    /// Column of row weights, if the training rows had one.
    pub weights: Option<String>,
    /// Column of groups, if the training rows had one.
    #[optional]
    pub groups: Option<String>,
    /// Forecast horizons of the targets in steps; empty for targets of the row itself.
    #[optional]
    pub horizons: Vec<usize>,
    /// Loss of the selection.
    pub loss: Part<dyn Loss>,
}

impl Observed {
    fn new(targets: &[String], loss: Part<dyn Loss>) -> Self {
        Observed { targets: targets.to_vec(), weights: None, groups: None, horizons: Vec::new(), loss }
    }
}

impl SavedModel {
    /// The model of a selection on a problem that fitted maps made; maps that it does not need are dropped.
    pub fn new(
        selector: &ValidSelector,
        selection: &Selection,
        problem: &Problem,
        maps: Vec<MapFormulas>,
        units: Option<&[TargetUnits]>,
    ) -> Result<Self> {
        let model = selection.predictor().clone();
        let inputs: Vec<String> = model.inputs().iter().map(|&input| problem.names()[input].clone()).collect();
        let indices = selection.path.subset().to_vec();
        let (names, of) = (selection.selected(), selection.names.len());
        let mut saved = SavedModel {
            task: problem.task().clone(),
            outputs: problem.target_names().to_vec(),
            target_scales: smear_units(units, problem, &model)?,
            sources: Vec::new(),
            selected: Some(SelectedFeatures { names, indices, of }),
            columns: None,
            path: None,
            parts: Vec::new(),
            maps: needed_maps(maps, &inputs),
            inputs,
            model,
            series: None,
            time: None,
            reading: None,
            observed: Some(Observed::new(problem.target_names(), selector.loss(problem.task()))),
            class_order: problem.class_order().unwrap_or_default(),
            calibration: None,
            intervals: None,
            history: None,
        };
        saved.sources = saved.chain().sources();
        saved.parts = saved.origins(selector);
        Ok(saved)
    }

    /// Crates of the parts, and of the selection that made the model, each once.
    fn origins(&self, selector: &ValidSelector) -> Vec<Registration> {
        let maps = self.maps.iter().flat_map(|map| ["Map", "FittedMap"].map(|of| (of, &*map.kind)));
        let target_maps = self.target_scales.iter().flatten().filter_map(|units| units.map.as_ref());
        let target_maps = target_maps.map(|map| ("FittedTargetMap", map.kind()));
        let model_kinds = self.model.kinds().into_iter().map(|kind| ("ModelData", kind));
        let ValidSelector { criterion, search, learner, model, .. } = selector;
        let words = [("Learner", learner.kind()), ("Criterion", criterion.kind()), ("SearchStrategy", search.kind())];
        let last = model.as_ref().map(|model| ("Learner", model.learner.kind()));
        let loss = criterion.traits().loss;
        let loss = loss.as_ref().map(|loss| ("Loss", loss.kind()));
        let parts: Vec<(&str, &str)> =
            maps.chain(target_maps).chain(model_kinds).chain(words).chain(last).chain(loss).collect();
        registrations().into_iter().filter(|known| parts.contains(&(&*known.of, &*known.kind))).collect()
    }

    /// Whether the parts fit each other.
    pub(crate) fn fits(&self) -> bool {
        let (chain, outputs) = (self.chain(), self.outputs.len());
        let is_regression = self.task == Task::Regression;
        let is_of_task = match &self.task {
            Task::Regression => outputs > 0,
            Task::Binary { .. } => outputs == 1,
            Task::Multiclass { labels } => outputs == labels.len() && outputs > 0,
        };
        let is_selected = match &self.selected {
            Some(SelectedFeatures { names, indices, of }) => {
                let count = self.model.coefficients().map_or(indices.len(), |own| own.weights.nrows());
                names.len() == indices.len()
                    && count == indices.len()
                    && indices.iter().all(|k| k < of)
                    && self.path.as_ref().is_none_or(|path| path.is_among(*of))
            }
            None => self.path.is_none(),
        };
        let is_observed = self.observed.as_ref().is_none_or(|Observed { targets, horizons, .. }| {
            if is_regression { targets.len() * horizons.len().max(1) == outputs } else { targets.len() == 1 }
        });
        let classes = outputs + usize::from(outputs == 1);
        is_of_task
            && chain.fits()
            && self.sources == chain.sources()
            && is_selected
            && is_observed
            && self.columns.as_ref().is_none_or(|columns| self.sources.iter().all(|source| columns.contains(source)))
            && self.class_order.places().iter().all(|&class| class < classes)
            && self.calibration.as_ref().is_none_or(|own| !is_regression && own.maps.len() == outputs)
            && self.history_table().is_ok()
            && self.intervals.as_ref().is_none_or(|intervals| is_regression && intervals.fits(outputs))
    }

    /// Says how labels differ from the most probable class after calibration; `None` if they agree.
    pub fn labels_beside_probabilities(&self) -> Option<String> {
        let calibration = self.calibration.as_ref()?;
        match &self.task {
            Task::Binary { positive, .. } => {
                let at = calibration.maps.first()?.probability(0.0);
                let message = format!(
                    "`label` is `{positive}` where `proba_{positive}` is above {at:.3}, not 0.5: it follows the sign of the \
                     prediction, and probabilities are calibrated on the classes as they are in training"
                );
                ((at - 0.5).abs() > NEARLY_EVEN).then_some(message)
            }
            Task::Multiclass { .. } if self.parts.iter().any(|part| part.kind == "crrr") => Some(
                "`label` is the class of the largest prediction, in which `crrr` weighs classes alike; probabilities are \
                 calibrated on the classes as they are in training"
                    .into(),
            ),
            _ => None,
        }
    }

    /// Columns and loss to compare predictions with. Models of earlier versions do not name them; the outputs serve
    /// instead.
    ///
    /// # Errors
    /// [`Error::Setting`] if the outputs are classes.
    pub fn observed_targets(&self) -> Result<Observed> {
        if let Some(observed) = &self.observed {
            return Ok(observed.clone());
        }
        let loss = match self.task {
            Task::Regression => Part::<dyn Loss>::from(Squared),
            Task::Binary { .. } => ZeroOne.into(),
            Task::Multiclass { .. } => {
                let message =
                    "the model was saved by an earlier version and does not name its target; run the pipeline again";
                return Err(Error::setting("--evaluate", message));
            }
        };
        Ok(Observed::new(&self.outputs, loss))
    }

    /// Sets the last known rows of each series, with the columns of series and time.
    #[must_use]
    pub fn with_history(self, columns: Vec<(String, Cells)>) -> Self {
        SavedModel { history: Some(History { columns }), ..self }
    }

    /// Last known rows of each series, if lagged targets are used.
    ///
    /// # Errors
    /// [`Error::Shape`] for columns of different lengths.
    pub fn history_table(&self) -> Result<Option<Table>> {
        self.history.as_ref().map(|history| Table::new(history.columns.clone())).transpose()
    }

    /// Maps and model in a row, from columns to predictions.
    pub fn chain(&self) -> PredictionChain<'_> {
        let SavedModel { maps, inputs, model, target_scales, outputs, .. } = self;
        PredictionChain { maps, inputs, model, units: target_scales.as_deref(), outputs: outputs.len() }
    }
}
