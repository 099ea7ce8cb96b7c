//! `tune: {search: […]}`: what each search gives alone, on the same folds, and the one that is taken.

use crate::common::Folder;
use serde_json::Value;
use vaglio_testkit::SplitMix64;

/// Many columns that each tell a little, so that all of them together do better than few, where `dense`; else three that tell
/// everything.
fn table(rows: usize, columns: usize, dense: bool) -> String {
    table_of(11, rows, columns, dense)
}

fn table_of(seed: u64, rows: usize, columns: usize, dense: bool) -> String {
    let mut random = SplitMix64::new(seed);
    let mut text: String = (0..columns).map(|k| format!("x{k},")).collect();
    text += "y\n";
    for _ in 0..rows {
        let x: Vec<f64> = (0..columns).map(|_| random.normal()).collect();
        let y = match dense {
            true => x.iter().sum::<f64>() + 2.0 * random.normal(),
            false => 2.0 * x[1] - 1.5 * x[4] + x[7] + 0.5 * random.normal(),
        };
        x.iter().for_each(|x| text += &format!("{x},"));
        text += &format!("{y}\n");
    }
    text
}

const LEARNER: &str = "learner: {kind: rls, lambda: {values: [0.1, 1.0, 10.0, 100.0]}}\n";

const DATA: &str = "version: 1\nseed: 5\ndata: {train: train.csv, target: y}\n";

fn run(folder: &Folder, search: &str) -> Value {
    folder.run(&format!("{DATA}{LEARNER}search: {search}\n"))
}

fn compare(folder: &Folder, searches: &str) -> Value {
    folder.run(&format!("{DATA}{LEARNER}tune: {{search: {searches}}}\n"))
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).unwrap().as_f64().unwrap_or_else(|| panic!("{pointer}"))
}

#[test]
fn each_search_is_what_it_is_alone_and_the_winner_is_taken() {
    for dense in [true, false] {
        let folder = Folder::new(if dense { "compared_dense" } else { "compared_sparse" });
        folder.write("train.csv", table(50, 40, dense));
        let found = compare(&folder, "[greedy, all, [{kind: rank, max_features: 20}, greedy]]");
        assert!(folder.read("out/report.html").contains("Compared searches"));
        let folds = "choose: {folds: 5, require_gain: never}";
        let alone = [
            run(&folder, &format!("{{kind: greedy, {folds}}}")),
            // Without the folds being written λ of all columns is taken by the score, beside others as alone.
            run(&folder, "all"),
            run(&folder, &format!("[{{kind: rank, max_features: 20}}, {{kind: greedy, {folds}}}]")),
        ];
        let searches = found["searches"].as_array().unwrap();
        assert_eq!(searches[2]["search"], "rank, greedy");
        for (search, alone) in searches.iter().zip(&alone) {
            assert_eq!(search["loss"], alone["chosen"]["cross_validated"], "{}", search["search"]);
            assert_eq!(search["size"], alone["chosen"]["size"]);
        }
        // A later search needs a gain beyond one standard error of the difference to the first.
        let won: Vec<bool> = searches.iter().map(|search| search["won"].as_bool().unwrap()).collect();
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
        let winner = won.iter().position(|won| *won).unwrap();
        assert_eq!(winner == 1, dense, "all columns win where all count: {won:?}");
        assert_eq!(found["pipeline"]["search"], alone[winner]["pipeline"]["search"]);
        for key in ["steps", "selected", "score", "lambda"] {
            let of = |record: &Value| match key {
                // What the columns are worth is sought by the work of the search.
                "selected" => record[key].as_array().unwrap().iter().map(|c| c["weight"].clone()).collect(),
                _ => record[key].clone(),
            };
            assert_eq!(of(&found), of(&alone[winner]), "{key}");
        }
    }
}

#[test]
fn a_race_is_read_as_a_comparison_and_a_resolved_pipeline_repeats_it() {
    let folder = Folder::new("compared_race");
    folder.write("train.csv", table(50, 40, true));
    let race = run(&folder, "{kind: race, of: [{kind: greedy, max_features: 20}, all], choose: {folds: 4}}");
    let choose = "choose: {folds: 4}";
    let found = compare(&folder, &format!("[{{kind: greedy, max_features: 20, {choose}}}, {{kind: all, {choose}}}]"));
    for key in ["searches", "steps", "path", "selected", "chosen", "pipeline"] {
        assert_eq!(race[key], found[key], "{key}");
    }
    folder.vaglio(&["run", "out/resolved.yaml", "--out", "again", "--quiet"]).succeeded();
    for key in ["searches", "selected", "chosen"] {
        assert_eq!(folder.json("again/selection.json")[key], found[key], "{key}");
    }
    folder.vaglio(&["explain", "out", "x1"]).succeeded();
}

#[test]
fn fewer_columns_are_taken_by_within_and_at_most() {
    let folder = Folder::new("within_and_at_most");
    folder.write("train.csv", table(60, 30, true));
    let alone = run(&folder, "{kind: greedy, choose: {within: 0.5, at_most: 10, require_gain: never}}");
    let path = alone["path"].as_array().unwrap().iter();
    let path = path.filter_map(|entry| Some((entry["size"].as_u64()?, entry["cross_validated"].as_f64()?)));
    let path: Vec<(u64, f64)> = std::iter::once((0, number(&alone, "/chosen/empty_loss"))).chain(path).collect();
    let size = alone["chosen"]["size"].as_u64().unwrap();
    assert!(size <= 10 && path.len() > 10, "{alone}");
    let own = path.iter().find(|(of, _)| *of == size).unwrap().1;
    let lowest = path.iter().filter(|(of, _)| *of <= 10).map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
    assert!(own <= 1.5 * lowest && path.iter().all(|(of, loss)| *of >= size || *loss > 1.5 * lowest), "{alone}");
}

#[test]
fn nested_repeats_the_comparison_and_threads_change_nothing() {
    let folder = Folder::new("compared_nested");
    folder.write("train.csv", table(50, 30, true));
    let record =
        folder.run(&format!("{DATA}{LEARNER}tune: {{search: [greedy, all]}}\nevaluate: {{nested: {{folds: 3}}}}\n"));
    assert!(number(&record, "/nested/loss") < number(&record, "/nested/empty_loss"));
    for threads in ["1", "2"] {
        folder.vaglio(&["run", "p.yaml", "--out", threads, "--threads", threads]).succeeded();
    }
    for key in ["searches", "nested", "selected", "path"] {
        assert_eq!(folder.json("1/selection.json")[key], folder.json("2/selection.json")[key], "{key}");
    }
}

#[test]
fn searches_that_cannot_be_compared_are_refused() {
    let folder = Folder::new("compared_refused");
    folder.write("train.csv", table(20, 10, false));
    for (command, lines, says) in [
        ("plan", "tune: {search: []}", "at least one"),
        ("plan", "tune: {search: [greedy, {kind: all, choose: last}]}", "by cross-validation"),
        ("plan", "tune: {search: [greedy, {kind: greedy, max_features: 0}]}", "max_features"),
        ("run", "tune: {search: [greedy, {kind: all, choose: {folds: 3}}]}", "the same `choose`"),
        ("plan", "model: {learner: rls, tune: {search: [all]}}", "has no search"),
        ("plan", "search: {kind: greedy, choose: {within: -0.1}}", "no share"),
        ("plan", "search: {kind: greedy, choose: {rule: one_se, within: 0.1}}", "leave `rule` out"),
    ] {
        folder.write("p.yaml", format!("version: 1\ndata: {{train: train.csv, target: y}}\n{LEARNER}{lines}\n"));
        let ran = folder.vaglio(&[command, "p.yaml"]);
        assert!(ran.code == Some(2) && ran.err.contains(says), "{lines}: {:?} {}", ran.code, ran.err);
    }
}

#[test]
fn a_later_search_that_is_ahead_by_rounding_is_not_taken() {
    let folder = Folder::new("compared_rounding");
    let (mut equal, mut ahead) = (0, 0);
    for seed in 0..12 {
        folder.write("train.csv", table_of(seed, 60, 8, false));
        let found = compare(&folder, "[greedy, floating]");
        let [first, second] = ["/searches/0", "/searches/1"].map(|place| found.pointer(place).unwrap());
        let [of_first, of_second] = [first, second].map(|own| number(own, "/loss"));
        if (of_first - of_second).abs() < 1e-9 * of_first {
            equal += 1;
            ahead += usize::from(of_second < of_first);
            assert_eq!(first["won"], true, "{of_first} {of_second}");
        }
    }
    assert!(equal > 3 && ahead > 0, "{equal} {ahead}");
}
