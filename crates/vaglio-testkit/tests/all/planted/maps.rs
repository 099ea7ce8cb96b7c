//! Centering of columns, with possible faults.

use super::Planted;
use crate::common::TOLERANCE;
use serde::{Deserialize, Serialize};
use vaglio_core::{Cells, FittedMap, Map, Numbers, Origin, Result, Table, saved};
use vaglio_testkit::{check_map, data};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    Batch,
    IgnoresWeights,
    WrongSources,
    UnsavedField,
    Nan,
    Panics,
    ReordersRows,
    Renames,
    DropsAColumn,
    DropsARow,
    KeepsTooFew,
}

const FAULTS: [(&str, Fault, Option<&str>); 11] = [
    ("means of the rows that it transforms", Fault::Batch, Some("fixed")),
    ("row weights that are ignored", Fault::IgnoresWeights, Some("whole_weights")),
    ("wrong sources", Fault::WrongSources, Some("sources")),
    ("a field that is not saved", Fault::UnsavedField, Some("saved")),
    ("NaN", Fault::Nan, Some("repeatable")),
    ("a panic", Fault::Panics, Some("repeatable")),
    ("rows in another order", Fault::ReordersRows, Some("fixed")),
    ("columns under other names", Fault::Renames, Some("sources")),
    ("a column that is dropped by its place", Fault::DropsAColumn, Some("sources")),
    ("a row that is dropped", Fault::DropsARow, None),
    ("a column that is not kept", Fault::KeepsTooFew, Some("outputs")),
];

pub fn planted() -> Vec<Planted> {
    let tried = |fault| check_map(&Center { fault }, &data::table(16, 4, 1), TOLERANCE);
    let all = FAULTS.map(|(name, fault, law)| (name, law, tried(fault)));
    all.into_iter().chain([("a right map", None, tried(Fault::None))]).collect()
}

#[saved(Map, "planted_center")]
struct Center {
    fault: Fault,
}

impl Map for Center {
    fn fit(&self, table: &Table, weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        let weights = weights.filter(|_| self.fault != Fault::IgnoresWeights);
        let known = |(name, cells): &(String, Cells)| Some((name.clone(), mean(cells, weights)?));
        let means = table.columns().iter().filter_map(known).collect();
        Ok(Box::new(Centered { means, shift: 1.0, fault: self.fault }))
    }
}

fn mean(cells: &Cells, weights: Option<&[f64]>) -> Option<f64> {
    let values = cells.numbers()?.values().to_vec();
    let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
    let total: f64 = (0..values.len()).map(weight).sum();
    Some((0..values.len()).map(|row| weight(row) * values[row]).sum::<f64>() / total)
}

#[saved(FittedMap, "planted_centered")]
struct Centered {
    means: Vec<(String, f64)>,
    #[serde(skip)]
    shift: f64,
    fault: Fault,
}

impl FittedMap for Centered {
    fn transform(&self, table: Table) -> Result<Table> {
        assert!(self.fault != Fault::Panics, "an index is out of bounds");
        let rows = table.rows();
        let center = |(name, cells): &(String, Cells)| {
            let known = self.means.iter().find(|(n, _)| n == name).map_or(0.0, |(_, mean)| *mean);
            let by = match self.fault {
                Fault::Batch => mean(cells, None).unwrap_or(known),
                Fault::Nan => f64::NAN,
                Fault::UnsavedField => known + self.shift,
                _ => known,
            };
            let mut values: Vec<f64> =
                cells.numbers().map(|c| c.values().iter().map(|v| v - by).collect()).unwrap_or_default();
            if self.fault == Fault::ReordersRows {
                values.rotate_left(1);
            }
            let name = if self.fault == Fault::Renames { format!("{name} centered") } else { name.clone() };
            (name, Cells::Numbers(Numbers::from(values)))
        };
        let mut columns: Vec<(String, Cells)> = table.columns().iter().map(center).collect();
        if self.fault == Fault::DropsAColumn {
            columns.pop();
        }
        let centered = table.with_columns(columns)?;
        let first = if self.fault == Fault::DropsARow { 1 } else { 0 };
        Ok(if first == 0 { centered } else { centered.select_rows(&(first..rows).collect::<Vec<_>>()) })
    }

    fn origin(&self, name: &str) -> Option<Origin> {
        Some(Origin::from_column(if self.fault == Fault::WrongSources { "same" } else { name }))
    }

    fn for_outputs(&self, names: &[String]) -> Option<Box<dyn FittedMap>> {
        let kept = if self.fault == Fault::KeepsTooFew { &names[1..] } else { names };
        let means = self.means.iter().filter(|(name, _)| kept.contains(name)).cloned().collect();
        Some(Box::new(Centered { means, ..*self }))
    }

    fn takes_rows_alone(&self) -> bool {
        self.fault != Fault::DropsARow
    }
}
