//! A model as formulas over the columns of a table, and these formulas in other languages.
//!
//! [`Formulas`] is what every language is written from: the columns that are read, values that several formulas share, the
//! predictions, and how a class is decided by them. Each module writes one language; `infix` has what those with operators
//! between their operands share.

mod calendar;
mod equation;
mod excel;
mod identifiers;
mod infix;
mod json;
mod onnx;
mod pmml;
mod python;
mod r;
mod sql;

pub use equation::equations;

use serde::Serialize;
use vaglio_core::{Error, Expression, Result};

/// A model as formulas. Names of columns are unlike each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Formulas {
    /// What it is, in a line.
    #[serde(skip)]
    pub about: String,
    /// The columns of the data that are read.
    pub inputs: Vec<InputColumn>,
    /// Columns that are made of those before, since several formulas read them.
    pub steps: Vec<NamedFormula>,
    /// The predictions, which read inputs and steps.
    pub outputs: Vec<NamedFormula>,
    /// How the label of a class follows from the predictions.
    pub label: Option<LabelRule>,
}

/// A column of the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputColumn {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub holds: CellKind,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// Numbers.
    Number,
    /// Text; an empty one is missing.
    Text,
    /// Dates.
    Date,
}

/// A column that is computed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedFormula {
    /// Its name.
    pub name: String,
    /// What it is.
    pub formula: Expression,
}

/// How the label of a class follows from the predictions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelRule {
    /// By a threshold of the only prediction: 0 but for rounding, on the side of the rarer class.
    Threshold {
        /// The threshold.
        at: f64,
        /// The label above it.
        above: String,
        /// The label elsewhere.
        below: String,
    },
    /// The label of the largest prediction, to rounding.
    Largest {
        /// Which predictions are equal: those that are at most this far apart.
        within: f64,
        /// The place of each prediction among the outputs and its label, in the order in which equal ones are preferred.
        labels: Vec<(usize, String)>,
    },
}

/// A language that formulas are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// A query of one table.
    Sql,
    /// A module with one function, for Python 3.8 and later, that needs nothing else.
    Python,
    /// A function of a data frame, in base R.
    R,
    /// A header and a row of formulas, as CSV.
    Excel,
    /// A model of the Open Neural Network Exchange, as protocol buffers.
    Onnx,
    /// The Predictive Model Markup Language, version 4.4.
    Pmml,
    /// The formulas themselves.
    Json,
}

impl Language {
    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Language::Sql => "SQL",
            Language::Python => "Python",
            Language::R => "R",
            Language::Excel => "a spreadsheet",
            Language::Onnx => "ONNX",
            Language::Pmml => "PMML",
            Language::Json => "JSON",
        }
    }

    /// The file of formulas.
    ///
    /// # Errors
    /// [`Error::Setting`] of `--to` for what the language cannot hold.
    pub fn write(self, formulas: &Formulas) -> Result<Vec<u8>> {
        if formulas.inputs.is_empty() && matches!(self, Language::Onnx | Language::Pmml) {
            return Err(self.refusal("a model without columns, since its inputs say how many rows there are"));
        }
        let text = match self {
            Language::Sql => sql::write(formulas),
            Language::Python => python::write(formulas),
            Language::R => r::write(formulas),
            Language::Excel => excel::write(formulas),
            Language::Onnx => return onnx::write(formulas),
            Language::Pmml => pmml::write(formulas),
            Language::Json => json::write(formulas),
        };
        text.map(String::into_bytes)
    }

    /// That it cannot hold something.
    pub fn refusal(self, what: &str) -> Error {
        Error::setting("--to", format!("{} cannot hold {what}", self.name()))
    }
}

impl Formulas {
    /// What an input of this name holds; steps hold numbers.
    pub fn holds(&self, name: &str) -> CellKind {
        self.inputs.iter().find(|input| input.name == name).map_or(CellKind::Number, |input| input.holds)
    }

    /// What a value of [`Expression::Level`] holds.
    fn holds_of(&self, of: &Expression) -> CellKind {
        match of {
            Expression::Column(name) => self.holds(name),
            _ => CellKind::Number,
        }
    }

    /// The name of the column of labels.
    fn label_name(&self) -> &'static str {
        "label"
    }

    /// Every text in it: names, labels and levels.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let names = self.inputs.iter().map(|input| input.name.as_str());
        let computed = || self.steps.iter().chain(&self.outputs);
        let labels: Vec<&str> = match &self.label {
            None => Vec::new(),
            Some(LabelRule::Threshold { above, below, .. }) => vec![above, below],
            Some(LabelRule::Largest { labels, .. }) => labels.iter().map(|(_, label)| label.as_str()).collect(),
        };
        let levels = computed().flat_map(|named| levels(&named.formula));
        names.chain(computed().map(|named| named.name.as_str())).chain(labels).chain(levels)
    }
}

/// The levels that an expression tells apart.
fn levels(expression: &Expression) -> Vec<&str> {
    let own = match expression {
        Expression::Level(levels) => levels.levels.iter().map(|(level, _)| level.as_str()).collect(),
        _ => Vec::new(),
    };
    own.into_iter().chain(expression.parts().into_iter().flat_map(levels)).collect()
}
