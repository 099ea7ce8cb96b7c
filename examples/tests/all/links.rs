//! Checks that links lead to existing files and headings, and that the book's contents list its pages.

use crate::pages::{documents, name, pages, root};
use std::collections::BTreeSet;
use std::path::Path;

/// Numbered lines of a page without code.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut code = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            lines.push((index + 1, line.split('`').step_by(2).collect()));
        }
    }
    lines
}

/// Targets of the links in a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// Link names of headings: small letters, digits, and hyphens for spaces.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut code = false;
    let headings = text.lines().filter(|line| {
        code ^= line.starts_with("```");
        !code && line.starts_with('#')
    });
    let mut found = BTreeSet::new();
    for heading in headings {
        let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        let plain: String = words.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
        let again = (1..).map(|count| format!("{plain}-{count}"));
        let free = std::iter::once(plain.clone()).chain(again).find(|anchor| !found.contains(anchor));
        found.extend(free);
    }
    found
}

/// Reason why a link of a page is broken.
fn broken(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let to = if file.is_empty() { page.to_owned() } else { page.parent()?.join(file) };
    let Ok(to) = to.canonicalize() else { return Some(format!("there is no `{file}`")) };
    let book = root().join("book/src").canonicalize().unwrap();
    if page.canonicalize().unwrap().starts_with(&book) && !to.starts_with(&book) {
        return Some(format!("`{file}` is not in the book, so its HTML has it not"));
    }
    let anchor = anchor?;
    let there = std::fs::read_to_string(&to).is_ok_and(|text| anchors(&text).contains(anchor));
    (!there).then(|| format!("`{file}` has no heading `{anchor}`"))
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let (mut followed, mut wrong) = (0, Vec::new());
    for page in documents() {
        for (number, line) in prose(&std::fs::read_to_string(&page).unwrap()) {
            for target in targets(&line) {
                followed += 1;
                wrong.extend(broken(&page, target).map(|why| format!("{}:{number}: {why}", name(&page))));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(followed >= 50, "only {followed} were found");
}

/// An italic sentence below each picture says what it shows.
#[test]
fn every_picture_of_the_book_has_a_caption() {
    let mut pictures = 0;
    for page in pages().iter().filter(|page| !page.ends_with("README.md")) {
        let text = std::fs::read_to_string(page).unwrap();
        let mut lines = text.lines().skip_while(|line| !line.starts_with("!["));
        while let Some(picture) = lines.next() {
            if picture.starts_with("![") {
                let caption = lines.find(|line| !line.is_empty()).unwrap_or_default();
                let is_caption = caption.starts_with('*') && !caption.starts_with("**") && !caption.starts_with("* ");
                assert!(is_caption, "{}: {picture} has no caption", name(page));
                pictures += 1;
            }
        }
    }
    assert!(pictures >= 10, "only {pictures} were found");
}

/// Files and anchors of `{{#include FILE:ANCHOR}}` exist; another test checks that Rust comes from examples.
#[test]
fn what_pages_include_is_there() {
    for page in pages() {
        for line in std::fs::read_to_string(&page).unwrap().lines() {
            let Some(target) = line.trim().strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}")) else {
                continue;
            };
            let file = target.split(':').next().unwrap_or_default();
            assert!(page.parent().unwrap().join(file).is_file(), "{}: there is no {file}", name(&page));
        }
    }
}

#[test]
fn the_contents_list_every_page_of_the_book() {
    let contents = std::fs::read_to_string(root().join("book/src/SUMMARY.md")).unwrap();
    let listed: BTreeSet<&str> = contents.lines().flat_map(targets).collect();
    let book = root().join("book/src");
    let there: Vec<_> =
        pages().into_iter().filter_map(|page| Some(page.strip_prefix(&book).ok()?.to_owned())).collect();
    let there: BTreeSet<&str> =
        there.iter().filter_map(|page| page.to_str()).filter(|page| *page != "SUMMARY.md").collect();
    assert_eq!(listed, there);
}
