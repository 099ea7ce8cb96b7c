//! Numbers: predicted against observed targets, and residuals.

use super::axis::{Axis, tick_labels, ticks};
use super::labels;
use super::number::{count, escape};
use super::source::RecordView;
use super::svg::{self, px};
use serde::Serialize;
use std::fmt::Write;

const SIDE: f64 = 360.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;
/// Targets that are drawn, at most.
const MOST: usize = 4;

/// The section on predictions.
#[derive(Serialize)]
pub struct Predictions {
    lead: String,
    /// For each target its name and the two drawings.
    pairs: Vec<(String, String, String)>,
}

impl Predictions {
    /// The section; `None` for classes, or without predictions of rows that were not seen.
    pub fn of(source: &RecordView<'_>) -> Option<Predictions> {
        let shown = source.record.report.predictions.as_ref().filter(|_| source.record.data.classes.is_none())?;
        let class = labels::class_of(shown.from);
        let several = shown.observed.len() > 1;
        let pair = |(name, (observed, predicted)): (String, (&Vec<f64>, &Vec<f64>))| {
            let finite = |(o, p): (&f64, &f64)| (o.is_finite() && p.is_finite()).then_some((*o, *p));
            let rows: Vec<(f64, f64)> = observed.iter().zip(predicted).filter_map(finite).collect();
            let straight: Vec<(f64, f64)> = rows.iter().map(|(o, p)| (*p, *o)).collect();
            let residuals: Vec<(f64, f64)> = rows.iter().map(|(o, p)| (*p, o - p)).collect();
            let first = drawing(&straight, class, ("predicted", "observed"), Some(true))?;
            let second = drawing(&residuals, class, ("predicted", "observed − predicted"), Some(false))?;
            Some((if several { name } else { String::new() }, first, second))
        };
        let lists = shown.observed.iter().zip(&shown.predicted);
        let pairs: Vec<_> = source.outputs().into_iter().zip(lists).take(MOST).filter_map(pair).collect();
        if pairs.is_empty() {
            return None;
        }
        let drawn = shown.observed.first().map_or(0, Vec::len);
        let mut lead = format!("Predictions of {}", labels::on(shown));
        if drawn < shown.rows {
            let _ = write!(lead, ", {} of {} of them", count(drawn as u64), count(shown.rows as u64));
        }
        lead.push_str(". Points on the line are predicted right; residuals should show no pattern.");
        if shown.observed.len() > MOST {
            let _ = write!(lead, " The first {MOST} of {} targets are drawn.", shown.observed.len());
        }
        Some(Predictions { lead, pairs })
    }
}

/// Points in a square, with the line of equality (`true`) or of zero (`false`).
fn drawing(rows: &[(f64, f64)], class: &str, (across, up): (&str, &str), line: Option<bool>) -> Option<String> {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let room = if high > low { 0.04 * (high - low) } else { low.abs().max(1.0) * 0.1 };
        (low - room, high + room)
    };
    let (mut h, mut v) = (range(&mut rows.iter().map(|r| r.0)), range(&mut rows.iter().map(|r| r.1)));
    if line == Some(true) {
        let both = (h.0.min(v.0), h.1.max(v.1));
        (h, v) = (both, both);
    }
    if rows.is_empty() || ![h.0, h.1, v.0, v.1].iter().all(|edge| edge.is_finite()) {
        return None;
    }
    let marks = ticks(v.0, v.1, 5);
    let texts = tick_labels(&marks, false);
    let left = 34.0 + 7.0 * texts.iter().map(|l| l.chars().count()).max().unwrap_or(0) as f64;
    let floor = SIDE - BOTTOM;
    let x = Axis { from: h.0, to: h.1, start: left, length: SIDE - left - 12.0, logarithmic: false };
    let y = Axis { from: v.0, to: v.1, start: floor, length: TOP - floor, logarithmic: false };
    let mut out = svg::framed("square", (SIDE, SIDE), &format!("{up} against {across}"));
    svg::grid(&mut out, &x, &y, &marks, &texts);
    let below = ticks(h.0, h.1, 4);
    svg::foot(&mut out, &x, floor, &below.iter().map(|m| x.at(*m)).zip(tick_labels(&below, false)).collect::<Vec<_>>());
    svg::text(&mut out, "axis-label", (left + x.length / 2.0, SIDE - 6.0), "middle", &escape(across));
    svg::upright(&mut out, (14.0, (TOP + floor) / 2.0), &escape(up));
    let d = match line {
        Some(true) => format!("M{},{}L{},{}", px(x.at(h.0)), px(y.at(h.0)), px(x.at(h.1)), px(y.at(h.1))),
        _ => format!("M{},{}H{}", px(x.start), px(y.at(0.0)), px(x.start + x.length)),
    };
    let _ = write!(out, "<path class=\"level empty\" d=\"{d}\"/><path class=\"cloud {class}\" d=\"");
    for (a, b) in rows {
        let _ = write!(out, "M{},{}h0", px(x.at(*a)), px(y.at(*b)));
    }
    out.push_str("\"/></svg>");
    Some(out)
}
