//! Line plots as SVG, side by side.

use plotters::prelude::*;
use vaglio_core::{Error, Result};

/// Lines are drawn on a grid so many times finer than the picture, since places on it are whole numbers.
const FINE: u32 = 4;
/// More points than these are thinned out, the first ones kept.
const MOST_POINTS: usize = 160;
const FIRST_POINTS: usize = 40;
/// Blue, vermilion and grey, apart for readers who see no red or green.
const COLORS: [RGBColor; 3] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(110, 110, 110)];

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

impl Panel {
    /// The least and the largest place and value.
    fn range(&self) -> [f64; 4] {
        let points = self.lines.iter().flat_map(|line| &line.points);
        points.fold([0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY], |[left, right, low, high], (x, y)| {
            [left, x.max(right), y.min(low), y.max(high)]
        })
    }
}

/// The panels side by side, each as wide and high as `size` says, on a white ground.
///
/// # Errors
/// [`Error::Numerical`] where there is nothing to draw.
pub fn draw(panels: &[Panel], size: (u32, u32)) -> Result<String> {
    let failed = |e: &dyn std::fmt::Display| Error::Numerical(format!("a picture cannot be drawn: {e}"));
    let (width, height) = (size.0 * panels.len() as u32, size.1);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (FINE * width, FINE * height)).into_drawing_area();
        root.fill(&WHITE).map_err(|e| failed(&e))?;
        for (area, panel) in root.split_evenly((1, panels.len())).iter().zip(panels) {
            plot(area, panel).map_err(|e| failed(&e))?;
        }
        root.present().map_err(|e| failed(&e))?;
    }
    let fine = format!("width=\"{}\" height=\"{}\"", FINE * width, FINE * height);
    Ok(text.replacen(&fine, &format!("width=\"{width}\" height=\"{height}\""), 1))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Failure<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

fn plot<'a>(area: &Area<'a>, panel: &Panel) -> std::result::Result<(), Failure<'a>> {
    let [left, right, low, high] = panel.range();
    let height = (high - low).max(1e-9);
    // The names stand in the lower right corner where the lines end high, and need room there.
    let below = if rises(panel) && panel.lines.len() > 2 { 0.3 } else { 0.05 };
    let font = |size: u32| ("sans-serif", FINE * size);
    let mut chart = ChartBuilder::on(area)
        .margin(FINE * 6)
        .margin_right(FINE * 14)
        .caption(&panel.title, font(12))
        .x_label_area_size(FINE * 30)
        .y_label_area_size(FINE * 38)
        .build_cartesian_2d(left..right, low - below * height..high + 0.05 * height)?;
    let digits = (1.0 - height.log10()).ceil().max(0.0) as usize;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(ShapeStyle::from(&RGBColor(221, 221, 221)).stroke_width(FINE))
        .axis_style(ShapeStyle::from(&BLACK).stroke_width(FINE))
        .x_labels(5)
        .y_labels(5)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.digits$}"))
        .x_desc(panel.across)
        .label_style(font(11))
        .axis_desc_style(font(11))
        .draw()?;
    for line in &panel.lines {
        let style = ShapeStyle::from(&COLORS[line.color % COLORS.len()]).stroke_width(FINE * 3 / 2);
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), style))?
            .label(line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16 * FINE as i32, y)], style));
    }
    chart
        .configure_series_labels()
        .position(if rises(panel) { SeriesLabelPosition::LowerRight } else { SeriesLabelPosition::UpperRight })
        .background_style(WHITE.mix(0.8))
        .legend_area_size(FINE * 20)
        .label_font(font(11))
        .draw()?;
    Ok(())
}

/// Whether the first line ends above its middle, so that there is room below it.
fn rises(panel: &Panel) -> bool {
    let [.., low, high] = panel.range();
    let last = panel.lines.first().and_then(|line| line.points.last());
    last.is_some_and(|(_, value)| 2.0 * value > low + high)
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
        let text = draw(&[panel], (300, 200)).unwrap();
        assert!(text.starts_with("<svg width=\"300\" height=\"200\" viewBox=\"0 0 1200 800\""), "{}", &text[..80]);
        assert!(text.contains("root") && text.contains("a &lt; b") && text.len() < 10_000, "{}", text.len());
    }

    #[test]
    fn values_that_are_missing_leave_no_point() {
        assert_eq!(Line::by_size("gap", 0, &[1.0, f64::NAN, 3.0]).points, [(1.0, 1.0), (3.0, 3.0)]);
    }
}
