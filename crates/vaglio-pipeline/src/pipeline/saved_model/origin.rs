//! Crates that define the parts of a model file.

use vaglio_core::{Registration, registrations, setting};

/// A part that made the model, and the crate that defines it.
#[setting]
#[derive(PartialEq, Eq)]
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
