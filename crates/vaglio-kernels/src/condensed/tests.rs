use super::*;
use vaglio_testkit::Random;

/// Builds columns: normal, far from 0, nearly equal to the first, constant, a copy of the second, with few values, and
/// a target.
fn columns(rows: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let normal: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
    let far: Vec<f64> = (0..rows).map(|_| 1000.0 + 3.0 * random.normal()).collect();
    let near = normal.iter().map(|x| x + 1e-6 * random.normal()).collect();
    let few = (0..rows).map(|row| f64::from(u8::from(row % 7 == 0))).collect();
    let target = normal.iter().zip(&far).map(|(a, b)| a - 0.1 * b + random.normal()).collect();
    vec![normal, far.clone(), near, vec![2.5; rows], far, few, target]
}

/// Computes Σ r a b over the rows of a cell.
fn product(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
    a.iter().zip(b).zip(weights).map(|((a, b), r)| r * a * b).sum()
}

fn condensed(all: &[Vec<f64>], cells: &[u32], weights: &[f64], batch: usize, height: usize) -> Vec<CondensedCell> {
    let shifts = all.iter().map(|column| column[0]).collect();
    let mut condenser = Condenser::new(4, shifts, height);
    for start in (0..cells.len()).step_by(batch) {
        let end = cells.len().min(start + batch);
        let columns: Vec<Column<'_>> = all.iter().map(|column| Column::Double(&column[start..end])).collect();
        let (cells, weights) = (&cells[start..end], Some(&weights[start..end]));
        condenser.push(RowBatch { columns: &columns, cells, weights }).unwrap();
        if start.is_multiple_of(2) {
            let state = condenser.state();
            // Restores it from its state, as after a crash.
            condenser = Condenser::of_state(&state).unwrap();
            assert!(condenser.state() == state && Condenser::of_state(&state[..state.len() - 1]).is_none());
        }
    }
    condenser.finish().unwrap()
}

#[test]
fn few_rows_have_the_products_of_many() {
    let random = &mut Random::new(3);
    let rows = 3000;
    let all = columns(rows, random);
    let weights: Vec<f64> = (0..rows).map(|row| 1.0 + (row % 3) as f64).collect();
    // Two rows in the third cell, none in the fourth; some rows are left out.
    let cell = |row: usize| match row {
        7 | 1900 => 2,
        row if row % 11 == 0 => NO_CELL,
        row if row < 1200 || row % 2 == 0 => 0,
        _ => 1,
    };
    let cells: Vec<u32> = (0..rows).map(cell).collect();
    let found = condensed(&all, &cells, &weights, 500, 100);
    for (number, few) in found.iter().enumerate() {
        let own: Vec<usize> = (0..rows).filter(|&row| cells[row] == number as u32).collect();
        let taken = |x: &[f64]| own.iter().map(|&row| x[row]).collect::<Vec<f64>>();
        let (own_weights, ones) = (taken(&weights), vec![1.0; own.len()]);
        assert_eq!(few.count, own.len());
        assert!(few.weights.len() <= 8, "{}", few.weights.len());
        let total: f64 = few.weights.iter().sum();
        assert!((total - own_weights.iter().sum::<f64>()).abs() <= 1e-10 * total);
        for a in 0..all.len() {
            let mean = product(&taken(&all[a]), &ones, &own_weights) / total.max(1.0);
            let deviations = |x: &[f64]| x.iter().map(|x| x - mean).collect::<Vec<f64>>();
            let (of_many, of_few) = (deviations(&taken(&all[a])), deviations(&few.columns[a]));
            let scale = product(&of_many, &of_many, &own_weights).max(1e-10);
            for (b, other) in all.iter().enumerate() {
                let many = product(&of_many, &taken(other), &own_weights);
                let found = product(&of_few, &few.columns[b], &few.weights);
                let norm = product(&taken(other), &taken(other), &own_weights);
                assert!(
                    (many - found).abs() <= 1e-12 * (scale * norm).sqrt(),
                    "{number}: {a}, {b}: {found}, not {many}"
                );
            }
        }
        assert_eq!(few.columns[1], few.columns[4], "equal columns stay equal");
        assert!(few.columns[3].iter().all(|x| *x == 2.5), "constant ones constant");
    }
}

#[test]
fn the_digits_of_nearly_equal_columns_are_kept() {
    let random = &mut Random::new(5);
    let rows = 2000;
    let all = columns(rows, random);
    let (cells, weights) = (vec![0; rows], vec![1.0; rows]);
    let few = &condensed(&all, &cells, &weights, 333, 64)[0];
    let difference = |columns: &[Vec<f64>], weights: &[f64]| {
        let apart: Vec<f64> = columns[2].iter().zip(&columns[0]).map(|(a, b)| a - b).collect();
        product(&apart, &apart, weights)
    };
    // Sums of products would have about four digits.
    let (many, found) = (difference(&all, &weights), difference(&few.columns, &few.weights));
    assert!((many / found - 1.0).abs() < 1e-8, "{found}, not {many}");
}

#[test]
fn batches_and_threads_change_no_bit() {
    let random = &mut Random::new(7);
    let rows = 1500;
    let all = columns(rows, random);
    let cells: Vec<u32> = (0..rows).map(|row| (row % 3) as u32).collect();
    let weights = vec![1.0; rows];
    let one = condensed(&all, &cells, &weights, 1500, 50);
    for (batch, threads) in [(1500, 3), (77, 1), (400, 2)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let other = pool.install(|| condensed(&all, &cells, &weights, batch, 50));
        for (one, other) in one.iter().zip(&other) {
            assert_eq!((&one.weights, &one.columns), (&other.weights, &other.columns));
        }
    }
}

#[test]
fn products_that_overflow_are_refused() {
    let all = [vec![1e200; 40], (0..40).map(|row| 1e200 * f64::from(row)).collect()];
    let columns: Vec<Column<'_>> = all.iter().map(|column| Column::Double(column)).collect();
    let mut condenser = Condenser::new(1, vec![0.0; 2], 8);
    let pushed = condenser.push(RowBatch { columns: &columns, cells: &[0; 40], weights: None });
    assert!(pushed.is_err() || condenser.finish().is_ok_and(|cells| cells[0].columns[1].iter().all(|x| x.is_finite())));
}

#[test]
fn ranges_of_rows_are_put_together() {
    let random = &mut Random::new(9);
    let rows = 2000;
    let all = columns(rows, random);
    // Three rows in the third cell, from two ranges.
    let cells: Vec<u32> = (0..rows).map(|row| if [3, 4, 1990].contains(&row) { 2 } else { (row % 2) as u32 }).collect();
    let weights: Vec<f64> = (0..rows).map(|row| 1.0 + (row % 3) as f64).collect();
    let whole = condensed(&all, &cells, &weights, rows, 64);
    let range = |rows: std::ops::Range<usize>| {
        let columns: Vec<Column<'_>> = all.iter().map(|column| Column::Double(&column[rows.clone()])).collect();
        // Each range has its own shifts.
        let shifts = all.iter().map(|column| column[rows.start]).collect();
        let mut condenser = Condenser::new(4, shifts, 64);
        let (cells, weights) = (&cells[rows.clone()], Some(&weights[rows]));
        condenser.push(RowBatch { columns: &columns, cells, weights }).unwrap();
        condenser
    };
    let mut together = range(0..700);
    for rows in [700..790, 790..791, 791..2000] {
        together.append(range(rows)).unwrap();
    }
    for (whole, found) in whole.iter().zip(together.finish().unwrap()) {
        assert_eq!((whole.count, whole.weights.len()), (found.count, found.weights.len()));
        let of = |cell: &CondensedCell, a: usize, b: usize| product(&cell.columns[a], &cell.columns[b], &cell.weights);
        for a in 0..all.len() {
            for b in 0..all.len() {
                let norm = (of(whole, a, a) * of(whole, b, b)).sqrt();
                let (one, other) = (of(whole, a, b), of(&found, a, b));
                assert!((one - other).abs() <= 1e-12 * norm, "{a}, {b}: {other}, not {one}");
            }
        }
        assert_eq!(found.columns[1], found.columns[4], "equal columns stay equal");
        assert!(found.columns[3].iter().all(|x| *x == 2.5), "constant ones constant");
    }
}
