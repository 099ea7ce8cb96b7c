//! Direct forecasts of several steps, and rows without a target in the history of others, beside plain loops.

use crate::common::{Folder, near, solved};
use vaglio_testkit::SplitMix64;

const LAMBDA: f64 = 0.7;

/// A row: its series, its time, two columns and the target.
#[derive(Clone)]
struct Step {
    series: &'static str,
    time: usize,
    x: [f64; 2],
    y: f64,
}

fn steps(count: usize, labels: &[&'static str]) -> Vec<Step> {
    let mut random = SplitMix64::new(8);
    let mut all = Vec::new();
    for &series in labels {
        let mut past = [0.0, 0.0];
        for time in 0..count {
            let x = [random.normal(), random.normal()];
            let y = 0.5 + 0.7 * past[0] - 0.2 * past[1] + 0.6 * x[0] + 0.3 * random.normal();
            past = [y, past[0]];
            all.push(Step { series, time, x, y });
        }
    }
    all
}

fn file(steps: &[Step], target: impl Fn(&Step) -> Option<f64>) -> String {
    let line = |step: &Step| {
        let y = target(step).map(|y| y.to_string()).unwrap_or_default();
        format!("{},{},{},{},{y}\n", step.series, step.time, step.x[0], step.x[1])
    };
    format!("id,t,u,v,y\n{}", steps.iter().map(line).collect::<String>())
}

/// A row of features and targets that was made by hand.
#[derive(Clone)]
struct Row {
    time: usize,
    x: Vec<f64>,
    y: Vec<f64>,
}

/// u now, v one step before, y now and one step before; targets so many steps later. `known` says of which rows the target is known.
fn rows(steps: &[Step], horizons: &[usize], known: impl Fn(&Step) -> bool) -> Vec<Row> {
    let at = |k: usize, ahead: usize| {
        let later = steps.get(k + ahead)?;
        (later.series == steps[k].series && known(later)).then_some(later.y)
    };
    let row = |k: usize| {
        let before = k.checked_sub(1).filter(|&b| steps[b].series == steps[k].series)?;
        let past = [at(k, 0)?, at(before, 0)?];
        let y: Option<Vec<f64>> = horizons.iter().map(|&h| at(k, h)).collect();
        Some(Row { time: steps[k].time, x: vec![steps[k].x[0], steps[before].x[1], past[0], past[1]], y: y? })
    };
    (0..steps.len()).filter_map(row).collect()
}

/// Ridge with an intercept, by the normal equations: features + 1 weights of each output.
fn ridge(rows: &[&Row], features: &[usize]) -> Vec<Vec<f64>> {
    let (p, outputs) = (features.len() + 1, rows[0].y.len());
    let mut a = vec![vec![0.0; p + outputs]; p];
    for row in rows {
        let own: Vec<f64> = features.iter().map(|&f| row.x[f]).chain([1.0]).chain(row.y.iter().copied()).collect();
        (0..p).for_each(|i| (0..p + outputs).for_each(|j| a[i][j] += own[i] * own[j]));
    }
    (0..p - 1).for_each(|i| a[i][i] += LAMBDA);
    solved(a)
}

fn predicted(weights: &[f64], row: &Row, features: &[usize]) -> f64 {
    features.iter().zip(weights).map(|(&f, w)| w * row.x[f]).sum::<f64>() + weights[features.len()]
}

/// The mean squared error of blocks of later rows, each predicted from rows whose targets are known when it begins.
fn forward(rows: &[Row], folds: usize, ahead: usize, features: &[usize]) -> (f64, Vec<f64>) {
    let mut times: Vec<usize> = rows.iter().map(|row| row.time).collect();
    times.sort_unstable();
    times.dedup();
    let size = times.len() / (folds + 1);
    let (mut sums, mut count) = (vec![0.0; rows[0].y.len()], 0.0);
    for fold in 0..folds {
        let start = times.len() - (folds - fold) * size;
        let block = &times[start..start + size];
        let training: Vec<&Row> = rows.iter().filter(|row| row.time + ahead.max(1) <= block[0]).collect();
        let weights = ridge(&training, features);
        for row in rows.iter().filter(|row| block.contains(&row.time)) {
            for (output, sum) in sums.iter_mut().enumerate() {
                *sum += (row.y[output] - predicted(&weights[output], row, features)).powi(2);
            }
            count += 1.0;
        }
    }
    let each: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
    (each.iter().sum::<f64>() / each.len() as f64, each)
}

fn pipeline(data: &str, horizons: &str, criterion: &str, more: &str) -> String {
    format!(
        "version: 1\ndata: {{train: train.csv, target: y, {data}}}
preprocess: [{{kind: window, lags: {{u: [0], v: [1], y: [0, 1]}}, horizons: {horizons}}}]
learner: {{kind: rls, lambda: {LAMBDA}}}\ncriterion: {criterion}\n{more}"
    )
}

const FORWARD: &str = "{kind: kfold, splits: {kind: forward, folds: 3}}";
const ALL: &str = "search: {kind: all, choose: last}\n";

#[test]
fn forward_chaining_of_targets_ahead_trains_on_targets_that_are_known() {
    for labels in [&["a"][..], &["a", "b", "c"]] {
        let all = steps(60, labels);
        let folder = Folder::new("horizons_forward");
        folder.write("train.csv", file(&all, |step| Some(step.y)));
        for (list, horizons) in [("[1]", &[1][..]), ("[1, 2, 3]", &[1, 2, 3]), ("[2, 5]", &[2, 5])] {
            let found = folder.run(&pipeline("series: id, time: t", list, FORWARD, ALL));
            let ahead = *horizons.last().unwrap();
            let (expected, _) = forward(&rows(&all, horizons, |_| true), 3, ahead, &[0, 1, 2, 3]);
            near(found["score"].as_f64().unwrap(), expected);
            // A gap that is written leaves no more out than it says.
            let gap = format!("{{kind: kfold, splits: {{kind: forward, folds: 3, gap: {}}}}}", ahead - 1);
            assert_eq!(folder.run(&pipeline("series: id, time: t", list, &gap, ALL))["score"], found["score"]);
            let (farther, _) = forward(&rows(&all, horizons, |_| true), 3, ahead + 2, &[0, 1, 2, 3]);
            let gap = format!("{{kind: kfold, splits: {{kind: forward, folds: 3, gap: {}}}}}", ahead + 1);
            near(folder.run(&pipeline("series: id, time: t", list, &gap, ALL))["score"].as_f64().unwrap(), farther);
        }
    }
}

#[test]
fn without_times_the_steps_are_those_of_the_file() {
    let all = steps(50, &["a"]);
    let folder = Folder::new("horizons_file");
    folder.write("train.csv", file(&all, |step| Some(step.y)));
    let found = folder.run(&pipeline("exclude: [id, t]", "[1, 4]", FORWARD, ALL));
    near(found["score"].as_f64().unwrap(), forward(&rows(&all, &[1, 4], |_| true), 3, 4, &[0, 1, 2, 3]).0);
}

#[test]
fn greedy_takes_the_column_that_a_loop_takes() {
    let all = steps(60, &["a", "b"]);
    let folder = Folder::new("horizons_greedy");
    folder.write("train.csv", file(&all, |step| Some(step.y)));
    let search = "search: {kind: greedy, max_features: 4, patience: 4, choose: last}\n";
    let found = folder.run(&pipeline("series: id, time: t", "[1, 2]", FORWARD, search));
    assert_eq!(found["candidates"], serde_json::json!(["u", "v_lag1", "y", "y_lag1"]));
    let made = rows(&all, &[1, 2], |_| true);
    let mut subset: Vec<usize> = Vec::new();
    for step in found["steps"].as_array().unwrap() {
        let tried = (0..4).filter(|f| !subset.contains(f)).map(|f| {
            let features: Vec<usize> = subset.iter().copied().chain([f]).collect();
            (forward(&made, 3, 2, &features).0, f)
        });
        let (score, feature) = tried.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        assert_eq!(step["index"].as_u64().unwrap() as usize, feature);
        near(step["score"].as_f64().unwrap(), score);
        subset.push(feature);
    }
}

#[test]
fn outer_folds_and_test_rows_see_no_targets_of_each_other() {
    let all = steps(80, &["a"]);
    let folder = Folder::new("horizons_nested");
    folder.write("train.csv", file(&all, |step| Some(step.y)));
    let nested = "search: {kind: all, choose: last}\nevaluate: {nested: {folds: 4}}\n";
    let record = folder.run(&pipeline("time: t, exclude: [id]", "[1, 3]", FORWARD, nested));
    // Outer folds part the rows before the window, of which the last three have no targets, and each loses its first row.
    let made = rows(&all, &[1, 3], |_| true);
    let (points, folds) = (77, 4);
    let size = points / (folds + 1);
    let (mut sum, mut count) = (0.0, 0.0);
    for fold in 0..folds {
        let start = points - (folds - fold) * size;
        let training: Vec<&Row> = made.iter().filter(|row| row.time + 3 <= start).collect();
        let weights = ridge(&training, &[0, 1, 2, 3]);
        for row in made.iter().filter(|row| (start + 1..start + size).contains(&row.time)) {
            sum += (0..2).map(|o| (row.y[o] - predicted(&weights[o], row, &[0, 1, 2, 3])).powi(2)).sum::<f64>() / 2.0;
            count += 1.0;
        }
    }
    near(record["nested"]["loss"].as_f64().unwrap(), sum / count);
    // The last 16 rows: training rows have their targets before them, and test rows look back at training rows.
    let record = folder.run(&pipeline("time: t, exclude: [id], test_last: 0.2", "[1, 3]", FORWARD, ALL));
    let training: Vec<&Row> = made.iter().filter(|row| row.time + 3 < 64).collect();
    let weights = ridge(&training, &[0, 1, 2, 3]);
    let test: Vec<&Row> = made.iter().filter(|row| row.time >= 64).collect();
    let each = |o: usize| {
        test.iter().map(|row| (row.y[o] - predicted(&weights[o], row, &[0, 1, 2, 3])).powi(2)).sum::<f64>()
            / test.len() as f64
    };
    assert_eq!(record["test"]["rows"], test.len());
    near(record["test"]["mse"].as_f64().unwrap(), (each(0) + each(1)) / 2.0);
    let by_output = record["test"]["by_output"].as_array().unwrap();
    assert_eq!((&by_output[0]["name"], &by_output[1]["name"]), (&"y+1".into(), &"y+3".into()));
    (0..2).for_each(|o| near(by_output[o]["mse"].as_f64().unwrap(), each(o)));
    let report = folder.read("out/report.html");
    assert!(report.contains("Squared error of each target on ") && report.contains("y+3 "));
}

#[test]
fn the_last_rows_are_predicted_at_every_horizon() {
    let all = steps(40, &["a", "b"]);
    let folder = Folder::new("horizons_predict");
    folder.write("train.csv", file(&all, |step| Some(step.y)));
    folder.run(&pipeline("series: id, time: t", "[1, 2, 3]", FORWARD, ALL));
    let made = rows(&all, &[1, 2, 3], |_| true);
    let weights = ridge(&made.iter().collect::<Vec<_>>(), &[0, 1, 2, 3]);
    let ran = folder
        .vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv", "--out", "p.csv", "--evaluate"])
        .succeeded();
    let text = folder.read("p.csv");
    assert_eq!(text.lines().next(), Some("id,t,prediction_y+1,prediction_y+2,prediction_y+3"));
    let lines: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 78);
    let present = rows(&all, &[0], |_| true);
    for (line, row) in lines.iter().zip(&present) {
        assert_eq!(line[1], row.time.to_string());
        (0..3).for_each(|o| near(line[2 + o].parse().unwrap(), predicted(&weights[o], row, &[0, 1, 2, 3])));
    }
    // Figures are of the rows whose targets are in the file.
    assert!(ran.err.contains("72\n") || ran.out.contains("72\n"), "{} {}", ran.out, ran.err);
    folder.write("new.csv", "id,t,u,v\na,40,1,1\n");
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"]);
    assert!(ran.code != Some(0) && ran.err.contains("column `y`"), "{ran:?}");
}

#[test]
fn rows_without_a_target_stay_in_the_history_of_others() {
    let all = steps(60, &["a", "b"]);
    let is_gone = |step: &Step| [0, 7, 8, 20, 33, 58, 59].contains(&step.time) && step.series == "a" || step.time == 41;
    let folder = Folder::new("horizons_missing");
    folder.write("train.csv", file(&all, |step| (!is_gone(step)).then_some(step.y)));
    for (list, horizons) in [("[]", &[0][..]), ("[1, 2]", &[1, 2])] {
        let text = pipeline("series: id, time: t, missing_target: drop", list, FORWARD, ALL);
        let text = if horizons == [0] { text.replace("y: [0, 1]", "y: [1]") } else { text };
        let found = folder.run(&text);
        let made = rows_of(&all, horizons, |step| !is_gone(step));
        let features: &[usize] = if horizons == [0] { &[0, 1, 3] } else { &[0, 1, 2, 3] };
        near(found["score"].as_f64().unwrap(), forward(&made, 3, *horizons.last().unwrap(), features).0);
        assert_eq!(found["data"]["rows"], 120 - 9, "{}", found["data"]);
    }
}

/// Like [`rows`], but the present value of the target may be unknown, unless it is a feature.
fn rows_of(steps: &[Step], horizons: &[usize], known: impl Fn(&Step) -> bool + Copy) -> Vec<Row> {
    match horizons {
        // The row's own target is what is predicted; the one before must be known.
        [0] => {
            let mut filled = rows(steps, &[0], |_| true);
            let all: Vec<&Step> = steps.iter().filter(|step| step.time > 0).collect();
            let before =
                |step: &Step| steps.iter().find(|s| s.series == step.series && s.time + 1 == step.time).unwrap();
            let keep: Vec<bool> = all.iter().map(|step| known(step) && known(before(step))).collect();
            let mut place = 0;
            filled.retain(|_| {
                place += 1;
                keep[place - 1]
            });
            filled
        }
        _ => rows(steps, horizons, known),
    }
}

#[test]
fn columns_of_a_row_without_a_target_are_looked_back_at() {
    let all = steps(40, &["a"]);
    let is_gone = |step: &Step| [5, 6, 19].contains(&step.time);
    let folder = Folder::new("horizons_columns");
    folder.write("train.csv", file(&all, |step| (!is_gone(step)).then_some(step.y)));
    let found = folder.run(&format!(
        "version: 1\ndata: {{train: train.csv, target: y, time: t, exclude: [id], missing_target: drop}}
preprocess: [{{kind: window, lags: {{u: [0], v: [1]}}}}]\nlearner: {{kind: rls, lambda: {LAMBDA}}}
criterion: loo\n{ALL}"
    ));
    // Every row but those and the first has a history.
    let made: Vec<Row> = rows(&all, &[0], |_| true).into_iter().filter(|row| ![5, 6, 19].contains(&row.time)).collect();
    let loss = |out: usize| {
        let others: Vec<&Row> = made.iter().enumerate().filter(|(k, _)| *k != out).map(|(_, row)| row).collect();
        (made[out].y[0] - predicted(&ridge(&others, &[0, 1])[0], &made[out], &[0, 1])).powi(2)
    };
    near(found["score"].as_f64().unwrap(), (0..made.len()).map(loss).sum::<f64>() / made.len() as f64);
}

#[test]
fn what_cannot_be_forecast_is_refused() {
    let all = steps(30, &["a"]);
    let folder = Folder::new("horizons_refused");
    folder.write("train.csv", file(&all, |step| Some(step.y)));
    for (horizons, words) in [
        ("[0, 1]", "`preprocess[0].horizons[0]`: 0 is the row itself"),
        ("[2, 1]", "`preprocess[0].horizons[1]`: horizons increase"),
        ("[29]", "no row that takes part has 1 rows before it in its series and 29 after it"),
        ("[20]", "the targets of no row are known before fold 1"),
    ] {
        folder.write("p.yaml", pipeline("time: t, exclude: [id]", horizons, FORWARD, ALL));
        folder.vaglio(&["run", "p.yaml", "--out", "other"]).refused(2, words);
    }
    // Rows that overlap are told where they are predicted from each other.
    let record = folder.run(&pipeline("time: t, exclude: [id]", "[1, 2]", "loo", ALL));
    let is_told = |record: &serde_json::Value| {
        record["warnings"].as_array().unwrap().iter().any(|warning| warning["kind"] == "no_gap")
    };
    assert!(is_told(&record), "{}", record["warnings"]);
    assert!(!is_told(&folder.run(&pipeline("time: t, exclude: [id]", "[1, 2]", FORWARD, ALL))));
}

#[test]
fn intervals_of_forecasts_hold_one_step() {
    let all = steps(60, &["a"]);
    let folder = Folder::new("horizons_intervals");
    folder.write("train.csv", file(&all, |step| Some(step.y)));
    let evaluate = "search: {kind: all, choose: last}\nevaluate: {intervals: 0.8, nested: {folds: 4}}\n";
    let text = pipeline("time: t, exclude: [id]", "[]", FORWARD, evaluate).replace("y: [0, 1]", "y: [1, 2]");
    folder.run(&text);
    let predict = |rows: &str| {
        folder.write("new.csv", format!("t,u,v\n{rows}"));
        folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv", "--interval"])
    };
    assert_eq!(predict("60,0.1,0.2\n").code, Some(0), "{:?}", predict("60,0.1,0.2\n"));
    let ran = predict("60,0.1,0.2\n61,0,0\n");
    assert!(
        ran.code == Some(2) && ran.err.contains("row 2: it is predicted from targets that are predicted"),
        "{ran:?}"
    );
    // Those of horizons hold each its own step.
    folder.run(&pipeline("time: t, exclude: [id]", "[1, 4]", FORWARD, evaluate));
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv", "--interval"]);
    let line = ran.out.lines().nth(1).unwrap_or_else(|| panic!("{ran:?}"));
    // The upper end of the last horizon comes first.
    let ends: Vec<f64> = line.rsplit(',').take(4).map(|cell| cell.parse().unwrap()).collect();
    assert!(ends[2] - ends[3] < ends[0] - ends[1], "{}", ran.out);
}
