//! Detects the order and grouping of an undescribed table's rows.

mod nested;

pub use nested::{Nesting, nesting};

use super::super::series::moments;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use vaglio_core::Cells;

/// Detected order of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowOrder {
    /// One time series, ordered by this column.
    Series(String),
    /// One time series in file order, which is that of these columns.
    File(Vec<String>),
    /// Units, each at several times.
    PanelColumns(PanelColumns),
    /// Events, some at the same time: the column and the number of times.
    Events(String, usize),
}

/// Panel data: units, each at several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelColumns {
    /// Column of the units.
    pub unit: String,
    /// Column of the times; each occurs once per unit.
    pub time: String,
    /// Number of units.
    pub units: usize,
    /// Number of times.
    pub times: usize,
}

impl RowOrder {
    /// The columns that define the order.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            RowOrder::Series(time) | RowOrder::Events(time, _) => vec![time],
            RowOrder::File(by) => by.iter().map(String::as_str).collect(),
            RowOrder::PanelColumns(panel) => vec![&panel.unit, &panel.time],
        }
    }
}

/// A column without missing cells that may define the order.
pub struct OrderCandidate<'a> {
    pub name: &'a str,
    pub cells: &'a Cells,
    /// Values as numbers, if they are numbers, dates, months or quarters.
    values: Option<Cow<'a, [f64]>>,
    /// Index of each row's value, in order of first appearance.
    numbers: Vec<u32>,
    distinct: usize,
}

impl<'a> OrderCandidate<'a> {
    pub fn new(name: &'a str, cells: &'a Cells) -> Self {
        let numbers = super::super::series::numbers_of(cells);
        let distinct = numbers.iter().max().map_or(0, |most| *most as usize + 1);
        OrderCandidate { name, cells, values: moments(cells), numbers, distinct }
    }

    fn value(&self, row: usize) -> f64 {
        self.values.as_ref().map_or(f64::NAN, |values| values[row])
    }

    /// Whether it can only be time: dates, and text of months or quarters.
    fn is_dated(&self) -> bool {
        !matches!(self.cells, Cells::Numbers(_)) && self.values.is_some()
    }

    /// Whether its name or type suggests time, and at which resolution.
    fn says_time(&self) -> Option<usize> {
        match self.cells {
            _ if self.is_dated() => Some(0),
            Cells::Text(_) | Cells::Dates(_) => None,
            Cells::Numbers(_) => {
                words(self.name).iter().find_map(|word| TIMES.iter().position(|finer| finer.contains(&word.as_str())))
            }
        }
    }

    /// Whether its name suggests nothing but time: `year`, not `birth_year`.
    fn says_time_alone(&self) -> bool {
        self.is_dated()
            || words(self.name)
                .iter()
                .all(|word| BESIDE.contains(&word.as_str()) || TIMES.iter().any(|finer| finer.contains(&word.as_str())))
    }

    fn is_whole(&self) -> bool {
        (0..self.cells.len()).all(|row| self.value(row).fract() == 0.0)
    }

    fn rises(&self) -> bool {
        let pairs = || (1..self.cells.len()).map(|row| (self.value(row - 1), self.value(row)));
        pairs().all(|(a, b)| a < b) || pairs().all(|(a, b)| a > b)
    }
}

/// Words for times, from the coarsest to the finest.
const TIMES: [&[&str]; 8] = [
    &["year", "yr", "decade", "date", "datetime", "timestamp", "time", "t", "period", "step", "tick", "years", "epoch"],
    &["quarter", "qtr", "season"],
    &["month", "mon", "months"],
    &["week", "weeks", "wave", "round", "visit", "occasion"],
    &["day", "days"],
    &["hour", "hours", "hr"],
    &["minute", "minutes", "min"],
    &["second", "seconds", "sec"],
];
/// Words that may accompany one of time.
const BESIDE: [&str; 9] = ["id", "of", "no", "num", "number", "index", "obs", "observation", "calendar"];
/// Words for units with repeated observations.
const UNITS: [&str; 34] = [
    "id",
    "subject",
    "patient",
    "participant",
    "person",
    "unit",
    "firm",
    "company",
    "state",
    "country",
    "county",
    "city",
    "region",
    "province",
    "district",
    "school",
    "child",
    "individual",
    "household",
    "family",
    "animal",
    "user",
    "customer",
    "series",
    "sequence",
    "trajectory",
    "recording",
    "sector",
    "industry",
    "bank",
    "player",
    "team",
    "tree",
    "station",
];
/// Minimum number of rows to detect an order.
const FEWEST: usize = 12;
/// Minimum number of event times for forward chaining.
pub const FEWEST_TIMES: usize = 8;

/// Splits a name into words: `yearID` has two.
pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphabetic() || c.is_uppercase() && was_lower {
            words.push(String::new());
        }
        if c.is_alphabetic() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Detects the order of the rows; `time` and `unit` are columns that the user named.
pub fn find(columns: &[OrderCandidate<'_>], time: Option<&str>, unit: Option<&str>) -> Option<RowOrder> {
    let rows = columns.first().map_or(0, |first| first.cells.len());
    if rows < FEWEST && time.is_none() {
        return None;
    }
    let is_time = |c: &&OrderCandidate<'_>| match time {
        Some(name) => c.name == name,
        None => c.says_time().is_some(),
    };
    let times: Vec<&OrderCandidate<'_>> = columns.iter().filter(is_time).collect();
    let unique = |c: &&&OrderCandidate<'_>| c.distinct == rows && (time.is_some() || c.rises());
    let mut single: Vec<&&OrderCandidate<'_>> = times.iter().filter(unique).collect();
    single.sort_by_key(|c| !c.says_time_alone());
    if let (Some(found), None) = (single.first(), unit) {
        return Some(RowOrder::Series(found.name.to_owned()));
    }
    let panel = panel(columns, &times, rows, time.is_some(), unit);
    let in_file = || in_file(&times, rows).or_else(|| by_lags(columns, rows)).filter(|_| unit.is_none());
    let events = || events(&times, rows, time.is_some()).filter(|_| unit.is_none());
    panel.map(RowOrder::PanelColumns).or_else(in_file).or_else(events)
}

/// Event times that occur in several rows: dates in file order or with a time word as name. A column that the user
/// named as time may be numeric.
fn events(times: &[&OrderCandidate<'_>], rows: usize, is_known: bool) -> Option<RowOrder> {
    let in_order = |c: &OrderCandidate<'_>| {
        let mut pairs = (1..rows).map(|row| (c.value(row - 1), c.value(row)));
        pairs.clone().all(|(a, b)| a <= b) || pairs.all(|(a, b)| a >= b)
    };
    let is_called_time = |c: &OrderCandidate<'_>| {
        words(c.name).iter().all(|word| TIMES.iter().any(|finer| finer.contains(&word.as_str())))
    };
    let is_event = |c: &&&OrderCandidate<'_>| {
        let is_time = is_known && c.values.is_some() || c.is_dated() && (in_order(c) || is_called_time(c));
        is_time && (FEWEST_TIMES..rows).contains(&c.distinct)
    };
    times.iter().find(is_event).map(|c| RowOrder::Events(c.name.to_owned(), c.distinct))
}

/// Whether a column named as a lag equals another one row earlier, so that the file is in time order.
fn by_lags(columns: &[OrderCandidate<'_>], rows: usize) -> Option<RowOrder> {
    let says_lag = |c: &&OrderCandidate<'_>| words(c.name).iter().any(|word| word == "lag" || word == "lagged");
    let is_earlier = |lag: &OrderCandidate<'_>, of: &OrderCandidate<'_>| {
        lag.distinct > FEWEST && (1..rows).all(|row| lag.value(row) == of.value(row - 1))
    };
    let mut lags = columns.iter().filter(says_lag);
    lags.any(|lag| columns.iter().any(|of| is_earlier(lag, of))).then(|| RowOrder::File(Vec::new()))
}

/// Several time columns that order the file, such as year and month.
fn in_file(times: &[&OrderCandidate<'_>], rows: usize) -> Option<RowOrder> {
    let mut by: Vec<&&OrderCandidate<'_>> = times.iter().filter(|c| c.says_time_alone() && c.distinct > 1).collect();
    by.sort_by_key(|c| c.says_time());
    if by.len() < 2 || !by.windows(2).all(|pair| pair[0].says_time() < pair[1].says_time()) {
        return None;
    }
    let follows = |row: usize| {
        let differ = by.iter().map(|c| (c.value(row - 1), c.value(row))).find(|(a, b)| a != b);
        differ.is_some_and(|(a, b)| a < b)
    };
    (1..rows).all(follows).then(|| RowOrder::File(by.iter().map(|c| c.name.to_owned()).collect()))
}

/// Units and times with distinct pairs, each unit at several times.
fn panel(
    columns: &[OrderCandidate<'_>],
    times: &[&OrderCandidate<'_>],
    rows: usize,
    is_known: bool,
    unit: Option<&str>,
) -> Option<PanelColumns> {
    let is_unit = |c: &&OrderCandidate<'_>| match unit {
        Some(name) => c.name == name,
        None => c.says_time().is_none() && (matches!(c.cells, Cells::Text(_)) || c.is_whole()),
    };
    let mut found: Vec<(bool, &OrderCandidate<'_>, &OrderCandidate<'_>)> = Vec::new();
    for unit in columns.iter().filter(is_unit).filter(|c| c.distinct > 1 && 2 * c.distinct <= rows) {
        let is_named = words(unit.name).iter().any(|word| UNITS.contains(&word.as_str()));
        let by_time = |time: &&&OrderCandidate<'_>| {
            time.name != unit.name
                && (is_known || time.says_time_alone())
                && is_panel(unit, time, rows, is_named || is_known)
        };
        found.extend(times.iter().find(by_time).map(|time| (is_named, unit, *time)));
    }
    // Prefers units with a known word, then text to numbers, then the fewest units.
    found.sort_by_key(|(is_named, unit, _)| (!is_named, !matches!(unit.cells, Cells::Text(_)), unit.distinct));
    found.first().map(|(_, unit, time)| PanelColumns {
        unit: unit.name.to_owned(),
        time: time.name.to_owned(),
        units: unit.distinct,
        times: time.distinct,
    })
}

fn is_panel(unit: &OrderCandidate<'_>, time: &OrderCandidate<'_>, rows: usize, is_named: bool) -> bool {
    if time.distinct < 2 || time.distinct == rows && !is_named {
        return false;
    }
    let mut seen = HashSet::with_capacity(rows);
    if !unit.numbers.iter().zip(&time.numbers).all(|pair| seen.insert(pair)) {
        return false;
    }
    let mut sizes: HashMap<u32, usize> = HashMap::new();
    unit.numbers.iter().for_each(|&unit| *sizes.entry(unit).or_default() += 1);
    let several = sizes.values().filter(|size| **size > 1).count();
    let share = rows as f64 / (unit.distinct * time.distinct) as f64;
    // Sorted by unit, with increasing times in each, or by time.
    let changes = unit.numbers.windows(2).filter(|pair| pair[0] != pair[1]).count() + 1;
    let in_blocks = changes == unit.distinct
        && (1..rows).all(|row| unit.numbers[row] != unit.numbers[row - 1] || time.value(row) > time.value(row - 1));
    let by_time = (1..rows).all(|row| time.value(row) >= time.value(row - 1));
    let is_long = rows >= 3 * unit.distinct || time.distinct == 2 && share > 0.95;
    let is_enough = match (unit.cells, is_named) {
        (_, true) => share >= 0.5 || in_blocks,
        (Cells::Text(_), false) => share >= 0.75 || in_blocks && share >= 0.1,
        (_, false) => unit.distinct >= 5 && (in_blocks && share >= 0.1 || by_time && share > 0.95),
    };
    is_enough && is_long && 5 * several >= 4 * sizes.len()
}

#[cfg(test)]
mod tests;
