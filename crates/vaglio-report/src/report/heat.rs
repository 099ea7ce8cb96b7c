//! Heat maps, as inline SVG: correlations, weights of many outputs, confusion of many classes.

use super::chart::clipped;
use super::number::{count, escape, short};
use super::source::RecordView;
use super::svg::{self, px};
use crate::record::{MOST_CORRELATED, PerOutput};
use std::fmt::Write;

/// Columns whose weights are drawn, at most.
const MOST_WEIGHTS: usize = 100;
/// Classes or outputs that are drawn, at most.
const MOST_CLASSES: usize = 60;

/// A map of cells with names at the left and above.
struct Map<'a> {
    label: String,
    rows: &'a [String],
    columns: &'a [String],
    /// Most letters of a name.
    letters: usize,
    /// The side of a cell.
    cell: f64,
}

impl Map<'_> {
    /// The drawing, whose cells have a strength from −1 to 1, words on them, and a tooltip.
    fn html(&self, cell: impl Fn(usize, usize) -> (f64, String, String), scale: Option<[&str; 3]>) -> String {
        let longest = |names: &[String]| {
            names.iter().map(|name| name.chars().count().min(self.letters)).max().unwrap_or(0) as f64
        };
        let (cell_height, small) = (self.cell, self.cell < 13.0);
        let letter = if small { 4.6 } else { 6.8 };
        let (left, top) = (14.0 + letter * longest(self.rows), 14.0 + letter * longest(self.columns));
        let foot = if scale.is_some() { 50.0 } else { 8.0 };
        let (across, down) = (self.cell * self.columns.len() as f64, cell_height * self.rows.len() as f64);
        let (width, height) = ((left + across + 12.0).max(left + 200.0), top + down + foot);
        let class = if small { "heat small" } else { "heat" };
        let mut out = format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {w} {h}\" style=\"max-width:{w}px;min-width:{least}px\" role=\"img\" aria-label=\"{}\">",
            escape(&self.label),
            w = px(width),
            h = px(height),
            least = px((0.8 * width).min(width)),
        );
        for (k, name) in self.rows.iter().enumerate() {
            let middle = top + cell_height * (k as f64 + 0.5) + 3.5;
            svg::text(&mut out, "name", (left - 7.0, middle), "end", &clipped(name, self.letters));
        }
        for (k, name) in self.columns.iter().enumerate() {
            let (a, b) = (px(left + self.cell * (k as f64 + 0.5) + 3.5), px(top - 7.0));
            let shown = clipped(name, self.letters);
            let _ = write!(out, "<text class=\"name\" transform=\"translate({a},{b}) rotate(-90)\">{shown}</text>");
        }
        for i in 0..self.rows.len() {
            for j in 0..self.columns.len() {
                let (strength, words, tip) = cell(i, j);
                let (x, y) = (left + self.cell * j as f64, top + cell_height * i as f64);
                let shape = block((x, y), (self.cell - 1.0, cell_height - 1.0), strength);
                let _ = write!(out, "<g><title>{}</title>{shape}", escape(&tip));
                if self.cell >= 20.0 && !words.is_empty() {
                    let class = if strength.abs() > 0.55 { "value strong" } else { "value" };
                    let middle = (x + self.cell / 2.0 - 0.5, y + cell_height / 2.0 + 3.5);
                    svg::text(&mut out, class, middle, "middle", &words);
                }
                out.push_str("</g>");
            }
        }
        if let Some(words) = scale {
            draw_scale(&mut out, left, top + down + 14.0, words);
        }
        out.push_str("</svg>");
        out
    }
}

/// Correlations of the selected columns; `None` for fewer than two, or where they are not known.
pub fn correlations(source: &RecordView<'_>) -> Option<String> {
    let rows = &source.record.report.correlations;
    let n = rows.len();
    if !(2..=MOST_CORRELATED).contains(&n) {
        return None;
    }
    let of = |i: usize, j: usize| if i == j { 1.0 } else { rows[i.max(j)][i.min(j)].unwrap_or(f64::NAN) };
    let names: Vec<String> = source.record.selected.iter().map(|f| source.name(f.index)).collect();
    let cell = (540.0 / n as f64).clamp(9.0, 46.0);
    let map = Map {
        label: format!("Correlations of the {n} chosen columns"),
        rows: &names,
        columns: &names,
        letters: 20,
        cell,
    };
    let drawn = |i: usize, j: usize| {
        let r = of(i, j);
        let words = if cell >= 30.0 && r.is_finite() { hundredths(r) } else { String::new() };
        (r, words, format!("{} and {}: {}", names[i], names[j], short(r)))
    };
    Some(map.html(drawn, Some(["−1", "0", "1"])))
}

/// Weights of each selected column for each output; `None` where there are too many, or they are not known.
pub fn weights(source: &RecordView<'_>) -> Option<String> {
    let outputs = source.outputs();
    let columns = &source.record.selected;
    let known = columns.iter().all(|c| c.weight.as_ref().is_some_and(|w| w.values().len() == outputs.len()));
    if !known || columns.is_empty() || columns.len() > MOST_WEIGHTS || outputs.len() > MOST_CLASSES {
        return None;
    }
    let of = |i: usize, j: usize| columns[i].weight.as_ref().map_or(0.0, |w| w.values()[j]);
    let all = columns.iter().filter_map(|c| c.weight.as_ref()).flat_map(PerOutput::values);
    let largest = all.fold(0.0, |m: f64, w| m.max(w.abs()));
    let names: Vec<String> = columns.iter().map(|c| source.name(c.index)).collect();
    let label = format!("Weights of {} columns for {} outputs", names.len(), outputs.len());
    let cell = (620.0 / outputs.len() as f64).clamp(12.0, 24.0);
    let map = Map { label, rows: &names, columns: &outputs, letters: 20, cell };
    let drawn = |i: usize, j: usize| {
        let weight = of(i, j);
        let strength = if largest > 0.0 { weight / largest } else { 0.0 };
        (strength, String::new(), format!("{}, {}: {}", names[i], outputs[j], short(weight)))
    };
    let (low, high) = (short(-largest), short(largest));
    Some(map.html(drawn, Some([&low, "0", &high])))
}

/// A confusion matrix of many classes, shaded by the share of each class; empty where they are too many.
pub fn confusion(names: &[String], counts: &[Vec<usize>]) -> String {
    if names.len() > MOST_CLASSES {
        return String::new();
    }
    let cell = (620.0 / names.len() as f64).clamp(12.0, 26.0);
    let label = format!("Confusion of {} classes", names.len());
    let map = Map { label, rows: names, columns: names, letters: 14, cell };
    let drawn = |i: usize, j: usize| {
        let total = counts[i].iter().sum::<usize>().max(1) as f64;
        let (n, share) = (counts[i][j], counts[i][j] as f64 / total);
        let words = if n > 0 { count(n as u64) } else { String::new() };
        let strength = if i == j { share } else { -share.sqrt() };
        (strength, words, format!("{} taken for {}: {}", names[i], names[j], count(n as u64)))
    };
    map.html(drawn, None)
}

fn draw_scale(out: &mut String, left: f64, top: f64, words: [&str; 3]) {
    let (count, width) = (21, 8.0);
    for k in 0..count {
        let r = f64::from(k) / 10.0 - 1.0;
        out.push_str(&block((left + width * f64::from(k), top), (width + 0.2, 10.0), r));
    }
    for (r, text) in [-1.0, 0.0, 1.0].into_iter().zip(words) {
        let h = left + width * (f64::from(count) / 2.0 + r * 10.0);
        svg::text(out, "tick", (h, top + 24.0), "middle", text);
    }
}

/// A rectangle whose hue is the sign and whose strength is the size of a correlation.
fn block((x, y): (f64, f64), (width, height): (f64, f64), r: f64) -> String {
    let (class, strength) = match r {
        r if !r.is_finite() => ("unknown", 0.0),
        r if r < 0.0 => ("negative", -r),
        r => ("positive", r),
    };
    let (x, y, width, height, opacity) = (px(x), px(y), px(width), px(height), px(0.04 + 0.96 * strength.min(1.0)));
    format!(
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill-opacity=\"{opacity}\"/>"
    )
}

fn hundredths(r: f64) -> String {
    let text = format!("{:.2}", r.abs());
    match text.as_str() {
        "1.00" if r > 0.0 => "1".into(),
        "0.00" => "0".into(),
        _ if r < 0.0 => format!("−{text}"),
        _ => text,
    }
}
