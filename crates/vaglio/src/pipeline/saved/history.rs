//! The last training rows of each series, from which a model of earlier targets goes on.

use serde::{Deserialize, Serialize};
use vaglio_core::{Cells, Numbers, Table};

/// The last training rows of each series, as many as the maps look back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// Columns of the data, those of series and time among them.
    pub(crate) columns: Vec<(String, HistoryCells)>,
}

/// The cells of a column; nothing where one is missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HistoryCells {
    Numbers(Vec<Option<f64>>),
    Text(Vec<String>),
    Dates(Vec<Option<f64>>),
}

impl HistoryCells {
    pub(crate) fn cells(&self) -> Cells {
        let all = |values: &[Option<f64>]| values.iter().map(|x| x.unwrap_or(f64::NAN)).collect::<Vec<f64>>();
        match self {
            HistoryCells::Numbers(values) => Cells::Numbers(Numbers::from(all(values))),
            HistoryCells::Text(text) => Cells::Text(text.clone()),
            HistoryCells::Dates(values) => Cells::Dates(all(values)),
        }
    }
}

impl History {
    /// Refuses columns of unlike lengths.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        let columns = self.columns.iter().map(|(name, kept)| (name.clone(), kept.cells())).collect();
        Table::new(columns).map(|_| ()).map_err(|error| format!("the rows before: {error}"))
    }
}
