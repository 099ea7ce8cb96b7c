//! Descriptions of a component's settings, from its JSON Schema.

use super::own_schema;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use vaglio_core::{Role, descriptions, join};

/// Settings of a component: name, type, default, whether required, description; `None` for an unknown role or kind.
pub fn component_fields(role: &str, kind: &str) -> Option<Value> {
    let description = descriptions().into_iter().find(|d| d.role.word() == role && d.kind == kind)?;
    let (schema, definitions) = own_schema(description);
    let schema = resolve_reference(&schema, &definitions);
    let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|r| r == name));
    let fields = schema["properties"].as_object().into_iter().flatten().map(|(name, of_field)| {
        let mut field = json!({"name": name, "type": type_text(of_field, &definitions), "required": required(name)});
        if let Some(default) = of_field.get("default") {
            field["default"] = shorten_default(default);
        }
        field["description"] = describe_setting(of_field, &definitions).into();
        field
    });
    Some(Value::Array(fields.collect()))
}

/// Shortens a default: parts with default settings become their kinds.
fn shorten_default(default: &Value) -> Value {
    match default {
        Value::Array(all) => all.iter().map(shorten_default).collect(),
        Value::Object(fields) => {
            let has_defaults = |kind: &str| {
                let mut alike = descriptions().into_iter().filter(|description| description.kind == kind);
                alike.any(|description| {
                    let (schema, definitions) = own_schema(description);
                    let own =
                        |name: &str| resolve_reference(&schema, &definitions)["properties"][name]["default"].clone();
                    fields.iter().all(|(name, value)| name == "kind" || *value == own(name))
                })
            };
            let kind = fields.get("kind").filter(|kind| kind.as_str().is_some_and(has_defaults));
            kind.unwrap_or(default).clone()
        }
        other => other.clone(),
    }
}

fn resolve_reference<'a>(schema: &'a Value, definitions: &'a Map<String, Value>) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    name.and_then(|name| definitions.get(name)).unwrap_or(schema)
}

/// Alternatives of a schema, or the schema itself.
fn alternatives<'a>(schema: &'a Value, definitions: &'a Map<String, Value>) -> Vec<&'a Value> {
    let schema = resolve_reference(schema, definitions);
    let all: Vec<&Value> = match ["oneOf", "anyOf"].iter().find_map(|key| schema[key].as_array()) {
        Some(all) => all.iter().collect(),
        // The `else` of a list is a chain of parts; the description explains it.
        None => schema.get("else").into_iter().collect(),
    };
    if all.is_empty() { vec![schema] } else { all.into_iter().flat_map(|one| alternatives(one, definitions)).collect() }
}

/// Types of a value, in words.
fn type_text(schema: &Value, definitions: &Map<String, Value>) -> String {
    let mut seen = HashSet::new();
    let all = alternatives(schema, definitions).into_iter().flat_map(|one| type_words(one, definitions));
    join(all.filter(|words| seen.insert(words.clone())), " | ")
}

fn type_words(schema: &Value, definitions: &Map<String, Value>) -> Vec<String> {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(role) = role(schema) {
        return descriptions().into_iter().filter(|d| d.role == role).map(|d| d.kind.to_owned()).collect();
    }
    if let Some(word) = schema.get("const") {
        return vec![plain(word)];
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(plain).collect();
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        Value::String(one) => vec![one.as_str()],
        _ => vec!["anything"],
    };
    let within = bounds(schema);
    types
        .into_iter()
        .map(|name| match name {
            "integer" => format!("whole number{}", if within == " from 0" { "" } else { &within }),
            "number" => format!("number{within}"),
            "string" => "text".into(),
            "boolean" => "true | false".into(),
            "array" => format!("list of {}", type_text(&schema["items"], definitions)),
            "object" => keys(schema, definitions),
            other => other.to_owned(),
        })
        .collect()
}

/// Role of the parts that a setting holds.
fn role(schema: &Value) -> Option<Role> {
    let name = schema["$ref"].as_str()?.rsplit('/').next()?;
    Role::ALL.into_iter().find(|role| format!("{role:?}") == name)
}

/// Bounds of a number, in words.
fn bounds(schema: &Value) -> String {
    let words =
        [("minimum", " from "), ("exclusiveMinimum", " above "), ("maximum", " to "), ("exclusiveMaximum", " below ")];
    let bounds = words.iter().filter_map(|(key, words)| schema.get(key).map(|bound| format!("{words}{bound}")));
    bounds.collect()
}

/// Keys of a map, in words.
fn keys(schema: &Value, definitions: &Map<String, Value>) -> String {
    let Some(properties) = schema["properties"].as_object() else {
        return format!("{{name: {}, …}}", type_text(&schema["additionalProperties"], definitions));
    };
    let one = |(name, of): (&String, &Value)| match of["const"].as_str() {
        Some(word) => format!("{name}: {word}"),
        None => name.clone(),
    };
    format!("{{{}}}", join(properties.iter().map(one), ", "))
}

/// Description of a setting, with the meaning of its words and keys.
fn describe_setting(schema: &Value, definitions: &Map<String, Value>) -> String {
    let text = |schema: &Value| schema["description"].as_str().map(str::to_owned);
    let mut lines: Vec<String> =
        text(schema).or_else(|| text(resolve_reference(schema, definitions))).into_iter().collect();
    for one in alternatives(schema, definitions) {
        let word = one["const"].as_str();
        lines.extend(word.zip(text(one)).map(|(word, text)| format!("`{word}`: {}", text.replace('\n', " "))));
        for (name, of) in one["properties"].as_object().into_iter().flatten() {
            let default = of.get("default").map(|default| format!("; {default} by default")).unwrap_or_default();
            let what = text(of).map(|text| format!(". {}", text.replace('\n', " "))).unwrap_or_default();
            let line = format!("`{name}`: {}{default}{what}", type_text(of, definitions));
            if of.get("const").is_none() && !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.join("\n")
}
