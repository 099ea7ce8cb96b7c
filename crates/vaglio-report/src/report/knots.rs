//! The coefficients along a least-angle path, as inline SVG.

use super::axis::{Axis, tick_labels, ticks, whole_ticks};
use super::number::{escape, short};
use super::source::RecordView;
use super::svg::{self, WIDTH, px};
use std::fmt::Write;
use vaglio_core::{Action, clip};

const HEIGHT: f64 = 360.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 50.0;
/// Most columns that are named at the right.
const NAMED: usize = 12;
/// Styles of lines in the style sheet.
const STYLES: usize = 6;

/// The coefficient of one column at the end of each step; 0 while it is not on the path.
struct KnotLine {
    name: String,
    chosen: bool,
    values: Vec<f64>,
}

/// The columns that were ever on the path, in order of first entry; `None` for other searches.
fn lines(source: &RecordView<'_>) -> Option<Vec<KnotLine>> {
    let record = source.record;
    if record.steps.is_empty() || record.steps.iter().any(|step| step.alpha.is_none()) {
        return None;
    }
    let mut active: Vec<usize> = Vec::new();
    let mut lines: Vec<(usize, KnotLine)> = Vec::new();
    for (place, step) in record.steps.iter().enumerate() {
        for &index in step.moved() {
            if step.action == Action::Remove {
                active.retain(|&known| known != index);
                continue;
            }
            active.push(index);
            if !lines.iter().any(|(known, _)| *known == index) {
                let chosen = record.selected.iter().any(|f| f.index == index);
                let values = vec![0.0; record.steps.len()];
                lines.push((index, KnotLine { name: source.name(index), chosen, values }));
            }
        }
        for (index, value) in active.iter().zip(step.alpha.iter().flatten()) {
            if let Some((_, line)) = lines.iter_mut().find(|(known, _)| known == index) {
                line.values[place] = *value;
            }
        }
    }
    Some(lines.into_iter().map(|(_, line)| line).collect())
}

/// Each column's coefficient against the step; `None` where there is no such path.
pub fn coefficients(source: &RecordView<'_>) -> Option<String> {
    let lines = lines(source)?;
    let all = || lines.iter().flat_map(|line| line.values.iter().copied()).filter(|v| v.is_finite());
    let (low, high) = (all().fold(0.0, f64::min), all().fold(0.0, f64::max));
    if high - low <= 0.0 {
        return None;
    }
    let steps = source.record.steps.len();
    let room = 0.05 * (high - low);
    let marks = ticks(low - room, high + room, 6);
    let labels = tick_labels(&marks, false);
    let left = 20.0 + 7.0 * labels.iter().map(|l| l.chars().count()).max().unwrap_or(0) as f64;
    let right = 24.0 + 6.6 * lines.iter().map(|l| l.name.chars().count().min(18)).max().unwrap_or(0) as f64;
    let floor = HEIGHT - BOTTOM;
    let x = Axis { from: 0.0, to: steps as f64, start: left, length: WIDTH - left - right, logarithmic: false };
    let y = Axis { from: low - room, to: high + room, start: floor, length: TOP - floor, logarithmic: false };
    let mut out = svg::open(HEIGHT, &format!("Coefficients of {} columns along {steps} steps", lines.len()));
    svg::grid(&mut out, &x, &y, &marks, &labels);
    for step in whole_ticks(0, steps, 10) {
        svg::text(&mut out, "tick", (x.at(step as f64), floor + 19.0), "middle", &step.to_string());
    }
    svg::text(&mut out, "axis-label", (left + x.length / 2.0, HEIGHT - 8.0), "middle", "step");
    draw(&mut out, &lines, &x, &y);
    out.push_str("</svg>");
    Some(out)
}

fn draw(out: &mut String, lines: &[KnotLine], x: &Axis, y: &Axis) {
    for (k, line) in lines.iter().enumerate().rev() {
        let points = line.values.iter().enumerate().map(|(step, v)| (x.at(step as f64 + 1.0), y.at(*v)));
        let path: Vec<String> =
            [(x.at(0.0), y.at(0.0))].into_iter().chain(points).map(|(h, v)| format!("{},{}", px(h), px(v))).collect();
        let _ = write!(
            out,
            "<g class=\"knot\"><title>{}</title><path class=\"line alpha k{}{}\" d=\"M{}\"/></g>",
            escape(&format!("{}: {} at the end", line.name, short(end(line)))),
            k % STYLES,
            if line.chosen { "" } else { " off" },
            path.join("L")
        );
    }
    // Names from the top down, each at least a line below the one above.
    let mut named: Vec<&KnotLine> = lines.iter().collect();
    named.sort_by(|a, b| size(b).total_cmp(&size(a)));
    named.truncate(NAMED);
    named.sort_by(|a, b| end(b).total_cmp(&end(a)));
    let mut above = f64::NEG_INFINITY;
    for line in named {
        let v = (y.at(end(line)) + 4.0).max(above + 13.0);
        above = v;
        let class = if line.chosen { "name" } else { "name off" };
        let _ = write!(
            out,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            px(x.start + x.length + 8.0),
            px(v),
            escape(&clip(&line.name, 18))
        );
    }
}

fn end(line: &KnotLine) -> f64 {
    line.values.last().copied().unwrap_or(0.0)
}

fn size(line: &KnotLine) -> f64 {
    end(line).abs()
}
