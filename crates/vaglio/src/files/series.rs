//! Rows in the order of their series.

use std::borrow::Cow;
use std::collections::HashMap;
use vaglio_core::{Cells, Error, Result, Table};

/// Which columns say how rows follow each other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Order<'a> {
    /// The series that a row belongs to.
    pub series: Option<&'a str>,
    /// When it comes in its series.
    pub time: Option<&'a str>,
}

impl Order<'_> {
    /// Puts the series in the order in which they first appear, and the rows of each in the order of time, or of the
    /// file without one. The table remembers the series and where each row stood. Cost O(rows · log rows).
    ///
    /// # Errors
    /// [`Error::Shape`] for times that are text, or the same twice in a series.
    pub fn arrange(self, table: Table) -> Result<Table> {
        let column = |name: Option<&str>| name.and_then(|name| table.get(name));
        let (labels, times) = (column(self.series), column(self.time));
        if labels.is_none() && times.is_none() {
            return Ok(table);
        }
        let series = labels.map_or_else(|| vec![0; table.rows()], numbers_of);
        let of_row = |row: usize| {
            let series = labels.map(|labels| format!(", series `{}`", labels.label(row))).unwrap_or_default();
            format!("row {}{series}", table.origin(row) + 1)
        };
        let mut order: Vec<usize> = (0..table.rows()).collect();
        match times {
            None => order.sort_by_key(|&row| series[row]),
            Some(Cells::Text(text)) => {
                let row = text.iter().position(|time| time.parse::<f64>().is_err()).unwrap_or(0);
                let time = text.get(row).map_or("", String::as_str);
                return Err(Error::Shape(format!(
                    "{}, column `{}`: the time `{time}` is text; times are numbers or dates",
                    of_row(row),
                    self.time.unwrap_or_default()
                )));
            }
            Some(dated @ (Cells::Numbers(_) | Cells::Dates(_))) => {
                let times = numbers_of_times(dated).unwrap_or_default();
                order.sort_by(|&a, &b| series[a].cmp(&series[b]).then(times[a].total_cmp(&times[b])));
                let twice = |pair: &&[usize]| series[pair[0]] == series[pair[1]] && times[pair[0]] == times[pair[1]];
                if let Some(pair) = order.windows(2).find(twice) {
                    let (first, second) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
                    return Err(Error::Shape(format!(
                        "{}, column `{}`: the time {} is that of row {} of the same series; a time stands once",
                        of_row(second),
                        self.time.unwrap_or_default(),
                        dated.label(second),
                        table.origin(first) + 1
                    )));
                }
            }
        }
        let ordered = table.select_rows(&order);
        match labels {
            Some(_) => ordered.with_series(order.iter().map(|&row| series[row]).collect()),
            None => Ok(ordered),
        }
    }
}

/// The place of each time among all of them, from 0; `None` for text.
pub(super) fn places_of(times: &Cells) -> Option<Vec<u32>> {
    let times = numbers_of_times(times)?;
    let mut all = times.to_vec();
    all.sort_by(f64::total_cmp);
    all.dedup();
    Some(times.iter().map(|time| all.partition_point(|other| other < time) as u32).collect())
}

fn numbers_of_times(times: &Cells) -> Option<Cow<'_, [f64]>> {
    match times {
        Cells::Dates(dates) => Some(Cow::Borrowed(dates)),
        times => times.numbers().map(|numbers| numbers.values()),
    }
}

/// Labels as numbers from 0, in the order in which they first appear.
pub(super) fn numbers_of(cells: &Cells) -> Vec<u32> {
    let mut numbers = HashMap::new();
    (0..cells.len())
        .map(|row| {
            let next = numbers.len() as u32;
            *numbers.entry(cells.label(row)).or_insert(next)
        })
        .collect()
}
