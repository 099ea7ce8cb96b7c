//! Equal columns.

use vaglio_columns::{Column, Numbers, SparseNumbers};
use vaglio_kernels::duplicates::first_equal;

#[test]
fn the_first_equal_column_is_found_whatever_the_number_of_rows() {
    for rows in [1, 7, 8, 61] {
        let x: Vec<f64> = (0..rows).map(|j| if j % 3 == 0 { 0.0 } else { (j as f64).sin() }).collect();
        let negative: Vec<f64> = x.iter().map(|x| if *x == 0.0 { -0.0 } else { *x }).collect();
        let mut other = x.clone();
        other[rows - 1] += 1.0;
        let (b, c) = (vec![5u8; rows], vec![6u8; rows]);
        let columns = [&x, &other, &negative, &other].map(|x| Column::Double(x));
        let entries = |x: &[f64]| SparseNumbers::new(rows, (0..rows as u32).collect(), x.to_vec());
        let filled = Numbers::Sparse(entries(&[0.0].repeat(rows)).map(|x| x + 5.0));
        let sparse = [&x, &other].map(|x| Numbers::Sparse(entries(x)));
        let bytes = [&b, &c, &b].map(|b| Column::Byte(b));
        let all: Vec<Column<'_>> =
            columns.into_iter().chain(bytes).chain(sparse.iter().chain([&filled]).map(Numbers::view)).collect();
        assert_eq!(first_equal(&all), [0, 1, 0, 1, 4, 5, 4, 0, 1, 4]);
    }
}
