//! Rules of names and sentences that a machine can check.

use crate::tidy::files;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Words that point at a line that the reader may not have read.
const POINTERS: [&str; 12] = [
    "The same ",
    "Those ",
    "That of ",
    "That which ",
    "These ",
    "What ",
    "Whose ",
    "Its ",
    "Of a ",
    "Of the ",
    "With what ",
    "With whose ",
];

/// Source files of the crates and plug-ins, without tests.
fn source() -> impl Iterator<Item = (PathBuf, String)> {
    let all = ["crates", "plugins"].into_iter().flat_map(|folder| files(folder, ".rs"));
    let is_source = |path: &PathBuf| {
        let name = path.to_string_lossy();
        name.contains("/src/") && !name.contains("/tests/") && !name.ends_with("tests.rs")
    };
    all.filter(move |(path, _)| is_source(path)).map(|(path, text)| {
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
        (path, code)
    })
}

/// Places of the lines that a rule forbids.
fn offences(is_forbidden: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in source() {
        let lines = text.lines().enumerate().filter(|(_, line)| is_forbidden(line));
        found.extend(lines.map(|(number, line)| format!("{}:{}: {}", path.display(), number + 1, line.trim())));
    }
    found
}

#[test]
fn documentation_names_its_subject() {
    let is_pointer = |line: &str| {
        let doc = ["/// ", "//! "].iter().find_map(|mark| line.trim_start().strip_prefix(mark));
        doc.is_some_and(|words| POINTERS.iter().any(|pointer| words.starts_with(pointer)))
    };
    let found = offences(is_pointer);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_function_is_called_of() {
    let found = offences(|line| {
        let name =
            line.split_once("fn ").map(|(_, rest)| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
        name.flatten().is_some_and(|name| name == "of" || name.starts_with("of_"))
            && !line.trim_start().starts_with("//")
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_parameter_is_a_tuple() {
    let mut found = Vec::new();
    for (path, text) in source() {
        let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for rest in code.join("\n").split("fn ").skip(1) {
            let signature = rest.split(" {").next().and_then(|head| head.split(";\n").next()).unwrap_or_default();
            if signature.contains(": (") || signature.replace("&(dyn", "").contains(": &(") {
                found.push(format!("{}: fn {}", path.display(), signature.split('(').next().unwrap_or_default()));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_type_name_is_defined_once() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in source() {
        for line in text.lines() {
            let rest = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            let rest = rest.trim_start_matches("pub(super) ");
            let name = ["struct ", "enum ", "trait "].iter().find_map(|word| rest.strip_prefix(word));
            let name = name.and_then(|name| name.split(|c: char| !c.is_alphanumeric()).next());
            if let Some(name) = name.filter(|name| name.starts_with(|c: char| c.is_uppercase())) {
                places.entry(name.to_owned()).or_default().push(path.display().to_string());
            }
        }
    }
    // Two back ends of one file, and the trait behind a registry.
    for twin in ["Reflections", "SearchStrategy"] {
        assert_eq!(places.remove(twin).map(|places| places.len()), Some(2), "{twin}");
    }
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "{places:#?}");
}
