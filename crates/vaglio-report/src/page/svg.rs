//! Pieces of inline SVG.

use super::number::escape;
use std::fmt::Write;
use vaglio_core::clip;

/// A length on the page, to a tenth.
pub fn px(length: f64) -> String {
    let rounded = (length * 10.0).round() / 10.0;
    if rounded.is_finite() { (rounded + 0.0).to_string() } else { "0".into() }
}

/// A place on the page.
pub fn place([x, y]: [f64; 2]) -> String {
    format!("{},{}", px(x), px(y))
}

/// The start of a drawing; `label` describes it for readers who cannot see it.
pub fn open(class: &str, [width, height]: [f64; 2], label: &str) -> String {
    let (width, height, label) = (px(width), px(height), escape(label));
    format!("<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">")
}

/// Text that starts, ends or has its middle (`anchor`) at a place.
pub fn text(out: &mut String, class: &str, at: [f64; 2], anchor: &str, words: &str) {
    let (x, y, words) = (px(at[0]), px(at[1]), escape(words));
    let _ = write!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{words}</text>");
}

/// Text that runs upwards.
pub fn upright(out: &mut String, class: &str, at: [f64; 2], anchor: &str, words: &str) {
    let (at, words) = (place(at), escape(words));
    let _ = write!(
        out,
        "<text class=\"{class}\" transform=\"translate({at}) rotate(-90)\" text-anchor=\"{anchor}\">{words}</text>"
    );
}

/// A name cut to `most` characters, with all of it as its tooltip.
pub fn short_name(out: &mut String, at: [f64; 2], anchor: &str, name: &str, most: usize) {
    if name.chars().count() <= most {
        return text(out, "name", at, anchor, name);
    }
    let _ = write!(out, "<g><title>{}</title>", escape(name));
    text(out, "name", at, anchor, &clip(name, most));
    out.push_str("</g>");
}

/// A path.
pub fn path(out: &mut String, class: &str, d: &str) {
    let _ = write!(out, "<path class=\"{class}\" d=\"{d}\"/>");
}

/// A point of radius `r`. Shapes differ by class, so that color is not needed.
pub fn marker(class: &str, [x, y]: [f64; 2], r: f64) -> String {
    let shape = match class.split(' ').next().unwrap_or_default() {
        "test" => format!("M{}h{w}v{w}h-{w}Z", place([x - 0.9 * r, y - 0.9 * r]), w = px(1.8 * r)),
        "train" => format!("M{}l{d},{d}l-{d},{d}l-{d},-{d}Z", place([x, y - 1.3 * r]), d = px(1.3 * r)),
        "inner" => format!("M{}h{}L{}Z", place([x - 1.1 * r, y + 0.8 * r]), px(2.2 * r), place([x, y - 1.1 * r])),
        _ => return format!("<circle class=\"dot {class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", px(x), px(y), px(r)),
    };
    format!("<path class=\"dot {class}\" d=\"{shape}\"/>")
}
