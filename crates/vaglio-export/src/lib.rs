//! Export of a model as formulas of table columns, in several languages.
//!
//! [`Formulas`] is the input of every language: the columns that are read, intermediate values shared by several
//! formulas, the predictions, and the rule for class labels. Each module writes one language; `infix` serves all but
//! ONNX and JSON.

mod calendar;
mod equation;
mod excel;
mod formulas;
mod identifiers;
mod infix;
mod onnx;
mod pmml;
mod python;
mod r;
mod sql;

pub use equation::equations;
pub use formulas::{CellKind, Formulas, InputColumn, LabelRule, Language, ModelSteps, NamedFormula};

use formulas::ABOUT;
use serde_json::json;
use vaglio_core::Result;

impl Language {
    /// Writes the formulas as a file.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] on `--to` if the language cannot express the formulas.
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
            // NaN becomes null.
            Language::Json => {
                let Formulas { inputs, steps, outputs, label } = formulas;
                let schema = "vaglio.formulas/1";
                let all = json!({
                    "schema": schema, "about": ABOUT, "inputs": inputs, "steps": steps, "outputs": outputs, "label": label
                });
                Ok(format!("{all:#}\n"))
            }
        };
        text.map(String::into_bytes)
    }
}
