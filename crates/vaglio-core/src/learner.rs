//! Learners: what gives a subset of columns its meaning.

use crate::{Coefficients, Columns, Design, Feature, Problem, Readout, Result};
use ndarray::Array2;
use std::fmt::Debug;

/// A way to train a model on some columns; its fields are its settings.
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
    /// `lambda` is the penalty that the criterion chose for this subset; with `None` the learner chooses.
    ///
    /// # Errors
    /// A setting out of range, or a system that cannot be solved.
    fn fit(&self, problem: &Problem, subset: &[Feature], lambda: Option<f64>) -> Result<Box<dyn Model>>;

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the field's path inside this learner.
    fn check(&self) -> Result<()> {
        Ok(())
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
    /// # Errors
    /// Those of the readout and of the map.
    fn design(&self, problem: &Problem) -> Result<Design> {
        Ok(Design::identity(problem, self.readout()?))
    }
}

/// A trained model: data only, with no reference to what it was trained on.
#[typetag::serde(tag = "kind")]
pub trait Model: Debug + Send + Sync {
    /// The problem's columns that the model reads, in the order in which [`Model::predict`] takes them.
    fn inputs(&self) -> &[Feature];

    /// Predictions, outputs × rows, from the columns named by [`Model::inputs`], in that order.
    ///
    /// # Errors
    /// [`crate::Error::Shape`] when the number of columns differs.
    fn predict(&self, inputs: &Columns) -> Result<Array2<f64>>;

    /// The penalty that the model was trained with, if it has one.
    fn lambda(&self) -> Option<f64> {
        None
    }

    /// The readout's coefficients, features × outputs in the order of the subset, if the model has them.
    fn coefficients(&self) -> Option<&Coefficients> {
        None
    }
}
