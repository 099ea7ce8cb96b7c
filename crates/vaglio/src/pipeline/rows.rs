//! Rows on their way through the maps: with what belongs to each, and back into the units of the target.

use super::ValidPipeline;
use ndarray::{Array2, Axis};
use std::collections::HashMap;
use vaglio_core::{Cells, Columns, Error, FittedMap, InFolds, Result, Table, TargetScale, Task};

/// A table with what belongs to its rows.
#[derive(Debug)]
pub(super) struct Rows {
    pub table: Table,
    /// Outputs × rows.
    pub targets: Array2<f64>,
    pub weights: Option<Vec<f64>>,
    pub groups: Option<Vec<u32>>,
    pub assignment: Option<Vec<u32>>,
}

impl Rows {
    /// Applies a map to the table; everything else follows the rows that it keeps.
    pub fn map(&mut self, map: &dyn FittedMap) -> Result<()> {
        let before: Vec<usize> = (0..self.table.rows()).map(|row| self.table.origin(row)).collect();
        self.table = map.transform(std::mem::take(&mut self.table))?;
        let after = (0..self.table.rows()).map(|row| self.table.origin(row));
        if after.len() == before.len() && after.eq(before.iter().copied()) {
            return Ok(());
        }
        let places: HashMap<usize, usize> = before.iter().enumerate().map(|(row, &origin)| (origin, row)).collect();
        let kept: Option<Vec<usize>> =
            (0..self.table.rows()).map(|row| places.get(&self.table.origin(row)).copied()).collect();
        let kept = kept.ok_or_else(|| Error::Shape("a map made rows that its table did not have".into()))?;
        self.targets = self.targets.select(Axis(1), &kept).as_standard_layout().into_owned();
        let numbers = |values: &mut Option<Vec<u32>>| {
            *values = values.take().map(|values| kept.iter().map(|&row| values[row]).collect());
        };
        numbers(&mut self.groups);
        numbers(&mut self.assignment);
        self.weights = self.weights.take().map(|weights| kept.iter().map(|&row| weights[row]).collect());
        Ok(())
    }
}

/// Fitted maps, and how each target was scaled, if it was.
pub(super) type FittedMaps = (Vec<Box<dyn FittedMap>>, Option<Vec<TargetScale>>);

impl ValidPipeline {
    /// Whether columns are to be standardized anew in each fold: by the last map, since those after it would have to be
    /// fitted anew as well.
    ///
    /// # Errors
    /// [`Error::Setting`] where that is required of a map that is not the last.
    pub(super) fn in_folds(&self) -> Result<Option<InFolds>> {
        let Some((last, before)) = self.0.preprocess.split_last() else { return Ok(None) };
        match before.iter().position(|map| map.in_folds() == Some(InFolds::Required)) {
            Some(index) => Err(Error::setting(
                format!("preprocess[{index}].scope"),
                "`fold` is for the last map, since those after it would see columns of another scale; move it to the end or use `train`",
            )),
            None => Ok(last.in_folds()),
        }
    }

    /// Fits each map on what the maps before it made, and applies it to the table and the targets.
    pub(super) fn fit_maps(&self, rows: &mut Rows, task: &Task) -> Result<FittedMaps> {
        let (mut maps, mut scales) = (Vec::new(), None);
        for (index, map) in self.0.preprocess.iter().enumerate() {
            let under = |e: Error| e.under(&format!("preprocess[{index}]"));
            let fitted = map.fit(&rows.table, rows.weights.as_deref()).map_err(under)?;
            rows.map(&*fitted)?;
            maps.push(fitted);
            let (targets, weights) = (&mut rows.targets, rows.weights.as_deref());
            let outputs = targets.nrows();
            for (output, mut target) in targets.rows_mut().into_iter().enumerate() {
                let Some(scale) = map.fit_target(&target.to_vec(), weights).map_err(under)? else { continue };
                if *task != Task::Regression {
                    return Err(under(Error::setting("target", "classes are not scaled; set it to false")));
                }
                target.mapv_inplace(|y| (y - scale.shift) / scale.scale);
                let none = TargetScale { shift: 0.0, scale: 1.0 };
                let so_far = &mut scales.get_or_insert_with(|| vec![none; outputs])[output];
                *so_far =
                    TargetScale { shift: so_far.shift + scale.shift * so_far.scale, scale: so_far.scale * scale.scale };
            }
        }
        Ok((maps, scales))
    }
}

/// The columns of a table that has no text left; its rows stay.
pub(super) fn numeric(table: &mut Table) -> Result<(Columns, Vec<String>)> {
    let (mut columns, mut names) = (Columns::new(table.rows()), Vec::new());
    for (name, cells) in table.take_columns() {
        match cells {
            Cells::Numbers(numbers) => {
                columns.push(numbers);
                names.push(name);
            }
            Cells::Text(text) => {
                let example = text.first().map_or("", String::as_str);
                return Err(Error::setting(
                    "preprocess",
                    format!(
                        "the column `{name}` holds text (`{example}`, …); add {{kind: one_hot}} to preprocess or the column to data.exclude"
                    ),
                ));
            }
        }
    }
    Ok((columns, names))
}

/// Predictions in the units that the target had before it was scaled.
pub(super) fn unscale(predictions: &mut Array2<f64>, scales: Option<&[TargetScale]>) {
    for (mut row, scale) in predictions.rows_mut().into_iter().zip(scales.unwrap_or_default()) {
        row.mapv_inplace(|p| p * scale.scale + scale.shift);
    }
}
