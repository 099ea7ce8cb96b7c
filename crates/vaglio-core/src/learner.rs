//! Learners: what gives a subset of columns its meaning.

use crate::{Coefficients, Columns, Design, Error, Feature, Problem, Readout, Result};
use ndarray::Array2;
use std::fmt::Debug;

/// A way to train a model on some columns; its fields are its settings.
///
/// Either it says itself as a [`LinearForm`], or it implements [`Learner::fit`].
///
/// # Example
/// A learner with a linear form gets every shortcut; one without is refitted for every subset and only slower.
#[typetag::serde(tag = "kind")]
pub trait Learner: Debug + Send + Sync {
    /// How this learner is a feature map, row weights and a ridge readout. `None`: it is trained by `fit` alone, and
    /// criteria refit it.
    fn linear_form(&self) -> Option<&dyn LinearForm> {
        None
    }

    /// Trains on all rows and the candidate columns `subset`.
    ///
    /// `lambda` is the penalty that the criterion chose for this subset; with `None` the learner chooses. A learner with
    /// a linear form is trained by [`Design::train`], slowly and obviously right; only one without has to implement this.
    ///
    /// # Errors
    /// A setting out of range, or a system that cannot be solved.
    fn fit(&self, problem: &Problem, subset: &[Feature], lambda: Option<f64>) -> Result<Box<dyn Model>> {
        match self.linear_form() {
            Some(form) => form.design(problem)?.train(subset, lambda),
            None => Err(Error::setting("kind", "it has neither a linear form nor a way to be fitted")),
        }
    }

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the field's path inside this learner.
    fn check(&self) -> Result<()> {
        self.linear_form().map_or(Ok(()), |form| form.readout().map(|_| ()))
    }
}

/// A learner said as a feature map, row weights and one ridge readout.
pub trait LinearForm {
    /// The ridge readout.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] for a penalty that is not positive.
    fn readout(&self) -> Result<Readout>;

    /// The columns that are searched, with the readout: the problem's own unless the learner maps them.
    ///
    /// Every random choice of a map follows from [`Problem::seed`], unless the learner has a seed of its own.
    ///
    /// # Errors
    /// Those of the readout and of the map.
    fn design(&self, problem: &Problem) -> Result<Design> {
        Ok(Design::identity(problem, self.readout()?))
    }
}

/// A map of a learner, as it was fitted: from the problem's columns to those of a [`Design`].
pub trait FeatureMap: Debug + Send + Sync {
    /// The model of a readout of the columns `subset`, holding no more of the map than these need.
    ///
    /// # Errors
    /// [`crate::Error::Shape`] for a column that the map does not make.
    fn model(&self, subset: &[Feature], readout: Trained) -> Result<Box<dyn Model>>;
}

/// A readout after training.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The penalty that it was trained with.
    pub lambda: f64,
    /// Features × outputs in the order of the subset.
    pub coefficients: Coefficients,
}

/// Refuses another number of columns than a model reads.
///
/// # Errors
/// [`Error::Shape`].
pub fn check_inputs(columns: &Columns, wanted: usize) -> Result<()> {
    if columns.len() == wanted {
        return Ok(());
    }
    Err(Error::Shape(format!("{} columns, and the model reads {wanted}", columns.len())))
}

/// A trained model: data only, with no reference to what it was trained on.
///
/// One that is read from a file can hold anything: a model checks its parts when it is deserialised (`#[serde(try_from
/// = "…")]`), so that predicting neither panics nor takes more memory than the file and the rows are large.
#[typetag::serde(tag = "kind")]
pub trait Model: Debug + Send + Sync {
    /// The problem's columns that the model reads, in the order in which [`Model::predict`] takes them.
    fn inputs(&self) -> &[Feature];

    /// Predictions, outputs × rows, from the columns named by [`Model::inputs`], in that order: provided for a model that
    /// has coefficients, which stand on [`Model::columns`] or else on the inputs themselves.
    ///
    /// `series` is the series that each row belongs to; rows of one series stand together, in the order of time. `None`:
    /// all rows are one series. Models of rows that stand for themselves ignore it.
    ///
    /// # Errors
    /// [`crate::Error::Shape`] when the number of columns differs.
    fn predict(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Array2<f64>> {
        let coefficients = self.coefficients().ok_or_else(|| Error::setting("kind", "the model cannot predict"))?;
        match self.columns(inputs, series)? {
            Some(columns) => coefficients.of_columns(&columns),
            None => coefficients.of_columns(inputs),
        }
    }

    /// The columns that the readout stands on, where a map makes them of the inputs: as many as the model has selected.
    ///
    /// # Errors
    /// Those of [`Model::predict`].
    fn columns(&self, _inputs: &Columns, _series: Option<&[u32]>) -> Result<Option<Columns>> {
        Ok(None)
    }

    /// How much each row counts in a mean over predictions; `None`: all alike.
    ///
    /// Rows on which the model had not yet warmed up count 0; the rows of a series that is decided as one count one
    /// over their number.
    fn counts(&self, _rows: usize, _series: Option<&[u32]>) -> Option<Vec<f64>> {
        None
    }

    /// The penalty that the model was trained with, if it has one.
    fn lambda(&self) -> Option<f64> {
        None
    }

    /// The readout's coefficients, features × outputs in the order of the subset, if the model has them.
    fn coefficients(&self) -> Option<&Coefficients> {
        None
    }
}
