//! Learners: how a model is trained on a subset.

use crate::part_setting::{named_part, registered_traits};
use crate::{
    Coefficients, Design, Error, Feature, Model, ModelData, PartOutputs, Problem, Readout, Result, TrainedReadout,
};
use std::fmt::Debug;

/// A way to train a model on some columns; its fields are its settings.
///
/// # Example
/// A learner must say whether it has a readout; this one does not compile.
/// ```compile_fail,E0046
/// /// Nothing at all.
/// #[vaglio_core::part(Learner, "nothing")]
/// struct Nothing {}
///
/// impl vaglio_core::Learner for Nothing {}
/// ```
pub trait Learner: registered::Learner + Debug + Send + Sync {
    /// The ridge readout of a learner that is a feature map, row weights and one ridge readout: criteria have closed
    /// forms for it. `None` for any other learner, which criteria train anew for every subset and every held-out row or
    /// fold, by [`Learner::refit`].
    ///
    /// # Errors
    /// [`crate::Error::Setting`] for a penalty that is not positive.
    fn readout(&self) -> Result<Option<Readout>>;

    /// The searched features with the `readout`: the problem's own columns unless the learner maps them.
    ///
    /// Every random choice of a map follows from [`Problem::seed`], unless the learner has a seed of its own.
    fn design(&self, problem: &Problem, readout: Readout) -> Result<Design> {
        Ok(Design::identity(problem, readout))
    }

    /// Trains on all rows of the problem and its columns `subset`, which exist; for a learner without a readout.
    ///
    /// # Errors
    /// Returns an error for a setting out of range, or a problem that cannot be learned.
    fn refit(&self, _problem: &Problem, _subset: &[Feature]) -> Result<Model> {
        Err(Error::Shape("the learner has neither a readout nor a refit".into()))
    }

    /// Whether the learner takes rows to be in the order of time; folds are then contiguous.
    fn needs_order(&self) -> bool {
        false
    }

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the field's path inside this learner.
    fn check_settings(&self) -> Result<()> {
        self.readout().map(|_| ())
    }

    /// Refuses a problem that the learner cannot learn, before the search starts. [`Design::from_problem`] calls it,
    /// and [`Learner::fit`] before a refit.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the field's path inside this learner.
    fn check(&self, _problem: &Problem) -> Result<()> {
        Ok(())
    }

    /// Trains on all rows and the features `subset`: the slow definition of every model.
    ///
    /// `lambda` is the penalty that the criterion chose for this subset. With `None` the learner chooses, as
    /// [`Design::train`] documents. A learner that is refitted ignores it.
    ///
    /// # Errors
    /// Returns an error for a setting out of range, or a system that cannot be solved.
    fn fit(&self, problem: &Problem, subset: &[Feature], lambda: Option<f64>) -> Result<Model> {
        if let Some(readout) = self.readout()? {
            return self.design(problem, readout)?.train(subset, lambda);
        }
        match subset.iter().find(|feature| **feature >= problem.columns().len()) {
            Some(feature) => Err(Error::Shape(format!("there is no column {feature}"))),
            None => self.check(problem).and_then(|()| self.refit(problem, subset)),
        }
    }
}

registered_traits! { Learner "learner" }
named_part! { Learner }

/// The fitted map of a learner, from the problem's columns to the features of a [`Design`].
pub trait FeatureMap: Debug + Send + Sync {
    /// The model of a readout of the features `subset`, trained at `lambda`. It keeps only the parts of the map that
    /// these features need. Coefficients are features × outputs, in the order of the subset.
    ///
    /// # Errors
    /// [`crate::Error::Shape`] for a feature that the map does not make.
    fn model(&self, subset: &[Feature], lambda: f64, coefficients: Coefficients) -> Result<Model>;

    /// Findings of the fit of the map, for the report.
    fn found(&self) -> PartOutputs {
        PartOutputs::default()
    }
}

/// A ridge readout of columns as they are.
#[crate::saved(ModelData, "linear")]
struct LinearModel {
    inputs: Vec<Feature>,
    lambda: f64,
    coefficients: Coefficients,
}

impl ModelData for LinearModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn readout(&self) -> Option<TrainedReadout<'_>> {
        Some(TrainedReadout { lambda: self.lambda, coefficients: &self.coefficients, map: None })
    }
}

/// The identity map: features are the columns themselves.
#[derive(Debug)]
pub(crate) struct Identity;

impl FeatureMap for Identity {
    fn model(&self, subset: &[Feature], lambda: f64, coefficients: Coefficients) -> Result<Model> {
        Model::new(LinearModel { inputs: subset.to_vec(), lambda, coefficients })
    }
}
