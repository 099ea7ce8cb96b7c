//! Charts as data: two scales and a list of marks.

use std::fmt::Display;

/// Colors of lines in the style sheet.
pub const COLORS: usize = 6;

/// A chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// Description for readers who cannot see it.
    pub label: String,
    /// Sentences below the drawing.
    pub caption: String,
    /// Size of the drawing.
    pub shape: ChartShape,
    /// Words along the horizontal axis.
    pub x_title: String,
    /// Words along the vertical axis.
    pub y_title: String,
    /// The horizontal scale.
    pub x: ScaleKind,
    /// The vertical scale.
    pub y: ScaleKind,
    /// The marks, the last drawn on top.
    pub marks: Vec<Mark>,
    /// Whether lines are named at their right ends in place of a legend.
    pub names_at_ends: bool,
}

/// Size of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChartShape {
    /// As wide as the text; drawn again for narrow screens.
    #[default]
    Wide,
    /// A square.
    Square,
    /// One of several side by side.
    Small,
}

/// Spacing of values along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScaleKind {
    /// At even distances; by their logarithms if all are positive and far apart.
    #[default]
    Auto,
    /// At even distances.
    Linear,
    /// By their logarithms.
    Log,
    /// Whole numbers at even distances.
    Whole,
}

/// A mark of a chart; `class` is a class of the style sheet, and `name` appears in the legend.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line through points, with gaps at `None`.
    Line {
        /// In the legend and in tooltips.
        name: String,
        /// In the style sheet.
        class: String,
        /// Points from left to right.
        points: Vec<Option<[f64; 2]>>,
        /// Whether each point is marked.
        dots: bool,
    },
    /// The area between two lines; a bar at a place without neighbors.
    Band {
        /// In the legend.
        name: String,
        /// In the style sheet.
        class: String,
        /// Place, low end and high end, from left to right.
        points: Vec<Option<[f64; 3]>>,
    },
    /// Many small points.
    Cloud {
        /// In the style sheet.
        class: String,
        /// The points.
        points: Vec<[f64; 2]>,
    },
    /// A horizontal line across the whole chart.
    Level {
        /// In the legend; empty for none.
        name: String,
        /// In the style sheet.
        class: String,
        /// Place on the vertical scale.
        at: f64,
    },
    /// A vertical line across the whole chart at the chosen value.
    Chosen {
        /// Place on the horizontal scale.
        at: f64,
        /// Words at its upper end.
        label: String,
    },
}

impl Chart {
    /// Creates a wide chart without marks, with titles of its axes.
    pub fn new(label: impl Into<String>, x_title: impl Into<String>, y_title: impl Into<String>) -> Self {
        Chart { label: label.into(), x_title: x_title.into(), y_title: y_title.into(), ..Chart::default() }
    }

    /// Creates a square from 0 to 1 with its diagonal.
    pub fn unit_square(label: &str, across: &str, up: &str) -> Self {
        let diagonal = Mark::stroke("", "empty", vec![[0.0, 0.0], [1.0, 1.0]]);
        let chart = Chart::new(label, across, up).x(ScaleKind::Linear).y(ScaleKind::Linear);
        chart.shape(ChartShape::Square).mark(diagonal)
    }

    /// Sets the horizontal scale.
    pub fn x(self, x: ScaleKind) -> Self {
        Chart { x, ..self }
    }

    /// Sets the vertical scale.
    pub fn y(self, y: ScaleKind) -> Self {
        Chart { y, ..self }
    }

    /// Sets the size of the drawing.
    pub fn shape(self, shape: ChartShape) -> Self {
        Chart { shape, ..self }
    }

    /// Sets the sentences below the drawing.
    pub fn caption(self, caption: impl Into<String>) -> Self {
        Chart { caption: caption.into(), ..self }
    }

    /// Adds a mark.
    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    /// Adds marks.
    pub fn marks(mut self, marks: impl IntoIterator<Item = Mark>) -> Self {
        self.marks.extend(marks);
        self
    }
}

impl Mark {
    /// A line with a dot at each point.
    pub fn line(name: &str, class: &str, points: Vec<Option<[f64; 2]>>) -> Self {
        Mark::Line { name: name.into(), class: class.into(), points, dots: true }
    }

    /// A line without dots or gaps.
    pub fn stroke(name: &str, class: &str, points: Vec<[f64; 2]>) -> Self {
        let points = points.into_iter().map(Some).collect();
        Mark::Line { name: name.into(), class: class.into(), points, dots: false }
    }

    /// The area between the ends of intervals, if there are any.
    pub fn band(name: impl Into<String>, class: &str, points: Vec<Option<[f64; 3]>>) -> Option<Self> {
        points.iter().any(Option::is_some).then(|| Mark::Band { name: name.into(), class: class.into(), points })
    }

    /// A horizontal line at the value `at`.
    pub fn level(name: impl Into<String>, class: &str, at: f64) -> Self {
        Mark::Level { name: name.into(), class: format!("level {class}"), at }
    }

    /// A vertical line at the chosen value, which is above it.
    pub fn chosen(at: f64, value: impl Display) -> Self {
        Mark::Chosen { at, label: format!("chosen: {value}") }
    }
}
