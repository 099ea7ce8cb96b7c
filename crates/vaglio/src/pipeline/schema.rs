//! The JSON Schema of the pipeline file, made of exactly what is linked in.

use super::Evaluate;
use super::{DataSpec, EngineSpec};
use crate::tune::Tune;
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};
use vaglio_core::{Description, Role, descriptions};

/// The JSON Schema of a pipeline file for the components that are linked into this program.
pub fn pipeline_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut of_role = |role: Role| -> Value {
        let parts: Vec<Value> =
            descriptions().into_iter().filter(|d| d.role == role).map(|d| component(d, &mut generator)).collect();
        json!({"oneOf": parts})
    };
    let (criterion, search, learner, map) =
        (of_role(Role::Criterion), of_role(Role::Search), of_role(Role::Learner), of_role(Role::Map));
    let search = match search.get("oneOf").cloned() {
        Some(Value::Array(mut kinds)) => {
            kinds.push(json!({"type": "array", "minItems": 1, "items": search}));
            json!({"oneOf": kinds})
        }
        _ => search,
    };
    let data = generator.subschema_for::<DataSpec>().to_value();
    let tune = generator.subschema_for::<Tune>().to_value();
    let evaluate = generator.subschema_for::<Evaluate>().to_value();
    let engine = generator.subschema_for::<EngineSpec>().to_value();
    let definitions = Value::Object(generator.take_definitions(true));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "vaglio pipeline",
        "type": "object",
        "properties": {
            "version": {"const": 1},
            "seed": {"type": "integer", "minimum": 0, "default": 0},
            "data": data,
            "preprocess": {"type": "array", "items": map},
            "learner": learner,
            "criterion": criterion,
            "search": search,
            "tune": tune,
            "evaluate": evaluate,
            "engine": engine
        },
        "required": ["version", "data"],
        "additionalProperties": false,
        "$defs": definitions
    })
}

/// A component: a bare word where every setting has a default, or an object with `kind` and settings.
fn component(description: &Description, generator: &mut SchemaGenerator) -> Value {
    let mut inner = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true).into_generator();
    let mut schema = (description.schema)(&mut inner).to_value();
    // Types that refer to themselves cannot be inlined; they join the shared definitions.
    for (name, definition) in inner.take_definitions(true) {
        generator.definitions_mut().insert(name, definition);
    }
    let needs_settings = schema.get("required").and_then(Value::as_array).is_some_and(|r| !r.is_empty());
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        object.remove("title");
        object.insert("description".into(), json!(description.summary));
        object.insert("type".into(), json!("object"));
        let properties = object.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.insert("kind".into(), json!({"const": description.kind}));
        }
        let required = object.entry("required").or_insert_with(|| json!([]));
        if let Some(required) = required.as_array_mut() {
            required.push(json!("kind"));
        }
        object.insert("additionalProperties".into(), json!(false));
    }
    if needs_settings { schema } else { json!({"anyOf": [{"const": description.kind}, schema]}) }
}

/// The component list of `vaglio list --json`: what is linked in, and the losses.
pub fn component_list() -> Value {
    let parts = descriptions().into_iter().map(|d| {
        json!({
            "role": d.role.name(), "kind": d.kind, "crate": d.package, "version": d.version,
            "summary": d.summary, "example": d.example
        })
    });
    let losses = vaglio_core::Loss::ALL.iter().map(|(_, name, summary)| {
        json!({
            "role": "loss", "kind": name, "crate": "vaglio-core", "version": env!("CARGO_PKG_VERSION"),
            "summary": summary, "example": format!("criterion: {{kind: loo, loss: {name}}}")
        })
    });
    Value::Array(parts.chain(losses).collect())
}
