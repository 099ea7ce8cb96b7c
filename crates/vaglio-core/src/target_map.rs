//! Maps of targets: learners see the mapped target, and predictions return to the units of the data.

use crate::part_setting::{named_part, registered_traits};
use crate::{Expression, Result};
use std::fmt::Debug;

/// A transformation of each numeric target before training; its fields are its settings.
pub trait TargetMap: registered::TargetMap + Debug + Send + Sync {
    /// Learns the map's parameters from a target of the training rows; `weights` has one entry a row, all 1 when
    /// absent.
    ///
    /// # Errors
    /// Returns an error if the map cannot be learned. [`FittedTargetMap::map`] reports values outside of its domain.
    fn fit(&self, target: &[f64], weights: Option<&[f64]>) -> Result<Box<dyn FittedTargetMap>>;

    /// Whether predictions are means in the units of the data, by Duan's smearing. `None`: only for the squared error,
    /// which means minimize.
    fn smear(&self) -> Option<bool> {
        None
    }

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the field's path inside this map.
    fn check_settings(&self) -> Result<()> {
        Ok(())
    }
}

/// A fitted target map: an increasing function and its inverse, saved with the model.
pub trait FittedTargetMap: registered::FittedTargetMap + Debug + Send + Sync {
    /// The mapped value; not finite for a value outside of the domain.
    fn map(&self, value: f64) -> f64;

    /// The value that maps to `mapped`, or the nearest possible one.
    fn inverse(&self, mapped: f64) -> f64;

    /// Applies [`FittedTargetMap::inverse`] to an expression. `vaglio export` uses it to write models of mapped targets
    /// in other languages. `None` if there is no such expression.
    fn inverse_expression(&self, _mapped: Expression) -> Option<Expression> {
        None
    }

    /// Words for the message that refuses a value outside of the domain: which values are taken, and what to do with
    /// others.
    fn takes(&self) -> (&'static str, &'static str);

    /// Reduces the residuals of training rows, each with its share of the weight, to fewer that give equal means of
    /// [`FittedTargetMap::inverse`]. By default all are returned. If many are left, neighbors are then averaged.
    fn smearing(&self, residuals: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
        residuals
    }
}

registered_traits! { TargetMap "target_map" FittedTargetMap "fitted target map" }
named_part! { TargetMap }
