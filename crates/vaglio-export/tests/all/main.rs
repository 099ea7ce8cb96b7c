//! Models in other languages, piece by piece; `vaglio-tests` runs whole models.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

mod equation;
mod languages;

use vaglio_core::Expression;
use vaglio_export::{CellKind, Formulas, InputColumn, NamedFormula};

fn numbers(names: impl IntoIterator<Item = impl Into<String>>) -> Vec<InputColumn> {
    names.into_iter().map(|name| InputColumn { name: name.into(), holds: CellKind::Number }).collect()
}

/// Returns a model with one prediction.
fn formulas(inputs: Vec<InputColumn>, formula: Expression) -> Formulas {
    let outputs = vec![NamedFormula { name: "prediction".into(), formula }];
    Formulas { inputs, steps: Vec::new(), outputs, label: None }
}
