//! What a column is, once all its cells were read.

mod codes;
mod dates;
mod ordered;
mod quoted;
mod sparse;

pub use codes::LEADING_ZEROS;
pub use dates::{DAY_FIRST, MONTH_FIRST};
pub use ordered::ordered;
pub use quoted::quoted;

use super::cell::{DateForm, Dress, Rules, plain};
use super::fault::{Fault, FaultKind};
use super::growing::{Growing, NumberColumn, RawColumn};
use crate::{ColumnSurvey, InferredType, Survey};
use codes::are_codes;
use dates::{SAMPLE, dates};
use std::collections::{HashMap, HashSet};
use vaglio_core::{Cells, Numbers, Table};

/// What is known of a column before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hint {
    /// Nothing.
    #[default]
    Auto,
    /// A target: words for truth stay words.
    Target,
    /// It gives rows a label: numbers where all cells are, else text.
    Label,
    /// Numbers, as the settings say.
    Number,
    /// Classes, as the settings say.
    Class,
    /// Text, as the settings say.
    Text,
    /// Dates, as the settings say.
    Date,
    /// As it is written, blanks and words for missing cells included.
    Written,
    /// Text, as the format of the file says.
    Stored,
}

impl Hint {
    /// Whether every cell is read as it is written.
    pub fn wants_text(self) -> bool {
        !matches!(self, Hint::Auto | Hint::Target | Hint::Number | Hint::Label)
    }
}

/// What came of a column.
pub(super) enum Settled {
    Cells(Cells, ColumnSurvey),
    /// It is text after all, and its cells have to be read as such.
    NeedsText,
}

type Outcome = Result<Settled, Fault>;

/// Of so many cells at least three quarters are what a column is taken for.
pub(super) fn nearly_all(part: usize, all: usize) -> bool {
    part > 0 && 4 * part >= 3 * all
}

/// The cells of a column, and what they are taken for.
pub(super) fn settle(name: &str, growing: Growing, hint: Hint, rules: &Rules) -> Outcome {
    let rules = rules.column(name);
    match growing {
        Growing::Numbers(column) => of_numbers(name, column, hint, rules),
        Growing::Raw(column) => of_text(name, &column, hint, rules),
        Growing::Sparse(column) => sparse::of_sparse(name, column, hint),
        #[cfg(feature = "parquet")]
        Growing::Dates(column) => {
            let (missing, first) = (column.missing, column.first_missing.clone());
            let dates = Cells::Dates(column.finish().view().values().into_owned());
            match hint {
                Hint::Number => Err(of_another_kind(&dates, "is a date")),
                Hint::Class | Hint::Text => Ok(done(name, as_text(&dates), hint, missing, first, None)),
                _ => Ok(done(name, dates, hint, missing, first, None)),
            }
        }
    }
}

/// Cells as the text that they are written by.
fn as_text(cells: &Cells) -> Cells {
    Cells::Text((0..cells.len()).map(|row| cells.label(row)).collect())
}

/// A column that its file says to be of another kind than the settings say.
fn of_another_kind(cells: &Cells, is: &str) -> Fault {
    let row = (0..cells.len()).find(|&row| !cells.is_missing(row)).unwrap_or(0);
    let wrong = format!("{is} by the format of the file, and data.types says otherwise");
    let remedy = "take the column out of data.types, or write the file with another type".to_owned();
    Fault {
        row,
        value: cells.label(row),
        count: cells.len(),
        what: FaultKind::Text { wrong, remedy, among_numbers: false },
    }
}

fn of_numbers(name: &str, mut column: NumberColumn, hint: Hint, rules: &Rules) -> Outcome {
    if hint.wants_text() {
        // The format of the file says that they are numbers.
        let (missing, first) = (column.missing, column.first_missing.clone());
        let numbers = Cells::Numbers(column.finish());
        if hint == Hint::Date {
            return Err(of_another_kind(&numbers, "is a number"));
        }
        return Ok(done(name, as_text(&numbers), hint, missing, first, None));
    }
    if hint == Hint::Auto && column.zeros {
        return Ok(Settled::NeedsText);
    }
    let odd = std::mem::take(&mut column.odd);
    // Numbers that are wanted are told by their bad cells, unless the first cells were missing and no other is plain.
    let plain = if hint == Hint::Number { column.plain() } else { 0 };
    if (column.lost && plain == 0 || hint == Hint::Label) && !odd.is_empty() {
        return Ok(Settled::NeedsText);
    }
    let infinite = || odd.iter().filter(|(_, cell)| is_infinite(cell, rules));
    if let Some((row, value)) = infinite().next() {
        let (row, value, count) = (*row, value.clone(), infinite().count());
        return Err(Fault { row, value, count, what: FaultKind::NotFinite });
    }
    // A percent sign on some cells only may be a slip.
    let dressed = |cell: &str| rules.dressed(cell).filter(|(_, dress)| !dress.percent);
    let (values, bad): (Vec<_>, Vec<_>) = odd.into_iter().partition(|(_, cell)| dressed(cell).is_some());
    if let Some((row, value)) = bad.first() {
        let present = column.rows() - column.missing;
        let count = if column.lost { present - plain } else { bad.len() };
        let good = present - count;
        if hint != Hint::Number && !nearly_all(good, present) || good == 0 {
            return Ok(Settled::NeedsText);
        }
        return Err(no_number(name, *row, value, count, good, present, rules));
    }
    let mut notes = Notes::default();
    for (row, cell) in &values {
        if let Some((value, dress)) = dressed(cell) {
            column.set(*row, value);
            notes.add(dress);
        }
    }
    let (missing, first_missing) = (column.missing, column.first_missing.clone());
    let cells = Cells::Numbers(column.finish());
    Ok(done(name, cells, hint, missing, first_missing, notes.text()))
}

/// What the cells of a column of text might be, counted.
#[derive(Default)]
struct Counts {
    missing: usize,
    first_missing: Option<(usize, String)>,
    plain: usize,
    dressed: usize,
    percent: usize,
    truth: usize,
    infinite: usize,
}

pub(super) fn truth(cell: &str) -> Option<bool> {
    if cell.eq_ignore_ascii_case("true") {
        Some(true)
    } else if cell.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

fn of_text(name: &str, column: &RawColumn, hint: Hint, rules: &Rules) -> Outcome {
    if hint == Hint::Written {
        let cells = Cells::Text(column.cells().map(str::to_owned).collect());
        return Ok(done(name, cells, hint, 0, None, None));
    }
    let cells = column.cells().map(str::trim);
    let mut counts = Counts::default();
    let is_typed = matches!(hint, Hint::Class | Hint::Text | Hint::Date | Hint::Stored);
    for (row, cell) in cells.clone().enumerate() {
        if rules.is_missing(cell) {
            counts.missing += 1;
            counts.first_missing.get_or_insert_with(|| (row, cell.to_owned()));
        } else if is_typed {
        } else if rules.number(cell).is_some() {
            counts.plain += 1;
        } else if let Some((_, dress)) = rules.dressed(cell) {
            counts.dressed += 1;
            counts.percent += usize::from(dress.percent);
        } else if truth(cell).is_some() {
            counts.truth += 1;
        } else {
            counts.infinite += usize::from(is_infinite(cell, rules));
        }
    }
    let present = column.rows() - counts.missing;
    let numbers = counts.plain + counts.dressed;
    let (missing, first_missing) = (counts.missing, counts.first_missing.clone());
    let finish = |cells: Cells, note: Option<String>| Ok(done(name, cells, hint, missing, first_missing.clone(), note));
    let text = |cell: &str| if rules.is_missing(cell) { String::new() } else { cell.to_owned() };
    if present == 0 && !is_typed {
        return finish(Cells::Numbers(Numbers::from(vec![f64::NAN; column.rows()])), None);
    }
    match hint {
        Hint::Class | Hint::Text | Hint::Written | Hint::Stored => {
            return finish(Cells::Text(cells.map(text).collect()), None);
        }
        Hint::Label if counts.plain < present => return finish(Cells::Text(cells.map(text).collect()), None),
        Hint::Date => return dates(name, column, hint, rules, present, &counts),
        Hint::Auto | Hint::Target | Hint::Number | Hint::Label => {}
    }
    if counts.truth == present && matches!(hint, Hint::Auto | Hint::Number) {
        let value = |cell: &str| truth(cell).map_or(f64::NAN, |yes| f64::from(u8::from(yes)));
        return finish(Cells::Numbers(Numbers::from(cells.map(value).collect::<Vec<f64>>())), Some("truth".into()));
    }
    if hint == Hint::Auto && counts.plain == present && are_codes(cells.clone().filter(|cell| !rules.is_missing(cell)))
    {
        return finish(Cells::Text(cells.map(text).collect()), Some(LEADING_ZEROS.to_owned()));
    }
    if hint == Hint::Number || nearly_all(numbers + counts.infinite, present) {
        return dressed(name, column, hint, rules, &counts);
    }
    if hint == Hint::Auto || hint == Hint::Target {
        let as_other = cells.clone().filter(|cell| is_of_other_decimals(cell, rules)).count();
        if as_other > 0 && nearly_all(as_other + numbers, present) {
            return Err(of_decimals(column, rules));
        }
        let sample: Vec<&str> = cells.clone().filter(|cell| !rules.is_missing(cell)).take(SAMPLE).collect();
        let like_dates = sample.iter().filter(|cell| !DateForm::of(cell, rules.dates).is_empty()).count();
        if nearly_all(like_dates, sample.len()) {
            return dates(name, column, hint, rules, present, &counts);
        }
    }
    finish(Cells::Text(cells.map(text).collect()), None)
}

/// A column of numbers that are not all plain.
fn dressed(name: &str, column: &RawColumn, hint: Hint, rules: &Rules, counts: &Counts) -> Outcome {
    let present = column.rows() - counts.missing;
    let all_percent = counts.percent == present;
    let (mut numbers, mut notes, mut bad) = (NumberColumn::default(), Notes::default(), Vec::new());
    for (row, cell) in column.cells().map(str::trim).enumerate() {
        match (rules.number(cell), rules.dressed(cell)) {
            (Some(value), _) if value.is_nan() => numbers.push_missing(cell),
            (Some(value), _) => numbers.push(value),
            (None, Some((value, dress))) if all_percent || !dress.percent => {
                notes.add(dress);
                numbers.push(value);
            }
            _ => {
                bad.push((row, cell));
                numbers.push_missing(cell);
            }
        }
    }
    if let Some((row, cell)) = bad.iter().find(|(_, cell)| is_infinite(cell, rules)) {
        let (row, value, count) = (*row, (*cell).to_owned(), counts.infinite);
        return Err(Fault { row, value, count, what: FaultKind::NotFinite });
    }
    if let Some((row, cell)) = bad.first() {
        return Err(no_number(name, *row, cell, bad.len(), present - bad.len(), present, rules));
    }
    let (missing, first) = (numbers.missing, numbers.first_missing.clone());
    Ok(done(name, Cells::Numbers(numbers.finish()), hint, missing, first, notes.text()))
}

fn no_number(name: &str, row: usize, value: &str, count: usize, good: usize, present: usize, rules: &Rules) -> Fault {
    let other = if rules.comma { "." } else { "," };
    let is_other = plain(value, !rules.comma).is_some();
    let remedy = match is_other {
        true => format!("correct it, or set data.read.decimal: \"{other}\""),
        false => format!(
            "correct it, add it to data.read.na if it is a missing cell, or set data.types: {{{}: text}}",
            quoted(name)
        ),
    };
    let remedy = remedy + &ordered::remedy(value, name);
    let wrong = format!("is not a number, and {good} of the column's {present} cells are");
    Fault { row, value: value.to_owned(), count, what: FaultKind::Text { wrong, remedy, among_numbers: true } }
}

/// Whether a cell is a number only after the other decimal mark.
fn is_of_other_decimals(cell: &str, rules: &Rules) -> bool {
    rules.number(cell).is_none() && plain(cell, !rules.comma).is_some_and(f64::is_finite)
}

/// Whether a cell is an infinity, or a number too large for a double.
pub(super) fn is_infinite(cell: &str, rules: &Rules) -> bool {
    plain(cell, rules.comma).is_some_and(f64::is_infinite)
}

/// A column whose decimals stand after the other mark.
fn of_decimals(column: &RawColumn, rules: &Rules) -> Fault {
    let other = if rules.comma { "." } else { "," };
    let odd = || column.cells().map(str::trim).enumerate().filter(|(_, cell)| is_of_other_decimals(cell, rules));
    let (row, value) = odd().next().map_or((0, ""), |first| first);
    let wrong = format!("is a number only if `{other}` stands before decimals");
    let remedy = format!("set data.read.decimal: \"{other}\"");
    Fault {
        row,
        value: value.to_owned(),
        count: odd().count(),
        what: FaultKind::Text { wrong, remedy, among_numbers: false },
    }
}

/// How numbers were written beside plainly.
#[derive(Default)]
struct Notes {
    percent: bool,
    thousands: bool,
    currency: Option<char>,
}

impl Notes {
    fn add(&mut self, dress: Dress) {
        self.percent |= dress.percent;
        self.thousands |= dress.thousands;
        self.currency = self.currency.or(dress.currency);
    }

    fn text(&self) -> Option<String> {
        let mut notes: Vec<String> = Vec::new();
        notes.extend(self.currency.map(|sign| format!("{sign}")));
        notes.extend(self.percent.then(|| "%".to_owned()));
        notes.extend(self.thousands.then(|| "thousands apart".to_owned()));
        (!notes.is_empty()).then(|| notes.join(", "))
    }
}

/// Text of so many levels, or of more than [`FEW`] and a quarter of the rows, is no class.
pub const MOST_LEVELS: usize = 50;
const FEW: usize = 10;

fn done(
    name: &str,
    cells: Cells,
    hint: Hint,
    missing: usize,
    first_missing: Option<(usize, String)>,
    note: Option<String>,
) -> Settled {
    let (taken, levels) = taken(&cells, hint, cells.len() - missing);
    Settled::Cells(cells, ColumnSurvey { name: name.to_owned(), taken, missing, first_missing, levels, note })
}

impl Survey {
    /// The same of the rows that are left in the table: what columns are taken for, their missing cells and levels.
    pub fn of_rows_left(&mut self, table: &Table, hints: &HashMap<String, Hint>) {
        for column in &mut self.columns {
            let Some(cells) = table.get(&column.name) else { continue };
            column.missing = cells.missing().map_or(0, |missing| missing.count);
            let hint = hints.get(&column.name).copied().unwrap_or_default();
            (column.taken, column.levels) = taken(cells, hint, cells.len() - column.missing);
        }
    }
}

/// What the cells of a column are taken for, `present` of which are there, and how many texts there are among them.
pub(super) fn taken(cells: &Cells, hint: Hint, present: usize) -> (InferredType, usize) {
    if present == 0 {
        return (InferredType::Empty, 0);
    }
    match cells {
        Cells::Text(text) => {
            let levels = text.iter().filter(|level| !level.is_empty()).collect::<HashSet<_>>().len();
            let taken = match hint {
                Hint::Text => InferredType::Text,
                _ if levels == 1 => InferredType::Constant,
                Hint::Class => InferredType::Class,
                _ if levels == present && present > FEW => InferredType::Identifier,
                _ if levels > MOST_LEVELS || (levels > FEW && 4 * levels > text.len()) => InferredType::Text,
                _ => InferredType::Class,
            };
            (taken, levels)
        }
        Cells::Dates(_) => (InferredType::Date, 0),
        Cells::Numbers(Numbers::Sparse(column)) => (sparse::taken_sparse(column), 0),
        Cells::Numbers(numbers) => {
            let column = numbers.view();
            let mut present = (0..column.len()).map(|row| column.get(row)).filter(|v| !v.is_nan());
            let first = present.next().unwrap_or(f64::NAN);
            let runs = |(k, v): (usize, f64)| v == first + (k + 1) as f64;
            match () {
                () if present.clone().all(|v| v == first) => (InferredType::Constant, 0),
                () if column.len() > FEW && first.fract() == 0.0 && present.enumerate().all(runs) => {
                    (InferredType::Identifier, 0)
                }
                () => (InferredType::Number, 0),
            }
        }
    }
}
