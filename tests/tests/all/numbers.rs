//! Numbers in pipelines that people copy are numbers to every reader of YAML.

use crate::common::root;
use std::path::{Path, PathBuf};
use vaglio_pipeline::document::Node;

/// Files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The blocks of YAML in a page.
fn blocks(page: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.trim() {
            "```yaml" => {
                inside = true;
                out.push(String::new());
            }
            "```" => inside = false,
            _ if inside => *out.last_mut().unwrap() += &format!("{line}\n"),
            _ => {}
        }
    }
    out
}

/// Whether YAML 1.1 takes a scalar for a float: it has a point, and its exponent a sign.
fn is_old_float(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "+0"));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    mantissa.split_once('.').is_some_and(|(whole, rest)| digits(whole) && digits(rest) && mantissa.len() > 1)
        && exponent.strip_prefix(['-', '+']).is_some_and(|exponent| !exponent.is_empty() && digits(exponent))
}

fn check(node: &Node, file: &str) {
    if let Some(text) = node.text() {
        let is_float = node.read().is_ok_and(|value: serde_json::Value| value.is_f64());
        assert!(!is_float || is_old_float(text), "{file}: {text} is text to YAML 1.1");
    }
    node.children().into_iter().for_each(|child| check(child, file));
}

#[test]
fn numbers_are_numbers_to_yaml_1_1() {
    assert!(is_old_float("1.0e-7") && is_old_float(".5") && !is_old_float("1e-3") && !is_old_float("1.0e3"));
    let mut found = 0;
    let paths = ["examples/pipelines", "examples/cookbook", "book/src"].iter().flat_map(|f| files(&root().join(f)));
    for path in paths.chain([root().join("README.md")]) {
        let texts = match path.extension().and_then(|ending| ending.to_str()) {
            Some("yaml") => vec![std::fs::read_to_string(&path).unwrap()],
            Some("md") => blocks(&std::fs::read_to_string(&path).unwrap()),
            _ => Vec::new(),
        };
        for text in texts {
            // Parts of a page that are no document, such as those with `…`, are for eyes.
            if let Ok(document) = Node::parse(&text, "") {
                check(&document, &path.display().to_string());
                found += 1;
            }
        }
    }
    assert!(found > 80, "{found}");
    for part in vaglio_pipeline::pipeline::component_list() {
        let document = Node::parse(part["example"].as_str().unwrap(), "").unwrap();
        check(&document, part["kind"].as_str().unwrap());
    }
}
