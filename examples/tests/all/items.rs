//! Checks the words, files, tests and states that the page on the papers' items names, and the repository paths that
//! other pages name.

use crate::pages::{name, pages, root};
use crate::pipelines::pipelines;
use std::collections::BTreeMap;

/// Texts between backquotes.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_path(word: &str) -> bool {
    let folders = ["benches/", "book/", "crates/", "examples/", "papers/", "plugins/", "tests/tests/"];
    folders.iter().any(|folder| word.starts_with(folder)) && !word.contains([' ', '*', '…'])
}

/// A key of a pipeline with its value, or a command.
fn is_word(code: &str) -> bool {
    code.contains(": ") || code.starts_with("vaglio")
}

/// Possible states of an item; items that are not built are so on purpose.
const STATES: [&str; 4] = ["works", "differs", "missing", "not built"];

/// Cells of the item rows.
fn rows(text: &str) -> impl Iterator<Item = (usize, [&str; 4])> {
    text.lines().enumerate().filter_map(|(number, line)| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let cells: [&str; 4] = cells.try_into().ok()?;
        let is_item = STATES.contains(&cells[1]) && cells[0] != "paper";
        is_item.then_some((number + 1, cells))
    })
}

/// Reason why a test named by a cell, as `file`: `function`, does not exist.
fn wrong_test(cell: &str) -> Option<String> {
    let words: Vec<&str> = code(cell).collect();
    if !words.len().is_multiple_of(2) {
        return Some(format!("{cell:?} is to be files with a test each"));
    }
    words.chunks(2).find_map(|pair| {
        let text = std::fs::read_to_string(root().join(pair[0])).unwrap_or_default();
        let test = text.find(&format!("fn {}(", pair[1]));
        let is_test = test.is_some_and(|at| text[..at].trim_end().ends_with("#[test]"));
        (!is_test).then(|| format!("`{}` has no test `{}`", pair[0], pair[1]))
    })
}

/// Reason why a row lacks something that its state requires.
fn wrong(state: &str, place: &str, test: &str) -> Option<String> {
    let missing = code(place).find(|word| is_path(word) && !root().join(word).exists());
    if let Some(path) = missing {
        return Some(format!("there is no `{path}`"));
    }
    let settings = code(place).filter(|word| word.contains(": "));
    for text in settings.flat_map(pipelines) {
        if let Err(error) = vaglio::pipeline::load(&text, "the page", &[]) {
            return Some(error.to_string());
        }
    }
    match state {
        "works" if !code(place).any(is_path) => Some("what works is in a file".into()),
        "works" if !code(place).any(is_word) => Some("what works has a word".into()),
        "works" if test.is_empty() => Some("what works has a test".into()),
        _ if place.is_empty() => Some("a reason is wanted".into()),
        _ => wrong_test(test),
    }
}

#[test]
fn what_the_papers_describe_is_where_the_page_says() {
    let page = std::fs::read_to_string(root().join("book/src/explanation/items.md")).unwrap();
    let (mut wrongs, mut states) = (Vec::new(), BTreeMap::from(STATES.map(|state| (state, 0))));
    for (number, [_, state, place, test]) in rows(&page) {
        *states.get_mut(state).unwrap() += 1;
        wrongs.extend(wrong(state, place, test).map(|why| format!("line {number}: {why}")));
    }
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n"));
    let all = format!("| all | {} |", STATES.map(|state| states[state].to_string()).join(" | "));
    assert!(page.contains(&all), "the page is to say {all}");
    assert!(states["works"] >= 80, "{states:?}");
}

#[test]
fn every_path_of_the_repository_that_a_page_names_is_there() {
    let mut found = 0;
    for page in pages().into_iter().chain([root().join("BENCHMARKS.md")]) {
        let text = std::fs::read_to_string(&page).unwrap();
        for word in text.split("```").step_by(2).flat_map(code).filter(|word| is_path(word)) {
            let path = word.split(':').next().unwrap_or_default();
            assert!(root().join(path).exists(), "{}: there is no `{path}`", name(&page));
            found += 1;
        }
    }
    assert!(found >= 150, "only {found} were found");
}
