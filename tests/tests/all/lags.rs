//! Targets of the past as columns, and forecasts that go on from their own predictions, beside plain loops.

use crate::common::{Folder, near, solved};
use vaglio_testkit::SplitMix64;

const LAMBDA: f64 = 0.5;

/// A row of a series: its label, its time, a column and the target.
#[derive(Clone)]
struct Step {
    series: &'static str,
    time: usize,
    x: f64,
    y: f64,
}

/// Two autoregressive series of `steps` steps each, whose target follows a column and itself.
fn steps(steps: usize) -> Vec<Step> {
    let mut random = SplitMix64::new(31);
    let mut all: Vec<Step> = Vec::new();
    for series in ["a", "b"] {
        let mut past = [0.0, 0.0];
        for time in 0..steps {
            let x = random.normal();
            let y = 1.0 + 0.6 * past[0] - 0.3 * past[1] + 0.8 * x + 0.3 * random.normal();
            past = [y, past[0]];
            all.push(Step { series, time, x, y });
        }
    }
    all
}

fn file(steps: &[Step], target: impl Fn(&Step) -> Option<f64>) -> String {
    let line = |step: &Step| {
        let y = target(step).map(|y| y.to_string()).unwrap_or_default();
        format!("{},{},{},{y}\n", step.series, step.time, step.x)
    };
    format!("id,t,x,y\n{}", steps.iter().map(line).collect::<String>())
}

/// The weights of x, y one and two steps before, and 1, by normal equations of the rows that have a past.
fn by_hand(steps: &[Step]) -> Vec<f64> {
    let mut a = vec![vec![0.0; 5]; 4];
    for k in 2..steps.len() {
        if steps[k].series != steps[k - 2].series {
            continue;
        }
        let row = [steps[k].x, steps[k - 1].y, steps[k - 2].y, 1.0, steps[k].y];
        (0..4).for_each(|i| (0..5).for_each(|j| a[i][j] += row[i] * row[j]));
    }
    (0..3).for_each(|i| a[i][i] += LAMBDA);
    solved(a).remove(0)
}

fn predicted(weights: &[f64], x: f64, past: [f64; 2]) -> f64 {
    weights[0] * x + weights[1] * past[0] + weights[2] * past[1] + weights[3]
}

fn trained(name: &str, steps: &[Step], more: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", file(steps, |step| Some(step.y)));
    let record = folder.run(&format!(
        "version: 1\ndata: {{train: train.csv, target: y, series: id, time: t{more}}}
preprocess: [{{kind: window, lags: {{y: [1, 2], x: [0]}}}}]
learner: {{kind: rls, lambda: {LAMBDA}}}\ncriterion: loo\nsearch: {{kind: all, choose: last}}\n"
    ));
    assert_eq!(record["candidates"], serde_json::json!(["x", "y_lag1", "y_lag2"]));
    folder
}

/// Predictions of a file by series and time.
fn predictions(folder: &Folder, text: &str) -> Vec<(String, usize, f64)> {
    folder.write("new.csv", text);
    folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv", "--out", "p.csv"]).succeeded();
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0].to_owned(), cells[1].parse().unwrap(), cells[2].parse().unwrap())
    };
    folder.read("p.csv").lines().skip(1).map(line).collect()
}

#[test]
fn known_targets_of_the_past_are_taken_from_the_table() {
    let all = steps(40);
    let folder = trained("lagged", &all, "");
    let weights = by_hand(&all);
    let found = predictions(&folder, &file(&all, |step| Some(step.y)));
    assert_eq!(found.len(), 76);
    for (series, time, value) in found {
        let at = all.iter().position(|step| step.series == series && step.time == time).unwrap();
        near(predicted(&weights, all[at].x, [all[at - 1].y, all[at - 2].y]), value);
    }
}

#[test]
fn what_is_not_known_is_forecast_step_by_step() {
    let all = steps(50);
    let (train, future): (Vec<Step>, Vec<Step>) = all.iter().cloned().partition(|step| step.time < 44);
    let folder = trained("forecast", &train, "");
    let weights = by_hand(&train);
    // A table without the target goes on from the training rows; one with some targets, from these.
    let without: String =
        file(&future, |_| None).lines().map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0)).collect();
    let some = |step: &Step| (step.time < 46).then_some(step.y);
    for (text, first) in
        [(without, 44), (file(&future, |_| None), 44), (file(&future, some), 46), (file(&all, some), 46)]
    {
        let found = predictions(&folder, &text);
        for series in ["a", "b"] {
            let own: Vec<&Step> = all.iter().filter(|step| step.series == series).collect();
            let mut past = [own[first - 1].y, own[first - 2].y];
            for step in &own[first..] {
                let expected = predicted(&weights, step.x, past);
                past = [expected, past[0]];
                near(expected, found.iter().find(|(id, time, _)| id == series && *time == step.time).unwrap().2);
            }
            // The first two future rows are predicted from true targets, where the table has them.
            if first == 46 {
                let expected = predicted(&weights, own[45].x, [own[44].y, own[43].y]);
                near(expected, found.iter().find(|(id, time, _)| id == series && *time == 45).unwrap().2);
            }
        }
    }
}

#[test]
fn rows_after_test_rows_are_forecast_from_these() {
    let all = steps(50);
    let before = |end: usize| -> Vec<Step> { all.iter().filter(|step| step.time < end).cloned().collect() };
    // The last 11 of 44 steps of both series.
    let folder = trained("after_test_rows", &before(44), ", test_last: 0.25");
    let weights = by_hand(&before(33));
    // Tables of later steps from `first` on, whose targets are known before `end`: of future rows, of test rows and future
    // rows, of some of the test rows, and of test rows whose targets are not known.
    for (first, end) in [(44, 44), (33, 44), (38, 44), (33, 33), (38, 38), (38, 41)] {
        let table: Vec<Step> = all.iter().filter(|step| step.time >= first).cloned().collect();
        let found = predictions(&folder, &file(&table, |step| (step.time < end).then_some(step.y)));
        assert_eq!(found.len(), table.len(), "{first} {end}");
        for series in ["a", "b"] {
            let mut own: Vec<Step> = all.iter().filter(|step| step.series == series).cloned().collect();
            for time in first..own.len() {
                let expected = predicted(&weights, own[time].x, [own[time - 1].y, own[time - 2].y]);
                near(expected, found.iter().find(|(id, at, _)| id == series && *at == time).unwrap().2);
                if time >= end {
                    own[time].y = expected;
                }
            }
        }
    }
}

#[test]
fn what_would_see_the_present_is_refused() {
    let all = steps(20);
    let folder = trained("lagged_refused", &all, "");
    for (maps, words) in [
        ("[{kind: window, lags: {y: [0, 1]}}]", "`preprocess[0].lags.y`: 0 is the present of the target `y`"),
        ("[{kind: window, lags: [0, 1], columns: [x, y]}]", "`preprocess[0].lags`: 0 is the present of the target `y`"),
        (
            "[standardize, {kind: window, lags: {y: [1]}}]",
            "`preprocess[1]`: the past of the target `y` is taken by the first map",
        ),
        ("[{kind: window, lags: {z: [1]}}]", "no column `z`"),
    ] {
        folder.write(
            "p.yaml",
            format!("version: 1\ndata: {{train: train.csv, target: y, series: id, time: t}}\npreprocess: {maps}\n"),
        );
        folder.vaglio(&["run", "p.yaml", "--out", "other"]).refused(2, words);
    }
    // A series that was not there has no past to go on from.
    folder.write("new.csv", "id,t,x,y\nc,0,1,\nc,1,1,\nc,2,1,\n");
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv", "--out", "p.csv"]);
    assert!(
        ran.code != Some(0)
            && ran.err.contains("row 1: the target is missing, and a forecast needs the 2 rows before it"),
        "{ran:?}"
    );
}

#[test]
fn forward_chaining_without_a_gap_is_told_where_targets_are_predicted_several_steps_ahead() {
    let folder = Folder::new("lagged_gap");
    folder.write("train.csv", file(&steps(60)[..60], |step| Some(step.y)));
    let warned = |lags: &str, gap: usize| {
        let record = folder.run(&format!(
            "version: 1\ndata: {{train: train.csv, target: y, time: t, exclude: [id]}}
preprocess: [{{kind: window, lags: {{y: {lags}, x: [0]}}}}]\nlearner: {{kind: rls, lambda: 1}}
criterion: {{kind: kfold, splits: {{kind: forward, folds: 3, gap: {gap}}}}}\nsearch: {{kind: all, choose: last}}\n"
        ));
        record["warnings"].as_array().unwrap().iter().any(|warning| warning["kind"] == "no_gap")
    };
    assert_eq!(
        [warned("[3, 4]", 0), warned("[3, 4]", 1), warned("[3, 4]", 2), warned("[1, 3]", 0)],
        [true, true, false, false]
    );
}
