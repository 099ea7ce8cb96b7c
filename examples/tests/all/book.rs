//! Tests of the book and the README: every command is run, every piece of Rust is compiled.

use crate::pages::{self, CodeBlock, blocks, pages, root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_testkit::tries_all_cases;

/// Pages whose commands take more than half of the time of all.
const SLOW: [&str; 4] = ["cookbook/salaries.md", "cookbook/sensors.md", "cookbook/spectrum.md", "learners/elm.md"];

/// A command with the output that the page shows for it.
fn commands(text: &str) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (Some(command), _) => all.push((command.to_owned(), Vec::new())),
            (None, Some((_, shown))) => shown.push(line.to_owned()),
            (None, None) => {}
        }
    }
    all
}

/// Compares a shown line: one that ends in `…` matches any line that starts so. Trailing spaces do not count.
fn same(shown: &str, printed: &str) -> bool {
    match shown.trim_end().strip_suffix('…') {
        Some(start) => printed.starts_with(start),
        None => shown.trim_end() == printed.trim_end(),
    }
}

/// A folder with everything that the pages' relative paths name.
fn workplace(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("book-{name}"));
    let _ = std::fs::remove_dir_all(&place);
    for folder in ["examples/cookbook", "examples/data", "examples/peers", "examples/pipelines"] {
        let to = place.join(folder);
        std::fs::create_dir_all(&to).unwrap();
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    place
}

/// Runs the commands of a block and returns the block as it should be; correct lines that end in `…` stay.
fn shown_again(block: &CodeBlock, place: &Path, name: &str) -> String {
    let fails = block.language == "console,fails";
    let mut again = String::new();
    for (command, shown) in commands(&block.text) {
        let mut words = command.split_whitespace();
        assert_eq!(words.next(), Some("vaglio"), "{name}:{}: {command}", block.line);
        let done = Command::new(env!("CARGO_BIN_EXE_vaglio-of-the-book"))
            .args(words)
            .current_dir(place)
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let errors = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.success(), !fails, "{name}:{}: {command}\n{errors}", block.line);
        let printed = if fails { errors } else { String::from_utf8(done.stdout).unwrap() };
        let printed = printed.replace("vaglio-of-the-book", "vaglio");
        again += &format!("$ {command}\n");
        for printed in printed.trim_end().lines() {
            let kept = shown.iter().find(|shown| same(shown, printed));
            again += &format!("{}\n", kept.map_or(printed, String::as_str).trim_end());
        }
    }
    again
}

/// Runs the commands of a page in order; returns the number of blocks.
fn run(page: &Path) -> usize {
    let name = pages::name(page);
    let text = std::fs::read_to_string(page).unwrap();
    let is_run = |block: &CodeBlock| block.language.starts_with("console") && block.text.starts_with("$ vaglio ");
    let run: Vec<CodeBlock> = blocks(&text).into_iter().filter(is_run).collect();
    if !run.is_empty() {
        let place = workplace(&name.replace(['/', '.'], "-"));
        let again: Vec<String> = run.iter().map(|block| shown_again(block, &place, &name)).collect();
        let replace = |text: String, (block, again): (&CodeBlock, &String)| text.replacen(&block.text, again, 1);
        pages::remade(page, |text| run.iter().zip(&again).fold(text, replace));
    }
    run.len()
}

/// Runs blocks of `console` that start with `$ vaglio`, in page order. `console,fails` shows standard error of a
/// command with a nonzero exit code. `VAGLIO_BLESS=1` writes the output to the page. Slow pages are run with
/// `VAGLIO_BLESS=1` or `VAGLIO_CASES=all`.
#[test]
fn every_command_prints_what_the_page_shows() {
    let (mut pages, next) = (pages(), AtomicUsize::new(0));
    assert!(SLOW.iter().all(|slow| pages.iter().any(|page| page.ends_with(slow))), "a slow page is gone");
    if !tries_all_cases() && std::env::var_os("VAGLIO_BLESS").is_none() {
        pages.retain(|page| !SLOW.iter().any(|slow| page.ends_with(slow)));
    }
    let pages_in_turn = || {
        let turns = std::iter::from_fn(|| pages.get(next.fetch_add(1, Ordering::Relaxed)));
        turns.map(|page| run(page)).sum::<usize>()
    };
    // More at once would only take the processors from other tests.
    let count = std::thread::available_parallelism().map_or(2, usize::from);
    let blocks: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(pages_in_turn)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(blocks >= 5, "only {blocks} blocks were found");
}

/// The part of an example between `ANCHOR: name` and `ANCHOR_END: name`.
fn anchored(file: &Path, anchor: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let (start, end) = (format!("// ANCHOR: {anchor}"), format!("// ANCHOR_END: {anchor}"));
    let part: Vec<&str> =
        text.lines().skip_while(|l| l.trim() != start).skip(1).take_while(|l| l.trim() != end).collect();
    (!part.is_empty() && text.contains(&end)).then(|| part.join("\n"))
}

/// The book includes Rust only from the example programs, and complete files that `vaglio new-plugin` writes; both are
/// compiled and tested.
#[test]
fn rust_in_the_book_comes_from_examples() {
    for page in pages().iter().filter(|p| !p.ends_with("README.md")) {
        for block in blocks(&std::fs::read_to_string(page).unwrap()) {
            if !block.language.starts_with("rust") || block.language.contains("ignore") {
                continue;
            }
            let place = format!("{}:{}", page.display(), block.line);
            let include = block.text.trim().strip_prefix("{{#include ").and_then(|t| t.strip_suffix("}}"));
            let include = include.unwrap_or_else(|| panic!("{place}: pasted code"));
            let whole = include.starts_with("../../../crates/vaglio-cli/template/");
            let (file, anchor) = include.split_once(':').unwrap_or((include, ""));
            let file = page.parent().unwrap().join(file);
            let found = if whole { file.is_file() } else { anchored(&file, anchor).is_some() };
            assert!(found, "{place}: {} has no anchor `{anchor}`", file.display());
        }
    }
}

/// A README cannot include files, so its Rust is compared with the examples.
#[test]
fn rust_in_the_readme_comes_from_examples() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let shown = blocks(&text).into_iter().filter(|block| block.language.starts_with("rust"));
    let shown: Vec<String> = shown.map(|block| block.text.trim_end().to_owned()).collect();
    let example = |file: &str, anchor: &str| anchored(&root().join(file), anchor).unwrap().trim_end().to_owned();
    let examples = [example("examples/quickstart.rs", "select"), example("examples/own_criterion.rs", "definition")];
    assert_eq!(shown, examples, "in README.md");
}
