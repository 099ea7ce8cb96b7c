//! Assembles a saved model's formulas: substitutes the expression of each map into the next.

use crate::PredictOptions;
use crate::model_files::FileModel;
use std::collections::{HashMap, HashSet};
use vaglio_core::{Condition, Error, Expression, LevelValues, Result, TargetUnits, shown};
use vaglio_export::{CellKind, InputColumn, NamedFormula};
use vaglio_pipeline::maps::MapChain;
use vaglio_pipeline::pipeline::{ColumnType, SavedModel};

/// Formulas, built from the predictions back to the columns of the data.
pub(super) struct Assembly<'m> {
    model: &'m SavedModel,
    /// Formulas of the model's maps.
    formulas: MapChain,
    /// Builds the error for a part that is no expression.
    refusal: &'m dyn Fn(&str) -> Error,
    inputs: Vec<InputColumn>,
    steps: Vec<NamedFormula>,
    /// Expressions of columns after a number of maps.
    known: HashMap<(usize, String), Expression>,
    /// Names of inputs, steps and outputs.
    taken: HashSet<String>,
}

/// Size limit of a smeared prediction, in parts and points.
const MOST_SMEARED: usize = 100_000;

impl<'m> Assembly<'m> {
    pub fn new(model: &'m SavedModel, refusal: &'m dyn Fn(&str) -> Error) -> Self {
        let outputs = FileModel(model).header(&PredictOptions::default());
        let taken = model.sources.iter().cloned().chain(outputs).collect();
        Assembly {
            model,
            formulas: MapChain::new(&model.maps),
            refusal,
            inputs: Vec::new(),
            steps: Vec::new(),
            known: HashMap::new(),
            taken,
        }
    }

    /// Returns the columns that are read, the formulas that several others share, and the predictions.
    ///
    /// # Errors
    /// Fails if a part of the model is no expression.
    pub fn formulas(mut self) -> Result<(Vec<InputColumn>, Vec<NamedFormula>, Vec<NamedFormula>)> {
        let model = self.model;
        let is_shared = model.outputs.len() > 1 || !model.model.takes_rows_alone();
        let mut inputs = Vec::with_capacity(model.inputs.len());
        for name in &model.inputs {
            let value = self.column(name, model.maps.len())?;
            inputs.push(if is_shared { self.shared(name, value) } else { value });
        }
        let Some(learned) = model.model.expressions(&inputs) else {
            return Err((self.refusal)(&format!("the model `{}`", model.model.kind())));
        };
        let mut outputs = Vec::with_capacity(learned.len());
        for (place, (formula, name)) in
            learned.into_iter().zip(FileModel(model).header(&PredictOptions::default())).enumerate()
        {
            let units = model.target_scales.as_ref().and_then(|units| units.get(place));
            let formula = units.map_or(Ok(formula.clone()), |units| self.in_units(formula, units, &name))?;
            outputs.push(NamedFormula { name, formula });
        }
        let computed = self.steps.iter().chain(&outputs);
        if let Some(named) = computed.into_iter().find(|named| holds_text(&named.formula)) {
            let what = format!("the text from which `{}` is made where it stands", shown(&named.name));
            return Err((self.refusal)(&what));
        }
        Ok((self.inputs, self.steps, outputs))
    }

    /// Converts a prediction to the units of the data.
    fn in_units(&mut self, learned: Expression, units: &TargetUnits, name: &str) -> Result<Expression> {
        let TargetUnits { scale, map, residuals, .. } = units;
        let scaled = if scale.scale == 1.0 { learned } else { learned.times(scale.scale) };
        let mapped = if scale.shift == 0.0 { scaled } else { scaled.plus(scale.shift) };
        let Some(map) = map else { return Ok(mapped) };
        let mapped = self.shared(&format!("{name} by {}", map.typetag_name()), mapped);
        let inverse = |mapped: Expression| {
            let refused = || (self.refusal)(&format!("the target map `{}`", map.typetag_name()));
            map.inverse_expression(mapped).ok_or_else(refused)
        };
        let value = inverse(mapped.clone())?;
        if residuals.is_empty() {
            return Ok(value);
        }
        if size(&value).saturating_mul(residuals.len()) > MOST_SMEARED {
            let what = format!(
                "the target map `{}` smeared by {} residuals, which is too long; `smear: false` predicts without",
                map.typetag_name(),
                residuals.len()
            );
            return Err((self.refusal)(&what));
        }
        let smeared = residuals.iter().map(|[share, residual]| {
            let value = inverse(mapped.clone().plus(*residual))?;
            Ok(if *share == 1.0 { value } else { value.times(*share) })
        });
        Ok(Expression::Sum(smeared.collect::<Result<_>>()?))
    }

    /// Expression of a column after a number of maps.
    fn column(&mut self, name: &str, maps: usize) -> Result<Expression> {
        let Some(before) = maps.checked_sub(1) else { return Ok(self.input(name)) };
        let key = (maps, name.to_owned());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        // A map of other rows leaves rows out, whatever column is asked for.
        let formulas = &self.formulas.0[before];
        let Some(expression) = formulas.expression(name).filter(|_| formulas.takes_rows_alone()) else {
            let kind = self.model.maps[before].typetag_name();
            let what = format!("the map `{kind}`, which makes the column `{}`", shown(name));
            return Err((self.refusal)(&what));
        };
        let mut counts: HashMap<&str, usize> = HashMap::new();
        let columns = expression.columns();
        columns.iter().for_each(|column| *counts.entry(column).or_default() += 1);
        let mut values = HashMap::new();
        for column in &columns {
            if !values.contains_key(*column) {
                let value = self.column(column, before)?;
                let is_text = matches!(&value, Expression::Filled(of) if matches!(of[1], Expression::Text(_)));
                let value = if counts[column] > 1 && !is_text { self.shared(column, value) } else { value };
                values.insert((*column).to_owned(), value);
            }
        }
        let placed = self.placed(expression, &values)?;
        self.known.insert(key, placed.clone());
        Ok(placed)
    }

    fn input(&mut self, name: &str) -> Expression {
        if self.inputs.iter().all(|input| input.name != name) {
            let types = self.model.reading.as_ref().map(|reading| &reading.types);
            let holds = match types.and_then(|types| types.get(name)) {
                Some(ColumnType::Class | ColumnType::Text) => CellKind::Text,
                Some(ColumnType::Date) => CellKind::Date,
                _ => CellKind::Number,
            };
            self.inputs.push(InputColumn { name: name.to_owned(), holds });
        }
        Expression::column(name)
    }

    /// Gives a value a name of its own, unless it is a column or a number.
    fn shared(&mut self, name: &str, value: Expression) -> Expression {
        if matches!(value, Expression::Column(_) | Expression::Number(_)) {
            return value;
        }
        if let Some(known) = self.steps.iter().find(|step| step.formula == value) {
            return Expression::column(&known.name);
        }
        let mut own = format!("{name} as used");
        while !self.taken.insert(own.clone()) {
            own.push('\'');
        }
        self.steps.push(NamedFormula { name: own.clone(), formula: value });
        Expression::Column(own)
    }

    /// Substitutes values for the columns of an expression.
    fn placed(&self, expression: Expression, values: &HashMap<String, Expression>) -> Result<Expression> {
        match expression {
            Expression::Column(name) => Ok(values.get(&name).cloned().unwrap_or(Expression::Column(name))),
            Expression::Level(levels) => {
                let of = self.placed(levels.of.clone(), values)?;
                self.levels(LevelValues { of, ..*levels })
            }
            Expression::If(Condition::Missing(of), either) => {
                let of = self.placed(*of, values)?;
                // Filled values are never missing.
                match of {
                    Expression::Filled(_) => self.placed(either[1].clone(), values),
                    of => {
                        let [then, otherwise] = *either;
                        let either = [self.placed(then, values)?, self.placed(otherwise, values)?];
                        Ok(Expression::If(Condition::Missing(Box::new(of)), Box::new(either)))
                    }
                }
            }
            Expression::Filled(of) => {
                let value = self.placed(of[0].clone(), values)?;
                match value {
                    Expression::Filled(_) => Ok(value),
                    value => Ok(Expression::Filled(Box::new([value, of[1].clone()]))),
                }
            }
            other => other.try_map(|part| self.placed(part, values)),
        }
    }

    /// Maps levels of a value. Filled text keeps the levels of the original text, with the filling's level for missing
    /// values; numbers keep the numeric levels.
    fn levels(&self, levels: LevelValues) -> Result<Expression> {
        let LevelValues { of, levels, missing, other } = levels;
        if let Expression::Filled(parts) = &of
            && let [inner, Expression::Text(text)] = &**parts
        {
            let filled = levels.iter().find(|(level, _)| level == text).map_or(other, |(_, value)| *value);
            return self.levels(LevelValues { of: inner.clone(), levels, missing: filled, other });
        }
        let holds = match &of {
            Expression::Column(name) => {
                self.inputs.iter().find(|input| input.name == *name).map_or(CellKind::Number, |input| input.holds)
            }
            _ => CellKind::Number,
        };
        let is_known = |level: &str| match holds {
            CellKind::Text => true,
            _ => level.parse::<f64>().is_ok_and(|number| number.is_finite() && number.to_string() == level),
        };
        if holds == CellKind::Date {
            let names = of.columns().join("`, `");
            return Err((self.refusal)(&format!("levels of the dates of `{}`", shown(&names))));
        }
        let levels = levels.into_iter().filter(|(level, _)| is_known(level)).collect();
        Ok(Expression::Level(Box::new(LevelValues { of, levels, missing, other })))
    }
}

/// Number of parts and points of an expression.
fn size(expression: &Expression) -> usize {
    let own = match expression {
        Expression::Between(points, _) => points.len(),
        _ => 1,
    };
    own + expression.parts().into_iter().map(size).sum::<usize>()
}

/// Whether text occurs in a place for numbers.
fn holds_text(expression: &Expression) -> bool {
    matches!(expression, Expression::Text(_)) || expression.parts().into_iter().any(holds_text)
}
