//! Runs that are killed, stopped or run into limits: nothing that was there is lost, and `--resume` ends them as if nothing
//! had happened.
#![cfg(unix)]

use crate::common::{Folder, Ran, case_stride, pipeline, ran, table, timeless};
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use vaglio_testkit::SplitMix64;

/// Searches of up to a second where they are optimized, with the rows and columns of their tables.
const SEARCHES: [(&str, (usize, usize)); 5] = [
    ("criterion: {kind: loo, loss: zero_one}\nsearch: {kind: greedy, max_features: 100, choose: best}", (1500, 200)),
    (
        "criterion: {kind: loo, loss: zero_one}\nsearch: {kind: floating, max_features: 25, tolerance: -1.0, choose: {rule: best, folds: 3}}",
        (1500, 200),
    ),
    ("search: {kind: exhaustive, max_features: 5, choose: best}\nlearner: crrr", (100, 20)),
    (
        "criterion: nhsic\nsearch: {kind: lars, max_features: 20, choose: {rule: best, folds: 4}}\nevaluate: {stability: {pairs: 2}}",
        (300, 60),
    ),
    (
        "criterion: {kind: loo, loss: zero_one}\nsearch: {kind: backward, min_features: 5, choose: best}\nevaluate: {permutations: 2}",
        (1000, 150),
    ),
];

fn folder(name: &str, (search, (rows, columns)): (&str, (usize, usize))) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(rows, columns, &[("class", &crate::common::side)]));
    folder.write("p.yaml", pipeline(search).replace("target: y", "target: class, exclude: [y]"));
    folder
}

/// A search that takes moments.
const SHORT: (&str, (usize, usize)) = ("search: {kind: greedy, max_features: 3, choose: best}", (100, 10));

fn spawned(folder: &Folder, out: &str, more: &[&str]) -> Child {
    let arguments = [&["run", "p.yaml", "--quiet", "--out", out], more].concat();
    folder.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    // One that has ended already needs none.
    let _ = Command::new("kill").args([name, &child.id().to_string()]).stderr(Stdio::null()).status();
}

/// A result is whole: its files are of one run.
fn is_whole(folder: &Folder, age: &str) -> bool {
    let named = |stem: &str, ending: &str| folder.path(&format!("out/{stem}{age}.{ending}"));
    named("selection", "json").exists() && {
        let selection: Value = serde_json::from_slice(&std::fs::read(named("selection", "json")).unwrap()).unwrap();
        let resolved = std::fs::read_to_string(named("resolved", "yaml")).unwrap();
        let seed = resolved.lines().find_map(|line| line.strip_prefix("seed: ")).unwrap().to_owned();
        folder.vaglio(&["predict", "--model", &format!("out/model{age}.json"), "--data", "train.csv"]).succeeded();
        selection["seed"].as_u64() == seed.parse().ok()
    }
}

/// Kills a run at random moments until it ends, and compares; gives how often it was killed.
fn killed(search: (&str, (usize, usize)), random: &mut SplitMix64, name: &str) -> usize {
    let folder = folder(name, search);
    let search = search.0;
    let begun = Instant::now();
    folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "whole"]).succeeded();
    let takes = begun.elapsed().as_secs_f64();
    // An earlier result of another seed, which must survive.
    folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "out", "--set", "seed=9"]).succeeded();
    let mut kills = 0;
    loop {
        // Killed before it began, a run has left the journal of the one before.
        let has_begun = !folder.read("out/journal.jsonl").contains("\"seed\":9");
        let more: &[&str] = if has_begun { &["--resume"] } else { &[] };
        let mut child = spawned(&folder, "out", more);
        std::thread::sleep(Duration::from_secs_f64(takes * 1.1 * random.uniform()));
        signal(&child, ["-KILL", "-TERM", "-INT"][kills % 3]);
        let done = child.wait().unwrap();
        if done.success() {
            break;
        }
        kills += 1;
        assert!(done.code().is_none_or(|code| code == 130), "{search}\n{done:?}");
        assert!(is_whole(&folder, "") || is_whole(&folder, ".previous"), "{search}: {:?}", folder.files("out"));
        if kills > 12 {
            folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "out", "--resume"]).succeeded();
            break;
        }
    }
    let [a, b] = ["whole", "out"].map(|at| timeless(folder.json(&format!("{at}/selection.json"))));
    assert!(a == b, "{search} after {kills} kills\n{a:#}\n{b:#}");
    for file in ["model.json", "resolved.yaml"] {
        let [a, b] = ["whole", "out"].map(|at| folder.read(&format!("{at}/{file}")));
        assert_eq!(a, b, "{search}: {file}");
    }
    assert!(is_whole(&folder, "") && is_whole(&folder, ".previous"));
    assert_eq!(folder.json("out/selection.previous.json")["seed"], 9);
    assert!(folder.files("out").iter().all(|name| !name.starts_with('.')), "{:?}", folder.files("out"));
    kills
}

#[test]
fn killed_runs_resume_to_the_same_files() {
    let mut random = SplitMix64::new(16);
    for (place, search) in SEARCHES.iter().enumerate().step_by(case_stride(2)) {
        // Not optimized, a tenth of the rows takes as long.
        let (search, (rows, columns)) = *search;
        killed((search, ((rows / 10).max(16), columns)), &mut random, &format!("killed-{place}"));
    }
}

/// `cargo test --workspace --test all two_hundred_kills -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes"]
fn two_hundred_kills_resume_to_the_same_files() {
    let (mut random, mut kills, mut runs) = (SplitMix64::new(200), 0, 0);
    while kills < 200 {
        let search = SEARCHES[runs % SEARCHES.len()];
        kills += killed(search, &mut random, &format!("kills-{runs}"));
        runs += 1;
        println!("{kills} kills in {runs} runs");
    }
}

#[test]
fn one_run_at_a_time_writes_a_folder() {
    let folder = folder("two", (SEARCHES[1].0, (300, 100)));
    let quick = ["--set", "search.max_features=2"];
    let run = |out: &str| folder.vaglio(&[&["run", "p.yaml", "--quiet", "--out", out], &quick[..]].concat());
    run("out").succeeded();
    let mut first = spawned(&folder, "out", &["--set", "search.max_features=60"]);
    let refused = |ran: &Ran| {
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
        assert!(ran.err.contains("out: cannot be written: another run is in this folder"), "{}", ran.err);
    };
    let begun = Instant::now();
    while !folder.path("out/journal.previous.jsonl").exists() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(&first, "-STOP");
    refused(&run("out"));
    refused(&folder.vaglio(&["run", "p.yaml", "--out", "out", "--resume"]));
    refused(&folder.vaglio(&["report", "out"]));
    // A usage that fails leaves the folder alone as well.
    assert_eq!(folder.vaglio(&["run", "p.yaml", "--out", "out", "--set", "searhc=1"]).code, Some(2));
    assert!(folder.path("out/selection.json").exists());
    run("other").succeeded();
    signal(&first, "-CONT");
    assert!(first.wait().unwrap().success());
    assert!(folder.json("out/selection.json")["path"].as_array().unwrap().len() > 2);
    assert_eq!(folder.json("out/selection.previous.json")["path"].as_array().unwrap().len(), 2);
}

#[test]
fn a_failure_loses_no_result() {
    let folder = folder("failures", SHORT);
    let good = |seed: &str| {
        folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "out", "--set", &format!("seed={seed}")]).succeeded();
    };
    let seed = |age: &str| folder.json(&format!("out/selection{age}.json"))["seed"].clone();
    good("1");
    good("2");
    assert_eq!((seed(""), seed(".previous")), (2.into(), 1.into()));
    // Settings that are refused leave the result where it is.
    assert_eq!(folder.vaglio(&["run", "p.yaml", "--out", "out", "--set", "sed=3"]).code, Some(2));
    assert_eq!((seed(""), seed(".previous")), (2.into(), 1.into()));
    for _ in 0..3 {
        assert_eq!(folder.vaglio(&["run", "p.yaml", "--out", "out", "--set", "data.train=none.csv"]).code, Some(3));
        assert!(!folder.path("out/selection.json").exists());
        assert_eq!((seed(".previous"), seed(".older")), (2.into(), 1.into()));
        assert!(is_whole(&folder, ".previous") && is_whole(&folder, ".older"));
    }
    good("4");
    assert_eq!((seed(""), seed(".previous")), (4.into(), 2.into()));
    assert!(!folder.path("out/selection.older.json").exists() && is_whole(&folder, ".previous"));
}

#[test]
fn a_limit_of_time_leaves_a_result_that_can_be_resumed() {
    let folder = folder("time", (SEARCHES[1].0, (250, 200)));
    folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "whole"]).succeeded();
    let ran = folder.vaglio(&["run", "p.yaml", "--json", "--out", "out", "--time-limit", "0.2s"]);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    assert_eq!(ran.out, folder.read("out/selection.json"));
    let partial = folder.json("out/selection.json");
    assert_eq!((&partial["status"], &partial["stop_reason"]), (&"partial".into(), &"limit".into()));
    assert!(is_whole(&folder, ""));
    folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "out", "--resume"]).succeeded();
    let [a, b] = ["whole", "out"].map(|at| timeless(folder.json(&format!("{at}/selection.json"))));
    assert_eq!(a, b);
    assert!(!folder.path("out/selection.previous.json").exists());
    for limit in ["0", "-1m", "soon", "10 x"] {
        folder
            .vaglio(&["run", "p.yaml", "--out", "other", &format!("--time-limit={limit}")])
            .refused(2, "expected a time, such as 10m");
    }
}

#[test]
fn an_interruption_is_acknowledged_and_acted_on_in_a_long_step() {
    // Refitted for every row, λ and subset.
    let lines = "criterion: {kind: loo, loss: zero_one}\nlearner: {kind: crrr, lambda: {search: {from: 0.001, to: 1000.0}}}\n\
                 search: {kind: greedy, choose: best}\nengine: {threads: 1}";
    for name in ["-INT", "-TERM"] {
        let folder = Folder::new("long-step");
        folder.write("train.csv", table(300, 60, &[("class", &crate::common::side)]));
        folder.write("p.yaml", pipeline(lines).replace("target: y", "target: class, exclude: [y]"));
        let child = spawned(&folder, "out", &[]);
        let begun = Instant::now();
        while !folder.path("out/journal.jsonl").exists() && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(200));
        let asked = Instant::now();
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
        assert_eq!(output.status.code(), Some(130));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("finishing this step; press again to stop now"), "{told}");
        assert_eq!(folder.json("out/selection.json")["status"], "partial");
    }
}

#[test]
fn a_disk_without_room_ends_with_3_and_leaves_what_is_there() {
    let folder = folder("room", SHORT);
    folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "out"]).succeeded();
    let before = folder.read("out/selection.json");
    let program = folder.command(&[]).get_program().to_owned();
    let limited = |blocks: usize, more: &str| {
        let line =
            format!("ulimit -f {blocks}; exec '{}' run p.yaml --quiet --out out {more}", program.to_string_lossy());
        ran(Command::new("sh").args(["-c", &line]).current_dir(&folder.0))
    };
    let mut codes = Vec::new();
    for blocks in [0, 1, 2, 4, 8, 16, 32, 64, 100_000] {
        let ran = limited(blocks, "--set seed=5");
        codes.push(ran.code);
        if ran.code != Some(0) {
            assert_eq!(ran.code, Some(3), "{blocks}: {ran:?}");
            assert!(ran.err.contains("cannot be written: "), "{blocks}: {}", ran.err);
            assert_eq!(folder.read("out/selection.previous.json"), before);
            assert!(is_whole(&folder, ".previous"));
        }
    }
    assert!(codes.first() == Some(&Some(3)) && codes.last() == Some(&Some(0)), "{codes:?}");
    assert_eq!(
        folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "out", "--resume", "--set", "seed=5"]).code,
        Some(0)
    );
    assert!(folder.files("out").iter().all(|name| !name.starts_with('.')), "{:?}", folder.files("out"));
}
