//! Paired differences of runs.

use crate::report::sample::Sample;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_report::comparison::Comparison;

/// Returns outer folds with these losses and numbers of rows, and losses of their rows.
fn nested(folds: &[(f64, usize)], losses: Option<&[f64]>, weights: Option<&[f64]>, clusters: Option<&[u32]>) -> Value {
    let fold = |&(loss, rows): &(f64, usize)| {
        json!({"fold": 1, "repeat": 1, "rows": rows, "loss": loss, "empty_loss": 1.0, "size": 0, "lambda": null, "score": 1.0,
            "cross_validated": null, "selected": []})
    };
    let figures = json!({"rows": 1, "loss": 1.0, "mse": 1.0, "r2": null, "nrmse": null, "error_rate": null,
        "balanced_error_rate": null, "auc": null, "standard_error": null, "confusion": null});
    json!({"folds": folds.len(), "repeats": 1, "loss": 1.0, "standard_error": null, "empty_loss": 1.0, "figures": figures,
        "per_fold": folds.iter().map(fold).collect::<Vec<_>>(), "frequency": [], "jaccard": null,
        "paired": {"digest": "", "losses": losses, "weights": weights, "clusters": clusters}})
}

/// Writes two runs with these outer folds, and returns the last line of their comparison.
fn compare(runs: [Value; 2]) -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let root = std::env::temp_dir().join(format!("vaglio-report-{}-{number}", std::process::id()));
    let folders = ["a", "b"].map(|name| root.join(name));
    for (folder, nested) in folders.iter().zip(runs) {
        let mut sample = Sample::diabetes();
        sample.0["nested"] = nested;
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("selection.json"), sample.0.to_string()).unwrap();
    }
    let table = Comparison::read(&folders).unwrap().table();
    std::fs::remove_dir_all(root).unwrap();
    table.lines().last().unwrap().to_owned()
}

/// Checks a difference of 1 with an interval of this half-width.
fn check(line: &str, width: f64, words: &str) {
    let rest = line.strip_prefix("a - b: nested +1 (95 % interval ").unwrap_or_else(|| panic!("{line}"));
    let (interval, pairs) = rest.split_once("), paired by ").unwrap();
    let ends = interval.split(" to ").map(|end| end.replace('−', "-").parse::<f64>().unwrap());
    let [low, high] = ends.collect::<Vec<_>>()[..] else { panic!("{line}") };
    assert!((low - (1.0 - width)).abs() < 1e-3 && (high - (1.0 + width)).abs() < 1e-3, "{line}");
    assert_eq!(pairs, words);
}

#[test]
fn differences_are_means_over_pairs() {
    let compare = |a: &[f64], b: &[f64], weights: Option<&[f64]>, clusters: Option<&[u32]>| {
        let run = |loss: f64, losses: &[f64]| nested(&[(loss, a.len())], Some(losses), weights, clusters);
        compare([run(1.0, a), run(0.0, b)])
    };
    // The variance of 0, 1, 2 is 1; t(2) is 4.303.
    check(&compare(&[1.0, 2.0, 4.0], &[1.0, 1.0, 2.0], None, None), 4.30265 / 3.0_f64.sqrt(), "3 rows");
    // A row of weight 2 counts as two.
    let weighted = compare(&[1.0, 2.0], &[1.0, 1.0], Some(&[1.0, 3.0]), None);
    assert!(weighted.starts_with("a - b: nested +0.75"), "{weighted}");
    // Other rows are no pairs.
    let folds = compare(&[1.0], &[1.0, 2.0], None, None);
    assert_eq!(folds, "a - b: nested +1, paired by 1 outer fold");
    // Rows given twice, each with its copy in one cluster, have the interval of those rows.
    let (first, second) = ([1.0, 2.0, 4.0, 1.0, 2.0, 4.0], [1.0, 1.0, 2.0, 1.0, 1.0, 2.0]);
    let twice = compare(&first, &second, None, Some(&[0, 1, 2, 0, 1, 2]));
    check(&twice, 4.30265 / 3.0_f64.sqrt(), "3 clusters of rows");
}

#[test]
fn folds_are_pairs_where_rows_are_not_known() {
    let folds = |folds: &[(f64, usize)]| nested(folds, None, None, None);
    // Two folds: t(1) is 12.706, and the delivered model is one more than two.
    let found = compare([folds(&[(1.0, 10), (3.0, 10)]), folds(&[(1.0, 10), (1.0, 10)])]);
    check(&found, 12.7062 * 2.0_f64.sqrt(), "2 outer folds");
    let found = compare([folds(&[(f64::INFINITY, 3)]), folds(&[(1.0, 3)])]);
    assert_eq!(found, "a - b: not compared: a fold has no finite loss");
}
