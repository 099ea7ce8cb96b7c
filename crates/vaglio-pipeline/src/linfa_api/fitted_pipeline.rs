//! A fitted pipeline.

use super::targets::{TargetValue, classes_for};
use crate::maps::{original_weights, source_columns};
use crate::pipeline::SavedModel;
use crate::resampling::Selection;
use linfa::dataset::TargetDim;
use ndarray::Array2;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use vaglio_core::{Cells, Error, Feature, MapFormulas, OutputUnit, Result, Table, short};
use vaglio_search::{Path, PathEntry};

/// A fitted pipeline, or a fitted selector: a pipeline without maps. It predicts by column position (linfa's
/// [`Predict`](linfa::traits::Predict)), reduces data to the selected features
/// ([`Transformer`](linfa::traits::Transformer)), and can be saved.
///
/// `E` is the type of a target; `I` is `Ix1` for one target column, `Ix2` for several. All computations use double
/// precision, whatever the type of the records. Clones share the fitted state.
///
/// [`save`](FittedPipeline::save) writes the same `model.json` as `vaglio run`, and [`load`](FittedPipeline::load)
/// reads either. Serde writes the part of that file called `model`.
///
/// # Example
/// ```
/// use linfa::prelude::*;
/// use ndarray::{Ix1, array};
/// use vaglio::{FittedPipeline, Pipeline, criteria::Loo, learners::Rls, maps::Standardize, search::Greedy};
///
/// let x = array![[1.0, 0.3], [2.0, -0.1], [3.0, 0.2], [4.0, 0.0], [5.0, -0.4]];
/// let dataset = Dataset::new(x, array![1.1, 2.0, 2.9, 4.2, 5.0]).with_feature_names(vec!["dose", "noise"]);
/// let pipeline = Pipeline::new(Loo::default(), Greedy::new(1), Rls::default()).preprocess(Standardize::default());
/// let fitted = pipeline.fit(&dataset)?;
///
/// let file = std::env::temp_dir().join(format!("vaglio-{}.json", std::process::id()));
/// fitted.save(&file)?;
/// let loaded: FittedPipeline<f64, Ix1> = FittedPipeline::load(&file)?;
/// assert_eq!(loaded.selected(), ["dose"]);
/// assert_eq!(loaded.predict(&dataset), fitted.predict(&dataset));
/// # std::fs::remove_file(file).ok();
/// # Ok::<(), vaglio::FitError>(())
/// ```
#[derive(Clone)]
pub struct FittedPipeline<E, I> {
    pub(super) saved: Arc<SavedModel>,
    /// Classes in the order of their probabilities; empty for numbers.
    pub(super) classes: Vec<E>,
    selection: Option<Arc<Selection>>,
    marker: PhantomData<fn() -> I>,
}

impl<E, I> fmt::Debug for FittedPipeline<E, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FittedPipeline");
        shown.field("selected", &self.selected()).field("lambda", &self.lambda()).finish_non_exhaustive()
    }
}

/// Readers do not change it, so that a panic leaves it consistent.
impl<E: RefUnwindSafe, I> RefUnwindSafe for FittedPipeline<E, I> {}

/// Readers do not change it, so that a panic leaves it consistent.
impl<E: UnwindSafe + RefUnwindSafe, I> UnwindSafe for FittedPipeline<E, I> {}

impl<E, I> FittedPipeline<E, I> {
    pub(super) fn new(saved: SavedModel, classes: Vec<E>, selection: Selection) -> Self {
        let (saved, selection) = (Arc::new(saved), Some(Arc::new(selection)));
        FittedPipeline { saved, classes, selection, marker: PhantomData }
    }

    /// Names of the selected features, in order of entry. Features are columns made by the maps, or features that the
    /// learner makes of these.
    ///
    /// If the learner makes features and its model does not name them, the columns that it reads are listed.
    pub fn selected(&self) -> Vec<&str> {
        let selected = self.saved.selected.as_ref().map_or(&self.saved.inputs, |selected| &selected.names);
        selected.iter().map(String::as_str).collect()
    }

    /// Indices of the selected features among the candidates, in order of entry, from 0.
    pub fn indices(&self) -> &[Feature] {
        self.saved.selected.as_ref().map_or(self.saved.model.inputs(), |selected| &selected.indices)
    }

    /// Whether each candidate feature is selected; `None` if the model does not record the number of candidates.
    pub fn support(&self) -> Option<Vec<bool>> {
        let selected = self.saved.selected.as_ref()?;
        let mut support = vec![false; selected.of];
        selected.indices.iter().for_each(|&index| support[index] = true);
        Some(support)
    }

    /// Readout weights, selected features × outputs, in the order of [`selected`](FittedPipeline::selected), or `None`
    /// for a learner without a readout. They are on the scale of the mapped features and targets;
    /// [`original_scale`](FittedPipeline::original_scale) converts them to the columns of the data.
    ///
    /// Outputs are target columns. Two classes have one output, ±1; more have one output each, in the order of
    /// [`classes`](FittedPipeline::classes).
    pub fn coefficients(&self) -> Option<&Array2<f64>> {
        self.saved.model.coefficients().map(|coefficients| &coefficients.weights)
    }

    /// Intercept of each output, on the scale of [`coefficients`](FittedPipeline::coefficients); 0 if there is none.
    pub fn intercept(&self) -> Option<&[f64]> {
        self.saved.model.coefficients().map(|coefficients| &coefficients.intercept[..])
    }

    /// Penalty λ of the fit, if the model has a readout; with one λ per output, the first.
    pub fn lambda(&self) -> Option<f64> {
        self.saved.model.lambda()
    }

    /// Steps of the search and the best subset of each size, with scores; features by index. `None` for a model saved
    /// by the program, whose steps are in its `selection.json`.
    pub fn path(&self) -> Option<&Path> {
        self.saved.path.as_ref()
    }

    /// Best subset of each size reached, in increasing size, with its score; empty for a model saved by the program.
    pub fn entries(&self) -> &[PathEntry] {
        self.path().map_or(&[], |path| &path.entries)
    }

    /// Details of the selection: choice of size, warnings, engine and seconds. `None` for a loaded model.
    pub fn selection(&self) -> Option<&Selection> {
        self.selection.as_deref()
    }

    /// Classes in the order of their probabilities; empty for numbers.
    pub fn classes(&self) -> &[E] {
        &self.classes
    }

    /// The saved model, which predicts.
    pub fn saved(&self) -> &SavedModel {
        &self.saved
    }

    /// The saved model, without the details of the selection.
    pub fn into_saved(self) -> Arc<SavedModel> {
        self.saved
    }

    /// Writes a model file for `vaglio predict` and [`FittedPipeline::load`], atomically.
    ///
    /// A dataset does not name its weight column, so the file does not either: error figures of `vaglio predict` give
    /// all rows equal weight.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Unwritable`].
    #[cfg(feature = "documents")]
    pub fn save(&self, path: impl AsRef<std::path::Path>) -> Result<()> {
        self.saved.write(path.as_ref())
    }
}

impl<E: TargetValue, I: TargetDim> FittedPipeline<E, I> {
    pub(super) fn from_saved(saved: SavedModel) -> Result<Self, String> {
        if saved.history.is_some() {
            return Err("it reads earlier targets, which a dataset does not tell; use `SavedModel`".into());
        }
        let classes = classes_for::<E, I>(&saved.task, saved.outputs.len())?;
        Ok(FittedPipeline { saved: Arc::new(saved), classes, selection: None, marker: PhantomData })
    }

    /// Reads a model file of [`FittedPipeline::save`] or `vaglio run`. Predictions are bit for bit the same.
    ///
    /// # Errors
    /// * [`vaglio_core::Error::Unreadable`] if there is no such file.
    /// * [`vaglio_core::Error::ModelRefused`] if the file was changed, is truncated, has another version, or has
    ///   targets of another type.
    #[cfg(feature = "documents")]
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Self> {
        let path = path.as_ref();
        let fitted = FittedPipeline::from_saved(SavedModel::read(path)?);
        fitted.map_err(|message| Error::model_refused(path, message))
    }
}

impl<E, I> Serialize for FittedPipeline<E, I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.saved.serialize(serializer)
    }
}

impl<'de, E: TargetValue, I: TargetDim> Deserialize<'de> for FittedPipeline<E, I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = SavedModel::deserialize(deserializer)?;
        let fitted =
            if saved.fits() { FittedPipeline::from_saved(saved) } else { Err("its parts do not fit together".into()) };
        fitted.map_err(serde::de::Error::custom)
    }
}

/// A fitted pipeline as a formula of the data. Σ coefficient · column + intercept is the prediction, or the decision
/// value for classes. `Display` prints one formula for each output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OriginalScale {
    /// Names of the data columns, in the order of [`FittedPipeline::selected`], without a bias added by a map.
    pub columns: Vec<String>,
    /// Coefficients, columns × outputs.
    pub coefficients: Array2<f64>,
    /// Intercept of each output.
    pub intercept: Vec<f64>,
}

impl fmt::Display for OriginalScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (output, intercept) in self.intercept.iter().enumerate() {
            let separator = if output == 0 { "" } else { "\n" };
            write!(f, "{separator}{}", short(*intercept))?;
            for (name, weights) in self.columns.iter().zip(self.coefficients.rows()) {
                let sign = if weights[output] < 0.0 { '-' } else { '+' };
                write!(f, " {sign} {}·{name}", short(weights[output].abs()))?;
            }
        }
        Ok(())
    }
}

impl<E, I> FittedPipeline<E, I> {
    /// Coefficients on the scale of the data, if the maps only shift and divide the selected columns. The formula does
    /// not cover rows with missing cells that a map fills.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the map that does more (`log1p`, `one_hot`, `window`, …), or the learner if it has no
    /// coefficients or makes features of its own.
    pub fn original_scale(&self) -> Result<OriginalScale> {
        let saved = &self.saved;
        let refused = |field: String, what: String| {
            Err(Error::setting(field, format!("{what}, so there are no coefficients on the scale of the data")))
        };
        if let Some(map) = saved.target_scales.iter().flatten().find_map(|units| units.map.as_ref()) {
            return refused("target_map".into(), format!("`{}` maps the target", map.kind()));
        }
        let Some(coefficients) = saved.model.coefficients().filter(|_| saved.model.takes_rows_alone()) else {
            let message = "it has no coefficients, or makes columns of its own".into();
            return refused("learner".into(), message);
        };
        let (mut columns, mut rows) = (Vec::new(), Vec::new());
        let units = saved.target_scales.as_deref();
        for (name, weights) in saved.inputs.iter().zip(coefficients.weights.rows()) {
            // A bias is in the intercept.
            if source_columns(&saved.maps, std::slice::from_ref(name)).is_empty() {
                continue;
            }
            // A different name means a derived column, such as a lag or a level of text.
            let does_more = |map: &MapFormulas| {
                map.get(name).is_some_and(|formula| {
                    formula.sources != [&**name] || !matches!(formula.unit, OutputUnit::Divided(_))
                })
            };
            if let Some(place) = saved.maps.iter().rposition(does_more) {
                let message = format!("`{}` does more for `{name}` than shift and divide", saved.maps[place].kind);
                return refused(format!("preprocess[{place}]"), message);
            }
            rows.extend(original_weights(&saved.maps, name, &weights.to_vec(), units));
            columns.push(name.clone());
        }
        let shape = (rows.len(), coefficients.weights.ncols());
        let coefficients = Array2::from_shape_fn(shape, |(k, output)| rows[k][output]);
        // The intercept is the prediction at zero columns.
        let unused = saved.sources.is_empty().then(String::new);
        let zero = |name: String| (name, Cells::Numbers(vec![0.0].into()));
        let zeros = saved.sources.iter().cloned().chain(unused).map(zero).collect();
        let intercept = saved.chain().predict(Table::new(zeros)?)?.values.column(0).to_vec();
        Ok(OriginalScale { coefficients, columns, intercept })
    }
}
