//! What each cost of columns buys.

use super::labels::vertical;
use super::number::{counted, short};
use super::plot::{Across, Plot, Series};
use super::source::{RecordView, finite};
use super::table::{Column, HtmlTable};
use crate::record::FrontierPoint;
use serde::Serialize;

/// The section on costs.
#[derive(Serialize)]
pub struct CostSection {
    lead: String,
    svg: Option<String>,
    table: String,
}

impl CostSection {
    /// `None` where columns have no costs, or searches competed.
    pub fn of(source: &RecordView<'_>) -> Option<Self> {
        let record = source.record;
        let points = &record.frontier;
        let cost = |point: &FrontierPoint| point.cost.unwrap_or(0.0);
        if !record.race.is_empty() || points.iter().all(|point| point.cost.is_none()) {
            return None;
        }
        let size = record.selected.len();
        let chosen = source.path.iter().find(|entry| entry.size == size).and_then(|entry| entry.cost);
        let plot = Plot {
            label: "Loss against the cost of the columns".into(),
            vertical: vertical(&source.loss()),
            across: Across::Costs,
            at: points.iter().map(cost).collect(),
            tips: points
                .iter()
                .map(|point| {
                    format!(
                        "{} for {}: {}",
                        counted(point.size as u64, "column"),
                        short(cost(point)),
                        short(point.loss)
                    )
                })
                .collect(),
            chosen: chosen.map(|cost| (cost, format!("chosen: {}", short(cost)))),
            series: vec![Series {
                name: "lowest for its cost".into(),
                class: "cross",
                values: points.iter().map(|point| finite(point.loss)).collect(),
                band: points.iter().map(|point| point.standard_error).collect(),
            }],
            ..Plot::default()
        };
        let columns = vec![
            Column::short("Cost", |point: &FrontierPoint| point.cost),
            Column::count("Columns", |point: &FrontierPoint| point.size),
            Column::number("Loss", |point: &FrontierPoint| finite(point.loss)),
            Column::number("±", |point: &FrontierPoint| point.standard_error),
        ];
        let lead = "Of the subsets that the search took for the sizes, those that lose less than all that cost as much or less. A \
                    smaller budget may lead the search to others."
            .into();
        let table = HtmlTable::of("Costs", "“frontier”", columns, points, |point| point.size == size).html();
        Some(CostSection { lead, svg: plot.html(), table })
    }
}
