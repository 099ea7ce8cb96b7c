//! Runs that several processes share end as one process would.
#![cfg(unix)]

use crate::common::{Folder, Ran, case_stride, pipeline, table, third, timeless};
use std::process::Stdio;
use std::time::{Duration, Instant};
use vaglio_testkit::SplitMix64;

const EVALUATE: &str = "evaluate: {nested: {folds: 3}, permutations: 3, stability: {pairs: 2}, learning_curve: true}";

/// Searches with criteria, on numbers or on classes.
const CELLS: [&str; 8] = [
    "search: {kind: greedy, max_features: 3}",
    "search: {kind: floating, max_features: 3, choose: {folds: 3, repeats: 2}}\nlearner: {kind: rls, lambda: {grid: {from: 0.1, to: 10, points: 3}}}",
    "criterion: {kind: kfold, folds: 3}\nsearch: {kind: backward, choose: {folds: 3}}\nlearner: {kind: rls, lambda: 1.0}",
    "search: {kind: exhaustive, max_features: 3, choose: best}",
    "criterion: nhsic\nsearch: {kind: lars, max_features: 3, choose: {folds: 3}}",
    "search: {kind: race, of: [{kind: greedy, max_features: 3}, {kind: backward}], choose: {folds: 3}}",
    "criterion: {kind: loo, loss: zero_one}\nsearch: {kind: greedy, max_features: 2, choose: {folds: 3}}\n# classes",
    "tune: {method: nelder_mead, budget: 6, parameters: {learner.lambda: {from: 0.01, to: 10}}}\nlearner: {kind: rls, lambda: 1.0}\nsearch: {kind: greedy, max_features: 2, choose: {folds: 3}}",
];

fn folder(name: &str, lines: &str, rows: usize) -> Folder {
    folder_of(name, lines, (rows, 6))
}

/// A pipeline, on numbers or on classes, and a table of so many rows and columns.
pub(crate) fn folder_of(name: &str, lines: &str, (rows, columns): (usize, usize)) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(rows, columns, &[("class", &third)]));
    let target =
        if lines.contains("# classes") { "target: class, exclude: [y]" } else { "target: y, exclude: [class]" };
    folder.write("p.yaml", pipeline(lines).replace("target: y", target));
    folder
}

pub(crate) fn expect(ran: &Ran, code: i32) {
    assert_eq!(ran.code, Some(code), "{}{}", ran.out, ran.err);
}

fn shard(folder: &Folder, arguments: &[&str]) -> Ran {
    folder.vaglio(&[&["shard"], arguments].concat())
}

fn index(folder: &Folder, index: usize) -> Ran {
    shard(folder, &["run", "ledger", "--index", &index.to_string()])
}

/// Merges, and compares with a run of one process.
pub(crate) fn merges_to_one_run(folder: &Folder, what: &str) {
    expect(&shard(folder, &["merge", "ledger", "--quiet"]), 0);
    expect(&folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "local"]), 0);
    let [a, b] = ["local", "ledger"].map(|at| timeless(folder.json(&format!("{at}/selection.json"))));
    assert!(a == b, "{what}\n{a:#}\n{b:#}");
    for file in ["model.json", "resolved.yaml"] {
        let [a, b] = ["local", "ledger"].map(|at| folder.read(&format!("{at}/{file}")));
        assert_eq!(a, b, "{what}: {file}");
    }
}

#[test]
fn merged_runs_are_those_of_one_process() {
    for (place, cell) in CELLS.iter().enumerate().step_by(case_stride(3)) {
        let folder = folder(&format!("shards-{place}"), &format!("{cell}\n{EVALUATE}"), 48);
        let of = 1 + place / 2 % 4;
        expect(&shard(&folder, &["plan", "p.yaml", "--of", &of.to_string(), "ledger"]), 0);
        // Halves wait where the search comes last.
        for at in (0..of).rev() {
            let ran = index(&folder, at);
            assert!(ran.code == Some(0) || (at > 0 && ran.code == Some(5)), "{cell}\n{}", ran.err);
            assert!(ran.code == Some(0) || ran.err.contains("for the search of index 0"), "{}", ran.err);
        }
        for at in 0..of {
            expect(&index(&folder, at), 0);
        }
        merges_to_one_run(&folder, cell);
    }
}

#[test]
fn an_index_that_waits_is_done_once_the_search_is() {
    let folder =
        folder("shards-wait", "search: {kind: greedy, max_features: 3}\nevaluate: {stability: {pairs: 2}}", 48);
    expect(&shard(&folder, &["plan", "p.yaml", "--of", "2", "ledger"]), 0);
    let mut waiting = folder
        .command(&["shard", "run", "ledger", "--index", "1", "--wait", "2m"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    expect(&index(&folder, 0), 0);
    assert!(waiting.wait().unwrap().success());
    merges_to_one_run(&folder, "waiting");
}

/// Kills processes at random moments until all indexes are done; `VAGLIO_SHARD_KILLS` sets how often at least.
#[test]
fn killed_indexes_go_on() {
    let least: usize = std::env::var("VAGLIO_SHARD_KILLS").map_or(3, |count| count.parse().unwrap());
    let (mut kills, mut runs, mut random) = (0, 0, SplitMix64::new(5));
    while kills < least {
        let lines = "search: {kind: greedy, max_features: 5, choose: {folds: 5}}\nlearner: {kind: rls, lambda: {grid: {from: 0.1, to: 10, points: 3}}}\nevaluate: {nested: {folds: 4}, permutations: 10, stability: {pairs: 2}}";
        let folder = folder(&format!("shards-killed-{runs}"), lines, 300);
        runs += 1;
        expect(&shard(&folder, &["plan", "p.yaml", "--of", "2", "ledger"]), 0);
        for at in 0..2 {
            let takes = Duration::from_millis(100);
            for attempt in 0.. {
                let at = at.to_string();
                let arguments = ["shard", "run", "ledger", "--index", &at];
                let mut child = folder.command(&arguments).stderr(Stdio::null()).spawn().unwrap();
                // Later attempts have more time, so that the test ends.
                std::thread::sleep(takes.mul_f64(random.uniform() * f64::from(attempt + 1)));
                let _ = child.kill();
                let done = child.wait().unwrap();
                if done.success() {
                    break;
                }
                kills += usize::from(done.code().is_none());
            }
        }
        merges_to_one_run(&folder, &format!("{kills} kills"));
    }
    println!("{kills} kills in {runs} runs");
}

#[test]
fn what_is_missing_or_of_another_run_is_refused() {
    let folder = folder(
        "shards-refused",
        "search: {kind: greedy, max_features: 2, choose: last}\nevaluate: {permutations: 4}",
        48,
    );
    let says = |ran: &Ran, code: i32, words: &[&str]| {
        expect(ran, code);
        assert!(words.iter().all(|word| ran.err.contains(word)), "{}", ran.err);
    };
    says(&index(&folder, 0), 3, &["there is no plan here"]);
    expect(&shard(&folder, &["plan", "p.yaml", "--of", "2", "ledger"]), 0);
    // The same plan again changes nothing.
    expect(&shard(&folder, &["plan", "p.yaml", "--of", "2", "ledger"]), 0);
    says(&shard(&folder, &["plan", "p.yaml", "--of", "3", "ledger"]), 2, &["another number of indexes"]);
    says(&shard(&folder, &["plan", "p.yaml", "--of", "2", "ledger", "--set", "seed=1"]), 2, &["another pipeline"]);
    says(&shard(&folder, &["plan", "p.yaml", "--of", "0", "other"]), 2, &["--of"]);
    says(&index(&folder, 2), 2, &["there is no index 2"]);
    expect(&index(&folder, 0), 0);
    says(&shard(&folder, &["merge", "ledger"]), 2, &["1 of 2 indexes are not done", "index 1", "`permutations/0`"]);
    assert!(!folder.path("ledger/selection.json").exists());

    // A done index reads no data.
    let data = folder.read("train.csv");
    folder.write("train.csv", data.replacen("0.", "1.", 1));
    expect(&index(&folder, 0), 0);
    says(&index(&folder, 1), 2, &["the data have changed"]);
    folder.write("train.csv", data);
    expect(&index(&folder, 1), 0);

    // A torn file, an altered one, and one of another build.
    let whole = folder.read("ledger/shards/1.jsonl");
    let lines = whole.lines().count();
    let torn: String = whole.split_inclusive('\n').take(lines - 1).collect();
    folder.write("ledger/shards/1.jsonl", torn);
    says(&shard(&folder, &["merge", "ledger"]), 2, &["shards/1.jsonl", "is cut short", "does its index again"]);
    folder.write("ledger/shards/1.jsonl", whole.replacen("0.", "1.", 1));
    says(&shard(&folder, &["merge", "ledger"]), 2, &["was altered after it was written"]);
    folder.write("ledger/shards/1.jsonl", &whole);
    let plan = folder.read("ledger/shards.json");
    let build = folder.json("ledger/shards.json")["build"].as_str().unwrap().to_owned();
    folder.write("ledger/shards.json", plan.replace(&build, "0.1.0 another"));
    says(&shard(&folder, &["merge", "ledger"]), 2, &["it was planned by build 0.1.0 another"]);
    says(&index(&folder, 1), 2, &["need the build that planned"]);
    folder.write("ledger/shards.json", &plan[..plan.len() / 2]);
    says(&shard(&folder, &["status", "ledger"]), 3, &["it is damaged"]);
    folder.write("ledger/shards.json", plan);
    let status = shard(&folder, &["status", "ledger", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&status.out).unwrap();
    assert_eq!(status[1], serde_json::json!({"index": 1, "state": "done", "units": 2, "done": 2}));
    merges_to_one_run(&folder, "refused");
}

#[test]
fn one_process_at_a_time_runs_an_index() {
    let lines = "search: {kind: greedy, choose: best}\nevaluate: {permutations: 2000}";
    let folder = folder("shards-two", lines, 300);
    expect(&shard(&folder, &["plan", "p.yaml", "--of", "1", "ledger"]), 0);
    let mut first = folder.command(&["shard", "run", "ledger", "--index", "0"]).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !folder.path("ledger/shards/0/journal.jsonl").exists() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = index(&folder, 0);
    let _ = first.kill();
    first.wait().unwrap();
    assert!(second.err.contains("another process runs index 0"), "{}", second.err);
    expect(&second, 3);
}

#[test]
fn a_plan_says_what_stays_idle() {
    let folder = folder("shards-idle", "search: {kind: greedy, max_features: 2, choose: best}", 48);
    let plan = shard(&folder, &["plan", "p.yaml", "--of", "4", "ledger"]);
    assert!(plan.out.starts_with("1 unit in 4 indexes: 1 search\n"), "{}", plan.out);
    assert!(plan.out.contains("--of 4 leaves 3 indexes idle"), "{}", plan.out);
    (0..4).for_each(|at| expect(&index(&folder, at), 0));
    merges_to_one_run(&folder, "idle");
}
