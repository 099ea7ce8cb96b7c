//! Tracks cells filled by imputed means to the candidate columns.

use crate::maps::{ColumnScale, source_columns};
use std::collections::HashMap;
use vaglio_core::{MapFormulas, MissingMask, Requirement, Table};

/// Missing cells that one map filled.
#[derive(Debug)]
pub struct FilledCells {
    /// Index of the map.
    map: usize,
    need: Requirement,
    /// Missing rows of numeric columns, as original row numbers.
    columns: HashMap<String, Vec<usize>>,
}

impl FilledCells {
    /// Records the missing cells of numeric columns before the map at index `map` fills them.
    pub fn before(map: usize, need: Requirement, table: &Table) -> Self {
        let missing = |(name, cells): &(String, vaglio_core::Cells)| {
            cells.numbers()?;
            cells.missing()?;
            let rows = (0..cells.len()).filter(|&row| cells.is_missing(row)).map(|row| table.origin(row));
            Some((name.clone(), rows.collect()))
        };
        FilledCells { map, need, columns: table.columns().iter().filter_map(missing).collect() }
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
pub fn follow(
    filled: &[FilledCells],
    maps: &[MapFormulas],
    names: &[String],
    table: &Table,
) -> Option<(Requirement, MissingMask)> {
    let places: HashMap<usize, usize> = (0..table.rows()).map(|row| (table.origin(row), row)).collect();
    let (mut found, mut strongest) = (Vec::new(), Requirement::Possible);
    for one in filled.iter().filter(|one| !one.columns.is_empty()) {
        if one.need == Requirement::Required {
            strongest = Requirement::Required;
        }
        let later = &maps[one.map + 1..];
        for (feature, name) in names.iter().enumerate() {
            let sources = source_columns(later, std::slice::from_ref(name));
            let Some(source) = sources.iter().filter(|source| one.columns.contains_key(*source)).min() else {
                continue;
            };
            let is_scaled = ColumnScale::new(later, name).source.as_ref() == Some(name);
            match (is_scaled, one.need) {
                (true, _) => {
                    let rows = one.columns[source].iter().filter_map(|origin| places.get(origin).copied());
                    found.push((feature, rows.collect()));
                }
                (false, Requirement::Possible) => return Some((one.need, MissingMask::new(table.rows(), Vec::new()))),
                (false, Requirement::Required) => return None,
            }
        }
    }
    Some((strongest, MissingMask::new(table.rows(), found)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maps::{Clip, Impute, Interactions, Log1p, Scope, Standardize};
    use crate::preprocess::{LabeledTable, Preprocessing};
    use crate::resampling::Sample;
    use ndarray::array;
    use std::sync::Arc;
    use vaglio_core::{Cells, Map, Numbers, PerFoldPreprocessing, Problem, Task};

    const GONE: f64 = f64::NAN;

    fn impute(scope: Scope) -> Arc<dyn Map> {
        Arc::new(Impute { scope, ..Impute::default() })
    }

    fn fitted(maps: Vec<Arc<dyn Map>>) -> Problem {
        let column = |values: [f64; 4]| Cells::Numbers(Numbers::from(values.to_vec()));
        let table = Table::new(vec![
            ("a".into(), column([1.0, 2.0, 3.0, 5.0])),
            ("b".into(), column([1.0, GONE, 4.0, GONE])),
            ("c".into(), column([GONE, 2.0, 1.0, 0.0])),
        ]);
        let targets = array![[1.0, 2.0, 0.0, 1.0]];
        let rows = LabeledTable { table: table.unwrap(), targets: Arc::new(targets), ..LabeledTable::default() };
        let recipe = Preprocessing::new(maps, Task::Regression, vec!["y".into()]).unwrap();
        Sample::new(rows, Arc::new(recipe), false).unwrap().fit().unwrap().problem
    }

    type ImputationMasks = (Requirement, Vec<(usize, Vec<f64>)>);

    /// Imputation requirement, and the masks of columns with missing cells.
    fn made(maps: Vec<Arc<dyn Map>>) -> Option<ImputationMasks> {
        let problem = fitted(maps);
        let PerFoldPreprocessing::Formulas { missing: Some((need, mask)), .. } = problem.in_folds() else {
            return None;
        };
        let of_column = |&feature: &usize| (feature, mask.mask(feature).unwrap().values().into_owned());
        Some((*need, mask.features().iter().map(of_column).collect()))
    }

    #[test]
    fn missing_cells_are_followed_through_maps_that_shift_and_scale() {
        let (b, c) = ((1, vec![0.0, 1.0, 0.0, 1.0]), (2, vec![1.0, 0.0, 0.0, 0.0]));
        let standardize = || Arc::new(Standardize { scope: Scope::Train, ..Standardize::default() }) as Arc<dyn Map>;
        let found = made(vec![impute(Scope::Fold), standardize()]);
        assert_eq!(found, Some((Requirement::Required, vec![b.clone(), c.clone()])));
        let found = made(vec![impute(Scope::Auto)]);
        assert_eq!(found, Some((Requirement::Possible, vec![b.clone(), c])));
        assert_eq!(made(vec![impute(Scope::Train)]), None);
        let only = |columns: &[&str], scope| -> Arc<dyn Map> {
            let columns = Some(columns.iter().map(|&column| column.to_owned()).collect());
            Arc::new(Impute { scope, columns, ..Impute::default() })
        };
        let found = made(vec![only(&["b"], Scope::Auto), only(&["c"], Scope::Train), standardize()]);
        assert_eq!(found, Some((Requirement::Possible, vec![b])));
    }

    #[test]
    fn columns_that_are_made_of_filled_ones_are_not_filled_in_folds_by_a_formula() {
        let named = || vec!["b".to_owned()];
        let others: Vec<Arc<dyn Map>> = vec![
            Arc::new(Log1p { columns: Some(named()) }),
            Arc::new(Clip { columns: Some(named()), ..Clip::default() }),
            Arc::new(Interactions { columns: vec!["a".into(), "b".into()] }),
        ];
        for other in others {
            let maps = |scope| vec![impute(scope), Arc::clone(&other)];
            assert_eq!(made(maps(Scope::Auto)), None, "{other:?}");
            assert!(!fitted(maps(Scope::Auto)).in_folds().is_by_maps(), "{other:?}");
            assert_eq!(made(maps(Scope::Fold)), None, "{other:?}");
            assert!(fitted(maps(Scope::Fold)).in_folds().is_by_maps(), "{other:?}");
        }
    }
}
