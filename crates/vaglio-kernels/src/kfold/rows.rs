//! Columns, targets and folds.

use super::Folds;
use crate::Targets;
use crate::loo::Data;
use std::sync::Arc;

/// The data of a K-fold validation, shared by all states.
#[derive(Debug)]
pub struct Rows<'d> {
    pub(crate) data: Data<'d>,
    pub(crate) folds: Folds,
    /// Whether columns and targets are centred on the means of the training rows of each fold.
    pub(crate) intercept: bool,
    /// Whether columns are centred and divided by the standard deviations of the training rows of each fold.
    pub(crate) standardize: bool,
}

impl<'d> Rows<'d> {
    /// `data` was made with the same `intercept`.
    pub fn new(data: Data<'d>, folds: Folds, intercept: bool, standardize: bool) -> Self {
        Rows { data, folds, intercept, standardize }
    }

    /// Which rows are held out together.
    pub fn folds(&self) -> &Folds {
        &self.folds
    }

    /// Number of columns, n, inactive ones included.
    pub fn columns(&self) -> usize {
        self.data.columns()
    }

    /// Whether a column takes part.
    pub fn is_active(&self, column: usize) -> bool {
        self.data.is_active(column)
    }

    /// The targets, for a [`crate::Scorer`] of residuals in the order of the rows as given.
    pub fn targets(&self) -> &Arc<Targets> {
        self.data.targets()
    }
}
