//! ONNX export: a graph in double precision.
//!
//! Every column is an input of shape rows × 1. Numbers and dates (seconds since the beginning of 1970) are doubles,
//! with NaN for missing cells; text is strings, with empty text for missing cells.

mod graph;

use crate::calendar::{by_arithmetic, by_choices};
use crate::formulas::{CellKind, Formulas, LABEL, LabelRule, Language, NamedFormula};
use graph::{Graph, Tensor};
use std::f64::consts::FRAC_PI_2;
use vaglio_core::{Condition, Expression, Function, LevelValues, Result};

/// Writes the model as protocol buffers.
pub fn write(formulas: &Formulas) -> Result<Vec<u8>> {
    if formulas.texts().any(|text| text.is_empty()) {
        return Err(Language::Onnx.refusal("a column, label or level without a name"));
    }
    let mut graph = Graph::new(formulas);
    for step in &formulas.steps {
        let value = graph.value(&step.formula)?;
        graph.values.insert(step.name.clone(), value);
    }
    let value = |output: &NamedFormula| -> Result<Tensor> {
        let value = graph.value(&output.formula)?;
        Ok(graph.in_each_row(value, &formulas.inputs[0].name))
    };
    let outputs: Vec<Tensor> = formulas.outputs.iter().map(value).collect::<Result<_>>()?;
    let mut named = Vec::new();
    for (output, value) in formulas.outputs.iter().zip(&outputs) {
        named.push((graph.output(&output.name, value), false));
    }
    if let Some(rule) = &formulas.label {
        let label = graph.label(rule, &outputs);
        named.push((graph.output(LABEL, &label), true));
    }
    Ok(graph.model(&named))
}

impl Graph<'_> {
    /// Value of an expression, rows × 1 or a single number.
    fn value(&mut self, expression: &Expression) -> Result<Tensor> {
        Ok(match expression {
            Expression::Column(name) => match self.values.get(name) {
                Some(value) => value.clone(),
                None => return Err(Language::Onnx.refusal(&format!("the column `{name}`, which nothing makes"))),
            },
            Expression::Number(number) => self.number(*number),
            Expression::Text(_) => self.number(f64::NAN),
            Expression::Sum(terms) => self.fold_operands("Add", terms)?,
            Expression::Product(factors) => self.fold_operands("Mul", factors)?,
            Expression::Quotient(operands) => self.fold_operands("Div", &operands[..])?,
            Expression::Apply(function, operand) => {
                let inner = || (**operand).clone();
                let operator = match function {
                    Function::Ln1p => return self.value(&inner().plus(1.0).apply(Function::Ln)),
                    Function::ExpM1 => return self.value(&inner().apply(Function::Exp).plus(-1.0)),
                    // Some runtimes have the sine of doubles but not the cosine.
                    Function::Cos => return self.value(&inner().plus(FRAC_PI_2).apply(Function::Sin)),
                    Function::Ln => "Log",
                    Function::Exp => "Exp",
                    Function::Sin => "Sin",
                    Function::Tanh => "Tanh",
                    Function::Floor => "Floor",
                };
                let value = self.value(operand)?;
                self.node(operator, &[value])
            }
            Expression::If(condition, values) => {
                let condition = self.condition(condition)?;
                let then = self.value(&values[0])?;
                let otherwise = self.value(&values[1])?;
                self.node("Where", &[condition, then, otherwise])
            }
            Expression::Filled(operands) => {
                let value = self.value(&operands[0])?;
                let by = self.value(&operands[1])?;
                let missing = self.node("IsNaN", std::slice::from_ref(&value));
                self.node("Where", &[missing, by, value])
            }
            Expression::Level(levels) => self.level(levels)?,
            Expression::DatePart(part, operand) => {
                let prefix = self.fresh();
                let (columns, value) = by_arithmetic(*part, (**operand).clone(), &prefix);
                for (name, expression) in columns {
                    let value = self.value(&expression)?;
                    self.values.insert(name, value);
                }
                self.value(&value)?
            }
            Expression::Between(points, operand) => {
                let operand = self.value(operand)?;
                self.between(points, operand)
            }
        })
    }

    /// Result of an operator of two values, from left to right; without values 1 for a product, else 0.
    fn fold_operands(&mut self, operator: &str, parts: &[Expression]) -> Result<Tensor> {
        let neutral = if operator == "Mul" { 1.0 } else { 0.0 };
        let Some((first, others)) = parts.split_first() else { return Ok(self.number(neutral)) };
        let first = self.value(first)?;
        others.iter().try_fold(first, |before, part| {
            let value = self.value(part)?;
            Ok(self.node(operator, &[before, value]))
        })
    }

    fn condition(&mut self, condition: &Condition) -> Result<Tensor> {
        Ok(match condition {
            Condition::Missing(operand) if self.formulas.cell_kind(operand) == CellKind::Text => {
                let operand = self.value(operand)?;
                let place = self.place(operand, &[""]);
                let none = self.whole(0);
                self.node("Equal", &[place, none])
            }
            Condition::Missing(operand) => {
                let operand = self.value(operand)?;
                self.node("IsNaN", &[operand])
            }
            Condition::Below(operands) => self.fold_operands("Less", &operands[..])?,
        })
    }

    fn level(&mut self, levels: &LevelValues) -> Result<Tensor> {
        if self.formulas.cell_kind(&levels.of) != CellKind::Text {
            return self.value(&by_choices(levels));
        }
        let operand = self.value(&levels.of)?;
        let keys: Vec<&str> = [""].into_iter().chain(levels.levels.iter().map(|(level, _)| level.as_str())).collect();
        let numbers: Vec<f64> =
            [levels.missing].into_iter().chain(levels.levels.iter().map(|(_, value)| *value)).collect();
        let place = self.place(operand, &keys);
        let table = self.numbers(&[&numbers[..], &[levels.other]].concat());
        Ok(self.node("Gather", &[table, place]))
    }

    fn between(&mut self, points: &[[f64; 2]], operand: Tensor) -> Tensor {
        let (Some([_, first]), Some([_, last])) = (points.first(), points.last()) else {
            return self.number(f64::NAN);
        };
        // Start, width, height and rise of the line after each number of reached points; level at both ends.
        let level = |height: &f64| [0.0, 1.0, *height, 0.0];
        let inner = points.windows(2).map(|pair| {
            let ([a, from], [b, to]) = (pair[0], pair[1]);
            [a, b - a, from, to - from]
        });
        let lines: Vec<[f64; 4]> = [level(first)].into_iter().chain(inner).chain([level(last)]).collect();
        let x: Vec<f64> = points.iter().map(|[x, _]| *x).collect();
        let x = self.numbers(&x);
        let reached = self.node("GreaterOrEqual", &[operand.clone(), x]);
        let count = self.count_true(reached);
        let [start, width, height, rise] = [0, 1, 2, 3].map(|part| {
            let column: Vec<f64> = lines.iter().map(|line| line[part]).collect();
            let table = self.numbers(&column);
            self.node("Gather", &[table, count.clone()])
        });
        let along = self.node("Sub", &[operand, start]);
        let share = self.node("Div", &[along, width]);
        let risen = self.node("Mul", &[share, rise]);
        self.node("Add", &[height, risen])
    }

    fn label(&mut self, rule: &LabelRule, outputs: &[Tensor]) -> Tensor {
        let (labels, place) = match rule {
            LabelRule::Threshold { at, above, below } => {
                let at = self.number(*at);
                let is_above = self.node("Greater", &[outputs[0].clone(), at]);
                (vec![below.as_str(), above], self.as_whole(is_above))
            }
            LabelRule::Largest { within, labels } => {
                let ordered: Vec<Tensor> = labels.iter().map(|(place, _)| outputs[*place].clone()).collect();
                let place = self.largest(&ordered, *within);
                (labels.iter().map(|(_, label)| label.as_str()).collect(), place)
            }
        };
        let labels = self.strings(&labels);
        self.node("Gather", &[labels, place])
    }
}
