//! Workflows of the continuous integration are YAML, and name scripts, manifests and packages that exist.

use crate::common::root;
use vaglio_pipeline::document::Node;

/// The words that follow a flag in a text.
fn values<'a>(text: &'a str, flag: &'a str) -> impl Iterator<Item = &'a str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let pairs: Vec<&str> = words.windows(2).filter(|pair| pair[0] == flag).map(|pair| pair[1]).collect();
    pairs.into_iter()
}

#[test]
fn workflows_name_what_there_is() {
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut found = 0;
    for entry in std::fs::read_dir(root().join(".github/workflows")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let workflow = Node::parse(&text, "workflow").unwrap();
        for key in ["name", "on", "permissions", "jobs"] {
            assert!(workflow.get(key).is_some(), "{}: {key}", path.display());
        }
        for file in text.split_whitespace().filter(|word| word.starts_with(".ci/")) {
            assert!(root().join(file).is_file(), "{}: {file}", path.display());
        }
        for manifest in values(&text, "--manifest-path") {
            assert!(root().join(manifest).is_file(), "{}: {manifest}", path.display());
        }
        for package in values(&text, "-p") {
            assert!(workspace.contains(&format!("\n{package} = {{ path")), "{}: {package}", path.display());
        }
        for action in text.lines().filter(|line| line.contains("uses: ")) {
            assert!(action.contains('@'), "{}: {action} has no version", path.display());
        }
        found += 1;
    }
    assert!(found >= 3, "{found}");
}
