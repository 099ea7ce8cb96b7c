//! `vaglio list`: the parts of this build, and all settings of one.

use crate::commands::{Done, pretty, print_result};
use serde_json::Value;
use std::fmt::Write;
use vaglio::core::Error;
use vaglio_pipeline::pipeline;

/// Lists all parts, the parts of a role, or the parts of a kind with their settings.
pub fn list(kind: Option<&str>, json: bool) -> Done {
    let all = pipeline::component_list();
    let Some(wanted) = kind else { return overview(all, json) };
    let parts_by = |key: &str| -> Vec<Value> { all.iter().filter(|part| part[key] == wanted).cloned().collect() };
    let parts_of_role = parts_by("role");
    if !parts_of_role.is_empty() {
        return overview(parts_of_role, json);
    }
    let mut parts = parts_by("kind");
    if parts.is_empty() {
        let known = all.iter().flat_map(|part| [word(part, "role"), word(part, "kind")]);
        return Err(Error::unknown("KIND", "part", wanted, known).into());
    }
    for part in &mut parts {
        if let Some(fields) = pipeline::component_fields(word(part, "role"), wanted) {
            part["fields"] = fields;
        }
    }
    if json {
        return pretty(&Value::Array(parts));
    }
    print_result(&parts.iter().map(detail).collect::<Vec<_>>().join("\n"))
}

fn overview(parts: Vec<Value>, json: bool) -> Done {
    if json {
        return pretty(&Value::Array(parts));
    }
    let mut text = String::new();
    for part in &parts {
        let word = |key: &str| word(part, key);
        let example = word("example").replace('\n', &format!("\n{:29}", ""));
        let _ = writeln!(text, "{:<10} {:<17} {}", word("role"), word("kind"), word("summary"));
        let _ = writeln!(text, "{:<10} {:<17} {} {}; {}", "", "", word("crate"), word("version"), example);
    }
    print_result(&text)
}

/// Describes a part and its settings, in a few lines each.
fn detail(part: &Value) -> String {
    let word = |key: &str| word(part, key);
    let mut text = format!("{} {}: {}\n", word("role"), word("kind"), word("summary"));
    let _ = writeln!(text, "{} {}", word("crate"), word("version"));
    word("example").lines().for_each(|line| text += &format!("    {line}\n"));
    for field in part["fields"].as_array().map_or(&[][..], |fields| fields) {
        let default = match field.get("default") {
            Some(Value::String(default)) => format!("{default} by default"),
            Some(default) => format!("{default} by default"),
            None if field["required"] == true => "required".into(),
            None => "optional".into(),
        };
        let _ = writeln!(text, "\n{}: {}; {default}", self::word(field, "name"), self::word(field, "type"));
        self::word(field, "description").lines().for_each(|line| text += &format!("    {line}\n"));
    }
    text
}

fn word<'a>(part: &'a Value, key: &str) -> &'a str {
    part.get(key).and_then(Value::as_str).unwrap_or_default()
}
