//! Standardization of columns.

use crate::{fit_map, single_column, values};
use vaglio_core::{Cells, Error, Map, Numbers, RefitScope, Result, Table};
use vaglio_maps::maps::{Scope, Standardize};
use vaglio_maps::moments;

fn standardized(values: &[f64], weights: Option<&[f64]>) -> Result<Vec<f64>> {
    let table = single_column(values);
    let out = fit_map(&Standardize::default(), &table, weights)?.transform(table)?;
    Ok(crate::values(&out, "x"))
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

#[test]
fn means_are_zero_and_population_deviations_one() {
    assert_eq!(standardized(&[1.0, 3.0], None).unwrap(), [-1.0, 1.0]);
    let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
    assert_eq!(standardized(&values, None).unwrap(), values.map(|x| (x - 5.0) / 2.0));
    assert_eq!(standardized(&[7.1, 7.1, 7.1], None).unwrap(), [0.0; 3]);
}

#[test]
fn a_weight_of_two_is_the_row_twice_and_of_zero_its_absence() {
    let twice = moments(&[1.0, 2.5, 2.5, -4.0], None, "x").unwrap();
    let weighted = moments(&[1.0, 2.5, 9.0, -4.0], Some(&[1.0, 2.0, 0.0, 1.0]), "x").unwrap();
    assert!((twice.shift - weighted.shift).abs() < 1e-15 && (twice.scale - weighted.scale).abs() < 1e-15);
    let one = moments(&[3.0, 8.0], Some(&[1.0, 0.0]), "x").unwrap();
    assert_eq!((one.shift, one.scale), (3.0, 1.0));
    assert!(moments(&[3.0], Some(&[0.0]), "x").is_err());
}

#[test]
fn tiny_and_huge_values_come_out_right_or_as_errors() {
    let values = [0.3, -1.7, 2.2, 0.9, -0.4];
    let plain = standardized(&values, None).unwrap();
    for factor in [1e-310, 1e-300, 1e-160, 1e200, 1e307] {
        let scaled = standardized(&values.map(|x| x * factor), Some(&[1e-300; 5])).unwrap();
        assert!(close(&scaled, &plain, if factor < 1e-307 { 1e-12 } else { 1e-15 }), "{factor}: {scaled:?}");
        let scaled = standardized(&values.map(|x| x * factor), Some(&[1e300; 5])).unwrap();
        assert!(close(&scaled, &plain, 1e-12), "{factor}: {scaled:?}");
    }
    assert!(matches!(standardized(&[0.0, 1e-320], None), Err(Error::Numerical(_))));
    let far = [f64::MAX, -f64::MAX, -f64::MAX, -f64::MAX];
    assert!(matches!(standardized(&far, None), Err(Error::Numerical(_))));
}

#[test]
fn a_far_mean_keeps_the_digits_of_small_deviations() {
    let values: Vec<f64> = (0..1000).map(|i| 1e9 + f64::from(i % 7) / 1024.0).collect();
    let small: Vec<f64> = (0..1000).map(|i| f64::from(i % 7) / 1024.0).collect();
    let (a, b) = (moments(&values, None, "x").unwrap(), moments(&small, None, "x").unwrap());
    assert!((a.scale / b.scale - 1.0).abs() < 1e-6);
    assert!((a.shift - 1e9 - b.shift).abs() < 2e-7);
}

#[test]
fn text_and_unknown_columns_are_left_and_targets_on_demand() {
    let text = || ("t".to_owned(), Cells::Text(vec!["a".into(), "b".into()]));
    let numbers = |name: &str| (name.to_owned(), Cells::Numbers(Numbers::from(vec![1.0, 3.0])));
    let map: Box<dyn Map> =
        serde_json::from_str(r#"{"kind": "standardize", "scope": "train", "target": true}"#).unwrap();
    let fitted = fit_map(&*map, &Table::new(vec![text(), numbers("x")]).unwrap(), None).unwrap();
    let out = fitted.transform(Table::new(vec![numbers("z"), text(), numbers("x")]).unwrap()).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["z", "t", "x"]);
    assert_eq!(out.get("z").unwrap().label(1), "3");
    assert_eq!(out.get("x").unwrap().label(1), "1");
    assert_eq!(fitted.sources("x"), ["x"]);
    let as_text = Table::new(vec![("x".to_owned(), Cells::Text(vec!["a".into()]))]).unwrap();
    assert!(matches!(fitted.transform(as_text), Err(Error::Shape(_))));
    assert!(map.traits().standardizes_targets && !Standardize::default().traits().standardizes_targets);
    let two = moments(&[1.0, 3.0], None, "y").unwrap();
    assert_eq!((two.shift, two.scale), (2.0, 1.0));
    assert!(serde_json::from_str::<Standardize>(r#"{"scop": "train"}"#).is_err());
}

#[test]
fn sparse_columns_stay_so_and_have_the_bits_of_dense_ones() {
    let dense: Vec<f64> = (0..60).map(|row| if row % 9 == 2 { 1.0 + (row % 4) as f64 } else { 0.0 }).collect();
    let rows: Vec<u32> = (0..60u32).filter(|row| row % 9 == 2).collect();
    let sparse = vaglio_core::SparseNumbers::new(60, rows.clone(), rows.iter().map(|&r| dense[r as usize]).collect());
    for center in [true, false] {
        let map = Standardize { center, ..Standardize::default() };
        let of = |numbers: Numbers| {
            let table = crate::table([("x", Cells::Numbers(numbers))]);
            fit_map(&map, &table, None).unwrap().transform(table).unwrap()
        };
        let (plain, kept) = (of(Numbers::from(dense.clone())), of(Numbers::Sparse(sparse.clone())));
        assert!(matches!(kept.get("x"), Some(Cells::Numbers(Numbers::Sparse(_)))));
        assert_eq!(values(&plain, "x"), values(&kept, "x"));
        let zeros = values(&kept, "x").into_iter().zip(&dense).filter(|(_, x)| **x == 0.0);
        assert!(zeros.map(|(z, _)| z).all(|z| (z == 0.0) != center));
    }
    let in_folds = |scope| Standardize { center: false, scope, ..Standardize::default() }.traits().in_folds;
    assert_eq!((in_folds(Scope::Fold), in_folds(Scope::Auto)), (RefitScope::Maps, RefitScope::No));
}
