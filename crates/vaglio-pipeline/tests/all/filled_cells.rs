//! Missing cells that are filled in folds.

use ndarray::array;
use std::sync::Arc;
use vaglio_core::{Cells, Map, Numbers, PerFoldPreprocessing, Problem, Table, Task};
use vaglio_pipeline::maps::{Clip, Impute, Interactions, Log1p, Scope, Standardize};
use vaglio_pipeline::preprocess::{LabeledTable, Preprocessing};
use vaglio_pipeline::resampling::Sample;

const GONE: f64 = f64::NAN;

fn impute(scope: Scope) -> Arc<dyn Map> {
    Arc::new(Impute::default().scope(scope))
}

fn fitted(maps: Vec<Arc<dyn Map>>) -> Problem {
    let column = |values: [f64; 4]| Cells::Numbers(Numbers::from(values.to_vec()));
    let table = Table::new(vec![
        ("a".into(), column([1.0, 2.0, 3.0, 5.0])),
        ("b".into(), column([1.0, GONE, 4.0, GONE])),
        ("c".into(), column([GONE, 2.0, 1.0, 0.0])),
    ]);
    let targets = array![[1.0, 2.0, 0.0, 1.0]];
    let rows = LabeledTable { table: table.unwrap(), targets: Arc::new(targets), ..LabeledTable::default() };
    let recipe = Preprocessing::new(maps, Task::Regression, vec!["y".into()]).unwrap();
    Sample::new(rows, Arc::new(recipe), false).unwrap().fit().unwrap().problem
}

type ImputationMasks = (bool, Vec<(usize, Vec<f64>)>);

/// Whether imputation in folds is required, and the masks of columns with missing cells.
fn made(maps: Vec<Arc<dyn Map>>) -> Option<ImputationMasks> {
    let problem = fitted(maps);
    let PerFoldPreprocessing::Formulas { missing: Some(mask), .. } = problem.in_folds() else {
        return None;
    };
    let of_column = |&feature: &usize| (feature, mask.mask(feature).unwrap().values().into_owned());
    Some((mask.is_required, mask.features().iter().map(of_column).collect()))
}

#[test]
fn missing_cells_are_followed_through_maps_that_shift_and_scale() {
    let (b, c) = ((1, vec![0.0, 1.0, 0.0, 1.0]), (2, vec![1.0, 0.0, 0.0, 0.0]));
    let standardize = || Arc::new(Standardize { scope: Scope::Train, ..Standardize::default() }) as Arc<dyn Map>;
    let found = made(vec![impute(Scope::Fold), standardize()]);
    assert_eq!(found, Some((true, vec![b.clone(), c.clone()])));
    let found = made(vec![impute(Scope::Auto)]);
    assert_eq!(found, Some((false, vec![b.clone(), c])));
    assert_eq!(made(vec![impute(Scope::Train)]), None);
    let only = |columns: &[&str], scope: Scope| -> Arc<dyn Map> {
        Arc::new(Impute::default().scope(scope).columns(columns.iter().copied()))
    };
    let found = made(vec![only(&["b"], Scope::Auto), only(&["c"], Scope::Train), standardize()]);
    assert_eq!(found, Some((false, vec![b])));
}

#[test]
fn columns_that_are_made_of_filled_ones_are_not_filled_in_folds_by_a_formula() {
    let named = || vec!["b".to_owned()];
    let others: Vec<Arc<dyn Map>> = vec![
        Arc::new(Log1p { columns: Some(named()) }),
        Arc::new(Clip { columns: Some(named()), ..Clip::default() }),
        Arc::new(Interactions { columns: vec!["a".into(), "b".into()] }),
    ];
    for other in others {
        let maps = |scope| vec![impute(scope), Arc::clone(&other)];
        assert_eq!(made(maps(Scope::Auto)), None, "{other:?}");
        assert!(!fitted(maps(Scope::Auto)).in_folds().is_by_maps(), "{other:?}");
        assert_eq!(made(maps(Scope::Fold)), None, "{other:?}");
        assert!(fitted(maps(Scope::Fold)).in_folds().is_by_maps(), "{other:?}");
    }
}
