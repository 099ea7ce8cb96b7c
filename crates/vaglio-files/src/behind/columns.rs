//! The chosen columns of all rows.

use crate::Prepared;
use crate::facts::cells::Values;
use ndarray::Array2;
use std::collections::HashMap;
use vaglio_core::{Design, Feature, Result};
use vaglio_pipeline::inside::scaled;
use vaglio_pipeline::resample::behind::{AffineModels, Judge, Probes, ReadColumn, RowsBehind};

/// Columns that are read, or made of those that are.
pub(super) struct ChosenColumns {
    pub read: Vec<ReadColumn>,
    /// Of each that is read the name of what maps made of it, and what one unit is of that.
    of_read: Vec<(String, f64)>,
    made: Vec<(String, Vec<f64>)>,
    models: Option<AffineModels>,
}

impl ChosenColumns {
    /// As many of the chosen ones as there is memory for.
    ///
    /// # Errors
    /// Those of the maps.
    pub fn new((prepared, design): (&Prepared, &Design), chosen: &[Feature], of: &dyn RowsBehind) -> Result<Self> {
        let rows = of.labels().cells.len();
        let most = (of.room() / (8 * rows.max(1)) as f64) as usize;
        let mut own = ChosenColumns { read: Vec::new(), of_read: Vec::new(), made: Vec::new(), models: None };
        let mut made = Vec::new();
        for &feature in chosen.iter().take(most) {
            let Some(name) = design.names().get(feature) else { continue };
            let scaled = scaled(&prepared.maps, name).ok().and_then(|scaled| Some((scaled.source?, scaled.divisor)));
            match scaled {
                Some((source, divisor)) if of.holds_numbers(&source) => {
                    own.read.push(ReadColumn { name: source, values: vec![f64::NAN; rows] });
                    own.of_read.push((name.clone(), divisor));
                }
                _ => {
                    made.push(feature);
                    own.made.push((name.clone(), vec![f64::NAN; rows]));
                }
            }
        }
        if !made.is_empty() {
            let fitted = prepared.sample.fitted()?;
            let probes = Probes::new(&prepared.sample, (&fitted.maps, fitted.problem.names()), &made)?;
            let columns: Vec<Array2<f64>> = made.iter().map(|&feature| probes.column(feature)).collect();
            own.models = Some(probes.models(&columns));
        }
        Ok(own)
    }

    /// What makes columns of the rows of all cells.
    pub fn judge(&mut self, cells: Vec<u32>) -> Option<Judge<'_>> {
        let models = self.models.take()?;
        let made = &mut self.made;
        let take = move |rows: &[usize], columns: &[Array2<f64>]| {
            for ((_, values), column) in made.iter_mut().zip(columns) {
                rows.iter().zip(column).for_each(|(&row, value)| values[row] = *value);
            }
        };
        Some(Judge { cells, models, take: Box::new(take) })
    }

    /// Their values by name.
    pub fn values(self, read: Vec<ReadColumn>) -> HashMap<String, Values> {
        let of_read = read
            .into_iter()
            .zip(self.of_read)
            .map(|(column, (name, divisor))| (name, Values { values: column.values, as_read: true, divisor }));
        let made = self.made.into_iter().map(|(name, values)| (name, Values { values, as_read: false, divisor: 1.0 }));
        of_read.chain(made).collect()
    }
}
