//! Files that are read: links that lead back, files that are named twice, partitions, what waits for a writer or never ends.
#![cfg(unix)]

use crate::common::{Folder, Ran, case_stride, pipeline, ran, table};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SEARCH: &str = "search: {kind: greedy, max_features: 1, choose: last}";

fn on(train: &str, lines: &str) -> String {
    pipeline(&format!("{SEARCH}\n{lines}")).replace("train: train.csv", &format!("train: {train}"))
}

#[test]
fn links_that_lead_back_are_no_further_rows() {
    let folder = Folder::new("loops");
    folder.write("d/k=1/a.csv", table(20, 3, &[]));
    folder.write("d/k=2/b.csv", table(30, 3, &[]));
    // To the folder itself, twice, and to a folder and a file that are there under their own names.
    for link in ["d/k=3", "d/k=1/l=1", "d/k=1/l=2", "d/k=2/l=3"] {
        symlink(folder.path("d"), folder.path(link)).unwrap();
    }
    symlink("../k=2", folder.path("d/k=1/l=4")).unwrap();
    symlink("../k=1/a.csv", folder.path("d/k=2/c.csv")).unwrap();
    for (train, rows, columns) in [
        ("d", 50, 4),
        ("\"d/**/*.csv\"", 50, 3),
        ("\"**/a.csv\"", 20, 3),
        ("\"d/**/k=2/b.csv\"", 30, 3),
        ("\"d/*/*.csv\"", 50, 3),
    ] {
        let begun = Instant::now();
        let found = folder.run(&on(train, ""));
        assert_eq!((&found["data"]["rows"], &found["data"]["features"]), (&rows.into(), &columns.into()), "{train}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{train}");
    }
}

#[test]
fn a_file_that_is_named_twice_is_refused() {
    let folder = Folder::new("twice");
    folder.write("a.csv", table(20, 3, &[]));
    folder.write("b.csv", table(20, 3, &[]));
    symlink("a.csv", folder.path("link.csv")).unwrap();
    for train in ["[a.csv, a.csv]", "[a.csv, ./a.csv]", "[a.csv, link.csv]", "[\"[ab].csv\", a.csv]"] {
        folder.write("p.yaml", on(train, ""));
        let ran =
            folder.vaglio(&["run", "p.yaml", "--out", "out"]).refused(2, "is named twice; its rows would count twice");
        assert!(ran.err.contains("a.csv is named") || ran.err.contains("link.csv is named"), "{}", ran.err);
    }
    assert_eq!(folder.run(&on("[a.csv, b.csv]", ""))["data"]["rows"], 40);
    assert_eq!(folder.run(&on("\"*.csv\"", ""))["data"]["rows"], 40);
}

#[test]
fn partitions_are_decoded_and_may_be_missing() {
    let folder = Folder::new("hive");
    for (part, rows) in [("a%20b%2Fc", 20), ("100%", 10), ("__HIVE_DEFAULT_PARTITION__", 5)] {
        folder.write(&format!("d/the%20k={part}/n=7/x.csv"), table(rows, 3, &[]));
        let n = if part.starts_with('_') { part.to_owned() } else { rows.to_string() };
        folder.write(&format!("e/n={n}/x.csv"), table(rows, 3, &[]));
    }
    let maps = "preprocess: [{kind: impute, how: most_frequent}, one_hot]";
    let found = folder.run(&on("d", maps));
    let names: Vec<&str> = found["candidates"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(names.contains(&"the k=a b/c") && names.contains(&"the k=100%") && !names.contains(&"the k="), "{names:?}");
    // Without a map for them, missing cells are refused as such.
    for (train, lines, column) in [("d", "preprocess: [one_hot]", "column `the k`"), ("e", "", "column `n`")] {
        folder.write("p.yaml", on(train, lines));
        let ran =
            folder.vaglio(&["run", "p.yaml", "--out", "out"]).refused(3, "an empty cell (5 such cells in this column)");
        assert!(ran.err.contains(column), "{}", ran.err);
        folder.write("p.yaml", on(train, lines).replace("target: y", "target: y, read: {na: [none]}"));
        folder.vaglio(&["run", "p.yaml", "--out", "out"]).refused(3, "(5 such cells");
    }
}

fn pipe(folder: &Folder, name: &str) {
    let _gone = std::fs::remove_file(folder.path(name));
    assert!(Command::new("mkfifo").arg(folder.path(name)).status().unwrap().success());
}

/// The program with a bound of time: what waits for ever is ended by the second.
fn bounded(folder: &Folder, arguments: &[&str]) -> Ran {
    let program = folder.command(&[]).get_program().to_owned();
    ran(Command::new("timeout").arg("20").arg(program).args(arguments).current_dir(&folder.0))
}

#[test]
fn what_never_ends_or_waits_in_the_folder_of_a_run_is_refused() {
    let folder = Folder::new("endless");
    folder.write("train.csv", table(30, 3, &[]));
    folder.run(&on("train.csv", ""));
    folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "b"]);
    let resume = ["run", "p.yaml", "--out", "out", "--resume"];
    let journal = folder.path("out/journal.jsonl");
    std::fs::remove_file(&journal).unwrap();
    symlink("/dev/zero", &journal).unwrap();
    bounded(&folder, &resume).refused(2, "it is no regular file; to begin anew, leave `--resume` out");
    std::fs::remove_file(&journal).unwrap();
    std::fs::File::create(&journal).unwrap().set_len(1 << 34).unwrap();
    bounded(&folder, &resume).refused(2, "it has more than 8589934592 bytes; to begin anew");
    std::fs::remove_file(&journal).unwrap();
    folder.vaglio(&resume).succeeded();
    let words = "it is a device or a pipe, and only a regular file is read here";
    for name in ["out/resolved.yaml", "out/selection.json"] {
        pipe(&folder, name);
        bounded(&folder, &["report", "out"]).refused(3, words);
    }
    for arguments in [&["compare", "out", "b"][..], &["explain", "out"], &["export", "out", "--to", "methods"]] {
        bounded(&folder, arguments).refused(3, words);
    }
    pipe(&folder, "out/model.json");
    bounded(&folder, &["export", "out", "--to", "python"]).refused(3, words);
}

#[test]
fn the_first_signal_ends_what_reads_or_waits() {
    let folder = Folder::new("waits");
    folder.write("train.csv", table(30, 3, &[]));
    folder.write("p.yaml", on("train.csv", ""));
    folder.write("q.yaml", on("pipe.csv", ""));
    pipe(&folder, "pipe.csv");
    pipe(&folder, "pipe.yaml");
    for name in ["-INT", "-TERM"] {
        for arguments in [&["run", "q.yaml"][..], &["run", "pipe.yaml"], &["plan", "q.yaml"], &["init", "pipe.csv"]] {
            let child = folder.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(400));
            let asked = Instant::now();
            assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
            // A second one, so that a failure of the test ends.
            let id = child.id().to_string();
            let later = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs(10));
                let _gone = Command::new("kill").args(["-KILL", &id]).stderr(Stdio::null()).status();
            });
            let output = child.wait_with_output().unwrap();
            assert!(asked.elapsed() < Duration::from_secs(5), "{arguments:?} {name}");
            assert_eq!(output.status.code(), Some(130), "{arguments:?} {name}");
            drop(later);
        }
    }
}

#[test]
fn names_of_commands_are_suggested() {
    let folder = Folder::new("slips");
    for (slip, known) in [("rnu", "run"), ("palns", "plan"), ("exprot", "export")] {
        folder.vaglio(&[slip]).refused(2, &format!("'{known}'"));
    }
    assert!(!folder.vaglio(&["zzzzzz"]).err.contains("similar"));
}

/// A small file that decompresses to more than the process may have is refused by `predict` and `init`, which have no
/// memory setting. Each file is tried with one of the commands in turn, or with both.
#[test]
fn predict_and_init_refuse_what_decompresses_without_bound() {
    let folder = Folder::new("bombs");
    folder.write("train.csv", table(30, 3, &[]));
    folder.run(&on("train.csv", ""));
    let program = folder.command(&[]).get_program().to_string_lossy().into_owned();
    let stride = case_stride(2);
    for (place, (name, make, words)) in [
        ("lines", "(printf 'x0,x1,x2,y\\n1,2,3,4\\n'; yes '' | head -c 70000000)", "67108864 bytes"),
        ("names", "(yes a | tr '\\n' , | head -c 70000000; echo)", "line 1: a row has more than 67108864 bytes"),
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!("{make} | gzip -1 > {name}.csv.gz");
        assert!(Command::new("sh").args(["-c", &line]).current_dir(&folder.0).status().unwrap().success());
        let commands = [format!("predict --model out/model.json --data {name}.csv.gz"), format!("init {name}.csv.gz")];
        for command in commands.iter().skip(place % stride).step_by(stride) {
            let line = format!("ulimit -v 1800000; exec '{program}' {command} --out new.{}", command.len());
            let ran = ran(Command::new("sh").args(["-c", &line]).current_dir(&folder.0)).refused(3, words);
            assert!(ran.err.contains(&format!("{name}.csv.gz")), "{}", ran.err);
        }
    }
    bounded(&folder, &["init", "/dev/zero", "--out", "new.yaml"])
        .refused(3, "line 1: a row has more than 67108864 bytes");
}
