//! Files, streams and surroundings that strangers made: what they may do, and how they end.

use crate::common::{Folder, pipeline, ran, table};
use std::io::Write;
use std::process::{Command, Stdio};

const SEARCH: &str = "search: {kind: greedy, max_features: 1, choose: last}";

#[test]
fn pages_run_and_load_nothing() {
    let folder = Folder::new("policy");
    folder.write("train.csv", table(30, 3, &[]));
    folder.run(&pipeline(SEARCH));
    folder.vaglio(&["compare", "out", "out", "--out", "both.html"]).succeeded();
    for page in ["out/report.html", "both.html"] {
        let page = folder.read(page);
        let policy =
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline';";
        let before = page.split("<style").next().unwrap();
        assert!(before.contains(policy) && !page.contains("<script"), "{before}");
    }
}

#[test]
fn predictions_hold_no_formula_unless_raw() {
    let folder = Folder::new("formulas");
    let class =
        |row: usize, y: f64| if crate::common::side(row, y) == "high" { "=1+1".to_owned() } else { "low".into() };
    let note = |row: usize, _: f64| ["@SUM(A1)", "-1.5", "plain"][row % 3].to_owned();
    folder.write("train.csv", table(30, 3, &[("class", &class), ("=note", &note)]));
    let text = pipeline(SEARCH).replace("target: y", "target: class, exclude: [y, \"=note\"]");
    folder.run(&text);
    let predict = |more: &[&str]| {
        let ran = folder
            .vaglio(
                &[&["predict", "--model", "out/model.json", "--data", "train.csv", "--keep", "=note"], more].concat(),
            )
            .succeeded();
        ran.out
    };
    let (safe, raw) = (predict(&[]), predict(&["--raw"]));
    let cells =
        |text: &str| text.lines().take(4).map(|line| line.split(',').next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(cells(&safe), ["'=note", "'@SUM(A1)", "-1.5", "plain"]);
    assert_eq!(cells(&raw), ["=note", "@SUM(A1)", "-1.5", "plain"]);
    assert!(safe.contains(",'=1+1\n") && !safe.contains(",=1+1\n"));
    assert!(raw.contains(",=1+1\n") && !raw.contains(",'=1+1\n"));
    folder.vaglio(&[
        "predict",
        "--model",
        "out/model.json",
        "--data",
        "train.csv",
        "--keep",
        "=note",
        "--out",
        "p.csv",
    ]);
    assert_eq!(folder.read("p.csv"), safe);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_keeps_the_exit_code() {
    let folder = Folder::new("full");
    folder.write("train.csv", table(30, 3, &[("empty", &|_, _| String::new())]));
    folder.write("p.yaml", pipeline(SEARCH));
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    for (arguments, code) in [
        (&["run", "nope.yaml"][..], 2),
        (&["plan", "--nope"], 2),
        (&["report", "x"], 3),
        (&["run", "p.yaml", "--set", "search.kind=nope"], 2),
        (&["run", "p.yaml", "--set", "data.train=nope.csv"], 3),
        (&["-vv", "run", "p.yaml", "--out", "out"], 0),
        (&["predict", "--model", "out/model.json", "--data", "train.csv", "--evaluate"], 0),
        (&["init", "train.csv", "--out", "q.yaml"], 0),
    ] {
        let output = folder.command(arguments).stderr(full()).stdout(Stdio::null()).status().unwrap();
        assert_eq!(output.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn a_stack_that_is_too_small_for_threads_is_refused() {
    let folder = Folder::new("stack");
    folder.write("train.csv", table(30, 3, &[]));
    folder.write("p.yaml", pipeline(SEARCH));
    let small = ran(folder.command(&["run", "p.yaml"]).env("RUST_MIN_STACK", "20000"));
    assert_eq!(small.code, Some(2), "{small:?}");
    assert!(small.err.starts_with("error: `RUST_MIN_STACK`: threads need more than 20000 bytes"), "{}", small.err);
    ran(folder.command(&["run", "p.yaml"]).env("RUST_MIN_STACK", "8000000")).succeeded();
}

#[cfg(target_os = "linux")]
#[test]
fn streams_are_read_once_and_bounded() {
    let folder = Folder::new("streams");
    let text = table(30, 3, &[]);
    folder.write("train.csv", &text);
    folder.write("p.yaml", pipeline(SEARCH));
    let expected = folder.run(&pipeline(SEARCH));
    assert!(Command::new("mkfifo").arg(folder.path("pipe.csv")).status().unwrap().success());
    let (path, content) = (folder.path("pipe.csv"), text.clone());
    let writer = std::thread::spawn(move || std::fs::write(path, content).unwrap());
    let piped = folder.vaglio(&["run", "p.yaml", "--set", "data.train=pipe.csv", "--out", "piped", "--json"]);
    writer.join().unwrap();
    assert_eq!(piped.code, Some(0), "{}", piped.err);
    assert_eq!(folder.json("piped/selection.json")["data"]["digest"], expected["data"]["digest"]);
    let mut command = folder.command(&["run", "p.yaml", "--set", "data.train=/dev/stdin", "--out", "stdin", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.json("stdin/selection.json")["steps"], expected["steps"]);
    let endless = ["run", "p.yaml", "--set", "data.train=/dev/zero", "--set", "limits.memory=70MB", "--out", "zero"];
    folder.vaglio(&endless).refused(2, "/dev/zero, read or decompressed, would take about");
}

#[test]
fn a_cell_that_never_ends_is_refused_with_its_row() {
    let folder = Folder::new("long-cell");
    folder.write("p.yaml", pipeline(SEARCH));
    let short = table(300, 3, &[("note", &|_, _| "a".into())]);
    folder.write("train.csv", &short);
    folder.write("p.yaml", pipeline(SEARCH).replace("target: y", "target: y, exclude: [note]"));
    folder.vaglio(&["run", "p.yaml", "--out", "out"]).succeeded();
    let long = short.trim_end().to_owned() + &"b".repeat(17 << 20) + "\n";
    folder.write("train.csv", long);
    for arguments in
        [&["run", "p.yaml"][..], &["predict", "--model", "out/model.json", "--data", "train.csv", "--out", "p.csv"]]
    {
        let ran = folder.vaglio(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
        assert!(
            ran.err.contains("data row 300") && ran.err.contains("column `note` has a cell of 178257"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn nothing_acts_in_logs() {
    let folder = Folder::new("logs");
    let name = "k\u{1b}[1m\u{202e}\u{7}";
    folder.write("train.csv", table(30, 3, &[(name, &|_, _| String::new())]));
    folder.write("p.yaml", pipeline(SEARCH));
    for arguments in
        [&["run", "p.yaml", "--out", "out"][..], &["-vv", "run", "p.yaml", "--out", "out"], &["init", "train.csv"]]
    {
        let ran = folder.vaglio(arguments).succeeded();
        let acts = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        let said = ran.err + &ran.out;
        assert!(!said.contains(acts) && said.contains("\\u{202e}"), "{said:?}");
    }
}
