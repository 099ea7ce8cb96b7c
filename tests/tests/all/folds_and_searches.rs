//! k-fold and the searches from the command line: what is refused, planned, recorded and repeated.

use crate::common::{Folder, pipeline, table};
use serde_json::Value;

fn part(row: usize, _: f64) -> String {
    ["a", "b", "c"][row % 3].into()
}

fn subject(row: usize, _: f64) -> String {
    format!("s{}", row / 5)
}

fn colour(row: usize, y: f64) -> String {
    if y > 6.0 { "red".into() } else { ["green", "blue"][row % 2].into() }
}

fn sorted(row: usize, _: f64) -> String {
    if row < 20 { "early".into() } else { "late".into() }
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write(
        "train.csv",
        table(40, 6, &[("part", &part), ("subject", &subject), ("colour", &colour), ("when", &sorted)]),
    );
    folder
}

/// The pipeline on numbers alone, with the other columns left out.
fn numbers(lines: &str) -> String {
    pipeline(lines).replace("target: y", "target: y, exclude: [part, subject, colour, when]")
}

/// Parts of a record that do not depend on the time of the run: steps, path, result.
fn result(selection: &Value) -> Value {
    let kept = ["steps", "path", "selected", "score", "lambda", "intercept", "empty_score"];
    Value::Array(kept.iter().map(|key| selection[key].clone()).collect())
}

#[test]
fn folds_come_from_rows_groups_or_a_column() {
    let folder = folder("folds");
    let search = "search: {kind: greedy, max_features: 3, choose: best}\n";
    let contiguous = folder.run(&numbers(&format!("{search}criterion: {{kind: kfold, folds: 8}}")));
    assert_eq!(contiguous["pipeline"]["criterion"], "kfold");
    let groups = numbers(&format!("{search}criterion: {{kind: kfold, by: groups}}"))
        .replace("exclude: [part, subject,", "groups: subject, exclude: [part,");
    // Eight subjects of five rows each are eight contiguous folds.
    assert_eq!(result(&folder.run(&groups)), result(&contiguous));
    let assigned = folder.run(&numbers(&format!("{search}criterion: {{kind: kfold, assignment: part}}")));
    assert_eq!(assigned["data"]["features"], 6);
    assert_ne!(assigned["score"], contiguous["score"]);
    let plain = numbers(&format!("{search}criterion: {{kind: kfold, assignment: part}}")).replace("[part, ", "[");
    assert_eq!(result(&folder.run(&plain)), result(&assigned), "the column of folds is no feature");
}

#[test]
fn engines_agree_and_say_which_they_are() {
    let folder = folder("engines");
    let run = |search: &str, engine: &str, name: &str| {
        let lines = format!("search: {search}\ncriterion: {{kind: kfold, folds: 5, engine: {engine}}}");
        let selection = folder.run(&numbers(&lines));
        assert_eq!(selection["pipeline"]["engine"], name, "{engine} is what it was called");
        let steps: Vec<Value> = selection["path"].as_array().unwrap().iter().map(|e| e["subset"].clone()).collect();
        (steps, selection["score"].as_f64().unwrap())
    };
    for search in ["greedy", "backward", "{kind: floating, max_features: 4}", "exhaustive"] {
        let scores = ["moments", "rows_held_out"].map(|engine| run(search, engine, engine));
        assert_eq!(scores[0].0, scores[1].0, "{search}");
        assert!((scores[0].1 - scores[1].1).abs() <= 1e-10 * scores[0].1, "{search}: {scores:?}");
    }
    run("greedy", "primal", "moments");
    run("greedy", "dual", "rows_held_out");
}

#[test]
fn a_resolved_run_repeats_itself_and_threads_change_nothing() {
    let folder = folder("repeat");
    let lines = "seed: 5\nsearch: {kind: floating, max_features: 4, polish: swaps}\n\
                 criterion: {kind: kfold, folds: 4, shuffle: true}\npreprocess: [standardize]\n\
                 learner: {kind: rls, lambda: {grid: {from: 0.01, to: 100, points: 5}}}";
    let first = folder.run(&numbers(lines));
    let resolved = folder.read("out/resolved.yaml");
    for words in ["shuffle: true", "stratified: false", "polish: swaps", "engine: auto", "scope: auto"] {
        assert!(resolved.contains(words), "{words}\n{resolved}");
    }
    let ran = folder.vaglio(&["run", "out/resolved.yaml", "--out", "again", "--threads", "1", "--json"]);
    assert_eq!(result(&serde_json::from_str(&ran.out).unwrap()), result(&first), "{}", ran.err);
}

#[test]
fn columns_scaled_in_each_fold_differ_from_those_scaled_once() {
    let folder = folder("scope");
    let with = |scope: &str| {
        let lines = format!(
            "preprocess: [{{kind: standardize, scope: {scope}}}]\ncriterion: {{kind: kfold, folds: 4}}\nsearch: {{kind: greedy, max_features: 3}}"
        );
        folder.run(&numbers(&lines))
    };
    let (train, fold, auto) = (with("train"), with("fold"), with("auto"));
    assert_eq!(result(&fold), result(&auto));
    assert_ne!(fold["score"], train["score"]);
    folder.write("p.yaml", numbers("preprocess: [{kind: standardize, scope: fold}]"));
    folder
        .vaglio(&["plan", "p.yaml"])
        .refused(2, "the criterion has no folds; use `kfold` with `rls`, or `scope: train`");
}

#[test]
fn cells_that_are_filled_once_by_all_rows_are_said_to_be() {
    let folder = Folder::new("impute-auto");
    // The only values of `late` are in the rows of one fold.
    let late = |row: usize, _: f64| if row < 6 { row.to_string() } else { String::new() };
    folder.write("train.csv", table(60, 3, &[("late", &late)]));
    let with = |scope: &str, criterion: &str| {
        let lines = format!(
            "preprocess: [{{kind: impute, scope: {scope}}}]\ncriterion: {criterion}\nsearch: {{kind: greedy, max_features: 2, choose: last}}"
        );
        let selection = folder.run(&pipeline(&lines));
        (folder.vaglio(&["plan", "p.yaml"]).out, selection)
    };
    let said = "missing cells are filled by means of all training rows; a fold is trained on rows that have no value of `late`";
    let contiguous = "{kind: kfold, folds: 10, shuffle: false}";
    let (plan, auto) = with("auto", contiguous);
    assert!(plan.contains(said), "{plan}");
    let warnings = auto["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|w| w["kind"] == "imputed_once" && w["message"].as_str().unwrap().starts_with(said)),
        "{warnings:?}"
    );
    assert_eq!(result(&auto), result(&with("train", contiguous).1));
    // Shuffled, every fold is trained on some.
    let (plan, auto) = with("auto", "{kind: kfold, folds: 10, shuffle: true}");
    assert!(!plan.contains("missing cells are filled"), "{plan}");
    assert!(!auto["warnings"].to_string().contains("imputed_once"), "{}", auto["warnings"]);
}

#[test]
fn scope_auto_is_train_where_folds_would_take_much_longer_and_says_so() {
    let folder = folder("scope-auto");
    let with = |learner: &str, scope: &str| {
        let lines = format!(
            "preprocess: [{{kind: standardize, scope: {scope}}}]\nlearner: {learner}\nsearch: {{kind: greedy, max_features: 4, choose: last}}\n\
             criterion: {{kind: kfold, folds: 10, stratified: true, loss: zero_one}}"
        );
        let yaml = pipeline(&lines).replace("target: y", "target: when, exclude: [part, subject, colour, y]");
        let selection = folder.run(&yaml);
        (folder.vaglio(&["plan", "p.yaml"]).out, selection)
    };
    let said = "columns are standardized by all training rows; anew in each fold would take";
    let (plan, auto) = with("crrr", "auto");
    assert!(plan.contains(said), "{plan}");
    assert_eq!(auto["warnings"][0]["kind"], "standardized_once", "{}", auto["warnings"]);
    assert_eq!(result(&auto), result(&with("crrr", "train").1));
    let (plan, auto) = with("rls", "auto");
    assert!(
        !plan.contains(said) && plan.contains("rows_held_out: rows held out, columns standardized in each fold"),
        "{plan}"
    );
    assert_eq!(result(&auto), result(&with("rls", "fold").1));
}

#[test]
fn indicators_of_one_column_enter_together() {
    let folder = folder("blocks");
    let lines = "preprocess: [one_hot]\nsearch: {kind: greedy, blocks: one_hot}";
    let yaml = pipeline(lines).replace("target: y", "target: y, exclude: [part, subject, when]");
    let selection = folder.run(&yaml);
    let steps = selection["steps"].as_array().unwrap();
    let block = steps.iter().find(|s| s.get("columns").is_some()).unwrap();
    let columns: Vec<u64> = block["columns"].as_array().unwrap().iter().map(|c| c.as_u64().unwrap()).collect();
    assert_eq!(columns.len(), 3);
    assert_eq!(block["index"], columns[0]);
    assert!(block["name"].as_str().unwrap().starts_with("colour="));
    let at = steps.iter().position(|s| s == block).unwrap();
    let before = if at == 0 { 0 } else { steps[at - 1]["size"].as_u64().unwrap() };
    assert_eq!(block["size"].as_u64().unwrap(), before + 3);
    let named = yaml.replace("blocks: one_hot", "blocks: {pair: [x0, x3]}");
    let selection = folder.run(&named);
    let pair = selection["steps"].as_array().unwrap().iter().find(|s| s.get("columns").is_some()).unwrap().clone();
    assert_eq!(pair["columns"], serde_json::json!([0, 3]));
}

#[test]
fn a_result_says_what_rounding_asked_of_its_search() {
    let folder = Folder::new("numerics");
    let near = |row: usize, _: f64| format!("{}", (row as f64 * 0.7).sin() + 1e-7 * (row as f64 * 1.3).cos());
    let like = |row: usize, _: f64| format!("{}", (row as f64 * 0.7).sin());
    folder.write("train.csv", table(40, 3, &[("near", &near), ("like", &like)]));
    for criterion in ["loo", "{kind: kfold, folds: 5}"] {
        let numerics = |lambda: &str| {
            let learner = format!("learner: {{kind: rls, lambda: {lambda}}}");
            let lines = format!("search: {{kind: backward, choose: best}}\ncriterion: {criterion}\n{learner}");
            folder.run(&pipeline(&lines))["numerics"].clone()
        };
        let (tame, wild) = (numerics("1"), numerics("1e-12"));
        let least = |numerics: &Value| numerics["conditioning"].as_f64().unwrap();
        let mended = |numerics: &Value| numerics["remade"].as_u64().unwrap() + numerics["rebuilt"].as_u64().unwrap();
        assert!(least(&tame) > 1e-3 && mended(&tame) == 0, "{criterion}: {tame}");
        assert!(least(&wild) < 0.1 * least(&tame) && mended(&wild) > 0, "{criterion}: {wild}");
    }
}

#[test]
fn all_subsets_come_with_a_certificate() {
    let folder = folder("exhaustive");
    for criterion in ["loo", "{kind: kfold, folds: 5}"] {
        let selection = folder.run(&numbers(&format!("search: exhaustive\ncriterion: {criterion}")));
        let certificate = &selection["certificate"];
        let count = |key: &str| certificate[key].as_u64().unwrap();
        assert_eq!((certificate["optimal"].as_bool(), count("visited") + count("pruned")), (Some(true), 63));
        assert_eq!(selection["path"].as_array().unwrap().len(), 6);
        assert!(certificate.get("gap").is_none());
        assert_eq!(certificate.get("bound").is_some(), count("pruned") > 0);
        assert_eq!(selection["stop_reason"], "all_subsets");
    }
    assert!(folder.run(&numbers("search: greedy")).get("certificate").is_none());
    folder.write("wide.csv", table(12, 60, &[]));
    folder.write("p.yaml", pipeline("search: exhaustive").replace("train.csv", "wide.csv"));
    let ran = folder.vaglio(&["plan", "p.yaml"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("more than 2^30") && ran.err.contains("`floating`"), "{}", ran.err);
}

#[test]
fn subsets_nearly_as_good_are_listed_and_counted() {
    let folder = folder("alternatives");
    let search = "search: {kind: exhaustive, choose: best, alternatives: {within: 0.5, count: 3}}\ncriterion: loo";
    let selection = folder.run(&numbers(search));
    let near = &selection["alternatives"];
    let (count, listed) = (near["count"].as_u64().unwrap(), near["subsets"].as_array().unwrap());
    assert!(count >= 1 && near["is_whole"] == true && listed.len() as u64 == count.min(3));
    assert_eq!(listed[0]["score"], selection["score"]);
    let names =
        |list: &Value| list.as_array().unwrap().iter().map(|n| n.as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let chosen = names(&listed[0]["columns"]);
    assert_eq!(selection["selected"].as_array().unwrap().len(), chosen.len());
    assert!(names(&near["in_all"]).iter().all(|name| chosen.contains(name)));
    assert!(names(&near["in_none"]).iter().all(|name| !chosen.contains(name)));
    assert!(folder.run(&numbers("search: exhaustive\ncriterion: loo")).get("alternatives").is_none());
    folder.write("p.yaml", numbers("search: {kind: exhaustive, alternatives: {within: 0.5}}\ncriterion: nhsic"));
    let ran = folder.vaglio(&["plan", "p.yaml"]);
    assert!(ran.code == Some(2) && ran.err.contains("alternatives"), "{}", ran.err);
}

#[test]
fn least_angle_paths_come_with_their_knots_and_rankings_with_scores() {
    let folder = folder("lars");
    for criterion in ["loo", "{kind: kfold, folds: 5}", "mrmr"] {
        let selection =
            folder.run(&numbers(&format!("search: {{kind: lars, max_features: 4}}\ncriterion: {criterion}")));
        let steps = selection["steps"].as_array().unwrap();
        assert_eq!((selection["stop_reason"].as_str(), steps.len()), (Some("max_features"), 4), "{criterion}");
        for step in steps {
            let alpha = step["alpha"].as_array().unwrap().len() as u64;
            assert!(step["mu"].as_f64().unwrap() > 0.0 && step["size"] == alpha, "{step}");
        }
        let ranked = folder.run(&numbers(&format!("search: {{kind: rank, max_features: 4}}\ncriterion: {criterion}")));
        assert_eq!(ranked["steps"].as_array().unwrap().len(), 4, "{criterion}");
        assert!(ranked["steps"][0].get("mu").is_none());
    }
    let several =
        pipeline("search: lars").replace("target: y", "target: [y, x0], exclude: [part, subject, when, colour]");
    let selection = folder.run(&several);
    for step in selection["steps"].as_array().unwrap() {
        assert_eq!(step["alpha"].as_array().unwrap().len() as u64, step["size"], "{step}");
    }
}

#[test]
fn plan_shows_folds_with_their_classes_and_the_way() {
    let folder = folder("plan");
    let classes =
        |lines: &str| pipeline(lines).replace("target: y", "target: when, exclude: [part, subject, colour, y]");
    folder.write("p.yaml", classes("criterion: {kind: kfold, folds: 4, stratified: true}"));
    let ran = folder.vaglio(&["plan", "p.yaml"]).succeeded();
    assert!(ran.out.contains("fold 1   10 rows held out, 30 to train on; early: 5, late: 5"), "{}", ran.out);
    assert!(ran.out.contains("moments of the folds") || ran.out.contains("rows held out, at"), "{}", ran.out);
    folder.write("p.yaml", classes("criterion: {kind: kfold, folds: 4}"));
    for command in [&["plan", "p.yaml"][..], &["run", "p.yaml", "--out", "out"]] {
        folder.vaglio(command).refused(2, "fold 1 holds rows of class `early` alone");
    }
}

#[test]
fn settings_that_contradict_are_refused_in_words() {
    let folder = folder("contradict");
    for (lines, words) in [
        ("criterion: {kind: kfold, folds: 41}", "41 folds of 40 rows leave fold 41 empty; use at most 40 folds"),
        ("criterion: {kind: kfold, assignment: parts}", "did you mean `part`?"),
        ("criterion: {kind: kfold, by: groups}", "name their column in `data.groups`"),
        ("criterion: {kind: kfold, stratified: true}", "use `shuffle: true`"),
        ("criterion: {kind: kfold, engine: moments, loss: absolute}", "use `rows_held_out` or `auto`"),
        ("criterion: {kind: kfold, engine: fast}", "there are: auto, moments, primal, dual, rows_held_out"),
        ("search: {kind: backward, min_features: 9}", "min_features"),
        ("search: {kind: exhaustive, tolerance: 0.1}", "leave it out"),
        ("search: {kind: lars, forced: [x0]}", "the geometry alone decides what enters a least-angle path"),
        ("search: {kind: greedy, blocks: {pair: [x0, x9]}}", "did you mean"),
        ("search: {kind: greedy, polish: swap}", "swaps"),
        ("learner: {kind: rls, lambda: {search: {from: 2, to: 1}}}", "from must be smaller"),
    ] {
        folder.write("p.yaml", numbers(lines));
        let ran = folder.vaglio(&["plan", "p.yaml"]).refused(2, words);
        assert!(ran.err.starts_with("error: p.yaml:"), "{lines}\n{}", ran.err);
    }
}

#[test]
fn a_backward_path_opens_with_the_full_set() {
    let folder = folder("backward");
    let selection = folder.run(&numbers("search: backward"));
    let sizes: Vec<u64> = selection["path"].as_array().unwrap().iter().map(|e| e["size"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [6, 5, 4, 3, 2, 1]);
    assert_eq!(selection["steps"][0]["action"], "remove");
    assert_eq!((&selection["steps"][0]["size"], selection["steps"].as_array().unwrap().len()), (&5.into(), 5));
    assert_eq!(selection["stop_reason"], "min_features");
}

#[test]
fn lambda_alone_is_backward_that_removes_nothing() {
    let folder = folder("lambda");
    let lines = "learner: {kind: rls, lambda: {search: {from: 0.001, to: 1000}}}\n\
                 criterion: {kind: kfold, folds: 5}\nsearch: {kind: backward, min_features: 6}";
    let searched = folder.run(&numbers(lines));
    assert_eq!((searched["steps"].as_array().unwrap().len(), searched["path"][0]["size"].as_u64()), (0, Some(6)));
    let grid = folder.run(&numbers(
        &lines.replace("{search: {from: 0.001, to: 1000}}", "{grid: {from: 0.001, to: 1000, points: 200}}"),
    ));
    assert!(searched["score"].as_f64().unwrap() <= grid["score"].as_f64().unwrap());
}
