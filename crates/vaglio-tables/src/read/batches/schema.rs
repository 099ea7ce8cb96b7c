//! A column whose kind is known, some rows at a time.

use super::super::cell::{DateForm, Rules, plain};
use super::super::fault::{Fault, FaultKind};
use super::super::growing::{Growing, NumberColumn, RawColumn};
use super::super::settle::{Hint, Settled, is_infinite, settle, truth};
use crate::{ColumnSurvey, InferredType};
use vaglio_core::Cells;

/// A column whose kind is known; what its first cells show holds for the others.
pub(super) struct Known {
    pub name: String,
    hint: Hint,
    numbers: Option<Written>,
    dates: Option<DateForm>,
}

/// How all numbers of a column are written.
#[derive(Clone, Copy)]
enum Written {
    Plainly,
    AsTruth,
    AsPercent,
}

/// What came of the cells of some rows.
type Outcome = Result<(Cells, ColumnSurvey), Fault>;

impl Known {
    /// A column by the first cells of a text file, or one of a file that says what its columns hold. `None` where its
    /// cells can be told only by all of them.
    pub fn new(name: &str, hint: Hint, sample: Option<&[&str]>, rules: &Rules) -> Option<Self> {
        let rules = rules.column(name);
        let mut known = Known { name: name.to_owned(), hint, numbers: None, dates: None };
        match (hint, sample) {
            (Hint::Written | Hint::Class | Hint::Text | Hint::Number, _) | (Hint::Auto | Hint::Date, None) => {}
            (Hint::Date, Some(sample)) => {
                for cell in sample.iter().filter(|cell| !rules.is_missing(cell)) {
                    let [form] = DateForm::of(cell, rules.dates)[..] else { return None };
                    if *known.dates.get_or_insert(form) != form {
                        return None;
                    }
                }
                known.dates?;
            }
            _ => return None,
        }
        Some(known)
    }

    /// The cells of some rows, rows counting from the first of these.
    pub fn settle(&mut self, column: Growing, rules: &Rules) -> Outcome {
        let rules = rules.column(&self.name);
        match (column, self.hint) {
            (Growing::Raw(column), Hint::Number) => self.of_numbers(&column, rules),
            (Growing::Raw(column), Hint::Date) => self.of_dates(&column, rules),
            (Growing::Raw(column), Hint::Written) => {
                self.of_text(column.cells().map(str::to_owned).collect(), column.cells())
            }
            (Growing::Raw(column), _) => {
                let cells = column.cells().map(str::trim);
                let text = |cell: &str| if rules.is_missing(cell) { String::new() } else { cell.to_owned() };
                self.of_text(cells.clone().map(text).collect(), cells)
            }
            (column, hint) => match settle(&self.name, column, hint, rules)? {
                Settled::Cells(cells, survey) => Ok((cells, survey)),
                Settled::NeedsText => Err(self.fault(0, String::new(), 1, "is not a number", "correct it")),
            },
        }
    }

    fn of_text<'c>(&self, text: Vec<String>, written: impl Iterator<Item = &'c str>) -> Outcome {
        let missing = text.iter().filter(|cell| cell.is_empty()).count();
        let first = text.iter().zip(written).enumerate().find(|(_, (cell, _))| cell.is_empty());
        let first = first.map(|(row, (_, written))| (row, written.to_owned()));
        Ok((Cells::Text(text), self.survey(InferredType::Class, missing, first)))
    }

    fn of_numbers(&mut self, column: &RawColumn, rules: &Rules) -> Outcome {
        let mut numbers = NumberColumn::default();
        let mut bad: Option<(usize, &str, usize)> = None;
        for (row, cell) in column.cells().map(str::trim).enumerate() {
            match self.number(cell, rules) {
                Some(value) if value.is_nan() => numbers.push_missing(cell),
                Some(value) => numbers.push(value),
                None => {
                    bad = Some(bad.map_or((row, cell, 1), |(row, cell, count)| (row, cell, count + 1)));
                    numbers.push_missing(cell);
                }
            }
        }
        match bad {
            None => {
                let survey = self.survey(InferredType::Number, numbers.missing, numbers.first_missing.take());
                Ok((Cells::Numbers(numbers.finish()), survey))
            }
            Some((row, cell, count)) if is_infinite(cell, rules) => {
                Err(Fault { row, value: cell.to_owned(), count, what: FaultKind::NotFinite })
            }
            Some((row, cell, count)) => {
                let wrong = match self.numbers {
                    _ if plain(cell, rules.comma).is_none() && plain(cell, !rules.comma).is_some() => {
                        "has another decimal mark than the rows that the model was trained on"
                    }
                    Some(Written::AsTruth) => "is neither true nor false, and the cells before it are",
                    Some(Written::AsPercent) => "is no percentage, and the cells before it are",
                    _ => "is not a number, and in the rows that the model was trained on it was one",
                };
                Err(self.fault(row, cell.to_owned(), count, wrong, "correct it, or leave it empty if it is missing"))
            }
        }
    }

    /// The number of a cell, written as those before it; NaN for one that is missing.
    #[inline]
    fn number(&mut self, cell: &str, rules: &Rules) -> Option<f64> {
        let dressed = |percent: bool| rules.dressed(cell).filter(|(_, d)| d.percent == percent).map(|(value, _)| value);
        let plain = rules.number(cell);
        if plain.is_some_and(f64::is_nan) {
            return plain;
        }
        let written = *self.numbers.get_or_insert_with(|| match () {
            () if plain.is_some() => Written::Plainly,
            () if truth(cell).is_some() => Written::AsTruth,
            () if dressed(true).is_some() => Written::AsPercent,
            () => Written::Plainly,
        });
        match written {
            Written::Plainly => plain.or_else(|| dressed(false)),
            Written::AsTruth => truth(cell).map(|yes| f64::from(u8::from(yes))),
            Written::AsPercent => dressed(true),
        }
    }

    fn of_dates(&self, column: &RawColumn, rules: &Rules) -> Outcome {
        let mut seconds = Vec::with_capacity(column.rows());
        let (mut missing, mut first) = (0, None);
        for (row, cell) in column.cells().map(str::trim).enumerate() {
            if rules.is_missing(cell) {
                missing += 1;
                first.get_or_insert_with(|| (row, cell.to_owned()));
                seconds.push(f64::NAN);
                continue;
            }
            let Some(date) = self.dates.and_then(|form| form.seconds(cell)) else {
                let wrong = "is not a date as the cells before it are";
                let remedy = "correct it, or leave it empty if it is missing";
                return Err(self.fault(row, cell.to_owned(), 1, wrong, remedy));
            };
            seconds.push(date);
        }
        Ok((Cells::Dates(seconds), self.survey(InferredType::Date, missing, first)))
    }

    fn survey(&self, taken: InferredType, missing: usize, first_missing: Option<(usize, String)>) -> ColumnSurvey {
        ColumnSurvey { name: self.name.clone(), taken, missing, first_missing, levels: 0, note: None }
    }

    fn fault(&self, row: usize, value: String, count: usize, wrong: &str, remedy: &str) -> Fault {
        let what = FaultKind::Text { wrong: wrong.to_owned(), remedy: remedy.to_owned(), among_numbers: true };
        Fault { row, value, count, what }
    }
}
