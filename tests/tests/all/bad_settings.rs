//! Bad settings: each is refused with exit code 2, an empty standard output, and words that say where and why.

use crate::common::{Folder, pipeline, table};

/// Settings, and the words that the message must hold.
type Case<'a> = (&'a str, &'a [&'a str]);

fn check(name: &str, cases: &[Case<'_>], complete: bool) {
    let folder = Folder::new(name);
    folder.write("train.csv", table(12, 4, &[("s", &crate::common::side)]));
    for (text, words) in cases {
        let yaml =
            if complete { (*text).to_owned() } else { pipeline(text).replace("target: y", "target: y, exclude: [s]") };
        folder.write("p.yaml", &yaml);
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
        assert_eq!(ran.code, Some(2), "{text}\n{ran:?}");
        assert_eq!(ran.out, "", "{text}");
        assert!(ran.err.starts_with("error: "), "{text}\n{}", ran.err);
        for word in *words {
            assert!(ran.err.contains(word), "{text}\nlacks {word}\n{}", ran.err);
        }
        assert!(!folder.path("out/selection.json").exists(), "{text}");
        if complete && words.iter().any(|w| w.starts_with("p.yaml:")) {
            assert_eq!(folder.vaglio(&["plan", "p.yaml"]).code, Some(2), "{text}");
        }
    }
}

#[test]
fn lambda_must_be_positive_and_finite() {
    check(
        "lambda",
        &[
            ("learner: {kind: rls, lambda: 0}", &["p.yaml:3:30: `learner.lambda`: 0 is not a positive finite number"]),
            ("learner: {kind: rls, lambda: -1}", &["p.yaml:3:30: `learner.lambda`: -1 is not"]),
            ("learner: {kind: rls, lambda: .inf}", &["p.yaml:3:30: `learner.lambda`: inf is not"]),
            ("learner: {kind: rls, lambda: .nan}", &["p.yaml:3:30: `learner.lambda`: NaN is not"]),
            (
                "learner: {kind: rls, lambda: {grid: {from: 0, to: 1, points: 3}}}",
                &["p.yaml:3:44", "lambda.grid.from`: 0"],
            ),
            ("learner: {kind: rls, lambda: {grid: {from: 1, to: .inf, points: 3}}}", &["p.yaml:3:51", "grid.to`: inf"]),
            (
                "learner: {kind: rls, lambda: {grid: {from: 2, to: 1, points: 3}}}",
                &["p.yaml:3:", "from must be smaller"],
            ),
            (
                "learner: {kind: rls, lambda: {grid: {from: 1, to: 2, points: 1}}}",
                &["p.yaml:3:", "grid.points`: 1 is not"],
            ),
            (
                "learner: {kind: rls, lambda: {values: [1, -1]}}",
                &["p.yaml:3:43: `learner.lambda.values[1]`: -1 is not"],
            ),
            ("learner: {kind: rls, lambda: {values: []}}", &["p.yaml:3:39", "at least one value is needed"]),
            ("learner: {kind: rls, lambda: x}", &["p.yaml:3:30", "expected a number, {grid", "found `x`"]),
        ],
        false,
    );
}

#[test]
fn a_search_or_kernel_that_cannot_be_made_is_refused() {
    check(
        "search",
        &[
            ("search: {kind: greedy, max_features: 0}", &["p.yaml:3:38: `search.max_features`: 0 features cannot be"]),
            ("search: {kind: greedy, max_features: 1, forced: [x0, x1]}", &["p.yaml:3:49", "2 columns are forced"]),
            ("search: {kind: greedy, forced: [x0], excluded: [x0]}", &["search.excluded`: `x0` is forced as well"]),
            (
                "search: {kind: greedy, choose: {repeats: 0}}",
                &["p.yaml:3:42: `search.choose.repeats`: 0 is not between 1 and 10000"],
            ),
            ("search: {kind: greedy, forced: [x0, 0]}", &["search.forced`: `x0` is listed twice"]),
            (
                "search: {kind: greedy, forced: [x1, x11]}",
                &["p.yaml:3:37: `search.forced[1]`: there is no column `x11`; did"],
            ),
            ("search: {kind: greedy, forced: [9]}", &["p.yaml:3:33: `search.forced[0]`: there is no column 9"]),
            ("search: {kind: greedy, excluded: [q]}", &["p.yaml:3:35", "no column `q`; there are: x0, x1, x2, x3"]),
            ("search: {kind: greedy, excluded: [0, 1, 2, 3]}", &["search.excluded`: every column is excluded"]),
            (
                "search: {kind: greedy, min_features: 3, max_features: 2}",
                &["search.min_features", "max_features, which is 2"],
            ),
            (
                "search: {kind: greedy, tolerance: .nan}",
                &["p.yaml:3:35: `search.tolerance`: it must be a finite number"],
            ),
            (
                "learner: {kind: fs_ls_svm, kernel: {kind: rbf, bandwidth: 1e300}}",
                &["`learner.kernel.bandwidth`: 1e300 is not between 1e-150 and 1e150"],
            ),
        ],
        false,
    );
}

/// End of the message for an unknown word that a plug-in may have.
const PLUG_IN: &str = "; a plug-in's are there in programs that are linked with its crate";

#[test]
fn unknown_names_are_refused_with_their_place_and_what_was_meant() {
    check(
        "unknown",
        &[
            ("search: gredy", &["p.yaml:3:9: `search.kind`: there is no search `gredy`; did you mean `greedy`?"]),
            ("criterion: lo", &["p.yaml:3:12", "no criterion `lo`; did you mean `loo`?"]),
            ("learner:\n  kind: rsl", &["p.yaml:4:9", "no learner `rsl`; did you mean `rls`?"]),
            (
                "preprocess: [{kind: standardise}]",
                &["p.yaml:3:21", "no map `standardise`; did you mean `standardize`?"],
            ),
            ("criterion: {kind: loo, loss: squred}", &["p.yaml:3:30", "no loss `squred`; did you mean `squared`?"]),
            ("criterion: entropy", &["p.yaml:3:12", "no criterion `entropy`; there are: ", "loo", PLUG_IN]),
            ("learner: forest", &["p.yaml:3:10", "no learner `forest`; there are: ", "rls", PLUG_IN]),
            ("criterion: {kind: loo, loss: power}", &["p.yaml:3:30", "no loss `power`; there are: ", PLUG_IN]),
            ("criterion: {kind: loo, loss: {kind: power, by: 3}}", &["p.yaml:3:37", "no loss `power`", PLUG_IN]),
            (
                "criterion: {kind: kfold, splits: every}",
                &["p.yaml:3:34", "no resampling `every`; there are: ", PLUG_IN],
            ),
            ("criterion: {kind: kfold, splits: {kind: every}}", &["p.yaml:3:41", "no resampling `every`", PLUG_IN]),
            ("search: lasso", &["p.yaml:3:9: `search.kind`: there is no search `lasso`; there are: all, ", PLUG_IN]),
            ("search: {kind: greedy, choose: bset}", &["p.yaml:3:32", "no value `bset`; did you mean `best`?"]),
            ("engine: sparks", &["p.yaml:3:9", "no kind `sparks`; did you mean `spark`?"]),
            ("sed: 1", &["p.yaml:3:1: `sed`: there is no key `sed`; did you mean `seed`?"]),
            ("engine: {thread: 2}", &["p.yaml:3:10: `engine.thread`", "did you mean `threads`?"]),
            ("learner: {kind: rls, lamda: 1}", &["p.yaml:3:22: `learner.lamda`", "did you mean `lambda`?"]),
            (
                "learner:\n  kind: rls\n  lambda:\n    grid: {from: 1, to: 2, point: 3}",
                &["p.yaml:6:28", "did you mean `points`?"],
            ),
            ("criterion: {kind: loo, folds: 3}", &["p.yaml:3:24: `criterion.folds`: there is no key"]),
        ],
        false,
    );
}

#[test]
fn values_of_another_type_are_refused_with_their_place_and_what_was_expected() {
    check(
        "type",
        &[
            ("seed: 1.5", &["p.yaml:3:7: `seed`: expected a whole number from 0 up, found the number 1.5"]),
            ("engine: {threads: -1}", &["p.yaml:3:19: `engine.threads`: expected a whole number from 0 up"]),
            (
                "search: {kind: greedy, max_features: x}",
                &["p.yaml:3:38", "expected a whole number from 0 up, found `x`"],
            ),
            ("search: {max_features: 3}", &["p.yaml:3:1: `search.kind`: is required and missing"]),
            ("preprocess: one_hot", &["p.yaml:3:13: `preprocess`: expected a list, found `one_hot`"]),
            ("learner: {kind: rls, intercept: 1}", &["p.yaml:3:33", "expected `true` or `false`, found the number 1"]),
            ("criterion: {kind: loo, loss: zero_one}", &["p.yaml:3:30", "is of classes and the task is regression"]),
        ],
        false,
    );
}

#[test]
fn data_settings_that_do_not_fit_the_data_are_refused() {
    let with = |more: &str| format!("version: 1\ndata: {{train: train.csv, target: y, {more}}}\n");
    let target = |target: &str, more: &str| format!("version: 1\ndata: {{train: train.csv, target: {target}{more}}}\n");
    let cases: Vec<(String, Vec<&str>)> = vec![
        (target("yy", ""), vec!["p.yaml:2:34: `data.target`: there is no column `yy`; did you mean `y`?"]),
        (target("[y, q]", ""), vec!["p.yaml:2:38: `data.target[1]`: there is no column `q`"]),
        (target("[y, y]", ""), vec!["p.yaml:2:38: `data.target[1]`: `y` is listed twice"]),
        (target("[]", ""), vec!["p.yaml:2:34", "it is missing; name the column to predict"]),
        (
            target("3", ""),
            vec![
                "p.yaml:2:34",
                "expected a name, a list of names, or a file by `{file: …, column: …}`, found the number 3",
            ],
        ),
        (
            target("s", ", positive: hihg"),
            vec!["p.yaml:2:47: `data.positive`: there is no label `hihg`; did you mean `high`?"],
        ),
        (target("y", ", task: binary"), vec!["`data.task`: it is binary and `y` has 12 labels"]),
        (target("s", ", task: regression"), vec!["`data.task`: it is regression and the target `s` holds text"]),
        (target("[y, s]", ""), vec!["`data.target`", "`s` holds text"]),
        (with("exclude: [x9]"), vec!["`data.exclude[0]`: there is no column `x9`; did you mean `x0`?"]),
        (with("exclude: [x0, x1, x2, x3, s]"), vec!["no column is left to select from"]),
        (with("weights: w"), vec!["p.yaml:2:46: `data.weights`: there is no column `w`"]),
        (with("weights: y"), vec!["`data.weights`: `y` is the target"]),
        (with("weights: s"), vec!["`data.weights`: the column `s` holds text"]),
        (with("groups: q"), vec!["`data.groups`: there is no column `q`"]),
        (with("trian: x"), vec!["p.yaml:2:37: `data.trian`", "did you mean `train`?"]),
        (
            with("task: classification"),
            vec!["there is no value `classification`; there are: regression, binary, multiclass"],
        ),
        (with("test_fraction: 2"), vec!["p.yaml:2:52: `data.test_fraction`: it must lie between 0 and 1"]),
        (target("y", ", types: {y: text}, test_fraction: 0.25"), vec!["`data.target`: `y` has ", "{\"y\": number}"]),
        (with("test_fraction: 0.01"), vec!["0.01 of 12 rows leaves one side empty"]),
        (with("test: train.csv, test_fraction: 0.5"), vec!["it cannot be combined with `test`; give one of them"]),
        (with("weight: 1"), vec!["did you mean `weights`?"]),
        // A text column without one_hot.
        (pipeline(""), vec!["the column `s` holds text", "{kind: one_hot}"]),
    ];
    let cases: Vec<Case<'_>> = cases.iter().map(|(text, words)| (text.as_str(), words.as_slice())).collect();
    check("data", &cases, true);
}

#[test]
fn files_that_are_no_pipeline_are_refused() {
    check(
        "yaml",
        &[
            ("", &["p.yaml:1:1: expected keys and values, found nothing"]),
            ("# nothing\n", &["p.yaml:1:1: expected keys and values, found nothing"]),
            ("hello\n", &["p.yaml:1:1: expected keys and values, found `hello`"]),
            ("version: 1\n", &["p.yaml: `data`: it is missing"]),
            (
                "version: 1\ndata: {train: train.csv}\n",
                &["p.yaml:2:1: `data.target`: it is missing; name the column to predict"],
            ),
            ("version: 1\ndata: {target: y}\n", &["p.yaml:2:1: `data.train`: is required and missing"]),
            ("version: 1\ndata: train.csv\n", &["p.yaml:2:7: `data`: expected keys and values, found `train.csv`"]),
            (
                "version: 2\ndata: {train: train.csv, target: y}\n",
                &["p.yaml:1:10: `version`: 2 is not known", "version 1"],
            ),
            ("data: {train: train.csv, target: y}\n", &["p.yaml: `version`: is required and missing"]),
            ("version: 1\ndata: [a\n", &["p.yaml:3:1: ", "expected ',' or ']'"]),
            ("version: 1\ndata:\n\ttrain: x\n", &["p.yaml:3:2: ", "tabs"]),
            ("version: 1\nversion: 1\n", &["p.yaml:2:1: the key `version` stands here a second time"]),
            ("version: 1\ndata: &a {train: x}\n", &["p.yaml:2:7: "]),
        ],
        true,
    );
    let folder = Folder::new("missing");
    let ran = folder.vaglio(&["run", "nope.yaml"]);
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (Some(2), "", "error: nope.yaml: there is no such file\n")
    );
    folder.write("bytes.yaml", b"version: 1 # \xff\n");
    let ran = folder.vaglio(&["plan", "bytes.yaml"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), "error: bytes.yaml: it is not UTF-8 text\n"));
    for arguments in [&["bogus"][..], &["run"], &["run", "p.yaml", "--thread", "1"], &["predict", "--data", "x.csv"]] {
        let ran = folder.vaglio(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
    }
}

#[test]
fn assignments_that_cannot_be_made_are_refused() {
    let folder = Folder::new("set");
    folder.write("train.csv", table(12, 4, &[]));
    folder.write("p.yaml", pipeline("search: {kind: greedy}"));
    for (assignment, words) in [
        (
            "search.max_feature=3",
            "--set search.max_feature=3: `search.max_feature`: there is no key `max_feature`; did you mean",
        ),
        ("search.max_features=x", "`search.max_features`: expected a whole number from 0 up, found `x`"),
        ("search.max_features=0", "--set search.max_features=0: `search.max_features`: 0 features cannot be selected"),
        ("learner.lambda", "expected path=value"),
        ("data.target=yy", "--set data.target=yy: `data.target`: there is no column `yy`; did you mean `y`?"),
    ] {
        folder.vaglio(&["run", "p.yaml", "--set", assignment]).refused(2, words);
    }
}
