//! What a run may take: threads and memory.

use crate::common::{Folder, Ran, pipeline, ran, table};

fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    words.iter().for_each(|words| assert!(ran.err.contains(words), "{words}\n{}", ran.err));
    assert!(ran.err.starts_with("error: ") && ran.err.chars().count() <= 2000, "{}", ran.err);
}

#[test]
fn threads_beyond_all_use_are_refused_before_they_start() {
    let folder = Folder::new("threads");
    folder.write("train.csv", table(20, 3, &[]));
    folder.write("p.yaml", pipeline("search: {kind: greedy, max_features: 1, choose: last}"));
    for threads in ["70000", "1000000000", "18446744073709551615"] {
        let set = format!("engine.threads={threads}");
        let words = [&format!("{threads} threads are more than this machine has use for")[..], "`engine.threads`"];
        refused(&folder.vaglio(&["plan", "p.yaml", "--set", &set]), &words);
        refused(&folder.vaglio(&["run", "p.yaml", "--set", &set]), &words);
        refused(&folder.vaglio(&["run", "p.yaml", "--threads", threads]), &[words[0], "`--threads`"]);
        folder.write("q.yaml", pipeline(&format!("engine: {{threads: {threads}}}")));
        refused(&folder.vaglio(&["plan", "q.yaml"]), &[words[0], "q.yaml:3:19: `engine.threads`"]);
        for variable in ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"] {
            for arguments in [&["plan", "p.yaml"][..], &["run", "p.yaml"], &["report", "out"], &["list"]] {
                let ran = ran(folder.command(arguments).env(variable, threads));
                refused(&ran, &[words[0], variable]);
            }
        }
    }
    assert_eq!(ran(folder.command(&["plan", "p.yaml"]).env("RAYON_NUM_THREADS", "3")).code, Some(0));
    assert_eq!(folder.vaglio(&["run", "p.yaml", "--threads", "3"]).code, Some(0));
}

#[test]
fn memory_is_a_number_of_bytes() {
    let folder = Folder::new("memory");
    folder.write("train.csv", table(20, 3, &[]));
    let lines = "search: {kind: greedy, max_features: 1, choose: last}";
    for size in ["8GiB", "500 MB", "4000000000", "0.5gb"] {
        folder.write("p.yaml", pipeline(&format!("{lines}\nlimits: {{memory: {size}}}")));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(folder.vaglio(&["run", "out/resolved.yaml", "--out", "again"]).code, Some(0));
    }
    assert!(
        folder.read("out/resolved.yaml").contains("limits:\n  memory: 500MB\n"),
        "{}",
        folder.read("out/resolved.yaml")
    );
    for size in ["8G", "-1", "0", "much", "[1]"] {
        folder.write("p.yaml", pipeline(&format!("limits: {{memory: {size}}}")));
        refused(&folder.vaglio(&["plan", "p.yaml"]), &["p.yaml:3:18: `limits.memory`: expected a number of bytes"]);
    }
}

/// A table whose column `c` holds another text in every row.
fn with_texts(rows: usize) -> String {
    table(rows, 3, &[("c", &|row, _| format!("level{row}"))])
}

#[test]
fn what_would_take_more_memory_than_it_may_is_refused_before_it_is_made() {
    let folder = Folder::new("memory-refused");
    let search = "search: {kind: greedy, max_features: 1, choose: last}";
    let cases = [
        (
            12_000,
            "preprocess: [{kind: one_hot}]\nlimits: {memory: 100MB}",
            "{kind: one_hot}: the columns that it makes of 12000 rows",
        ),
        (
            40_000,
            "preprocess: [{kind: polynomial, degree: 9, columns: [x0, x1, x2]}]\nlimits: {memory: 60MB}",
            "{kind: products}: the columns that it makes of 40000 rows",
        ),
        (2000, "limits: {memory: 20kB}", "this run ("),
    ];
    for (rows, lines, words) in cases {
        folder.write("train.csv", with_texts(rows));
        let columns = if lines.contains("one_hot") { "types: {c: class}" } else { "exclude: [c]" };
        folder.write(
            "p.yaml",
            pipeline(&format!("{search}\n{lines}")).replace("target: y", &format!("target: y, {columns}")),
        );
        for command in [&["plan", "p.yaml"][..], &["run", "p.yaml", "--out", "out"]] {
            let ran = folder.vaglio(command);
            refused(
                &ran,
                &[words, "`limits.memory`: ", " would take about ", ", and the limit is ", "raise the limit"],
            );
            assert!(ran.err.starts_with("error: p.yaml:"), "{}", ran.err);
            assert!(!folder.path("out").exists());
        }
    }
}

#[test]
fn a_file_that_is_larger_than_the_memory_is_refused_before_it_is_read() {
    let folder = Folder::new("memory-large");
    folder.write("train.csv", "x,y\n");
    std::fs::File::options().write(true).open(folder.path("train.csv")).unwrap().set_len(1 << 40).unwrap();
    folder.write("p.yaml", pipeline(""));
    refused(
        &folder.vaglio(&["run", "p.yaml"]),
        &["`limits.memory`: ", "train.csv would take about 1.1 TB", "80 % of the "],
    );
}
