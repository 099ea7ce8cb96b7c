//! The pieces of inline SVG that several drawings share.

use super::axis::Axis;
use super::number::escape;
use std::fmt::Write;

/// The width of a drawing that fills the page.
pub const WIDTH: f64 = 760.0;
/// The width of a drawing that fills a narrow screen.
pub const NARROW: f64 = 400.0;

/// A length on the page, to a tenth.
pub fn px(length: f64) -> String {
    let rounded = (length * 10.0).round() / 10.0;
    if rounded.is_finite() { (rounded + 0.0).to_string() } else { "0".into() }
}

/// The start of a drawing that fills the page; `label` says what it shows, for readers that cannot see it.
pub fn open(height: f64, label: &str) -> String {
    framed("plot", (WIDTH, height), label)
}

/// The start of a drawing of a class and a size.
pub fn framed(class: &str, (width, height): (f64, f64), label: &str) -> String {
    let (width, height, label) = (px(width), px(height), escape(label));
    format!("<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">")
}

/// Text at a place, whose `anchor` is its `start`, `middle` or `end`; `content` is markup.
pub fn text(out: &mut String, class: &str, (x, y): (f64, f64), anchor: &str, content: &str) {
    let (x, y) = (px(x), px(y));
    let _ = write!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{content}</text>");
}

/// Text that runs upwards about a place.
pub fn upright(out: &mut String, (x, y): (f64, f64), content: &str) {
    let _ = write!(
        out,
        "<text class=\"axis-label\" transform=\"translate({},{}) rotate(-90)\" text-anchor=\"middle\">{content}</text>",
        px(x),
        px(y)
    );
}

/// A line across the drawing at each tick of the vertical axis, with its label to the left.
pub fn grid(out: &mut String, x: &Axis, y: &Axis, ticks: &[f64], labels: &[String]) {
    for (tick, label) in ticks.iter().zip(labels) {
        let h = y.at(*tick);
        let _ = write!(out, "<path class=\"grid\" d=\"M{},{}H{}\"/>", px(x.start), px(h), px(x.start + x.length));
        text(out, "tick", (x.start - 8.0, h + 4.0), "end", label);
    }
}

/// The line at the foot of a drawing, with a tick and a label at each place.
pub fn foot(out: &mut String, x: &Axis, floor: f64, ticks: &[(f64, String)]) {
    for (at, label) in ticks {
        let _ = write!(out, "<path class=\"axis\" d=\"M{},{}v5\"/>", px(*at), px(floor));
        text(out, "tick", (*at, floor + 19.0), "middle", label);
    }
    let _ = write!(out, "<path class=\"axis\" d=\"M{},{}H{}\"/>", px(x.start), px(floor), px(x.start + x.length));
}

/// A point: a circle, a square for `test`, a diamond for `train`, a triangle for `inner`, so that colour is not needed.
pub fn marker(class: &str, x: f64, y: f64, r: f64) -> String {
    match class {
        "test" => {
            let (x, y, w) = (px(x - 0.9 * r), px(y - 0.9 * r), px(1.8 * r));
            format!("<rect class=\"dot {class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{w}\"/>")
        }
        "train" => {
            let (x, y, d) = (px(x), px(y - 1.3 * r), px(1.3 * r));
            format!("<path class=\"dot {class}\" d=\"M{x},{y}l{d},{d}l-{d},{d}l-{d},-{d}Z\"/>")
        }
        "inner" => {
            let (left, foot, w) = (px(x - 1.1 * r), px(y + 0.8 * r), px(2.2 * r));
            format!("<path class=\"dot {class}\" d=\"M{left},{foot}h{w}L{},{}Z\"/>", px(x), px(y - 1.1 * r))
        }
        _ => format!("<circle class=\"dot {class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", px(x), px(y), px(r)),
    }
}
