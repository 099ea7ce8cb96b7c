//! The pieces of inline SVG that several drawings share.

use super::axis::Axis;
use super::number::escape;
use std::fmt::Write;

/// The width of a drawing that fills the page.
pub const WIDTH: f64 = 760.0;

/// A length on the page, to a hundredth.
pub fn px(length: f64) -> String {
    let rounded = (length * 100.0).round() / 100.0;
    if rounded.is_finite() { (rounded + 0.0).to_string() } else { "0".into() }
}

/// The start of a drawing that fills the page; `label` says what it shows, for readers that cannot see it.
pub fn open(height: f64, label: &str) -> String {
    let (height, label) = (px(height), escape(label));
    format!("<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\">")
}

/// Text at a place, whose `anchor` is its `start`, `middle` or `end`; `content` is markup.
pub fn text(out: &mut String, class: &str, (x, y): (f64, f64), anchor: &str, content: &str) {
    let (x, y) = (px(x), px(y));
    let _ = write!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{content}</text>");
}

/// A line across the drawing at each tick of the vertical axis, with its label to the left.
pub fn grid(out: &mut String, x: &Axis, y: &Axis, ticks: &[f64], labels: &[String]) {
    for (tick, label) in ticks.iter().zip(labels) {
        let h = y.at(*tick);
        let _ = write!(out, "<path class=\"grid\" d=\"M{},{}H{}\"/>", px(x.start), px(h), px(x.start + x.length));
        text(out, "tick", (x.start - 8.0, h + 4.0), "end", label);
    }
}
