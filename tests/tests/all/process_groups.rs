//! One search that several processes make together is that of one process.
#![cfg(unix)]

use crate::common::{Folder, Ran, case_stride};
use crate::shards::{expect, folder_of, merges_to_one_run};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Searches whose numbers are made by parts of the columns.
const SEARCHES: [&str; 5] = [
    "criterion: nhsic\nsearch: {kind: lars, max_features: 6, choose: last}",
    "criterion: {kind: nhsic, kernel: {approximation: levels}}\nsearch: {kind: greedy, max_features: 5, choose: last}",
    "criterion: {kind: nhsic, normalize: false}\nsearch: {kind: floating, max_features: 4, choose: last}",
    "criterion: nhsic\nsearch: {kind: greedy, max_features: 5, choose: {folds: 3}}\nlearner: {kind: rls, lambda: 0.5}\n# classes",
    "criterion: nhsic\nsearch: {kind: floating, max_features: 4, choose: {folds: 3}}\nlearner: {kind: rls, lambda: 0.5}\nevaluate: {stability: {pairs: 1}, permutations: 2}",
];

fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = folder.command(&[&["shard"], arguments].concat());
    // Short questions are parted as well.
    command.env("VAGLIO_JOURNAL", "every");
    command
}

fn shard(folder: &Folder, arguments: &[&str]) -> Ran {
    crate::common::ran(&mut command(folder, arguments))
}

fn index(folder: &Folder, index: usize) -> Ran {
    shard(folder, &["run", "ledger", "--index", &index.to_string()])
}

fn spawn(folder: &Folder, index: usize) -> Child {
    let mut command = command(folder, &["run", "ledger", "--index", &index.to_string(), "--threads", "1"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Ends all indexes that are not, and compares with a run of one process.
fn ends_as_one_run(folder: &Folder, of: usize, what: &str) {
    (0..2).for_each(|_| (0..of).for_each(|at| drop(index(folder, at))));
    merges_to_one_run(folder, what);
    assert!(!folder.path("ledger/parts").exists(), "{what}");
}

#[test]
fn processes_make_one_search_together() {
    for (place, search) in SEARCHES.iter().enumerate() {
        let folder = folder_of(&format!("together-{place}"), search, (60, 40));
        let of = 2 + place % 2;
        let planned = shard(&folder, &["plan", "p.yaml", "--of", &of.to_string(), "ledger"]);
        let parts = if of == 2 { "1 parts of the search" } else { "2 parts of the search" };
        assert!(planned.code == Some(0) && planned.out.contains(parts), "{}{}", planned.out, planned.err);
        let all: Vec<Child> = (0..of).map(|at| spawn(&folder, at)).collect();
        all.into_iter().for_each(|mut process| assert!(process.wait().unwrap().code().is_some()));
        ends_as_one_run(&folder, of, search);
    }
}

/// Parts of the search that an earlier process made are used: all of them, if it ran alone.
#[test]
fn the_parts_of_one_that_came_first_are_those_of_the_result() {
    for (place, search) in SEARCHES.iter().enumerate().take(4) {
        let folder = folder_of(&format!("together-first-{place}"), search, (60, 40));
        expect(&shard(&folder, &["plan", "p.yaml", "--of", "2", "ledger"]), 0);
        expect(&index(&folder, 1), 0);
        assert!(folder.path("ledger/parts/1.0").exists(), "{search}");
        ends_as_one_run(&folder, 2, search);
    }
}

/// Each search loses one of its processes in turn; with `VAGLIO_CASES=all`, both.
#[test]
fn processes_that_are_killed_on_the_way_cost_nothing_but_time() {
    for (place, search) in [SEARCHES[1], SEARCHES[3]].iter().enumerate() {
        let stride = case_stride(2);
        for killed in (place % stride..2).step_by(stride) {
            let folder = folder_of(&format!("together-killed-{place}-{killed}"), search, (300, 120));
            expect(&shard(&folder, &["plan", "p.yaml", "--of", "2", "ledger"]), 0);
            let mut all = [spawn(&folder, 0), spawn(&folder, 1)];
            let file = folder.path(&format!("ledger/parts/{killed}.0"));
            let begun = Instant::now();
            let length = || std::fs::metadata(&file).map_or(0, |of| of.len());
            while length() < 2000 && all[killed].try_wait().unwrap().is_none() {
                assert!(begun.elapsed() < Duration::from_secs(60), "{search}");
                std::thread::sleep(Duration::from_millis(1));
            }
            let _ = all[killed].kill();
            all.iter_mut().for_each(|process| assert!(process.wait().is_ok()));
            ends_as_one_run(&folder, 2, search);
        }
    }
}

#[test]
fn searches_without_parts_are_units_as_before() {
    for search in [
        "search: {kind: greedy, max_features: 3}",
        "criterion: {kind: loo, loss: absolute}\nsearch: {kind: greedy, max_features: 3, choose: best}",
        "criterion: nhsic\nsearch: {kind: greedy, max_features: 3, choose: last}\ntune: {method: nelder_mead, budget: 3, parameters: {learner.lambda: {from: 0.01, to: 10}}}\nlearner: {kind: rls, lambda: 1.0}",
    ] {
        let folder = folder_of("together-none", search, (48, 6));
        let planned = shard(&folder, &["plan", "p.yaml", "--of", "2", "ledger"]);
        assert!(!planned.out.contains("parts of the search"), "{}", planned.out);
    }
}
