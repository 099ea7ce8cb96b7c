//! Tracks cells filled by imputed means to the candidate columns.

use crate::maps::{scaled_source, source_columns};
use std::collections::HashMap;
use vaglio_core::{MapFormulas, PerFoldPreprocessing, Table};

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
        let missing = |(name, cells): &(String, vaglio_core::Cells)| {
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

/// Tracks filled cells to the columns `names`, in the rows of `table`. Returns the mask of the cells whose means are
/// refitted in each fold; later maps may only shift and scale their columns. Returns `None` if refitting is required,
/// but later maps do more.
pub fn track_cells(
    filled: &[FilledCells],
    maps: &[MapFormulas],
    names: &[String],
    table: &Table,
    standardize: Option<bool>,
) -> Option<PerFoldPreprocessing> {
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
