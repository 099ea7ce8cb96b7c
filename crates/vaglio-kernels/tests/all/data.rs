//! Sums over columns of views, of sparse columns, and of blocks of rows, against sums of copies.

use std::sync::Arc;
use vaglio_columns::{Column, Columns, Measure, SparseNumbers};
use vaglio_kernels::kfold::NormalEquations;
use vaglio_kernels::loo::LooState;
use vaglio_kernels::sums::product;
use vaglio_kernels::{ColumnEntries, Data, GramCache, Level, Scorer};

fn number(seed: usize, row: usize) -> f64 {
    ((seed * 3100 + row * row) as f64).sin()
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!(a == b || (a - b).abs() <= tolerance, "{a} is not {b}");
}

fn all_near(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(a, b)| near(*a, *b, tolerance));
}

fn some_active<'d>(columns: &'d Columns, active: &[bool]) -> ColumnEntries<'d> {
    ColumnEntries::from(columns).with_active(active.to_vec())
}

fn correlations(data: &Data<'_>, output: usize) -> Vec<f64> {
    data.correlations(data.centered[output].clone())
}

/// Bounds of every addition, after adding columns one after the other: they read all columns, and products with each
/// added one.
fn bounds(data: Data<'_>, added: &[usize]) -> Vec<f64> {
    let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
    let mut state = LooState::new(Arc::new(data), 0.5, []);
    let mut out = state.bounds(&scorer, false).unwrap();
    for &feature in added {
        state.add(feature);
        out.extend(state.bounds(&scorer, false).unwrap());
    }
    out
}

#[test]
fn rows_that_were_chosen_have_the_sums_of_copied_ones() {
    const ROWS: usize = 300;
    let mut columns = Columns::new(ROWS);
    (0..7).for_each(|k| columns.push((0..ROWS).map(|j| 3.0 + number(k, j)).collect::<Vec<f64>>()));
    (0..3).for_each(|k| columns.push((0..ROWS).map(|j| ((j * (k + 5)) % 251) as f64).collect::<Vec<f64>>()));
    columns.push(vec![1.0; ROWS]);
    let active: Vec<bool> = (0..11).map(|c| c != 4 && c != 10).collect();
    for (rows, is_view) in [
        ((0..ROWS).filter(|row| row % 5 != 2).collect::<Vec<usize>>(), true),
        ((0..ROWS).filter(|row| row % 2 == 0).collect(), false),
        ((0..ROWS).map(|row| row / 2).collect(), false),
    ] {
        let y: Vec<f64> = rows.iter().map(|&j| number(8, j)).collect();
        let w: Vec<f64> = rows.iter().map(|&j| 1.5 + number(9, j)).collect();
        for (weights, intercept) in [(None, false), (None, true), (Some(&w[..]), false), (Some(&w[..]), true)] {
            let (view, copied) = (columns.view_rows(&rows), columns.select_rows(&rows));
            let data = |entries| Data::new(entries, &[&y], weights, intercept, None).unwrap();
            // Reads of all columns copy none.
            let found = bounds(data(some_active(&view, &active)), &[]);
            assert!(!is_view || view.bytes() == 0);
            all_near(&found, &bounds(data(some_active(&copied, &active)), &[]), 1e-11);
            // In products with some columns, each column has the bits of a product of its own.
            let (viewed, from_copy) = (data(some_active(&view, &active)), data(some_active(&copied, &active)));
            let found = correlations(&viewed, 0);
            all_near(&found, &correlations(&from_copy, 0), 1e-13);
            for column in [3, 8, 5] {
                let only: Vec<bool> = (0..11).map(|other| other == column).collect();
                assert_eq!(correlations(&data(some_active(&view, &only)), 0)[column], found[column]);
            }
            assert!((0..11).all(|c| is_view || viewed.scaled_column(c) == from_copy.scaled_column(c)));
        }
    }
}

#[test]
fn sums_of_sparse_columns_are_those_of_dense_ones() {
    let rows = 4096 + 333;
    let series = |seed: f64| -> Vec<f64> { (0..rows).map(|j| 0.3 + (j as f64 * seed).sin()).collect() };
    let [u, v, w] = [0.7, 1.3, 0.2].map(series);
    let weights: Vec<f64> = w.iter().map(|w| 0.1 + w.abs()).collect();
    let own: Vec<u32> = (0..rows as u32).filter(|row| row % 9 == 4).collect();
    // The last column stores most rows.
    let most: Vec<u32> = (0..rows as u32).filter(|row| row % 9 != 4).collect();
    type Value = fn(u32) -> f64;
    let values: [(&Vec<u32>, Value); 4] = [
        (&own, |_| 1.0),
        (&own, |row| f64::from(row % 13)),
        (&own, |row| f64::from(row).cos()),
        (&most, |row| f64::from(row).cos()),
    ];
    let numbers = values.map(|(own, value)| {
        let plain = SparseNumbers::new(rows, own.clone(), own.iter().map(|&row| value(row)).collect());
        [plain.clone(), plain.map(|x| x / 3.0 - 0.25)]
    });
    let numbers = numbers.as_flattened();
    let dense: Vec<Vec<f64>> = numbers.iter().map(|x| x.view().to_vec()).collect();
    for (x, dense) in numbers.iter().zip(&dense) {
        for shift in [0.0, x.view().fill(), 0.4] {
            let (found, expected) =
                (product(Column::Sparse(x.view()), shift, &v), product(Column::Double(dense), shift, &v));
            near(found, expected, 1e-12 * rows as f64);
        }
    }
    for (weights, intercept) in [(None, false), (None, true), (Some(&weights[..]), true)] {
        let data = |entries| Data::new(entries, &[&u, &v], weights, intercept, None).unwrap();
        let sparse = || data(numbers.iter().map(|x| Column::Sparse(x.view())).collect());
        let dense = || data(dense.iter().map(|x| Column::Double(x)).collect());
        for column in 0..numbers.len() {
            all_near(&sparse().scaled_column(column), &dense().scaled_column(column), 1e-12);
        }
        for output in 0..2 {
            all_near(&correlations(&sparse(), output), &correlations(&dense(), output), 1e-12);
        }
        all_near(&bounds(sparse(), &[2]), &bounds(dense(), &[2]), 1e-9);
    }
}

#[test]
fn every_level_gives_the_plain_products_and_equal_columns_equal_bits() {
    let (rows, count) = (64, 40);
    let entry = |c: usize, j: usize| ((if c == 37 { j } else { c * 7 + j }) as f64 * 1.3).sin();
    let columns: Vec<Vec<f64>> = (0..count).map(|c| (0..rows).map(|j| entry(c, j)).collect()).collect();
    let mut first = None;
    for level in Level::available() {
        level.within(|| {
            // Each fused multiply-add is rounded once, in hardware or in software.
            let entries = columns.iter().map(|x| Column::Double(x)).collect();
            let data = Arc::new(Data::new(entries, &[&columns[5]], None, false, None).unwrap());
            let all: Vec<usize> = (0..count).collect();
            let (gram, _) = NormalEquations::new(&data, &all).unwrap().restrict(&all).unwrap();
            for ((i, j), found) in gram.indexed_iter() {
                let plain: f64 = (0..rows).map(|row| entry(i, row) * entry(j, row)).sum();
                near(*found, plain, 1e-12 * rows as f64);
            }
            assert_eq!(gram.row(0), gram.row(37), "columns 0 and 37 are equal");
            assert_eq!(*first.get_or_insert_with(|| gram.clone()), gram);
        });
    }
}

const ROWS: usize = 3100;

/// Generates doubles, bytes, and a column far from 0.
fn columns() -> Columns {
    let mut columns = Columns::new(ROWS);
    (0..6).for_each(|k| columns.push((0..ROWS).map(|j| 3.0 + number(k, j)).collect::<Vec<f64>>()));
    (0..3).for_each(|k| columns.push((0..ROWS).map(|j| ((j * (k + 5)) % 251) as f64).collect::<Vec<f64>>()));
    columns.push((0..ROWS).map(|j| 1e7 + number(7, j)).collect::<Vec<f64>>());
    columns
}

#[test]
fn rows_of_blocks_have_the_products_that_they_have_alone() {
    let columns = columns();
    let labels: Vec<u32> = (0..ROWS).map(|j| (j * j % 11 % 5) as u32).collect();
    let y: Vec<f64> = (0..ROWS).map(|j| 5.0 + number(8, j)).collect();
    let active: Vec<bool> = (0..10).map(|column| column != 4).collect();
    // Blocks of all rows, and of some of them.
    let some: Vec<usize> = (0..ROWS).filter(|j| j % 7 != 3).collect();
    for (base, intercept) in [(None, false), (None, true), (Some(&some), true)] {
        let base_columns = base.map(|rows| columns.view_rows(rows));
        let whole = base_columns.as_ref().unwrap_or(&columns);
        let at = |row: usize| base.map_or(row, |rows| rows[row]);
        let labels: Vec<u32> = (0..whole.rows()).map(|row| labels[at(row)]).collect();
        let targets: Vec<f64> = (0..whole.rows()).map(|row| y[at(row)]).collect();
        let entries = some_active(whole, &active);
        let make = || GramCache::with_blocks(&entries, &labels, &[&targets], intercept).unwrap();
        let blocks = make();
        for is_own in [|_: u32| true, |label| label != 2, |label| label != 0] {
            let rows: Vec<usize> = (0..whole.rows()).filter(|&row| is_own(labels[row])).collect();
            let fold = whole.view_rows(&rows);
            let y: Vec<f64> = rows.iter().map(|&row| targets[row]).collect();
            let gram = |blocks: Arc<GramCache>| blocks.for_rows(&some_active(&fold, &active), &[&y]).unwrap();
            let found = |gram: Option<Arc<GramCache>>| {
                bounds(Data::new(some_active(&fold, &active), &[&y], None, intercept, gram).unwrap(), &[1, 6, 9])
            };
            let shared = found(Some(gram(Arc::clone(&blocks))));
            all_near(&shared, &found(None), 1e-7);
            // All levels give the same bits.
            for level in Level::available() {
                level.within(|| assert_eq!(found(Some(gram(make()))), shared));
            }
        }
        // One row fewer than whole blocks.
        let rows: Vec<usize> = (1..whole.rows()).collect();
        let fold = whole.view_rows(&rows);
        assert!(blocks.for_rows(&some_active(&fold, &active), &[&targets[1..]]).is_none());
    }
}

#[test]
fn rows_whose_products_would_lose_digits_are_read() {
    let mut columns = columns();
    columns.push((0..ROWS).map(|j| if j == 4 { 1e9 } else { number(11, j) }).collect::<Vec<f64>>());
    let labels: Vec<u32> = (0..ROWS).map(|j| (j % 5) as u32).collect();
    let y: Vec<f64> = (0..ROWS).map(|j| number(8, j)).collect();
    let far: Vec<f64> = (0..ROWS).map(|j| if j == 4 { 1e9 } else { y[j] }).collect();
    let rows: Vec<usize> = (0..ROWS).filter(|j| j % 5 != 4).collect();
    let fold = columns.view_rows(&rows);
    let is_made = |active: bool, y: &[f64], intercept: bool| {
        let active: Vec<bool> = (0..11).map(|column| column < 10 || active).collect();
        let blocks = GramCache::with_blocks(&some_active(&columns, &active), &labels, &[y], intercept).unwrap();
        let own: Vec<f64> = rows.iter().map(|&row| y[row]).collect();
        blocks.for_rows(&some_active(&fold, &active), &[&own]).is_some()
    };
    assert!(is_made(false, &y, true) && is_made(true, &far, false));
    assert!(!is_made(true, &y, true) && !is_made(false, &far, true));
}

#[test]
fn many_blocks_and_numbers_that_overflow_have_none() {
    const ROWS: usize = 33 * 512;
    let mut columns = Columns::new(ROWS);
    columns.push((0..ROWS).map(|j| j as f64 + 0.5).collect::<Vec<f64>>());
    let y = vec![1.0; ROWS];
    let new = |columns: &Columns, rows: usize, blocks: usize| {
        let columns = columns.select_rows(&(0..rows).collect::<Vec<_>>());
        let labels: Vec<u32> = (0..rows).map(|j| (j % blocks) as u32).collect();
        GramCache::with_blocks(&(&columns).into(), &labels, &[&y[..rows]], false)
    };
    assert!(new(&columns, ROWS, 32).is_some() && new(&columns, ROWS, 33).is_none());
    assert!(new(&columns, 2560, 5).is_some() && new(&columns, 2559, 5).is_none());
    columns.push(vec![1e200; ROWS]);
    assert!(new(&columns, ROWS, 5).is_none());
}
