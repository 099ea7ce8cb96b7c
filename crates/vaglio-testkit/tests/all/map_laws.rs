//! Every law of a map fails on a faulty one, and holds on a correct one.

use crate::common::{TOLERANCE, broken_law, holds};
use serde::{Deserialize, Serialize, Serializer};
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{Cells, Error, FittedMap, Map, Numbers, Origin, Result, Table, TargetScale, saved};
use vaglio_testkit::{check_map, check_map_on_standard_data, data, map};

/// The planted fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    NoText,
    Refuses,
    Peeks,
    Random,
    Nan,
    DropsAll,
    LosesADigit,
    SourcesMissing,
    SourcesUnknown,
    NeedsAll,
    MixesColumns,
    CountsRows,
    IgnoresWeights,
    TargetIgnoresWeights,
    TargetScaleZero,
}

/// Subtracts the mean of every numeric column, with one fault. It is not described, since the laws of the registry need
/// a role without components.
#[saved(Map, "center")]
struct Center {
    fault: Fault,
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

impl Map for Center {
    fn fit(&self, table: &Table, weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        let text = table.columns().iter().any(|(_, cells)| cells.numbers().is_none());
        if self.fault == Fault::Refuses || self.fault == Fault::NoText && text {
            return Err(Error::setting("columns", "only numbers"));
        }
        let weights = weights.filter(|_| self.fault != Fault::IgnoresWeights);
        let means = table.columns().iter().filter_map(|(name, cells)| Some((name.clone(), mean(cells, weights)?)));
        let means: Vec<(String, f64)> = means.collect();
        Ok(Box::new(Centered { fault: self.fault, rounded: means.iter().map(|(_, m)| *m).collect(), means }))
    }

    fn fit_target(&self, target: &[f64], weights: Option<&[f64]>) -> Result<Option<TargetScale>> {
        let weights = weights.filter(|_| self.fault != Fault::TargetIgnoresWeights);
        let cells = Cells::Numbers(Numbers::from(target.to_vec()));
        let scale = if self.fault == Fault::TargetScaleZero { 0.0 } else { 1.0 };
        Ok(mean(&cells, weights).map(|shift| TargetScale { shift, scale }))
    }
}

fn mean(cells: &Cells, weights: Option<&[f64]>) -> Option<f64> {
    let values = cells.numbers()?.values().to_vec();
    let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
    let there = || (0..values.len()).filter(|&row| !values[row].is_nan());
    Some(there().map(|row| weight(row) * values[row]).sum::<f64>() / there().map(weight).sum::<f64>())
}

#[saved(FittedMap, "centered")]
struct Centered {
    fault: Fault,
    means: Vec<(String, f64)>,
    #[serde(serialize_with = "single")]
    rounded: Vec<f64>,
}

/// Serializes in single precision.
fn single<S: Serializer>(values: &[f64], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    values.iter().map(|&v| v as f32).collect::<Vec<f32>>().serialize(serializer)
}

impl FittedMap for Centered {
    fn transform(&self, table: Table) -> Result<Table> {
        if self.fault == Fault::NeedsAll && self.means.iter().any(|(name, _)| table.get(name).is_none()) {
            return Err(Error::Shape("a column is missing".into()));
        }
        if self.fault == Fault::DropsAll {
            return Table::new(Vec::new());
        }
        let first = table.columns().iter().find_map(|(_, cells)| cells.numbers()).map_or(0.0, |c| c.get(0));
        let shift = |at: usize, known: f64, cells: &Cells| match self.fault {
            Fault::Peeks => mean(cells, None).unwrap_or(known),
            Fault::Random => known + CALLS.fetch_add(1, Ordering::SeqCst) as f64,
            Fault::Nan => f64::NAN,
            Fault::LosesADigit => self.rounded[at],
            Fault::MixesColumns => known + first,
            _ => known,
        };
        let centered = |(name, cells): (String, Cells)| {
            let Some(at) = self.means.iter().position(|(n, _)| *n == name) else { return (name, cells) };
            let by = shift(at, self.means[at].1, &cells);
            let Some(column) = cells.numbers() else { return (name, cells) };
            let place = |row: usize| if self.fault == Fault::CountsRows { row as f64 } else { 0.0 };
            let values: Vec<f64> = column.values().iter().enumerate().map(|(row, v)| v - by + place(row)).collect();
            (name, Cells::Numbers(Numbers::from(values)))
        };
        Table::new(table.into_columns().into_iter().map(centered).collect())
    }

    fn origin(&self, name: &str) -> Option<Origin> {
        Some(match self.fault {
            Fault::SourcesMissing => Origin { sources: Vec::new(), ..Origin::from_column(name) },
            Fault::SourcesUnknown => Origin::from_column(format!("{name}?")),
            _ => Origin::from_column(name),
        })
    }
}

fn law_of(fault: Fault) -> &'static str {
    broken_law(check_map(&Center { fault }, &data::mixed_table(16, 4, 1), TOLERANCE))
}

#[test]
fn what_is_right_keeps_every_law_on_the_standard_data() {
    for fault in [Fault::None, Fault::NoText] {
        holds(check_map_on_standard_data(&Center { fault }, TOLERANCE));
    }
}

#[test]
fn a_map_that_can_be_fitted_to_nothing_has_kept_no_law() {
    assert_eq!(broken_law(check_map_on_standard_data(&Center { fault: Fault::Refuses }, TOLERANCE)), "check");
}

#[test]
fn a_map_that_peeks_at_the_rows_it_transforms_is_found() {
    assert_eq!(law_of(Fault::Peeks), "fixed");
}

#[test]
fn a_map_that_goes_by_the_place_of_a_row_is_found() {
    assert_eq!(law_of(Fault::CountsRows), "rowwise");
}

#[test]
fn a_map_that_is_not_repeatable_is_found() {
    assert_eq!(law_of(Fault::Random), "repeatable");
    assert_eq!(law_of(Fault::Nan), "repeatable");
    assert_eq!(law_of(Fault::DropsAll), "repeatable");
}

#[test]
fn a_map_that_loses_a_digit_in_saving_is_found() {
    assert_eq!(law_of(Fault::LosesADigit), "saved");
}

#[test]
fn sources_that_are_not_what_a_column_is_made_of_are_found() {
    for fault in [Fault::SourcesMissing, Fault::SourcesUnknown, Fault::NeedsAll, Fault::MixesColumns] {
        assert_eq!(law_of(fault), "sources", "{fault:?}");
    }
}

#[test]
fn a_map_that_ignores_weights_is_found() {
    assert_eq!(law_of(Fault::IgnoresWeights), "whole_weights");
    assert_eq!(law_of(Fault::TargetIgnoresWeights), "targets");
    assert_eq!(law_of(Fault::TargetScaleZero), "targets");
}

#[test]
fn a_table_with_nothing_to_see_is_refused() {
    let center = Center { fault: Fault::None };
    assert_eq!(broken_law(map::fixed(&center, &data::table(4, 3, 1))), "fixed");
    assert_eq!(broken_law(map::repeatable(&center, &Table::default())), "repeatable");
}
