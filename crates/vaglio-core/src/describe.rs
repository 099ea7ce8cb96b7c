//! The registry: what is linked into this program, with the line, the example and the schema of each.

use schemars::{Schema, SchemaGenerator};

/// The place that a component takes in a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// `criterion:`.
    Criterion,
    /// `search:`.
    Search,
    /// `learner:`.
    Learner,
    /// An entry of `preprocess:`.
    Map,
    /// `loss:` of a criterion.
    Loss,
    /// `splits:` of a criterion.
    Resampling,
}

impl Role {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Role::Criterion => "criterion",
            Role::Search => "search",
            Role::Learner => "learner",
            Role::Map => "map",
            Role::Loss => "loss",
            Role::Resampling => "resampling",
        }
    }

    /// All of them, in the order in which they are listed.
    pub const ALL: [Role; 6] = [Role::Criterion, Role::Search, Role::Learner, Role::Map, Role::Loss, Role::Resampling];
}

/// A component that is linked in; made by [`describe!`](crate::describe).
#[derive(Debug)]
pub struct Description {
    /// The place that it takes.
    pub role: Role,
    /// Its tag in pipeline files, the same as in `#[typetag::serde(name = …)]`.
    pub kind: &'static str,
    /// What people call it: a noun for a search (`greedy search`) and for a loss (`squared error`), what stands before the
    /// loss or the word score for a criterion (`leave-one-out`).
    pub title: &'static str,
    /// One line.
    pub summary: &'static str,
    /// An example in YAML, as it stands in a pipeline file.
    pub example: &'static str,
    /// The crate that defines it.
    pub package: &'static str,
    /// The version of that crate.
    pub version: &'static str,
    /// The JSON Schema of its settings.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

inventory::collect!(Description);

/// Everything that is linked in, by role and then by name.
///
/// A plug-in crate that is only listed in `Cargo.toml` is dropped by the linker; `use the_plugin as _;` keeps it.
pub fn descriptions() -> Vec<&'static Description> {
    let mut all: Vec<&Description> = inventory::iter::<Description>.into_iter().collect();
    all.sort_by_key(|d| (d.role, d.kind));
    all
}

/// What people call a component; its kind where no crate that defines it is linked in.
pub fn title(role: Role, kind: &str) -> &str {
    let mut all = inventory::iter::<Description>.into_iter();
    all.find(|d| d.role == role && d.kind == kind).map_or(kind, |d| d.title)
}

/// Makes a component known to `vaglio list`, `vaglio schema`, the report and the error messages.
///
/// Stands beside the component's `#[typetag::serde(name = "…")]` with the same name; the type derives
/// [`schemars::JsonSchema`]. A title may follow where the kind is not what people call it; without one it is the kind,
/// for searches followed by "search".
///
/// ```ignore
/// vaglio_core::describe!(Criterion, Mine, "mine", "one line", "criterion: mine");
/// vaglio_core::describe!(Criterion, Loo, "loo", "leave-one-out loss", "criterion: loo", "leave-one-out");
/// ```
#[macro_export]
macro_rules! describe {
    (Search, $type:ty, $kind:literal, $summary:literal, $example:literal) => {
        $crate::describe!(Search, $type, $kind, $summary, $example, concat!($kind, " search"));
    };
    ($role:ident, $type:ty, $kind:literal, $summary:literal, $example:literal) => {
        $crate::describe!($role, $type, $kind, $summary, $example, $kind);
    };
    ($role:ident, $type:ty, $kind:literal, $summary:literal, $example:literal, $title:expr) => {
        $crate::inventory::submit! {
            $crate::Description {
                role: $crate::Role::$role,
                kind: $kind,
                title: $title,
                summary: $summary,
                example: $example,
                package: env!("CARGO_PKG_NAME"),
                version: env!("CARGO_PKG_VERSION"),
                schema: |generator| generator.subschema_for::<$type>(),
            }
        }
    };
}
