//! Preprocessing that is fitted again on the training rows of each fold.
//!
//! Standardizing and filling with means have closed forms in folds. A column with missing cells is its values, filled
//! with the mean of all rows, plus the difference of the fold's mean times the mask. So a fold needs moments of twice
//! those columns, and no pass of its own. A column without any value in a fold is filled with a constant and so never
//! chosen there. Other maps have no closed form. They are refitted on the training rows of each fold, which is then
//! scored as a round of its own. The definition asks for the same columns.

use crate::{Columns, Feature, MissingMask, Result};
use std::fmt::Debug;
use std::sync::Arc;

/// Whether a fit in each fold is optional or mandatory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// Used if the criterion has a closed form for it.
    Possible,
    /// Always used; criteria without it are refused.
    Required,
}

/// The part of a [`Map`](crate::Map) that is refitted on the training rows of each fold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RefitScope {
    /// Nothing: the map is fitted once, on all training rows.
    #[default]
    No,
    /// Means and deviations of columns, which have a closed form.
    Standardize(Requirement),
    /// Means that fill missing cells, which have a closed form.
    Impute(Requirement),
    /// The whole map, and the maps after it.
    Maps,
}

/// Refits maps on some of the rows.
pub trait RefitColumns: Debug + Send + Sync {
    /// All columns of the problem, for all rows, by maps fitted on the rows `training`.
    ///
    /// # Errors
    /// Returns an error of the maps.
    fn columns(&self, training: &[usize]) -> Result<Columns>;
}

/// The preprocessing of a problem's columns that is refitted on the training rows of each fold; none by default.
#[derive(Debug, Clone)]
pub enum PerFoldPreprocessing {
    /// Means and deviations, in closed form.
    Formulas {
        /// The cells to fill with the means of the training rows.
        missing: Option<(Requirement, Arc<MissingMask>)>,
        /// Whether to standardize columns after that.
        standardize: Option<Requirement>,
    },
    /// Maps that make all columns.
    Maps(Arc<dyn RefitColumns>),
}

impl Default for PerFoldPreprocessing {
    fn default() -> Self {
        PerFoldPreprocessing::Formulas { missing: None, standardize: None }
    }
}

impl PerFoldPreprocessing {
    /// Standardizes columns by the training rows, and nothing else.
    pub fn standardize() -> Self {
        PerFoldPreprocessing::formulas(None, Some(Requirement::Required))
    }

    /// Fills missing cells with the means of the training rows, then standardizes, each if given.
    pub fn formulas(missing: Option<(Requirement, MissingMask)>, standardize: Option<Requirement>) -> Self {
        let missing = missing.filter(|(_, mask)| !mask.is_empty()).map(|(need, mask)| (need, Arc::new(mask)));
        PerFoldPreprocessing::Formulas { missing, standardize }
    }

    /// The cells to fill with the means of the training rows.
    pub fn missing(&self) -> Option<&MissingMask> {
        match self {
            PerFoldPreprocessing::Formulas { missing, .. } => missing.as_ref().map(|(_, mask)| &**mask),
            PerFoldPreprocessing::Maps(_) => None,
        }
    }

    /// Whether columns are standardized by the training rows, in closed form.
    pub fn is_standardized(&self) -> bool {
        matches!(self, PerFoldPreprocessing::Formulas { standardize: Some(_), .. })
    }

    /// Whether columns are imputed or standardized by the training rows, in closed form.
    pub fn is_by_formula(&self) -> bool {
        self.missing().is_some() || self.is_standardized()
    }

    /// Whether maps are refitted on the training rows.
    pub fn is_by_maps(&self) -> bool {
        matches!(self, PerFoldPreprocessing::Maps(_))
    }

    /// The preprocessing for the rows `rows`, in that order; without maps.
    pub(crate) fn select_rows(&self, rows: &[usize]) -> Self {
        let PerFoldPreprocessing::Formulas { missing, standardize } = self else {
            return PerFoldPreprocessing::default();
        };
        let missing = missing.as_ref().map(|(need, mask)| (*need, Arc::new(mask.select_rows(rows))));
        PerFoldPreprocessing::Formulas { missing, standardize: *standardize }
    }

    /// The preprocessing for the columns `features`, in that order.
    pub(crate) fn select_columns(&self, features: &[Feature]) -> Self {
        match self {
            PerFoldPreprocessing::Formulas { missing, standardize } => {
                let missing = missing.as_ref().map(|(need, mask)| (*need, Arc::new(mask.select_columns(features))));
                let missing = missing.filter(|(_, mask)| !mask.is_empty());
                PerFoldPreprocessing::Formulas { missing, standardize: *standardize }
            }
            PerFoldPreprocessing::Maps(maps) => {
                PerFoldPreprocessing::Maps(Arc::new(SomeColumns { of: Arc::clone(maps), features: features.to_vec() }))
            }
        }
    }
}

/// Some of the columns of refitted maps.
#[derive(Debug)]
struct SomeColumns {
    of: Arc<dyn RefitColumns>,
    features: Vec<Feature>,
}

impl RefitColumns for SomeColumns {
    fn columns(&self, training: &[usize]) -> Result<Columns> {
        Ok(self.of.columns(training)?.select(&self.features))
    }
}
