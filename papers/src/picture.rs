//! Line charts as SVG files, side by side, drawn as in the report.

use vaglio_core::{Error, Result};
use vaglio_report::page::{Chart, Mark, ScaleKind};

/// More points than these are thinned out, the first ones kept.
const MOST_POINTS: usize = 160;
const FIRST_POINTS: usize = 40;
/// Panels of a row: more are too small to be read on a page.
const ACROSS: usize = 2;
/// The line of names above each plot, in units of the drawing.
const LEGEND: f64 = 44.0;
/// Classes of lines in the style sheet of the report, apart for readers who see no red or green.
const CLASSES: [&str; 5] = ["inner", "test", "train", "cross-validated", "nested"];

/// A line with a name and a color.
pub struct Line {
    pub name: &'static str,
    pub color: usize,
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// Through the values at the sizes 1, 2, …; those that are not numbers are left out.
    pub fn by_size(name: &'static str, color: usize, values: &[f64]) -> Self {
        let skip = values.len().saturating_sub(FIRST_POINTS).div_ceil(MOST_POINTS - FIRST_POINTS).max(1);
        let is_kept = |at: usize| at < FIRST_POINTS || at.is_multiple_of(skip) || at + 1 == values.len();
        let points = values.iter().enumerate().filter(|(at, value)| is_kept(*at) && value.is_finite());
        Line { name, color, points: points.map(|(at, value)| ((at + 1) as f64, *value)).collect() }
    }
}

/// One plot.
pub struct Panel {
    pub title: String,
    pub across: &'static str,
    pub lines: Vec<Line>,
}

/// Size of the drawing of a chart.
const SIZE: [f64; 2] = [760.0, 340.0];

impl Panel {
    /// The drawing with the title and the names of the lines above it, with its upper left corner at a place.
    fn at(&self, [left, top]: [f64; 2]) -> Option<String> {
        let class = |line: &Line| CLASSES[line.color % CLASSES.len()];
        let mark = |line: &Line| {
            Mark::line(line.name, class(line), line.points.iter().map(|(x, value)| Some([*x, *value])).collect())
        };
        let chart = Chart::new(&self.title, self.across, "").x(ScaleKind::Whole).marks(self.lines.iter().map(mark));
        let [width, height] = SIZE;
        let place = format!("<svg x=\"{left}\" y=\"{}\" width=\"{width}\" height=\"{height}\"", top + LEGEND);
        // Without the class that fits it to a page.
        let drawing = chart.drawing()?.replacen("<svg class=\"plot wide\"", &place, 1);
        let title = self.title.replace('&', "&amp;").replace('<', "&lt;");
        let mut out = format!("<text class=\"name\" x=\"{}\" y=\"{}\">{title}</text>", left + 60.0, top + 16.0);
        for (k, line) in self.lines.iter().enumerate() {
            let (x, y) = (left + 60.0 + 150.0 * k as f64, top + 36.0);
            out += &format!("<path class=\"line {}\" d=\"M{x},{}h24\"/>", class(line), y - 4.0);
            out += &format!("<text class=\"tick\" x=\"{}\" y=\"{y}\">{}</text>", x + 30.0, line.name);
        }
        Some(out + &drawing)
    }
}

/// The panels in rows.
///
/// # Errors
/// [`Error::Numerical`] where there is nothing to draw.
pub fn draw(panels: &[Panel]) -> Result<String> {
    let mut inner = String::new();
    let [width, height] = [SIZE[0], SIZE[1] + LEGEND];
    for (k, panel) in panels.iter().enumerate() {
        let place = [width * (k % ACROSS) as f64, height * (k / ACROSS) as f64];
        let empty = || Error::Numerical(format!("`{}` has nothing to draw", panel.title));
        inner += &panel.at(place).ok_or_else(empty)?;
    }
    let (width, height) = (width * panels.len().min(ACROSS) as f64, height * panels.len().div_ceil(ACROSS) as f64);
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\"><style>{}</style>{inner}</svg>\n",
        vaglio_report::page::STYLE
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_thinned_out_and_keeps_its_ends() {
        let values: Vec<f64> = (0..2000).map(|size| (size as f64).sqrt()).collect();
        let line = Line::by_size("root", 0, &values);
        assert!(line.points.len() <= MOST_POINTS + 2, "{}", line.points.len());
        assert_eq!((line.points[0], line.points.last()), ((1.0, 0.0), Some(&(2000.0, 1999f64.sqrt()))));
        let panel = Panel { title: "a < b".into(), across: "size", lines: vec![line] };
        let text = draw(&[panel]).unwrap();
        assert!(text.starts_with("<svg xmlns") && text.contains("root") && text.contains("a &lt; b"), "{text}");
    }

    #[test]
    fn a_third_panel_begins_a_row() {
        let panel = || Panel { title: "a".into(), across: "size", lines: vec![Line::by_size("root", 0, &[1.0, 2.0])] };
        let size = |count: usize| {
            let text = draw(&(0..count).map(|_| panel()).collect::<Vec<_>>()).unwrap();
            let view = text.split('"').find(|part| part.starts_with("0 0 ")).unwrap().to_owned();
            let [width, height] = [2, 3].map(|k| view.split(' ').nth(k).unwrap().parse::<f64>().unwrap());
            (width, height)
        };
        let (one, three) = (size(1), size(3));
        assert_eq!(three, (2.0 * one.0, 2.0 * one.1));
    }

    #[test]
    fn values_that_are_missing_leave_no_point() {
        assert_eq!(Line::by_size("gap", 0, &[1.0, f64::NAN, 3.0]).points, [(1.0, 1.0), (3.0, 3.0)]);
    }
}
