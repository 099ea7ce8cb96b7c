//! Searches that compete: what each gives alone, on the same folds, and the one that is taken.

use crate::common::Folder;
use serde_json::Value;
use vaglio_testkit::Random;

/// Many columns that each tell a little, so that all of them together do better than few, where `dense`; else three that tell
/// everything.
fn table(rows: usize, columns: usize, dense: bool) -> String {
    table_of(11, rows, columns, dense)
}

fn table_of(seed: u64, rows: usize, columns: usize, dense: bool) -> String {
    let mut random = Random::new(seed);
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

fn run(folder: &Folder, search: &str) -> Value {
    folder.run(&format!("version: 1\nseed: 5\ndata: {{train: train.csv, target: y}}\n{LEARNER}search: {search}\n"))
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).unwrap().as_f64().unwrap_or_else(|| panic!("{pointer}"))
}

#[test]
fn each_contestant_is_what_it_is_alone_and_the_winner_is_taken() {
    for dense in [true, false] {
        let folder = Folder::new(if dense { "race_dense" } else { "race_sparse" });
        folder.write("train.csv", table(50, 40, dense));
        let race = run(&folder, "{kind: race, of: [greedy, all, [{kind: rank, max_features: 20}, greedy]]}");
        let report = folder.read("out/report.html");
        assert!(report.contains("What each number of columns buys"), "the report draws the frontier");
        let folds = "choose: {folds: 5, require_gain: never}";
        let alone = [
            run(&folder, &format!("{{kind: greedy, {folds}}}")),
            // Without the folds being written λ of all columns is taken by the score, in the race as alone.
            run(&folder, "all"),
            run(&folder, &format!("[{{kind: rank, max_features: 20}}, {{kind: greedy, {folds}}}]")),
        ];
        let contestants = race["race"].as_array().unwrap();
        assert_eq!(contestants[2]["search"], "rank, greedy");
        for (contestant, alone) in contestants.iter().zip(&alone) {
            assert_eq!(contestant["chosen"]["loss"], alone["chosen"]["cross_validated"], "{}", contestant["search"]);
            assert_eq!(contestant["chosen"]["size"], alone["chosen"]["size"]);
        }
        // A later search needs a gain beyond one standard error of the difference to the first.
        let won: Vec<bool> = contestants.iter().map(|c| c["won"].as_bool().unwrap()).collect();
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
        let winner = won.iter().position(|won| *won).unwrap();
        assert_eq!(winner == 1, dense, "all columns win where all count: {won:?}");
        for key in ["steps", "selected", "score", "lambda"] {
            let of = |record: &Value| match key {
                // What the columns are worth is sought by the work of the search.
                "selected" => record[key].as_array().unwrap().iter().map(|c| c["weight"].clone()).collect(),
                _ => record[key].clone(),
            };
            assert_eq!(of(&race), of(&alone[winner]), "{key}");
        }
        let lowest = |size: &Value| {
            let points = contestants.iter().flat_map(|c| c["curve"].as_array().unwrap());
            let losses = points.filter(|point| point["size"] == *size).map(|point| number(point, "/loss"));
            losses.fold(f64::INFINITY, f64::min)
        };
        let frontier = race["frontier"].as_array().unwrap();
        assert!(frontier.windows(2).all(|pair| number(&pair[0], "/size") < number(&pair[1], "/size")));
        assert!(frontier.iter().all(|point| number(point, "/loss") == lowest(&point["size"])));
    }
}

#[test]
fn fewer_columns_are_taken_by_within_and_at_most() {
    let folder = Folder::new("race_rules");
    folder.write("train.csv", table(60, 30, true));
    let cells = |record: &Value| -> Vec<(usize, f64)> {
        let points = record["frontier"].as_array().unwrap().iter();
        points.map(|point| (point["size"].as_u64().unwrap() as usize, number(point, "/loss"))).collect()
    };
    let at_most = run(&folder, "{kind: race, of: [greedy, all], choose: {at_most: 4, require_gain: never}}");
    let few: Vec<(usize, f64)> = cells(&at_most).into_iter().filter(|(size, _)| *size <= 4).collect();
    let best = few.iter().fold(few[0], |a, b| if b.1 < a.1 { *b } else { a });
    assert_eq!(at_most["chosen"]["size"], best.0);
    for share in [0.1, 0.5, 2.0] {
        let within = run(&folder, &format!("{{kind: race, of: [greedy, all], choose: {{within: {share}}}}}"));
        let all = cells(&within);
        let lowest = all.iter().map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
        let expected = all.iter().find(|(_, loss)| *loss <= lowest + share * lowest).unwrap();
        assert_eq!(within["chosen"]["size"], expected.0, "{share}");
        assert_eq!(number(&within, "/chosen/cross_validated"), expected.1);
    }
    let alone = run(&folder, "{kind: greedy, choose: {within: 0.5, at_most: 10}}");
    let path: Vec<(u64, f64)> = alone["path"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|entry| Some((entry["size"].as_u64()?, entry["cross_validated"].as_f64()?)))
        .collect();
    let size = alone["chosen"]["size"].as_u64().unwrap();
    assert!(size <= 10 && !path.is_empty(), "{alone}");
}

#[test]
fn nested_repeats_the_race_and_threads_change_nothing() {
    let folder = Folder::new("race_nested");
    folder.write("train.csv", table(50, 30, true));
    let search = "{kind: race, of: [greedy, all]}\nevaluate: {nested: {folds: 3}}\n";
    let record = run(&folder, search);
    assert!(number(&record, "/nested/loss") < number(&record, "/nested/empty_loss"));
    for threads in ["1", "2"] {
        let ran = folder.vaglio(&["run", "p.yaml", "--out", threads, "--threads", threads]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    for key in ["race", "frontier", "nested", "selected", "path"] {
        assert_eq!(folder.json("1/selection.json")[key], folder.json("2/selection.json")[key], "{key}");
    }
}

#[test]
fn what_is_no_race_is_refused() {
    let folder = Folder::new("race_refused");
    folder.write("train.csv", table(20, 10, false));
    for (search, says) in [
        ("{kind: race, of: []}", "names no search"),
        ("{kind: race, of: [{kind: race}]}", "race in a race"),
        ("{kind: race, of: [{kind: greedy, choose: last}, all]}", "give `choose` to the race"),
        ("{kind: race, choose: last}", "cross-validation"),
        ("[{kind: rank, max_features: 3}, race]", "no stage"),
        ("{kind: greedy, choose: {within: -0.1}}", "no share"),
        ("{kind: greedy, choose: {rule: one_se, within: 0.1}}", "leave `rule` out"),
    ] {
        folder
            .write("p.yaml", format!("version: 1\ndata: {{train: train.csv, target: y}}\n{LEARNER}search: {search}\n"));
        let ran = folder.vaglio(&["plan", "p.yaml"]);
        assert!(ran.code == Some(2) && ran.err.contains(says), "{search}: {:?} {}", ran.code, ran.err);
    }
}

#[test]
fn a_later_search_that_is_ahead_by_rounding_is_not_taken() {
    let folder = Folder::new("race_rounding");
    let (mut equal, mut ahead) = (0, 0);
    for seed in 0..12 {
        folder.write("train.csv", table_of(seed, 60, 8, false));
        let race = run(&folder, "{kind: race, of: [greedy, floating]}");
        let [first, second] = ["/race/0", "/race/1"].map(|place| race.pointer(place).unwrap());
        let [of_first, of_second] = [first, second].map(|own| number(own, "/chosen/loss"));
        if (of_first - of_second).abs() < 1e-9 * of_first {
            equal += 1;
            ahead += usize::from(of_second < of_first);
            assert_eq!(first["won"], true, "{of_first} {of_second}");
        }
    }
    assert!(equal > 3 && ahead > 0, "{equal} {ahead}");
}
