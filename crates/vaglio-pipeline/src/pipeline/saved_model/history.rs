//! Last training rows of each series, needed by models of lagged targets.

use vaglio_core::{Cells, Numbers, Result, Table, setting};

/// Last training rows of each series, as many as the longest lag of the maps.
#[setting]
#[derive(PartialEq)]
pub struct History {
    /// Columns of the data, including series and time.
    columns: Vec<(String, HistoryCells)>,
}

/// Cells of a column; `None` or empty text where missing.
#[setting]
#[derive(PartialEq)]
enum HistoryCells {
    Numbers(Vec<Option<f64>>),
    Text(Vec<String>),
    Dates(Vec<Option<f64>>),
}

impl HistoryCells {
    fn from_cells(cells: &Cells) -> Self {
        let all = |values: &[f64]| values.iter().map(|x| Some(*x).filter(|x| !x.is_nan())).collect();
        match cells {
            Cells::Numbers(numbers) => HistoryCells::Numbers(all(&numbers.view().values())),
            Cells::Text(text) => HistoryCells::Text(text.clone()),
            Cells::Dates(dates) => HistoryCells::Dates(all(dates)),
        }
    }

    fn cells(&self) -> Cells {
        let all = |values: &[Option<f64>]| values.iter().map(|x| x.unwrap_or(f64::NAN)).collect::<Vec<f64>>();
        match self {
            HistoryCells::Numbers(values) => Cells::Numbers(Numbers::from(all(values))),
            HistoryCells::Text(text) => Cells::Text(text.clone()),
            HistoryCells::Dates(values) => Cells::Dates(all(values)),
        }
    }
}

impl History {
    /// Copies the cells of columns.
    pub fn new(columns: impl Iterator<Item = (String, Cells)>) -> Self {
        History { columns: columns.map(|(name, cells)| (name, HistoryCells::from_cells(&cells))).collect() }
    }

    /// Converts the rows to a table.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Shape`] for columns of different lengths.
    pub fn table(&self) -> Result<Table> {
        Table::new(self.columns.iter().map(|(name, kept)| (name.clone(), kept.cells())).collect())
    }
}
