//! `--trace`: JSON that a viewer of Chrome's traces takes, also after a kill, and the same result.

use crate::common::{Folder, pipeline, side, table, timeless};
use serde_json::Value;
use std::collections::HashMap;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A run with everything that repeats it.
const LINES: &str = "preprocess: [standardize]\nlearner: {kind: rls, lambda: {values: [0.1, 10.0]}}\n\
                     search: {kind: greedy, max_features: 3, choose: {folds: 3, require_gain: never}}\nmodel: {kind: rls, lambda: 0.5}\n\
                     evaluate: {nested: {folds: 2}, permutations: 2, stability: {pairs: 1}}";

/// The events of a trace.
fn events(folder: &Folder, name: &str) -> Vec<Value> {
    folder.json(name).as_array().unwrap().clone()
}

fn word<'e>(event: &'e Value, key: &str) -> &'e str {
    event[key].as_str().unwrap_or_default()
}

#[test]
fn a_trace_is_of_every_walk_and_changes_nothing() {
    let folder = Folder::new("traced");
    folder.write("train.csv", table(60, 5, &[("class", &side)]));
    let plain = folder.run(&pipeline(LINES).replace("target: y", "target: y, exclude: [class]"));
    for threads in ["1", "2"] {
        let arguments =
            ["run", "p.yaml", "--out", "out", "--json", "--quiet", "--threads", threads, "--trace", "t.json"];
        let ran = folder.vaglio(&arguments).succeeded_silently();
        assert_eq!(timeless(serde_json::from_str(&ran.out).unwrap()), timeless(plain.clone()));
        let events = events(&folder, "t.json");
        // On each thread times go forward, and what begins ends, the last first.
        let mut open: HashMap<u64, Vec<String>> = HashMap::new();
        let mut time: HashMap<u64, f64> = HashMap::new();
        let mut begun: HashMap<&str, usize> = HashMap::new();
        for event in events.iter().filter(|event| word(event, "ph") != "M") {
            let thread = event["tid"].as_u64().unwrap();
            let at = event["ts"].as_f64().unwrap();
            assert!(at >= time.insert(thread, at).unwrap_or(0.0), "{event}");
            let open = open.entry(thread).or_default();
            match word(event, "ph") {
                "B" => {
                    open.push(word(event, "name").to_owned());
                    *begun.entry(word(event, "name")).or_default() += 1;
                }
                "E" => assert_eq!(open.pop().as_deref(), Some(word(event, "name"))),
                phase => assert_eq!(phase, "i"),
            }
        }
        assert!(open.values().all(Vec::is_empty), "{open:?}");
        for (name, count) in
            [("read", 1), ("select", 1), ("evaluate", 1), ("nested", 2), ("shuffle", 2), ("half", 2), ("write", 1)]
        {
            assert_eq!(begun.get(name), Some(&count), "{name}: {begun:?}");
        }
        // Walks of three folds at two λ: on all rows, in each outer fold and on each shuffle.
        assert_eq!(begun["walk"], 3 * 2 * 5, "{begun:?}");
        let walk = events.iter().find(|event| word(event, "name") == "walk" && word(event, "ph") == "B").unwrap();
        let number = |event: &Value, key: &str| word(&event["args"], key).parse::<f64>().unwrap();
        assert!(number(walk, "fold") >= 1.0 && [0.1, 10.0].contains(&number(walk, "lambda")), "{walk}");
        let end = events.iter().find(|event| word(event, "name") == "walk" && word(event, "ph") == "E").unwrap();
        assert!(number(end, "size") >= 1.0, "{end}");
        assert!(events.iter().any(|event| word(event, "ph") == "M"));
    }
}

/// Starts a long run, and waits for the first events in its trace.
fn long_run(folder: &Folder) -> Child {
    folder.write("train.csv", table(300, 40, &[]));
    folder.write("p.yaml", pipeline("search: {kind: greedy, choose: {folds: 10}}\nevaluate: {permutations: 10000}"));
    let mut command = folder.command(&["run", "p.yaml", "--out", "out", "--quiet", "--trace", "t.json"]);
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while std::fs::metadata(folder.path("t.json")).map_or(0, |file| file.len()) < 10_000 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is traced");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// A killed run lacks the last events and the end of the list, which viewers do without.
#[test]
fn a_trace_of_what_is_killed_holds_its_events() {
    let folder = Folder::new("traced-killed");
    let mut child = long_run(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    let text = folder.read("t.json");
    let (whole, _cut) = text.rsplit_once(",\n").unwrap();
    let events: Vec<Value> = serde_json::from_str(&format!("{whole}]")).unwrap();
    assert!(events.len() > 10, "{} events", events.len());
}

#[cfg(unix)]
#[test]
fn a_trace_of_what_is_interrupted_twice_is_whole() {
    let folder = Folder::new("traced-interrupted");
    let mut child = long_run(&folder);
    for _ in 0..2 {
        let mut interrupt = std::process::Command::new("kill");
        // A run that has ended already needs none.
        let _ = interrupt.args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(events(&folder, "t.json").len() > 10);
}

#[test]
fn a_trace_that_cannot_be_written_ends_the_run_before_it_begins() {
    let folder = Folder::new("traced-refused");
    folder.write("train.csv", table(30, 4, &[]));
    folder.write("p.yaml", pipeline("search: {kind: greedy, max_features: 2}"));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--trace", "nowhere/t.json"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("nowhere/t.json") && ran.err.contains("cannot be written"), "{}", ran.err);
    assert!(!folder.path("out").exists());
}
