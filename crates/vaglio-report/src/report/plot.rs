//! Line plots, mostly against the number of columns, as inline SVG: axes, lines, points with tooltips, and a legend.
//!
//! Every plot is drawn twice, for wide and for narrow screens; the style sheet shows one of them. The papers' tables are drawn
//! here too: a plotting crate carries neither the report's style nor its tooltips nor the narrow form.

mod range;

use super::axis::{Axis, log_ticks, tick_labels, ticks, whole_log_ticks, whole_ticks};
use super::number::escape;
use super::svg::{self, NARROW, WIDTH, marker, px};
use std::fmt::Write;

/// The height of the wide drawing.
const HEIGHT: f64 = 340.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 50.0;
const RIGHT: f64 = 16.0;
/// Beyond so many points only every second, third, … is drawn; the lines keep all.
const MOST_POINTS: usize = 600;

/// A line through one value per place.
#[derive(Default)]
pub struct Series {
    /// Words for the legend.
    pub name: String,
    /// Class of the line and its points in the style sheet: `cross`, `inner`, `train` or `test`.
    pub class: &'static str,
    /// One value per place of the plot.
    pub values: Vec<Option<f64>>,
    /// Half the height of the band around it, per place; empty for none.
    pub band: Vec<Option<f64>>,
}

/// A horizontal line.
pub struct Level {
    /// Words for the legend.
    pub name: String,
    /// Class of the line in the style sheet.
    pub class: &'static str,
    /// Where it lies.
    pub value: f64,
}

/// The horizontal axis.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Across {
    /// Whole numbers at even distances; a line joins neighbours alone.
    #[default]
    Sizes,
    /// Whole numbers as powers; a line joins neighbours alone.
    Powers,
    /// Whole numbers, each of which is there.
    Counts(&'static str),
    /// Positive numbers as powers.
    Lambda,
    /// Any numbers from 0 on.
    Costs,
}

/// A plot of lines.
#[derive(Default)]
pub struct Plot {
    /// What it shows, for readers that cannot see it.
    pub label: String,
    /// Words along the vertical axis.
    pub vertical: String,
    /// The horizontal axis.
    pub across: Across,
    /// Places on it, increasing.
    pub at: Vec<f64>,
    /// The lines, the first drawn on top.
    pub series: Vec<Series>,
    /// Horizontal lines.
    pub levels: Vec<Level>,
    /// The place to mark, with words.
    pub chosen: Option<(f64, String)>,
    /// One text per place.
    pub tips: Vec<String>,
    /// Whether the vertical axis shows powers, else where values lie far apart.
    pub logarithmic: bool,
}

/// One drawing of a plot: how large, and with what on its axes.
struct Frame {
    narrow: bool,
    logarithmic: bool,
    low: f64,
    high: f64,
    floor: f64,
    x: Axis,
    y: Axis,
}

impl Plot {
    /// The drawings; `None` when there is nothing finite to draw.
    pub fn html(&self) -> Option<String> {
        Some(self.drawn(false)? + &self.drawn(true)?)
    }

    /// The wide drawing as a part of a larger one, with its upper left corner at a place; and its size.
    pub fn at_place(&self, (left, top): (f64, f64)) -> Option<(String, (f64, f64))> {
        let place = format!("<svg x=\"{}\" y=\"{}\" width=\"{WIDTH}\" height=\"{HEIGHT}\"", px(left), px(top));
        // Without the class that fits it to a page.
        let drawing = self.drawn(false)?.replacen("<svg class=\"plot wide\"", &place, 1);
        Some((drawing, (WIDTH, HEIGHT)))
    }

    /// What it shows and the names of its lines, from a place on, as part of a larger drawing.
    pub fn names(&self, (left, top): (f64, f64)) -> String {
        let mut out = String::new();
        svg::text(&mut out, "name", (left, top), "start", &escape(&self.label));
        for (k, series) in self.series.iter().enumerate() {
            let (x, y) = (left + 150.0 * k as f64, top + 20.0);
            let _ = write!(out, "<path class=\"line {}\" d=\"M{},{}h24\"/>", series.class, px(x), px(y - 4.0));
            svg::text(&mut out, "tick", (x + 30.0, y), "start", &escape(&series.name));
        }
        out
    }

    fn drawn(&self, narrow: bool) -> Option<String> {
        let logarithmic = self.is_logarithmic();
        let (width, height) = if narrow { (NARROW, 290.0) } else { (WIDTH, HEIGHT) };
        let (low, high) = self.range(logarithmic)?;
        let marks = if logarithmic { log_ticks(low, high) } else { ticks(low, high, if narrow { 5 } else { 6 }) };
        let marks: Vec<f64> =
            if self.shown().all(|v| v >= 0.0) { marks.into_iter().filter(|t| *t >= 0.0).collect() } else { marks };
        let labels = tick_labels(&marks, logarithmic);
        let widest = labels.iter().map(|l| l.chars().count()).max().unwrap_or(0) as f64;
        let left = 34.0 + 7.0 * widest;
        let x = self.horizontal(left, width - RIGHT - left)?;
        let scale = |v: f64| if logarithmic { v.log10() } else { v };
        let floor = height - BOTTOM;
        let y = Axis { from: scale(low), to: scale(high), start: floor, length: TOP - floor, logarithmic };
        let class = if narrow { "plot narrow" } else { "plot wide" };
        let mut out = svg::framed(class, (width, height), &self.label);
        let frame = Frame { narrow, logarithmic, low, high, floor, x, y };
        svg::grid(&mut out, &frame.x, &frame.y, &marks, &labels);
        self.draw_axes(&mut out, &frame);
        for series in self.series.iter().rev() {
            self.draw_band(&mut out, series, &frame);
        }
        for level in self.levels.iter().filter(|l| (low..=high).contains(&l.value)) {
            let (h, to) = (px(frame.y.at(level.value)), px(width - RIGHT));
            let _ = write!(out, "<path class=\"level {}\" d=\"M{},{h}H{to}\"/>", level.class, px(left));
        }
        self.draw_chosen(&mut out, &frame);
        for series in self.series.iter().rev() {
            let _ = write!(out, "<path class=\"line {}\" d=\"{}\"/>", series.class, self.line(series, &frame));
        }
        self.draw_points(&mut out, &frame);
        out.push_str("</svg>");
        Some(out)
    }

    /// The legend as a list; empty for a score or a penalty alone.
    pub fn legend(&self) -> String {
        let alone = self.series.len() == 1 && self.levels.is_empty() && self.series[0].band.is_empty();
        if alone && self.series[0].class == "inner" {
            return String::new();
        }
        let mut out = String::from("<ul class=\"legend\">");
        let mut entry = |swatch: String, name: &str| {
            let _ = write!(
                out,
                "<li><svg class=\"swatch\" viewBox=\"0 0 30 12\" aria-hidden=\"true\">{swatch}</svg>{}</li>",
                escape(name)
            );
        };
        for series in self.series.iter().filter(|s| s.values.iter().any(Option::is_some)) {
            let (class, dot) = (series.class, marker(series.class, 15.0, 6.0, 3.4));
            let banded = series.band.iter().any(Option::is_some);
            let band =
                if banded { format!("<path class=\"band {class}\" d=\"M1,0H29V12H1Z\"/>") } else { String::new() };
            let words = if banded { " ± one standard error" } else { "" };
            let swatch = format!("{band}<path class=\"line {class}\" d=\"M1,6H29\"/>{dot}");
            entry(swatch, &format!("{}{words}", series.name));
        }
        let range = self.range(self.is_logarithmic());
        for level in &self.levels {
            let drawn = range.is_some_and(|(low, high)| (low..=high).contains(&level.value));
            let outside = if drawn { "" } else { " (outside the plot)" };
            let swatch = format!("<path class=\"level {}\" d=\"M1,6H29\"/>", level.class);
            entry(swatch, &format!("{}{outside}", level.name));
        }
        out.push_str("</ul>");
        out
    }

    fn horizontal(&self, start: f64, length: f64) -> Option<Axis> {
        let (first, last) = (*self.at.first()?, *self.at.last()?);
        if matches!(self.across, Across::Powers | Across::Lambda) {
            let (from, to) = (first.log10(), last.log10());
            let room = (0.03 * (to - from)).max(0.05);
            return Some(Axis { from: from - room, to: to + room, start, length, logarithmic: true })
                .filter(|axis| axis.from.is_finite() && axis.to.is_finite());
        }
        let least = if self.across == Across::Costs && last > first { 0.0 } else { 0.5 };
        let room = (0.03 * (last - first)).max(least);
        Some(Axis { from: first - room, to: last + room, start, length, logarithmic: false })
    }

    fn draw_axes(&self, out: &mut String, frame: &Frame) {
        let Frame { narrow, floor, x, .. } = frame;
        let (first, last) = (self.at.first().copied().unwrap_or(1.0), self.at.last().copied().unwrap_or(1.0));
        let wanted = if *narrow { 6 } else { 12 };
        let whole = |ticks: Vec<usize>| ticks.iter().map(|t| (x.at(*t as f64), t.to_string())).collect();
        let marks: Vec<(f64, String)> = match self.across {
            Across::Sizes | Across::Counts(_) => whole(whole_ticks(first as usize, last as usize, wanted - 2)),
            Across::Powers => whole(whole_log_ticks(first as usize, last as usize, wanted)),
            Across::Lambda => {
                let mut at = log_ticks(first * (1.0 - 1e-9), last * (1.0 + 1e-9));
                if at.len() > wanted {
                    at.retain(|t| (t.log10() - t.log10().round()).abs() < 1e-9);
                }
                at.iter().map(|t| x.at(*t)).zip(tick_labels(&at, true)).collect()
            }
            Across::Costs => {
                let at = ticks(first, last, wanted - 2);
                at.iter().map(|t| x.at(*t)).zip(tick_labels(&at, false)).collect()
            }
        };
        svg::foot(out, x, *floor, &marks);
        let across = match self.across {
            Across::Sizes => "number of columns",
            Across::Powers => "number of columns (logarithmic)",
            Across::Counts(words) => words,
            Across::Lambda => "λ",
            Across::Costs => "cost of the columns",
        };
        svg::text(out, "axis-label", (x.start + x.length / 2.0, floor + BOTTOM - 8.0), "middle", across);
        svg::upright(out, (14.0, TOP + (floor - TOP) / 2.0), &escape(&self.vertical));
    }

    /// Whether a line joins a place with the one before.
    fn joins(&self, place: usize) -> bool {
        let near = |k: usize| self.at[k] - self.at[k - 1] <= 1.0;
        place > 0 && (matches!(self.across, Across::Counts(_) | Across::Lambda | Across::Costs) || near(place))
    }

    /// Stretches of neighbouring places with a value that can be drawn.
    fn stretches(&self, series: &Series, frame: &Frame) -> Vec<Vec<(usize, f64)>> {
        let mut out: Vec<Vec<(usize, f64)>> = Vec::new();
        for (place, value) in series.values.iter().enumerate().take(self.at.len()) {
            let Some(value) = value.filter(|v| !frame.logarithmic || *v > 0.0) else { continue };
            match out.last_mut() {
                Some(last) if self.joins(place) && last.last().is_some_and(|(k, _)| k + 1 == place) => {
                    last.push((place, value));
                }
                _ => out.push(vec![(place, value)]),
            }
        }
        out
    }

    fn draw_band(&self, out: &mut String, series: &Series, frame: &Frame) {
        let Frame { x, y, low, .. } = frame;
        let edges = |(place, value): &(usize, f64)| {
            let half = series.band.get(*place).copied().flatten()?;
            Some((x.at(self.at[*place]), y.at((value - half).max(*low)), y.at(value + half)))
        };
        for stretch in self.stretches(series, frame) {
            let edges: Vec<(f64, f64, f64)> = stretch.iter().filter_map(edges).collect();
            if let [(h, below, above)] = edges[..] {
                let d = format!("M{},{}V{}", px(h), px(below), px(above));
                let _ = write!(out, "<path class=\"whisker {}\" d=\"{d}\"/>", series.class);
            }
            if edges.len() > 1 {
                let upper = edges.iter().map(|(h, _, above)| format!("{},{}", px(*h), px(*above)));
                let lower = edges.iter().rev().map(|(h, below, _)| format!("{},{}", px(*h), px(*below)));
                let outline: Vec<String> = upper.chain(lower).collect();
                let _ = write!(out, "<path class=\"band {}\" d=\"M{}Z\"/>", series.class, outline.join("L"));
            }
        }
    }

    fn draw_chosen(&self, out: &mut String, frame: &Frame) {
        let Some((chosen, words)) = &self.chosen else { return };
        let Some(place) = self.at.iter().position(|s| s == chosen) else { return };
        let Frame { x, y, floor, .. } = frame;
        let h = x.at(*chosen);
        let (anchor, shift) = match h {
            h if h < x.start + 60.0 => ("start", -4.0),
            h if h > x.start + x.length - 60.0 => ("end", 4.0),
            _ => ("middle", 0.0),
        };
        let _ = write!(out, "<path class=\"chosen\" d=\"M{},{}V{}\"/>", px(h), px(TOP - 6.0), px(*floor));
        svg::text(out, "chosen-label", (h + shift, TOP - 11.0), anchor, &escape(words));
        let value = self.series.iter().find_map(|s| *s.values.get(place)?);
        if let Some(value) = value.filter(|v| (frame.low..=frame.high).contains(v)) {
            let _ = write!(out, "<circle class=\"ring\" cx=\"{}\" cy=\"{}\" r=\"8\"/>", px(h), px(y.at(value)));
        }
    }

    /// A line through every stretch; points that fall on the one before are passed over.
    fn line(&self, series: &Series, frame: &Frame) -> String {
        let mut path = String::new();
        for stretch in self.stretches(series, frame).iter().filter(|stretch| stretch.len() > 1) {
            let mut before: Option<(f64, f64)> = None;
            for (k, (place, value)) in stretch.iter().enumerate() {
                let (h, v) = (frame.x.at(self.at[*place]), frame.y.at(*value));
                let near = before.is_some_and(|(a, b)| (h - a).abs() < 0.5 && (v - b).abs() < 0.5);
                if near && k + 1 < stretch.len() {
                    continue;
                }
                let _ = write!(path, "{}{},{}", if k == 0 { 'M' } else { 'L' }, px(h), px(v));
                before = Some((h, v));
            }
        }
        path
    }

    /// One group per place: a column that carries the tooltip, and a point on each line.
    fn draw_points(&self, out: &mut String, frame: &Frame) {
        let Frame { narrow, x, y, floor, .. } = frame;
        let spacing = x.length / self.at.len().max(2) as f64;
        let radius = (0.3 * spacing).clamp(1.0, 3.6);
        let fine = radius < 2.0;
        out.push_str(if fine { "<g class=\"fine\">" } else { "<g>" });
        let stride = self.at.len().div_ceil(MOST_POINTS).max(1);
        for (place, at) in self.at.iter().enumerate().step_by(stride) {
            let h = x.at(*at);
            if !narrow {
                let tip = self.tips.get(place).map(String::as_str).unwrap_or_default();
                let (left, right) = (self.halfway(x, place, false, stride), self.halfway(x, place, true, stride));
                let _ = write!(
                    out,
                    "<g class=\"size\"><title>{}</title><rect class=\"hit\" x=\"{}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/>",
                    escape(tip),
                    px(left),
                    px((right - left).max(0.5)),
                    px(floor - TOP)
                );
            }
            for series in self.series.iter().rev().filter(|_| !(fine && *narrow)) {
                let value = series.values.get(place).copied().flatten();
                if let Some(value) = value.filter(|v| !frame.logarithmic || *v > 0.0) {
                    out.push_str(&marker(series.class, h, y.at(value), radius));
                }
            }
            out.push_str(if *narrow { "" } else { "</g>" });
        }
        out.push_str("</g>");
        if fine {
            self.draw_lone(out, frame);
        }
    }

    /// Points that no line reaches.
    fn draw_lone(&self, out: &mut String, frame: &Frame) {
        for series in self.series.iter().rev() {
            for stretch in self.stretches(series, frame) {
                if let [(place, value)] = stretch[..] {
                    let (h, v) = (frame.x.at(self.at[place]), frame.y.at(value));
                    out.push_str(&marker(series.class, h, v, 2.0));
                }
            }
        }
    }

    /// The middle between a place and the one before or behind it.
    fn halfway(&self, x: &Axis, place: usize, behind: bool, stride: usize) -> f64 {
        let here = x.at(self.at[place]);
        let other = if behind { self.at.get(place + stride) } else { place.checked_sub(stride).map(|k| &self.at[k]) };
        let edge = if behind { x.start + x.length } else { x.start };
        other.map_or(edge, |other| (here + x.at(*other)) / 2.0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
