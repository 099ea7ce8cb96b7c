//! Passes that are killed and go on.
#![cfg(unix)]

use super::GRID;
use super::files::parquet;
use crate::common::{Folder, Made, ran, table, third, timeless};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Kills a run when it has kept something of a pass for the second time; whether it did so before it ended.
fn killed(mut command: Command, folder: &Folder) -> bool {
    let kept = || folder.path("out/moments.bin").metadata().and_then(|known| known.modified()).ok();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (begun, mut seen): (Instant, Vec<SystemTime>) = (Instant::now(), kept().into_iter().collect());
    let wanted = seen.len() + 1;
    while seen.len() < wanted && begun.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none() {
        seen.extend(kept().filter(|at| seen.last() != Some(at)));
        std::thread::sleep(Duration::from_millis(1));
    }
    // One that has ended already needs none.
    let _ = child.kill();
    !child.wait().unwrap().success()
}

#[test]
fn a_pass_that_was_killed_goes_on_to_the_same_bits() {
    let folder = Folder::new("streamed-killed");
    let gap = |row: usize, y: f64| if row.is_multiple_of(7) { String::new() } else { format!("{y:.2}") };
    let word = |row: usize, y: f64| third(row + 1, y);
    let extra: [Made<'_>; 2] = [("gap", &gap), ("word", &word)];
    parquet(&folder, "train.parquet", &table(260_000, 3, &extra), 50_000);
    let data = "train: train.parquet, target: y, test_fraction: 0.01";
    let lines = "search: {kind: greedy, max_features: 4, choose: last}\ncriterion: {kind: kfold, folds: 4}\n\
                 preprocess: [{kind: impute, scope: fold}, one_hot]\nengine: {stream: always}";
    folder.write("p.yaml", format!("version: 1\ndata: {{{data}}}\n{lines}\n{GRID}"));
    let run = |out: &str, more: &[&str]| {
        let mut command = folder.command(&[&["run", "p.yaml", "--out", out], more].concat());
        command.env("VAGLIO_JOURNAL", "every");
        command
    };
    assert_eq!(ran(&mut run("whole", &["--quiet"])).code, Some(0));
    // A result of another run, whose journal is not that of the one that is killed.
    assert_eq!(ran(&mut run("out", &["--quiet", "--set", "search.max_features=1"])).code, Some(0));
    assert!(!folder.path("out/moments.bin").exists());
    let mut kills = usize::from(killed(run("out", &["--quiet"]), &folder));
    assert_eq!(kills, 1, "{:?}", folder.files("out"));
    let kept = std::fs::read(folder.path("out/moments.bin")).unwrap();
    for _ in 0..2 {
        kills += usize::from(killed(run("out", &["--quiet", "--resume"]), &folder));
    }
    let was_kept = folder.path("out/moments.bin").exists();
    let last = ran(&mut run("out", &["--resume", "-v"]));
    assert_eq!(last.code, Some(0), "{}", last.err);
    if was_kept {
        assert!(last.err.contains("the pass over the table goes on behind row "), "{}", last.err);
    }
    let [a, b] = ["whole", "out"].map(|at| timeless(folder.json(&format!("{at}/selection.json"))));
    assert!(a == b, "after {kills} kills\n{a:#}\n{b:#}");
    for file in ["model.json", "resolved.yaml"] {
        let [a, b] = ["whole", "out"].map(|at| folder.read(&format!("{at}/{file}")));
        assert_eq!(a, b, "{file}");
    }
    let left = folder.files("out");
    assert!(left.iter().all(|name| !name.starts_with('.') && name != "moments.bin"), "{left:?}");

    // What was kept of other columns, or is torn, is not taken.
    let others = ["--quiet", "--set", "search.max_features=2", "--set", "data.exclude=[x2]"];
    assert_eq!(ran(&mut run("fresh", &others)).code, Some(0));
    for (place, content) in [&kept[..], &kept[..40], b"vaglio moments 1\n"].into_iter().enumerate() {
        let out = format!("stale-{place}");
        folder.write(&format!("{out}/moments.bin"), content);
        let again = ran(&mut run(&out, &[&others[..], &["--resume"]].concat()));
        assert_eq!(again.code, Some(0), "{}", again.err);
        assert_eq!(folder.read(&format!("{out}/model.json")), folder.read("fresh/model.json"));
    }
}

#[test]
fn a_run_that_was_killed_in_a_later_pass_reads_the_table_for_that_alone() {
    let folder = Folder::new("streamed-killed-later");
    parquet(&folder, "train.parquet", &table(200_000, 3, &[]), 50_000);
    let lines = "search: {kind: greedy, max_features: 3, choose: {folds: 3, rule: one_se}}\n\
                 criterion: {kind: kfold, folds: 4}\nengine: {stream: always}";
    folder.write("p.yaml", format!("version: 1\ndata: {{train: train.parquet, target: y}}\n{lines}\n{GRID}"));
    let run = |out: &str, more: &[&str]| {
        let mut command = folder.command(&[&["run", "p.yaml", "--out", out, "-v"], more].concat());
        command.env("VAGLIO_JOURNAL", "every");
        command
    };
    assert_eq!(ran(&mut run("whole", &[])).code, Some(0));
    for (place, line) in ["the losses of rows in the folds", "rows are predicted by models"].iter().enumerate() {
        let out = format!("out-{place}");
        let mut child = run(&out, &[]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let told = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        assert!(told.take_while(|told| !told.contains(line)).count() > 0);
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "{line}");
        let last = ran(&mut run(&out, &["--resume"]));
        assert_eq!(last.code, Some(0), "{}", last.err);
        assert!(last.err.contains("goes on behind row 200000 of 200000"), "{}", last.err);
        assert_eq!(last.err.contains("the losses of rows in the folds"), place == 0, "{}", last.err);
        let [a, b] = ["whole", &out].map(|at| timeless(folder.json(&format!("{at}/selection.json"))));
        assert!(a == b, "{a:#}\n{b:#}");
        assert!(!folder.path(&format!("{out}/moments.bin")).exists());
    }
}
