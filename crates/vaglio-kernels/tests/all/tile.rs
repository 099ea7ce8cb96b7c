//! Rows of several columns, in tiles.

use std::ops::Range;
use vaglio_columns::Column;
use vaglio_kernels::tile::{Tile, by_tiles};

#[test]
fn tiles_hold_what_the_columns_hold() {
    let x: Vec<f64> = (0..300).map(f64::from).collect();
    let bytes: Vec<u8> = (0..300).map(|j| (j % 250) as u8).collect();
    let columns = [Column::Double(&x), Column::Byte(&bytes)];
    for rows in [0, 1, 8, 13, 300] {
        let columns = columns.map(|c| c.rows(0, rows));
        let copy = by_tiles(rows, 2, |range| Ok::<_, ()>(Tile::from_columns(&columns, range))).unwrap();
        assert_eq!(copy[0], x[..rows]);
        assert!(copy[1].iter().zip(&bytes).all(|(a, b)| *a == f64::from(*b)));
    }
    let tile = Tile::from_columns(&columns, 3..16);
    assert_eq!((tile.rows(), tile.columns(), tile.get(12, 0)), (13, 2, 15.0));
    assert_eq!(tile.column(0).sum::<f64>(), (3..16).map(f64::from).sum::<f64>());
}

#[test]
fn only_rows_count_as_entries() {
    for (row, finite) in [(0, false), (9, false), (12, false), (13, true), (15, true)] {
        let mut tile = Tile::new(13, 2);
        tile.set(row, 1, f64::NAN);
        assert_eq!(tile.is_finite(), finite, "{row}");
    }
    let mut tile = Tile::new(9, 2);
    tile.entries().fill(3.0);
    tile.scale(|k| k as f64);
    assert_eq!((tile.get(8, 0), tile.get(8, 1)), (0.0, 3.0));
}

#[test]
fn the_first_error_comes_through() {
    let failing = |range: Range<usize>| if range.start < 200 { Ok(Tile::new(range.len(), 1)) } else { Err(range) };
    assert_eq!(by_tiles(1000, 1, failing).unwrap_err().start, 256);
}
