//! Settings of the learner that the criterion chooses before the search.

use crate::common::{Folder, names, pipeline, table, timeless};
use serde_json::Value;

const TUNE: &str = "tune: {budget: 25, parameters: {learner.lambda: {from: 1e-3, to: 1e3, scale: log}}}";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let class = |row: usize, _: f64| ["low", "high"][row % 2].to_owned();
    folder.write("train.csv", table(40, 5, &[("class", &class)]));
    folder
}

fn on_numbers(lines: &str) -> String {
    let learner = if lines.contains("learner: ") { "" } else { "\nlearner: rls" };
    pipeline(&format!("{lines}{learner}")).replace("target: y", "target: y, exclude: [class]")
}

/// The score of all columns at a λ, by the run whose search keeps them all.
fn all_at(folder: &Folder, lambda: f64) -> f64 {
    let lines = format!("learner: {{kind: rls, lambda: {lambda}}}\nsearch: {{kind: backward, min_features: 5}}");
    folder.run(&on_numbers(&lines))["score"].as_f64().unwrap()
}

#[test]
fn the_tuned_penalty_scores_what_a_run_with_it_scores_and_lower_than_others() {
    let folder = folder("tune-all");
    for method in ["nelder_mead", "particle_swarm"] {
        let tune = TUNE.replace("budget", &format!("method: {method}, budget"));
        let found = folder.run(&on_numbers(&format!("{tune}\nsearch: {{kind: greedy, max_features: 2}}")));
        let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
        assert_eq!(keys[6..9], ["pipeline", "tuned", "data"]);
        let tuned = &found["tuned"];
        let keys: Vec<&String> = tuned.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["method", "evaluations", "score", "parameters"]);
        assert_eq!(tuned["method"], method);
        assert!((3..=25).contains(&tuned["evaluations"].as_u64().unwrap()), "{tuned}");
        let lambda = tuned["parameters"]["learner.lambda"].as_f64().unwrap();
        // The search, the model and the table use it.
        assert_eq!(found["lambda"], lambda);
        let score = tuned["score"].as_f64().unwrap();
        assert!((score - all_at(&folder, lambda)).abs() < 1e-12 * score, "{score}");
        for other in [1e-3, 1.0, 30.0, 1e3] {
            assert!(score <= all_at(&folder, other) * (1.0 + 1e-9), "{other}");
        }
    }
    assert!(folder.run(&on_numbers("")).get("tuned").is_none());
}

#[test]
fn a_score_by_search_is_that_of_its_result() {
    let folder = folder("tune-search");
    let lines =
        format!("{}\nsearch: {{kind: greedy, max_features: 2}}", TUNE.replace("budget", "score: search, budget"));
    let found = folder.run(&on_numbers(&lines));
    assert_eq!(found["tuned"]["score"], found["score"]);
    let plain = folder.run(&on_numbers("search: {kind: greedy, max_features: 2}"));
    assert!(found["score"].as_f64().unwrap() <= plain["score"].as_f64().unwrap());
}

#[test]
fn whole_numbers_of_a_plug_in_are_tuned_on_any_number_of_threads() {
    let folder = folder("tune-threads");
    let lines = "learner: {kind: knn}\ncriterion: {kind: kfold, folds: 4}\nsearch: {kind: greedy, max_features: 3}
tune: {method: particle_swarm, budget: 12, parameters: {learner.neighbours: {from: 1, to: 20, integer: true}}}";
    let mut results = Vec::new();
    for threads in ["1", "2"] {
        folder.write("p.yaml", on_numbers(lines));
        let ran =
            folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet", "--json", "--threads", threads]).succeeded();
        results.push(timeless(serde_json::from_str(&ran.out).unwrap()));
    }
    assert_eq!(results[0], results[1]);
    let tuned = &results[0]["tuned"];
    assert!(tuned["parameters"]["learner.neighbours"].is_u64(), "{tuned}");
    assert!(tuned["evaluations"].as_u64().unwrap() <= 12);
    let other = folder.run(&on_numbers(&lines.replace("tune:", "seed: 9\ntune:")));
    assert!(other["tuned"]["evaluations"].as_u64().unwrap() <= 12);
}

#[test]
fn a_resolved_pipeline_tunes_again_and_files_say_so() {
    let folder = folder("tune-resolved");
    let found = folder.run(&on_numbers(TUNE));
    let resolved = folder.read("out/resolved.yaml");
    assert!(resolved.contains("tune:") && resolved.contains("learner.lambda"), "{resolved}");
    let ran = folder.vaglio(&["run", "out/resolved.yaml", "--out", "again", "--json"]).succeeded();
    assert_eq!(timeless(serde_json::from_str(&ran.out).unwrap()), timeless(found.clone()));
    assert_eq!(folder.read("again/model.json"), folder.read("out/model.json"));
    let report = folder.read("out/report.html");
    for words in ["Tuned settings", "learner.lambda", "tuned on all rows"] {
        assert!(report.contains(words), "{words}");
    }
    let table = folder.vaglio(&["run", "p.yaml", "--out", "out"]).out;
    let lambda = vaglio::core::short(found["tuned"]["parameters"]["learner.lambda"].as_f64().unwrap());
    assert!(table.contains(&format!("evaluations: learner.lambda = {lambda}\n")), "{table}");
    assert!(table.contains("the settings were tuned on all rows"), "{table}");
    folder.run(&on_numbers(""));
    assert!(!folder.read("out/report.html").contains("Tuned settings"));
    assert!(!folder.read("out/resolved.yaml").contains("tune"));
}

#[test]
fn a_plan_names_what_is_tuned_and_counts_it() {
    let folder = folder("tune-plan");
    let work = |lines: &str| {
        folder.write("p.yaml", on_numbers(lines));
        let ran = folder.vaglio(&["plan", "p.yaml"]).succeeded();
        let line =
            ran.out.lines().find(|l| l.starts_with("work")).unwrap().split_whitespace().nth(1).unwrap().to_owned();
        (ran.out, line.parse::<f64>().unwrap())
    };
    let (text, tuned) = work(TUNE);
    let line = "tune        nelder_mead over learner.lambda; at most 25 scores of all columns before the search\n";
    assert!(text.contains(line), "{text}");
    let (text, plain) = work("");
    assert!(!text.contains("tune") && tuned > plain, "{tuned} {plain}");
    let (text, searches) = work(&TUNE.replace("budget", "score: search, budget"));
    assert!(text.contains("at most 25 searches before the search"), "{text}");
    // Six walks choose the size and ten more say how sure its loss is; each search that tunes is one.
    assert!(searches > plain + 20.0 * plain / 16.0);
}

#[test]
fn what_cannot_be_tuned_is_refused_by_its_place() {
    let folder = folder("tune-bad");
    let bounds = |path: &str, bounds: &str| format!("tune:\n  parameters:\n    {path}: {{{bounds}}}");
    let cases = [
        (
            bounds("learner.lamda", "from: 1, to: 2"),
            "5:",
            "there is no setting `learner.lamda`; did you mean `learner.lambda`?",
        ),
        (bounds("lambda", "from: 1, to: 2"), "5:", "did you mean `learner.lambda`?"),
        (bounds("learner.lambda.deep", "from: 1, to: 2"), "5:", "there is no setting"),
        (bounds("learner.intercept", "from: 0, to: 1"), "5:", "does not take the number 0"),
        (bounds("learner.kind", "from: 0, to: 1"), "5:", "does not take"),
        (bounds("criterion.folds", "from: 2, to: 9"), "5:", "the criterion is the yardstick"),
        (bounds("search.max_features", "from: 2, to: 9"), "5:", "settings of the learner alone"),
        (bounds("learner.lambda", "from: 2, to: 1"), "5:35", "from must be smaller"),
        (bounds("learner.lambda", "from: 0, to: 1, scale: log"), "5:28", "0 is not positive"),
        (bounds("learner.lambda", "from: -1, to: 1"), "5:28", "the learner refuses it"),
        (bounds("learner.lambda", "from: 1.5, to: 3, integer: true"), "5:28", "not a whole number"),
        (bounds("learner.lambda", "from: 1"), "5:", "is required and missing"),
        (bounds("learner.lambda", "from: 1, to: 2, step: 1"), "5:", "there is no key `step`"),
        ("tune: {parameters: {}}".into(), "3:20", "at least one is needed"),
        ("tune: {}".into(), "3:", "at least one is needed"),
        (
            format!("{}, budget: 0}}", TUNE.replace("budget: 25, ", "").trim_end_matches('}').to_owned() + "}}"),
            "3:",
            "0 is not between",
        ),
        (TUNE.replace("budget", "method: brent, budget"), "3:", "did you mean"),
    ];
    for (lines, place, words) in cases {
        folder.write("p.yaml", on_numbers(&lines));
        for command in [&["run", "p.yaml", "--out", "out"][..], &["plan", "p.yaml"]] {
            let ran = folder.vaglio(command);
            assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{lines}\n{ran:?}");
            let found = words == "did you mean" || ran.err.contains(words);
            assert!(ran.err.starts_with(&format!("error: p.yaml:{place}")) && found, "{lines}\n{}", ran.err);
        }
    }
    let knn = bounds("learner.neighbours", "from: 1, to: 8") + "\nlearner: knn";
    folder.write("p.yaml", on_numbers(&knn));
    let ran = folder.vaglio(&["plan", "p.yaml"]);
    assert!(ran.code == Some(2) && ran.err.contains("add `integer: true`"), "{}", ran.err);
    folder.write("p.yaml", on_numbers(TUNE));
    let ran = folder.vaglio(&["plan", "p.yaml", "--set", "tune.parameters.learner.lambda.to=1e-9"]);
    assert!(ran.code == Some(2) && ran.err.contains("from must be smaller"), "{}", ran.err);
    let ran =
        folder.vaglio(&["plan", "p.yaml", "--set", "tune.parameters.learner.lambda.to=7", "--set", "tune.budget=3"]);
    assert!(ran.code == Some(0) && ran.out.contains("at most 3 scores"), "{}", ran.err);
}

#[test]
fn a_word_is_tuned_as_a_number_and_a_grid_as_one_value() {
    let folder = folder("tune-grid");
    let grid = "learner: {kind: rls, lambda: {grid: {from: 0.1, to: 10, points: 3}}}";
    let found = folder.run(&on_numbers(&format!("{grid}\n{TUNE}")));
    assert!(found["tuned"]["parameters"]["learner.lambda"].is_f64());
    let points =
        TUNE.replace("learner.lambda: {from: 1e-3, to: 1e3, scale: log}", "learner.lambda.grid.to: {from: 5, to: 50}");
    let found = folder.run(&on_numbers(&format!("{grid}\n{points}")));
    assert!(found["tuned"]["parameters"]["learner.lambda.grid.to"].is_number());
}

#[test]
fn evaluations_are_shown_on_demand() {
    let folder = folder("tune-verbose");
    folder.write("p.yaml", on_numbers(TUNE));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "-vv"]).succeeded();
    assert!(ran.err.contains("evaluation=1") && ran.err.contains("learner.lambda = "), "{}", ran.err);
}

#[test]
fn the_schema_describes_tuning() {
    let folder = Folder::new("tune-schema");
    let schema: Value = serde_json::from_str(&folder.vaglio(&["schema"]).out).unwrap();
    let tune = &schema["properties"]["tune"];
    let tune = match tune["$ref"].as_str() {
        Some(name) => schema.pointer(&name[1..]).unwrap(),
        None => tune,
    };
    assert!(["budget", "parameters", "search"].iter().all(|key| tune["properties"][key].is_object()));
}

#[test]
fn chosen_columns_are_those_of_the_tuned_learner() {
    let folder = folder("tune-columns");
    let search = "search: {kind: greedy, max_features: 2, choose: last}";
    let found = folder.run(&on_numbers(&format!("{TUNE}\n{search}")));
    let lambda = &found["tuned"]["parameters"]["learner.lambda"];
    let plain = folder.run(&on_numbers(&format!("learner: {{kind: rls, lambda: {lambda}}}\n{search}")));
    assert_eq!(names(&found), names(&plain));
    assert_eq!((&found["score"], &found["steps"]), (&plain["score"], &plain["steps"]));
}
