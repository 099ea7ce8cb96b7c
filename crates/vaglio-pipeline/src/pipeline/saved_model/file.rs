//! Model files, with version and checksum.

use super::SavedModel;
use crate::document::explain_duplicate;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::path::Path;
use vaglio_core::{Cause, Error, Registration, Result, join, registrations};
use vaglio_tables::budget::Budget;
use vaglio_tables::disk::{read_at_most, truncate_message, write_file};

/// Version of the format.
const SCHEMA: &str = "vaglio.model/1";
/// Largest size of a model file, in bytes.
const LARGEST: u64 = 1 << 30;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    schema: String,
    #[serde(rename = "digest")]
    _digest: String,
    #[serde(borrow)]
    model: &'a RawValue,
}

impl SavedModel {
    /// Serializes the model file.
    ///
    /// # Errors
    /// [`Error::Failed`] if the model cannot be serialized.
    pub fn to_text(&self) -> Result<String> {
        Ok(wrap(&serde_json::to_string(self)?))
    }

    /// Writes a model file atomically.
    ///
    /// # Errors
    /// [`Error::Unwritable`]; the errors of [`SavedModel::to_text`].
    pub fn write(&self, path: &Path) -> Result<()> {
        write_file(path, &self.to_text()?)
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// * [`Error::Unreadable`] if there is no such file.
    /// * [`Error::ModelRefused`] if the file was changed, is truncated, or has another version.
    pub fn read(path: &Path) -> Result<Self> {
        let Some(bytes) = read_at_most(path, LARGEST)? else {
            return Err(Error::model_refused(path, "it is larger than any model"));
        };
        // The parts are parsed twice and take more memory than their text.
        let what = format!("{}, with what it describes,", path.display());
        Budget::for_machine().need(8.0 * bytes.len() as f64, what, "take a machine with more memory")?;
        let text = String::from_utf8(bytes).map_err(|e| Error::model_refused(path, Cause::new("it is not text", e)))?;
        SavedModel::from_text(&text, path)
    }

    /// Reads the text of a model file; messages call it `path`.
    ///
    /// # Errors
    /// [`Error::ModelRefused`] in the cases of [`SavedModel::read`].
    pub fn from_text(text: &str, path: &Path) -> Result<Self> {
        let refused = |message: Cause| Error::model_refused(path, message);
        let file: File<'_> = serde_json::from_str(text).map_err(|e| {
            refused(Cause::from(e).reword(|e| format!("it is damaged or no model file: {}", truncate_message(e))))
        })?;
        if file.schema != SCHEMA {
            let schema = truncate_message(&file.schema);
            return Err(refused(format!("it is of version `{schema}`; this program reads `{SCHEMA}`").into()));
        }
        if wrap(file.model.get()) != text {
            return Err(refused("its checksum does not fit: the file was changed after it was written".into()));
        }
        let model: SavedModel =
            serde_json::from_str(file.model.get()).map_err(|e| refused(not_known(file.model.get(), e)))?;
        if model.fits() { Ok(model) } else { Err(refused("its parts do not fit together".into())) }
    }
}

/// Explains why an intact model cannot be read by this program.
fn not_known(text: &str, error: serde_json::Error) -> Cause {
    Cause::from(error).reword(|error| match (explain_duplicate(error), foreign(text)) {
        (Some(duplicate), _) => duplicate,
        (None, Some(parts)) => format!(
            "it was made by {}, which this program does not hold; use one that is linked with that",
            truncate_message(&parts)
        ),
        (None, None) => format!("it holds what this program does not know: {}", truncate_message(error)),
    })
}

/// Traits whose kinds are needed to read a model.
const READ_BY: [&str; 4] = ["FittedMap", "FittedTargetMap", "ModelData", "Loss"];

/// Lists in words the parts of a model's text that this program lacks.
fn foreign(text: &str) -> Option<String> {
    let fields: HashMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let parts: Vec<Registration> = serde_json::from_str(fields.get("parts")?.get()).ok()?;
    let known = registrations();
    let is_held = |part: &Registration| known.iter().any(|known| known.of == part.of && known.kind == part.kind);
    let lacked = parts.iter().filter(|part| READ_BY.contains(&&*part.of) && !is_held(part));
    let foreign = join(lacked.map(|part| format!("`{}` of {} {}", part.kind, part.package, part.version)), " and ");
    (!foreign.is_empty()).then_some(foreign)
}

/// Returns the text of a model file with its checksum.
fn wrap(model: &str) -> String {
    let digest = blake3::hash(model.as_bytes());
    format!("{{\"schema\":\"{SCHEMA}\",\"digest\":\"blake3:{digest}\",\"model\":{model}}}\n")
}
