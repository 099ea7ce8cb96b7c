//! JSON Schema of the pipeline file, for the components linked into the program.

mod fields;

pub use fields::component_fields;

use super::{DataSpec, EngineSpec, Limits};
use crate::tune::Tune;
use serde_json::{Map, Value, json};
use vaglio_core::schemars::{SchemaGenerator, generate::SchemaSettings};
use vaglio_core::{Description, Role, descriptions, join};
use vaglio_report::record::Evaluate;

/// The JSON Schema of a pipeline file, for the components linked into this program.
///
/// Alternatives list their `kind`, or their words, as an `enum`, with `if` and `then` for the settings of each kind. So
/// an editor that finds a wrong word can list the valid ones.
pub fn pipeline_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let role_schemas = Role::ALL.map(|role| (format!("{role:?}"), role_schema(role, &mut generator)));
    let data = generator.subschema_for::<DataSpec>().to_value();
    let tune = generator.subschema_for::<Tune>().to_value();
    let evaluate = generator.subschema_for::<Evaluate>().to_value();
    let limits = generator.subschema_for::<Limits>().to_value();
    let engine = generator.subschema_for::<EngineSpec>().to_value();
    let mut definitions = generator.take_definitions(true);
    definitions.extend(role_schemas);
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "vaglio pipeline",
        "type": "object",
        "properties": {
            "version": {"const": 1},
            "seed": {"type": "integer", "minimum": 0, "default": 0},
            "data": data,
            "preprocess": {"type": "array", "items": {"$ref": "#/$defs/Map"}},
            "target_map": {"$ref": "#/$defs/TargetMap"},
            "learner": {"$ref": "#/$defs/Learner"},
            "criterion": {"$ref": "#/$defs/Criterion"},
            "search": {
                "description": "A search, or a list of searches that are walked in turn.",
                "if": {"type": "array"},
                "then": {"minItems": 1, "items": {"$ref": "#/$defs/Search"}},
                "else": {"$ref": "#/$defs/Search"}
            },
            "model": {
                "description": "What is trained on the chosen columns, judged and predicted with in place of the learner: a learner, or one \
                                with a criterion of its own and settings that this chooses.",
                "if": {"type": "object", "required": ["learner"]},
                "then": {
                    "properties": {
                        "learner": {"$ref": "#/$defs/Learner"},
                        "criterion": {"$ref": "#/$defs/Criterion"},
                        "tune": tune
                    },
                    "additionalProperties": false
                },
                "else": {"$ref": "#/$defs/Learner"}
            },
            "tune": tune,
            "evaluate": evaluate,
            "limits": limits,
            "engine": engine
        },
        "required": ["version", "data"],
        "additionalProperties": false,
        "$defs": definitions
    });
    merge_alternatives(&mut schema);
    schema
}

/// Schema of a role's component: a bare word if no setting is required, or an object with `kind` and settings.
fn role_schema(role: Role, generator: &mut SchemaGenerator) -> Value {
    let parts: Vec<(&str, Value)> = descriptions()
        .into_iter()
        .filter(|description| description.role == role)
        .map(|description| (description.kind, component(description, generator)))
        .collect();
    let needs_settings = |schema: &Value| schema["required"].as_array().is_some_and(|required| required.len() > 1);
    let words: Vec<&str> = parts.iter().filter(|(_, schema)| !needs_settings(schema)).map(|(kind, _)| *kind).collect();
    let mut schema = by_kind(&parts);
    let rules = schema["allOf"].take();
    let (kinds, of_kinds) = (schema["properties"].take(), rules.as_array().cloned().unwrap_or_default());
    let mut all = vec![
        json!({"if": {"type": "string"}, "then": {"enum": words}}),
        json!({"if": {"type": "object"}, "then": {"required": ["kind"], "properties": kinds}}),
    ];
    all.extend(of_kinds);
    json!({"type": ["string", "object"], "allOf": all})
}

/// Schema of objects that differ by `kind`.
fn by_kind(parts: &[(&str, Value)]) -> Value {
    let kinds: Vec<&str> = parts.iter().map(|(kind, _)| *kind).collect();
    let rules = parts.iter().map(|(kind, schema)| {
        let is_this = json!({"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]});
        json!({"if": is_this, "then": schema})
    });
    json!({
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": kinds}},
        "allOf": rules.collect::<Vec<_>>()
    })
}

/// Schema of one component.
fn component(description: &Description, generator: &mut SchemaGenerator) -> Value {
    let (mut schema, definitions) = own_schema(description);
    // Recursive types cannot be inlined; they join the shared definitions.
    generator.definitions_mut().extend(definitions);
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        object.remove("title");
    }
    schema["description"] = description.summary.into();
    schema["type"] = "object".into();
    schema["properties"]["kind"] = json!({"const": description.kind});
    let mut required = schema["required"].as_array().cloned().unwrap_or_default();
    required.push("kind".into());
    schema["required"] = required.into();
    schema["additionalProperties"] = false.into();
    schema
}

/// Replaces alternatives at every depth. Words become an `enum` that explains each word; objects that differ by `kind`
/// become rules.
fn merge_alternatives(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(merge_alternatives),
        Value::Object(object) => {
            object.values_mut().for_each(merge_alternatives);
            let Some(all) = object.get("oneOf").and_then(Value::as_array).cloned() else { return };
            let words: Option<Vec<&str>> = all.iter().map(|one| one["const"].as_str()).collect();
            let kind = |one: &Value| one["properties"]["kind"]["const"].as_str().map(str::to_owned);
            let kinds: Option<Vec<String>> = all.iter().map(kind).collect();
            if let Some(words) = words {
                object.remove("oneOf");
                let meanings = all.iter().zip(&words).filter_map(|(one, word)| {
                    Some(format!("- `{word}`: {}", one["description"].as_str()?.replace('\n', " ")))
                });
                let description = object.get("description").and_then(Value::as_str).map(str::to_owned).into_iter();
                let text = join(description.chain([join(meanings, "\n")]), "\n\n");
                object.insert("type".into(), "string".into());
                object.insert("enum".into(), words.into());
                object.insert("description".into(), text.into());
            } else if let Some(kinds) = kinds {
                object.remove("oneOf");
                let parts: Vec<(&str, Value)> = kinds.iter().map(String::as_str).zip(all).collect();
                object.extend(by_kind(&parts).as_object().cloned().unwrap_or_default());
            }
        }
        _ => {}
    }
}

/// Schema of a component's settings, with the recursive types in it.
fn own_schema(description: &Description) -> (Value, Map<String, Value>) {
    let mut inner = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true).into_generator();
    let schema = (description.schema)(&mut inner).to_value();
    (schema, inner.take_definitions(true))
}

/// Linked components, as listed by `vaglio list --json`.
pub fn component_list() -> Vec<Value> {
    let part = |d: &Description| {
        json!({
            "role": d.role.word(), "kind": d.kind, "crate": d.package, "version": d.version,
            "summary": d.summary, "example": d.example
        })
    };
    descriptions().into_iter().map(part).collect()
}
