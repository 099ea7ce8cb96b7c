//! Every law of a map fails on a faulty one, and holds on a correct one.

use crate::common::{TOLERANCE, breaks, broken_law};
use serde::{Deserialize, Serialize, Serializer};
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{
    Cells, ColumnFormula, Error, FittedMap, Map, MapFormulas, Numbers, Result, Table, TrainingRows, row_weights, saved,
};
use vaglio_testkit::{check_map, check_map_on_standard_data, data, map};

/// The planted fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    Refuses,
    Peeks,
    LastRow,
    ReordersRows,
    Random,
    Nan,
    Panics,
    PanicsOnFewRows,
    DropsAll,
    LosesADigit,
    SourcesMissing,
    SourcesUnknown,
    NeedsAll,
    MixesColumns,
    DropsAColumn,
    Renames,
    CountsRows,
    Sorts,
    Leaks,
    IgnoresWeights,
    /// No fault: only numbers are taken.
    NoText,
    /// No fault: a row is dropped.
    DropsARow,
    /// No fault: training rows get the target mean without their own row.
    OutOfFold,
    /// No fault: a map may fill missing cells, and whether 0 is meant is the author's decision.
    ZeroForMissing,
}

const FAULTS: [(Fault, &str); 19] = [
    (Fault::Random, "repeatable"),
    (Fault::Nan, "repeatable"),
    (Fault::Panics, "repeatable"),
    (Fault::DropsAll, "repeatable"),
    (Fault::Peeks, "fixed"),
    (Fault::LastRow, "fixed"),
    (Fault::ReordersRows, "fixed"),
    (Fault::SourcesMissing, "sources"),
    (Fault::SourcesUnknown, "sources"),
    (Fault::NeedsAll, "sources"),
    (Fault::MixesColumns, "sources"),
    (Fault::DropsAColumn, "sources"),
    (Fault::Renames, "sources"),
    (Fault::CountsRows, "rowwise"),
    (Fault::Sorts, "rowwise"),
    (Fault::Leaks, "own_target"),
    (Fault::LosesADigit, "saved"),
    (Fault::IgnoresWeights, "whole_weights"),
    (Fault::PanicsOnFewRows, "few_rows"),
];

/// Subtracts the mean of every numeric column, with one fault. It is not described, since the laws of the registry need
/// a role without components.
#[saved(Map, "center")]
struct Center {
    fault: Fault,
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

impl Center {
    fn fit_shifted(&self, table: &Table, weights: Option<&[f64]>, shift: f64) -> Centered {
        let weights = weights.filter(|_| self.fault != Fault::IgnoresWeights);
        let means = table.columns().iter().filter_map(|(name, cells)| Some((name.clone(), mean(cells, weights)?)));
        let means: Vec<(String, f64)> = means.collect();
        Centered { fault: self.fault, rounded: means.iter().map(|(_, m)| *m).collect(), means, shift }
    }
}

impl Map for Center {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let TrainingRows { table, weights, .. } = *rows;
        let text = table.columns().iter().any(|(_, cells)| cells.numbers().is_none());
        if self.fault == Fault::Refuses || self.fault == Fault::NoText && text {
            return Err(Error::setting("columns", "only numbers"));
        }
        assert!(self.fault != Fault::PanicsOnFewRows || table.rows() > 4, "an index is out of bounds");
        if ![Fault::Leaks, Fault::OutOfFold].contains(&self.fault) {
            return Ok(self.fit_shifted(table, weights, 0.0).into());
        }
        let weights = rows.weights.map_or_else(|| vec![1.0; rows.table.rows()], <[f64]>::to_vec);
        let shift = |without: Option<usize>| {
            let kept = (0..weights.len()).filter(|row| Some(*row) != without);
            let (sum, total) = kept.fold((0.0, 0.0), |(sum, total), row| {
                (sum + weights[row] * rows.targets[[0, row]], total + weights[row])
            });
            sum / total
        };
        let fitted = |without| self.fit_shifted(rows.table, rows.weights, shift(without));
        if self.fault == Fault::Leaks {
            return Ok(fitted(None).into());
        }
        let mut columns: Vec<(String, Vec<f64>)> = rows.table.names().map(|name| (name.into(), Vec::new())).collect();
        for row in 0..rows.table.rows() {
            let own = fitted(Some(row)).transform(rows.table.select_rows(&[row]))?;
            for ((_, values), (_, cells)) in columns.iter_mut().zip(own.columns()) {
                values.extend(cells.numbers().map(|numbers| numbers.get(0)));
            }
        }
        let columns = columns.into_iter().map(|(name, values)| (name, Cells::Numbers(Numbers::from(values))));
        let mut formulas = MapFormulas::from(fitted(None));
        formulas.training = Some(Table::new(columns.collect())?);
        Ok(formulas)
    }
}

fn mean(cells: &Cells, weights: Option<&[f64]>) -> Option<f64> {
    let values = cells.numbers()?.values().to_vec();
    let weight = row_weights(weights);
    let there = || (0..values.len()).filter(|&row| !values[row].is_nan());
    Some(there().map(|row| weight(row) * values[row]).sum::<f64>() / there().map(weight).sum::<f64>())
}

#[saved(FittedMap, "centered")]
struct Centered {
    fault: Fault,
    means: Vec<(String, f64)>,
    #[serde(serialize_with = "single")]
    rounded: Vec<f64>,
    /// Added to every number.
    shift: f64,
}

/// Serializes in single precision.
pub fn single<S: Serializer>(values: &[f64], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    values.iter().map(|&v| v as f32).collect::<Vec<f32>>().serialize(serializer)
}

impl Centered {
    fn values(&self, at: usize, cells: &Cells, first: f64) -> Option<Vec<f64>> {
        let (numbers, known) = (cells.numbers()?, self.means[at].1);
        let values = numbers.values();
        let by = match self.fault {
            Fault::Peeks => mean(cells, None).unwrap_or(known),
            Fault::LastRow => known + values.last().copied().unwrap_or(0.0),
            Fault::Random => known + CALLS.fetch_add(1, Ordering::SeqCst) as f64,
            Fault::Nan => f64::NAN,
            Fault::LosesADigit => self.rounded[at],
            Fault::MixesColumns => known + first,
            _ => known,
        };
        let place = |row: usize| if self.fault == Fault::CountsRows { row as f64 } else { 0.0 };
        let zero = |v: f64| if self.fault == Fault::ZeroForMissing && v.is_nan() { 0.0 } else { v };
        let mut values: Vec<f64> =
            values.iter().enumerate().map(|(row, v)| zero(v - by + self.shift + place(row))).collect();
        match self.fault {
            Fault::Sorts => values.sort_by(f64::total_cmp),
            Fault::ReordersRows => values.rotate_left(1),
            _ => {}
        }
        Some(values)
    }
}

impl FittedMap for Centered {
    fn transform(&self, table: Table) -> Result<Table> {
        assert!(self.fault != Fault::Panics, "an index is out of bounds");
        if self.fault == Fault::NeedsAll && self.means.iter().any(|(name, _)| table.get(name).is_none()) {
            return Err(Error::Shape("a column is missing".into()));
        }
        if self.fault == Fault::DropsAll {
            return Table::new(Vec::new());
        }
        let first = table.columns().iter().find_map(|(_, cells)| cells.numbers()).map_or(0.0, |c| c.get(0));
        let center = |(name, cells): &(String, Cells)| {
            let at = self.means.iter().position(|(known, _)| known == name);
            let values = at.and_then(|at| self.values(at, cells, first));
            let name = if self.fault == Fault::Renames { format!("{name} centered") } else { name.clone() };
            (name, values.map_or_else(|| cells.clone(), |values| Cells::Numbers(Numbers::from(values))))
        };
        let mut columns: Vec<(String, Cells)> = table.columns().iter().map(center).collect();
        if self.fault == Fault::DropsAColumn {
            columns.pop();
        }
        let rows = table.rows();
        let centered = table.with_columns(columns)?;
        Ok(if self.fault != Fault::DropsARow { centered } else { centered.select_rows(&(1..rows).collect::<Vec<_>>()) })
    }

    fn formulas(&self) -> MapFormulas {
        let formula = |(name, _): &(String, f64)| {
            let own = ColumnFormula::from_rows(name, name, None);
            match self.fault {
                Fault::SourcesMissing => ColumnFormula { sources: Vec::new(), ..own },
                Fault::SourcesUnknown => ColumnFormula { sources: vec![format!("{name}?")], ..own },
                _ => own,
            }
        };
        self.means.iter().map(formula).collect()
    }
}

fn check(fault: Fault, table: &Table) -> vaglio_testkit::LawResult {
    check_map(&Center { fault }, table, TOLERANCE)
}

#[test]
fn what_is_right_keeps_every_law() {
    for fault in [Fault::None, Fault::NoText] {
        check_map_on_standard_data(&Center { fault }, TOLERANCE).unwrap();
    }
    for fault in [Fault::DropsARow, Fault::OutOfFold] {
        check(fault, &data::table(16, 4, 1)).unwrap();
    }
    check(Fault::ZeroForMissing, &data::gappy_table(16, 4, 2)).unwrap();
}

#[test]
fn every_fault_is_found_by_its_law() {
    FAULTS.into_iter().for_each(|(fault, law)| breaks(fault, law, check(fault, &data::table(16, 4, 1))));
    let broken = check(Fault::Leaks, &data::table(16, 4, 1)).unwrap_err();
    assert!(broken.to_string().contains("of which `fit` gives no table"), "{broken}");
}

#[test]
fn data_with_nothing_to_see_are_refused() {
    assert_eq!(broken_law(check_map_on_standard_data(&Center { fault: Fault::Refuses }, TOLERANCE)), "check");
    let center = Center { fault: Fault::None };
    assert_eq!(broken_law(map::fixed(&center, &data::table(4, 3, 1))), "fixed");
    assert_eq!(broken_law(map::repeatable(&center, &Table::default())), "repeatable");
}
