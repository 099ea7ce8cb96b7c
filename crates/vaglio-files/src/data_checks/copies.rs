//! Duplicated rows, and groups in both training and test rows.

use super::profile::{Profile, in_backticks, join_with_and, named_columns};
use crate::series::number_bits;
use std::collections::{HashMap, HashSet};
use vaglio_core::{Cells, Column, Table};
use vaglio_report::record::{Warning, WarningKind};
use vaglio_tables::InferredType;

/// Extra bits by which random rows must differ, so that copies are unlikely by chance.
const BEYOND_CHANCE: f64 = 10.0;
/// Number of columns in the first round, after which unique rows are dropped.
const FIRST: usize = 16;
/// Memory per row while searching for copies, in bytes.
const BYTES: f64 = 64.0;

/// Warns of duplicated training rows, and of test rows that are copies of training rows.
pub fn copies(profile: &Profile<'_>) -> Vec<Warning> {
    let train = &profile.raw.table;
    let test = profile.test;
    let settings = profile.settings;
    let rows = train.rows() + test.map_or(0, Table::rows);
    if let Err(error) = settings.budget.need_in_total(BYTES * rows as f64, "hashes of the rows", "raise the limit") {
        let message = format!("copies of rows were not searched for: {error}");
        return vec![Warning::new(WarningKind::CopiesNotCounted, message)];
    }
    let identifiers = profile.names(|column| column.taken == InferredType::Identifier);
    // Columns that assign rows to folds or to the test set are not compared.
    let parts =
        settings.assignment_column().into_iter().chain(settings.spec.test_rows.as_ref().map(|test| &*test.column));
    let others: HashSet<&str> = identifiers.chain(parts).collect();
    let in_test: Option<HashMap<&str, &Cells>> = test.map(|test| named_columns(test).collect());
    let is_counted = |name: &str| in_test.as_ref().is_none_or(|test| test.contains_key(name)) && !others.contains(name);
    let (names, training_cells): (Vec<&str>, Vec<&Cells>) =
        named_columns(train).filter(|(name, _)| is_counted(name)).unzip();
    if !differ_by_chance(&training_cells, &profile.sample, train.rows()) {
        return Vec::new();
    }
    let test_cells = in_test.iter().map(|test| names.iter().map(|name| test[name]).collect());
    let hashes = copy_hashes(&std::iter::once(training_cells).chain(test_cells).collect::<Vec<_>>());
    let distinct: HashSet<u64> = hashes[0].iter().copied().collect();
    let mut warnings = Vec::new();
    let twice = hashes[0].len() - distinct.len();
    let all = train.rows();
    if twice > 0 {
        let are = if twice == 1 { "row is an exact copy of another" } else { "rows are exact copies of others" };
        let message = format!(
            "{twice} of {all} training {are}, so that rows held out are also trained on; take copies out of the file, or keep \
             them together by `data.groups`"
        );
        warnings.push(Warning::new(WarningKind::CopiedRows, message));
    }
    let Some(test) = test else { return warnings };
    let known = hashes[1].iter().filter(|hash| distinct.contains(hash)).count();
    if known > 0 {
        let are = if known == 1 {
            "row is an exact copy of a training row"
        } else {
            "rows are exact copies of training rows"
        };
        let place = if settings.spec.test.is_some() { "`data.test`" } else { "the file" };
        let message = format!(
            "{known} of {} test {are}, so that figures on test rows are too good; take them out of {place}",
            test.rows()
        );
        warnings.push(Warning::new(WarningKind::TestRowsInTraining, message));
    }
    warnings
}

/// Whether independent rows would differ, taking columns as independent: few rows with few values coincide anyway.
fn differ_by_chance(columns: &[&Cells], sample: &[usize], rows: usize) -> bool {
    let needed = 2.0 * (rows as f64).log2() + BEYOND_CHANCE;
    let mut bits = 0.0;
    for cells in columns {
        let mut values: Vec<u64> = sample.iter().map(|&row| cell_hash(cells, row)).collect();
        values.sort_unstable();
        let pairs = |count: usize| (count * count.saturating_sub(1)) as f64;
        let alike: f64 = values.chunk_by(|a, b| a == b).map(|run| pairs(run.len())).sum();
        bits -= (alike / pairs(sample.len())).max(1.0 / sample.len() as f64).log2();
        if bits >= needed {
            return true;
        }
    }
    false
}

/// Hash of every row that has a copy in any of the tables, by table; equal hashes mean equal rows. All tables have the
/// columns of the first, in its order. Rows unique in the first columns are dropped. Cost O(rows · columns), or
/// O(entries) for sparse columns.
fn copy_hashes(tables: &[Vec<&Cells>]) -> Vec<Vec<u64>> {
    let mut rows: Vec<Vec<usize>> = tables.iter().map(|columns| (0..columns[0].len()).collect()).collect();
    let mut hashes: Vec<Vec<u64>> = rows.iter().map(|rows| vec![0; rows.len()]).collect();
    let mut from = 0;
    let mut to = FIRST;
    while from < tables[0].len() {
        for ((columns, rows), hashes) in tables.iter().zip(&rows).zip(&mut hashes) {
            (from..to.min(columns.len())).for_each(|place| add_hashes(hashes, rows, columns[place], place as u64));
        }
        let mut all: Vec<u64> = hashes.iter().flatten().copied().collect();
        all.sort_unstable();
        let again: HashSet<u64> = all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        for (rows, hashes) in rows.iter_mut().zip(&mut hashes) {
            let mut is_alike = hashes.iter().map(|hash| again.contains(hash));
            rows.retain(|_| is_alike.next() == Some(true));
            hashes.retain(|hash| again.contains(hash));
        }
        if again.is_empty() {
            break;
        }
        (from, to) = (to, 2 * to);
    }
    hashes
}

/// Adds the cells of the column at `place` to the hashes of some rows; zeros add nothing.
fn add_hashes(hashes: &mut [u64], rows: &[usize], cells: &Cells, place: u64) {
    let place_hash = mix_hash(0, place);
    let add = |hash: &mut u64, value: u64| {
        if value != 0 {
            *hash = hash.wrapping_add(mix_hash(place_hash, value));
        }
    };
    match cells.numbers() {
        Some(Column::Sparse(column)) if column.fill() == 0.0 => {
            let mut next = 0;
            column.for_each(|row, value| {
                next += rows[next..].partition_point(|&other| other < row);
                if rows.get(next) == Some(&row) {
                    add(&mut hashes[next], number_bits(value));
                }
            });
        }
        Some(column) => {
            let values = column.gather(rows);
            hashes.iter_mut().zip(values).for_each(|(hash, value)| add(hash, number_bits(value)));
        }
        None => hashes.iter_mut().zip(rows).for_each(|(hash, &row)| add(hash, cell_hash(cells, row))),
    }
}

/// Hash of a cell; equal cells have equal hashes.
fn cell_hash(cells: &Cells, row: usize) -> u64 {
    match cells {
        Cells::Numbers(numbers) => number_bits(numbers.view().get(row)),
        Cells::Dates(dates) => number_bits(dates[row]),
        Cells::Text(text) => {
            text[row].bytes().fold(text[row].len() as u64, |hash, byte| mix_hash(hash, u64::from(byte)))
        }
    }
}

/// Mixes two numbers by folding their 128-bit product.
#[inline]
fn mix_hash(hash: u64, value: u64) -> u64 {
    let product = u128::from(hash ^ 0x9e37_79b9_7f4a_7c15) * u128::from(value ^ 0xd1b5_4a32_d192_ed03);
    (product as u64 ^ (product >> 64) as u64).rotate_left(29).wrapping_add(value)
}

/// Warns of groups with rows in both the training and the test set.
pub fn groups_on_both_sides(profile: &Profile<'_>) -> Option<Warning> {
    let name = profile.settings.spec.groups.as_deref()?;
    let train = profile.raw.table.get(name)?;
    let test = profile.test?.get(name)?;
    let training_labels: HashSet<String> = (0..train.len()).map(|row| train.label(row)).collect();
    let mut seen = HashSet::new();
    let both = (0..test.len())
        .map(|row| test.label(row))
        .filter(|label| training_labels.contains(label) && seen.insert(label.clone()));
    let both: Vec<String> = both.map(|label| in_backticks(&label)).collect();
    if both.is_empty() {
        return None;
    }
    let groups = if both.len() == 1 { "1 group has".to_owned() } else { format!("{} groups have", both.len()) };
    let message = format!(
        "{groups} rows in training and in test ({} of `{name}`), so that figures on test rows are not those of new groups; put \
         the rows of each on one side",
        join_with_and(&both, "")
    );
    Some(Warning::new(WarningKind::GroupsOnBothSides, message))
}
