use ndarray::Array2;
use ndarray::array;
use vaglio_core::{Coefficients, Columns, Error, ridge::ridge};

#[test]
fn one_column_has_the_textbook_weight() {
    // w = Σxy / (Σx² + λ)
    let c = ridge(array![[1.0, 2.0]].view(), array![[3.0, 5.0]].view(), None, 1.0, false).unwrap();
    assert!((c.weights[[0, 0]] - 13.0 / 6.0).abs() < 1e-14);
}

#[test]
fn a_weight_of_two_is_the_row_twice() {
    let weighted =
        ridge(array![[1.0, 2.0, 4.0]].view(), array![[3.0, 5.0, 6.0]].view(), Some(&[1.0, 2.0, 1.0]), 0.5, true);
    let repeated = ridge(array![[1.0, 2.0, 2.0, 4.0]].view(), array![[3.0, 5.0, 5.0, 6.0]].view(), None, 0.5, true);
    let (a, b) = (weighted.unwrap(), repeated.unwrap());
    assert!((a.weights[[0, 0]] - b.weights[[0, 0]]).abs() < 1e-14);
    assert!((a.intercept[0] - b.intercept[0]).abs() < 1e-14);
}

#[test]
fn duplicate_columns_share_the_weight() {
    let x = array![[1.0, -2.0, 3.0], [1.0, -2.0, 3.0]];
    let c = ridge(x.view(), array![[1.0, 0.0, 2.0]].view(), None, 1e-9, false).unwrap();
    assert!((c.weights[[0, 0]] - c.weights[[1, 0]]).abs() < 1e-10 * c.weights[[0, 0]].abs());
    assert!((c.weights[[0, 0]] + c.weights[[1, 0]] - 0.5).abs() < 1e-9);
}

#[test]
fn without_lambda_and_rank_it_is_an_error() {
    let x = array![[1.0, 2.0], [2.0, 4.0]];
    assert!(matches!(ridge(x.view(), array![[1.0, 2.0]].view(), None, 0.0, false), Err(Error::Numerical(_))));
}

#[test]
fn columns_that_are_added_together_give_the_bits_that_they_give_one_by_one() {
    let value = |k: usize, j: usize| ((k * 31 + j) as f64 * 0.7).sin();
    for (count, outputs, rows) in [(1, 1, 10), (3, 2, 7), (4, 1, 33), (5, 2, 4097), (9, 3, 8200)] {
        let mut columns = Columns::new(rows);
        (0..count).for_each(|k| columns.push((0..rows).map(|j| value(k, j)).collect::<Vec<f64>>()));
        let weights = Array2::from_shape_fn((count, outputs), |(k, o)| value(o + 9, k));
        let readout = Coefficients { weights, intercept: (0..outputs).map(|o| value(o, 3)).collect() };
        for ((o, j), found) in readout.predict_columns(&columns).unwrap().indexed_iter() {
            let add = |sum: f64, k: usize| sum + readout.weights[[k, o]] * value(k, j);
            assert_eq!(*found, (0..count).fold(readout.intercept[o], add));
        }
    }
}
