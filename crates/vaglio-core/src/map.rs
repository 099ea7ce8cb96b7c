//! Maps: preprocessing of the columns before the search, fitted on training rows only.

use crate::part_setting::{named_part, registered_traits};
use crate::{MapFormulas, RefitScope, Result, Table};
use ndarray::ArrayView2;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Training rows with targets and labels, for maps that learn from more than the table.
#[derive(Debug, Clone, Copy)]
pub struct TrainingRows<'a> {
    /// The columns.
    pub table: &'a Table,
    /// Targets, outputs × rows; classes are coded ±1.
    pub targets: ArrayView2<'a, f64>,
    /// The name of each output: a target or a class.
    pub outputs: &'a [String],
    /// The targets that are also in the table, for maps that make lags of them.
    pub lagged: &'a [String],
    /// One weight a row, all 1 when absent.
    pub weights: Option<&'a [f64]>,
    /// The group of each row, if rows of one group stay together.
    pub groups: Option<&'a [u32]>,
    /// The pipeline's seed for random choices, unless the map has its own.
    pub seed: u64,
}

/// A preprocessing step; its fields are its settings.
pub trait Map: registered::Map + Debug + Send + Sync {
    /// Learns from the training rows the formulas that the map applies to every table.
    ///
    /// # Errors
    /// Returns an error for columns of a kind that the map does not support.
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas>;

    /// Properties of the map that follow from its settings.
    fn traits(&self) -> MapTraits {
        MapTraits::default()
    }

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the field's path inside this map.
    fn check_settings(&self) -> Result<()> {
        Ok(())
    }
}

/// Properties of a map that follow from its settings.
#[derive(Debug, Clone, Default)]
pub struct MapTraits {
    /// The part of the map that is refitted on the training rows of each fold.
    pub in_folds: RefitScope,
    /// Whether criteria without the closed form of that refit are refused; otherwise they get the map fitted once.
    pub is_refit_required: bool,
    /// Whether the map takes rows to be in the order of time; folds are then contiguous.
    pub needs_order: bool,
    /// Smallest lag, in rows, of each column that the settings name. Such a column can be a target: the map finds it in
    /// its table and leaves the column itself out. With horizons a target's present is known, and the lag may be 0.
    pub lags: BTreeMap<String, usize>,
    /// Number of earlier rows that the map reads for a row.
    pub past: usize,
    /// Horizons, in increasing steps ahead, at which targets are taken; empty for the row itself.
    pub horizons: Vec<usize>,
    /// The name of the bias column that the map adds: constant, but a candidate.
    pub bias: Option<String>,
    /// Whether numeric targets are standardized as well.
    pub standardizes_targets: bool,
}

/// A fitted map in a form of its own, saved with the model. A map has it if it reads other rows than its own; files of
/// earlier versions hold every map so.
pub trait FittedMap: registered::FittedMap + Debug + Send + Sync {
    /// Formulas of the columns that the map makes, by [`ColumnFormula::from_rows`](crate::ColumnFormula::from_rows) if
    /// it reads other rows.
    fn formulas(&self) -> MapFormulas;

    /// Applies a map of other rows. The table may have fewer columns than the training table. [`Table::with_columns`]
    /// and [`Table::select_rows`] let it remember its series and the dropped rows.
    ///
    /// # Errors
    /// Returns an error with row and column for a cell unlike any in training.
    fn transform(&self, table: Table) -> Result<Table> {
        self.formulas().transform(table)
    }
}

registered_traits! { Map "map" FittedMap "fitted map" }
named_part! { Map }
