//! Detects the order and grouping of an undescribed table's rows.

use crate::series::{count_codes, moments, number_cells};
use std::borrow::Cow;
use std::collections::HashSet;
use vaglio_core::{Cells, argsort_by};

/// Dependence of the rows on each other.
#[derive(Debug, Clone, PartialEq)]
pub enum RowLayout {
    /// Independent rows.
    Rows,
    /// Groups: the column and their number.
    Groups(String, usize),
    /// Units over time; predictions are for new units.
    NewUnits(Panel),
    /// Units over time; predictions are for later times.
    NextTimes(Panel),
    /// Rows ordered by this column, whose times differ.
    Time(String),
    /// Rows ordered by this column, some with one time, and the number of times.
    Events(String, usize),
    /// Rows in the order of the file, which is the order of these columns.
    File(Vec<String>),
}

/// Panel data: units, each at several times.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Column of the units.
    pub unit: String,
    /// Column of the times; each occurs once per unit.
    pub time: String,
    /// Number of units.
    pub units: usize,
    /// Number of times.
    pub times: usize,
}

impl RowLayout {
    /// The columns that define the layout.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            RowLayout::Rows => Vec::new(),
            RowLayout::Time(column) | RowLayout::Groups(column, _) | RowLayout::Events(column, _) => vec![column],
            RowLayout::File(by) => by.iter().map(String::as_str).collect(),
            RowLayout::NewUnits(panel) | RowLayout::NextTimes(panel) => vec![&panel.unit, &panel.time],
        }
    }

    /// Whether later rows are predicted from earlier ones.
    pub fn is_ahead(&self) -> bool {
        matches!(self, RowLayout::Time(_) | RowLayout::Events(..) | RowLayout::File(_) | RowLayout::NextTimes(_))
    }
}

/// A column with a code for each distinct value.
pub struct CodedColumn<'a> {
    pub name: &'a str,
    pub cells: &'a Cells,
    /// Code of each row's value, in order of first appearance.
    codes: Vec<u32>,
    /// Number of rows of each code.
    counts: Vec<usize>,
    /// Values as numbers, if they are numbers, dates, months or quarters.
    values: Option<Cow<'a, [f64]>>,
}

impl<'a> CodedColumn<'a> {
    pub fn new(name: &'a str, cells: &'a Cells) -> Self {
        let codes = number_cells(cells);
        CodedColumn { name, cells, counts: count_codes(&codes), codes, values: moments(cells) }
    }

    /// Numbers of rows of the values that are not missing.
    pub fn counts(&self) -> Vec<usize> {
        let missing = self.cells.missing().map(|(first, _)| self.codes[first] as usize);
        let present = self.counts.iter().enumerate().filter(|(code, _)| Some(*code) != missing);
        present.map(|(_, count)| *count).collect()
    }

    /// Label and number of rows of each value, if there are at most `most`.
    pub fn levels(&self, most: usize) -> Option<Vec<(String, usize)>> {
        let first = |code: usize| self.codes.iter().position(|other| *other as usize == code).unwrap_or(0);
        let level = |(code, rows): (usize, &usize)| (self.cells.label(first(code)), *rows);
        (self.distinct() <= most).then(|| self.counts.iter().enumerate().map(level).collect())
    }

    fn rows(&self) -> usize {
        self.codes.len()
    }

    /// Number of distinct values.
    fn distinct(&self) -> usize {
        self.counts.len()
    }

    fn value(&self, row: usize) -> f64 {
        self.values.as_ref().map_or(f64::NAN, |values| values[row])
    }

    /// Whether `is_before` holds for all neighboring values, in file order or in reverse.
    fn is_ordered(&self, is_before: fn(f64, f64) -> bool) -> bool {
        let mut pairs = (1..self.rows()).map(|row| (self.value(row - 1), self.value(row)));
        pairs.clone().all(|(a, b)| is_before(a, b)) || pairs.all(|(a, b)| is_before(b, a))
    }

    /// Whether it can only be time: dates, and text of months or quarters.
    fn is_dated(&self) -> bool {
        !matches!(self.cells, Cells::Numbers(_)) && self.values.is_some()
    }

    /// Whether its name or type suggests time, and at which resolution.
    fn resolution(&self) -> Option<usize> {
        match self.cells {
            Cells::Numbers(_) => words(self.name).iter().find_map(|word| resolution_of_word(word)),
            Cells::Text(_) | Cells::Dates(_) => self.is_dated().then_some(0),
        }
    }

    /// Whether its name suggests nothing but time: `year`, not `birth_year`.
    fn is_time_alone(&self) -> bool {
        let is_time = |word: &String| is_among(word, BESIDE) || resolution_of_word(word).is_some();
        self.is_dated() || words(self.name).iter().all(is_time)
    }

    fn is_whole(&self) -> bool {
        (0..self.rows()).all(|row| self.value(row).fract() == 0.0)
    }
}

/// Resolution of a word for time, from the coarsest.
fn resolution_of_word(word: &str) -> Option<usize> {
    TIMES.iter().position(|finer| is_among(word, finer))
}

/// Words for times, from the coarsest to the finest.
const TIMES: [&str; 8] = [
    "year yr decade date datetime timestamp time t period step tick years epoch",
    "quarter qtr season",
    "month mon months",
    "week weeks wave round visit occasion",
    "day days",
    "hour hours hr",
    "minute minutes min",
    "second seconds sec",
];
/// Words that may accompany one of time.
const BESIDE: &str = "id of no num number index obs observation calendar";
/// Words for units with repeated observations.
const UNITS: &str = "id subject patient participant person unit firm company state country county city region province \
                     district school child individual household family animal user customer series sequence trajectory \
                     recording sector industry bank player team tree station";
/// Minimum number of rows to detect an order.
const FEWEST: usize = 12;
/// Minimum number of event times for forward chaining.
pub const FEWEST_TIMES: usize = 8;

/// Whether a word is in a list of words with blanks between.
pub fn is_among(word: &str, list: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

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
pub fn find(columns: &[CodedColumn<'_>], time: Option<&str>, unit: Option<&str>) -> Option<RowLayout> {
    let rows = columns.first().map_or(0, CodedColumn::rows);
    if rows < FEWEST && time.is_none() {
        return None;
    }
    let is_time = |c: &&CodedColumn<'_>| time.map_or_else(|| c.resolution().is_some(), |time| c.name == time);
    let times: Vec<&CodedColumn<'_>> = columns.iter().filter(is_time).collect();
    let is_series = |c: &&&CodedColumn<'_>| c.distinct() == rows && (time.is_some() || c.is_ordered(|a, b| a < b));
    let series = times.iter().filter(is_series).min_by_key(|c| !c.is_time_alone());
    let panel = || panel(columns, &times, time.is_some(), unit);
    if unit.is_some() {
        return panel();
    }
    let in_file = || in_file(&times).or_else(|| has_lags(columns).then(|| RowLayout::File(Vec::new())));
    let events = || {
        let event = times.iter().find(|c| is_event(c, time.is_some()))?;
        Some(RowLayout::Events(event.name.to_owned(), event.distinct()))
    };
    let series = series.map(|c| RowLayout::Time(c.name.to_owned()));
    series.or_else(panel).or_else(in_file).or_else(events)
}

/// Whether times occur in several rows: dates in file order or with a time word as name. A column that the user named
/// as time may be numeric.
fn is_event(c: &CodedColumn<'_>, is_known: bool) -> bool {
    let is_called_time = || words(c.name).iter().all(|word| resolution_of_word(word).is_some());
    let is_time = is_known && c.values.is_some() || c.is_dated() && (c.is_ordered(|a, b| a <= b) || is_called_time());
    is_time && (FEWEST_TIMES..c.rows()).contains(&c.distinct())
}

/// Whether a column named as a lag equals another one row earlier, so that the file is in time order.
fn has_lags(columns: &[CodedColumn<'_>]) -> bool {
    let says_lag = |c: &&CodedColumn<'_>| words(c.name).iter().any(|word| word == "lag" || word == "lagged");
    let is_earlier = |lag: &CodedColumn<'_>, original: &CodedColumn<'_>| {
        lag.distinct() > FEWEST && (1..lag.rows()).all(|row| lag.value(row) == original.value(row - 1))
    };
    columns.iter().filter(says_lag).any(|lag| columns.iter().any(|original| is_earlier(lag, original)))
}

/// Several time columns that order the file, such as year and month.
fn in_file(times: &[&CodedColumn<'_>]) -> Option<RowLayout> {
    let mut by: Vec<&&CodedColumn<'_>> = times.iter().filter(|c| c.is_time_alone() && c.distinct() > 1).collect();
    by.sort_by_key(|c| c.resolution());
    if by.len() < 2 || !by.windows(2).all(|pair| pair[0].resolution() < pair[1].resolution()) {
        return None;
    }
    let follows = |row: usize| {
        let differ = by.iter().map(|c| (c.value(row - 1), c.value(row))).find(|(a, b)| a != b);
        differ.is_some_and(|(a, b)| a < b)
    };
    (1..by[0].rows()).all(follows).then(|| RowLayout::File(by.iter().map(|c| c.name.to_owned()).collect()))
}

/// Units and times with distinct pairs, each unit at several times.
fn panel(
    columns: &[CodedColumn<'_>],
    times: &[&CodedColumn<'_>],
    is_known: bool,
    unit: Option<&str>,
) -> Option<RowLayout> {
    let is_text = |c: &CodedColumn<'_>| matches!(c.cells, Cells::Text(_));
    let is_unit = |c: &&CodedColumn<'_>| match unit {
        Some(name) => c.name == name,
        None => c.resolution().is_none() && (is_text(c) || c.is_whole()),
    };
    let mut found: Vec<(bool, &CodedColumn<'_>, &CodedColumn<'_>)> = Vec::new();
    for unit in columns.iter().filter(is_unit).filter(|c| c.distinct() > 1 && 2 * c.distinct() <= c.rows()) {
        let is_named = words(unit.name).iter().any(|word| is_among(word, UNITS));
        let by_time = |time: &&&CodedColumn<'_>| {
            time.name != unit.name && (is_known || time.is_time_alone()) && is_panel(unit, time, is_named || is_known)
        };
        found.extend(times.iter().find(by_time).map(|time| (is_named, unit, *time)));
    }
    // Prefers units with a known word, then text to numbers, then the fewest units.
    let best = found.into_iter().min_by_key(|(is_named, unit, _)| (!is_named, !is_text(unit), unit.distinct()));
    best.map(|(_, unit, time)| {
        let units = unit.distinct();
        let times = time.distinct();
        RowLayout::NewUnits(Panel { unit: unit.name.to_owned(), time: time.name.to_owned(), units, times })
    })
}

fn is_panel(unit: &CodedColumn<'_>, time: &CodedColumn<'_>, is_named: bool) -> bool {
    let rows = unit.rows();
    let units = unit.distinct();
    let times = time.distinct();
    let mut pairs = HashSet::new();
    let mut is_new = unit.codes.iter().zip(&time.codes).map(|pair| pairs.insert(pair));
    if times < 2 || times == rows && !is_named || !is_new.all(|is_new| is_new) {
        return false;
    }
    let several = unit.counts.iter().filter(|count| **count > 1).count();
    let share = rows as f64 / (units * times) as f64;
    // Sorted by unit, with increasing times in each, or by time.
    let changes = unit.codes.windows(2).filter(|pair| pair[0] != pair[1]).count() + 1;
    let in_blocks = changes == units
        && (1..rows).all(|row| unit.codes[row] != unit.codes[row - 1] || time.value(row) > time.value(row - 1));
    let by_time = (1..rows).all(|row| time.value(row) >= time.value(row - 1));
    let is_long = rows >= 3 * units || times == 2 && share > 0.95;
    let is_enough = match (unit.cells, is_named) {
        (_, true) => share >= 0.5 || in_blocks,
        (Cells::Text(_), false) => share >= 0.75 || in_blocks && share >= 0.1,
        (_, false) => units >= 5 && (in_blocks && share >= 0.1 || by_time && share > 0.95),
    };
    is_enough && is_long && 5 * several >= 4 * units
}

/// Minimum number of constant columns; fewer may follow from their meaning, such as an age and its square.
const FEWEST_CONSTANT: usize = 3;
/// Minimum number of groups.
const FEWEST_UNITS: usize = 5;
/// Limit on columns tried as groups.
const MOST: usize = 100;

/// A whole-number column within whose values other columns are constant.
pub struct Nesting {
    pub column: String,
    /// Number of values.
    pub units: usize,
    /// Number of columns that are constant within them.
    pub constant: usize,
}

/// The column with the most constant columns within its values, of ties the one with the fewest values. Cost O(rows ·
/// log rows) per whole-number column, and a few rows per pair.
pub fn nesting(columns: &[CodedColumn<'_>]) -> Option<Nesting> {
    let rows = columns.first()?.rows();
    let is_unit = |c: &&CodedColumn<'_>| {
        matches!(c.cells, Cells::Numbers(_)) && c.is_whole() && (FEWEST_UNITS..=rows / 2).contains(&c.distinct())
    };
    let nesting_by = |unit: &CodedColumn<'_>| {
        let order = argsort_by(rows, |a, b| unit.codes[a].cmp(&unit.codes[b]));
        let is_constant = |other: &&CodedColumn<'_>| {
            let mut pairs = order.windows(2).filter(|pair| unit.codes[pair[0]] == unit.codes[pair[1]]);
            other.name != unit.name
                && other.distinct() > 1
                && pairs.all(|pair| other.codes[pair[0]] == other.codes[pair[1]])
        };
        let constant = columns.iter().filter(is_constant).count();
        Nesting { column: unit.name.to_owned(), units: unit.distinct(), constant }
    };
    let found =
        columns.iter().filter(is_unit).take(MOST).map(nesting_by).filter(|found| found.constant >= FEWEST_CONSTANT);
    found.max_by_key(|found| (found.constant, std::cmp::Reverse(found.units)))
}

#[cfg(test)]
mod tests;
