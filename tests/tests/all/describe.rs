//! Descriptions that the program gives of itself and of a planned run.

use crate::common::{Folder, case_stride, pipeline, root, table};
use serde_json::{Value, json};
use vaglio_pipeline::document::Node;

fn schema(folder: &Folder) -> Value {
    let ran = folder.vaglio(&["schema"]).succeeded_silently();
    serde_json::from_str(&ran.out).unwrap()
}

/// Fault of a value, by the parts of JSON Schema that the pipeline's schema uses.
fn fault(value: &Value, schema: &Value, root: &Value) -> Option<String> {
    if let Some(found) = schema.as_bool() {
        return (!found).then(|| format!("{value} is not allowed"));
    }
    if let Some(name) = schema["$ref"].as_str() {
        return fault(value, root.pointer(&name[1..]).unwrap_or_else(|| panic!("{name} leads nowhere")), root);
    }
    let list = |key: &str| schema[key].as_array().cloned().unwrap_or_default();
    for (key, most) in [("oneOf", 1), ("anyOf", usize::MAX)] {
        let fitting = list(key).iter().filter(|s| fault(value, s, root).is_none()).count();
        if schema.get(key).is_some() && !(1..=most).contains(&fitting) {
            return Some(format!("{value} fits {fitting} of {key}"));
        }
    }
    if let Some(found) = list("allOf").iter().find_map(|s| fault(value, s, root)) {
        return Some(found);
    }
    if let Some(condition) = schema.get("if") {
        let branch = if fault(value, condition, root).is_none() { "then" } else { "else" };
        if let Some(found) = schema.get(branch).and_then(|s| fault(value, s, root)) {
            return Some(found);
        }
    }
    if let Some(number) = value.as_f64() {
        let bound = |key: &str| schema[key].as_f64();
        let inside = bound("minimum").is_none_or(|least| number >= least)
            && bound("maximum").is_none_or(|most| number <= most)
            && bound("exclusiveMinimum").is_none_or(|below| number > below)
            && bound("exclusiveMaximum").is_none_or(|above| number < above);
        if !inside {
            return Some(format!("{value} is out of the bounds of {schema}"));
        }
    }
    let types = if schema["type"].is_array() { list("type") } else { vec![schema["type"].clone()] };
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("type {other}"),
    };
    if schema.get("type").is_some() && !types.iter().filter_map(Value::as_str).any(is) {
        return Some(format!("{value} is not of type {}", schema["type"]));
    }
    if schema.get("const").is_some_and(|c| c != value) || schema.get("enum").is_some() && !list("enum").contains(value)
    {
        return Some(format!("{value} is not one of {}", schema.get("enum").unwrap_or(&schema["const"])));
    }
    if let Some(object) = value.as_object() {
        if let Some(missing) = list("required").iter().filter_map(Value::as_str).find(|key| !object.contains_key(*key))
        {
            return Some(format!("{missing} is missing in {value}"));
        }
        for (key, item) in object {
            let inner = schema["properties"].get(key).or(schema.get("additionalProperties"));
            if let Some(found) = inner.and_then(|s| fault(item, s, root)) {
                return Some(format!("{key}: {found}"));
            }
        }
    }
    value.as_array().and_then(|items| items.iter().find_map(|item| fault(item, schema.get("items")?, root)))
}

fn tree(text: &str) -> Value {
    Node::parse(text, "p.yaml").unwrap().read().unwrap()
}

#[test]
fn the_list_names_every_component() {
    let folder = Folder::new("list");
    let ran = folder.vaglio(&["list", "--json"]).succeeded_silently();
    let list: Value = serde_json::from_str(&ran.out).unwrap();
    let text = folder.vaglio(&["list"]).out;
    for (role, kind, package) in [
        ("criterion", "loo", "vaglio-validate"),
        ("criterion", "hsic", "vaglio-dependence"),
        ("criterion", "information", "vaglio-information"),
        ("criterion", "mrmr", "vaglio-dependence"),
        ("criterion", "mrmr_information", "vaglio-dependence"),
        ("criterion", "qpfs", "vaglio-dependence"),
        ("criterion", "fcbf", "vaglio-dependence"),
        ("criterion", "hiton_pc", "vaglio-dependence"),
        ("criterion", "hsfs", "vaglio-dependence"),
        ("criterion", "spam", "vaglio-dependence"),
        ("search", "greedy", "vaglio-search"),
        ("learner", "rls", "vaglio-pipeline"),
        ("map", "constant", "vaglio-maps"),
        ("map", "date_parts", "vaglio-maps"),
        ("map", "impute", "vaglio-maps"),
        ("map", "one_hot", "vaglio-maps"),
        ("map", "standardize", "vaglio-maps"),
        ("loss", "squared", "vaglio-core"),
        ("loss", "zero_one", "vaglio-core"),
        ("loss", "balanced_error", "vaglio-core"),
        ("loss", "absolute", "vaglio-core"),
    ] {
        let found = list.as_array().unwrap().iter().find(|c| c["role"] == role && c["kind"] == kind);
        let found = found.unwrap_or_else(|| panic!("{kind} is not listed"));
        assert_eq!(found["crate"], package);
        let example = found["example"].as_str().unwrap().lines();
        let mut lines = [kind, found["summary"].as_str().unwrap()].into_iter().chain(example);
        assert!(lines.all(|words| text.contains(words)), "{kind}\n{text}");
    }
}

#[test]
fn every_listed_example_is_part_of_a_pipeline_that_runs() {
    let folder = Folder::new("listed");
    // Classes in turn, so that contiguous folds have both.
    let class = |row: usize, _: f64| ["low", "high"][row % 2].to_owned();
    let positive = |row: usize, y: f64| (y.abs() + row as f64).to_string();
    let (width, height) = (|row: usize, _: f64| (row % 7).to_string(), |row: usize, _: f64| (row * 5 % 11).to_string());
    let size = |row: usize, _: f64| ["low", "mid", "high"][row % 3].to_owned();
    let part = |row: usize, _: f64| if row % 5 < 2 { "validation".to_owned() } else { "train".to_owned() };
    let extra: [crate::common::Made<'_>; 6] = [
        ("class", &class),
        ("price", &positive),
        ("width", &width),
        ("height", &height),
        ("size", &size),
        ("part", &part),
    ];
    folder.write("train.csv", table(30, 4, &extra));
    let schema = schema(&folder);
    let list: Value = serde_json::from_str(&folder.vaglio(&["list", "--json"]).out).unwrap();
    let stride = case_stride(2);
    for (place, component) in list.as_array().unwrap().iter().enumerate() {
        let [kind, example] = ["kind", "example"].map(|key| component[key].as_str().unwrap());
        let losses = ["zero_one", "balanced_error", "balanced_squared", "auc", "log_loss"];
        let learners = ["crrr", "kernel_logistic", "logistic", "logistic_ridge", "naive_bayes", "tree"];
        let classes = losses.contains(&kind) || learners.contains(&kind);
        let numbers = example.starts_with("target_map") || ["elastic_net", "concordance"].contains(&kind);
        // Parts of either task meet one in turn.
        let (first, step) = if classes || numbers { (0, 1) } else { (place % stride, stride) };
        let targets = ["target: y, exclude: [class, size, part]", "target: class, exclude: [y, size, part]"];
        for target in targets.into_iter().skip(first).step_by(step) {
            // Text is there for those that take it.
            let named =
                [("size", "size"), ("part", "column: part")].into_iter().filter(|(_, words)| example.contains(words));
            let target = named.fold(target.to_owned(), |target, (name, _)| target.replace(&format!(", {name}"), ""));
            let target = if example.contains("within") { format!("series: width, {target}") } else { target };
            // A search over all columns of a hidden layer, or without shortcuts, takes long, as does a choice among sizes.
            let is_slow = component["role"] == "learner" && !["rls", "crrr"].contains(&kind);
            let criterion = if is_slow { "\ncriterion: {kind: kfold, folds: 3}" } else { "" };
            let has_search = example.contains("search:");
            let search = if has_search { "" } else { "\nsearch: {kind: greedy, max_features: 1, choose: last}" };
            let yaml = pipeline(&format!("{example}{criterion}{search}")).replace("target: y", &target);
            assert_eq!(fault(&tree(&yaml), &schema, &schema), None, "{yaml}");
            folder.write("p.yaml", &yaml);
            let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--json"]);
            // Nothing is run that the user has not allowed.
            let is_program = component["crate"] == "vaglio-external";
            assert_eq!(ran.err.contains("`--allow-programs`"), is_program, "{}", ran.err);
            let refused =
                is_program || classes && target.contains("target: y") || numbers && target.contains("target: class");
            assert_eq!(ran.code, Some(if refused { 2 } else { 0 }), "{yaml}\n{}", ran.err);
        }
    }
}

#[test]
fn the_schema_takes_what_runs_and_refuses_what_does_not() {
    let folder = Folder::new("schema");
    let schema = schema(&folder);
    let text = schema.to_string();
    for kind in "loo kfold external information hsic mrmr mrmr_information qpfs fcbf hiton_pc hsfs spam greedy backward floating exhaustive lars rank random beam rls crrr elm fs_ls_svm knn kernel_logistic reservoir logistic logistic_ridge naive_bayes tree svm elastic_net one_hot standardize window constant impute date_parts log1p power clip ordinal interactions polynomial target_encode within huber pinball log_loss given repeated forward monte_carlo".split(' ') {
        assert!(text.contains(&format!("{{\"const\":\"{kind}\"}}")), "{kind}");
    }
    let folders = ["examples/pipelines", "examples/cookbook"];
    for entry in folders.iter().flat_map(|folder| std::fs::read_dir(root().join(folder)).unwrap()) {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let yaml = std::fs::read_to_string(&path).unwrap();
        assert_eq!(fault(&tree(&yaml), &schema, &schema), None, "{}", path.display());
    }
    folder.write("train.csv", table(20, 4, &[]));
    folder.run(&pipeline("preprocess: [standardize]\ncriterion: loo\nsearch: {kind: greedy, max_features: 2}"));
    assert_eq!(
        fault(&tree(&folder.read("out/resolved.yaml")), &schema, &schema),
        None,
        "{}",
        folder.read("out/resolved.yaml")
    );
    for bad in [
        "sed: 1",
        "search: gredy",
        "learner: {kind: rls, lamda: 1}",
        "preprocess: one_hot",
        "criterion: {kind: loo, loss: x}",
    ] {
        assert!(fault(&tree(&pipeline(bad)), &schema, &schema).is_some(), "{bad}");
    }
    assert!(fault(&json!({"version": 2, "data": {"train": "x", "target": "y"}}), &schema, &schema).is_some());
}

#[test]
fn the_schema_names_the_words_that_there_are() {
    let folder = Folder::new("schema-words");
    let schema = schema(&folder);
    for (bad, start) in [
        ("search: gredy", "search: \"gredy\" is not one of [\"all\",\"backward\","),
        ("search: {kind: gredy}", "search: kind: \"gredy\" is not one of [\"all\",\"backward\","),
        ("search: [greedy, {kind: gredy}]", "search: kind: \"gredy\" is not one of ["),
        ("search: {max_features: 3}", "search: kind is missing in "),
        ("search: {kind: greedy, max_feature: 3}", "search: max_feature: 3 is not allowed"),
        ("search: 3", "search: 3 is not of type"),
        ("learner: rsl", "learner: \"rsl\" is not one of ["),
        ("criterion: {kind: kflod}", "criterion: kind: \"kflod\" is not one of ["),
        ("criterion: {kind: loo, loss: square}", "criterion: loss: \"square\" is not one of [\"absolute\",\"auc\","),
        ("criterion: {kind: kfold, splits: {kind: given}}", "criterion: splits: "),
        ("preprocess: [{kind: standardise}]", "preprocess: kind: \"standardise\" is not one of ["),
        ("tune: {method: x, parameters: {}}", "tune: method: \"x\" is not one of [\"nelder_mead\","),
        ("tune: {budget: 0, parameters: {}}", "tune: budget: 0 is out of the bounds"),
        ("criterion: {kind: kfold, folds: 1}", "criterion: folds: 1 is out of the bounds"),
        ("search: {kind: greedy, choose: {folds: 1}}", "search: choose: "),
        ("evaluate: {nested: {folds: 1}}", "evaluate: nested: "),
        ("evaluate: {permutations: 0}", "evaluate: permutations: 0 is out of the bounds"),
        ("evaluate: {intervals: 1}", "evaluate: intervals: 1 is out of the bounds"),
    ] {
        let found = fault(&tree(&pipeline(bad)), &schema, &schema).unwrap_or_else(|| panic!("{bad} is taken"));
        assert!(found.starts_with(start), "{bad}\n{found}");
    }
    for fraction in ["0", "1", "2", "-0.5"] {
        let yaml = pipeline("").replace("target: y", &format!("target: y, test_fraction: {fraction}"));
        assert!(fault(&tree(&yaml), &schema, &schema).is_some(), "{yaml}");
    }
    for good in [
        "search: greedy",
        "search: [rank, {kind: greedy}]",
        "learner: rls",
        "criterion: {kind: kfold, folds: 2}",
        "criterion: {kind: kfold, splits: {kind: given, column: part}}",
        "criterion: {kind: kfold, folds: null}",
    ] {
        assert_eq!(fault(&tree(&pipeline(good)), &schema, &schema), None, "{good}");
    }
}

#[test]
fn parts_that_a_file_does_not_name_are_told() {
    let folder = Folder::new("defaults");
    folder.write("train.csv", table(20, 4, &[]));
    for (lines, expected) in [
        ("", "learner rls, criterion loo, search greedy\n"),
        ("search: greedy", "learner rls, criterion loo\n"),
        ("learner: rls\ncriterion: {kind: loo}\nsearch: greedy", ""),
    ] {
        folder.write("p.yaml", pipeline(lines));
        let plan = folder.vaglio(&["plan", "p.yaml"]);
        let run = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
        assert_eq!((plan.code, run.code), (Some(0), Some(0)), "{}{}", plan.err, run.err);
        let line = plan.out.lines().find_map(|line| line.strip_prefix("by default  "));
        assert_eq!(line.unwrap_or_default(), expected.trim_end(), "{}", plan.out);
        assert_eq!(run.err.contains("by default: "), !expected.is_empty(), "{}", run.err);
        assert!(run.err.contains(expected), "{}", run.err);
        assert_eq!(folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet"]).err, "", "{lines}");
    }
}

#[test]
fn a_plan_says_what_a_run_would_do() {
    let folder = Folder::new("plan");
    folder.write("train.csv", table(40, 6, &[("k", &|_, _| "1".into())]));
    let lines =
        "learner: {kind: rls, lambda: {grid: {from: 0.1, to: 10, points: 3}}}\nsearch: {kind: greedy, max_features: 3}";
    folder.write("p.yaml", pipeline(lines));
    let ran = folder.vaglio(&["plan", "p.yaml"]).succeeded_silently();
    let expected = [
        ("data", "40 rows, 7 candidate columns, regression"),
        ("", "1 constant column is never selected (k)"),
        ("engine", "states: "),
        ("search", "at most 3 steps to 3 columns; 15 subsets compared"),
        ("lambda", "3 values from 0.1 to 10"),
        ("folds", "every one of 40 rows is left out once"),
        ("work", "floating-point operations"),
        ("memory", " at its peak: "),
        ("walks", "16: 5 folds of the rows × 3 values of lambda, and one of all rows"),
        ("time", " s at 2 Gflop/s"),
    ];
    for (name, words) in expected {
        assert!(
            ran.out.lines().any(|line| line.starts_with(name) && line.contains(words)),
            "{name} {words}\n{}",
            ran.out
        );
    }
    assert!(!folder.path("runs").exists());
    let ran = folder.vaglio(&["plan", "p.yaml", "--set", "learner.lambda=2", "--set", "criterion=mrmr"]).succeeded();
    assert!(ran.out.lines().any(|line| line.starts_with("lambda") && line.ends_with(" 2")), "{}", ran.out);
}
