//! Preprocessing that is fitted again on the training rows of each fold.
//!
//! Standardizing and filling with means have closed forms in folds. A column with missing cells is filled with the mean
//! of all rows. The mask times the difference of the fold's mean is added. So a fold needs moments of twice those
//! columns, and no pass of its own. A column without any value in a fold is filled with a constant and so never chosen
//! there. Other maps have no closed form. They are refitted on the training rows of each fold, which is then scored as
//! a round of its own. The definition asks for the same columns.

use crate::{Columns, Feature, MissingMask, Result};
use std::fmt;
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

/// Makes all columns of a problem, for all rows, by maps fitted on some training rows.
type RefitColumns = dyn Fn(&[usize]) -> Result<Columns> + Send + Sync;

/// The preprocessing of a problem's columns that is refitted on the training rows of each fold; none by default.
#[derive(Clone)]
pub enum PerFoldPreprocessing {
    /// Means and deviations, in closed form.
    Formulas {
        /// The cells to fill with the means of the training rows.
        missing: Option<(Requirement, Arc<MissingMask>)>,
        /// Whether to standardize columns after that.
        standardize: Option<Requirement>,
    },
    /// Maps, fitted on the training rows that are given, which make all columns for all rows.
    Maps(Arc<RefitColumns>),
}

impl fmt::Debug for PerFoldPreprocessing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PerFoldPreprocessing::Formulas { missing, standardize } => {
                f.debug_tuple("Formulas").field(missing).field(standardize).finish()
            }
            PerFoldPreprocessing::Maps(_) => f.write_str("Maps"),
        }
    }
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
                let (maps, features) = (Arc::clone(maps), features.to_vec());
                let select = move |training: &[usize]| maps(training).map(|columns| columns.select(&features));
                PerFoldPreprocessing::Maps(Arc::new(select))
            }
        }
    }
}
