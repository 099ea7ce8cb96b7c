//! Pages of the book and other Markdown files of the repository, and their fenced blocks.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The README and all pages of the book.
pub fn pages() -> Vec<PathBuf> {
    let mut found = below("book/src");
    found.push(root().join("README.md"));
    found.sort();
    found
}

/// All Markdown of the repository.
pub fn documents() -> Vec<PathBuf> {
    let here = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| is_markdown(path));
    let folders = ["book/src", "crates", "examples", "plugins", "tests"];
    let mut found: Vec<PathBuf> = folders.into_iter().flat_map(below).chain(here).collect();
    found.sort();
    found
}

fn below(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if is_markdown(&path) {
                found.push(path);
            }
        }
    }
    found
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md")
}

/// A path relative to the repository.
pub fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// A fenced block: its language, the line it starts at, and its text.
pub struct CodeBlock {
    pub language: String,
    pub line: usize,
    pub text: String,
}

/// The fenced blocks of a page.
pub fn blocks(text: &str) -> Vec<CodeBlock> {
    let mut all = Vec::new();
    let mut open: Option<CodeBlock> = None;
    for (index, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => all.push(block),
            (Some(language), None) => {
                open = Some(CodeBlock { language: language.trim().into(), line: index + 1, text: String::new() });
            }
            (None, Some(mut block)) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    all
}

/// Compares a file with its generated text, or writes it with `VAGLIO_BLESS`.
pub fn blessed(path: &Path, made: &str) {
    if std::env::var_os("VAGLIO_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        return std::fs::write(path, made).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    let first = found.lines().zip(made.lines()).find(|(found, made)| found != made);
    assert!(found == made, "{}: run the tests with VAGLIO_BLESS=1; it differs first in {first:#?}", name(path));
}

/// Compares a part of a page with its generated text, or writes it with `VAGLIO_BLESS`.
pub fn remade(path: &Path, change: impl FnOnce(String) -> String) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    blessed(path, &change(std::fs::read_to_string(path).unwrap()));
}
