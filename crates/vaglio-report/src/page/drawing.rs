//! Charts as inline SVG: axes, marks, tooltips and a legend.
//!
//! A plotting crate would carry neither the style of the page nor its tooltips nor the form for narrow screens.

use super::axis::Axis;
use super::chart::{Chart, ChartShape, Mark, ScaleKind};
use super::number::{element, escape, short};
use super::svg::{self, marker, path, place, px};
use std::fmt::Write;
use vaglio_core::join;

/// Margin above and below the axes, in pixels.
const TOP: f64 = 26.0;
const BOTTOM: f64 = 46.0;
/// Largest number of points of a cloud in a small chart; of more, every second, third, … is drawn.
const MOST_SMALL: usize = 200;
/// Largest number of tooltips along a line.
const MOST_TIPS: usize = 600;
/// Lines that are named at their ends, at most, and lines that a tooltip lists.
const NAMED: usize = 12;

impl Chart {
    /// Renders the legend, the drawings for each screen width and the caption; `None` without a finite point.
    pub fn html(&self) -> Option<String> {
        let (class, drawings) = match self.shape {
            ChartShape::Wide => ("wide", self.drawing()? + &self.draw("plot narrow", [400.0, 290.0])?),
            ChartShape::Square => ("square", self.draw("square", [360.0, 360.0])?),
            ChartShape::Small => ("small", self.draw("panel", [300.0, 220.0])?),
        };
        Some(figure(class, &self.label, &(self.legend() + &drawings), &self.caption))
    }

    /// The drawing for wide screens.
    pub fn drawing(&self) -> Option<String> {
        self.draw("plot wide", [760.0, 340.0])
    }

    fn draw(&self, class: &str, [width, height]: [f64; 2]) -> Option<String> {
        let y = Axis::new(self.y, self.range(1)?, (height / 50.0) as usize)?;
        let left = 34.0 + 6.8 * y.longest_label() as f64;
        let longest = self.lines().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
        let names = if self.names_at_ends { 24.0 + 6.6 * longest.min(18) as f64 } else { 16.0 };
        let x = Axis::new(self.x, self.range(0)?, (width / 75.0) as usize)?;
        let x = x.at_position(left, width - names - left);
        let floor = height - BOTTOM;
        let y = y.at_position(floor, TOP - floor);
        let mut out = svg::open(class, [width, height], &self.label);
        self.draw_axes(&mut out, &x, &y, floor);
        for mark in &self.marks {
            draw_mark(&mut out, mark, &x, &y);
        }
        if self.names_at_ends {
            self.draw_names(&mut out, &x, &y);
        }
        if class == "plot wide" {
            self.draw_tips(&mut out, &x, floor);
        }
        Some(out + "</svg>")
    }

    /// The named lines, with their classes and points.
    fn lines(&self) -> impl Iterator<Item = (&str, &str, &[Option<[f64; 2]>])> {
        self.marks.iter().filter_map(|mark| match mark {
            Mark::Line { name, class, points, .. } if !name.is_empty() => Some((&**name, &**class, &points[..])),
            _ => None,
        })
    }

    /// Range of the marks along an axis (0: x, 1: y), without rules far from the others.
    fn range(&self, axis: usize) -> Option<[f64; 2]> {
        let is_log = [self.x, self.y][axis] == ScaleKind::Log;
        let all = self.marks.iter().flat_map(|mark| mark.values(axis));
        let all = all.filter(|value| value.is_finite() && (!is_log || *value > 0.0));
        let [low, high] = all.fold(None, widen_range)?;
        let rules = self.marks.iter().filter_map(|mark| match (mark, axis) {
            (Mark::Chosen { at, .. }, 0) | (Mark::Level { at, .. }, 1) => Some(*at),
            _ => None,
        });
        let reached = rules.filter(|at| {
            let away = (low - at).max(at - high);
            away <= 2.0 * (high - low) || high - low <= 1e-9 * at.abs()
        });
        reached.fold(Some([low, high]), widen_range)
    }

    fn draw_axes(&self, out: &mut String, x: &Axis, y: &Axis, floor: f64) {
        let (left, right) = (px(x.start), px(x.start + x.length));
        let mut grid = String::new();
        for (value, label) in &y.ticks {
            let h = y.at(*value);
            grid += &format!("M{left},{}H{right}", px(h));
            svg::text(out, "tick", [x.start - 8.0, h + 4.0], "end", label);
        }
        path(out, "grid", &grid);
        let mut axis = format!("M{left},{}H{right}", px(floor));
        for (value, label) in &x.ticks {
            let at = x.at(*value);
            axis += &format!("M{}v5", place([at, floor]));
            svg::text(out, "tick", [at, floor + 19.0], "middle", label);
        }
        path(out, "axis", &axis);
        svg::text(out, "axis-label", [x.start + x.length / 2.0, floor + 38.0], "middle", &self.x_title);
        svg::upright(out, "axis-label", [14.0, (TOP + floor) / 2.0], "middle", &self.y_title);
    }

    /// Draws names at the right ends of the lines that end farthest from zero, without overlaps.
    fn draw_names(&self, out: &mut String, x: &Axis, y: &Axis) {
        let end = |points: &[Option<[f64; 2]>]| points.iter().rev().flatten().next().map(|point| point[1]);
        let mut ends: Vec<(f64, &str)> =
            self.lines().filter_map(|(name, _, points)| Some((end(points)?, name))).collect();
        ends.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
        ends.truncate(NAMED);
        ends.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut above = f64::NEG_INFINITY;
        for (value, name) in ends {
            above = (y.at(value) + 4.0).max(above + 13.0);
            svg::short_name(out, [x.start + x.length + 8.0, above], "start", name, 18);
        }
    }

    /// An invisible strip at each place of the lines, whose tooltip lists their values.
    fn draw_tips(&self, out: &mut String, x: &Axis, floor: f64) {
        let mut places: Vec<f64> =
            self.lines().flat_map(|(.., points)| points.iter().flatten().map(|p| p[0])).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let stride = places.len().div_ceil(MOST_TIPS).max(1);
        let places: Vec<f64> = places.into_iter().step_by(stride).collect();
        let middles = places.windows(2).map(|pair| (x.at(pair[0]) + x.at(pair[1])) / 2.0);
        let edges: Vec<f64> = [x.start].into_iter().chain(middles).chain([x.start + x.length]).collect();
        for (at, edges) in places.iter().zip(edges.windows(2)) {
            let _ = write!(
                out,
                "<g class=\"size\"><title>{}</title><rect class=\"hit\" x=\"{}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/></g>",
                escape(&self.tip(*at)),
                px(edges[0]),
                px((edges[1] - edges[0]).max(0.5)),
                px(floor - TOP)
            );
        }
    }

    /// The values of all lines at a place, with their intervals.
    fn tip(&self, at: f64) -> String {
        let band = |own: &str| {
            self.marks.iter().find_map(|mark| match mark {
                Mark::Band { class, points, .. } if class == own => {
                    points.iter().flatten().find(|point| point[0] == at)
                }
                _ => None,
            })
        };
        let values = self.lines().filter_map(|(name, class, points)| {
            let value = points.iter().flatten().find(|point| point[0] == at)?[1];
            let ends = band(class).map(|[_, low, high]| format!(" ({} to {})", short(*low), short(*high)));
            Some(format!("{name} {}{}", short(value), ends.unwrap_or_default()))
        });
        let values = join(values.take(NAMED), ", ");
        format!("{} {}: {values}", self.x_title, short(at))
    }

    /// The names of the marks with samples of them.
    fn legend(&self) -> String {
        if self.names_at_ends {
            return String::new();
        }
        let mut out = String::new();
        let mut known: Vec<String> = Vec::new();
        for mark in &self.marks {
            let mut sample = String::new();
            let name = match mark {
                Mark::Line { name, class, dots, .. } => {
                    path(&mut sample, &format!("line {class}"), "M1,6H29");
                    sample += &if *dots { marker(class, [15.0, 6.0], 3.4) } else { String::new() };
                    name.clone()
                }
                Mark::Band { name, class, points } => {
                    let is_bars = points.split(Option::is_none).all(|stretch| stretch.len() < 2);
                    let (kind, d) = if is_bars { ("spread", "M15,1V11") } else { ("band", "M1,0H29V12H1Z") };
                    path(&mut sample, &format!("{kind} {class}"), d);
                    name.clone()
                }
                Mark::Level { name, class, .. } => {
                    path(&mut sample, class, "M1,6H29");
                    name.clone()
                }
                _ => continue,
            };
            if !name.is_empty() && !known.contains(&name) {
                let sample = format!("<svg class=\"swatch\" viewBox=\"0 0 30 12\" aria-hidden=\"true\">{sample}</svg>");
                let _ = write!(out, "<li>{sample}{}</li>", escape(&name));
                known.push(name);
            }
        }
        if out.is_empty() { out } else { format!("<ul class=\"legend\">{out}</ul>") }
    }
}

/// Renders a figure with a caption; wide ones can be scrolled.
pub fn figure(class: &str, label: &str, content: &str, caption: &str) -> String {
    let focus = if class == "wide" { " tabindex=\"0\"" } else { "" };
    let (label, caption) = (escape(label), element("figcaption", caption));
    format!(
        "<figure class=\"{class}\">\n<div class=\"scroll\"{focus} role=\"group\" aria-label=\"{label}\">{content}</div>\n{caption}</figure>\n"
    )
}

/// Widens a range to include a value.
pub fn widen_range(range: Option<[f64; 2]>, value: f64) -> Option<[f64; 2]> {
    Some(range.map_or([value; 2], |[low, high]| [low.min(value), high.max(value)]))
}

impl Mark {
    /// Values along an axis.
    fn values(&self, axis: usize) -> Vec<f64> {
        match self {
            Mark::Line { points, .. } => points.iter().flatten().map(|point| point[axis]).collect(),
            Mark::Cloud { points, .. } => points.iter().map(|point| point[axis]).collect(),
            Mark::Band { points, .. } if axis == 1 => {
                points.iter().flatten().flat_map(|point| [point[1], point[2]]).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn draw_mark(out: &mut String, mark: &Mark, x: &Axis, y: &Axis) {
    let at = |[a, b]: [f64; 2]| [x.at(a), y.at(b)];
    match mark {
        Mark::Line { class, points, dots, .. } => {
            let is_shown = |point: &Option<[f64; 2]>| point.filter(|[_, b]| !y.is_logarithmic || *b > 0.0).map(at);
            let points: Vec<Option<[f64; 2]>> = points.iter().map(is_shown).collect();
            path(out, &format!("line {class}"), &line(&points));
            let spacing = x.length / points.len().max(2) as f64;
            let is_alone = |k: usize| {
                let is_empty = |k: Option<usize>| k.and_then(|k| *points.get(k)?).is_none();
                is_empty(k.checked_sub(1)) && is_empty(Some(k + 1))
            };
            for (k, point) in points.iter().enumerate() {
                if let Some(point) = point.filter(|_| *dots && (spacing >= 7.0 || is_alone(k))) {
                    *out += &marker(class, point, (0.3 * spacing).clamp(2.0, 3.6));
                }
            }
        }
        Mark::Band { class, points, .. } => {
            for stretch in points.split(Option::is_none) {
                let lower = stretch.iter().flatten().rev().map(|[a, low, _]| at([*a, *low]));
                let upper = stretch.iter().flatten().map(|[a, _, high]| at([*a, *high]));
                let outline: Vec<String> = upper.chain(lower).map(place).collect();
                match outline.len() {
                    0 => {}
                    2 => path(out, &format!("spread {class}"), &format!("M{}", outline.join("L"))),
                    _ => path(out, &format!("band {class}"), &format!("M{}Z", outline.join("L"))),
                }
            }
        }
        Mark::Cloud { class, points } => {
            let dot = |point: &[f64; 2]| {
                let [a, b] = at(*point);
                format!("M{a:.0},{b:.0}z")
            };
            let stride = if x.length < 280.0 { points.len().div_ceil(MOST_SMALL).max(1) } else { 1 };
            path(out, &format!("cloud {class}"), &points.iter().step_by(stride).map(dot).collect::<String>());
        }
        Mark::Level { class, at, .. } if y.reaches(*at) => {
            path(out, class, &format!("M{}h{}", place([x.start, y.at(*at)]), px(x.length)));
        }
        Mark::Chosen { at, label } if x.reaches(*at) => {
            let at = x.at(*at);
            path(out, "chosen", &format!("M{}V{}", place([at, TOP - 6.0]), px(y.start)));
            let anchor = if at < x.start + 0.5 * x.length { "start" } else { "end" };
            svg::text(out, "chosen-label", [at, TOP - 11.0], anchor, label);
        }
        _ => {}
    }
}

/// SVG path through points of the page, with gaps at `None`; skips points that coincide with the one before.
fn line(points: &[Option<[f64; 2]>]) -> String {
    let mut out = String::new();
    for stretch in points.split(Option::is_none).filter(|stretch| stretch.len() > 1) {
        let mut before: Option<[f64; 2]> = None;
        for (k, point) in stretch.iter().flatten().enumerate() {
            let is_near = before.is_some_and(|[a, b]| (point[0] - a).abs() < 0.5 && (point[1] - b).abs() < 0.5);
            if is_near && k + 1 < stretch.len() {
                continue;
            }
            let _ = write!(out, "{}{}", if k == 0 { 'M' } else { 'L' }, place(*point));
            before = Some(*point);
        }
    }
    out
}
