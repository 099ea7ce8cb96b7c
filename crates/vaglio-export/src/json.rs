//! The formulas themselves.

use crate::Formulas;
use serde_json::json;
use vaglio_core::{Error, Result};

/// The version of the format.
const SCHEMA: &str = "vaglio.formulas/1";

/// The formulas as JSON of several lines; a number that is missing is null.
pub(crate) fn write(formulas: &Formulas) -> Result<String> {
    let failed = |error: serde_json::Error| Error::Numerical(format!("the formulas cannot be written: {error}"));
    let mut all = json!({ "schema": SCHEMA, "about": formulas.about });
    let body = serde_json::to_value(formulas).map_err(failed)?;
    if let (Some(all), serde_json::Value::Object(body)) = (all.as_object_mut(), body) {
        all.extend(body);
    }
    Ok(format!("{all:#}\n"))
}
