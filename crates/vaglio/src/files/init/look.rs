//! What is seen of a table that nobody described.

use std::collections::HashSet;
use vaglio_core::{Cells, Result};
use vaglio_tables::read::{ColumnSurvey, Fault, FaultKind, InferredType, ReadColumn, Source, Wanted};

/// A column as it was found.
pub struct Seen {
    pub survey: ColumnSurvey,
    /// The cell that it cannot have, and how many there are.
    pub fault: Option<Fault>,
    /// Whether every value that is there differs from the others.
    pub differs: bool,
    /// Values that are there, at most as many as there are rows.
    pub distinct: usize,
    /// Whether they are whole numbers.
    pub whole: bool,
}

/// What is seen of a table.
pub struct Look {
    pub rows: usize,
    pub columns: Vec<Seen>,
    pub aside: Vec<(String, &'static str)>,
    /// The columns of series and of the time in them, where there are such.
    pub order: Option<(String, String)>,
}

impl Look {
    pub fn at(source: &Source) -> Result<Self> {
        let (columns, files) = source.read_each(&Wanted::default())?;
        let rows = files.iter().map(|(_, rows)| rows).sum();
        let order = order(&columns);
        let seen = |(name, read): ReadColumn| match read {
            Ok((cells, survey)) => {
                let (present, distinct) = (cells.len() - survey.missing, distinct(&cells));
                let whole = cells.numbers().is_some_and(|all| (0..all.len()).all(|row| all.get(row).fract() == 0.0));
                Seen { survey, fault: None, differs: distinct == present, distinct, whole }
            }
            Err(fault) => {
                let is_number = matches!(fault.what, FaultKind::Text { among_numbers: true, .. });
                let (taken, missing) = (if is_number { InferredType::Number } else { InferredType::Text }, fault.count);
                let survey = ColumnSurvey { name, taken, missing, first_missing: None, levels: 0, note: None };
                Seen { survey, fault: Some(fault), differs: false, distinct: 0, whole: false }
            }
        };
        let columns: Vec<Seen> = columns.into_iter().map(seen).collect();
        Ok(Look { rows, columns, aside: source.aside().to_vec(), order })
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Seen> {
        self.columns.iter().find(|seen| seen.survey.name == name)
    }
}

/// How many values a column has.
fn distinct(cells: &Cells) -> usize {
    let bits =
        |values: &[f64]| values.iter().filter(|v| !v.is_nan()).map(|v| v.to_bits()).collect::<HashSet<_>>().len();
    match cells {
        Cells::Text(text) => text.iter().filter(|level| !level.is_empty()).collect::<HashSet<_>>().len(),
        Cells::Dates(dates) => bits(dates),
        Cells::Numbers(numbers) => bits(&numbers.view().values()),
    }
}

/// The columns of series and of the time in them: so named, and no time stands twice in a series.
fn order(columns: &[ReadColumn]) -> Option<(String, String)> {
    let named = |names: &[&str]| {
        let is_so = |(name, read): &&ReadColumn| {
            names.contains(&name.to_lowercase().as_str()) && read.as_ref().is_ok_and(|(_, survey)| survey.missing == 0)
        };
        columns.iter().find(is_so).and_then(|(name, read)| Some((name, &read.as_ref().ok()?.0)))
    };
    let (series, labels) = named(&SERIES)?;
    let (time, times) = named(&TIMES).filter(|(_, times)| !matches!(times, Cells::Text(_)))?;
    let mut seen = HashSet::new();
    let once = (0..labels.len()).all(|row| seen.insert((labels.label(row), times.label(row))));
    (once && 2 * distinct(labels) <= labels.len()).then(|| (series.clone(), time.clone()))
}

/// Names that columns of series have, and those of times.
const SERIES: [&str; 6] = ["series", "series_id", "sequence", "trajectory", "recording", "trial"];
const TIMES: [&str; 6] = ["t", "time", "timestamp", "step", "date", "tick"];
