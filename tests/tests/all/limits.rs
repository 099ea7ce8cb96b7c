//! Limits of a run: threads and memory.

use crate::common::{Folder, Ran, pipeline, ran, table, timeless};

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
    ran(folder.command(&["plan", "p.yaml"]).env("RAYON_NUM_THREADS", "3")).succeeded();
    folder.vaglio(&["run", "p.yaml", "--threads", "3"]).succeeded();
}

#[test]
fn memory_is_a_number_of_bytes() {
    let folder = Folder::new("memory");
    folder.write("train.csv", table(20, 3, &[]));
    let lines = "search: {kind: greedy, max_features: 1, choose: last}";
    for size in ["8GiB", "500 MB", "4000000000", "0.5gb"] {
        folder.write("p.yaml", pipeline(&format!("{lines}\nlimits: {{memory: {size}}}")));
        folder.vaglio(&["run", "p.yaml", "--out", "out"]).succeeded();
        folder.vaglio(&["run", "out/resolved.yaml", "--out", "again"]).succeeded();
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
fn with_texts(rows: usize, is_whole: bool) -> String {
    table(rows, 3, &[("c", &|row, _| if row > 0 || is_whole { format!("level{row}") } else { String::new() })])
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
            false,
        ),
        // Columns of few rows are sparse where no cell is missing, and what follows is refused.
        (12_000, "preprocess: [{kind: one_hot}]\nlimits: {memory: 100MB}", "this run (", true),
        // 66.6 MB of products are stored, since they are less than 64 MiB; a program of 4 MB or more has no room for them.
        (
            38_000,
            "preprocess: [{kind: polynomial, degree: 9, columns: [x0, x1, x2]}]\nlimits: {memory: 70MB}",
            "{kind: products}: the columns that it makes of 38000 rows",
            true,
        ),
        (2000, "limits: {memory: 20kB}", "this run (", true),
    ];
    for (rows, lines, words, is_whole) in cases {
        folder.write("train.csv", with_texts(rows, is_whole));
        let columns = if lines.contains("one_hot") { "types: {c: class}" } else { "exclude: [c]" };
        folder.write(
            "p.yaml",
            pipeline(&format!("{search}\n{lines}"))
                .replace("target: y", &format!("target: y, {columns}, scratch: never")),
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

/// A table of about 19 MB, which is too large to be read by `plan` as a whole.
fn large(rows: usize, class: impl Fn(usize) -> &'static str) -> String {
    let mut random = vaglio_testkit::SplitMix64::new(5);
    let mut text = "a,b,c,y,class\n".to_owned();
    for row in 0..rows {
        let [a, b, c] = [random.normal(), random.normal(), random.normal()];
        text += &format!("{a},{b},{c},{},{}\n", 2.0 * a - b + 0.1 * c, class(row));
    }
    text
}

#[test]
fn a_plan_reads_the_beginning_of_a_large_table_and_tells_of_the_whole() {
    let folder = Folder::new("sampled");
    let rows = 240_000;
    folder.write("train.csv", large(rows, |row| if row < 239_000 { "one" } else { "two" }));
    assert!(std::fs::metadata(folder.path("train.csv")).unwrap().len() > 1 << 24);
    let lines = "criterion: {kind: kfold, folds: 4}\nsearch: {kind: greedy, max_features: 2, choose: last}";
    folder.write("p.yaml", pipeline(lines).replace("target: y", "target: y, exclude: [class], test_fraction: 0.25"));
    let plan = folder.vaglio(&["plan", "p.yaml"]).succeeded();
    let number = |line: &str| {
        let line = plan.out.lines().find(|found| found.starts_with(line)).unwrap_or_else(|| panic!("{}", plan.out));
        let rest = line.split("about ").nth(1).unwrap_or_else(|| panic!("{line}"));
        rest.split(' ').next().unwrap().parse::<f64>().unwrap()
    };
    let close = |found: f64, expected: usize| (found / expected as f64 - 1.0).abs() < 0.05;
    assert!(close(number("data "), rows * 3 / 4) && close(number("test "), rows / 4), "{}", plan.out);
    assert!(plan.out.contains("columns, constants and folds are those of the first "), "{}", plan.out);
    let engine = |text: &str| {
        text.lines().find(|line| line.starts_with("engine ")).unwrap().split_whitespace().nth(1).unwrap().to_owned()
    };
    let selection = folder.run(&folder.read("p.yaml"));
    assert_eq!(engine(&plan.out), format!("{}:", selection["pipeline"]["engine"].as_str().unwrap()));
    // What the first rows lack is no reason to refuse.
    let stratified = lines.replace("folds: 4", "folds: 4, stratified: true");
    folder.write("q.yaml", pipeline(&stratified).replace("target: y", "target: class, positive: two, exclude: [y]"));
    let plan = folder.vaglio(&["plan", "q.yaml"]).succeeded();
    assert!(plan.out.contains(&format!("{rows} rows, 3 candidate columns")), "{}", plan.out);
    // What all rows have at fault is.
    folder.write("q.yaml", pipeline(lines).replace("target: y", "target: z"));
    refused(&folder.vaglio(&["plan", "q.yaml"]), &["there is no column `z`"]);
}

#[test]
fn folds_that_memory_does_not_hold_at_once_choose_the_same() {
    let folder = Folder::new("memory-folds");
    folder.write("train.csv", table(3000, 300, &[]));
    folder.write("p.yaml", pipeline("criterion: {kind: kfold, folds: 10}\nsearch: {kind: greedy, max_features: 25}"));
    let run = |out: &str, more: &[&str]| {
        folder.vaglio(&[&["run", "p.yaml", "--threads", "2", "--out", out], more].concat()).succeeded();
        folder.json(&format!("{out}/selection.json"))
    };
    let (free, tight) = (run("free", &[]), run("tight", &["--set", "limits.memory=160MB"]));
    let peak = |of: &serde_json::Value| of["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak(&tight) < 160_000_000 && peak(&tight) < peak(&free), "{} and {}", peak(&tight), peak(&free));
    assert_eq!(timeless(tight), timeless(free));
}

#[test]
fn a_run_that_comes_to_hold_more_than_it_may_ends_with_what_it_has() {
    let folder = Folder::new("memory-held");
    folder.write("train.csv", table(30, 3, &[]));
    folder.write("p.yaml", pipeline("limits: {memory: 1MB}"));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let selection = folder.json("out/selection.json");
    assert_eq!(selection["stop_reason"], "limit");
    let warnings = selection["warnings"].to_string();
    assert!(warnings.contains("was stopped, since the limit is 1.0 MB; raise `limits.memory`"), "{warnings}");
}

#[test]
fn a_limit_below_what_the_program_holds_is_refused_by_the_plan() {
    let folder = Folder::new("memory-none");
    folder.write("train.csv", table(30, 3, &[]));
    folder.write("p.yaml", pipeline("limits: {memory: 1}"));
    let words = ["p.yaml:3:18: `limits.memory`: the run would take about ", " beside the ", "and the limit is 1 B"];
    refused(&folder.vaglio(&["plan", "p.yaml"]), &words);
}
