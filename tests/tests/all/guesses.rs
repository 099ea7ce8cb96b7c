//! Models that know nothing: their losses are what guessing gets, their labels the more frequent class, and noise gains nothing
//! over them.

use crate::common::{Folder, case_stride, names, pipeline, side, table};
use serde_json::Value;
use std::fmt::Write;
use vaglio_testkit::SplitMix64;

/// A table of noise with so many rows of each class, in random order.
fn noise(classes: &[(&str, usize)], columns: usize, seed: u64) -> String {
    let mut random = SplitMix64::new(seed);
    let mut labels: Vec<&str> = classes.iter().flat_map(|&(label, rows)| vec![label; rows]).collect();
    for place in (1..labels.len()).rev() {
        labels.swap(place, random.below(place + 1));
    }
    let mut text: String = (0..columns).map(|k| format!("x{k},")).collect();
    text += "y\n";
    for label in labels {
        (0..columns).for_each(|_| write!(text, "{:.4},", random.normal()).unwrap());
        writeln!(text, "{label}").unwrap();
    }
    text
}

fn near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-12)
}

/// The numbers of a line that begins with a name.
fn told(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}\n{text}"));
    line.trim_start_matches(name).split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_model_that_knows_nothing_errs_like_a_guess_and_calls_the_more_frequent_class() {
    let third = 2.0 / 3.0;
    type Case<'c> = (&'c [(&'c str, usize)], &'c str, &'c str, f64, &'c str);
    let cases: [Case<'_>; 8] = [
        (&[("a", 20), ("b", 20)], "zero_one", "rls", 0.5, "a"),
        (&[("a", 20), ("b", 20)], "balanced_error", "crrr", 0.5, "a"),
        (&[("rare", 11), ("usual", 73)], "zero_one", "crrr", 0.5, "usual"),
        (&[("rare", 11), ("usual", 77)], "balanced_error", "crrr", 0.5, "usual"),
        (&[("usual", 77), ("very rare", 11)], "balanced_error", "crrr", 0.5, "usual"),
        (&[("a", 12), ("b", 12), ("c", 12)], "zero_one", "rls", third, "a"),
        (&[("a", 12), ("b", 12), ("c", 12)], "balanced_error", "crrr", third, "a"),
        (&[("a", 9), ("b", 15), ("c", 12)], "balanced_error", "crrr", third, "b"),
    ];
    for (classes, loss, learner, expected, label) in cases {
        let case = format!("{classes:?} {loss} {learner}");
        let folder = Folder::new("guesses");
        folder.write("train.csv", noise(classes, 2, 5));
        folder.write("test.csv", noise(&classes.iter().map(|(label, _)| (*label, 3)).collect::<Vec<_>>(), 2, 6));
        let selection = folder.run(&format!(
            "version: 1\ndata: {{train: train.csv, test: test.csv, target: y}}\npreprocess: [standardize]\nlearner: {learner}\n\
             criterion: {{kind: kfold, folds: 4, stratified: true, loss: {loss}}}\nsearch: {{kind: greedy, choose: {{folds: 4, \
             at_most: 0}}}}\nevaluate: {{nested: {{folds: 4}}}}\n"
        ));
        assert!(
            near(&selection["empty_score"], expected) && near(&selection["score"], expected),
            "{case}: {selection}"
        );
        for figure in ["chosen", "nested", "test"] {
            assert!(near(&selection[figure]["empty_loss"], expected), "{case}: {}", selection[figure]);
        }
        assert!(near(&selection["test"]["loss"], expected) && near(&selection["nested"]["loss"], expected), "{case}");
        let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "test.csv", "--evaluate"]);
        let of_test = |figure: &str| told(&ran.err, figure);
        for figure in ["error rate", "balanced error rate"] {
            assert!((of_test(figure) - expected).abs() < 1e-5, "{case}: {}", ran.err);
        }
        assert!(ran.err.contains(&format!("{} rows: the error rates count a guess", 3 * classes.len())), "{}", ran.err);
        assert!(ran.out.lines().skip(1).all(|line| line.ends_with(&format!(",{label}"))), "{case}: {}", ran.out);
        let counts: Vec<Vec<u64>> = serde_json::from_value(selection["test"]["confusion"].clone()).unwrap();
        let called = classes.iter().position(|(own, _)| *own == label).unwrap();
        assert!(counts.iter().all(|row| row[called] == 3), "{case}: {counts:?}");
        let sql = folder.vaglio(&["export", "out", "--to", "sql"]).out;
        let is_first_of_two = classes.len() == 2 && called == 0;
        let rule = if classes.len() > 2 {
            "+ 1e-12 >="
        } else if is_first_of_two {
            "> 1e-12"
        } else {
            "> -1e-12"
        };
        assert!(sql.contains(rule), "{case}: {sql}");
    }
}

#[test]
fn noise_gains_nothing_over_none_in_the_pipeline_of_a_rare_class() {
    let taken = (0_u64..8).step_by(case_stride(2)).filter(|seed| {
        let folder = Folder::new("rare-noise");
        folder.write("t.csv", noise(&[("well", 185), ("ill", 15)], 10, 100 + seed));
        folder.vaglio(&["init", "t.csv", "--target", "y"]).succeeded();
        let text = folder.read("t.yaml");
        assert!(text.contains("kind: crrr") && text.contains("loss: balanced_squared"), "{text}");
        folder.vaglio(&["run", "t.yaml", "--out", "out", "--quiet"]).succeeded();
        !names(&folder.json("out/selection.json")).is_empty()
    });
    assert_eq!(taken.count(), 0);
}

#[test]
fn even_classes_of_noise_take_no_columns_for_the_error_rate() {
    for loss in ["zero_one", "balanced_error"] {
        let folder = Folder::new("even-noise");
        folder.write("train.csv", noise(&[("a", 40), ("b", 40)], 10, 3));
        let criterion = format!("criterion: {{kind: kfold, folds: 5, stratified: true, shuffle: true, loss: {loss}}}");
        let selection = folder.run(&pipeline(&format!("preprocess: [standardize]\n{criterion}")));
        assert!(
            names(&selection).is_empty() && near(&selection["chosen"]["empty_loss"], 0.5),
            "{}",
            selection["chosen"]
        );
    }
}

#[test]
fn single_rows_held_out_under_losses_of_orders_and_classes_are_warned_of() {
    let folder = Folder::new("leaning");
    folder.write("train.csv", table(40, 3, &[("class", &side)]));
    let classes = ["auc", "zero_one", "balanced_error"].map(|loss| (loss, "target: class, exclude: [y]", true));
    let numbers =
        [("concordance", "target: y, exclude: [class]", true), ("absolute", "target: y, exclude: [class]", false)];
    for (loss, data, leans) in
        classes.into_iter().chain(numbers).chain([("squared", "target: class, exclude: [y]", false)])
    {
        for (criterion, is_single) in
            [("kind: loo", true), ("kind: kfold, folds: 40", true), ("kind: kfold, folds: 5, shuffle: true", false)]
        {
            let yaml =
                format!("version: 1\ndata: {{train: train.csv, {data}}}\ncriterion: {{{criterion}, loss: {loss}}}\n");
            let selection = folder.run(&yaml);
            let is_told = selection["warnings"].to_string().contains("single_rows_held_out");
            assert_eq!(is_told, leans && is_single, "{criterion} {loss}: {}", selection["warnings"]);
            let plan = folder.vaglio(&["plan", "p.yaml"]).out;
            assert_eq!(plan.contains("warning     leaving one row out biases"), is_told, "{criterion} {loss}: {plan}");
        }
    }
}

#[test]
fn groups_with_rows_in_several_folds_are_warned_of() {
    let folder = Folder::new("separated-groups");
    let pair = |row: usize, _: f64| format!("p{}", row / 2);
    let single = |row: usize, _: f64| format!("s{row}");
    folder.write("train.csv", table(40, 3, &[("pair", &pair), ("single", &single)]));
    for (criterion, separates) in [
        ("loo", true),
        ("{kind: kfold, folds: 5, shuffle: true}", true),
        // The first fold ends after seven rows.
        ("{kind: kfold, folds: 6}", true),
        ("{kind: kfold, splits: {kind: monte_carlo, repeats: 3, fraction: 0.2}}", false),
        ("{kind: kfold, folds: 5}", false),
        ("{kind: kfold, by: groups}", false),
        ("{kind: kfold, by: groups, folds: 4}", false),
        ("{kind: information, measure: bic}", false),
        ("nhsic", false),
    ] {
        for (data, is_separated) in [
            ("target: y, groups: pair, exclude: [single]", separates),
            ("target: y, groups: single, exclude: [pair]", false),
        ] {
            let selection = folder.run(&format!(
                "version: 1\ndata: {{train: train.csv, {data}}}\ncriterion: {criterion}\nsearch: {{kind: greedy, max_features: 1, choose: last}}\n"
            ));
            let is_told = selection["warnings"].to_string().contains("groups_on_both_sides");
            assert_eq!(is_told, is_separated, "{criterion} {data}: {}", selection["warnings"]);
            let plan = folder.vaglio(&["plan", "p.yaml"]).out;
            assert_eq!(plan.contains("warning     rows of one group"), is_told, "{criterion} {data}: {plan}");
        }
    }
}

#[test]
fn no_column_is_taken_for_a_loss_that_is_lower_by_rounding() {
    let folder = Folder::new("two-rows");
    for (first, second) in [(0.1, 0.7), (1.3, 4.9), (-3.0, 0.01)] {
        folder.write("train.csv", format!("a,b,y\n{first},{second},1\n{second},{first},4\n"));
        for search in ["greedy", "floating"] {
            let lines = format!("preprocess: [standardize]\nsearch: {{kind: {search}, max_features: 2, choose: best}}");
            let selection = folder.run(&pipeline(&lines));
            assert!(names(&selection).is_empty(), "{first} {second} {search}: {}", selection["path"]);
        }
    }
}

#[test]
fn the_error_rate_of_one_answer_stands_in_for_a_worse_one_of_no_columns() {
    let folder = Folder::new("baselines");
    folder.write("train.csv", noise(&[("a", 20), ("b", 20)], 2, 8));
    folder.write(
        "p.yaml",
        pipeline("criterion: {kind: kfold, folds: 10, stratified: true, loss: zero_one}\nsearch: {kind: all, choose: {folds: 40}}"),
    );
    let told = folder.vaglio(&["run", "p.yaml", "--out", "out"]).out;
    let line = told.lines().find(|line| line.starts_with("40-fold error")).unwrap();
    assert!(line.contains("(always a: 0.5)") && !line.contains("without features"), "{told}");
}

#[test]
fn labels_are_said_to_follow_predictions_where_probabilities_part_from_them() {
    let folder = Folder::new("beside-labels");
    folder
        .write("train.csv", table(200, 3, &[("class", &|_, y| if y > 8.0 { "rare".into() } else { "usual".into() })]));
    let told = |learner: &str| {
        folder.run(&format!(
            "version: 1\ndata: {{train: train.csv, target: class, exclude: [y], positive: rare}}\nlearner: {learner}\n\
             criterion: {{kind: kfold, folds: 5, stratified: true}}\nsearch: all\n"
        ));
        folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv", "--proba"])
    };
    let ran = told("crrr");
    assert!(ran.err.starts_with("`label` is `rare` where `proba_rare` is above 0."), "{}", ran.err);
    let at: f64 = told_after(&ran.err, "is above ");
    for line in ran.out.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let probability: f64 = cells.last().unwrap().parse().unwrap();
        // The line has three digits of it.
        assert!((probability - at).abs() < 1e-3 || cells.contains(&"rare") == (probability > at), "{line}: {at}");
    }
}

fn told_after(text: &str, words: &str) -> f64 {
    text.split(words).nth(1).and_then(|rest| rest.split(',').next()).unwrap().parse().unwrap()
}
