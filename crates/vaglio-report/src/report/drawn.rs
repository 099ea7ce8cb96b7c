//! Sections of a drawing with a table below it: the learning curve, and the calibration of probabilities.

use super::axis::{Axis, tick_labels, ticks};
use super::labels::vertical;
use super::number::{self, count, counted, short};
use super::plot::{Across, Plot, Series};
use super::source::{RecordView, finite};
use super::svg::{self, px};
use super::table::{Column, HtmlTable};
use crate::record::{LearningPoint, PredictedOn, ReliabilityBin, ReliabilityRecord};
use serde::Serialize;
use std::fmt::Write;

/// The side of the calibration plot.
const SIDE: f64 = 360.0;

/// A section of a drawing with a table below it.
#[derive(Serialize)]
pub struct DrawnSection {
    id: &'static str,
    heading: &'static str,
    lead: String,
    legend: String,
    svg: Option<String>,
    caption: String,
    table: String,
}

/// The loss by how many rows the procedure is trained on.
pub fn learning_curve(source: &RecordView<'_>) -> Option<DrawnSection> {
    let curve = source.record.learning_curve.as_ref()?;
    let loss = |point: &LearningPoint| point.loss.and_then(finite);
    let plot = Plot {
        label: "Loss on rows held out against the number of training rows".into(),
        vertical: vertical(&source.loss()),
        across: Across::Counts("training rows"),
        at: curve.points.iter().map(|point| point.rows.round()).collect(),
        tips: curve
            .points
            .iter()
            .map(|point| {
                format!(
                    "{}: {}",
                    counted(point.rows.round() as u64, "row"),
                    loss(point).map_or_else(|| "none".into(), short)
                )
            })
            .collect(),
        series: vec![Series {
            name: "rows held out, everything repeated".into(),
            class: "nested",
            values: curve.points.iter().map(loss).collect(),
            band: curve.points.iter().map(|point| point.standard_error).collect(),
        }],
        ..Plot::default()
    };
    let columns = vec![
        Column::share("Share of the training rows", |point: &LearningPoint| Some(point.share)),
        Column::short("Rows", |point: &LearningPoint| Some(point.rows)),
        Column::short("Columns chosen", |point: &LearningPoint| point.size),
        Column::number("Loss", loss),
        Column::number("± its error", |point: &LearningPoint| point.standard_error),
        Column::number("Lower than the one before by", |point: &LearningPoint| point.gain),
        Column::number("± its error", |point: &LearningPoint| point.gain_error),
        Column::list("Why there is none", |point: &LearningPoint| point.refused.clone().unwrap_or_default()),
    ];
    let made = curve.splits.as_ref().map_or_else(|| counted(curve.folds as u64, "outer fold"), Clone::clone);
    Some(DrawnSection {
        id: "learning",
        heading: "Learning curve",
        lead: curve.sentence(),
        legend: plot.legend(),
        svg: plot.html(),
        caption: format!(
            "Everything is repeated on parts of the training rows of {made}, each part within the next; all are judged on the same rows held out."
        ),
        table: HtmlTable::of("Learning curve", "“learning_curve”", columns, &curve.points, |_| false).html(),
    })
}

/// Probabilities of classes beside what came about.
pub fn calibration(source: &RecordView<'_>) -> Option<DrawnSection> {
    let of = source.record.calibration.as_ref()?;
    let classes = source.record.data.classes.as_ref()?;
    let (what, of_what) = match classes.len() {
        2 => (format!("“{}”", classes[1]), "the probability of the positive class"),
        _ => ("the class that the row is given".into(), "the probability of the class that the row is given"),
    };
    let (rows, class) = match of.from {
        PredictedOn::Nested => ("rows held out in outer folds", "nested"),
        PredictedOn::CrossValidation => ("rows held out in the folds of the search", "cross"),
        PredictedOn::Test => ("test rows", "test"),
    };
    let gain = if of.base > 0.0 { 1.0 - of.brier / of.base } else { 0.0 };
    let lead = format!(
        "The Brier score of {} {rows} is {}; the frequencies of the classes as probabilities have {} (skill {:.0} %).",
        count(of.rows as u64),
        short(of.brier),
        short(of.base),
        100.0 * gain
    )
    .replace("-", "−");
    let columns = vec![
        Column::count("Rows", |bin: &ReliabilityBin| bin.rows),
        Column::number("Mean probability", |bin: &ReliabilityBin| Some(bin.predicted)),
        Column::number("Came true", |bin: &ReliabilityBin| Some(bin.observed)),
        Column::number("± its error", |bin: &ReliabilityBin| Some(bin.error)),
    ];
    let table = HtmlTable::of("Calibration", "“calibration”", columns, &of.bins, |_| false);
    Some(DrawnSection {
        id: "calibration",
        heading: "Calibration of probabilities",
        lead,
        legend: String::new(),
        svg: Some(square(of, class)),
        caption: format!(
            "Rows of like probability of {what}: {of_what} across, the share of the rows of which it came true upward, with one standard error. On the line probabilities are right. Each row has the probability that maps fitted on the other folds give it."
        ),
        table: table.folded(format!("{} as a table", counted(of.bins.len() as u64, "group"))).html(),
    })
}

fn square(of: &ReliabilityRecord, class: &str) -> String {
    let (left, top, floor) = (52.0, 12.0, SIDE - 46.0);
    let x = Axis { from: 0.0, to: 1.0, start: left, length: SIDE - left - 16.0, logarithmic: false };
    let y = Axis { from: 0.0, to: 1.0, start: floor, length: top - floor, logarithmic: false };
    let mut out = svg::framed("square", (SIDE, SIDE), "Calibration of probabilities");
    let marks = ticks(0.0, 1.0, 5);
    let labels = tick_labels(&marks, false);
    svg::grid(&mut out, &x, &y, &marks, &labels);
    svg::foot(&mut out, &x, floor, &marks.iter().map(|m| x.at(*m)).zip(labels).collect::<Vec<_>>());
    svg::text(&mut out, "axis-label", (left + x.length / 2.0, SIDE - 6.0), "middle", "probability");
    svg::upright(&mut out, (14.0, (top + floor) / 2.0), "share that came true");
    let right = format!("M{},{}L{},{}", px(x.at(0.0)), px(y.at(0.0)), px(x.at(1.0)), px(y.at(1.0)));
    let _ = write!(out, "<path class=\"level empty\" d=\"{right}\"/>");
    let points: Vec<String> =
        of.bins.iter().map(|bin| format!("{},{}", px(x.at(bin.predicted)), px(y.at(bin.observed)))).collect();
    for bin in &of.bins {
        let (low, high) = ((bin.observed - bin.error).max(0.0), (bin.observed + bin.error).min(1.0));
        let d = format!("M{},{}V{}", px(x.at(bin.predicted)), px(y.at(low)), px(y.at(high)));
        let _ = write!(out, "<path class=\"whisker {class}\" d=\"{d}\"/>");
    }
    let _ = write!(out, "<path class=\"line {class}\" d=\"M{}\"/>", points.join("L"));
    for bin in &of.bins {
        let tip = format!(
            "{}: {} came true of {}",
            counted(bin.rows as u64, "row"),
            short(bin.observed),
            short(bin.predicted)
        );
        let marker = svg::marker(class, x.at(bin.predicted), y.at(bin.observed), 3.4);
        let _ = write!(out, "<g><title>{}</title>{marker}</g>", number::escape(&tip));
    }
    out.push_str("</svg>");
    out
}
