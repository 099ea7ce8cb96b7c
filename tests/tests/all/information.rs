//! `information` from the command line: the walks and scores that NumPy's plain loops have, and what becomes of a result.

use crate::common::{Folder, pipeline, root};
use crate::dependence::walks_along;
use serde_json::Value;

/// `information.json` was made by `information.py` beside it.
#[test]
fn searches_find_what_plain_loops_find() {
    let expected: Value = serde_json::from_str(include_str!("information.json")).unwrap();
    let folder = Folder::new("information");
    let data = root().join("examples/data/diabetes.csv");
    for (measure, found) in expected.as_object().unwrap() {
        for (search, size) in [("greedy", 5), ("exhaustive", 3)] {
            let yaml = format!(
                "version: 1\ndata: {{train: {}, target: target}}\nlearner: {{kind: rls, lambda: {{values: [0.5, 300.0]}}}}\n\
                 criterion: {{kind: information, measure: {measure}}}\nsearch: {{kind: {search}, max_features: {size}}}\n",
                data.display()
            );
            let done = walks_along(&folder, &yaml, &found[search], &format!("{measure} by {search}"));
            assert_eq!(done["pipeline"]["engine"], "moments");
        }
    }
}

/// The criterion has no loss of rows held out, so it chooses by itself; `choose` written out cross-validates.
#[test]
fn it_chooses_by_itself_unless_told_otherwise() {
    let folder = Folder::new("information-choose");
    folder.write("train.csv", crate::common::table(40, 8, &[]));
    let record = folder.run(&pipeline("criterion: information\nsearch: greedy"));
    assert_eq!((&record["chosen"]["by"], &record["nested"]), (&"score".into(), &Value::Null));
    let record = folder.run(&pipeline("criterion: information\nsearch: {kind: greedy, choose: {folds: 4}}"));
    assert_eq!(record["chosen"]["by"], "cross_validation");
    folder.write("p.yaml", pipeline("criterion: {kind: information, measure: gcv}\nlearner: knn"));
    folder
        .vaglio(&["run", "p.yaml", "--out", "out"])
        .refused(2, "`gcv` needs the degrees of freedom of a ridge readout");
}

/// On noise a criterion with a price takes nothing; the training error takes all that it may.
#[test]
fn noise_is_not_worth_its_price() {
    let folder = Folder::new("information-noise");
    let mut random = vaglio_testkit::SplitMix64::new(5);
    let row = |random: &mut vaglio_testkit::SplitMix64| {
        (0..5).map(|_| random.normal().to_string()).collect::<Vec<_>>().join(",")
    };
    let rows: Vec<String> = (0..60).map(|_| row(&mut random)).collect();
    folder.write("train.csv", format!("a,b,c,d,y\n{}\n", rows.join("\n")));
    for (measure, size) in [("bic", 0), ("training", 3)] {
        for search in ["greedy", "floating", "exhaustive"] {
            let lines = format!(
                "criterion: {{kind: information, measure: {measure}}}\nsearch: {{kind: {search}, max_features: 3}}"
            );
            assert_eq!(folder.run(&pipeline(&lines))["chosen"]["size"], size, "{measure} by {search}");
        }
    }
}
