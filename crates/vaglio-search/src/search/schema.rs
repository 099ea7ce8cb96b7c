//! JSON Schemas of searches: shared settings and the strategy's own in one map.

use super::serialization::merge;
use crate::Search;
use crate::settings::SearchSettings;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use vaglio_core::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use vaglio_core::serde_json::{self, Value};
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

/// The schema of a search: the shared settings of its strategy, and the schema `own` of the strategy.
pub fn schema(kind: &str, own: Schema, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = SearchSettings::json_schema(generator);
    // None if the search has required settings.
    let default = serde_json::from_value::<Search>(serde_json::json!({"kind": kind})).ok();
    let values = default.and_then(|search| serde_json::to_value(search.settings).ok()).unwrap_or_default();
    let object = schema.ensure_object();
    let mut shared =
        object.get_mut("properties").and_then(Value::as_object_mut).map(std::mem::take).unwrap_or_default();
    for (name, property) in &mut shared {
        if let (Some(property), Some(value)) = (property.as_object_mut(), values.get(name)) {
            property.insert("default".into(), value.clone());
        }
    }
    let own = own.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let properties = merge(shared, own);
    object.insert("properties".into(), properties.into());
    schema
}

impl JsonSchema for Search {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Search".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"$ref": "#/$defs/Search"})
    }
}
