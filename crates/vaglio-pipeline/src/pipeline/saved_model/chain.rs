//! Prediction by a saved model: fitted maps, then the model, then the units of the target.

use crate::maps::source_columns;
use crate::preprocess::{check_size, in_units, numeric};
use ndarray::Array2;
use std::collections::HashMap;
use vaglio_core::{
    Cells, Columns, Error, MapFormulas, Model, Result, Table, argsort_by, duplicate, gather, select_rows,
};
use vaglio_maps::target_maps::TargetUnits;
use vaglio_tables::budget::Budget;

/// Prediction chain: fitted maps, the model's inputs among their outputs, and target units.
pub struct PredictionChain<'m> {
    /// Fitted maps, in order.
    pub maps: &'m [MapFormulas],
    /// Columns that the model takes, in its order.
    pub inputs: &'m [String],
    /// The model.
    pub model: &'m Model,
    /// Maps and scales of the targets, if any.
    pub units: Option<&'m [TargetUnits]>,
    /// Number of outputs.
    pub outputs: usize,
}

/// Predictions for the rows of a table, in its order.
pub struct TablePredictions {
    /// Values, outputs × rows.
    pub values: Array2<f64>,
    /// Indices of the predicted rows in the table, increasing; rows dropped by maps are missing.
    pub rows: Vec<usize>,
    /// Weight of each predicted row in error figures, if they differ.
    pub counts: Option<Vec<f64>>,
}

/// Reduces fitted maps to those that make these columns.
pub fn needed_maps(mut maps: Vec<MapFormulas>, inputs: &[String]) -> Vec<MapFormulas> {
    let mut names = inputs.to_vec();
    for place in (0..maps.len()).rev() {
        let sources = source_columns(&maps[place..=place], &names);
        maps[place].retain(&names.iter().chain(&sources).cloned().collect());
        names = sources;
    }
    maps
}

impl PredictionChain<'_> {
    /// Columns of a data file that the inputs are made from.
    pub fn sources(&self) -> Vec<String> {
        source_columns(self.maps, self.inputs)
    }

    /// Whether the parts fit each other.
    pub fn fits(&self) -> bool {
        let are_units =
            |all: &[TargetUnits]| all.len() == self.outputs && all.iter().all(|units| units.scale.scale != 0.0);
        // A prediction for one row of zeros shows the number of outputs.
        let mut row = Columns::new(1);
        self.inputs.iter().for_each(|_| row.push(vec![0.0]));
        self.units.is_none_or(are_units)
            && self.inputs.len() == self.model.inputs().len()
            && duplicate(self.inputs.iter().map(String::as_str)).is_none()
            && self.model.predict(&row, None).map_or(true, |values| values.nrows() == self.outputs)
    }

    /// Inputs of the model, from a table with at least the source columns; and the table without columns.
    pub fn transform_inputs(&self, mut table: Table) -> Result<(Columns, Table)> {
        for map in self.maps {
            check_size(map, &table, Budget::for_machine())?;
            table = map.transform(table)?;
        }
        let names: Vec<String> = table.names().map(str::to_owned).collect();
        let mut made: HashMap<String, Cells> = table.take_columns().into_iter().collect();
        let missing = |name: &str| Error::unknown("data", "column", name, names.iter());
        let take = |name: &String| Ok((name.clone(), made.remove(name).ok_or_else(|| missing(name))?));
        table = table.with_columns(self.inputs.iter().map(take).collect::<Result<_>>()?)?;
        let columns = numeric(&mut table)?.0;
        Ok((columns, table))
    }

    /// Predicts the rows of a table with at least the source columns.
    pub fn predict(&self, table: Table) -> Result<TablePredictions> {
        let (columns, table) = self.transform_inputs(table)?;
        let rows = table.rows();
        let mut values = self.model.predict(&columns, table.series())?;
        if values.nrows() != self.outputs {
            return Err(Error::Shape(format!("{} outputs, and {} are named", values.nrows(), self.outputs)));
        }
        in_units(&mut values, self.units);
        if let Some(row) = (0..values.ncols()).find(|&r| values.column(r).iter().any(|v| !v.is_finite())) {
            return Err(Error::Numerical(format!("row {}: the prediction overflows", table.origin(row) + 1)));
        }
        let counts = self.model.counts(rows, table.series());
        let order = argsort_by(rows, |a, b| table.origin(a).cmp(&table.origin(b)));
        let counts = counts.map(|counts| gather(&counts, &order));
        let rows = order.iter().map(|&row| table.origin(row)).collect();
        Ok(TablePredictions { values: select_rows(&values, &order), rows, counts })
    }
}
