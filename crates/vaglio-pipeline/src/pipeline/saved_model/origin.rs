//! Crates that define the parts of a model file.

use serde::{Deserialize, Serialize};
use vaglio_core::{Registration, registrations};

/// A part that made the model, and the crate that defines it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelOrigin {
    /// Trait of the part.
    pub of: String,
    /// Kind of the part.
    pub kind: String,
    /// Name of the crate.
    pub package: String,
    /// Version of the crate.
    pub version: String,
}

impl ModelOrigin {
    /// Whether this program has a part of this trait and kind.
    fn is_held(&self) -> bool {
        registrations().iter().any(|origin| origin.of == self.of && origin.kind == self.kind)
    }
}

/// Crates of parts, given by trait and kind, without duplicates.
pub(super) fn made_by<'w>(words: impl IntoIterator<Item = (&'static str, &'w str)>) -> Vec<ModelOrigin> {
    let known = registrations();
    let mut found: Vec<ModelOrigin> = Vec::new();
    for (of, kind) in words {
        let Some(&Registration { package, version, .. }) = known.iter().find(|o| o.of == of && o.kind == kind) else {
            continue;
        };
        let part = ModelOrigin { of: of.into(), kind: kind.into(), package: package.into(), version: version.into() };
        if !found.contains(&part) {
            found.push(part);
        }
    }
    found
}

/// Traits whose kinds are needed to read a model.
const READ_BY: [&str; 4] = ["FittedMap", "FittedTargetMap", "ModelData", "Loss"];

/// Lists in words the parts of a model's text that this program lacks.
pub(super) fn foreign(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Parts {
        parts: Vec<ModelOrigin>,
    }
    let Parts { parts } = serde_json::from_str(text).ok()?;
    let told = |part: &ModelOrigin| format!("`{}` of {} {}", part.kind, part.package, part.version);
    let foreign: Vec<String> =
        parts.iter().filter(|part| READ_BY.contains(&&*part.of) && !part.is_held()).map(told).collect();
    (!foreign.is_empty()).then(|| foreign.join(" and "))
}
