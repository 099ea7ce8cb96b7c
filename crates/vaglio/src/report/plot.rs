//! Line plots against the number of columns, as inline SVG: axes, lines, points with tooltips, and a legend.

use super::axis::{Axis, log_ticks, tick_labels, ticks, whole_ticks};
use super::number::escape;
use super::svg::{self, WIDTH, px};
use std::fmt::Write;

const HEIGHT: f64 = 340.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 50.0;
const RIGHT: f64 = 16.0;
/// Beyond so many sizes only every second, third, … point is drawn; the lines keep all.
const MOST_POINTS: usize = 2000;

/// A line through one value per size; sizes without one are passed over.
pub struct Series {
    /// Words for the legend.
    pub name: String,
    /// Class of the line and its points in the style sheet: `inner`, `train` or `test`.
    pub class: &'static str,
    /// One value per size of the plot.
    pub values: Vec<Option<f64>>,
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

/// A plot against the number of columns.
#[derive(Default)]
pub struct Plot {
    /// What it shows, for readers that cannot see it.
    pub label: String,
    /// Words along the vertical axis.
    pub vertical: String,
    /// Words along the horizontal axis; `number of columns` unless given.
    pub across: Option<&'static str>,
    /// The sizes, increasing.
    pub sizes: Vec<usize>,
    /// The lines, the first drawn on top.
    pub series: Vec<Series>,
    /// Half the height of the band around the first line, per size.
    pub band: Vec<Option<f64>>,
    /// Horizontal lines.
    pub levels: Vec<Level>,
    /// The size to mark.
    pub chosen: Option<usize>,
    /// One text per size.
    pub tips: Vec<String>,
    /// Whether the vertical axis shows powers.
    pub logarithmic: bool,
}

impl Plot {
    /// The drawing with its legend; `None` when there is nothing finite to draw.
    pub fn html(&self) -> Option<String> {
        let (low, high) = self.range()?;
        let ticks = if self.logarithmic { log_ticks(low, high) } else { ticks(low, high, 6) };
        let labels = tick_labels(&ticks, self.logarithmic);
        let widest = labels.iter().map(|l| l.chars().count()).max().unwrap_or(0) as f64;
        let left = 34.0 + 7.0 * widest;
        let x = self.horizontal(left)?;
        let scale = |v: f64| if self.logarithmic { v.log10() } else { v };
        let (start, length) = (HEIGHT - BOTTOM, -(HEIGHT - TOP - BOTTOM));
        let y = Axis { from: scale(low), to: scale(high), start, length, logarithmic: self.logarithmic };
        let mut out = svg::open(HEIGHT, &self.label);
        self.draw_axes(&mut out, &x, &y, &ticks, &labels);
        self.draw_band(&mut out, &x, &y);
        for level in self.levels.iter().filter(|l| (low..=high).contains(&l.value)) {
            let (h, to) = (px(y.at(level.value)), px(WIDTH - RIGHT));
            let _ = write!(out, "<path class=\"level {}\" d=\"M{},{h}H{to}\"/>", level.class, px(left));
        }
        self.draw_chosen(&mut out, &x, &y);
        for series in self.series.iter().rev() {
            let _ = write!(out, "<path class=\"line {}\" d=\"{}\"/>", series.class, self.line(series, &x, &y));
        }
        self.draw_points(&mut out, &x, &y);
        out.push_str("</svg>");
        Some(out)
    }

    /// The legend as a list; empty for a line alone.
    pub fn legend(&self) -> String {
        if self.series.len() == 1 && self.levels.is_empty() && self.band.is_empty() {
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
            let dot = marker(series.class, 15.0, 6.0, 3.4);
            entry(format!("<path class=\"line {}\" d=\"M1,6H29\"/>{dot}", series.class), &series.name);
        }
        if self.band.iter().any(Option::is_some) {
            entry("<path class=\"band\" d=\"M1,1H29V11H1Z\"/>".into(), "± one standard error");
        }
        let drawn = |value: f64| self.range().is_some_and(|(low, high)| (low..=high).contains(&value));
        for level in &self.levels {
            let outside = if drawn(level.value) { "" } else { " (outside the plot)" };
            entry(
                format!("<path class=\"level {}\" d=\"M1,6H29\"/>", level.class),
                &format!("{}{outside}", level.name),
            );
        }
        out.push_str("</ul>");
        out
    }

    /// The values to show, with room above and below.
    fn range(&self) -> Option<(f64, f64)> {
        let (low, high) = self.extremes()?;
        let levels = self.levels.iter().map(|l| l.value).filter(|l| reaches(low, high, *l));
        let (low, high) = levels.fold((low, high), |(low, high), level| (low.min(level), high.max(level)));
        if self.logarithmic {
            let room = 10f64.powf(0.06 * (high / low).log10().max(1.0));
            return Some((low / room, high * room)).filter(|(l, h)| *l > 0.0 && (h / l).is_finite());
        }
        // A flat line lies in the middle; below 1e-9 of the value it counts as flat.
        let largest = low.abs().max(high.abs());
        let flat = if largest > 0.0 { 0.1 * largest } else { 1.0 };
        let span = if high - low > 1e-9 * largest { high - low } else { flat };
        let floor = if low >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
        Some(((low - 0.06 * span).max(floor), high + 0.06 * span)).filter(|(l, h)| h > l && (h - l).is_finite())
    }

    /// The lowest and the highest point of the lines and the band.
    fn extremes(&self) -> Option<(f64, f64)> {
        let lines = self.series.iter().flat_map(|s| s.values.iter().flatten().copied());
        let banded = self.series.first()?.values.iter().zip(&self.band).filter_map(|(v, b)| v.zip(*b));
        let shown = |v: &f64| v.is_finite() && (!self.logarithmic || *v > 0.0);
        let all = lines.chain(banded.flat_map(|(v, b)| [v - b, v + b])).filter(shown);
        all.fold(None, |range: Option<(f64, f64)>, v| {
            Some(range.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
        })
    }

    fn horizontal(&self, left: f64) -> Option<Axis> {
        let (first, last) = (*self.sizes.first()? as f64, *self.sizes.last()? as f64);
        let room = (0.03 * (last - first)).max(0.5);
        let length = WIDTH - RIGHT - left;
        Some(Axis { from: first - room, to: last + room, start: left, length, logarithmic: false })
    }

    fn draw_axes(&self, out: &mut String, x: &Axis, y: &Axis, ticks: &[f64], labels: &[String]) {
        let (left, floor) = (px(x.start), HEIGHT - BOTTOM);
        svg::grid(out, x, y, ticks, labels);
        for size in whole_ticks(&self.sizes) {
            let v = x.at(size as f64);
            let _ = write!(out, "<path class=\"grid\" d=\"M{0},{1}V{2}\"/>", px(v), px(floor), px(floor + 5.0));
            svg::text(out, "tick", (v, floor + 19.0), "middle", &size.to_string());
        }
        let _ = write!(out, "<path class=\"axis\" d=\"M{left},{}H{}\"/>", px(floor), px(WIDTH - RIGHT));
        let across = self.across.unwrap_or("number of columns");
        svg::text(out, "axis-label", (x.start + x.length / 2.0, HEIGHT - 8.0), "middle", across);
        let half = TOP + (floor - TOP) / 2.0;
        let _ = write!(
            out,
            "<text class=\"axis-label\" transform=\"translate(14,{}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            px(half),
            escape(&self.vertical)
        );
    }

    fn draw_band(&self, out: &mut String, x: &Axis, y: &Axis) {
        let Some(first) = self.series.first() else { return };
        let edges = self.sizes.iter().zip(&first.values).zip(&self.band);
        let edges: Vec<(f64, f64, f64)> =
            edges.filter_map(|((size, v), b)| Some((x.at(*size as f64), (*v)?, (*b)?))).collect();
        if edges.len() < 2 {
            for (h, v, b) in edges {
                let _ =
                    write!(out, "<path class=\"whisker\" d=\"M{},{}V{}\"/>", px(h), px(y.at(v - b)), px(y.at(v + b)));
            }
            return;
        }
        let upper = edges.iter().map(|(h, v, b)| format!("{},{}", px(*h), px(y.at(v + b))));
        let lower = edges.iter().rev().map(|(h, v, b)| format!("{},{}", px(*h), px(y.at(v - b))));
        let outline: Vec<String> = upper.chain(lower).collect();
        let _ = write!(out, "<path class=\"band\" d=\"M{}Z\"/>", outline.join("L"));
    }

    fn draw_chosen(&self, out: &mut String, x: &Axis, y: &Axis) {
        let Some(chosen) = self.chosen else { return };
        let Some(place) = self.sizes.iter().position(|s| *s == chosen) else { return };
        let h = x.at(chosen as f64);
        let (anchor, shift) = match h {
            h if h < x.start + 60.0 => ("start", -4.0),
            h if h > WIDTH - RIGHT - 60.0 => ("end", 4.0),
            _ => ("middle", 0.0),
        };
        let _ = write!(out, "<path class=\"chosen\" d=\"M{},{}V{}\"/>", px(h), px(TOP - 6.0), px(HEIGHT - BOTTOM));
        svg::text(out, "chosen-label", (h + shift, TOP - 11.0), anchor, &format!("chosen: {chosen}"));
        if let Some(value) = self.series.first().and_then(|s| *s.values.get(place)?) {
            let _ = write!(out, "<circle class=\"ring\" cx=\"{}\" cy=\"{}\" r=\"8\"/>", px(h), px(y.at(value)));
        }
    }

    fn line(&self, series: &Series, x: &Axis, y: &Axis) -> String {
        let (mut path, mut pen) = (String::new(), 'M');
        for (size, value) in self.sizes.iter().zip(&series.values) {
            match value {
                Some(value) if !self.logarithmic || *value > 0.0 => {
                    let _ = write!(path, "{pen}{},{}", px(x.at(*size as f64)), px(y.at(*value)));
                    pen = 'L';
                }
                Some(_) => pen = 'M',
                None => {}
            }
        }
        path
    }

    /// One group per size: a column that carries the tooltip, and a point on each line.
    fn draw_points(&self, out: &mut String, x: &Axis, y: &Axis) {
        let spacing = x.length / (x.to - x.from);
        let radius = (0.3 * spacing).clamp(1.0, 3.6);
        out.push_str(if radius < 2.0 { "<g class=\"fine\">" } else { "<g>" });
        let stride = self.sizes.len().div_ceil(MOST_POINTS);
        for (place, size) in self.sizes.iter().enumerate().step_by(stride.max(1)) {
            let h = x.at(*size as f64);
            let tip = self.tips.get(place).map(String::as_str).unwrap_or_default();
            let _ = write!(
                out,
                "<g class=\"size\"><title>{}</title><rect class=\"hit\" x=\"{}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/>",
                escape(tip),
                px(h - spacing / 2.0),
                px(spacing),
                px(HEIGHT - TOP - BOTTOM)
            );
            for series in self.series.iter().rev() {
                let value = series.values.get(place).copied().flatten().filter(|v| !self.logarithmic || *v > 0.0);
                if let Some(value) = value {
                    out.push_str(&marker(series.class, h, y.at(value), radius));
                }
            }
            out.push_str("</g>");
        }
        out.push_str("</g>");
    }
}

/// Whether a level is near enough to the lines to be drawn without flattening them.
fn reaches(low: f64, high: f64, level: f64) -> bool {
    let away = (low - level).max(level - high);
    away <= 2.0 * (high - low) || high - low <= 1e-9 * level.abs()
}

/// A point: a circle, a square for `test`, a diamond for `train`, so that colour is not needed.
fn marker(class: &str, x: f64, y: f64, r: f64) -> String {
    match class {
        "test" => {
            let (x, y, w) = (px(x - 0.9 * r), px(y - 0.9 * r), px(1.8 * r));
            format!("<rect class=\"dot {class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{w}\"/>")
        }
        "train" => {
            let (x, y, d) = (px(x), px(y - 1.3 * r), px(1.3 * r));
            format!("<path class=\"dot {class}\" d=\"M{x},{y}l{d},{d}l-{d},{d}l-{d},-{d}Z\"/>")
        }
        _ => format!("<circle class=\"dot {class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", px(x), px(y), px(r)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_its_tooltip() {
        for n in [1, 2, 1000] {
            let plot = Plot {
                sizes: (1..=n).collect(),
                series: vec![Series { name: "s".into(), class: "inner", values: vec![Some(2.0); n] }],
                tips: vec!["tip".into(); n],
                chosen: Some(1),
                ..Plot::default()
            };
            let svg = plot.html().unwrap();
            assert_eq!(svg.matches("<title>tip</title>").count(), n);
            assert_eq!(svg.matches("dot inner").count(), n);
        }
    }

    #[test]
    fn nothing_finite_draws_nothing() {
        let plot = |values: Vec<Option<f64>>| Plot {
            sizes: vec![1, 2],
            series: vec![Series { name: "s".into(), class: "inner", values }],
            ..Plot::default()
        };
        assert!(plot(vec![None, None]).html().is_none());
        assert!(plot(vec![Some(f64::MAX), Some(-f64::MAX)]).html().is_none());
        assert!(plot(vec![Some(0.0), None]).html().is_some());
    }
}
