//! Files and arguments that are odd or meant to do harm leave a short, plain message.

use crate::common::{Folder, Ran, pipeline, table};
use vaglio_testkit::tries_all_cases;

/// Characters that act on a terminal: a color, a title, a bell, the start of the line, a change of direction.
const ACTING: &str = "a\u{1b}[31mb\u{7}\rc\u{202e}d";
/// Text of [`ACTING`] as it is shown.
const SHOWN: &str = "a\\u{1b}[31mb\\u{7}\\rc\\u{202e}d";

fn is_plain(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}')
}

fn refused(ran: &Ran, code: i32, words: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{}", ran.err);
    assert!(ran.err.contains(words), "{words}\n{}", ran.err);
    assert!(ran.err.starts_with("error: ") && is_plain(&ran.err), "{:?}", ran.err);
    assert!(ran.err.chars().count() <= 2000, "{} characters", ran.err.chars().count());
}

/// A table whose column x1, which is chosen, and classes have names that act; x3 is constant.
fn hostile_table() -> String {
    let class = |row: usize, y: f64| format!("\"{}{}\"", crate::common::side(row, y), "\u{1b}[2J\n");
    let text = table(40, 3, &[("k\n\u{1b}[1m", &|_, _| "1".into()), ("class", &class)]);
    text.replacen("x1", &format!("\"{ACTING}\n{ACTING}\""), 1).replacen("k\n\u{1b}[1m", "\"k\n\u{1b}[1m\"", 1)
}

#[test]
fn names_do_not_act_in_tables_plans_and_pages() {
    let folder = Folder::new("acting");
    folder.write("train.csv", hostile_table());
    let lines = "criterion: {kind: kfold, folds: 4, loss: zero_one}\nsearch: {kind: greedy, max_features: 2}";
    folder.write("p.yaml", pipeline(lines).replace("target: y", "target: class, exclude: [y]"));
    let plan = folder.vaglio(&["plan", "p.yaml"]).succeeded();
    assert!(is_plain(&plan.out) && plan.out.contains("(k\\n\\u{1b}[1m)"), "{:?}", plan.out);
    assert!(plan.out.contains("high\\u{1b}[2J: "), "{:?}", plan.out);
    for out in ["one", "two"] {
        let ran = folder.vaglio(&["run", "p.yaml", "--out", out]).succeeded();
        assert!(is_plain(&ran.out) && is_plain(&ran.err), "{:?}\n{:?}", ran.out, ran.err);
        assert!(ran.out.lines().any(|line| line.contains(&format!("{SHOWN}\\n{SHOWN}"))), "{:?}", ran.out);
    }
    let page = folder.read("one/report.html");
    assert!(is_plain(&page) && page.contains(&format!("{SHOWN}\\n{SHOWN}")));
    assert!(page.contains("high\\u{1b}[2J"));
    std::fs::rename(folder.path("two"), folder.path("t\u{1b}[1mwo")).unwrap();
    let ran = folder.vaglio(&["compare", "one", "t\u{1b}[1mwo", "--out", "both.html"]).succeeded();
    assert!(is_plain(&ran.out) && ran.out.contains("t\\u{1b}[1mwo  "), "{:?}", ran.out);
    let page = folder.read("both.html");
    assert!(is_plain(&page) && page.contains("t\\u{1b}[1mwo") && page.contains(&format!("{SHOWN}\\n{SHOWN}")));
    let ran = folder.vaglio(&["predict", "--model", "one/model.json", "--data", "train.csv", "--evaluate"]).succeeded();
    assert!(is_plain(&ran.err) && ran.err.contains("high\\u{1b}[2J"), "{:?}", ran.err);
}

#[test]
fn text_with_characters_of_other_scripts_stays() {
    let folder = Folder::new("scripts");
    folder.write("train.csv", table(30, 3, &[]).replacen("x1", "città 日本 👩‍👩‍👧", 1));
    folder.write("p.yaml", pipeline("search: {kind: greedy, max_features: 1, choose: last}"));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert!(ran.out.contains("città 日本 👩‍👩‍👧"), "{}\n{}", ran.out, ran.err);
    assert!(folder.read("out/report.html").contains("città 日本 👩‍👩‍👧"));
}

#[test]
fn names_do_not_act_in_errors() {
    let folder = Folder::new("acting-errors");
    folder.write("train.csv", hostile_table());
    folder.write("p.yaml", pipeline("").replace("target: y", "target: \"y\\e[1m\\n\""));
    refused(&folder.vaglio(&["run", "p.yaml"]), 2, "there is no column `y\\u{1b}[1m\\n`");
    folder.write("p.yaml", pipeline("search: {kind: \"gree\\e[1mdy\"}"));
    refused(&folder.vaglio(&["run", "p.yaml"]), 2, "gree\\u{1b}[1mdy");
    refused(&folder.vaglio(&["run", "no\u{1b}[1m\n.yaml"]), 2, "no\\u{1b}[1m\\n.yaml: there is no such file");
    refused(&folder.vaglio(&["run", "p.yaml", "--set", "a\u{1b}b"]), 2, "a\\u{1b}b");
    refused(&folder.vaglio(&["ru\u{1b}n"]), 2, "unrecognized subcommand");
    refused(&folder.vaglio(&["plan", "--model=\u{9b}1m"]), 2, "--model");
}

/// Pipeline files that would make long messages, with words of the message that they get; ten times as long with
/// `VAGLIO_CASES=all`.
fn bombs() -> Vec<(&'static str, String, &'static str)> {
    let (length, after_key) =
        if tries_all_cases() { (1_000_000, "p.yaml:3:1000001: ") } else { (100_000, "p.yaml:3:100001: ") };
    let long = "x".repeat(length);
    vec![
        ("a long line", format!("version: 1\ndata: {{{long}"), "p.yaml:3:1: "),
        ("a long key", pipeline(&format!("{long}: 1")), after_key),
        ("a quoted key", pipeline(&format!("\"{}\": 1", "x".repeat(1000))), "there is no key"),
        ("a long word", pipeline(&format!("search: {long}")), "there is no search"),
        ("a long number", pipeline(&format!("seed: 1{}", "0".repeat(length))), "`seed`"),
        ("a long column", pipeline("").replace("target: y", &format!("target: \"{long}\"")), "there is no column"),
        ("a long label", pipeline("").replace("target: y", &format!("target: y, positive: {long}")), ""),
        ("a key twice", format!("{0}: 1\n{0}: 2", "x".repeat(1000)), "p.yaml:2:1: the key `xxx"),
        ("nested lists", format!("version: {}", "[".repeat(length)), "p.yaml:1:"),
        ("nested maps", format!("version: {}", "{a: ".repeat(length)), "p.yaml:1:"),
        ("more lists", format!("version: {}", "[".repeat(100)), "p.yaml:1:73: values are nested deeper than 64"),
        ("deep indents", (0..100).map(|k| format!("{}a:\n", " ".repeat(k))).collect(), "p.yaml:65:"),
        (
            "many values",
            format!("a:\n{}", "- 1\n".repeat(600_000)),
            "p.yaml:499999:3: a configuration has at most 500000",
        ),
        ("aliases", "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n".into(), "p.yaml:1:4: anchors"),
        (
            "a large file",
            format!("version: 1\n# {}", "x".repeat(17_000_000)),
            "p.yaml:1:1: more than 16777216 bytes are too many",
        ),
    ]
}

#[test]
fn no_message_is_long() {
    let folder = Folder::new("long");
    folder.write("train.csv", table(20, 3, &[]));
    for (name, text, words) in bombs() {
        folder.write("p.yaml", &text);
        let begun = std::time::Instant::now();
        refused(&folder.vaglio(&["run", "p.yaml"]), 2, words);
        assert!(begun.elapsed().as_secs() < 20, "{name} took {:?}", begun.elapsed());
    }
    let long = "x".repeat(100_000);
    folder.write("p.yaml", pipeline(""));
    for arguments in [
        &["run", "p.yaml", "--set", &long][..],
        &["run", "p.yaml", "--set", &format!("{long}=1")],
        &["run", "p.yaml", "--set", &format!("search.max_features={long}")],
        &["run", &long],
        &[&long],
        &["list", &long],
        &["run", "p.yaml", &format!("--{long}")],
    ] {
        refused(&folder.vaglio(arguments), 2, "");
    }
}

#[test]
fn a_table_or_folder_in_place_of_a_pipeline_gets_a_sentence() {
    let folder = Folder::new("no-pipeline");
    let csv = table(500, 5, &[]);
    for (name, content) in [
        ("train.csv", csv.clone().into_bytes()),
        ("train.CSV", csv.clone().into_bytes()),
        ("t.tsv", csv.replace(',', "\t").into_bytes()),
        ("t.csv.gz", vec![31, 139, 8, 0]),
        ("t.parquet", b"PAR1rest".to_vec()),
        ("no-ending", csv.clone().into_bytes()),
        ("binary", b"ARROW1\0\0\xff".to_vec()),
        ("t.txt", csv.replace(',', ";").into_bytes()),
        ("p.yaml", csv.clone().into_bytes()),
    ] {
        folder.write(name, content);
        for command in ["run", "plan"] {
            let ran = folder.vaglio(&[command, name]);
            refused(&ran, 2, &format!("`vaglio init {name}` writes a pipeline for it\n"));
            assert_eq!(
                ran.err,
                format!("error: {name}: this is a table; `vaglio init {name}` writes a pipeline for it\n")
            );
        }
    }
    folder.write("words", "secret\nwords\n");
    let ran = folder.vaglio(&["run", "words"]);
    refused(
        &ran,
        2,
        "words: this is no pipeline, which has keys such as `version: 1`; if it is a table, `vaglio init words`",
    );
    assert!(!ran.err.contains("secret"), "{}", ran.err);
    refused(&folder.vaglio(&["run", "."]), 2, ".: this is a folder; a pipeline is a YAML file");
    refused(&folder.vaglio(&["run", "missing.csv"]), 2, "missing.csv: there is no such file");
}
