//! Numbers in single precision.

use vaglio_columns::{Column, Columns, Numbers, SingleNumbers};

fn singles(values: &[f64]) -> SingleNumbers {
    values.iter().copied().collect()
}

#[test]
fn entries_are_the_nearest_singles_and_the_largest_rounding_is_known() {
    let values = [0.1, -1e10, 3.0, f64::NAN, 1.0 / 3.0];
    let single = singles(&values);
    let rounded: Vec<f64> = values.iter().map(|x| f64::from(*x as f32)).collect();
    let largest = rounded.iter().zip(&values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert_eq!((single.rounding(), single.fault()), (largest, None));
    let mut columns = Columns::new(5);
    columns.push(Numbers::Double(values.to_vec()).in_single());
    columns.push(Numbers::from(vec![1.0, 2.0, 3.0, 4.0, 5.0]).in_single());
    assert_eq!(columns.bytes(), 5 * 4 + 5);
    assert!(columns.column(0).values().iter().zip(&rounded).all(|(a, b)| a.to_bits() == b.to_bits()));
    let chosen = columns.view_rows(&[4, 0, 0]);
    assert_eq!(chosen.column(0), Column::Double(&[rounded[4], rounded[0], rounded[0]]));
    assert_eq!((chosen.single(0).map(SingleNumbers::rounding), chosen.single(1).is_some()), (Some(largest), false));
    let mut doubles = Columns::new(5);
    doubles.push(values.to_vec());
    for view in [doubles.clone(), doubles.view_rows(&[0, 1, 2, 3, 4])] {
        let single = view.in_single();
        assert_eq!((single.bytes(), single.column(0).get(4)), (5 * 4, rounded[4]));
    }
}

#[test]
fn what_single_precision_cannot_hold_is_seen() {
    for (values, fault) in [
        (vec![1.0, 1e39], Some("1.2e-38")),
        (vec![1.0, -1e-39], Some("1.2e-38")),
        (vec![1e9, 1e9 + 1.0, f64::NAN], Some("one number")),
        (vec![0.1, 0.1, 0.1], None),
        (vec![0.0, f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE)], None),
        (vec![f64::NAN, f64::NAN], None),
    ] {
        let (mut first, last) = (singles(&values[..1]), singles(&values[1..]));
        first.append(&last);
        for found in [singles(&values).fault(), first.fault()] {
            let is_named = found.zip(fault).is_some_and(|(found, word)| found.contains(word));
            assert!(is_named || found.is_none() && fault.is_none(), "{values:?}: {found:?}");
        }
    }
}
