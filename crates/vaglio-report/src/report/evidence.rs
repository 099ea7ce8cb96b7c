//! The figures beside each other: no column, shuffled targets, the inner score, and rows that were held out.

use super::axis::{Axis, log_ticks, tick_labels, ticks};
use super::honest::{Honest, Origin, shuffled};
use super::labels;
use super::number::{escape, short};
use super::source::{RecordView, finite};
use super::svg::{self, NARROW, WIDTH, px};
use std::fmt::Write;

const ROW: f64 = 30.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 46.0;
/// Values further apart than this, as a ratio, are shown as powers.
const WIDE: f64 = 30.0;

/// One row: a value with its spread, what the same rows give without any column, and small points around it.
struct Row {
    name: String,
    class: &'static str,
    value: f64,
    error: Option<f64>,
    empty: Option<f64>,
    points: Vec<f64>,
}

/// What there is to compare; scores only where they are in the units of the losses.
fn rows(source: &RecordView<'_>, honest: &[Honest<'_>]) -> Vec<Row> {
    let mut out = Vec::new();
    let plain = |name: &str, class, value| {
        let name = name.into();
        Row { name, class, value, error: None, empty: None, points: Vec::new() }
    };
    if let Some((null, is_cross)) = shuffled(source).filter(|(_, is_cross)| *is_cross || source.comparable) {
        let name = if is_cross { "shuffled, cross-validated" } else { "shuffled, inner score" };
        if let Some(mean) = finite(null.mean) {
            out.push(Row { points: null.values.clone(), ..plain(name, "empty", mean) });
        }
    }
    for figure in honest.iter().rev() {
        let folds = source.record.nested.iter().filter(|_| figure.origin == Origin::Nested);
        let points = folds.flat_map(|nested| nested.per_fold.iter().filter_map(|fold| finite(fold.loss))).collect();
        let (name, class) = (figure.origin.title(), figure.origin.class());
        out.push(Row { error: figure.error, empty: figure.empty, points, ..plain(name, class, figure.loss) });
    }
    if let Some(score) = source.score().filter(|_| source.comparable) {
        out.push(Row { empty: source.empty_score(), ..plain("inner score", "inner", score) });
    }
    out
}

/// The drawing in two widths; `None` where a figure has nothing beside it.
pub fn drawing(source: &RecordView<'_>, honest: &[Honest<'_>]) -> Option<String> {
    let rows = rows(source, honest);
    if rows.iter().map(|row| 1 + usize::from(row.empty.is_some())).sum::<usize>() < 2 {
        return None;
    }
    Some(drawn(&rows, source, false)? + &drawn(&rows, source, true)?)
}

fn drawn(rows: &[Row], source: &RecordView<'_>, narrow: bool) -> Option<String> {
    let values = || {
        rows.iter()
            .flat_map(|row| row.points.iter().copied().chain([row.value]).chain(row.empty))
            .filter(|v| v.is_finite())
    };
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let logarithmic = low > 0.0 && high / low > WIDE;
    let edges = rows.iter().filter(|_| !logarithmic).flat_map(|row| row.error.map(|e| [row.value - e, row.value + e]));
    let (low, high) = edges.flatten().fold((low, high), |(low, high), v| (low.min(v), high.max(v)));
    let width = if narrow { NARROW } else { WIDTH };
    let longest = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0) as f64;
    let left = 22.0 + 6.8 * longest;
    let floor = TOP + ROW * rows.len() as f64;
    let (from, to) = if logarithmic { (low.log10(), high.log10()) } else { (low, high) };
    let span = if to - from > 1e-9 * to.abs() { to - from } else { to.abs().max(1.0) };
    // Where the lowest value is near zero beside the span, zero is shown.
    let from = if !logarithmic && from > 0.0 && from < 0.5 * to { 0.0 } else { from - 0.05 * span };
    let x = Axis { from, to: to + 0.05 * span, start: left, length: width - left - 22.0, logarithmic };
    let class = if narrow { "plot narrow" } else { "plot wide" };
    let label = format!("{} of the result beside what it is compared with", source.loss().title());
    let mut out = svg::framed(class, (width, floor + BOTTOM), &label);
    draw_foot(&mut out, &x, (low, high), floor, narrow);
    let (middle, words) = (x.start + x.length / 2.0, labels::vertical(&source.loss()));
    svg::text(&mut out, "axis-label", (middle, floor + BOTTOM - 6.0), "middle", &escape(&words));
    for (k, row) in rows.iter().enumerate() {
        draw_row(&mut out, row, &x, TOP + ROW * (k as f64 + 0.5));
    }
    out.push_str("</svg>");
    Some(out).filter(|_| (x.to - x.from).is_finite())
}

fn draw_foot(out: &mut String, x: &Axis, (low, high): (f64, f64), floor: f64, narrow: bool) {
    let wanted = if narrow { 3 } else { 6 };
    let marks = match x.logarithmic {
        true => {
            let all = log_ticks(low / 1.2, high * 1.2);
            let stride = all.len().div_ceil(wanted + 2).max(1);
            all.into_iter().step_by(stride).collect()
        }
        false => ticks(x.from, x.to, wanted),
    };
    let labels = tick_labels(&marks, x.logarithmic);
    for mark in &marks {
        let _ = write!(out, "<path class=\"grid\" d=\"M{},{}V{}\"/>", px(x.at(*mark)), px(TOP), px(floor));
    }
    let at: Vec<(f64, String)> = marks.iter().map(|mark| x.at(*mark)).zip(labels).collect();
    svg::foot(out, x, floor, &at);
}

fn draw_row(out: &mut String, row: &Row, x: &Axis, middle: f64) {
    let spread = row.error.map(|e| format!(" ± {}", short(e))).unwrap_or_default();
    let without = row.empty.map(|empty| format!("; without any column {}", short(empty))).unwrap_or_default();
    let tip = format!("{}: {}{spread}{without}", row.name, short(row.value));
    let _ = write!(out, "<g><title>{}</title>", escape(&tip));
    svg::text(out, "name", (x.start - 10.0, middle + 4.0), "end", &escape(&row.name));
    for point in row.points.iter().filter(|p| p.is_finite()) {
        let at = px(x.at(*point));
        let _ = write!(out, "<path class=\"tickmark {}\" d=\"M{at},{}v12\"/>", row.class, px(middle - 6.0));
    }
    if let Some(empty) = row.empty.filter(|empty| empty.is_finite()) {
        let (h, v) = (px(x.at(empty)), px(middle));
        let _ = write!(out, "<circle class=\"without\" cx=\"{h}\" cy=\"{v}\" r=\"5\"/>");
    }
    if let Some(error) = row.error {
        let low = if x.logarithmic { (row.value - error).max(row.value * 1e-3) } else { row.value - error };
        let (from, to) = (px(x.at(low)), px(x.at(row.value + error)));
        let _ = write!(out, "<path class=\"spread {}\" d=\"M{from},{}H{to}\"/>", row.class, px(middle));
    }
    out.push_str(&svg::marker(row.class, x.at(row.value), middle, 5.0));
    out.push_str("</g>");
}
