//! `constraints` of a search in pipelines: what a run, its plan and its explanation say of them.

use crate::common::{Folder, pipeline, table};
use serde_json::Value;

const SEARCH: &str = "preprocess: [{kind: interactions, columns: [x0, x1]}]\nlearner: {kind: rls, lambda: 1.0}\n\
                      search: {kind: greedy, choose: {folds: 3}, constraints: {signs: {x2: positive, x4: negative}, heredity: strong, \
                      at_most: {others: {columns: [x3, x5], count: 1}}, costs: {x0: 1, x1: 3, x3: 0.5, x5: 2}, budget: 4}}";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(40, 6, &[]));
    folder.write("p.yaml", pipeline(SEARCH));
    folder
}

#[test]
fn a_run_keeps_its_constraints_and_says_what_each_cost_buys() {
    let folder = folder("constraints_run");
    let found = folder.run_with(&["--nested", "3"]);
    let names: Vec<&str> = found["selected"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"x1") && !names.contains(&"x2"), "{names:?}");
    assert!(found["nested"]["loss"].is_number());
    let cost = |name: &str| {
        [("x0", 1.0), ("x1", 3.0), ("x3", 0.5), ("x5", 2.0)].iter().find(|c| c.0 == name).map_or(0.0, |c| c.1)
    };
    let candidates = found["candidates"].as_array().unwrap();
    let mut inside: Vec<&str> = Vec::new();
    for step in found["steps"].as_array().unwrap() {
        assert_eq!(step["action"], "add");
        inside.push(candidates[step["index"].as_u64().unwrap() as usize].as_str().unwrap());
        assert!(!inside.contains(&"x0*x1") || inside.contains(&"x0") && inside.contains(&"x1"), "{inside:?}");
        assert!(!(inside.contains(&"x3") && inside.contains(&"x5")), "{inside:?}");
        let total: f64 = inside.iter().map(|name| cost(name)).sum();
        assert!(total <= 4.0, "{inside:?}");
        let entry = found["path"].as_array().unwrap().iter().find(|entry| entry["size"] == step["size"]).unwrap();
        assert_eq!(entry["cost"], total, "{entry}");
    }
    assert_eq!(found["stop_reason"], "constraints");
    let frontier = found["frontier"].as_array().unwrap();
    let number = |point: &Value, key: &str| point[key].as_f64().unwrap();
    assert!(frontier.len() >= 2 && number(&frontier[0], "cost") == 0.0, "{frontier:?}");
    for pair in frontier.windows(2) {
        assert!(
            number(&pair[0], "cost") < number(&pair[1], "cost") && number(&pair[0], "loss") > number(&pair[1], "loss")
        );
    }
    let page = folder.read("out/report.html");
    assert!(page.contains("What each cost buys"));
    assert!(folder.read("out/resolved.yaml").contains("at_most"));
}

#[test]
fn plan_and_explain_tell_the_constraints() {
    let folder = folder("constraints_told");
    let plan = folder.vaglio(&["plan", "p.yaml"]).succeeded();
    assert!(
        plan.out.contains("x2 positive; x4 negative; at most 1 of others; strong heredity; costs up to 4"),
        "{}",
        plan.out
    );
    folder.run_with(&["--set", "search.choose=last"]);
    let told = folder.vaglio(&["explain", "out", "x2"]).succeeded();
    assert!(told.out.contains("the weight of `x2` would not be positive"), "{}", told.out);
    let other = if told.out.contains("x5") { "x3" } else { "x5" };
    let told = folder.vaglio(&["explain", "out", other]);
    assert!(told.out.contains("chosen, column") || told.out.contains("a constraint leaves it out"), "{}", told.out);
}

#[test]
fn constraints_that_cannot_hold_are_refused_by_the_plan() {
    let folder = folder("constraints_refused");
    for (set, words) in [
        ("search.constraints.signs={zz: positive}", "search.constraints.signs.zz"),
        ("search.constraints.budget=0", "search.constraints.budget"),
        ("search.forced=[x3, x5]", "constraints.at_most.others"),
        ("search.constraints.sign={x1: positive}", "sign"),
        ("model={kind: rls}", "search.constraints.signs"),
        ("search={kind: all, constraints: {at_most: {x*: 1}}}", "constraints"),
        (
            "search={kind: greedy, blocks: {p: [x3, x4]}, constraints: {at_most: {o: {columns: [x3, x5], count: 1}}}}",
            "block",
        ),
    ] {
        let ran = folder.vaglio(&["plan", "p.yaml", "--set", set]);
        assert!(
            ran.code == Some(2) && ran.err.contains(words) && ran.out.is_empty(),
            "{set}: {:?} {}",
            ran.code,
            ran.err
        );
    }
}
