//! Findings about a table in plan, run, report and `selection.json`; sound tables have none.

use crate::common::{Folder, root};
use vaglio_testkit::SplitMix64;

/// Riders: those who are registered and those who are not, and their sum; dates that begin with the day.
fn bikes(rows: usize) -> String {
    let mut random = SplitMix64::new(3);
    let mut text = "date,temp,smoker,zip,casual,registered,count\n".to_owned();
    for row in 0..rows {
        let (casual, registered) = (random.below(80), 50 + random.below(400));
        let (day, month, temp) = (1 + row % 28, 1 + row % 12, random.normal());
        let (smoker, zip) = (["yes", "no", "Yes"][row % 3], ["07030", "10001"][row % 2]);
        let count = casual + registered;
        text += &format!("{day:02}/{month:02}/2020,{temp},{smoker},{zip},{casual},{registered},{count}\n");
    }
    text
}

const PIPELINE: &str = "version: 1\ndata: {train: train.csv, test: test.csv, target: count}\n\
    preprocess: [date_parts, one_hot, standardize]\ncriterion: loo\nsearch: {kind: greedy, max_features: 2, choose: last}\n";

#[test]
fn leaks_are_told_wherever_results_are() {
    let folder = Folder::new("findings-told");
    let all = bikes(60);
    folder.write("train.csv", &all);
    // Of dates that may begin with either, the training file settles which it is.
    let test: Vec<&str> =
        all.lines().enumerate().filter(|(line, _)| [0, 1, 2, 5].contains(line)).map(|(_, l)| l).collect();
    folder.write("test.csv", test.join("\n"));
    folder.write("pipeline.yaml", PIPELINE);
    let selection = folder.run(PIPELINE);
    let warnings = selection["warnings"].as_array().unwrap();
    let kinds: Vec<&str> = warnings.iter().map(|warning| warning["kind"].as_str().unwrap()).collect();
    let expected = ["target_given_away", "test_rows_in_training", "levels_alike", "leading_zeros"];
    assert_eq!(kinds[..4], expected, "{warnings:?}");
    let first = warnings[0]["message"].as_str().unwrap();
    assert!(
        first.starts_with("`casual` and `registered` together give the target away (R² 1.0000); leave them out by"),
        "{first}"
    );
    assert!(folder.read("out/report.html").contains("together give the target away"));
    let plan = folder.vaglio(&["plan", "pipeline.yaml"]);
    assert!(plan.out.contains("warning     `casual` and `registered` together give the target away"), "{}", plan.out);
    assert!(plan.out.contains("3 of 3 test rows are exact copies of training rows"), "{}", plan.out);
    let numbers = PIPELINE.replace("target: count", "target: count, exclude: [casual], types: {zip: number}");
    let selection = folder.run(&numbers);
    let kinds: Vec<&str> =
        selection["warnings"].as_array().unwrap().iter().map(|warning| warning["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["test_rows_in_training", "levels_alike"], "{}", selection["warnings"]);
}

#[test]
fn nothing_is_told_of_the_examples() {
    let folder = Folder::new("findings-examples");
    let folders = ["examples/pipelines", "examples/cookbook"];
    for entry in folders.iter().flat_map(|folder| std::fs::read_dir(root().join(folder)).unwrap()) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // Some have data that are downloaded, or made.
        let text = std::fs::read_to_string(&path).unwrap();
        let elsewhere = text.contains("../shared/data") || text.contains("../../runs/");
        if elsewhere || path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let plan = folder.vaglio(&["plan", &path.to_string_lossy()]);
        assert!(plan.out.starts_with("data "), "{name}: {}", plan.err);
        assert!(!plan.out.lines().any(|line| line.starts_with("warning")), "{name}: {}", plan.out);
    }
}

#[test]
fn columns_of_the_row_that_is_predicted_are_told_beside_lags_of_others() {
    let folder = Folder::new("findings-present");
    let mut random = SplitMix64::new(8);
    let mut text = "day,mean,low,y\n".to_owned();
    for day in 0..60 {
        text += &format!("{day},{},{},{}\n", random.normal(), random.normal(), random.normal());
    }
    folder.write("t.csv", text);
    let warnings = |window: &str| {
        let data = "{train: t.csv, target: y, time: day}";
        let done = folder.run(&format!(
            "version: 1\ndata: {data}\npreprocess: [{{kind: window, {window}}}]\n\
             criterion: {{kind: kfold, splits: {{kind: forward, folds: 3}}}}\nsearch: {{kind: all, choose: last}}\n"
        ));
        done["warnings"].to_string()
    };
    let told = warnings("lags: {y: [1, 2], low: [1]}");
    assert!(
        told.contains("present_columns") && told.contains("`mean` is taken from the row that is predicted"),
        "{told}"
    );
    for window in
        ["lags: {y: [1, 2], low: [1], mean: [1]}", "lags: {y: [1], low: [0, 1], mean: [0, 1]}", "lags: [1, 2]"]
    {
        assert_eq!(warnings(window), "[]", "{window}");
    }
}
