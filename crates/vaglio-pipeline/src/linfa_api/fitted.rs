//! A fitted pipeline: what it found, and how it is kept.

use super::targets::{TargetValue, classes_of};
use crate::pipeline::SavedModel;
use crate::selector::Selection;
use linfa::dataset::TargetDim;
use ndarray::Array2;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use vaglio_core::{Error, Feature, Path, PathEntry, Result, Task};

/// A fitted pipeline or selector: predicts (linfa's [`Predict`](linfa::traits::Predict), by the places of columns), maps columns and keeps the chosen ones
/// ([`Transformer`](linfa::traits::Transformer)), and can be saved.
///
/// `E` is the type of a target, `I` whether targets are one column (`Ix1`) or several (`Ix2`). Everything is computed in
/// double precision, whatever the type of the records. Clones share what was learned.
///
/// [`save`](FittedPipeline::save) writes the same `model.json` as `vaglio run`, and [`load`](FittedPipeline::load) reads
/// either. With serde it is written as the part of that file that is called `model`.
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
#[derive(Debug)]
pub struct FittedPipeline<E, I> {
    pub(super) saved: Arc<SavedModel>,
    /// In the order of their probabilities; none of numbers.
    pub(super) classes: Vec<E>,
    selection: Option<Arc<Selection>>,
    marker: PhantomData<fn() -> I>,
}

/// A fitted selector is a pipeline without maps.
pub type FittedSelector<E, I> = FittedPipeline<E, I>;

impl<E: Clone, I> Clone for FittedPipeline<E, I> {
    fn clone(&self) -> Self {
        let (saved, classes, selection) = (Arc::clone(&self.saved), self.classes.clone(), self.selection.clone());
        FittedPipeline { saved, classes, selection, marker: PhantomData }
    }
}

/// Nothing of it is changed by what reads it, so one that panicked leaves it whole.
impl<E: RefUnwindSafe, I> RefUnwindSafe for FittedPipeline<E, I> {}

/// Likewise.
impl<E: UnwindSafe + RefUnwindSafe, I> UnwindSafe for FittedPipeline<E, I> {}

impl<E, I> FittedPipeline<E, I> {
    pub(super) fn new(saved: SavedModel, classes: Vec<E>, selection: Selection) -> Self {
        let (saved, selection) = (Arc::new(saved), Some(Arc::new(selection)));
        FittedPipeline { saved, classes, selection, marker: PhantomData }
    }

    /// Names of the chosen features, in order of entry: columns that the maps make, or that a learner with a map of its own
    /// makes of these.
    ///
    /// Of a learner with a map of its own whose model does not tell, the columns that it reads.
    pub fn selected(&self) -> Vec<&str> {
        self.saved.selected_names().iter().map(String::as_str).collect()
    }

    /// Where the chosen features stand among those that were selected from, in order of entry, counted from 0.
    pub fn indices(&self) -> &[Feature] {
        self.saved.selected.as_ref().map_or(self.saved.model.inputs(), |selected| &selected.indices)
    }

    /// Whether each of the features that were selected from is chosen; `None` where the model does not tell how many there
    /// were.
    pub fn support(&self) -> Option<Vec<bool>> {
        let selected = self.saved.selected.as_ref()?;
        let mut support = vec![false; selected.of];
        selected.indices.iter().for_each(|&index| support[index] = true);
        Some(support)
    }

    /// The weights of the readout, chosen features × outputs, in the order of [`selected`](FittedPipeline::selected), for
    /// features and targets as the maps make them: standardized where these standardize.
    /// [`original_scale`](FittedPipeline::original_scale) has those for the columns of the data. `None` of a learner without a
    /// readout.
    ///
    /// Outputs are target columns; of two classes there is one, ±1, of more one for each, in the order of
    /// [`classes`](FittedPipeline::classes).
    pub fn coefficients(&self) -> Option<&Array2<f64>> {
        self.saved.model.coefficients().map(|coefficients| &coefficients.weights)
    }

    /// The intercept of each output, likewise; 0 for a learner without one.
    pub fn intercept(&self) -> Option<&[f64]> {
        self.saved.model.coefficients().map(|coefficients| &coefficients.intercept[..])
    }

    /// The penalty that the model was trained with, if it has a readout; of outputs with a λ each, that of the first.
    pub fn lambda(&self) -> Option<f64> {
        self.saved.model.lambda()
    }

    /// The steps of the search and the best subset of each size, with their scores; features by index. `None` of a model
    /// that a run of the program saved, whose steps are in its `selection.json`.
    pub fn path(&self) -> Option<&Path> {
        self.saved.path.as_ref()
    }

    /// The best subset of each size that the search reached, in increasing size, with its score; none of a model that a run of
    /// the program saved.
    pub fn entries(&self) -> &[PathEntry] {
        self.path().map_or(&[], |path| &path.entries)
    }

    /// How the result was chosen, warnings, engine and seconds; `None` of a model that was loaded.
    pub fn selection(&self) -> Option<&Selection> {
        self.selection.as_deref()
    }

    /// The classes in the order of their probabilities; none of numbers.
    pub fn classes(&self) -> &[E] {
        &self.classes
    }

    /// What predicts, as it is saved.
    pub fn saved(&self) -> &SavedModel {
        &self.saved
    }

    /// Writes a model file that `vaglio predict` and [`FittedPipeline::load`] read; it appears whole or not at all.
    ///
    /// A dataset does not name the column of its weights, so neither does the file: figures that `vaglio predict` gives beside
    /// its predictions count all rows alike.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn save(&self, path: impl AsRef<std::path::Path>) -> Result<()> {
        self.saved.write(path.as_ref())
    }
}

impl<E: TargetValue, I: TargetDim> FittedPipeline<E, I> {
    /// Reads a model file that [`FittedPipeline::save`] or `vaglio run` wrote. It predicts the same bits.
    ///
    /// # Errors
    /// [`Error::Unreadable`] when there is no such file; [`Error::ModelRefused`] when it was changed, is cut short, is of
    /// another version, or has targets that are not these.
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Self> {
        let path = path.as_ref();
        let refused = |message: String| Error::ModelRefused { path: path.to_owned(), message };
        FittedPipeline::of_saved(SavedModel::read(path)?).map_err(refused)
    }

    fn of_saved(saved: SavedModel) -> std::result::Result<Self, String> {
        if saved.history.is_some() {
            return Err("it reads earlier targets, which a dataset does not tell; use `SavedModel`".into());
        }
        if I::NDIM == Some(1) && saved.task == Task::Regression && saved.outputs.len() > 1 {
            return Err(format!("it has {} target columns; load it with `Ix2`", saved.outputs.len()));
        }
        let classes = classes_of(&saved.task)?;
        Ok(FittedPipeline { saved: Arc::new(saved), classes, selection: None, marker: PhantomData })
    }
}

impl<E, I> Serialize for FittedPipeline<E, I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.saved.serialize(serializer)
    }
}

impl<'de, E: TargetValue, I: TargetDim> Deserialize<'de> for FittedPipeline<E, I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let saved = SavedModel::deserialize(deserializer)?;
        saved.check().and_then(|()| FittedPipeline::of_saved(saved)).map_err(serde::de::Error::custom)
    }
}
