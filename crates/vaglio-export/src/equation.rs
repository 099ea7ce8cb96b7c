//! Readable equations in the units of the data, with maps of columns folded into weights.

use crate::formulas::{Formulas, NamedFormula, own_size, size, walk};
use crate::infix::{NEUTRAL, Syntax, Writer};
use std::collections::HashMap;
use vaglio_core::{Expression, LevelValues, join, short};

/// Largest number of parts of an expression.
const MOST_PARTS: usize = 20_000;
/// Largest number of levels that are named.
const LISTED: usize = 4;

/// Equation of each output with the given name: `y = 152.1 + 949.4·bmi + …`, with five digits per number. Returns
/// `None` if it would be too long to read or contains numbers that are not finite.
///
/// Imputation is not shown: `bmi` is the filled cell.
pub fn equations(formulas: &Formulas, names: &[String]) -> Option<Vec<String>> {
    let mut steps: HashMap<&str, Expression> = HashMap::new();
    let mut parts = 0;
    for step in &formulas.steps {
        let formula = inline_steps(&step.formula, &steps, &mut parts)?;
        steps.insert(&step.name, formula);
    }
    let mut writer = Writer::new(&EQUATION, formulas, HashMap::new());
    let equation = |(name, output): (&String, &NamedFormula)| {
        let formula = collect_terms(&inline_steps(&output.formula, &steps, &mut parts)?);
        // Weights of subnormal columns may be infinite.
        let is_infinite = |part: &Expression| matches!(part, Expression::Number(number) if !number.is_finite());
        (!walk(&formula).any(is_infinite)).then_some(())?;
        Some(format!("{name} = {}", writer.text(&formula).ok()?))
    };
    names.iter().zip(&formulas.outputs).map(equation).collect()
}

/// Replaces names of steps by their formulas, and filled cells by the cells.
fn inline_steps(expression: &Expression, steps: &HashMap<&str, Expression>, parts: &mut usize) -> Option<Expression> {
    *parts += own_size(expression);
    if *parts > MOST_PARTS {
        return None;
    }
    match expression {
        Expression::Column(name) if steps.contains_key(name.as_str()) => {
            *parts += size(&steps[name.as_str()]);
            (*parts <= MOST_PARTS).then(|| steps[name.as_str()].clone())
        }
        Expression::Filled(operands) => inline_steps(&operands[0], steps, parts),
        _ => {
            let mut inserted = expression.clone();
            for part in inserted.parts_mut() {
                *part = inline_steps(part, steps, parts)?;
            }
            Some(inserted)
        }
    }
}

/// Rewrites the value as a weighted sum of distinct values, as far as possible.
fn collect_terms(expression: &Expression) -> Expression {
    let (terms, constant) = affine(expression);
    let weighted = terms.into_iter().filter(|(_, weight)| *weight != 0.0).map(|(value, weight)| match weight {
        1.0 => value,
        _ => Expression::from(weight).times(value),
    });
    let constant = (constant != 0.0).then_some(Expression::Number(constant));
    let mut all: Vec<Expression> = constant.into_iter().chain(weighted).collect();
    match all.len() {
        0 => Expression::Number(0.0),
        1 => all.remove(0),
        _ => Expression::Sum(all),
    }
}

/// Distinct values of a sum with their weights, and the constant.
fn affine(expression: &Expression) -> (Vec<(Expression, f64)>, f64) {
    let scaled = |(terms, constant): (Vec<(Expression, f64)>, f64), by: f64| {
        (terms.into_iter().map(|(value, weight)| (value, weight * by)).collect::<Vec<_>>(), constant * by)
    };
    match expression {
        Expression::Number(number) => (Vec::new(), *number),
        Expression::Sum(parts) => {
            let (mut terms, mut constant): (Vec<(Expression, f64)>, f64) = (Vec::new(), 0.0);
            let mut places: HashMap<String, usize> = HashMap::new();
            for part in parts {
                let (own, number) = affine(part);
                constant += number;
                for (value, weight) in own {
                    let place = *places.entry(format!("{value:?}")).or_insert(terms.len());
                    match terms.get_mut(place) {
                        Some(known) => known.1 += weight,
                        None => terms.push((value, weight)),
                    }
                }
            }
            (terms, constant)
        }
        Expression::Product(factors) => {
            let mut number = 1.0;
            let mut others = Vec::new();
            for factor in factors {
                match affine(factor) {
                    (terms, constant) if terms.is_empty() => number *= constant,
                    _ => others.push(factor),
                }
            }
            match others[..] {
                [] => (Vec::new(), number),
                [one] => scaled(affine(one), number),
                _ => (vec![(Expression::Product(others.into_iter().map(collect_terms).collect()), number)], 0.0),
            }
        }
        Expression::Quotient(operands) => match affine(&operands[1]) {
            (terms, constant) if terms.is_empty() => scaled(affine(&operands[0]), 1.0 / constant),
            _ => (vec![(collect_terms(&operands[0]).over(collect_terms(&operands[1])), 1.0)], 0.0),
        },
        other => {
            let mut other = other.clone();
            other.parts_mut().into_iter().for_each(|part| *part = collect_terms(part));
            (vec![(other, 1.0)], 0.0)
        }
    }
}

const EQUATION: Syntax = Syntax {
    number: short,
    times: "·",
    indicator: Some("[{0}]"),
    level: |_, levels, operand| {
        let LevelValues { levels, other, .. } = levels;
        let ones: Vec<&str> = levels.iter().filter(|(_, value)| *value == 1.0).map(|(level, _)| &**level).collect();
        let is_indicator = levels.iter().all(|(_, value)| [0.0, 1.0].contains(value));
        Ok(match ones[..] {
            [one] if is_indicator && *other != 1.0 => format!("[{operand} = {one}]"),
            _ if levels.len() <= LISTED => {
                let values = levels.iter().map(|(level, value)| format!("{level}: {}", short(*value)));
                format!("[{operand}: {}]", join(values, ", "))
            }
            _ => format!("code({operand})"),
        })
    },
    ..NEUTRAL
};
