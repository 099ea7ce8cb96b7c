//! Products and distances of rows with vectors.

use vaglio_columns::Column;
use vaglio_kernels::Level;
use vaglio_kernels::tile::Tile;
use vaglio_kernels::vectors::Vectors;

fn entry(k: usize, i: usize) -> f64 {
    ((k * 31 + i * 17 + k * i * 7) % 23) as f64 / 7.0 - 1.4
}

#[test]
fn every_level_has_the_bits_of_the_plain_sums() {
    for (rows, count, inputs) in [(0, 3, 2), (1, 1, 1), (9, 5, 7), (130, 9, 3), (16, 0, 4), (7, 3, 0)] {
        let columns: Vec<Vec<f64>> = (0..inputs).map(|i| (0..rows).map(|j| entry(j + 3, i)).collect()).collect();
        let columns: Vec<Column<'_>> = columns.iter().map(|c| Column::Double(c)).collect();
        let (x, vectors) = (Tile::from_columns(&columns, 0..rows), Vectors::new(count, inputs, entry));
        let start: Vec<f64> = (0..count).map(|k| k as f64 / 3.0).collect();
        for level in Level::available() {
            level.within(|| {
                let products = vectors.products(&x, &start);
                let distances = vectors.squared_distances(&x);
                assert_eq!((products.rows(), products.columns(), distances.rows()), (rows, count, rows));
                for (j, k) in (0..rows).flat_map(|j| (0..count).map(move |k| (j, k))) {
                    let (mut sum, mut square) = (start[k], 0.0);
                    for i in 0..inputs {
                        sum += entry(k, i) * x.get(j, i);
                        square += (x.get(j, i) - entry(k, i)) * (x.get(j, i) - entry(k, i));
                    }
                    assert_eq!(products.get(j, k).to_bits(), sum.to_bits(), "row {j} of vector {k}");
                    assert_eq!(distances.get(j, k).to_bits(), square.to_bits(), "row {j} of vector {k}");
                }
            });
        }
    }
}
