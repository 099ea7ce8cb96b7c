//! Centering of columns, with possible faults.

use super::Planted;
use super::Said::{Found, Legal};
use crate::common::TOLERANCE;
use serde::{Deserialize, Serialize};
use vaglio_core::{Cells, FittedMap, Map, Numbers, Origin, Result, Table, TrainingRows, saved};
use vaglio_testkit::{LawViolation, check_map, check_map_on_standard_data, data};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    IgnoresWeights,
    Batch,
    Sorts,
    LastRow,
    Sources,
    Leaks,
    /// No fault: training rows get the target mean without their own row.
    OutOfFold,
    ZeroForMissing,
}

pub fn planted() -> Vec<Planted> {
    let ambiguous = "a map may fill what is missing, as `impute` does; whether 0 is meant is the author's to say";
    let all = [
        ("weights that are ignored", Fault::IgnoresWeights, Found("whole_weights")),
        ("means of the rows that it transforms", Fault::Batch, Found("fixed")),
        ("rows that are sorted", Fault::Sorts, Found("rowwise")),
        ("the last row of those that it transforms", Fault::LastRow, Found("fixed")),
        ("wrong sources", Fault::Sources, Found("sources")),
        ("a row's own target", Fault::Leaks, Found("own_target")),
        ("0 for what is missing", Fault::ZeroForMissing, Legal(ambiguous)),
    ];
    let tables = [data::table(16, 4, 1), data::gappy_table(16, 4, 2)];
    let tried = |fault| tables.iter().try_for_each(|table| check_map(&Center { fault }, table, TOLERANCE));
    all.into_iter().map(|(name, fault, said)| (name, said, tried(fault))).collect()
}

pub fn sound() -> Vec<(&'static str, std::result::Result<(), LawViolation>)> {
    vec![("a map", check_map_on_standard_data(&Center { fault: Fault::None }, TOLERANCE))]
}

/// A map that learns from targets transforms each training row without its own target.
#[test]
fn a_map_that_gives_the_training_rows_without_their_targets_keeps_every_law() {
    crate::common::holds(check_map(&Center { fault: Fault::OutOfFold }, &data::table(16, 4, 1), TOLERANCE));
    let broken = check_map(&Center { fault: Fault::Leaks }, &data::table(16, 4, 1), TOLERANCE).unwrap_err();
    assert!(broken.to_string().contains("of which `fit_rows` gives no table"), "{broken}");
}

#[saved(Map, "outside_center")]
struct Center {
    fault: Fault,
}

impl Map for Center {
    fn fit(&self, table: &Table, weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        let weights = weights.filter(|_| self.fault != Fault::IgnoresWeights);
        let known = |(name, cells): &(String, Cells)| Some((name.clone(), mean(cells, weights)?));
        let means = table.columns().iter().filter_map(known).collect();
        Ok(Box::new(Centered { means, shift: 0.0, fault: self.fault }))
    }

    fn fit_rows(&self, rows: &TrainingRows<'_>) -> Result<(Box<dyn FittedMap>, Option<Table>)> {
        if ![Fault::Leaks, Fault::OutOfFold].contains(&self.fault) {
            return Ok((self.fit(rows.table, rows.weights)?, None));
        }
        let weights = rows.weights.map_or_else(|| vec![1.0; rows.table.rows()], <[f64]>::to_vec);
        let known = |(name, cells): &(String, Cells)| Some((name.clone(), mean(cells, rows.weights)?));
        let means: Vec<(String, f64)> = rows.table.columns().iter().filter_map(known).collect();
        let of = |without: Option<usize>| {
            let kept = (0..weights.len()).filter(|row| Some(*row) != without);
            let (sum, total) = kept.fold((0.0, 0.0), |(sum, total), row| {
                (sum + weights[row] * rows.targets[[0, row]], total + weights[row])
            });
            sum / total
        };
        let fitted = |shift| Centered { means: means.clone(), shift, fault: self.fault };
        if self.fault == Fault::Leaks {
            return Ok((Box::new(fitted(of(None))), None));
        }
        let mut columns: Vec<(String, Vec<f64>)> = Vec::new();
        for row in 0..rows.table.rows() {
            let own = fitted(of(Some(row))).transform(rows.table.select_rows(&[row]))?;
            for (at, (name, cells)) in own.columns().iter().enumerate() {
                if row == 0 {
                    columns.push((name.clone(), Vec::new()));
                }
                columns[at].1.extend(cells.numbers().map(|numbers| numbers.get(0)));
            }
        }
        let columns = columns.into_iter().map(|(name, values)| (name, Cells::Numbers(Numbers::from(values))));
        Ok((Box::new(fitted(of(None))), Some(Table::new(columns.collect())?)))
    }
}

fn mean(cells: &Cells, weights: Option<&[f64]>) -> Option<f64> {
    let values = cells.numbers()?.values().to_vec();
    let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
    let there = || (0..values.len()).filter(|&row| !values[row].is_nan());
    Some(there().map(|row| weight(row) * values[row]).sum::<f64>() / there().map(weight).sum::<f64>())
}

#[saved(FittedMap, "outside_centered")]
struct Centered {
    means: Vec<(String, f64)>,
    /// Added to every number.
    shift: f64,
    fault: Fault,
}

impl FittedMap for Centered {
    fn transform(&self, table: Table) -> Result<Table> {
        let center = |(name, cells): &(String, Cells)| {
            let Some(numbers) = cells.numbers() else { return (name.clone(), cells.clone()) };
            let known = self.means.iter().find(|(n, _)| n == name).map_or(0.0, |(_, mean)| *mean);
            let values = numbers.values();
            let by = match self.fault {
                Fault::Batch => mean(cells, None).unwrap_or(known),
                Fault::LastRow => known + values.last().copied().unwrap_or(0.0),
                _ => known,
            };
            let zero = |v: f64| if self.fault == Fault::ZeroForMissing && v.is_nan() { 0.0 } else { v };
            let mut values: Vec<f64> = values.iter().map(|v| zero(v - by + self.shift)).collect();
            if self.fault == Fault::Sorts {
                values.sort_by(f64::total_cmp);
            }
            (name.clone(), Cells::Numbers(Numbers::from(values)))
        };
        let columns = table.columns().iter().map(center).collect();
        table.with_columns(columns)
    }

    fn origin(&self, name: &str) -> Option<Origin> {
        Some(Origin::from_column(if self.fault == Fault::Sources { "same" } else { name }))
    }
}
