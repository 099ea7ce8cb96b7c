//! Maps: what is done to the columns before they are candidates, fitted on training rows only.

use crate::{Expression, Found, RefitScope, Result, Table, registered};
use ndarray::ArrayView2;
use std::fmt::Debug;

/// Training rows with what belongs to them, for maps that learn from more than the table.
#[derive(Debug, Clone, Copy)]
pub struct TrainingRows<'a> {
    /// The columns.
    pub table: &'a Table,
    /// Targets, outputs × rows; classes are coded ±1.
    pub targets: ArrayView2<'a, f64>,
    /// The name of each output: of a target, or of a class.
    pub outputs: &'a [String],
    /// The targets that are in the table as well, for maps that look at their past.
    pub lagged: &'a [String],
    /// One weight a row, all 1 when absent.
    pub weights: Option<&'a [f64]>,
    /// The group of each row, where rows of one stay together.
    pub groups: Option<&'a [u32]>,
    /// The pipeline's seed, from which random choices follow unless the map has one of its own.
    pub seed: u64,
}

/// A preprocessing step; its fields are its settings.
pub trait Map: registered::Map + Debug + Send + Sync {
    /// Learns what the map needs from the training rows.
    ///
    /// `weights` has one entry a row, all 1 when absent.
    ///
    /// # Errors
    /// Columns of a kind that the map cannot take.
    fn fit(&self, table: &Table, weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>>;

    /// Learns from the training rows with their targets; for maps that need more than the table.
    ///
    /// A table that is given with it is what the training rows become in place of what the fitted map makes of them: of a
    /// map that looks at targets, what each row would be had its own target not been known. It has the rows of the table
    /// and the columns that the fitted map makes.
    ///
    /// # Errors
    /// Those of [`Map::fit`].
    fn fit_rows(&self, rows: &TrainingRows<'_>) -> Result<(Box<dyn FittedMap>, Option<Table>)> {
        Ok((self.fit(rows.table, rows.weights)?, None))
    }

    /// Learns the shift and scale of a target, for maps that change targets as well.
    ///
    /// # Errors
    /// A scale that over- or underflows.
    fn fit_target(&self, _target: &[f64], _weights: Option<&[f64]>) -> Result<Option<TargetScale>> {
        Ok(None)
    }

    /// The part of the map that is fitted again on the training rows of each fold.
    fn in_folds(&self) -> RefitScope {
        RefitScope::No
    }

    /// Whether the map takes rows to be in an order of time, so that folds are contiguous.
    fn needs_order(&self) -> bool {
        false
    }

    /// How many rows back the map looks at the column `name` at least, where it makes columns of its past. That column can be a
    /// target: it is in the table for the map then, which leaves the column itself out.
    fn past_of(&self, _name: &str) -> Option<usize> {
        None
    }

    /// How many rows before a row the map looks at.
    fn past(&self) -> usize {
        0
    }

    /// How many steps ahead the targets are taken, increasing; none for those of the row itself. With them a target's
    /// present is known, and [`Map::past_of`] may be 0.
    fn horizons(&self) -> &[usize] {
        &[]
    }

    /// The name of the column that the map adds as a bias: constant, and a candidate all the same.
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

/// A map with what it learned: data only, saved with the model.
pub trait FittedMap: registered::FittedMap + Debug + Send + Sync {
    /// Applies the map to the columns of `table` that it knows; it may have fewer than the training table had.
    ///
    /// Made by [`Table::with_columns`] and [`Table::select_rows`], the table remembers its series, and which rows a map
    /// dropped.
    ///
    /// # Errors
    /// A cell that the training rows did not prepare for, with row and column.
    fn transform(&self, table: Table) -> Result<Table>;

    /// Findings of the fit of the map, for people.
    fn found(&self) -> Found {
        Found::default()
    }

    /// Bytes that the columns which the map makes of a table take beyond those that they replace, as far as that can be
    /// told before they are made: a table that would not fit into the memory that a run may take is refused by it.
    fn growth(&self, _table: &Table) -> f64 {
        0.0
    }

    /// The input columns from which the output column `name` is made; none for a column that no input has a part in. A map that changes
    /// columns in place leaves this out: each is made from the one of its name.
    fn sources(&self, name: &str) -> Vec<String> {
        vec![name.to_owned()]
    }

    /// The same map with what it learned for these of its output columns alone, which it makes with the same bits of their
    /// [sources](FittedMap::sources); it need not make others. A saved model keeps of its maps what its inputs take. `None`: all of it.
    fn of_outputs(&self, _names: &[String]) -> Option<Box<dyn FittedMap>> {
        None
    }

    /// By what the map divided the values that became the output column `name`: 1 for a map that keeps their unit. `None`
    /// where a change of the output is no multiple of a change of its source.
    fn divisor(&self, _name: &str) -> Option<f64> {
        None
    }

    /// Whether the output column `name` is a code that has a unit of its own, whatever it is made of: the place of a level in
    /// an order, a year. A weight is then told in that unit.
    fn is_code(&self, _name: &str) -> bool {
        false
    }

    /// What the output column `name` is of the columns that the map takes, so that `vaglio export` writes models behind it in
    /// other languages; `None` where that is no expression.
    fn expression(&self, _name: &str) -> Option<Expression> {
        None
    }

    /// Whether every row stays and becomes what it is by itself, so that the rows of a large file can be mapped some at a time.
    ///
    /// `false` for a map of rows in an order of time, and for one that drops rows.
    fn takes_rows_alone(&self) -> bool {
        true
    }

    /// How many rows before a row the map looks at.
    fn past(&self) -> usize {
        0
    }

    /// The columns whose levels the map has learned, each with these; other levels of new rows are warned of.
    fn levels(&self) -> Vec<(&str, Vec<&str>)> {
        Vec::new()
    }

    /// Whether the columns that the map makes of one are a block, as the levels of a text column are.
    fn makes_blocks(&self) -> bool {
        true
    }
}

/// A target was replaced by (y − `shift`) / `scale`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TargetScale {
    /// The number subtracted.
    pub shift: f64,
    /// The divisor.
    pub scale: f64,
}
