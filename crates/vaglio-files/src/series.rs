//! Orders rows by series and time.

use super::periods::periods;
use std::borrow::Cow;
use std::cmp::Ordering;
use vaglio_core::{Cells, Error, Result, Table, gather, number_labels};

/// Sorts the rows by the columns `series` and `time`: series by first appearance, and within a series by time, or in
/// file order without one. The table remembers series and original rows. Equal times keep file order, allowed without
/// series and unless rows may use previous rows, `in_steps`. Cost O(rows · log rows).
///
/// # Errors
/// [`Error::Shape`] for times that are text, or equal within a series.
pub fn arrange_rows(table: Table, series: &Option<String>, time: &Option<String>, in_steps: bool) -> Result<Table> {
    let labels = named_cells(&table, series);
    let times = named_cells(&table, time);
    if labels.is_none() && times.is_none() {
        return Ok(table);
    }
    let series = labels.map_or_else(|| vec![0; table.rows()], number_cells);
    let describe_row = |row: usize| {
        let series = labels.map(|labels| format!(", series `{}`", labels.label(row))).unwrap_or_default();
        format!("row {}{series}", table.origin(row) + 1)
    };
    let name = time.as_deref().unwrap_or_default();
    let mut order: Vec<usize> = (0..table.rows()).collect();
    match times {
        None => order.sort_by_key(|&row| series[row]),
        Some(cells) => {
            let Some(times) = sortable_times(cells) else { return Err(not_a_time(name, cells, &describe_row)) };
            order.sort_by(|&a, &b| series[a].cmp(&series[b]).then(times[a].total_cmp(&times[b])));
            let twice = |pair: &&[usize]| series[pair[0]] == series[pair[1]] && times[pair[0]] == times[pair[1]];
            let is_once = in_steps || labels.is_some();
            if let Some(pair) = order.windows(2).find(twice).filter(|_| is_once) {
                let first = pair[0].min(pair[1]);
                let second = pair[0].max(pair[1]);
                let why = match labels {
                    Some(_) => "of the same series, in which a time stands once",
                    None => {
                        "too, and rows that are looked back at have a time each; name the column of the units by data.series"
                    }
                };
                return Err(Error::Shape(format!(
                    "{}, column `{name}`: the time {} is that of row {} {why}",
                    describe_row(second),
                    cells.label(second),
                    table.origin(first) + 1
                )));
            }
        }
    }
    let ordered = table.select_rows(&order);
    match labels {
        Some(_) => ordered.with_series(gather(&series, &order)),
        None => Ok(ordered),
    }
}

/// Error for text that is no time.
fn not_a_time(name: &str, cells: &Cells, describe_row: &dyn Fn(usize) -> String) -> Error {
    let is_odd = |row: &usize| periods(&[cells.label(*row)]).is_none() && cells.label(*row).parse::<f64>().is_err();
    let row = (0..cells.len()).find(is_odd).unwrap_or(0);
    let time = if cells.is_empty() { String::new() } else { cells.label(row) };
    Error::Shape(format!(
        "{}, column `{name}`: the time `{time}` is text; times are numbers, dates, months or quarters (2020Q1, 2020-03, Mar \
         2020), all written alike",
        describe_row(row)
    ))
}

/// Rank of each row's time among all, from 0; `None` without a column of times, and for text.
pub fn time_ranks(table: &Table, time: &Option<String>) -> Option<Vec<u32>> {
    Some(distinct_ranks(&sortable_times(named_cells(table, time)?)?, f64::total_cmp))
}

/// Cells of a column that a setting may name, if the table has it.
pub fn named_cells<'t>(table: &'t Table, name: &Option<String>) -> Option<&'t Cells> {
    table.get(name.as_deref()?)
}

/// Rank of each value among the distinct ones, from 0.
fn distinct_ranks<T: Clone + PartialOrd>(values: &[T], order: impl FnMut(&T, &T) -> Ordering) -> Vec<u32> {
    let mut all = values.to_vec();
    all.sort_unstable_by(order);
    all.dedup();
    values.iter().map(|value| all.partition_point(|other| other < value) as u32).collect()
}

/// Numbers or dates of a column, as doubles; `None` for text.
pub fn numbers(cells: &Cells) -> Option<Cow<'_, [f64]>> {
    match cells {
        Cells::Dates(dates) => Some(Cow::Borrowed(dates)),
        Cells::Numbers(numbers) => Some(numbers.view().values()),
        Cells::Text(_) => None,
    }
}

/// Times as increasing numbers; `None` for text that is neither months nor quarters.
pub fn moments(times: &Cells) -> Option<Cow<'_, [f64]>> {
    match times {
        Cells::Text(text) => periods(text).map(Cow::Owned),
        _ => numbers(times),
    }
}

/// Like [`moments`], but also ranks whole numbers that are kept as text because no double holds them.
fn sortable_times(times: &Cells) -> Option<Cow<'_, [f64]>> {
    moments(times).or_else(|| match times {
        Cells::Text(text) => Some(distinct_ranks(&whole_numbers(text)?, Ord::cmp).into_iter().map(f64::from).collect()),
        _ => None,
    })
}

/// Parses text as whole numbers, with `None` for missing cells; `None` for other text.
pub fn whole_numbers(text: &[String]) -> Option<Vec<Option<i128>>> {
    text.iter().map(|cell| if cell.is_empty() { Some(None) } else { cell.parse().ok().map(Some) }).collect()
}

/// Bits of a number, equal for numbers with one label: for 0 and −0, and for all missing values.
pub fn number_bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

/// Numbers the labels of cells from 0 by first appearance.
pub fn number_cells(cells: &Cells) -> Vec<u32> {
    let (numbers, _) = match cells {
        Cells::Numbers(numbers) => number_labels(numbers.view().values().iter().map(|&value| number_bits(value))),
        Cells::Text(text) => number_labels(text),
        Cells::Dates(_) => number_labels((0..cells.len()).map(|row| cells.label(row))),
    };
    numbers
}

/// Number of rows of each code.
pub fn count_codes(codes: &[u32]) -> Vec<usize> {
    let mut counts = vec![0; codes.iter().max().map_or(0, |most| *most as usize + 1)];
    codes.iter().for_each(|code| counts[*code as usize] += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_labels_have_equal_numbers() {
        let numbers = vec![2.5, f64::NAN, 0.0, -0.0, 2.5, -f64::NAN, 1e300];
        let text = ["b", "", "a", "a", "b", "", "c"].map(str::to_owned).to_vec();
        let dates = vec![86400.0, f64::NAN, 0.0, -0.0, 86400.0, f64::NAN, 0.5];
        for cells in [Cells::Numbers(numbers.into()), Cells::Text(text), Cells::Dates(dates)] {
            assert_eq!(number_cells(&cells), [0, 1, 2, 2, 0, 1, 3], "{}", cells.what());
        }
    }
}
