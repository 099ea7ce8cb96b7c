//! Registry of the parts that are linked into this program, with summary, example and schema.

use crate::{saved, setting};

use std::borrow::Cow;

/// The role of a component in a pipeline.
#[setting]
#[derive(Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// `criterion:`.
    Criterion,
    /// `search:`.
    Search,
    /// `learner:`.
    Learner,
    /// An entry of `preprocess:`.
    Map,
    /// `target_map:`.
    TargetMap,
    /// `loss:` of a criterion.
    Loss,
    /// `splits:` of a criterion.
    Resampling,
}

impl Role {
    /// All roles, in the order in which they are listed.
    pub const ALL: [Role; 7] =
        [Role::Criterion, Role::Search, Role::Learner, Role::Map, Role::TargetMap, Role::Loss, Role::Resampling];
}

/// A part that is linked in; made by [`part`](crate::part).
#[derive(Debug)]
pub struct Description {
    /// Role of the part.
    pub role: Role,
    /// Word in pipeline files.
    pub kind: &'static str,
    /// Name in reports: a noun for a search (`greedy search`) or a loss (`squared error`). For a criterion, the words
    /// that precede its loss or "score" (`leave-one-out`).
    pub title: &'static str,
    /// Summary of one line.
    pub summary: &'static str,
    /// Example in YAML, as in a pipeline file.
    pub example: &'static str,
    /// The crate that defines it.
    pub package: &'static str,
    /// The version of that crate.
    pub version: &'static str,
    /// Path of the type, as `std::any::type_name` has it; it may be exported elsewhere.
    pub defined: &'static str,
    /// The JSON Schema of its settings.
    #[cfg(feature = "schema")]
    pub schema: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
}

inventory::collect!(Description);

/// Origin of a word of pipeline files or saved files, submitted by [`part`](crate::part) and [`saved`](crate::saved).
/// Saved models list the origins of their parts.
#[saved]
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Registration {
    /// The trait whose objects have the word.
    pub of: Cow<'static, str>,
    /// The word.
    pub kind: Cow<'static, str>,
    /// The crate that defines it.
    pub package: Cow<'static, str>,
    /// The version of that crate.
    pub version: Cow<'static, str>,
}

inventory::collect!(Registration);

/// Every word that is linked in, by trait and then by word.
pub fn registrations() -> Vec<Registration> {
    let mut all: Vec<Registration> = inventory::iter::<Registration>.into_iter().cloned().collect();
    all.sort_unstable();
    all
}

/// Everything that is linked in, by role and then by name.
///
/// A plug-in crate that is only listed in `Cargo.toml` is dropped by the linker; `use the_plugin as _;` keeps it.
pub fn descriptions() -> Vec<&'static Description> {
    let mut all: Vec<&Description> = inventory::iter::<Description>.into_iter().collect();
    all.sort_by_key(|d| (d.role, d.kind));
    all
}

/// Title of a component, or its kind if no crate that defines it is linked in.
pub fn title(role: Role, kind: &str) -> &str {
    let mut all = inventory::iter::<Description>.into_iter();
    all.find(|d| d.role == role && d.kind == kind).map_or(kind, |d| d.title)
}
