//! Names of the settings of searches.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use vaglio_core::schemars::{Schema, SchemaGenerator};
use vaglio_core::serde_json::Value;
use vaglio_core::{Role, descriptions};

/// Setting names of every registered search, including the shared ones, by its word.
pub(super) static FIELDS: LazyLock<BTreeMap<&'static str, &'static [&'static str]>> = LazyLock::new(|| {
    let fields = |schema: Schema| -> &'static [&'static str] {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let names = properties.map(|(name, _)| &*Box::leak(name.clone().into_boxed_str()));
        Box::leak(names.collect::<Vec<_>>().into_boxed_slice())
    };
    let searches = descriptions().into_iter().filter(|description| description.role == Role::Search);
    searches.map(|search| (search.kind, fields((search.schema)(&mut SchemaGenerator::default())))).collect()
});
