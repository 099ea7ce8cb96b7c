//! Pages that are made of what the program says of itself: every part with its settings. `VAGLIO_BLESS=1` writes them.

use crate::pages::{blessed, root};
use serde_json::Value;
use std::fmt::Write;
use std::process::Command;
use vaglio::pipeline::{component_fields, component_list};
use vaglio_cli as _;

/// What a cell of a table holds: alternatives are no ends of cells, lines are kept.
fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace('\n', "<br>")
}

/// A sentence of what has none of its own capital and full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str() + if text.ends_with('.') { "" } else { "." }
}

/// The settings of a part, a row each.
fn settings(fields: &[Value]) -> String {
    let mut text = String::from("\n| setting | may be | default | |\n|---|---|---|---|\n");
    for field in fields {
        let word = |key: &str| cell(field[key].as_str().unwrap_or_default());
        let default = match field.get("default") {
            Some(Value::String(default)) => format!("`{default}`"),
            Some(default) => format!("`{default}`"),
            None if field["required"] == true => "required".into(),
            None => String::new(),
        };
        writeln!(text, "| `{}` | {} | {default} | {} |", word("name"), word("type"), word("description")).unwrap();
    }
    text
}

/// The page of a role.
fn page(role: &str, title: &str) -> String {
    let mut text = format!("# {title}\n\nWhat `vaglio list` says of every {role}, with all settings.\n");
    // The examples are linked into this test as well.
    let of_role = |part: &&Value| part["role"] == role && part["crate"] != env!("CARGO_PKG_NAME");
    for part in component_list().as_array().unwrap().iter().filter(of_role) {
        let word = |key: &str| part[key].as_str().unwrap();
        let kind = word("kind");
        writeln!(text, "\n## `{kind}`\n\n{} In `{}`.\n", sentence(word("summary")), word("crate")).unwrap();
        writeln!(text, "```yaml\n{}\n```", word("example").trim_end()).unwrap();
        let fields = component_fields(role, kind);
        if let Some(fields) = fields.as_ref().and_then(Value::as_array).filter(|fields| !fields.is_empty()) {
            text += &settings(fields);
        }
    }
    text
}

#[test]
fn every_part_is_listed_with_its_settings() {
    let mut roles: Vec<String> = Vec::new();
    for part in component_list().as_array().unwrap() {
        let role = part["role"].as_str().unwrap().to_owned();
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    assert!(roles.len() >= 5, "{roles:?}");
    for role in roles {
        let (file, title) = match &*role {
            "criterion" => ("criteria", "All criteria"),
            "search" => ("searches", "All searches"),
            "learner" => ("learners", "All learners"),
            "map" => ("maps", "All maps"),
            "loss" => ("losses", "All losses"),
            "resampling" => ("splits", "All ways to hold rows out"),
            other => panic!("a page of every {other} is wanted"),
        };
        blessed(&root().join(format!("book/src/reference/parts/{file}.md")), &page(&role, title));
    }
}

/// Each block of the page is compared by another test; here it is seen to that no command is left out.
#[test]
fn every_command_has_its_options_on_the_page() {
    let program = Command::new(env!("CARGO_BIN_EXE_vaglio-of-the-book")).arg("--help").output().unwrap();
    let help = String::from_utf8(program.stdout).unwrap();
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| {
            line.strip_prefix("  ")?.split(' ').next().filter(|word| !word.is_empty() && *word != "help")
        })
        .collect();
    assert!(commands.contains(&"run"), "{help}");
    let page = std::fs::read_to_string(root().join("book/src/reference/options.md")).unwrap();
    for command in commands {
        assert!(page.contains(&format!("$ vaglio {command} --help\n")), "`{command}` is not on the page");
    }
}
