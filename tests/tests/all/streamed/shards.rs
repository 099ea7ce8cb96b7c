//! Passes that several processes share.
#![cfg(unix)]

use super::GRID;
use super::files::parquet;
use crate::common::{Folder, Made, Ran, table};
use crate::shards::{expect, merges_to_one_run};
use std::process::Stdio;

fn shard(folder: &Folder, arguments: &[&str]) -> Ran {
    folder.vaglio(&[&["shard"], arguments].concat())
}

#[test]
fn processes_read_a_table_in_ranges_to_the_bits_of_one() {
    let folder = Folder::new("streamed-shards");
    let gap = |row: usize, y: f64| if row.is_multiple_of(7) { String::new() } else { format!("{:.2}", y + 50.0) };
    let extra: [Made<'_>; 1] = [("gap", &gap)];
    parquet(&folder, "train.parquet", &table(400_000, 3, &extra), 60_000);
    let lines = "search: {kind: greedy, max_features: 3, choose: {folds: 3, rule: one_se}}\ncriterion: {kind: kfold, folds: 4}\n\
                 preprocess: [{kind: impute, scope: fold}]\nengine: {stream: always}";
    folder.write(
        "p.yaml",
        format!("version: 1\ndata: {{train: train.parquet, target: y, test_fraction: 0.01}}\n{lines}\n{GRID}"),
    );
    let planned = shard(&folder, &["plan", "p.yaml", "--of", "3", "ledger"]);
    expect(&planned, 0);
    assert!(planned.out.contains("3 ranges of rows"), "{}", planned.out);
    let run = |index: &str| {
        let mut command = folder.command(&["shard", "run", "ledger", "--index", index]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    // One of them is killed, and its ranges are made by the others.
    let mut all = ["0", "1", "2"].map(run);
    all[2].kill().unwrap();
    for child in &mut all {
        child.wait().unwrap();
    }
    let range = |number: usize| {
        let all = folder.files("ledger/moments");
        let of = |name: &&String| name.starts_with(&format!("{number}-"));
        folder.path(&format!("ledger/moments/{}", all.iter().find(of).unwrap()))
    };
    assert!(range(2).exists());
    for index in ["0", "1", "2"] {
        expect(&shard(&folder, &["run", "ledger", "--index", index]), 0);
    }
    // What is torn is made again.
    let (first, kept) = (range(1), std::fs::read(range(1)).unwrap());
    std::fs::write(&first, &kept[..kept.len() / 2]).unwrap();
    merges_to_one_run(&folder, "ranges");
    assert!(!folder.path("ledger/moments").exists());
}
