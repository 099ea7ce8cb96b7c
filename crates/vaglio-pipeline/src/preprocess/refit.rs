//! Preprocessing that is fitted again on the training rows of each fold: imputed means and standardization by formulas
//! if later maps only shift and scale, else whole maps.

use super::rows::{LabeledTable, Preprocessing, numeric};
use crate::maps::{scaled_source, source_columns};
use std::collections::HashMap;
use std::sync::Arc;
use vaglio_core::{
    Cells, Columns, Error, MapFormulas, MapTraits, Numbers, PerFoldPreprocessing, Problem, RefitScope, Result, Table,
};

/// Missing cells that one map filled.
#[derive(Debug)]
pub struct FilledCells {
    /// Index of the map.
    map: usize,
    /// Whether criteria without a closed form are refused.
    is_required: bool,
    /// Missing rows of numeric columns, as original row numbers.
    columns: HashMap<String, Vec<usize>>,
}

impl FilledCells {
    /// Records the missing cells of numeric columns before the map at index `map` fills them.
    pub fn before(map: usize, is_required: bool, table: &Table) -> Self {
        let missing = |(name, cells): &(String, Cells)| {
            cells.numbers()?;
            cells.missing()?;
            let rows = (0..cells.len()).filter(|&row| cells.is_missing(row)).map(|row| table.origin(row));
            Some((name.clone(), rows.collect()))
        };
        FilledCells { map, is_required, columns: table.columns().iter().filter_map(missing).collect() }
    }

    /// Keeps the columns that the map's output still has, without missing cells.
    #[must_use]
    pub fn after(mut self, table: &Table) -> Self {
        self.columns.retain(|name, _| table.get(name).is_some_and(|cells| cells.missing().is_none()));
        self
    }
}

impl Preprocessing {
    /// Preprocessing that folds refit by formulas, for the columns `names` in the rows of `table`. Filled cells are
    /// tracked through later `maps`, which may only shift and scale. Returns `None` if whole maps are refitted instead.
    pub fn formulas_in_folds(
        &self,
        filled: &[FilledCells],
        maps: &[MapFormulas],
        names: &[String],
        table: &Table,
    ) -> Option<PerFoldPreprocessing> {
        let traits: Vec<MapTraits> = self.maps.iter().map(|map| map.traits()).collect();
        let needs_maps = |(at, map): (usize, &MapTraits)| match map.in_folds {
            RefitScope::Maps => true,
            // Standardization as the last map has a closed form.
            RefitScope::Standardize => map.is_refit_required && at + 1 < traits.len(),
            RefitScope::Impute | RefitScope::No => false,
        };
        if traits.iter().enumerate().any(needs_maps) {
            return None;
        }
        let last = traits.last().filter(|last| last.in_folds == RefitScope::Standardize);
        let standardize = last.map(|last| last.is_refit_required);
        let places: HashMap<usize, usize> = (0..table.rows()).map(|row| (table.origin(row), row)).collect();
        let (mut found, mut is_required) = (Vec::new(), false);
        for one in filled.iter().filter(|one| !one.columns.is_empty()) {
            is_required |= one.is_required;
            let later = &maps[one.map + 1..];
            for (feature, name) in names.iter().enumerate() {
                let sources = source_columns(later, std::slice::from_ref(name));
                let Some(source) = sources.iter().filter(|source| one.columns.contains_key(*source)).min() else {
                    continue;
                };
                let is_scaled = scaled_source(later, name).is_some_and(|(source, _)| source == *name);
                if is_scaled {
                    let rows = one.columns[source].iter().filter_map(|origin| places.get(origin).copied());
                    found.push((feature, rows.collect()));
                } else {
                    let nothing = || PerFoldPreprocessing::impute(table.rows(), Vec::new(), false, standardize);
                    return (!one.is_required).then(nothing);
                }
            }
        }
        Some(PerFoldPreprocessing::impute(table.rows(), found, is_required, standardize))
    }

    /// Maps that folds refit, from the first with anything to refit on. `before` are the rows before the maps. The result
    /// makes all columns of the problem, for all rows, by maps fitted on some of them.
    ///
    /// # Errors
    /// [`Error::Setting`] if a refitted map drops rows or needs ordered rows. The result fails with the errors of the maps.
    pub fn maps_in_folds(self: &Arc<Self>, before: &LabeledTable, problem: &Problem) -> Result<PerFoldPreprocessing> {
        let Some(first) = self.maps.iter().position(|map| map.traits().in_folds != RefitScope::No) else {
            return Ok(PerFoldPreprocessing::default());
        };
        let mut rows = before.clone();
        self.map_targets(&mut rows)?;
        self.fit_between(0..first, &mut rows, None)?;
        if let Some(counting) = rows.counted_rows() {
            rows = rows.select(&counting);
        }
        let ordered = self.maps[first..].iter().position(|map| map.traits().needs_order);
        if ordered.is_some() || rows.table.rows() != problem.rows() {
            let field = format!("preprocess[{}]", first + ordered.unwrap_or(0));
            let message = "a map of rows in an order of time cannot be fitted in folds; move it before those with `scope: fold`, or use `scope: train`";
            return Err(Error::setting(field, message));
        }
        let (recipe, names) = (Arc::clone(self), problem.names().to_vec());
        Ok(PerFoldPreprocessing::Maps(Arc::new(move |training: &[usize]| {
            let mut is_training = vec![false; rows.table.rows()];
            training.iter().for_each(|&row| is_training[row] = true);
            let held_out: Vec<usize> = (0..is_training.len()).filter(|&row| !is_training[row]).collect();
            let mut own = rows.select(training);
            let learned = recipe.fit_between(first..recipe.maps.len(), &mut own, None)?;
            let mut others = rows.select(&held_out);
            for map in &learned.maps {
                others.map(map)?;
            }
            let mut parts = Vec::new();
            for (part, rows) in [(&mut own, training), (&mut others, &held_out[..])] {
                let (columns, names) = numeric(&mut part.table)?;
                if columns.rows() != rows.len() {
                    return Err(Error::Shape("maps that drop rows cannot be fitted in folds".into()));
                }
                let places: HashMap<String, usize> = names.into_iter().zip(0..).collect();
                parts.push((columns, places, rows));
            }
            let mut columns = Columns::new(is_training.len());
            for name in &names {
                // A column that these rows do not make, such as that of an absent level, is 0.
                let mut values = vec![0.0; is_training.len()];
                for (from, places, rows) in &parts {
                    if let Some(&place) = places.get(name) {
                        let column = from.column(place);
                        rows.iter().enumerate().for_each(|(j, &row)| values[row] = column.get(j));
                    }
                }
                columns.push(Numbers::from(values));
            }
            Ok(if recipe.is_single { columns.in_single() } else { columns })
        })))
    }
}
