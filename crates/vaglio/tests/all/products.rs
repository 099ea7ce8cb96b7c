//! Columns that are products of others, made when they are read, give what the stored ones give, to the bit.

use std::sync::Arc;
use vaglio::core::{Columns, Criterion, Design, Numbers, PerFoldPreprocessing, Problem, ProductNumbers, Task};
use vaglio::learners::Rls;
use vaglio::search::{Path, Search, SearchContext, Silent, SubsetScorer};
use vaglio_testkit::SplitMix64;

const ROWS: usize = 130;

/// A problem made of another.
pub type Changed<'a> = dyn Fn(&Problem) -> Problem + 'a;

/// Columns with all of their products and squares, made when they are read and stored: among them constant ones, copies, bytes, and some
/// far from 0.
fn columns() -> [Columns; 2] {
    let mut random = SplitMix64::new(3905);
    let mut base: Vec<Vec<f64>> = Vec::new();
    (0..4).for_each(|k| base.push((0..ROWS).map(|_| random.normal() + f64::from(k) * 30.0).collect()));
    base.push((0..ROWS).map(|_| (4.0 * random.uniform()).floor()).collect());
    base.push((0..ROWS).map(|_| (2.0 * random.uniform()).floor()).collect());
    base.push(base[1].clone());
    base.push(vec![0.0; ROWS]);
    let (mut made, mut stored) = (Columns::new(ROWS), Columns::new(ROWS));
    let factors: Vec<Arc<Numbers>> = base.into_iter().map(|values| Arc::new(Numbers::from(values))).collect();
    for factor in &factors {
        made.push(Numbers::Shared(Arc::clone(factor)));
        stored.push(factor.view());
    }
    for a in 0..factors.len() {
        for b in a..factors.len() {
            let one = match a == b {
                true => vec![(Arc::clone(&factors[a]), 2)],
                false => vec![(Arc::clone(&factors[a]), 1), (Arc::clone(&factors[b]), 1)],
            };
            let product = ProductNumbers::new(one);
            stored.push(product.view().to_vec());
            made.push(Numbers::Product(product));
        }
    }
    [made, stored]
}

fn problem(columns: Columns) -> Problem {
    let mut random = SplitMix64::new(77);
    let (a, b, c) = (columns.column(0), columns.column(5), columns.column(1));
    let y = (0..ROWS).map(|j| a.get(j) * (1.0 + c.get(j)) + 2.0 * b.get(j) * a.get(j) + 0.3 * random.normal());
    let targets = ndarray::Array2::from_shape_vec((1, ROWS), y.collect()).unwrap();
    let names = (0..columns.len()).map(|k| format!("c{k}")).collect();
    Problem::new(columns, names, targets, vec!["y".into()], Task::Regression).unwrap()
}

pub fn path(problem: &Problem, learner: &Rls, criterion: &str, search: &str) -> Path {
    let criterion: Box<dyn Criterion> = serde_json::from_str(criterion).unwrap();
    let search: Search = serde_json::from_str(search).unwrap();
    let design = Design::from_problem(problem, Arc::new(learner.clone())).unwrap();
    let design = design.with_problem(|own| own.with_preprocessing(problem.in_folds().clone()));
    let subset = SubsetScorer::open(&*criterion, &design, &search.extent(&design).unwrap()).unwrap();
    let mut observer = Silent;
    search.run(&mut SearchContext::new(subset, &mut observer, 0)).unwrap()
}

#[test]
fn searches_find_the_same_whether_products_are_made_or_stored() {
    let problems = columns().map(problem);
    let rows: Vec<usize> = (0..ROWS).filter(|row| row % 6 != 1).collect();
    let few: Vec<usize> = (0..ROWS).filter(|row| row % 3 == 1).collect();
    let weights: Vec<f64> = (0..ROWS).map(|row| 0.25 + (row % 7) as f64).collect();
    let variants: [(&str, &Changed<'_>); 5] = [
        ("plain", &Problem::clone),
        ("weights", &|p| p.clone().with_weights(weights.clone()).unwrap()),
        ("most rows", &|p| p.view_rows(&rows)),
        ("few rows", &|p| p.view_rows(&few)),
        ("standardized in folds", &|p| p.clone().with_preprocessing(PerFoldPreprocessing::standardize())),
    ];
    for (what, variant) in variants {
        let [made, stored] = [&problems[0], &problems[1]].map(variant);
        for (criterion, search) in [
            (r#"{"kind": "loo"}"#, r#"{"kind": "greedy", "max_features": 5}"#),
            (r#"{"kind": "loo", "loss": "absolute"}"#, r#"{"kind": "greedy", "max_features": 4}"#),
            (r#"{"kind": "loo"}"#, r#"{"kind": "floating", "max_features": 4}"#),
            (r#"{"kind": "loo"}"#, r#"{"kind": "rank", "max_features": 5}"#),
            (r#"{"kind": "loo"}"#, r#"{"kind": "lars", "max_features": 5}"#),
            (r#"{"kind": "loo"}"#, r#"{"kind": "exhaustive", "max_features": 2}"#),
            (r#"{"kind": "kfold", "folds": 5}"#, r#"{"kind": "greedy", "max_features": 5}"#),
            (r#"{"kind": "kfold", "folds": 4, "shuffle": true}"#, r#"{"kind": "rank", "max_features": 5}"#),
            (r#"{"kind": "kfold", "folds": 5, "loss": "absolute"}"#, r#"{"kind": "greedy", "max_features": 3}"#),
        ] {
            if what == "standardized in folds" && criterion.contains("loo") {
                continue;
            }
            for learner in [Rls::new(0.5), Rls::new(1e-6).intercept(false)] {
                let [made, stored] = [&made, &stored].map(|problem| path(problem, &learner, criterion, search));
                assert_eq!(made, stored, "{what}: {criterion} {search}");
                assert!(!made.entries.is_empty());
            }
        }
    }
}

#[test]
fn what_is_known_of_columns_is_known_of_products() {
    let [made, stored] = columns().map(problem);
    assert!(made.columns().bytes() < stored.columns().bytes() / 2);
    let of = |problem: &Problem| Design::from_problem(problem, Arc::new(Rls::new(1.0))).unwrap();
    let (of_made, of_stored) = (of(&made), of(&stored));
    assert_eq!(of_made.problem().constant(), of_stored.problem().constant());
    for feature in 0..of_made.features() {
        assert_eq!(of_made.column(feature), of_stored.column(feature));
    }
}

#[test]
fn many_products_are_held_out_in_folds_by_moments_in_the_memory_of_few_columns() {
    const MANY: usize = 7000;
    let mut random = SplitMix64::new(391);
    let base = (0..140).map(|_| Arc::new(Numbers::from((0..MANY).map(|_| random.normal()).collect::<Vec<f64>>())));
    let base: Vec<Arc<Numbers>> = base.collect();
    let mut columns = Columns::new(MANY);
    for (a, b) in (0..base.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
        columns.push(Numbers::Product(ProductNumbers::new(vec![(Arc::clone(&base[a]), 1), (Arc::clone(&base[b]), 1)])));
    }
    let (first, second) = (columns.column(17).values().into_owned(), columns.column(9000).values().into_owned());
    let y: Vec<f64> = (0..MANY).map(|row| 2.0 * first[row] - second[row] + random.normal()).collect();
    let targets = ndarray::Array2::from_shape_vec((1, MANY), y).unwrap();
    let names = (0..columns.len()).map(|k| format!("c{k}")).collect();
    let problem = Problem::new(columns, names, targets, vec!["y".into()], Task::Regression).unwrap();
    let design = Design::from_problem(&problem, Arc::new(Rls::new(0.5))).unwrap();
    let (criterion, search) = (vaglio::criteria::KFold::new(5), vaglio::search::Greedy::new(2));
    let extent = search.extent(&design).unwrap();
    let estimate = criterion.plan(&design, &extent).estimate;
    assert!(estimate.engine == "moments" && estimate.bytes < 1e8, "{estimate:?}");
    let subset = SubsetScorer::open(&criterion, &design, &extent).unwrap();
    let path = search.run(&mut SearchContext::new(subset, &mut Silent, 0)).unwrap();
    let entry = path.entries.iter().find(|entry| entry.subset.len() == 2).unwrap();
    assert_eq!(entry.subset, [17, 9000]);
    let plain = criterion.evaluate(&design, &entry.subset).unwrap().loss;
    assert!((entry.score.loss - plain).abs() < 1e-12 * plain, "{} {plain}", entry.score.loss);
}
