//! Maps refitted on the training rows of each fold.

use super::rows::{LabeledTable, Preprocessing, numeric};
use std::collections::HashMap;
use std::sync::Arc;
use vaglio_core::{Columns, Error, Numbers, Problem, Result};

/// Refits the maps from `first` on; `rows` are the output of the earlier maps. The result makes all columns of the
/// problem, for all rows, by maps fitted on some of them.
///
/// # Errors
/// [`Error::Setting`] if a later map drops rows or needs ordered rows. The result fails with the errors of the maps.
pub fn refit(
    rows: LabeledTable,
    recipe: &Arc<Preprocessing>,
    first: usize,
    problem: &Problem,
) -> Result<impl Fn(&[usize]) -> Result<Columns> + Send + Sync + use<>> {
    let rows = match rows.counted_rows() {
        Some(counting) => rows.select(&counting),
        None => rows,
    };
    let ordered = recipe.maps[first..].iter().position(|map| map.traits().needs_order);
    if ordered.is_some() || rows.table.rows() != problem.rows() {
        let field = format!("preprocess[{}]", first + ordered.unwrap_or(0));
        let message = "a map of rows in an order of time cannot be fitted in folds; move it before those with `scope: fold`, or use `scope: train`";
        return Err(Error::setting(field, message));
    }
    let (recipe, names) = (Arc::clone(recipe), problem.names().to_vec());
    Ok(move |training: &[usize]| {
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
    })
}
