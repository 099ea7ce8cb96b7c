//! Products of columns.

use std::sync::Arc;
use vaglio_columns::{Column, Columns, Numbers, ProductNumbers, SparseNumbers};

const ROWS: usize = 2500;

fn factors() -> Vec<Arc<Numbers>> {
    let double = |value: fn(f64) -> f64| (0..ROWS).map(|row| value(row as f64)).collect::<Vec<f64>>();
    let sparse = SparseNumbers::new(ROWS, vec![3, 70, 2000], vec![2.0, 1.5, 3.0]);
    [
        Numbers::from(double(|x| (0.37 * x).sin())),
        Numbers::from(double(|x| x % 5.0)),
        Numbers::from(double(|x| 1e3 + (0.11 * x).cos())),
        Numbers::from(double(|x| (1.7 * x).sin())).in_single(),
        Numbers::Sparse(sparse),
        Numbers::from(double(|x| if x == 1234.0 { f64::NAN } else { x + 0.5 })),
    ]
    .map(Arc::new)
    .to_vec()
}

/// Computes the entries like stored ones: powers from 1, factor by factor.
fn stored(factors: &[(Arc<Numbers>, u32)]) -> Vec<f64> {
    let powers = |(factor, exponent): &(Arc<Numbers>, u32)| -> Vec<f64> {
        factor.view().values().iter().map(|x| (0..*exponent).fold(1.0, |power, _| power * x)).collect()
    };
    let mut all = factors.iter().map(powers);
    let first = all.next().unwrap();
    all.fold(first, |product, powers| product.iter().zip(powers).map(|(a, b)| a * b).collect())
}

#[test]
fn entries_are_those_of_the_stored_product_to_the_bit() {
    let all = factors();
    for powers in
        [vec![(0, 1), (2, 1)], vec![(1, 2)], vec![(0, 3), (1, 1), (3, 2)], vec![(4, 1), (2, 1)], vec![(5, 1), (0, 1)]]
    {
        let own: Vec<(Arc<Numbers>, u32)> = powers.iter().map(|(f, e)| (Arc::clone(&all[*f]), *e)).collect();
        let expected = stored(&own);
        let product = ProductNumbers::new(own);
        for (made, stored) in [
            (Numbers::Product(product.clone()), Numbers::from(expected.clone())),
            (product.rescale(0.3, 7.0), expected.iter().map(|x| (x - 0.3) / 7.0).collect::<Vec<f64>>().into()),
        ] {
            let (made, stored) = (made.view(), stored.view());
            let same = |a: &[f64], b: &[f64]| {
                assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()), "{powers:?}");
            };
            same(&made.values(), &stored.values());
            same(&made.rows(1000, 2200).values(), &stored.rows(1000, 2200).values());
            for rows in [vec![7, 2400, 0], (100..140).rev().collect(), vec![]] {
                same(&made.gather(&rows), &stored.gather(&rows));
            }
            assert_eq!(made.get(2001).to_bits(), stored.get(2001).to_bits());
            assert_eq!(made.rounding(), stored.rounding());
            let Column::Product(column) = made else { panic!("it is stored") };
            assert_eq!(column.is_byte(), matches!(stored, Column::Byte(_)));
            assert_eq!(column.numbers().is_missing(), powers.contains(&(5, 1)));
            assert!(made != stored.rows(0, ROWS - 1) && !made.is_constant());
        }
    }
}

#[test]
fn memory_is_that_of_the_factors_counted_once() {
    let all = factors();
    let mut columns = Columns::new(ROWS);
    let mut first = Numbers::clone(&all[0]);
    let shared = first.share();
    columns.push(first);
    let stored = columns.bytes();
    assert_eq!(stored, 8 * ROWS);
    (0..50).for_each(|_| columns.push(Numbers::Product(ProductNumbers::new(vec![(Arc::clone(&shared), 2)]))));
    assert!(columns.bytes() < stored + 50 * 20);
    assert!(columns.bytes_of_rows(ROWS / 2) == columns.bytes() as f64 / 2.0);
    let view = columns.view_rows(&[5, 1, 2]);
    assert_eq!(
        (view.count_products(), columns.count_products(), view.bytes_of_rows(ROWS)),
        (50, 50, columns.bytes() as f64)
    );
    assert_eq!(view.column(7), Column::Double(&columns.column(7).gather(&[5, 1, 2])));
    let chosen = columns.select_rows(&[9, 8]);
    assert_eq!((chosen.bytes(), chosen.column(50).get(0)), (51 * 16, columns.column(0).get(9).powi(2)));
}

#[test]
fn constants_and_infinities_are_seen() {
    let doubles = |values: Vec<f64>| Arc::new(Numbers::Double(values));
    let (x, inverse) = (doubles(vec![2.0, 4.0, 0.5]), doubles(vec![0.5, 0.25, 2.0]));
    let one = ProductNumbers::new(vec![(Arc::clone(&x), 1), (inverse, 1)]);
    assert!(one.view().is_constant() && one.view().is_byte());
    let large = ProductNumbers::new(vec![(doubles(vec![1.0, 1e200, f64::NAN]), 2)]);
    assert_eq!((large.first_infinite(), large.is_missing()), (Some(1), true));
    assert_eq!(ProductNumbers::new(vec![(x, 2)]).first_infinite(), None);
}
