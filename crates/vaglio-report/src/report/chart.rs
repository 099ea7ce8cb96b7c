//! The entry chart, as inline SVG.

use super::number::{escape, short};
use super::source::{RecordView, finite};
use super::svg::{self, WIDTH, px};
use std::fmt::Write;
use vaglio_core::{Action, clip};

/// Most steps and rows that the entry chart shows.
pub const MOST_STEPS: usize = 40;

/// A stretch of steps during which a column was in the subset: from a step, up to another.
struct Stay {
    from: usize,
    to: usize,
    entered: bool,
    left: bool,
}

/// The columns that were ever in the subset, in order of first entry, with their stays.
fn stays(source: &RecordView<'_>) -> Vec<(usize, Vec<Stay>)> {
    let steps = &source.record.steps;
    let last = steps.len();
    let mut rows: Vec<(usize, Vec<Stay>)> = Vec::new();
    let full = match steps.first() {
        Some(step) if step.action == Action::Remove => source.path.last().map_or(&[][..], |entry| &entry.subset),
        _ => &[],
    };
    for &index in full {
        rows.push((index, vec![Stay { from: 0, to: last, entered: false, left: false }]));
    }
    for (place, step) in steps.iter().enumerate() {
        let added = step.action == Action::Add;
        for &moved in step.moved() {
            let row = match rows.iter().position(|(index, _)| *index == moved) {
                Some(row) => row,
                None => {
                    let before = Stay { from: 0, to: last, entered: false, left: false };
                    rows.push((moved, if added { Vec::new() } else { vec![before] }));
                    rows.len() - 1
                }
            };
            let stays = &mut rows[row].1;
            if added {
                stays.push(Stay { from: place, to: last, entered: true, left: false });
            } else if let Some(stay) = stays.last_mut() {
                stay.to = place;
                stay.left = true;
            }
        }
    }
    rows
}

/// Where the entry chart draws: its left edge and the width of a step.
struct Grid<'r> {
    source: &'r RecordView<'r>,
    left: f64,
    column: f64,
}

/// Which column was in the subset at which step; `None` without steps or with more than fit.
pub fn entries(source: &RecordView<'_>) -> Option<String> {
    let steps = source.record.steps.len();
    if steps == 0 || steps > MOST_STEPS {
        return None;
    }
    let rows = stays(source);
    if rows.len() > MOST_STEPS {
        return None;
    }
    let names: Vec<String> = rows.iter().map(|(index, _)| source.name(*index)).collect();
    let left = 26.0 + 7.0 * names.iter().map(|n| n.chars().count().min(24)).max().unwrap_or(0) as f64;
    let grid = Grid { source, left, column: ((WIDTH - left - 16.0) / steps as f64).min(64.0) };
    let (row_height, top) = (24.0, 40.0);
    let height = top + row_height * rows.len() as f64 + 8.0;
    let mut out = svg::open(height, &format!("Columns in the subset at each of {steps} steps"));
    grid.draw_steps(&mut out, steps);
    for (row, ((index, stays), name)) in rows.iter().zip(&names).enumerate() {
        let middle = top + row_height * (row as f64 + 0.5);
        let chosen = source.record.selected.iter().any(|f| f.index == *index);
        grid.draw_row(&mut out, name, chosen, middle);
        for stay in stays {
            grid.draw_stay(&mut out, stay, name, chosen, middle);
        }
    }
    out.push_str("</svg>");
    Some(out)
}

impl Grid<'_> {
    fn draw_steps(&self, out: &mut String, steps: usize) {
        let _ = write!(out, "<text class=\"axis-label\" x=\"{}\" y=\"13\">step</text>", px(self.left));
        let every = steps.div_ceil(20);
        for step in (0..steps).filter(|s| (s + 1) % every == 0 || *s == 0) {
            let h = self.left + self.column * (step as f64 + 0.5);
            svg::text(out, "tick", (h, 31.0), "middle", &(step + 1).to_string());
        }
    }

    fn draw_row(&self, out: &mut String, name: &str, chosen: bool, middle: f64) {
        let (from, to) = (px(self.left), px(self.left + self.column * self.source.record.steps.len() as f64));
        let class = if chosen { "name" } else { "name off" };
        let _ = write!(out, "<path class=\"grid\" d=\"M{from},{}H{to}\"/>", px(middle));
        svg::text(out, class, (self.left - 10.0, middle + 4.0), "end", &clipped(name, 24));
    }

    fn draw_stay(&self, out: &mut String, stay: &Stay, name: &str, chosen: bool, middle: f64) {
        let class = if chosen { "on" } else { "off" };
        let at = |step: usize, event: bool| self.left + self.column * (step as f64 + if event { 0.5 } else { 0.0 });
        let (start, end) = (at(stay.from, stay.entered), at(stay.to, stay.left));
        let entered = stay.entered.then(|| self.told(stay.from, name, "enters")).flatten();
        let exited = stay.left.then(|| self.told(stay.to, name, "leaves")).flatten();
        let events: Vec<String> = [entered, exited].into_iter().flatten().collect();
        let tip = if events.is_empty() { format!("{name}: in every subset") } else { events.join("; ") };
        let _ = write!(
            out,
            "<g class=\"stay\"><title>{}</title><rect class=\"bar {class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"10\" rx=\"5\"/>",
            escape(&tip),
            px(start - 5.0),
            px(middle - 5.0),
            px((end - start + 5.0).max(10.0))
        );
        if stay.entered {
            let _ = write!(out, "<circle class=\"enter {class}\" cx=\"{}\" cy=\"{}\" r=\"5\"/>", px(start), px(middle));
        }
        if stay.left {
            let corner = (px(end - 4.0), px(middle - 4.0));
            let _ = write!(out, "<path class=\"exit {class}\" d=\"M{},{}l8,8m0,-8l-8,8\"/>", corner.0, corner.1);
        }
        out.push_str("</g>");
    }

    fn told(&self, place: usize, name: &str, verb: &str) -> Option<String> {
        let step = self.source.record.steps.get(place)?;
        let score = finite(step.score).map(|s| format!(", score {}", short(s))).unwrap_or_default();
        Some(format!("step {}: {name} {verb}{score}", step.step))
    }
}

/// A name cut to `most` characters, with the whole of it as its tooltip.
pub fn clipped(name: &str, most: usize) -> String {
    format!("<title>{}</title>{}", escape(name), escape(&clip(name, most)))
}
