//! Residuals of rows against the chosen columns and time, and the rows that are predicted worst.

use super::axis::{Axis, tick_labels, ticks};
use super::number::{count, escape, short};
use super::source::RecordView;
use super::svg::{self, px};
use super::table::{Column, HtmlTable};
use crate::record::{DrawnColumn, PredictedOn, ResidualsRecord, WorstRow};
use serde::Serialize;
use std::fmt::Write;

const SIZE: (f64, f64) = (300.0, 220.0);
const TOP: f64 = 10.0;
const BOTTOM: f64 = 40.0;

/// The section on residuals.
#[derive(Serialize)]
pub struct Shape {
    /// What is added for a column, and what is left.
    components: Vec<ResidualPanel>,
    components_note: String,
    /// What is left, by column and time.
    residuals: Vec<ResidualPanel>,
    residuals_note: String,
    /// The rows that are predicted worst.
    worst: String,
    worst_note: String,
}

/// A small drawing with its title.
#[derive(Serialize)]
struct ResidualPanel {
    title: String,
    svg: String,
}

impl Shape {
    pub fn of(source: &RecordView<'_>) -> Option<Shape> {
        let record = source.record.report.residuals.as_ref()?;
        let components: Vec<ResidualPanel> =
            record.columns.iter().filter_map(|c| component(source, record, c)).collect();
        let (left, words) = left(record);
        let time = (!record.time.is_empty()).then(|| {
            let points = points(record.time.iter().copied().map(Some), &left);
            panel(&points, ("order in time", "residual"), &PanelLines::default())
        });
        let time = time.flatten().map(|svg| ResidualPanel { title: "time".into(), svg });
        let against = |column: &DrawnColumn| {
            let points = points(column.values.iter().copied(), &left);
            let title = source.name(column.index);
            let svg = panel(&points, (&title, "residual"), &PanelLines::default())?;
            Some(ResidualPanel { title, svg })
        };
        let residuals: Vec<ResidualPanel> = time.into_iter().chain(record.columns.iter().filter_map(against)).collect();
        let drawn = record.fitted.len();
        let sample = match source.record.data.rows > drawn {
            true => format!(" {} of the rows are drawn.", count(drawn as u64)),
            false => String::new(),
        };
        let first = if source.record.data.outputs > 1 { " They are of the first target." } else { "" };
        let (worst, worst_note) = worst(source, record);
        let scale = source.record.pipeline.scale();
        Some(Shape {
            components,
            components_note: format!(
                "A point is what the model adds for the column in a row, plus what is left of the target there{scale} (a partial residual). The straight line is the model, the other one joins the means of tenths of the rows: where they part, the column bends, and log1p or polynomial of it may serve better.{first}{sample}"
            ),
            residuals,
            residuals_note: format!("Residuals are {words}; they should show no pattern.{first}{sample}"),
            worst,
            worst_note,
        })
        .filter(|shape| !shape.components.is_empty() || !shape.residuals.is_empty() || !shape.worst.is_empty())
    }
}

/// The residuals that are drawn, and which they are.
fn left(record: &ResidualsRecord) -> (Vec<Option<f64>>, &'static str) {
    match record.from {
        Some(PredictedOn::Nested) => (record.held_out.clone(), "of rows held out in outer folds"),
        Some(_) => (record.held_out.clone(), "of rows held out in the folds of the search"),
        None => (record.fitted.iter().copied().map(Some).collect(), "those of the rows that the model was trained on"),
    }
}

fn points(across: impl Iterator<Item = Option<f64>>, up: &[Option<f64>]) -> Vec<(f64, f64)> {
    across.zip(up).filter_map(|(x, y)| Some((x?, (*y)?))).filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}

/// The partial residuals of a column.
fn component(source: &RecordView<'_>, record: &ResidualsRecord, column: &DrawnColumn) -> Option<ResidualPanel> {
    let slope = column.slope?;
    let partial = |(value, left): (&Option<f64>, &f64)| Some(((*value)?, left + slope * ((*value)? - column.center)));
    let points: Vec<(f64, f64)> = column.values.iter().zip(&record.fitted).filter_map(partial).collect();
    let title = source.name(column.index);
    let lines = PanelLines { slope: Some((slope, column.center)), trend: &column.trend };
    let svg = panel(&points, (&title, "component + residual"), &lines)?;
    Some(ResidualPanel { title, svg })
}

/// What is drawn beside the points; else the line of zero.
#[derive(Default)]
struct PanelLines<'r> {
    slope: Option<(f64, f64)>,
    trend: &'r [[f64; 2]],
}

fn panel(points: &[(f64, f64)], (across, up): (&str, &str), lines: &PanelLines<'_>) -> Option<String> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let (low, high) =
            points.iter().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let room = if high > low { 0.04 * (high - low) } else { low.abs().max(1.0) * 0.1 };
        (low - room, high + room)
    };
    if points.is_empty() {
        return None;
    }
    let (h, v) = (range(|p| p.0), range(|p| p.1));
    if ![h.0, h.1, v.0, v.1, h.1 - h.0, v.1 - v.0].iter().all(|edge| edge.is_finite()) {
        return None;
    }
    let (width, height) = SIZE;
    let marks = ticks(v.0, v.1, 4);
    let texts = tick_labels(&marks, false);
    let left = 32.0 + 7.0 * texts.iter().map(|l| l.chars().count()).max().unwrap_or(0) as f64;
    let floor = height - BOTTOM;
    let x = Axis { from: h.0, to: h.1, start: left, length: width - left - 10.0, logarithmic: false };
    let y = Axis { from: v.0, to: v.1, start: floor, length: TOP - floor, logarithmic: false };
    let mut out = svg::framed("panel", SIZE, &format!("{up} against {across}"));
    svg::grid(&mut out, &x, &y, &marks, &texts);
    let below = ticks(h.0, h.1, 3);
    svg::foot(&mut out, &x, floor, &below.iter().map(|m| x.at(*m)).zip(tick_labels(&below, false)).collect::<Vec<_>>());
    svg::upright(&mut out, (12.0, (TOP + floor) / 2.0), &escape(up));
    out.push_str("<path class=\"cloud faint\" d=\"");
    for (a, b) in points {
        let _ = write!(out, "M{},{}h0", px(x.at(*a)), px(y.at(*b)));
    }
    out.push_str("\"/>");
    match lines.slope {
        Some((slope, center)) => {
            // Cut at the edges of the drawing.
            let ends = [h.0, h.1].map(|at| {
                let value = (slope * (at - center)).clamp(v.0, v.1);
                let at = if slope == 0.0 { at } else { (center + value / slope).clamp(h.0, h.1) };
                (at, value)
            });
            let [a, b] = ends.map(|(at, value)| format!("{},{}", px(x.at(at)), px(y.at(value))));
            let _ = write!(out, "<path class=\"line fit\" d=\"M{a}L{b}\"/>");
        }
        None => {
            let _ = write!(
                out,
                "<path class=\"level empty\" d=\"M{},{}H{}\"/>",
                px(x.start),
                px(y.at(0.0)),
                px(x.start + x.length)
            );
        }
    }
    if lines.trend.len() > 1 {
        let at = |[a, b]: &[f64; 2]| format!("{},{}", px(x.at(*a)), px(y.at(*b)));
        let d: Vec<String> = lines.trend.iter().map(at).collect();
        let _ = write!(out, "<path class=\"line trend\" d=\"M{}\"/>", d.join("L"));
    }
    out.push_str("</svg>");
    Some(out)
}

/// The rows of the largest residuals as a table, and of which rows they are.
fn worst(source: &RecordView<'_>, record: &ResidualsRecord) -> (String, String) {
    let Some(from) = record.largest_from.filter(|_| !record.largest.is_empty()) else { return Default::default() };
    let classes = source.record.data.classes.as_deref();
    let listed = |values: &[f64]| {
        let one = |value: &f64| match classes {
            Some(classes) => classes.get(*value as usize).cloned().unwrap_or_default(),
            None => short(*value),
        };
        values.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let single = classes.is_none() && record.largest.iter().all(|row| row.observed.len() == 1);
    let columns = vec![
        Column::count("Row", |row: &WorstRow| row.row),
        Column::html("Observed", if single { "" } else { "t list" }, |row: &WorstRow| {
            Some(escape(&listed(&row.observed)))
        }),
        Column::html("Predicted", if single { "" } else { "t list" }, |row: &WorstRow| {
            Some(escape(&listed(&row.predicted)))
        }),
        Column::number("Residual", move |row: &WorstRow| {
            row.observed.first().zip(row.predicted.first()).filter(|_| single).map(|(y, p)| y - p)
        }),
    ];
    let table =
        HtmlTable::of("Rows predicted worst", "“report.residuals.largest”", columns, &record.largest, |_| false);
    let rows = match from {
        PredictedOn::Nested => "rows held out in outer folds",
        PredictedOn::CrossValidation => "rows held out in the folds of the search",
        PredictedOn::Test => "test rows",
    };
    let note = format!(
        "Of the {rows}, these have the largest residuals; numbers count the rows of their data from 1, without the header. A wrong cell stands out here, and so does a case that the columns do not describe."
    );
    (table.html(), note)
}
