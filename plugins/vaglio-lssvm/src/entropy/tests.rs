//! Landmarks against the plain definition of their entropy.

use super::select_landmarks;
use crate::distinct_rows::distinct_rows;
use crate::similarity::KernelFunction;
use vaglio_kernels::{Column, Level};
use vaglio_testkit::SplitMix64;

/// Generates three columns with most rows in one cluster.
fn clustered(rows: usize) -> Vec<Vec<f64>> {
    let mut random = SplitMix64::new(1);
    let center = |row: usize| if row % 20 < 17 { 0.0 } else { (row % 20) as f64 - 13.0 };
    (0..3).map(|_| (0..rows).map(|row| center(row) + 0.5 * random.uniform()).collect()).collect()
}

fn sum(kernel: KernelFunction, columns: &[Vec<f64>], rows: &[usize]) -> f64 {
    let k = |a: usize, b: usize| match kernel {
        KernelFunction::Rbf { bandwidth } => {
            let square: f64 = columns.iter().map(|c| (c[a] - c[b]).powi(2)).sum();
            (-square / (2.0 * bandwidth * bandwidth)).exp()
        }
        KernelFunction::Polynomial { degree, offset } => {
            (columns.iter().map(|c| c[a] * c[b]).sum::<f64>() + offset).powi(degree as i32)
        }
    };
    rows.iter().flat_map(|&a| rows.iter().map(move |&b| (a, b))).map(|(a, b)| k(a, b)).sum()
}

const KERNELS: [KernelFunction; 3] = [
    KernelFunction::Rbf { bandwidth: 0.6 },
    KernelFunction::Polynomial { degree: 1, offset: 0.0 },
    KernelFunction::Polynomial { degree: 3, offset: 1.0 },
];

#[test]
fn every_swap_raises_the_entropy() {
    let data = clustered(500);
    let columns: Vec<Column<'_>> = data.iter().map(|c| Column::Double(c)).collect();
    let (order, _) = distinct_rows(&columns, 500);
    for kernel in KERNELS {
        let chosen = select_landmarks(kernel, &columns, order.clone(), 20);
        let mut rows = order[..20].to_vec();
        let mut lowest = sum(kernel, &data, &rows);
        assert!(chosen.swaps.len() > 5, "{kernel:?}: {} swaps", chosen.swaps.len());
        for &(gone, taken) in &chosen.swaps {
            let place = rows.iter().position(|&row| row == gone).unwrap();
            rows[place] = taken;
            let now = sum(kernel, &data, &rows);
            assert!(now < lowest, "{kernel:?}: {now} after {lowest}");
            lowest = now;
        }
        assert_eq!(rows, chosen.rows);
        let entropy = -(lowest / 400.0).ln();
        assert!((chosen.entropy - entropy).abs() < 1e-9 * entropy.abs().max(1.0), "{} {entropy}", chosen.entropy);
        let mut unique = rows.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), 20);
    }
}

#[test]
fn where_it_stops_early_no_swap_helps() {
    let data = clustered(120);
    let columns: Vec<Column<'_>> = data.iter().map(|c| Column::Double(c)).collect();
    let (order, _) = distinct_rows(&columns, 120);
    let mut settled = 0;
    for kernel in KERNELS {
        let chosen = select_landmarks(kernel, &columns, order.clone(), 8);
        if chosen.proposals == 3 * 112 {
            continue;
        }
        settled += 1;
        let reached = sum(kernel, &data, &chosen.rows);
        for place in 0..8 {
            for row in (0..120).filter(|row| !chosen.rows.contains(row)) {
                let mut other = chosen.rows.clone();
                other[place] = row;
                assert!(sum(kernel, &data, &other) > reached * (1.0 - 1e-8), "{kernel:?}");
            }
        }
    }
    assert!(settled > 0);
}

#[test]
fn they_are_better_than_random_ones_and_equal_on_every_level_and_pool() {
    let data = clustered(500);
    let columns: Vec<Column<'_>> = data.iter().map(|c| Column::Double(c)).collect();
    let (order, _) = distinct_rows(&columns, 500);
    let kernel = KERNELS[0];
    let chosen = select_landmarks(kernel, &columns, order.clone(), 20);
    for start in (0..480).step_by(20) {
        let random = sum(kernel, &data, &order[start..start + 20]);
        assert!(-(random / 400.0).ln() < chosen.entropy);
    }
    for level in Level::available() {
        level.within(|| {
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let again = pool.install(|| select_landmarks(kernel, &columns, order.clone(), 20));
                assert_eq!(again, chosen, "{}, {threads} threads", level.name());
            }
        });
    }
}

#[test]
fn fewer_rows_than_landmarks_are_all_taken() {
    let data = clustered(10);
    let columns: Vec<Column<'_>> = data.iter().map(|c| Column::Double(c)).collect();
    let chosen = select_landmarks(KERNELS[0], &columns, (0..10).collect(), 400);
    assert_eq!((chosen.rows, chosen.proposals), ((0..10).collect(), 0));
}
