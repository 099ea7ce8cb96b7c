//! Losses of rows over many sparse columns, of which no vectors of all rows are kept, give what those of dense ones give.

use crate::products::{Changed, path};
use std::sync::Arc;
use vaglio::core::{
    Columns, Criterion, Design, Numbers, PerFoldPreprocessing, Problem, SearchExtent, SparseNumbers, Task,
};
use vaglio::learners::Rls;
use vaglio_testkit::SplitMix64;

const ROWS: usize = 250;
/// With so many, vectors of all rows take more than 64 MiB.
const COLUMNS: usize = 34_000;

/// Two problems with equal columns, sparse and dense, and targets made from two of the columns.
fn problems() -> [Problem; 2] {
    let mut random = SplitMix64::new(3940);
    let (mut sparse, mut dense) = (Columns::new(ROWS), Columns::new(ROWS));
    let mut y: Vec<f64> = (0..ROWS).map(|_| 0.3 * random.normal()).collect();
    for column in 0..COLUMNS {
        let count = if column % 9000 == 700 { 60 } else { 4 };
        let mut rows: Vec<usize> = (0..count).map(|_| random.below(ROWS)).collect();
        rows.sort_unstable();
        rows.dedup();
        let values: Vec<f64> = rows.iter().map(|_| 1.0 + random.normal()).collect();
        let mut all = vec![0.0; ROWS];
        rows.iter().zip(&values).for_each(|(&row, value)| all[row] = *value);
        if let 700 | 9700 = column {
            let effect = if column == 700 { 2.0 } else { -1.0 };
            y.iter_mut().zip(&all).for_each(|(y, x)| *y += effect * x);
        }
        sparse.push(Numbers::Sparse(SparseNumbers::new(ROWS, rows.iter().map(|&row| row as u32).collect(), values)));
        dense.push(Numbers::Double(all));
    }
    [sparse, dense].map(|columns| {
        let names = (0..COLUMNS).map(|k| format!("c{k}")).collect();
        let targets = ndarray::Array2::from_shape_vec((1, ROWS), y.clone()).unwrap();
        Problem::new(columns, names, targets, vec!["y".into()], Task::Regression).unwrap()
    })
}

/// Each variant meets one of the criteria; with `VAGLIO_CASES=all`, all that take it.
#[test]
fn losses_of_rows_keep_no_vectors_beside_sparse_columns() {
    let (problems, all) = (problems(), vaglio_testkit::tries_all_cases());
    let weights: Vec<f64> = (0..ROWS).map(|row| 0.5 + (row % 3) as f64).collect();
    let variants: [(&str, &Changed<'_>); 3] = [
        ("plain", &Problem::clone),
        ("weights", &|p| p.clone().with_weights(weights.clone()).unwrap()),
        ("standardized in folds", &|p| p.clone().with_preprocessing(PerFoldPreprocessing::standardize())),
    ];
    for (what, variant) in variants {
        let [sparse, dense] = [&problems[0], &problems[1]].map(variant);
        for (criterion, search) in [
            (r#"{"kind": "kfold", "folds": 4, "loss": "absolute"}"#, r#"{"kind": "greedy", "max_features": 2}"#),
            (r#"{"kind": "kfold", "folds": 3, "loss": "concordance"}"#, r#"{"kind": "floating", "max_features": 2}"#),
            (r#"{"kind": "loo", "loss": "absolute"}"#, r#"{"kind": "greedy", "max_features": 2}"#),
        ] {
            let is_tried = match what {
                "plain" => all || criterion.contains("concordance"),
                "weights" => criterion.contains("loo") || all && !criterion.contains("concordance"),
                _ => criterion.contains("absolute") && criterion.contains("kfold"),
            };
            if !is_tried {
                continue;
            }
            let [sparse, dense] = [&sparse, &dense].map(|problem| path(problem, &Rls::new(0.5), criterion, search));
            assert!(sparse.entries.iter().any(|entry| entry.subset.starts_with(&[700, 9700])), "{what}: {criterion}");
            for (sparse, dense) in sparse.entries.iter().zip(&dense.entries) {
                assert_eq!(sparse.subset, dense.subset, "{what}: {criterion} {search}");
                let (a, b) = (sparse.score.loss, dense.score.loss);
                assert!((a - b).abs() <= 1e-12 * b.abs(), "{what}: {criterion} {search}: {a} {b}");
            }
        }
    }
}

#[test]
fn their_memory_is_told() {
    let [sparse, dense] = problems().map(|problem| Design::from_problem(&problem, Arc::new(Rls::new(0.5))).unwrap());
    for criterion in [r#"{"kind": "kfold", "loss": "absolute"}"#, r#"{"kind": "loo", "loss": "absolute"}"#] {
        let criterion: Box<dyn Criterion> = serde_json::from_str(criterion).unwrap();
        let bytes = |design: &Design| criterion.plan(design, &SearchExtent::forward(COLUMNS, 5)).estimate.bytes;
        assert!(bytes(&sparse) < 4e6 && bytes(&dense) > 6e7, "{} {}", bytes(&sparse), bytes(&dense));
    }
}
