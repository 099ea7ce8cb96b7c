//! Splits test rows off the training rows.

use super::roles::DataSettings;
use super::rows::having;
use super::series::{count_codes, named_cells, number_cells, time_ranks};
use super::targets::classes_of_rows;
use std::collections::HashSet;
use vaglio_core::shuffle::random_order;
use vaglio_core::{Error, Result, Table};
use vaglio_pipeline::pipeline::DataSpec;

/// Splits test rows off the training rows, if a setting asks for them.
///
/// # Errors
/// [`Error::Setting`] if a side would be empty, or groups would be on both.
pub fn set_aside(settings: &DataSettings<'_>, table: &mut Table) -> Result<Option<Table>> {
    let spec = &settings.spec;
    let is_test = match (spec.test_fraction, spec.test_last, &spec.test_rows) {
        (Some(fraction), ..) => at_random(spec, table, fraction, settings.seed)?,
        (None, Some(share), _) => last(spec, table, share)?,
        (None, None, Some(marked)) => {
            let name = &marked.column;
            let cells = table.get(name).ok_or_else(|| Error::Shape(format!("the column `{name}` is missing")))?;
            let is_test = having("data.test_rows.is", cells, &marked.is, spec.read.dates, true)?;
            if is_test.iter().all(|is| *is) {
                let message = format!("every row of `{name}` is a test row, and none is left to train on");
                return Err(Error::setting("data.test_rows", message));
            }
            is_test
        }
        (None, None, None) => return Ok(None),
    };
    let rows = |test: bool| (0..is_test.len()).filter(|&row| is_test[row] == test).collect::<Vec<_>>();
    let test = table.select_rows(&rows(true));
    *table = table.select_rows(&rows(false));
    Ok(Some(test))
}

/// Marks `aside` rows, stratified: the first of each class in `order`, in proportion to the nearest row, leaving at
/// least one of each.
fn evenly(order: &[usize], classes: &[u32], aside: usize) -> Vec<bool> {
    let sizes = count_codes(classes);
    let share = |size: usize| (aside * size) as f64 / classes.len() as f64;
    let mut left: Vec<usize> = sizes.iter().map(|&size| (share(size) as usize).min(size.saturating_sub(1))).collect();
    let mut by_rest: Vec<usize> = (0..sizes.len()).filter(|&class| left[class] + 1 < sizes[class]).collect();
    by_rest.sort_by(|&a, &b| share(sizes[b]).fract().total_cmp(&share(sizes[a]).fract()));
    let missing = aside.saturating_sub(left.iter().sum());
    by_rest.into_iter().take(missing).for_each(|class| left[class] += 1);
    let mut is_taken = vec![false; classes.len()];
    for &row in order {
        let left = &mut left[classes[row] as usize];
        is_taken[row] = *left > 0;
        *left = left.saturating_sub(1);
    }
    is_taken
}

/// Draws a random share of test rows by the seed; rows of one group or series stay together, and classes are
/// stratified.
fn at_random(spec: &DataSpec, table: &Table, fraction: f64, seed: u64) -> Result<Vec<bool>> {
    let rows = table.rows();
    let (groups, what) = match (named_cells(table, &spec.groups), table.series()) {
        (Some(cells), series) => (number_cells(cells), if series.is_some() { "groups of series" } else { "groups" }),
        (None, Some(series)) => (series.to_vec(), "series"),
        (None, None) if spec.time.is_some() => (vec![0; rows], "series"),
        (None, None) => ((0..rows as u32).collect(), "rows"),
    };
    let series = table.series().unwrap_or_default();
    if let Some(row) = (1..series.len()).find(|&row| series[row] == series[row - 1] && groups[row] != groups[row - 1]) {
        return Err(Error::setting(
            "data.groups",
            format!(
                "row {} is of another group than other rows of its series, and test rows are taken by groups; leave it out",
                table.origin(row) + 1
            ),
        ));
    }
    let count = count_codes(&groups).len();
    let order = random_order(count, seed);
    let aside = (fraction * count as f64).round() as usize;
    if aside == 0 || aside >= count {
        return Err(Error::setting(
            "data.test_fraction",
            format!("{fraction} of {count} {what} leaves one side empty"),
        ));
    }
    let mut is_test = vec![false; count];
    order[..aside].iter().for_each(|&group| is_test[group] = true);
    if let Some(classes) = classes_of_rows(spec, table).filter(|_| what == "rows") {
        is_test = evenly(&order, &classes, aside);
    }
    Ok(groups.iter().map(|&group| is_test[group as usize]).collect())
}

/// Takes the last rows by time as test rows, keeping equal times together; without times the last of each series, or of
/// the file.
fn last(spec: &DataSpec, table: &Table, share: f64) -> Result<Vec<bool>> {
    let rows = table.rows();
    let aside = |rows: usize| (share * rows as f64).round() as usize;
    let is_test: Vec<bool> = match time_ranks(table, &spec.time) {
        Some(times) => {
            let mut sorted = times.clone();
            sorted.sort_unstable();
            let first = sorted.get(rows - aside(rows)).copied().unwrap_or(u32::MAX);
            times.iter().map(|time| *time >= first).collect()
        }
        None => {
            let one = vec![0; rows];
            let series = table.series().unwrap_or(&one).chunk_by(|a, b| a == b);
            series.flat_map(|own| (0..own.len()).map(|place| place >= own.len() - aside(own.len()))).collect()
        }
    };
    let count = is_test.iter().filter(|is| **is).count();
    if count == 0 || count == rows {
        let message = format!("{share} of {rows} rows leaves one side empty");
        return Err(Error::setting("data.test_last", message));
    }
    if let Some(groups) = named_cells(table, &spec.groups).map(number_cells) {
        let test_groups: HashSet<u32> = (0..rows).filter(|&row| is_test[row]).map(|row| groups[row]).collect();
        if let Some(row) = (0..rows).find(|&row| !is_test[row] && test_groups.contains(&groups[row])) {
            let message = format!(
                "the group of row {} has later rows among the test rows, and rows of one group stay together; leave it out",
                table.origin(row) + 1
            );
            return Err(Error::setting("data.groups", message));
        }
    }
    Ok(is_test)
}
