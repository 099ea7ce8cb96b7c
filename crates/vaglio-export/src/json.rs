//! JSON export of the formulas.

use crate::formulas::Formulas;
use serde_json::json;
use vaglio_core::Result;

/// Version of the format.
const SCHEMA: &str = "vaglio.formulas/1";

/// Writes the formulas as indented JSON; NaN becomes null.
pub(crate) fn write(formulas: &Formulas) -> Result<String> {
    let mut all = json!({ "schema": SCHEMA, "about": formulas.about });
    let body = serde_json::to_value(formulas)?;
    if let (Some(all), serde_json::Value::Object(body)) = (all.as_object_mut(), body) {
        all.extend(body);
    }
    Ok(format!("{all:#}\n"))
}
