//! Every name that a library crate exports is there for somebody, and stands in a list.

use crate::common::root;
use crate::tidy::files;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Names that programs meet in signatures and fields without writing them, and laws for parts of third parties with
/// their data.
const UNWRITTEN: [&str; 3] = ["check_resampling", "series_table", "standard_problems"];

/// Crates that programs and plug-ins depend on.
const LIBRARIES: [&str; 9] =
    ["columns", "core", "document", "kernels", "maps", "pipeline", "search", "testkit", "validate"];

/// List of the public types, so that a change of them is seen in review.
const LIST: &str = "tests/public_types.txt";

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn last_word(path: &str) -> Option<&str> {
    path.rsplit("::").next()?.rsplit(" as ").next().map(str::trim).filter(|name| !["", "*"].contains(name))
}

/// Names that a module exports, by the lists of its `pub use` and by its own items.
fn exported(module: &str) -> Vec<&str> {
    let code = module.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
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

/// Names that a crate exports: those of its root and of the public modules below.
fn public_names<'t>(texts: &HashMap<String, &'t str>, folder: &str, file: &str) -> Vec<&'t str> {
    let Some(text) = texts.get(file) else { return Vec::new() };
    let mut names = exported(text);
    for module in text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')) {
        let folder = format!("{folder}{module}/");
        for file in [format!("{}.rs", folder.trim_end_matches('/')), format!("{folder}mod.rs")] {
            names.extend(public_names(texts, &folder, &file));
        }
    }
    names
}

#[test]
fn every_exported_name_is_written_in_another_crate_a_test_or_an_example() {
    let folders = ["crates", "plugins", "tests", "examples", "papers"];
    let code = folders.into_iter().flat_map(|folder| files(folder, ".rs"));
    let users: Vec<(String, String)> = code.map(|(path, text)| (path.to_string_lossy().into_owned(), text)).collect();
    let texts: HashMap<String, &str> = users.iter().map(|(path, text)| (path.clone(), &**text)).collect();
    let mut writers: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (path, text) in users.iter().filter(|(path, _)| !path.ends_with("tests/all/public_names.rs")) {
        let writer = path.split_once("/src/").map_or(&**path, |(package, _)| package);
        words(text).for_each(|word| writers.entry(word).or_default().extend([writer]));
    }
    let mut list = String::new();
    for library in LIBRARIES {
        let package = format!("crates/vaglio-{library}");
        let names = public_names(&texts, &format!("{package}/src/"), &format!("{package}/src/lib.rs"));
        let is_written = |name: &str| writers.get(name).is_some_and(|all| all.iter().any(|writer| *writer != package));
        let unused: Vec<&str> =
            names.iter().copied().filter(|name| !is_written(name) && !UNWRITTEN.contains(name)).collect();
        assert!(names.len() > 5 && unused.is_empty(), "vaglio-{library} exports {unused:?} for nobody");
        let is_type = |name: &&str| name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
        let types: BTreeSet<&str> = names.into_iter().filter(is_type).collect();
        list += &format!("vaglio-{library}: {}\n", types.len());
        types.into_iter().for_each(|name| list += &format!("  {name}\n"));
    }
    let file = root().join(LIST);
    if std::env::var_os("VAGLIO_BLESS").is_some() {
        std::fs::write(&file, &list).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == list,
        "the public types are not those of {LIST}; run the test with VAGLIO_BLESS=1 and read the difference"
    );
}
