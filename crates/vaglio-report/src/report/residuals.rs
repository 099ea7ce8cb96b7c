//! Predictions of numbers on rows held out: scatter plots, worst rows, residuals against columns.

use super::chart::{Chart, ChartScale, ChartShape, Mark, ScaleKind};
use super::number::{count, short};
use super::record_view::{RecordView, finite};
use super::section::Section;
use super::table::{ColumnStyle, TableBuilder, TableCell};
use crate::record::{DrawnColumn, ResidualsRecord};

/// Targets whose predictions are drawn, at most.
const MOST_TARGETS: usize = 4;

fn scales(across: &str, up: &str) -> [ChartScale; 2] {
    [across, up].map(|title| ChartScale::new(title, ScaleKind::Linear))
}

/// A cloud of points between two scales.
fn cloud(across: &str, up: &str, class: &str, points: Vec<[f64; 2]>) -> Chart {
    let [x, y] = scales(across, up);
    let points = points.into_iter().filter(|point| point.iter().all(|value| value.is_finite())).collect();
    Chart::new(format!("{up} against {across}"), x, y).mark(Mark::points("", class, points, Vec::new()))
}

/// Observed targets and residuals against predictions; `None` for classes.
pub fn predictions(view: &RecordView<'_>) -> Option<Section> {
    let drawn = view.record.report.predictions.as_ref().filter(|_| view.record.data.classes.is_none())?;
    let class = drawn.from.class();
    let is_one = drawn.observed.len() == 1;
    let charts = view.outputs().into_iter().zip(drawn.observed.iter().zip(&drawn.predicted)).take(MOST_TARGETS);
    let charts = charts.flat_map(|(name, (observed, predicted))| {
        let pairs = || predicted.iter().zip(observed);
        let ends = pairs().flat_map(|(p, o)| [*p, *o]).filter_map(finite);
        let ends = ends.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
        let diagonal = if ends[0] <= ends[1] { ends.map(|end| [end; 2]).to_vec() } else { Vec::new() };
        let of = if is_one { String::new() } else { format!(" {name}") };
        let straight = cloud("predicted", &format!("observed{of}"), class, pairs().map(|(p, o)| [*p, *o]).collect());
        let residuals = pairs().map(|(p, o)| [*p, o - p]).collect();
        let residuals = cloud("predicted", &format!("observed − predicted{of}"), class, residuals);
        [straight.mark(Mark::stroke("", "empty", diagonal)), residuals.mark(Mark::level("", "empty", 0.0))]
    });
    let section = Section::new("predictions", "Predicted and observed");
    let section = charts.fold(section, |section, chart| section.chart(Some(chart.shape(ChartShape::Square))));
    let rows = drawn.observed.first().map_or(0, Vec::len);
    let part = match rows < drawn.rows {
        true => format!(", {} of {} of them", count(rows as u64), count(drawn.rows as u64)),
        false => String::new(),
    };
    let cut = match drawn.observed.len() > MOST_TARGETS {
        true => format!(" The first {MOST_TARGETS} of {} targets are drawn.", drawn.observed.len()),
        false => String::new(),
    };
    let note = format!("Predictions of {}{part}. Residuals should show no pattern.{cut}", drawn.from.rows());
    (!section.blocks.is_empty()).then(|| section.note(note))
}

/// Table of the figures of each of several targets, on the most trustworthy rows.
pub fn targets(view: &RecordView<'_>) -> Option<Section> {
    let (figures, rows) = view.record.trusted().filter(|(figures, _)| !figures.by_output.is_empty())?;
    let table = TableBuilder::new("Each target", "“by_output”", &figures.by_output)
        .name("Target", |output| output.name.clone())
        .number("Mean squared error", |output| finite(output.mse))
        .number("RMSE", |output| finite(output.mse.sqrt()))
        .number("R²", |output| output.r2)
        .build();
    let lead = format!("By the model of all targets, on {} {rows}.", count(figures.rows as u64));
    Some(Section::new("targets", "Each target").lead(lead).table(table))
}

/// Table of the rows with the largest errors.
pub fn worst_rows(view: &RecordView<'_>) -> Option<Section> {
    let record = view.record.report.residuals.as_ref()?;
    let from = record.largest_from?;
    let classes = view.record.data.classes.as_deref();
    let values = |values: &[f64]| {
        let one = |value: &f64| match classes {
            Some(classes) => classes.get(*value as usize).cloned().unwrap_or_default(),
            None => short(*value),
        };
        values.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let is_single = classes.is_none() && record.largest.iter().all(|row| row.observed.len() == 1);
    let kind = if is_single { ColumnStyle::Number } else { ColumnStyle::Text };
    let table = TableBuilder::new("Rows predicted worst", "“report.residuals.largest”", &record.largest)
        .count("Row", |row| row.row)
        .cells("Observed", kind, |row| Some(TableCell::text(values(&row.observed))))
        .cells("Predicted", kind, |row| Some(TableCell::text(values(&row.predicted))))
        .number("Residual", move |row| {
            row.observed.first().zip(row.predicted.first()).filter(|_| is_single).map(|(y, p)| y - p)
        })
        .build();
    let note = format!("Of the {}, by their number in the data without the header.", from.rows());
    Section::new("worst", "Rows predicted worst").table(table).non_empty().map(|section| section.note(note))
}

/// Charts of each chosen column's contribution to the predictions, and of residuals against time.
pub fn components(view: &RecordView<'_>) -> Option<Section> {
    let record = view.record.report.residuals.as_ref()?;
    let (residuals, rows) = match record.from {
        Some(from) => (record.held_out.clone(), from.rows()),
        None => (record.fitted.iter().copied().map(Some).collect(), "the training rows"),
    };
    let panel = |column: &DrawnColumn| {
        let name = view.name(column.index);
        component(&name, record, column).unwrap_or_else(|| residual_chart(&name, &column.values, &residuals))
    };
    let time: Vec<Option<f64>> = record.time.iter().copied().map(Some).collect();
    let time = (!time.is_empty()).then(|| residual_chart("order in time", &time, &residuals));
    let panels = record.columns.iter().map(panel).chain(time);
    let section = Section::new("shape", "Components and residuals");
    let section = panels.fold(section, |section, chart| section.chart(Some(chart)));
    let has_components = record.columns.iter().any(|column| column.slope.is_some());
    let bends = "Points are partial residuals: the part of the column in the prediction plus the residual. Where the local means leave the straight line, try log1p or polynomial.";
    let drawn = record.fitted.len();
    let sample = match view.record.data.rows > drawn {
        true => format!("{} of the rows are drawn.", count(drawn as u64)),
        false => String::new(),
    };
    let target = if view.record.data.outputs > 1 { "All are of the first target." } else { "" };
    let rows = format!("Residuals are of {rows}.");
    let scale = match view.record.pipeline.scale() {
        scale if scale.is_empty() => scale,
        scale => format!("Components are{scale}."),
    };
    let sentences = [if has_components { bends } else { "" }, &rows, &sample, target, &scale];
    let note = sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ");
    (!section.blocks.is_empty()).then(|| section.note(note))
}

fn residual_chart(across: &str, values: &[Option<f64>], residuals: &[Option<f64>]) -> Chart {
    let points = values.iter().zip(residuals).filter_map(|(value, residual)| Some([(*value)?, (*residual)?])).collect();
    cloud(across, "residual", "faint", points).mark(Mark::level("", "empty", 0.0)).shape(ChartShape::Small)
}

/// The partial residuals of a column with its straight line and local means.
fn component(name: &str, record: &ResidualsRecord, column: &DrawnColumn) -> Option<Chart> {
    let slope = column.slope?;
    let part = |value: f64| slope * (value - column.center);
    let pairs = column.values.iter().zip(&record.fitted);
    let points: Vec<[f64; 2]> =
        pairs.filter_map(|(value, residual)| Some([(*value)?, residual + part((*value)?)])).collect();
    let ends = points.iter().map(|point| point[0]).filter_map(finite);
    let ends = ends.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
    let line = if ends[0] <= ends[1] { ends.map(|end| [end, part(end)]).to_vec() } else { Vec::new() };
    let trend = column.trend.iter().copied().filter(|point| point.iter().all(|value| value.is_finite())).collect();
    let chart = cloud(name, "component + residual", "faint", points)
        .mark(Mark::stroke("", "fit", line))
        .mark(Mark::stroke("", "trend", trend));
    Some(chart.shape(ChartShape::Small))
}
