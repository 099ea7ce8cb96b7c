//! Laws of a map: `fit` fixes its state, and each output depends on its declared sources only.

use crate::law_violation::{Tolerance, attempt, equals, law, must, on_each, on_few_rows, reload, violation};
use crate::{LawResult, LawViolation, SplitMix64, data, design_copies};
use vaglio_core::{Cells, Map, MapFormulas, Numbers, Result as Made, Table, TrainingRows, gather, max_abs};

/// Checks all laws of a map on a table of at least eight rows.
///
/// # Errors
/// Fails with every violated law.
pub fn check_map(map: &dyn Map, table: &Table, tolerance: f64) -> LawResult {
    law("check", || attempt("the settings", || map.check_settings()))?;
    LawViolation::among([
        repeatable(map, table),
        fixed(map, table),
        sources(map, table),
        rowwise(map, table),
        own_target(map, table),
        saved(map, table),
        whole_weights(map, table, tolerance),
        few_rows(map, table),
    ])
}

/// Checks all laws of a map on [`data::table`], [`data::mixed_table`], [`data::gappy_table`] and
/// [`data::series_table`], if it can be fitted to them.
///
/// # Errors
/// Fails with every violated law, or if the map can be fitted to none.
pub fn check_map_on_standard_data(map: &dyn Map, tolerance: f64) -> LawResult {
    law("check", || {
        let tables = vec![
            ("numbers", data::table(20, 5, 41)),
            ("numbers and text", data::mixed_table(20, 5, 42)),
            ("missing cells and dates", data::gappy_table(20, 5, 44)),
            ("series", data::series_table(20, 5, 45)),
        ];
        on_each(tables, |table| fit(map, table).is_ok(), |table| check_map(map, table, tolerance))
    })
}

/// Fitting and transforming twice gives equal bits. Outputs are finite, or missing if a source cell is missing.
pub fn repeatable(map: &dyn Map, table: &Table) -> LawResult {
    law("repeatable", || {
        let (first, out) = fitted_and_transformed(map, table)?;
        must(out.names().next().is_some(), "the table", "at least one output column", out.rows())?;
        for (name, cells) in out.columns() {
            let Some(column) = cells.numbers() else { continue };
            let sources: Vec<&Cells> = first.sources(name).iter().filter_map(|source| table.get(source)).collect();
            let missing = |row: usize| match out.origins() {
                None => sources.iter().any(|source| source.is_missing(row)),
                Some(_) => sources.iter().any(|source| source.missing().is_some()),
            };
            let values = column.values();
            let wrong =
                (0..values.len()).find(|&row| !(values[row].is_finite() || values[row].is_nan() && missing(row)));
            if let Some(row) = wrong {
                return Err(violation(
                    format!("output column `{name}`, row {}", row + 1),
                    "finite numbers",
                    values[row],
                ));
            }
        }
        same(0.0, "a second transform", &out, &transform(&first, table)?)?;
        same(0.0, "a second fit", &out, &fitted_and_transformed(map, table)?.1)
    })
}

/// Later rows or series change no earlier row: the map's state comes from training rows only.
pub fn fixed(map: &dyn Map, table: &Table) -> LawResult {
    law("fixed", || {
        must(table.rows() >= 8, "the table", "at least eight rows", table.rows())?;
        let (fitted, whole) = fitted_and_transformed(map, table)?;
        let mut compared = 0;
        let runs: Vec<_> = table.runs().collect();
        let counts = match &runs[..] {
            [.., before, _] => [runs[0].end, before.end],
            _ => [table.rows() / 2, table.rows() - 1],
        };
        for count in counts {
            let part =
                attempt(format_args!("the first {count} rows"), || rows(table, &(0..count).collect::<Vec<_>>()))?;
            let part = transform(&fitted, &part)?;
            let kept: Vec<usize> = (0..part.rows().min(whole.rows())).collect();
            compared += kept.len();
            let expected = attempt(format_args!("the first {count} rows"), || rows(&whole, &kept))?;
            same(0.0, &format!("the first {count} rows alone"), &expected, &part)?;
        }
        must(compared > 0, "the table", "rows to compare", compared)
    })
}

/// Sources of an output are input columns and suffice to compute it: a table of these columns alone gives equal bits. A
/// column without sources is constant.
pub fn sources(map: &dyn Map, table: &Table) -> LawResult {
    law("sources", || {
        let (fitted, whole) = fitted_and_transformed(map, table)?;
        for (name, cells) in whole.columns() {
            let on = format_args!("output column `{name}`");
            let sources = fitted.sources(name);
            let is_constant = cells.numbers().is_some_and(|column| column.is_constant());
            must(!sources.is_empty() || is_constant, on, "at least one source", &sources)?;
            let known = sources.iter().all(|source| table.get(source).is_some());
            must(known, on, "columns of the input", &sources)?;
            let sources_alone = || {
                let kept = table.columns().iter().filter(|(name, _)| sources.contains(name)).cloned().collect();
                table.clone().with_columns(kept)
            };
            let out = transform(&fitted, &attempt(on, sources_alone)?)?;
            let Some(found) = out.get(name) else {
                return Err(violation(on, format!("to be made of {sources:?} alone"), "no such column"));
            };
            same_cells(0.0, &format!("output column `{name}` made of {sources:?} alone"), cells, found)?;
        }
        Ok(())
    })
}

/// A row's outputs do not depend on other rows: reversing the table reverses the outputs. A map of time-ordered rows,
/// or one that drops rows, has no formulas of single rows.
pub fn rowwise(map: &dyn Map, table: &Table) -> LawResult {
    law("rowwise", || {
        let (fitted, whole) = fitted_and_transformed(map, table)?;
        if map.traits().needs_order || whole.origins().is_some() {
            let alone = fitted.takes_rows_alone();
            return must(!alone, "a map that looks at other rows or drops some", "no formulas of single rows", alone);
        }
        let reversed: Vec<usize> = (0..table.rows()).rev().collect();
        let on = "the rows in reverse";
        let found = transform(&fitted, &attempt(on, || rows(table, &reversed))?)?;
        same(0.0, on, &attempt(on, || rows(&whole, &reversed))?, &found)
    })
}

/// A training row's outputs do not depend on its own target. A map that learns from targets returns the training rows
/// as if each row's target were unknown ([`MapFormulas::training`]). Their columns are those of other rows.
pub fn own_target(map: &dyn Map, table: &Table) -> LawResult {
    law("own_target", || {
        let target = made_up(table.rows());
        let becomes = |target: &[f64]| -> LawResult<(bool, Table)> {
            let mut fitted = fitted_to(map, table, target, None)?;
            let made = transform(&fitted, table)?;
            let Some(training) = fitted.training.take() else { return Ok((false, made)) };
            equals("the training rows", &names(&made), &names(&training))?;
            must(training.rows() == table.rows(), "the training rows", table.rows(), training.rows())?;
            Ok((true, training))
        };
        let (_, training) = becomes(&target)?;
        let place = |table: &Table, row: usize| match table.origins() {
            None => Some(row),
            Some(origins) => origins.iter().position(|origin| *origin == row),
        };
        for row in [0, table.rows() / 2, table.rows() - 1] {
            for by in [10.0, -3.0] {
                let mut changed = target.clone();
                changed[row] += by;
                let (is_given, other) = becomes(&changed)?;
                let (Some(before), Some(after)) = (place(&training, row), place(&other, row)) else { continue };
                let hint = if is_given { "" } else { ", of which `fit` gives no table" };
                let on = format!("row {} with another target{hint}", row + 1);
                let one = |table: &Table, row: usize| attempt(&on, || rows(table, &[row]));
                same(0.0, &on, &one(&training, before)?, &one(&other, after)?)?;
            }
        }
        Ok(())
    })
}

/// Fitting a map on the first one to four rows and transforming the table never panics; either may fail.
pub fn few_rows(map: &dyn Map, table: &Table) -> LawResult {
    on_few_rows(table.rows(), |first| {
        let (few, target) = (rows(table, first)?, made_up(first.len()));
        let fitted = map.fit(&training_rows(&few, &target, None))?;
        fitted.transform(few)?;
        fitted.transform(table.clone()).map(drop)
    })
}

/// A fitted map saved as JSON and loaded again gives equal bits and sources.
pub fn saved(map: &dyn Map, table: &Table) -> LawResult {
    law("saved", || {
        let (fitted, out) = fitted_and_transformed(map, table)?;
        let loaded = reload("the fitted map", &fitted)?;
        same(0.0, "the loaded map", &out, &transform(&loaded, table)?)?;
        for name in out.names() {
            equals(format_args!("the sources of `{name}`"), &fitted.sources(name), &loaded.sources(name))?;
        }
        Ok(())
    })
}

/// Scaling all weights changes nothing. A row of weight 2 equals that row given twice, unless the map counts rows: then
/// duplicating every row changes its outputs.
pub fn whole_weights(map: &dyn Map, table: &Table, tolerance: f64) -> LawResult {
    law("whole_weights", || {
        let (weights, repeats) = design_copies::weights_and_rows(table.rows());
        let (every, target): (Vec<usize>, _) = ((0..table.rows()).collect(), made_up(table.rows()));
        let made = |places: &[usize], weights: Option<&[f64]>| {
            let own = attempt("repeated rows", || rows(table, places))?;
            let target = gather(&target, places);
            transform(&fitted_to(map, &own, &target, weights)?, table)
        };
        let by_weight = made(&every, Some(&weights))?;
        let thrice = made(&every, Some(&weights.iter().map(|weight| 3.0 * weight).collect::<Vec<f64>>()))?;
        same(tolerance, "weights from 1 to 3, times 3", &by_weight, &thrice)?;
        let twice: Vec<usize> = every.iter().flat_map(|&row| [row, row]).collect();
        let counts_rows = same(tolerance, "every row twice", &made(&every, None)?, &made(&twice, None)?).is_err();
        if counts_rows {
            return Ok(());
        }
        same(tolerance, "weights from 1 to 3", &made(&repeats, None)?, &by_weight)
    })
}

fn fit(map: &dyn Map, table: &Table) -> LawResult<MapFormulas> {
    fitted_to(map, table, &made_up(table.rows()), None)
}

/// Fits the map to a table, and transforms this table.
fn fitted_and_transformed(map: &dyn Map, table: &Table) -> LawResult<(MapFormulas, Table)> {
    let fitted = fit(map, table)?;
    let transformed = transform(&fitted, table)?;
    Ok((fitted, transformed))
}

fn fitted_to(map: &dyn Map, table: &Table, target: &[f64], weights: Option<&[f64]>) -> LawResult<MapFormulas> {
    attempt("a fit to the table", || map.fit(&training_rows(table, target, weights)))
}

/// A table with one target.
fn training_rows<'a>(table: &'a Table, target: &'a [f64], weights: Option<&'a [f64]>) -> TrainingRows<'a> {
    let targets = ndarray::ArrayView1::from(target).insert_axis(ndarray::Axis(0));
    TrainingRows { table, targets, outputs: &[], lagged: &[], weights, groups: None, seed: 0 }
}

/// Generates a target.
fn made_up(rows: usize) -> Vec<f64> {
    let mut random = SplitMix64::new(43);
    (0..rows).map(|_| 5.0 + 2.0 * random.normal()).collect()
}

fn transform(map: &MapFormulas, table: &Table) -> LawResult<Table> {
    let on = format_args!("a table of {} rows and columns {:?}", table.rows(), names(table));
    attempt(on, || map.transform(table.clone()))
}

/// Selects table rows in the given order.
fn rows(table: &Table, rows: &[usize]) -> Made<Table> {
    // Selected rows may fit in bytes even if all rows do not.
    let pick = |cells: &Cells| match cells.select_rows(rows) {
        Cells::Numbers(numbers) => Cells::Numbers(Numbers::from(numbers.view().values().into_owned())),
        other => other,
    };
    let picked = Table::new(table.columns().iter().map(|(name, cells)| (name.clone(), pick(cells))).collect())?;
    match table.series() {
        Some(series) => picked.with_series(gather(series, rows)),
        None => Ok(picked),
    }
}

fn names(table: &Table) -> Vec<&str> {
    table.names().collect()
}

/// Fails unless tables are equal, with numbers within a tolerance; 0 is bit for bit.
fn same(tolerance: f64, on: &str, expected: &Table, found: &Table) -> LawResult {
    equals(on, &names(expected), &names(found))?;
    for ((name, a), (_, b)) in expected.columns().iter().zip(found.columns()) {
        same_cells(tolerance, &format!("{on}, output column `{name}`"), a, b)?;
    }
    Ok(())
}

fn same_cells(tolerance: f64, on: &str, expected: &Cells, found: &Cells) -> LawResult {
    must(expected.len() == found.len(), on, format!("{} rows", expected.len()), found.len())?;
    let labels = |cells: &Cells| (cells.what(), (0..cells.len()).map(|row| cells.label(row)).collect::<Vec<_>>());
    match (expected.numbers(), found.numbers()) {
        (Some(expected), Some(found)) => {
            let (expected, found) = (expected.values(), found.values());
            let least = max_abs(expected.iter().filter(|v| v.is_finite()));
            let near = |a: f64, b: f64| Tolerance { tolerance, least }.holds(a, b) || a.is_nan() && b.is_nan();
            for (row, (&a, &b)) in expected.iter().zip(&*found).enumerate() {
                let same = a.to_bits() == b.to_bits() || tolerance > 0.0 && near(a, b);
                must(same, format_args!("{on}, row {}", row + 1), format_args!("{a:?} to {tolerance:e}"), b)?;
            }
            Ok(())
        }
        _ => equals(on, &labels(expected), &labels(found)),
    }
}
