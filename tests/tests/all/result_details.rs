//! Details of a result besides its figures: the target, the RMSE, one answer for every row, the columns of the data.

use crate::common::{Folder, names, pipeline, side, table};
use serde_json::{Value, json};
use vaglio_testkit::SplitMix64;

const LEVELS: [&str; 3] = ["low", "mid", "high"];

/// A row of `x, size, when, place, price (EUR), rare`.
fn row(x: f64, size: &str, year: usize, place: &str, y: f64, rare: &str) -> String {
    format!("{x},{size},{year}-03-01,{place},{y},{rare}\n")
}

/// Prices by a number, an order, a date and a factor; and a class that three rows of a hundred have.
fn prices(name: &str) -> Folder {
    let folder = Folder::new(name);
    let mut random = SplitMix64::new(11);
    let mut text = String::from("x,size,when,place,price (EUR),rare\n");
    for number in 0..100 {
        let (x, size, year) = (random.normal(), number * 7 % 3, 2001 + number * 5 % 9);
        let place = if number * 3 % 8 < 4 { "north" } else { "south" };
        let noise = 20.0 * random.normal();
        let y = 500.0 + 40.0 * x + 30.0 * size as f64 + 10.0 * (year - 2000) as f64 + noise;
        let y = y + if place == "north" { 25.0 } else { 0.0 };
        text += &row(x, LEVELS[size], year, place, y, if number % 33 == 1 { "Yes" } else { "No" });
    }
    folder.write("train.csv", text);
    folder
}

/// The pipeline on it.
fn priced(data: &str, lines: &str) -> String {
    format!(
        "version: 1\n\
         data: {{train: train.csv, {data}}}\n\
         preprocess: [{{kind: ordinal, order: {{size: [low, mid, high]}}}}, {{kind: date_parts, parts: [year]}}, one_hot, standardize]\n\
         {lines}\n"
    )
}

const PRICE: &str = "target: 'price (EUR)', exclude: [rare]";

#[test]
fn a_weight_of_a_code_is_told_for_one_step_of_it() {
    let folder = prices("codes");
    let selection = folder.run(&priced(PRICE, "search: all"));
    folder.write(
        "new.csv",
        String::from("x,size,when,place\n")
            + "0,low,2001-03-01,north\n0,mid,2001-03-01,north\n0,low,2003-03-01,north\n1,low,2001-03-01,north\n",
    );
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv"]).succeeded();
    let predicted: Vec<f64> = ran.out.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    let weight = |name: &str| {
        let selected = selection["selected"].as_array().unwrap();
        selected.iter().find(|s| s["name"] == name).unwrap()["original_weight"].as_f64().unwrap()
    };
    for (name, steps, row) in [("size", 1.0, 1), ("when_year", 2.0, 2), ("x", 1.0, 3)] {
        let change = predicted[row] - predicted[0];
        assert!((change - steps * weight(name)).abs() < 1e-9 * change.abs(), "{name}: {change} {}", weight(name));
    }
}

#[test]
fn a_factor_is_counted_once() {
    let folder = prices("sources");
    let lines = "search: {kind: greedy, choose: 5}\nevaluate: {nested: {folds: 4}, stability: {pairs: 4}}";
    let selection = folder.run(&priced(PRICE, lines));
    let of: Vec<&Value> = selection["data"]["made"].as_array().unwrap().iter().map(|made| &made["of"]).collect();
    assert_eq!(of, [&json!(["when"]), &json!(["place"])]);
    assert_eq!(selection["data"]["made"][1]["columns"].as_array().unwrap().len(), 2);
    // By hand: the share of folds that hold a level of the factor.
    let folds = selection["nested"]["per_fold"].as_array().unwrap();
    let holds = |fold: &&Value| {
        fold["selected"].as_array().unwrap().iter().any(|name| name.as_str().unwrap().starts_with("place="))
    };
    let expected = folds.iter().filter(holds).count() as f64 / folds.len() as f64;
    let share = |list: &Value, name: &str| {
        list.as_array().unwrap().iter().find(|f| f["name"] == name).map(|f| f["share"].as_f64().unwrap())
    };
    assert_eq!(share(&selection["nested"]["by_source"], "place"), Some(expected));
    assert_eq!(share(&selection["nested"]["by_source"], "when"), share(&selection["nested"]["frequency"], "when_year"));
    assert!(share(&selection["stability"]["by_source"], "place=north").is_none());
    let page = folder.read("out/report.html");
    assert!(page.contains("Column of the data") && page.contains("of place</span>"));
    let told = folder.vaglio(&["run", "p.yaml", "--out", "out"]).out;
    let at =
        |words: &str| told.lines().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}\n{told}"));
    assert_eq!(at("place=north").abs_diff(at("place=south")), 1, "{told}");
    assert!(told.contains("5 of 5 columns (of 4 in the data), 100 rows"), "{told}");
}

#[test]
fn figures_stand_beside_their_own_empty_model_and_the_target_comes_first() {
    let folder = prices("figures");
    folder.write("p.yaml", priced(&format!("{PRICE}, test_fraction: 0.3"), ""));
    let told = folder.vaglio(&["run", "p.yaml", "--out", "out"]).out;
    assert!(told.starts_with("target  price (EUR)\n"), "{told}");
    let selection = folder.json("out/selection.json");
    let test = |key: &str| selection["test"][key].as_f64().unwrap();
    let line = told.lines().find(|line| line.starts_with("test error ")).unwrap();
    let parts: Vec<f64> =
        line.split(|c: char| !(c.is_ascii_digit() || c == '.')).filter_map(|part| part.parse().ok()).collect();
    let (loss, around) = (test("loss"), 1.96 * test("standard_error"));
    let expected = [loss, 95.0, loss - around, loss + around, loss.sqrt(), test("empty_loss"), 30.0];
    assert_eq!(parts.len(), 7, "{line}");
    for (told, expected) in parts.iter().zip(expected) {
        assert!((told / expected - 1.0).abs() < 1e-3, "{line}: {expected}");
    }
    // By hand from R² of the training rows.
    let entry = &selection["path"][1];
    let (adjusted, rows) = (entry["adjusted_r2"].as_f64().unwrap(), 70.0);
    let text = folder.read("train.csv");
    let aside: Vec<usize> =
        selection["data"]["test_rows"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap() as usize).collect();
    let targets = text.lines().skip(1).zip(1..).filter(|(_, row)| !aside.contains(row));
    let targets: Vec<f64> = targets.map(|(line, _)| line.split(',').nth(4).unwrap().parse().unwrap()).collect();
    let mean = targets.iter().sum::<f64>() / rows;
    let variance = targets.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / rows;
    let by_hand = 1.0 - entry["train"].as_f64().unwrap() / variance * (rows - 1.0) / (rows - 3.0);
    assert!((adjusted - by_hand).abs() < 1e-10, "{adjusted} {by_hand}");
    let page = folder.read("out/report.html");
    assert!(page.contains("<h1>Target price (EUR) · out</h1>") && page.contains("without features, test: "));
}

#[test]
fn a_class_that_no_row_is_given_is_told() {
    let folder = prices("rare");
    folder.write("p.yaml", priced("target: rare, exclude: ['price (EUR)']", "criterion: {kind: loo, loss: zero_one}"));
    let told = folder.vaglio(&["run", "p.yaml", "--out", "out"]).out;
    assert!(told.starts_with("target  rare (No, Yes)\n") && told.contains("always No: 0.03"), "{told}");
    assert!(told.contains("warning: no row is called `Yes`, which 3 of 100 rows held out"), "{told}");
    assert_eq!(told.matches("no row is called").count(), 1);
    assert!(folder.read("out/report.html").contains("No row is called <code>Yes</code>"));
    // A class that is called is no news.
    folder.write("train.csv", crate::common::table(60, 4, &[("class", &side)]));
    let selection = folder.run("version: 1\ndata: {train: train.csv, target: class, exclude: [y]}\n");
    assert!(!selection["warnings"].to_string().contains("never_called"), "{}", selection["warnings"]);
}

#[test]
fn long_tables_are_cut_and_several_outputs_have_their_weights() {
    let folder = Folder::new("long");
    let more: crate::common::Made<'_> = ("z", &|row, y| (y + row as f64).to_string());
    folder.write("train.csv", crate::common::table(40, 60, &[more]));
    let of = |targets: &str, lines: &str| {
        folder.write("p.yaml", format!("version: 1\ndata: {{train: train.csv, {targets}}}\n{lines}\n"));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]).succeeded();
        ran.out
    };
    let told = of("target: y, exclude: [z]", "search: all");
    assert!(told.lines().count() <= 35, "{told}");
    assert!(told.contains("  …  40 more; the largest weights are above, all are in selection.json\n"), "{told}");
    let selection = folder.json("out/selection.json");
    let weight = |s: &Value| s["weight"].as_f64().unwrap().abs();
    let largest = selection["selected"].as_array().unwrap().iter().max_by(|a, b| weight(a).total_cmp(&weight(b)));
    let first = told.lines().nth(3).unwrap().to_owned();
    assert!(first.contains(largest.unwrap()["name"].as_str().unwrap()), "{first}");
    let told = of("target: y, exclude: [z]", "search: {kind: greedy, choose: 35, max_features: 35}");
    assert!(told.contains("  …  15 more; the first to enter are above"), "{told}");
    let told = of("target: [y, z]", "search: {kind: greedy, choose: 2}");
    assert!(told.starts_with("targets  y, z\n"), "{told}");
    let selection = folder.json("out/selection.json");
    let weight = |k: usize| vaglio::core::table_number(selection["selected"][0]["weight"][k].as_f64().unwrap());
    let first = told.lines().nth(3).unwrap();
    assert!(first.contains(names(&selection)[0]) && first.contains(&weight(0)) && first.contains(&weight(1)), "{told}");
}

/// A result without what older versions did not write.
fn aged(value: &mut Value) {
    match value {
        Value::Object(map) => {
            ["made", "by_source", "adjusted_r2", "always"].iter().for_each(|key| drop(map.remove(*key)));
            map.values_mut().for_each(aged);
        }
        Value::Array(list) => list.iter_mut().for_each(aged),
        _ => {}
    }
}

#[test]
fn older_results_are_still_read() {
    let folder = prices("aged");
    let lines = "evaluate: {nested: {folds: 3}, stability: {pairs: 2}}\nsearch: {kind: greedy, max_features: 3}";
    for (out, target) in [("out", PRICE), ("other", "target: rare, exclude: ['price (EUR)']")] {
        folder.write("p.yaml", priced(target, lines));
        folder.vaglio(&["run", "p.yaml", "--out", out, "--quiet"]).succeeded();
        let mut selection = folder.json(&format!("{out}/selection.json"));
        let text = selection.to_string();
        aged(&mut selection);
        assert!(selection.to_string().len() < text.len());
        folder.write(&format!("{out}/selection.json"), selection.to_string());
        folder.vaglio(&["report", out]).succeeded();
    }
    assert!(folder.read("other/report.html").contains("always No: 0.03"));
    let ran = folder.vaglio(&["compare", "out", "other"]).succeeded();
    assert!(ran.out.lines().next().unwrap().split_whitespace().any(|word| word == "RMSE"), "{}", ran.out);
}

/// Errors of 1e-9 are told apart wherever numbers are printed, and large ones are no line of digits.
#[test]
fn numbers_have_four_to_six_digits_in_any_unit() {
    let folder = Folder::new("units-of-numbers");
    for unit in [1e-4, 1.0, 1e30] {
        let mut text = String::from("a,b,y\n");
        let mut random = SplitMix64::new(3);
        for _ in 0..24 {
            let (a, b) = (random.normal(), random.normal());
            text += &format!("{a},{b},{:e}\n", unit * (a + 0.3 * random.normal()));
        }
        folder.write("train.csv", text);
        folder.write(
            "p.yaml",
            pipeline("search: {kind: greedy, choose: best}\nevaluate: {nested: {folds: 3}, permutations: 5}"),
        );
        let mut told = String::new();
        for arguments in [
            &["run", "p.yaml", "--out", "out"][..],
            &["explain", "out", "a", "b"],
            &["compare", "out", "out"],
            &["predict", "--model", "out/model.json", "--data", "train.csv", "--out", "p.csv", "--evaluate"],
            &["export", "out", "--to", "methods"],
        ] {
            let ran = folder.vaglio(arguments);
            assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.err);
            // A digest is no number.
            let is_of_numbers = |line: &&str| !line.contains("blake3");
            told += &(ran.out + &ran.err).lines().filter(is_of_numbers).collect::<Vec<_>>().join("\n");
        }
        let is_of_number = |c: char| c.is_ascii_digit() || "-.e".contains(c);
        for word in told.split(|c: char| !is_of_number(c)) {
            let digits = word.trim_start_matches('-').split('e').next().unwrap().replace('.', "");
            let significant = digits.trim_start_matches('0').trim_end_matches('0');
            let is_zero = word.contains('.') && significant.is_empty() && digits.len() > 4;
            assert!(!is_zero && significant.len() <= 7, "{word} in {told}");
        }
        assert!(!told.split(|c: char| !c.is_alphanumeric()).any(|word| word == "inf"), "{told}");
    }
}

/// A key that is not in the file has no line in it.
#[test]
fn what_the_file_lacks_is_said_to_be_missing_and_nothing_is_marked() {
    let folder = Folder::new("not-in-the-file");
    folder.write("train.csv", table(12, 3, &[("w", &|row, _| if row == 2 { "text".into() } else { row.to_string() })]));
    folder.write("p.yaml", "version: 1\ndata:\n  train: train.csv\n  target: y\n");
    let ran = folder.vaglio(&["run", "p.yaml", "--set", "criterion=nonesuch"]);
    assert!(ran.code == Some(2) && !ran.err.contains("^ here"), "{}", ran.err);
    folder.write("q.yaml", "version: 1\n");
    let ran = folder.vaglio(&["run", "q.yaml"]);
    assert!(ran.err.starts_with("error: q.yaml: `data`: ") && !ran.err.contains("^ here"), "{}", ran.err);
}
