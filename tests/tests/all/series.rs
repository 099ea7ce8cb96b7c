//! Time series from YAML to predictions.

use crate::common::{Folder, names};
use vaglio_testkit::SplitMix64;

/// Rows of a table in long format, one line each: 9 series of 14 steps, of which every third series is `fall`.
fn lines(prefix: &str, series: usize, seed: u64) -> Vec<String> {
    let mut random = SplitMix64::new(seed);
    let mut lines = Vec::new();
    for s in 0..series {
        let (mut level, slope) = (random.normal(), if s % 3 == 0 { -0.6 } else { 0.6 });
        for t in 0..14 {
            let step = slope + 0.1 * random.normal();
            level += step;
            let kind = if s % 3 == 0 { "fall" } else { "rise" };
            lines.push(format!(
                "{prefix}{s},{},{level},{},{kind},{}",
                t as f64 / 2.0,
                random.normal(),
                step + 0.01 * level
            ));
        }
    }
    lines
}

const HEADER: &str = "id,t,x,z,kind,y";

fn file(lines: &[String]) -> String {
    format!("{HEADER}\n{}\n", lines.join("\n"))
}

/// Lines in another order; the order in which the series first appear is kept.
fn shuffled(lines: &[String]) -> Vec<String> {
    let mut random = SplitMix64::new(77);
    let mut keyed: Vec<(f64, &String)> = lines.iter().map(|line| (random.uniform(), line)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out: Vec<String> = lines.iter().filter(|line| line.split(',').nth(1) == Some("3.5")).cloned().collect();
    out.extend(keyed.into_iter().map(|(_, line)| line.clone()).filter(|line| line.split(',').nth(1) != Some("3.5")));
    out
}

fn yaml(data: &str, rest: &str) -> String {
    format!("version: 1\nseed: 4\ndata: {{train: train.csv, {data}}}\n{rest}\n")
}

const WINDOW: &str = "preprocess: [{kind: window, lags: [0, 1], columns: [x, z]}]
learner: {kind: rls, lambda: 1e-3}
criterion: {kind: kfold, by: groups}";

const RESERVOIR: &str =
    "learner: {kind: reservoir, units: 8, connectivity: 0.4, leak_rate: 0.5, warmup: 3, decision: series}
criterion: {kind: kfold, by: groups, loss: zero_one}
search: {kind: greedy, max_features: 2, choose: last}";

const VALUE: &str = "target: y, series: id, time: t, exclude: [kind]";
const KIND: &str = "target: kind, series: id, time: t, exclude: [y]";

/// Predictions by series and time.
fn by_key(out: &str) -> Vec<String> {
    let mut lines: Vec<String> = out.lines().skip(1).map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn the_order_of_a_file_changes_nothing() {
    for (data, rest) in [(VALUE, WINDOW), (KIND, RESERVOIR)] {
        let folder = Folder::new("order");
        let (train, new) = (lines("s", 9, 1), lines("n", 4, 2));
        folder.write("new.csv", file(&new));
        folder.write("mixed.csv", file(&shuffled(&new)));
        let mut results = Vec::new();
        for rows in [train.clone(), shuffled(&train)] {
            folder.write("train.csv", file(&rows));
            let done = folder.run(&yaml(data, rest));
            assert_eq!(done["data"]["rows"], 126);
            let predict = |name: &str| folder.vaglio(&["predict", "--model", "out/model.json", "--data", name]);
            let (plain, mixed) = (predict("new.csv"), predict("mixed.csv"));
            assert_eq!((plain.code, mixed.code), (Some(0), Some(0)), "{}{}", plain.err, mixed.err);
            assert_eq!(by_key(&plain.out), by_key(&mixed.out));
            // The rows are in the order of the file that they come from.
            let keys = |out: &str| {
                out.lines().skip(1).map(|l| l.split(',').take(2).collect::<Vec<_>>().join(",")).collect::<Vec<_>>()
            };
            let dropped = |key: &String| data == VALUE && key.ends_with(",0");
            let of_file = |rows: &[String]| {
                let keys = rows.iter().map(|l| l.split(',').take(2).collect::<Vec<_>>().join(","));
                keys.filter(|key| !dropped(key)).collect::<Vec<_>>()
            };
            assert_eq!(keys(&plain.out), of_file(&new));
            assert_eq!(keys(&mixed.out), of_file(&shuffled(&new)));
            assert!(plain.out.starts_with(if data == VALUE { "id,t,prediction\n" } else { "id,t,prediction,label\n" }));
            results.push((done["steps"].clone(), done["path"].clone(), done["selected"].clone(), plain.out));
        }
        assert_eq!(results[0], results[1]);
    }
}

#[test]
fn a_window_finds_the_step_and_a_reservoir_the_kind() {
    let folder = Folder::new("find");
    folder.write("train.csv", file(&lines("s", 9, 1)));
    folder.write("test.csv", file(&shuffled(&lines("n", 6, 2))));
    let done = folder.run(&yaml(&format!("{VALUE}, test: test.csv"), WINDOW));
    let chosen = names(&done);
    assert!(chosen.contains(&"x") && chosen.contains(&"x_lag1") && !chosen.contains(&"t"), "{chosen:?}");
    assert_eq!(done["test"]["rows"], 6 * 13);
    assert!(done["test"]["nrmse"].as_f64().unwrap() < 0.05, "{}", done["test"]);
    let done = folder.run(&yaml(&format!("{KIND}, test: test.csv"), RESERVOIR));
    assert_eq!(done["test"]["error_rate"], 0.0);
    let out = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "test.csv"]).out;
    assert_eq!(out.lines().count(), 1 + 6 * 14);
    // One label a series.
    for s in 0..6 {
        let of_series =
            out.lines().filter(|line| line.starts_with(&format!("n{s},"))).map(|l| l.rsplit(',').next().unwrap());
        assert!(of_series.clone().all(|label| label == if s % 3 == 0 { "fall" } else { "rise" }), "{out}");
        assert_eq!(of_series.count(), 14);
    }
}

#[test]
fn folds_and_test_rows_keep_series_together() {
    let folder = Folder::new("together");
    folder.write("train.csv", file(&shuffled(&lines("s", 9, 1))));
    let plan = |data: &str, rest: &str| {
        folder.write("p.yaml", yaml(data, rest));
        folder.vaglio(&["plan", "p.yaml"])
    };
    let ran = plan(VALUE, WINDOW);
    assert!(ran.out.contains("9 of 13 rows each"), "{}{}", ran.out, ran.err);
    let ran = plan(&format!("{VALUE}, test_fraction: 0.33"), WINDOW);
    assert!(ran.out.contains("6 of 13 rows each") && ran.out.contains("39 rows"), "{}{}", ran.out, ran.err);
    plan(&format!("{VALUE}, test_fraction: 0.33, groups: z"), WINDOW)
        .refused(2, "is of another group than other rows of its series");
    let single = plan("target: y, time: t, exclude: [kind, id], test_fraction: 0.5", "");
    assert!(single.code == Some(2) && single.err.contains("1 series leaves one side empty"), "{}", single.err);
}

/// The lines of a series with its values one and two steps before, from the third on.
fn with_lags(lines: &[String]) -> String {
    let cells = |line: &String, at: usize| line.split(',').nth(at).unwrap().to_owned();
    let mut text = "id,t,x,x_lag1,x_lag2,y\n".to_owned();
    for rows in lines.windows(3).filter(|rows| cells(&rows[0], 0) == cells(&rows[2], 0)) {
        let (now, x) = (&rows[2], |back: usize| cells(&rows[2 - back], 2));
        text += &format!("{},{},{},{},{},{}\n", cells(now, 0), cells(now, 1), x(0), x(1), x(2), cells(now, 5));
    }
    text
}

#[test]
fn the_past_of_the_last_rows_is_in_the_rows_that_are_trained_on() {
    let folder = Folder::new("past-of-test-rows");
    let lines = lines("s", 9, 1);
    folder.write("train.csv", file(&shuffled(&lines)));
    let rest = "learner: {kind: rls, lambda: 1e-3}\nsearch: {kind: greedy, choose: last, max_features: 3}\n\
                criterion: {kind: kfold, by: groups}\nevaluate: {intervals: 0.8}";
    // The last 4 of 14 points in time.
    let data = "target: y, series: id, time: t, test_last: 0.286, exclude: [kind, z]";
    let windowed = folder.run(&yaml(data, &format!("preprocess: [{{kind: window, lags: [0, 1, 2]}}]\n{rest}")));
    // The last 4 points, with the 2 before them.
    let is_late = |line: &&String| line.split(',').nth(1).unwrap().parse::<f64>().unwrap() >= 4.0;
    let late: Vec<String> = lines.iter().filter(is_late).cloned().collect();
    let coverage = |rows: String| {
        folder.write("late.csv", rows);
        let arguments = ["predict", "--model", "out/model.json", "--data", "late.csv", "--interval", "--evaluate"];
        let ran = folder.vaglio(&arguments);
        let (_, share) = ran.err.split_once("intervals of level 0.8 hold ").unwrap_or_else(|| panic!("{ran:?}"));
        share.split(' ').next().unwrap().parse::<f64>().unwrap()
    };
    let of_windows = coverage(file(&late));
    folder.write("train.csv", with_lags(&lines));
    // The same 4 of the 12 that have a past.
    let by_hand = folder.run(&yaml("target: y, series: id, time: t, test_last: 0.334", rest));
    assert_eq!(windowed["data"]["test_rows"].as_array().unwrap().len(), 36);
    let [ours, expected] = [&windowed, &by_hand].map(|result| result["test"]["mse"].as_f64().unwrap());
    assert!((ours - expected).abs() <= 1e-9 * expected, "{ours} {expected}");
    assert_eq!(of_windows, coverage(with_lags(&late)));
}

#[test]
fn what_is_later_is_predicted_from_what_came_before() {
    let folder = Folder::new("later-rows");
    folder.write("train.csv", file(&shuffled(&lines("s", 9, 1))));
    let of = |data: &str, splits: &str| {
        let criterion = format!("criterion: {{kind: kfold, splits: {{kind: forward, {splits}}}}}");
        let window = WINDOW.replace("criterion: {kind: kfold, by: groups}", &criterion);
        yaml(&format!("{VALUE}{data}"), &window)
    };
    folder.write("p.yaml", of(", test_last: 0.25", "folds: 3, gap: 1, window: 5"));
    let plan = folder.vaglio(&["plan", "p.yaml"]).succeeded();
    // 14 steps of nine series, of which the last four are test rows and the first has no step before it: nine are left.
    for line in [
        "fold 1   18 rows held out, 18 to train on",
        "fold 2   18 rows held out, 36 to train on",
        "fold 3   18 rows held out, 45 to train on",
    ] {
        assert!(plan.out.contains(line), "{line}\n{}", plan.out);
    }
    let done = folder.run(&of(", test_last: 0.25", "folds: 3, gap: 1, window: 5"));
    assert_eq!(done["data"]["rows"], 90);
    assert_eq!(done["data"]["test_rows"].as_array().unwrap().len(), 36);
    folder.vaglio(&["run", "p.yaml", "--out", "verified", "--verify", "3"]).succeeded();
    let refused = |yaml: String, expected: &str| {
        folder.write("p.yaml", yaml);
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "refused"]);
        assert!(ran.code == Some(2) && ran.err.contains(expected), "{}", ran.err);
    };
    refused(of(", test_last: 0.001", "folds: 3"), "`data.test_last`: 0.001 of 126 rows leaves one side empty");
    refused(of(", test_last: 1.5", "folds: 3"), "`data.test_last`: it must lie between 0 and 1");
    refused(of(", test_last: 0.2, test_fraction: 0.2", "folds: 3"), "cannot be combined with `test_fraction`");
    refused(of("", "folds: 13"), "`criterion.splits.folds`: 13 folds need 14 points in time, and there are 13");
    refused(of("", "fold: 3"), "did you mean `folds`?");
    refused(
        of("", "folds: 3").replace("forward", "foward"),
        "there is no resampling `foward`; did you mean `forward`?",
    );
}

#[test]
fn one_series_by_time_alone_numbers_its_rows() {
    let folder = Folder::new("single");
    let one = lines("s", 1, 3);
    folder.write("train.csv", file(&shuffled(&one)));
    let done =
        folder.run(&yaml("target: y, time: t, exclude: [id, kind]", "preprocess: [{kind: window, lags: [0, 1]}]"));
    assert!(done["data"]["rows"] == 14 && !names(&done).contains(&"id"));
    let out = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).out;
    assert!(out.starts_with("t,prediction\n") && out.lines().count() == 14, "{out}");
    let done = folder.run(&yaml("target: y, exclude: [id, kind, t]", "preprocess: [{kind: window, lags: [2]}]"));
    assert_eq!(done["data"]["rows"], 14);
    let out = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).out;
    assert!(out.starts_with("row,prediction\n3,") && out.lines().count() == 13, "{out}");
}

#[test]
fn short_series_are_dropped_with_a_warning() {
    let folder = Folder::new("short");
    let mut rows = lines("s", 4, 1);
    rows.push("late,0,1,2,rise,3".into());
    folder.write("train.csv", file(&rows));
    folder.write("p.yaml", yaml(VALUE, WINDOW));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--json"]).succeeded();
    assert!(!ran.err.contains("WARN"), "{}", ran.err);
    let told = folder.json("out/selection.json")["warnings"].to_string();
    assert!(
        told.contains("the series of row 57 has no row with 1 before it, which lags need; it is dropped"),
        "{told}"
    );
}

#[test]
fn what_cannot_be_ordered_is_refused_by_row() {
    let folder = Folder::new("refused");
    let run = |rows: &[String], data: &str, rest: &str| {
        folder.write("train.csv", file(rows));
        folder.write("p.yaml", yaml(data, rest));
        folder.vaglio(&["run", "p.yaml", "--out", "out"])
    };
    let rows = lines("s", 3, 1);
    let with = |row: usize, line: &str| {
        let mut rows = rows.clone();
        rows[row] = line.into();
        rows
    };
    let cases = [
        (run(&with(16, "s1,noon,1,2,rise,3"), VALUE, WINDOW), 3, "row 17, column `t`: `noon` is not a number"),
        (
            run(&with(16, "s1,3,1,2,rise,3"), VALUE, WINDOW),
            3,
            "row 21, series `s1`, column `t`: the time 3 is that of row 17",
        ),
        (run(&rows, "target: y, series: ids, exclude: [kind]", ""), 2, "did you mean `id`?"),
        (run(&rows, "target: y, series: id, time: tt, exclude: [kind]", ""), 2, "data.time"),
        (
            run(&rows, "target: y, series: id, time: id, exclude: [kind]", ""),
            2,
            "`data.time`: it is the column of the series",
        ),
        (run(&rows, "target: y, series: y, exclude: [kind]", ""), 2, "`y` is the target"),
        (run(&rows, VALUE, "preprocess: [{kind: window, lags: [14]}]"), 2, "preprocess[0].lags"),
        (run(&rows, VALUE, "preprocess: [{kind: window, columns: [w]}]"), 2, "preprocess[0].columns[0]"),
        (run(&rows, VALUE, "learner: {kind: reservoir, decision: series}"), 2, "learner.decision"),
        (run(&rows, VALUE, "learner: {kind: reservoir, warmup: 14}"), 2, "learner.warmup"),
        (run(&rows, VALUE, "learner: {kind: reservoir, units: 0}"), 2, "learner.units"),
        (
            run(&rows, "target: y, exclude: [kind, id]", "learner: {kind: reservoir, decision: series}"),
            2,
            "needs the series",
        ),
    ];
    for (ran, code, words) in cases {
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{words}: {}", ran.err);
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    folder.write("train.csv", file(&rows));
    folder.run(&yaml(VALUE, WINDOW));
    folder.write("new.csv", "t,x,z\n1,2,3\n2,3,4\n");
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"]);
    assert!(ran.code == Some(2) && ran.err.contains("`id`"), "{ran:?}");
}

#[test]
fn a_model_file_without_series_is_as_before() {
    let folder = Folder::new("before");
    folder.write("train.csv", crate::common::table(20, 3, &[]));
    folder.run(&crate::common::pipeline(""));
    let model = folder.read("out/model.json");
    assert!(!model.contains("\"series\"") && !model.contains("\"time\""));
    folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).succeeded();
}

#[test]
fn rows_of_one_date_stay_together_without_units() {
    let folder = Folder::new("series_dates");
    let mut random = SplitMix64::new(4);
    // Days of one to five sales.
    let mut text = "date,x,y\n".to_owned();
    let mut days = Vec::new();
    for day in 1..=20 {
        for _ in 0..1 + day % 5 {
            let x = random.normal();
            text += &format!("2025-01-{day:02},{x},{}\n", x + 0.3 * random.normal());
            days.push(day);
        }
    }
    folder.write("t.csv", &text);
    let pipeline = |preprocess: &str| {
        format!(
            "version: 1\ndata: {{train: t.csv, target: y, time: date, test_last: 0.2}}\npreprocess: [{preprocess}]\n\
             criterion: {{kind: kfold, splits: {{kind: forward, folds: 3}}}}\nsearch: {{kind: all}}\nevaluate: {{nested: {{folds: 3}}}}\n"
        )
    };
    let done = folder.run(&pipeline(""));
    let test: Vec<usize> =
        done["data"]["test_rows"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap() as usize - 1).collect();
    let first = days[test[0]];
    assert_eq!(test, (0..days.len()).filter(|&row| days[row] >= first).collect::<Vec<_>>());
    // Folds of blocks, around the search as well.
    let blocks = pipeline("").replace("splits: {kind: forward, folds: 3}", "folds: 3, shuffle: true");
    folder.run(&blocks);
    folder.vaglio(&["predict", "--model", "out/model.json", "--data", "t.csv", "--evaluate"]).succeeded();
    // Steps back ask for a time each.
    folder.write("p.yaml", pipeline("{kind: window, lags: {y: [1]}}"));
    let refused = folder.vaglio(&["run", "p.yaml", "--out", "lags"]);
    assert_eq!(refused.code, Some(3));
    assert!(
        refused.err.contains("the time 2025-01-01 is that of row 1 too") && refused.err.contains("data.series"),
        "{}",
        refused.err
    );
}
