//! Sparse columns.

use vaglio_columns::{Column, Columns, Numbers, SparseNumbers};

/// Generates a column that is nonzero only in each `step`th row.
fn every(len: usize, step: usize, value: impl Fn(usize) -> f64) -> (Vec<f64>, SparseNumbers) {
    let rows: Vec<usize> = (0..len).step_by(step).collect();
    let mut dense = vec![0.0; len];
    rows.iter().for_each(|&row| dense[row] = value(row));
    let values = rows.iter().map(|&row| value(row)).collect();
    (dense, SparseNumbers::new(len, rows.iter().map(|&row| row as u32).collect(), values))
}

#[test]
fn storage_follows_from_the_values_alone() {
    let bytes = |numbers: Numbers| {
        let mut columns = Columns::new(numbers.view().len());
        columns.push(numbers);
        columns.bytes()
    };
    for (step, value, expected) in [
        (10, (|_| 1.0) as fn(usize) -> f64, 400),
        (10, |row| (row % 7 + 1) as f64, 500),
        (9, |row| (row % 7 + 1) as f64, 1000),
        (3, |row| row as f64 + 0.5, 8000),
        (10, |row| row as f64 + 0.5, 1200),
        // Zeros are not stored.
        (1, |row| if row % 100 == 3 { 2.0 } else { -0.0 }, 40),
    ] {
        let (dense, sparse) = every(1000, step, value);
        let numbers = Numbers::from(sparse);
        assert_eq!(numbers.view(), Column::Double(&dense));
        assert_eq!(bytes(numbers), expected, "every {step}");
    }
}

#[test]
fn rows_entries_and_functions_are_those_of_the_dense_column() {
    let cases: [fn(usize) -> f64; 3] = [|_| 3.0, |row| (row % 5) as f64, |row| row as f64 / 3.0 - 1.0];
    for value in cases {
        let (dense, sparse) = every(60, 7, value);
        let shifted = sparse.map(|x| x - 0.5);
        let moved: Vec<f64> = dense.iter().map(|x| x - 0.5).collect();
        for (sparse, dense) in [(sparse, dense), (shifted, moved)] {
            let numbers = Numbers::Sparse(sparse.clone());
            let view = numbers.view();
            assert_eq!(*view.values(), dense);
            assert!((0..60).all(|row| view.get(row) == dense[row]));
            for (start, end) in [(0, 60), (7, 8), (8, 14), (13, 50), (60, 60)] {
                let part = view.rows(start, end).rows(0, end - start);
                assert_eq!(*part.values(), dense[start..end]);
                assert_eq!(part.is_constant(), dense[start..end].windows(2).all(|w| w[0] == w[1]));
            }
            for rows in [vec![0, 7, 7, 8, 14, 59], vec![56, 0, 3, 0], vec![], (0..60).collect()] {
                let expected: Vec<f64> = rows.iter().map(|&row| dense[row]).collect();
                let chosen = numbers.select_rows(&rows);
                assert_eq!(*chosen.view().values(), expected);
                assert_eq!(chosen.view(), Column::Double(&expected));
            }
            let twice = sparse.append(&sparse).unwrap();
            assert_eq!(twice.view().to_vec(), [&dense[..], &dense[..]].concat());
            let [least, greatest] = sparse.view().range();
            assert_eq!(least, dense.iter().copied().fold(f64::INFINITY, f64::min));
            assert_eq!(greatest, dense.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        }
    }
}

#[test]
fn equal_entries_are_equal_columns() {
    let (dense, sparse) = every(30, 4, |row| (row % 3) as f64);
    let (_, other) = every(30, 4, |row| (row % 3) as f64 + if row == 28 { 1.0 } else { 0.0 });
    let back = sparse.map(|x| x + 1.0).map(|x| x - 1.0);
    assert_eq!(Numbers::Sparse(back).view(), Numbers::Sparse(sparse.clone()).view());
    assert_eq!(Column::Double(&dense), Numbers::Sparse(sparse.clone()).view());
    assert_ne!(Numbers::Sparse(other).view(), Numbers::Sparse(sparse.clone()).view());
    let all = |value: f64| Numbers::Sparse(SparseNumbers::new(3, Vec::new(), Vec::new()).map(|x| x + value));
    assert_ne!(all(1.0).view(), all(2.0).view());
}

#[test]
fn views_of_rows_copy_only_the_entries() {
    let (dense, sparse) = every(100, 10, |row| (row + 1) as f64);
    let mut columns = Columns::new(100);
    columns.push(Numbers::Sparse(sparse));
    columns.push(Numbers::Sparse(SparseNumbers::new(100, vec![5], vec![2.5])));
    let rows: Vec<usize> = (0..100).filter(|row| row % 20 != 0).collect();
    let view = columns.view_rows(&rows);
    assert!(!view.is_constant(0) && !view.is_constant(1));
    assert!(columns.view_rows(&[3, 6, 9]).is_constant(1));
    assert_eq!(*view.column(0).values(), rows.iter().map(|&row| dense[row]).collect::<Vec<f64>>());
    assert_eq!((columns.bytes(), view.bytes()), (54, 25));
}
