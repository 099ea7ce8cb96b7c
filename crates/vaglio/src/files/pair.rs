//! What pairs the outer figures of two runs.

use crate::resample::Outer;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use vaglio_core::Loss;
use vaglio_report::record::Paired;

/// Rows whose losses a record holds, at most.
const MOST: usize = 2000;

/// The digest of rows and folds, and the losses of rows where they are few.
pub(super) fn paired(outer: &[Outer], loss: &dyn Loss) -> Paired {
    let mut digest = Sha256::new();
    for fold in outer {
        for number in [fold.repeat, fold.fold, fold.rows.len()].iter().chain(&fold.rows) {
            digest.update((*number as u64).to_le_bytes());
        }
        fold.targets.iter().for_each(|target| digest.update(target.to_le_bytes()));
        let weight = |row: usize| fold.weights.as_ref().map_or(1.0, |weights| weights[row]);
        (0..fold.targets.ncols()).for_each(|row| digest.update(weight(row).to_le_bytes()));
    }
    let sha256 = format!("{:x}", digest.finalize());
    let few = loss.measure().is_of_rows()
        && outer.iter().filter(|fold| fold.repeat == 0).map(|f| f.rows.len()).sum::<usize>() <= MOST;
    let units = if few { by_row(outer, loss) } else { None };
    let Some(units) = units else { return Paired { sha256, losses: None, weights: None } };
    let is_weighted = units.windows(2).any(|pair| pair[0].1 != pair[1].1);
    Paired {
        sha256,
        losses: Some(units.iter().map(|(loss, _)| *loss).collect()),
        weights: is_weighted.then(|| units.iter().map(|(_, weight)| *weight).collect()),
    }
}

/// The mean loss over repeats of each row, or unit of rows, that counts, with its weight; `None` where maps dropped rows.
fn by_row(outer: &[Outer], loss: &dyn Loss) -> Option<Vec<(f64, f64)>> {
    let mut rows: BTreeMap<usize, (f64, f64, f64)> = BTreeMap::new();
    for fold in outer {
        // Where maps dropped rows, places are not known.
        if fold.rows.len() != fold.targets.ncols() {
            return None;
        }
        fold.compared(&fold.predictions).each_unit(loss, |unit| {
            let (sum, count, weight) = rows.entry(fold.rows[unit.row]).or_insert((0.0, 0.0, unit.weight));
            (*sum, *count, *weight) = (*sum + unit.loss, *count + 1.0, unit.weight);
        });
    }
    Some(rows.into_values().map(|(sum, count, weight)| (sum / count, weight)).collect())
}
