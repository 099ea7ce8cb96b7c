//! Preprocessing that is fitted again on the training rows of each fold.
//!
//! Standardizing and filling with means have closed forms in folds. A column with missing cells is filled with the mean
//! of all rows. The mask times the difference of the fold's mean is added. So a fold needs moments of twice those
//! columns, and no pass of its own. A column without any value in a fold is filled with a constant and so never chosen
//! there. Other maps have no closed form. They are refitted on the training rows of each fold, which is then scored as
//! a round of its own. The definition asks for the same columns.

use crate::missing_mask::MissingMask;
use crate::{Columns, Feature, Result};
use std::fmt;
use std::sync::Arc;

/// The part of a [`Map`](crate::Map) that is refitted on the training rows of each fold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RefitScope {
    /// Nothing: the map is fitted once, on all training rows.
    #[default]
    No,
    /// Means and deviations of columns, which have a closed form.
    Standardize,
    /// Means that fill missing cells, which have a closed form.
    Impute,
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
        missing: Option<Arc<MissingMask>>,
        /// Whether criteria without a closed form are refused; `None` if columns are not standardized after that.
        standardize: Option<bool>,
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
        PerFoldPreprocessing::Formulas { missing: None, standardize: Some(true) }
    }

    /// Fills missing cells with the means of the training rows, given the missing rows of columns with `rows` rows, then
    /// standardizes unless `standardize` is `None`. With `true`, criteria without a closed form are refused.
    pub fn impute(
        rows: usize,
        missing: Vec<(Feature, Vec<usize>)>,
        is_required: bool,
        standardize: Option<bool>,
    ) -> Self {
        let mask = MissingMask::new(rows, missing, is_required);
        PerFoldPreprocessing::Formulas { missing: (!mask.features().is_empty()).then(|| Arc::new(mask)), standardize }
    }

    /// The cells to fill with the means of the training rows.
    pub fn missing(&self) -> Option<&MissingMask> {
        match self {
            PerFoldPreprocessing::Formulas { missing, .. } => missing.as_deref(),
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
        let missing = missing.as_ref().map(|mask| Arc::new(mask.select_rows(rows)));
        PerFoldPreprocessing::Formulas { missing, standardize: *standardize }
    }

    /// The preprocessing for the columns `features`, in that order.
    pub(crate) fn select_columns(&self, features: &[Feature]) -> Self {
        match self {
            PerFoldPreprocessing::Formulas { missing, standardize } => {
                let missing = missing.as_ref().map(|mask| Arc::new(mask.select_columns(features)));
                let missing = missing.filter(|mask| !mask.features().is_empty());
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
