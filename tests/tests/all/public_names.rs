//! Every name that a library crate exports is there for somebody.

use crate::tidy::files;
use std::collections::HashSet;

/// Names that programs meet in signatures and fields without writing them, and laws for parts of third parties.
const UNWRITTEN: [&str; 4] = ["AtMost", "Moves", "PartSetting", "check_resampling"];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn last_word(path: &str) -> Option<&str> {
    path.rsplit("::").next().map(str::trim).filter(|name| !name.is_empty())
}

/// Names that a crate's root exports, by the lists of its `pub use` and by its own items.
fn exported(root: &str) -> Vec<&str> {
    let code = root.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let uses = code.split("\npub use ").skip(1).filter_map(|rest| rest.split(';').next());
    let listed =
        uses.flat_map(|list| list.split(['{', ',', '}'])).filter(|path| !path.ends_with("::")).filter_map(last_word);
    let items = ["fn", "struct", "enum", "trait", "type"];
    let own = code.lines().filter_map(|line| {
        let (kind, rest) = line.strip_prefix("pub ")?.split_once(' ')?;
        items.contains(&kind).then(|| words(rest).next()).flatten()
    });
    listed.chain(own).collect()
}

#[test]
fn every_exported_name_is_written_in_another_crate_a_test_or_an_example() {
    let folders = ["crates", "plugins", "tests", "examples", "papers"];
    let code = folders.into_iter().flat_map(|folder| files(folder, ".rs"));
    let users: Vec<(String, String)> = code.map(|(path, text)| (path.to_string_lossy().into_owned(), text)).collect();
    for library in ["columns", "core", "kernels", "search", "testkit", "validate"] {
        let source = format!("crates/vaglio-{library}/src/");
        let root = format!("{source}lib.rs");
        let written: HashSet<&str> = users
            .iter()
            .filter(|(path, _)| !path.starts_with(&source) && !path.ends_with("tests/all/public_names.rs"))
            .flat_map(|(_, text)| words(text))
            .collect();
        let (_, text) = users.iter().find(|(path, _)| *path == root).expect("a root");
        let names = exported(text);
        let unused: Vec<&str> =
            names.iter().copied().filter(|name| !written.contains(name) && !UNWRITTEN.contains(name)).collect();
        assert!(names.len() > 5 && unused.is_empty(), "vaglio-{library} exports {unused:?} for nobody");
    }
}
