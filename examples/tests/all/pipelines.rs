//! Checks that the program accepts every pipeline shown.

use crate::pages::{blocks, documents, name};
use std::collections::BTreeSet;

/// Complete pipelines that a block shows: its maps become `preprocess`, missing required keys are added, and repeated
/// keys become separate alternatives.
pub fn pipelines(text: &str) -> Vec<String> {
    let text = match text.chars().next() {
        Some('-') => format!("preprocess:\n{text}"),
        Some('{') => text.lines().fold("preprocess:\n".into(), |all, line| format!("{all}- {line}\n")),
        _ => text.to_owned(),
    };
    let mut all = vec![(BTreeSet::new(), String::new())];
    for line in text.lines() {
        let key = line.split(':').next().filter(|key| key.starts_with(char::is_alphabetic));
        if key.is_some_and(|key| all.last().unwrap().0.contains(key)) {
            all.push((BTreeSet::new(), String::new()));
        }
        let (keys, text) = all.last_mut().unwrap();
        keys.extend(key.map(str::to_owned));
        *text += &format!("{line}\n");
    }
    let whole = |(keys, text): (BTreeSet<String>, String)| {
        let needed = [("version", "version: 1\n"), ("data", "data: {train: table.csv, target: y}\n")];
        let missing: String = needed.iter().filter(|(key, _)| !keys.contains(*key)).map(|(_, line)| *line).collect();
        missing + &text
    };
    all.into_iter().map(whole).collect()
}

#[test]
fn every_pipeline_that_is_shown_is_one() {
    // A page shows external programs as parts.
    vaglio_external::allow_programs();
    let mut read = 0;
    for page in documents() {
        let shown = blocks(&std::fs::read_to_string(&page).unwrap());
        for block in shown.iter().filter(|block| block.language == "yaml" && !block.text.starts_with("{{#include ")) {
            for text in pipelines(&block.text) {
                let place = format!("{}:{}", name(&page), block.line);
                let loaded = vaglio::pipeline::load(&text, &place, &[]);
                assert!(loaded.is_ok(), "{place}: {}\n{text}", loaded.err().unwrap());
                read += 1;
            }
        }
    }
    assert!(read >= 30, "only {read} were found");
}
