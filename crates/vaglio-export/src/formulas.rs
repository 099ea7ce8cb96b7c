//! A model as formulas, from its predictions back to the columns of the data, and the languages that hold them.

use serde::Serialize;
use std::collections::{HashMap, HashSet};
use vaglio_core::{Condition, Error, Expression, LevelValues, MapFormulas, Model, Result, escape_controls};
use vaglio_maps::target_maps::TargetUnits;

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

/// A fitted model with the steps before and after it.
pub struct ModelSteps<'m> {
    /// Columns of the data from which the inputs are made.
    pub columns: Vec<InputColumn>,
    /// Fitted maps, in order.
    pub maps: &'m [MapFormulas],
    /// Columns that the model takes, in its order.
    pub inputs: &'m [String],
    /// The model.
    pub model: &'m Model,
    /// Maps and scales of the targets, if any.
    pub units: &'m [TargetUnits],
    /// Names of the predictions.
    pub outputs: Vec<String>,
}

/// Formulas that are needed so far.
struct Assembly<'m> {
    fitted: &'m ModelSteps<'m>,
    formulas: Formulas,
    /// Expressions of columns after a number of maps. Two expressions with NaN never compare equal.
    known: HashMap<(usize, String), Expression>,
    /// Names of columns of the data, shared formulas and predictions.
    taken: HashSet<String>,
}

/// Size limit of a smeared prediction, in parts and points.
const MOST_SMEARED: usize = 100_000;

impl Formulas {
    /// Formulas of a model, with the rule for its class label.
    ///
    /// # Errors
    /// Names the part of the model that is no expression.
    pub fn new(fitted: &ModelSteps<'_>, label: Option<LabelRule>) -> Result<Self, String> {
        let ModelSteps { columns, maps, inputs, model, units, outputs } = fitted;
        let taken = columns.iter().map(|column| &column.name).chain(outputs).cloned().collect();
        let formulas = Formulas { inputs: Vec::new(), steps: Vec::new(), outputs: Vec::new(), label };
        let mut assembly = Assembly { fitted, formulas, known: HashMap::new(), taken };
        let is_shared = outputs.len() > 1 || !model.takes_rows_alone();
        let mut values = Vec::with_capacity(inputs.len());
        for name in *inputs {
            let value = assembly.column(name, maps.len())?;
            values.push(if is_shared { assembly.share(name, value) } else { value });
        }
        let predictions = model.expressions(&values).ok_or_else(|| format!("the model `{}`", model.kind()))?;
        for (place, (prediction, name)) in predictions.into_iter().zip(outputs).enumerate() {
            let formula = match units.get(place) {
                Some(units) => assembly.in_units(prediction, units, name)?,
                None => prediction,
            };
            assembly.formulas.outputs.push(NamedFormula { name: name.clone(), formula });
        }
        let formulas = assembly.formulas;
        match formulas.steps.iter().chain(&formulas.outputs).find(|named| walk(&named.formula).any(is_text)) {
            Some(named) => {
                Err(format!("the text from which `{}` is made where it stands", escape_controls(&named.name)))
            }
            None => Ok(formulas),
        }
    }
}

impl Assembly<'_> {
    /// Converts a prediction to the units of the data.
    fn in_units(&mut self, prediction: Expression, units: &TargetUnits, name: &str) -> Result<Expression, String> {
        let TargetUnits { scale, map, residuals } = units;
        let scaled = if scale.scale == 1.0 { prediction } else { prediction.times(scale.scale) };
        let mapped = if scale.shift == 0.0 { scaled } else { scaled.plus(scale.shift) };
        let Some(map) = map else { return Ok(mapped) };
        let what = format!("the target map `{}`", map.kind());
        let mapped = self.share(&format!("{name} by {}", map.kind()), mapped);
        let inverse = |mapped: Expression| map.inverse_expression(mapped).ok_or_else(|| what.clone());
        let value = inverse(mapped.clone())?;
        let Some(residuals) = residuals.as_ref().filter(|own| !own.is_empty()) else { return Ok(value) };
        if size(&value).saturating_mul(residuals.len()) > MOST_SMEARED {
            let count = residuals.len();
            return Err(format!(
                "{what} smeared by {count} residuals, which is too long; `smear: false` predicts without"
            ));
        }
        let smeared = residuals.iter().map(|[share, residual]| {
            let value = inverse(mapped.clone().plus(*residual))?;
            Ok(if *share == 1.0 { value } else { value.times(*share) })
        });
        Ok(Expression::Sum(smeared.collect::<Result<_, String>>()?))
    }

    /// Expression of a column after a number of maps.
    fn column(&mut self, name: &str, maps: usize) -> Result<Expression, String> {
        let Some(before) = maps.checked_sub(1) else { return Ok(self.input(name)) };
        let key = (maps, name.to_owned());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let map = &self.fitted.maps[before];
        // A map of other rows leaves rows out, whatever column is asked for.
        let expression = map.expression(name).filter(|_| map.takes_rows_alone());
        let no_expression = || format!("the map `{}`, which makes the column `{}`", map.kind, escape_controls(name));
        let expression = expression.ok_or_else(no_expression)?;
        let mut counts: HashMap<String, usize> = HashMap::new();
        expression.columns().into_iter().for_each(|column| *counts.entry(column.to_owned()).or_default() += 1);
        let placed = self.inline_columns(expression, before, &counts)?;
        self.known.insert(key, placed.clone());
        Ok(placed)
    }

    /// Puts the expressions of columns after a number of maps in place of their names; `counts` says how often each
    /// name occurs.
    fn inline_columns(
        &mut self,
        mut expression: Expression,
        maps: usize,
        counts: &HashMap<String, usize>,
    ) -> Result<Expression, String> {
        if let Expression::Column(name) = &expression {
            let value = self.column(name, maps)?;
            let is_filled_text = matches!(&value, Expression::Filled(operands) if is_text(&operands[1]));
            return Ok(if counts[name] > 1 && !is_filled_text { self.share(name, value) } else { value });
        }
        for part in expression.parts_mut() {
            *part = self.inline_columns(part.clone(), maps, counts)?;
        }
        Ok(match expression {
            Expression::Level(levels) => self.levels(*levels)?,
            // Filled values are never missing.
            Expression::If(Condition::Missing(operand), values) if matches!(*operand, Expression::Filled(_)) => {
                values[1].clone()
            }
            Expression::Filled(operands) if matches!(operands[0], Expression::Filled(_)) => operands[0].clone(),
            other => other,
        })
    }

    fn input(&mut self, name: &str) -> Expression {
        if self.formulas.inputs.iter().all(|input| input.name != name) {
            self.formulas.inputs.extend(self.fitted.columns.iter().find(|column| column.name == name).cloned());
        }
        Expression::column(name)
    }

    /// Gives a value a name of its own, unless it is a column or a number.
    fn share(&mut self, name: &str, value: Expression) -> Expression {
        if matches!(value, Expression::Column(_) | Expression::Number(_)) {
            return value;
        }
        if let Some(known) = self.formulas.steps.iter().find(|known| known.formula == value) {
            return Expression::column(&known.name);
        }
        let mut own = format!("{name} as used");
        while !self.taken.insert(own.clone()) {
            own.push('\'');
        }
        self.formulas.steps.push(NamedFormula { name: own.clone(), formula: value });
        Expression::Column(own)
    }

    /// Maps levels of a value. Filled text keeps the levels of the original text, with the filling's level for missing
    /// values; numbers keep the numeric levels.
    fn levels(&self, levels: LevelValues) -> Result<Expression, String> {
        let LevelValues { of: operand, levels, missing, other } = levels;
        if let Expression::Filled(parts) = &operand
            && let [inner, Expression::Text(text)] = &**parts
        {
            let filled = levels.iter().find(|(level, _)| level == text).map_or(other, |(_, value)| *value);
            return self.levels(LevelValues { of: inner.clone(), levels, missing: filled, other });
        }
        let is_known = |level: &str| level.parse::<f64>().is_ok_and(|x| x.is_finite() && x.to_string() == level);
        let levels = match self.formulas.cell_kind(&operand) {
            CellKind::Date => {
                return Err(format!("levels of the dates of `{}`", escape_controls(&operand.columns().join("`, `"))));
            }
            CellKind::Text => levels,
            CellKind::Number => levels.into_iter().filter(|(level, _)| is_known(level)).collect(),
        };
        Ok(Expression::Level(Box::new(LevelValues { of: operand, levels, missing, other })))
    }
}

fn is_text(expression: &Expression) -> bool {
    matches!(expression, Expression::Text(_))
}
