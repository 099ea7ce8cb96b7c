//! Maps: preprocessing of the columns before the search, fitted on training rows only.

use crate::part_setting::{any_part, registered_traits};
use crate::{MapFormulas, RefitScope, Result, Table};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeMap, HashSet};
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
    /// Learns the map's parameters from the training rows.
    ///
    /// # Errors
    /// Returns an error for columns of a kind that the map does not support.
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFit>;

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

/// A fitted map with its formulas, which are made at the fit and on loading. Files hold the map alone.
#[derive(Debug, Deserialize)]
#[serde(from = "Box<dyn FittedMap>")]
pub struct MapFit {
    map: Box<dyn FittedMap>,
    formulas: MapFormulas,
    /// Transformed training rows, computed out of fold, until they are taken. Target encoders need them so that no row
    /// sees its own target. They have the rows of the training table and the columns of the fitted map's output.
    pub training: Option<Table>,
}

impl From<Box<dyn FittedMap>> for MapFit {
    fn from(map: Box<dyn FittedMap>) -> Self {
        MapFit { formulas: map.formulas(), map, training: None }
    }
}

impl<M: FittedMap + 'static> From<M> for MapFit {
    fn from(map: M) -> Self {
        MapFit::from(Box::new(map) as Box<dyn FittedMap>)
    }
}

impl Serialize for MapFit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.map.serialize(serializer)
    }
}

impl MapFit {
    /// Adds the transformed training rows.
    #[must_use]
    pub fn with_training(self, training: Table) -> Self {
        MapFit { training: Some(training), ..self }
    }

    /// Word of the map in files.
    pub fn kind(&self) -> &'static str {
        self.map.kind()
    }

    /// Formulas of the columns that the map makes.
    pub fn formulas(&self) -> &MapFormulas {
        &self.formulas
    }

    /// Applies the map.
    ///
    /// # Errors
    /// Returns the errors of [`FittedMap::transform`].
    pub fn transform(&self, table: Table) -> Result<Table> {
        self.map.transform(&self.formulas, table)
    }

    /// Keeps the map's state and formulas for some columns only; see [`FittedMap::retain`].
    pub fn retain(&mut self, needed: &HashSet<String>) {
        self.map.retain(needed);
        self.formulas = self.map.formulas();
    }
}

/// Properties of a map that follow from its settings.
#[derive(Debug, Clone, Default)]
pub struct MapTraits {
    /// The part of the map that is refitted on the training rows of each fold.
    pub in_folds: RefitScope,
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

/// A fitted map: data only, saved with the model.
pub trait FittedMap: registered::FittedMap + Debug + Send + Sync {
    /// Formulas of the columns that the map makes.
    fn formulas(&self) -> MapFormulas;

    /// Forgets what the map learned of columns that are not `needed`: neither a used output nor the source of one. Used
    /// outputs must keep their bits.
    fn retain(&mut self, _needed: &HashSet<String>) {}

    /// Applies the map, given its formulas. The table may have fewer columns than the training table.
    ///
    /// A map of other rows than its own uses [`Table::with_columns`] and [`Table::select_rows`], so that the table
    /// remembers its series and the dropped rows.
    ///
    /// # Errors
    /// Returns an error with row and column for a cell unlike any in training.
    fn transform(&self, formulas: &MapFormulas, table: Table) -> Result<Table> {
        formulas.evaluate(table)
    }
}

registered_traits! { Map "map" FittedMap "fitted map" }
any_part! {
    /// Any map of columns.
    AnyMap = Map
}
