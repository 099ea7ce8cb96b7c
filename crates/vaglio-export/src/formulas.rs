//! A model as formulas, and the languages that hold them.

use serde::Serialize;
use vaglio_core::{Error, Expression, Result};

/// One-line description of every export.
pub const ABOUT: &str = concat!("A model of vaglio ", env!("CARGO_PKG_VERSION"), ".");

/// Name of the label column.
pub const LABEL: &str = "label";

/// A model as formulas. Column names are distinct.
#[derive(Debug, Clone, PartialEq)]
pub struct Formulas {
    /// Columns of the data that are read.
    pub inputs: Vec<InputColumn>,
    /// Intermediate columns, each computed from earlier ones and read by several formulas.
    pub steps: Vec<NamedFormula>,
    /// Predictions, computed from inputs and steps.
    pub outputs: Vec<NamedFormula>,
    /// Rule for the class label.
    pub label: Option<LabelRule>,
}

/// An input column of the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputColumn {
    /// Name of the column.
    pub name: String,
    /// Type of the cells.
    pub holds: CellKind,
}

/// Type of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// Numbers.
    Number,
    /// Text; empty text is missing.
    Text,
    /// Dates.
    Date,
}

/// A computed column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedFormula {
    /// Name of the column.
    pub name: String,
    /// Formula of the column.
    pub formula: Expression,
}

/// Rule for the class label, given the predictions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelRule {
    /// Threshold on the only prediction: 0 up to rounding, on the side of the rarer class.
    Threshold {
        /// The threshold.
        at: f64,
        /// Label above the threshold.
        above: String,
        /// Label at or below the threshold.
        below: String,
    },
    /// Label of the largest prediction, with ties up to rounding.
    Largest {
        /// Largest difference of predictions that counts as a tie.
        within: f64,
        /// Index of each prediction among the outputs and its label, in the order that breaks ties.
        labels: Vec<(usize, String)>,
    },
}

/// Target language of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// SQL query of one table.
    Sql,
    /// Python module with one function, for Python 3.8 and later, without other packages.
    Python,
    /// Function of a data frame, in base R.
    R,
    /// Spreadsheet: a header and a row of formulas, as CSV.
    Excel,
    /// Open Neural Network Exchange model, as protocol buffers.
    Onnx,
    /// Predictive Model Markup Language, version 4.4.
    Pmml,
    /// The formulas as JSON.
    Json,
}

impl Language {
    /// Error that the language cannot express something.
    pub fn refusal(self, what: &str) -> Error {
        let language = match self {
            Language::Sql => "SQL",
            Language::Python => "Python",
            Language::R => "R",
            Language::Excel => "a spreadsheet",
            Language::Onnx => "ONNX",
            Language::Pmml => "PMML",
            Language::Json => "JSON",
        };
        Error::setting("--to", format!("{language} cannot hold {what}"))
    }

    /// Refuses an interpolation between more than `most` points.
    pub fn refuse_points(self, points: &[[f64; 2]], most: usize) -> Result<()> {
        match points.len() {
            count if count > most => {
                Err(self.refusal(&format!("the target map, which has {count} points: {most} are the most")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses formulas with a character 0 in a name, label or level.
    ///
    /// # Errors
    /// Names the text.
    pub fn refuse_nul(self, formulas: &Formulas) -> Result<()> {
        match formulas.texts().find(|text| text.contains('\0')) {
            Some(text) => Err(self.refusal(&format!("the text {text:?}, which has a character 0"))),
            None => Ok(()),
        }
    }
}

impl Formulas {
    /// Type of a value; steps hold numbers.
    pub fn cell_kind(&self, operand: &Expression) -> CellKind {
        let Expression::Column(name) = operand else { return CellKind::Number };
        self.inputs.iter().find(|input| input.name == *name).map_or(CellKind::Number, |input| input.holds)
    }

    /// Names of inputs and steps.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().map(|input| &*input.name).chain(self.steps.iter().map(|step| &*step.name))
    }

    /// All texts: names, labels and levels.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let labels: Vec<&str> = match &self.label {
            None => Vec::new(),
            Some(LabelRule::Threshold { above, below, .. }) => vec![above, below],
            Some(LabelRule::Largest { labels, .. }) => labels.iter().map(|(_, label)| label.as_str()).collect(),
        };
        let parts = self.steps.iter().chain(&self.outputs).flat_map(|named| walk(&named.formula));
        let levels = parts.filter_map(|part| if let Expression::Level(own) = part { Some(&own.levels) } else { None });
        let levels = levels.flatten().map(|(level, _)| level.as_str());
        self.columns().chain(self.outputs.iter().map(|output| &*output.name)).chain(labels).chain(levels)
    }
}

/// An expression and all its parts.
pub fn walk(expression: &Expression) -> impl Iterator<Item = &Expression> {
    let mut open = vec![expression];
    std::iter::from_fn(move || {
        let next = open.pop()?;
        open.extend(next.parts());
        Some(next)
    })
}

/// Number of parts, points and levels of an expression.
pub fn size(expression: &Expression) -> usize {
    walk(expression).map(own_size).sum()
}

/// Number of points or levels of an expression without its parts, else 1.
pub fn own_size(expression: &Expression) -> usize {
    match expression {
        Expression::Between(points, _) => points.len(),
        Expression::Level(levels) => levels.levels.len(),
        _ => 1,
    }
}
