//! Ridge fits of rows, and of columns reduced together.

use ndarray::{Array2, Axis, array};
use vaglio_kernels::ridge::Ridge;

#[test]
fn one_column_has_the_textbook_weight() {
    let (x, y) = (array![[1.0], [2.0], [4.0]], array![[3.0, 5.0, 6.0]]);
    let ridge = Ridge::new(x.view(), y.view(), None, false).unwrap();
    let (weights, intercept) = ridge.coefficients(1.0).unwrap();
    assert!((weights[[0, 0]] - 37.0 / 22.0).abs() < 1e-13);
    assert_eq!(intercept, [0.0]);
}

#[test]
fn features_of_a_reduction_are_those_reduced_alone() {
    let x = Array2::from_shape_fn((9, 5), |(j, k)| ((7 * j + 3 * k * k) % 11) as f64 - 4.0);
    let y = Array2::from_shape_fn((2, 9), |(o, j)| ((5 * j + o) % 7) as f64);
    let weights: Vec<f64> = (0..9).map(|j| 0.5 + j as f64).collect();
    let near = |(a, b): &(Array2<f64>, Vec<f64>), (c, d): &(Array2<f64>, Vec<f64>)| {
        let close = |p: &f64, q: &f64| (p - q).abs() < 1e-12 * (1.0 + q.abs());
        a.iter().zip(c).all(|(p, q)| close(p, q)) && b.iter().zip(d).all(|(p, q)| close(p, q))
    };
    for rows in [9, 3] {
        let rows: Vec<usize> = (0..rows).collect();
        let (x, y) = (x.select(Axis(0), &rows), y.select(Axis(1), &rows));
        let alone = |places: &[usize]| {
            let x = x.select(Axis(1), places);
            Ridge::new(x.view(), y.view(), Some(&weights[..rows.len()]), true).unwrap().coefficients(0.3).unwrap()
        };
        let all = Ridge::new(x.view(), y.view(), Some(&weights[..rows.len()]), true).unwrap();
        let mut fit = all.prefixes(0.3).unwrap();
        for count in 0..=5 {
            assert!(near(&fit(count).unwrap(), &alone(&(0..count).collect::<Vec<_>>())), "{count}");
        }
        assert!(near(&all.coefficients_of(&[4, 1], 0.3).unwrap(), &alone(&[4, 1])));
        assert!(near(&all.coefficients_of(&[], 0.3).unwrap(), &alone(&[])));
        for places in [&[][..], &[2], &[4, 1], &[3, 0, 4, 2], &[4, 3, 2, 1, 0]] {
            let some = all.restrict(places).unwrap();
            assert!(near(&some.coefficients(0.3).unwrap(), &alone(places)), "{places:?}");
            let first = &places[..places.len() / 2];
            assert!(near(&some.prefixes(0.3).unwrap()(first.len()).unwrap(), &alone(first)));
        }
    }
}
