//! A model is one file for programs in Rust and for the command line: it predicts the same bits in both.

use crate::common::{Folder, pipeline, side, table, third};
use linfa::prelude::*;
use ndarray::{Array1, Array2};
use vaglio::prelude::*;

/// The cells of a table in a folder: numbers of columns that start with `x`, and the text of another.
fn cells(text: &str, target: &str) -> (Vec<String>, Array2<f64>, Vec<String>) {
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<Vec<String>> = lines.collect();
    let places: Vec<usize> = (0..header.len()).filter(|&k| header[k].starts_with('x')).collect();
    let x = Array2::from_shape_fn((rows.len(), places.len()), |(row, k)| rows[row][places[k]].parse().unwrap());
    let at = header.iter().position(|name| name == target).unwrap();
    (places.iter().map(|&k| header[k].clone()).collect(), x, rows.iter().map(|row| row[at].clone()).collect())
}

/// The columns of predictions whose names start so.
fn printed(text: &str, start: &str) -> Vec<Vec<String>> {
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let places: Vec<usize> = (0..header.len()).filter(|&k| header[k].starts_with(start)).collect();
    let of_line = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        places.iter().map(|&k| cells[k].to_owned()).collect()
    };
    text.lines().skip(1).map(of_line).collect()
}

fn bits(of_rows: &[Vec<String>]) -> Vec<Vec<u64>> {
    of_rows.iter().map(|row| row.iter().map(|cell| cell.parse::<f64>().unwrap().to_bits()).collect()).collect()
}

fn bits_of(values: &Array2<f64>) -> Vec<Vec<u64>> {
    values.rows().into_iter().map(|row| row.iter().map(|v| v.to_bits()).collect()).collect()
}

fn predict(folder: &Folder, model: &str, more: &[&str]) -> String {
    let ran = folder.vaglio(&[&["predict", "--model", model, "--data", "train.csv"], more].concat()).succeeded();
    ran.out
}

const SEARCH: &str = "search: {kind: greedy, max_features: 3}";

#[test]
fn a_model_of_numbers_is_the_same_in_both() {
    let folder = Folder::new("linfa-numbers");
    let text = table(40, 6, &[]);
    folder.write("train.csv", &text);
    let (names, x, y) = cells(&text, "y");
    let targets = Array1::from_iter(y.iter().map(|cell| cell.parse::<f64>().unwrap()));
    let dataset = Dataset::new(x, targets).with_feature_names(names).with_target_names(vec!["y"]);
    let maps = || Standardize::default().target(true);
    let built = Pipeline::new(Loo::default(), Greedy::new(3), Rls::default().lambda(0.3)).preprocess(maps());
    let fitted = built.fit(&dataset).unwrap();
    fitted.save(folder.path("own.json")).unwrap();
    let own = bits_of(&fitted.decision_values(&dataset).unwrap());
    assert_eq!(bits(&printed(&predict(&folder, "own.json", &[]), "prediction")), own);
    // With the name of its target the program judges it as well.
    folder
        .vaglio(&["predict", "--model", "own.json", "--data", "train.csv", "--evaluate", "--out", "p.csv"])
        .succeeded();

    let yaml =
        format!("preprocess: [{{kind: standardize, target: true}}]\nlearner: {{kind: rls, lambda: 0.3}}\n{SEARCH}");
    folder.run(&pipeline(&yaml));
    let loaded: FittedPipeline<f64, Ix1> = FittedPipeline::load(folder.path("out/model.json")).unwrap();
    let theirs = bits(&printed(&predict(&folder, "out/model.json", &[]), "prediction"));
    // A model of the program knows the columns that it reads, by name.
    assert_eq!(bits_of(&loaded.decision_values(&loaded.by_name(&dataset).unwrap()).unwrap()), theirs);
    // The same data and settings are the same model, whoever runs them.
    assert_eq!(theirs, own);
    assert_eq!((loaded.selected(), loaded.indices()), (fitted.selected(), fitted.indices()));
    assert!(loaded.path().is_none() && loaded.entries().is_empty());
    assert_eq!(loaded.coefficients(), fitted.coefficients());
}

#[test]
fn classes_and_their_probabilities_are_the_same_in_both() {
    for (name, class) in [("two", &side as &dyn Fn(usize, f64) -> String), ("three", &third)] {
        let folder = Folder::new("linfa-classes");
        let text = table(60, 5, &[(name, class)]);
        folder.write("train.csv", &text);
        let (names, x, labels) = cells(&text, name);
        let dataset = Dataset::new(x, Array1::from(labels)).with_feature_names(names);
        let built = Pipeline::new(Loo::default(), Greedy::new(3), Rls::default()).preprocess(Standardize::default());
        let fitted = built.fit(&dataset).unwrap();
        fitted.save(folder.path("own.json")).unwrap();
        let yaml = format!("preprocess: [standardize]\nlearner: rls\n{SEARCH}");
        folder.run(&pipeline(&yaml).replace("target: y", &format!("target: {name}, exclude: [y]")));
        let theirs: FittedPipeline<String, Ix1> = FittedPipeline::load(folder.path("out/model.json")).unwrap();
        for (model, fitted) in [("own.json", &fitted), ("out/model.json", &theirs)] {
            let text = predict(&folder, model, &["--proba"]);
            let dataset = fitted.by_name(&dataset).unwrap();
            let labels: Vec<String> = printed(&text, "label").into_iter().map(|row| row[0].clone()).collect();
            assert_eq!(fitted.predict(&dataset).to_vec(), labels, "{name} {model}");
            let values = bits_of(&fitted.decision_values(&dataset).unwrap());
            assert_eq!(bits(&printed(&text, "prediction")), values, "{name} {model}");
            let probabilities = fitted.probabilities(&dataset).unwrap().unwrap();
            for (row, cells) in probabilities.rows().into_iter().zip(printed(&text, "proba_")) {
                let expected: Vec<f32> = cells.iter().map(|cell| cell.parse::<f64>().unwrap() as f32).collect();
                assert_eq!(row.iter().map(|p| **p).collect::<Vec<f32>>(), expected, "{name} {model}");
            }
        }
        assert_eq!(theirs.classes(), fitted.classes());
        assert_eq!(predict(&folder, "own.json", &["--proba"]), predict(&folder, "out/model.json", &["--proba"]));
    }
}

#[test]
fn nested_figures_are_the_same_in_both() {
    let folder = Folder::new("linfa-nested");
    let text = table(50, 6, &[]);
    folder.write("train.csv", &text);
    let (names, x, y) = cells(&text, "y");
    let targets = Array1::from_iter(y.iter().map(|cell| cell.parse::<f64>().unwrap()));
    let dataset = Dataset::new(x, targets).with_feature_names(names);
    let built = Pipeline::new(Loo::default(), Greedy::new(3), Rls::default()).preprocess(Standardize::default());
    let worth = built.nested(4, &dataset).unwrap();
    let done = folder.run(&pipeline(&format!(
        "preprocess: [standardize]\nlearner: rls\n{SEARCH}\nevaluate: {{nested: {{folds: 4}}}}"
    )));
    assert_eq!(done["nested"]["loss"].as_f64(), Some(worth.loss));
    assert_eq!(done["nested"]["empty_loss"].as_f64(), Some(worth.empty_loss));
    assert_eq!(done["nested"]["interval"], serde_json::json!(worth.interval));
    let written = serde_json::to_value(&worth).unwrap();
    assert_eq!(written["folds"][3]["selected"], done["nested"]["per_fold"][3]["selected"]);
    let [low, high] = worth.interval.unwrap().map(vaglio::core::short);
    assert!(worth.to_string().contains(&format!("(95 % interval {low} to {high})")), "{worth}");
    assert!(format!("{worth:?}").len() < 1000, "{worth:?}");
    for (fold, expected) in worth.folds.iter().zip(done["nested"]["per_fold"].as_array().unwrap()) {
        assert_eq!(expected["loss"].as_f64(), Some(fold.loss));
        assert_eq!(serde_json::json!(fold.selected), expected["selected"]);
    }
}
