//! Maps: preprocessing of the columns before the search, fitted on training rows only.

use crate::{Expression, PartOutputs, RefitScope, Result, Table, registered};
use ndarray::ArrayView2;
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
    /// `weights` has one entry a row, all 1 when absent.
    ///
    /// # Errors
    /// Returns an error for columns of a kind that the map does not support.
    fn fit(&self, table: &Table, weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>>;

    /// Learns from the training rows with their targets; for maps that need more than the table.
    ///
    /// May return the transformed training rows, computed out of fold, instead of leaving them to the fitted map.
    /// Target encoders need this so that no row sees its own target. Such a table has the rows of `rows` and the
    /// columns of the fitted map's output.
    ///
    /// # Errors
    /// Returns an error of [`Map::fit`].
    fn fit_rows(&self, rows: &TrainingRows<'_>) -> Result<(Box<dyn FittedMap>, Option<Table>)> {
        Ok((self.fit(rows.table, rows.weights)?, None))
    }

    /// Learns the shift and scale of a target, for maps that change targets too.
    ///
    /// # Errors
    /// Returns an error for a scale that over- or underflows.
    fn fit_target(&self, _target: &[f64], _weights: Option<&[f64]>) -> Result<Option<TargetScale>> {
        Ok(None)
    }

    /// The part of the map that is refitted on the training rows of each fold.
    fn in_folds(&self) -> RefitScope {
        RefitScope::No
    }

    /// Whether the map takes rows to be in the order of time; folds are then contiguous.
    fn needs_order(&self) -> bool {
        false
    }

    /// Smallest lag, in rows, that the map makes of the column `name`; `None` if it makes none. The column can then be
    /// a target: the map finds it in its table and leaves the column itself out.
    fn past_of(&self, _name: &str) -> Option<usize> {
        None
    }

    /// Number of earlier rows that the map reads for a row.
    fn past(&self) -> usize {
        0
    }

    /// Horizons, in increasing steps ahead, at which targets are taken; empty for the row itself. With horizons a
    /// target's present is known, and [`Map::past_of`] may be 0.
    fn horizons(&self) -> &[usize] {
        &[]
    }

    /// The name of the bias column that the map adds: constant, but a candidate.
    fn bias(&self) -> Option<&str> {
        None
    }

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the field's path inside this map.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// A fitted map: data only, saved with the model.
pub trait FittedMap: registered::FittedMap + Debug + Send + Sync {
    /// Applies the map to the columns of `table` that it knows. The table may have fewer columns than the training
    /// table.
    ///
    /// Use [`Table::with_columns`] and [`Table::select_rows`], so that the table remembers its series and the dropped
    /// rows.
    ///
    /// # Errors
    /// Returns an error with row and column for a cell unlike any in training.
    fn transform(&self, table: Table) -> Result<Table>;

    /// Findings of the fit of the map, for the report.
    fn found(&self) -> PartOutputs {
        PartOutputs::default()
    }

    /// Estimated extra memory, in bytes, of the map's output over its input. Used to refuse tables that would exceed
    /// the memory limit.
    fn growth(&self, _table: &Table) -> f64 {
        0.0
    }

    /// How the output column `name` is made; `None` for a column that the map leaves as it is.
    fn origin(&self, name: &str) -> Option<Origin> {
        Some(Origin::from_column(name))
    }

    /// A copy restricted to some output columns, which must be the same bits, given their
    /// [sources](FittedMap::origin). Saved models use it to drop parts that their inputs do not need. `None` keeps the
    /// whole map.
    fn for_outputs(&self, _names: &[String]) -> Option<Box<dyn FittedMap>> {
        None
    }

    /// The output column `name` as an expression of the map's input columns. `vaglio export` uses it to write models in
    /// other languages. `None` if there is no such expression.
    fn expression(&self, _name: &str) -> Option<Expression> {
        None
    }

    /// Whether the map keeps every row and transforms it independently of others. Large files are then mapped in
    /// chunks.
    ///
    /// `false` for maps of rows in the order of time, and for maps that drop rows.
    fn takes_rows_alone(&self) -> bool {
        true
    }

    /// Number of earlier rows that the map reads for a row.
    fn past(&self) -> usize {
        0
    }

    /// The columns with learned levels, each with its levels. New rows with other levels cause a warning.
    fn levels(&self) -> Vec<(&str, Vec<&str>)> {
        Vec::new()
    }
}

/// How a fitted map makes an output column.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    /// The distinct input columns that it is made from; none for a constant.
    pub sources: Vec<String>,
    /// The unit of its values.
    pub unit: OutputUnit,
    /// Whether it is in a block with the other columns made from its source, as the levels of a text column are.
    pub is_block: bool,
}

/// Unit of the values of a column that a map made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutputUnit {
    /// The unit of the source, after a shift and a division by this number.
    Divided(f64),
    /// A code with its own unit, such as a level's rank or a year. Weights are reported in that unit.
    Code,
    /// No unit: a change of the output is not proportional to a change of the source.
    Other,
}

impl Origin {
    /// A column that is made from one column in another way than by a shift and a division.
    pub fn from_column(source: impl Into<String>) -> Self {
        Origin { sources: vec![source.into()], unit: OutputUnit::Other, is_block: false }
    }

    /// Sets the unit.
    #[must_use]
    pub fn in_unit(self, unit: OutputUnit) -> Self {
        Origin { unit, ..self }
    }
}

impl dyn FittedMap + '_ {
    /// The input columns from which the output column `name` is made; none for a constant.
    pub fn sources(&self, name: &str) -> Vec<String> {
        self.origin(name).map_or_else(|| vec![name.to_owned()], |origin| origin.sources)
    }

    /// The number by which the map divided the values that became the output column `name`: 1 if it kept their unit.
    /// `None` if a change of the output is not proportional to a change of its source.
    pub fn divisor(&self, name: &str) -> Option<f64> {
        match self.origin(name).map(|origin| origin.unit) {
            None => Some(1.0),
            Some(OutputUnit::Divided(by)) => Some(by),
            Some(OutputUnit::Code | OutputUnit::Other) => None,
        }
    }
}

/// Scaling of a target to (y − `shift`) / `scale`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TargetScale {
    /// The number subtracted.
    pub shift: f64,
    /// The divisor.
    pub scale: f64,
}
