//! Learning curve: held-out loss over the number of training rows.

use super::{Record, interval_name, interval_text};
use crate::interval::{LEVEL, normal_interval};
use crate::page::{Chart, Mark, ScaleKind, Section, TableBuilder, finite};
use vaglio_core::{pluralize, record, short};

/// Learning curve: the selection is repeated on shares of the training rows of outer folds.
#[record]
pub struct LearningCurve {
    /// Number of outer folds.
    pub folds: usize,
    /// Description of the splits, if they are not plain folds.
    #[optional]
    pub splits: Option<String>,
    /// Points in increasing order of the share.
    pub points: Vec<LearningPoint>,
}

/// Result for one share of the training rows of every fold.
#[record]
#[derive(Default)]
pub struct LearningPoint {
    /// Share of the training rows.
    pub share: f64,
    /// Number of training rows, as a mean over folds.
    pub rows: f64,
    /// Number of selected columns, as a mean over folds.
    pub size: Option<f64>,
    /// Loss pooled over all held-out rows; absent if the selection fails on so few rows.
    pub loss: Option<f64>,
    /// Standard error of the loss.
    pub standard_error: Option<f64>,
    /// Decrease of the loss from the previous point.
    pub gain: Option<f64>,
    /// Standard error of the decrease, on the same rows.
    pub gain_error: Option<f64>,
    /// Reason why there is no loss.
    #[optional]
    pub refused: Option<String>,
}

impl LearningCurve {
    /// Sentence that says whether more rows would help, by the last two points.
    pub fn sentence(&self) -> String {
        let known: Vec<&LearningPoint> = self.points.iter().filter(|point| point.loss.is_some()).collect();
        let (&[.., before, last], Some(gain)) = (&known[..], known.last().and_then(|last| last.gain)) else {
            return "The learning curve has too few points to say whether more rows would help.".into();
        };
        let percent = |point: &LearningPoint| format!("{:.0}", 100.0 * point.share);
        let steps = format!("from {} to {} % of the training rows", percent(before), percent(last));
        let way = if gain < 0.0 { "rises" } else { "falls" };
        let change = format!("{steps} the held-out loss {way} by {}", short(gain.abs()));
        let Some(error) = last.gain_error else { return format!("Learning curve: {change}.") };
        let ends = normal_interval(gain.abs(), error, [f64::NEG_INFINITY, f64::INFINITY]);
        let rows = if gain > 0.0 && ends[0] > 0.0 {
            "More rows would probably help"
        } else {
            "More rows of this kind would probably help little"
        };
        format!("{rows}: {change} ({}).", interval_text((ends, LEVEL)))
    }
}

/// The loss over the number of training rows.
pub(crate) fn learning_curve_section(record: &Record) -> Option<Section> {
    let curve = record.learning_curve.as_ref()?;
    let loss = |point: &LearningPoint| point.loss.and_then(finite);
    let name = record.loss();
    let interval = |point: &LearningPoint| name.interval_at(point.rows.round(), loss(point), point.standard_error);
    let points = curve.points.iter().map(|point| Some([point.rows.round(), loss(point)?])).collect();
    let folds = || pluralize(curve.folds, "outer fold");
    let chart = Chart::new("Loss over the number of training rows", "training rows", name.axis_title())
        .x(ScaleKind::Linear)
        .marks(Mark::band(interval_name(LEVEL), "nested", curve.points.iter().map(interval).collect()))
        .mark(Mark::line("rows held out", "nested", points))
        .caption(format!(
            "Everything is repeated on growing parts of the training rows of {}.",
            curve.splits.clone().unwrap_or_else(folds)
        ));
    let table = TableBuilder::new("“learning_curve”", &curve.points)
        .share("Share of the training rows", |point| point.share)
        .number("Rows", |point| point.rows)
        .number("Columns chosen", |point| point.size)
        .number("Loss", loss)
        .number("Standard error", |point| point.standard_error)
        .number("Gain over the row above", |point| point.gain)
        .number("Standard error of the gain", |point| point.gain_error)
        .text("Why there is no loss", |point| point.refused.clone());
    Some(Section::new("Learning curve").text(curve.sentence()).chart(chart).table(table))
}
