//! Paths with dummies equal plain loops, and virtual dummies behave like stored ones.

use crate::fdr::dummy_path::{DummyPath, NormalRng};
use std::cell::Cell;
use vaglio_search::least_angle_order;
use vaglio_testkit::SplitMix64;

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn unit(mut x: Vec<f64>) -> Vec<f64> {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter_mut().for_each(|v| *v -= mean);
    let norm = dot(&x, &x).sqrt();
    x.iter().map(|v| v / norm).collect()
}

fn vectors(random: &mut SplitMix64, rows: usize, count: usize) -> Vec<Vec<f64>> {
    (0..count).map(|_| unit((0..rows).map(|_| random.normal()).collect())).collect()
}

fn slices(vectors: &[Vec<f64>]) -> Vec<&[f64]> {
    vectors.iter().map(Vec::as_slice).collect()
}

/// Counts, for each feature, the dummies before it in an order of entry, up to a maximum.
fn before(order: &[usize], features: usize, most: u32) -> Vec<Option<u32>> {
    let (mut entered, mut dummies) = (vec![None; features], 0);
    for &column in order {
        if dummies == most {
            break;
        }
        match entered.get_mut(column) {
            Some(entered) => *entered = Some(dummies),
            None => dummies += 1,
        }
    }
    entered
}

/// Returns the order of entry on a least-angle path.
fn least_angle(columns: &[Vec<f64>], y: &[f64]) -> Vec<usize> {
    let relevance = columns.iter().map(|x| dot(x, y)).collect();
    let gram = |column: usize| Ok(columns.iter().map(|x| dot(x, &columns[column])).collect());
    let order = least_angle_order(relevance, vec![true; columns.len()], false, gram);
    order.collect::<Result<_, _>>().unwrap()
}

/// Projects a vector off the span of a basis, by plain Gram–Schmidt.
fn outside(basis: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
    let mut vector = vector.to_vec();
    for _ in 0..2 {
        for e in basis {
            let along = dot(e, &vector);
            vector.iter_mut().zip(e).for_each(|(v, e)| *v -= along * e);
        }
    }
    vector
}

/// Returns the order of forward selection by least squares on all targets.
fn forward(columns: &[Vec<f64>], targets: &[Vec<f64>], steps: usize) -> Vec<usize> {
    let (mut order, mut basis): (Vec<usize>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    // Orthonormal targets: correlated ones count by their residuals on the earlier ones.
    let mut own: Vec<Vec<f64>> = Vec::new();
    for y in targets {
        let rest = outside(&own, y);
        own.push(rest.iter().map(|v| v / dot(&rest, &rest).sqrt()).collect());
    }
    for _ in 0..steps {
        let gain = |x: &Vec<f64>| {
            let rest = outside(&basis, x);
            let norm = dot(&rest, &rest);
            if norm < 1e-9 { 0.0 } else { own.iter().map(|y| dot(&rest, y).powi(2)).sum::<f64>() / norm }
        };
        let gains: Vec<f64> = columns.iter().map(gain).collect();
        let best = (0..columns.len()).max_by(|&a, &b| gains[a].total_cmp(&gains[b])).unwrap();
        let rest = outside(&basis, &columns[best]);
        basis.push(rest.iter().map(|v| v / dot(&rest, &rest).sqrt()).collect());
        order.push(best);
    }
    order
}

#[test]
fn paths_of_stored_dummies_are_those_of_plain_loops() {
    let mut random = SplitMix64::new(4);
    for problem in 0..40 {
        let (rows, features, dummies) = (9 + random.below(20), 1 + random.below(8), 3 + random.below(12));
        let columns = vectors(&mut random, rows, features + dummies);
        let targets = vectors(&mut random, rows, 1 + problem % 3);
        let steps = (rows - 1).min(features + dummies) - 1;
        let order = match &targets[..] {
            [target] => least_angle(&columns, target),
            _ => forward(&columns, &targets, steps),
        };
        let (all, target_slices) = (slices(&columns), slices(&targets));
        let mut path = DummyPath::new(&all, features, &target_slices, 0, 1);
        let within = order.iter().take(steps).filter(|column| **column >= features).count() as u32;
        for most in 1..within {
            path.until(most, &|| false);
            assert_eq!(path.entered(), before(&order, features, most), "{problem} {most}");
        }
    }
}

/// Counts features entered before the first, third and fifth dummy, and dummies before the first feature.
fn count(random: &mut SplitMix64, features: &[&[f64]], targets: &[&[f64]], dummies: usize, stored: bool) -> [f64; 4] {
    let drawn = if stored { vectors(random, targets[0].len(), dummies) } else { Vec::new() };
    let columns: Vec<&[f64]> = features.iter().copied().chain(slices(&drawn)).collect();
    let unstored = if stored { 0 } else { dummies };
    let mut path = DummyPath::new(&columns, features.len(), targets, unstored, random.bits());
    let mut out = [0.0; 4];
    for (place, most) in [1, 3, 5].into_iter().enumerate() {
        path.until(most, &|| false);
        out[place] = path.entered().iter().flatten().count() as f64;
    }
    out[3] = path.entered()[0].map_or(5.0, f64::from);
    out
}

#[test]
fn dummies_that_are_not_stored_enter_as_those_that_are() {
    let mut random = SplitMix64::new(8);
    let rows = 14;
    let columns = vectors(&mut random, rows, 8);
    let noise = vectors(&mut random, rows, 2);
    let y = unit(columns[0].iter().zip(&columns[1]).zip(&noise[0]).map(|((a, b), e)| a + 0.6 * b + 0.7 * e).collect());
    let other = unit(columns[2].iter().zip(&noise[1]).map(|(a, e)| a + e).collect());
    let all = slices(&columns);
    for targets in [vec![&y[..]], vec![&y[..], &other[..]]] {
        let times = 1500;
        let mut draw = |stored: bool| -> Vec<[f64; 4]> {
            (0..times).map(|_| count(&mut random, &all, &targets, 15, stored)).collect()
        };
        let (stored, unstored) = (draw(true), draw(false));
        for k in 0..4 {
            let moments = |counts: &[[f64; 4]]| {
                let mean = counts.iter().map(|v| v[k]).sum::<f64>() / times as f64;
                (mean, counts.iter().map(|v| (v[k] - mean).powi(2)).sum::<f64>() / times as f64)
            };
            let ((a, va), (b, vb)) = (moments(&stored), moments(&unstored));
            let error = ((va + vb) / times as f64).sqrt();
            assert!(va > 0.0 && (a - b).abs() < 4.5 * error, "{k}: {a} and {b} ± {error}");
            // The last count is seldom above 0.
            assert!(k == 3 || (va / vb).ln().abs() < 0.3, "{k}: {va} and {vb}");
        }
    }
}

#[test]
fn a_path_ends_where_columns_span_the_rows_and_where_it_is_stopped() {
    let mut random = SplitMix64::new(3);
    let (columns, y) = (vectors(&mut random, 6, 3), vectors(&mut random, 6, 1));
    let (all, targets) = (slices(&columns), slices(&y));
    // A path that has ended no longer asks whether it should stop.
    let asks = |path: &mut DummyPath, stop: bool| {
        let asked = Cell::new(0);
        path.until(40, &|| {
            asked.set(asked.get() + 1);
            stop
        });
        asked.get()
    };
    let mut path = DummyPath::new(&all, 3, &targets, 40, 7);
    assert_eq!(asks(&mut path, true), 1);
    assert_eq!(path.entered(), [None; 3]);
    // Centered rows span 5 dimensions, so 5 columns enter; it ends where it looks for another.
    assert_eq!(asks(&mut path, false), 6);
    assert_eq!(asks(&mut path, false), 0);
    assert_eq!(asks(&mut DummyPath::new(&all, 3, &[], 3, 1), false), 0);
    assert!((0.0..1.0).contains(&NormalRng::new(1).uniform()));
}

#[test]
fn numbers_have_the_moments_and_tails_of_the_normal() {
    let mut drawn = NormalRng::new(3);
    let count = 400_000;
    let all: Vec<f64> = (0..count).map(|_| drawn.normal()).collect();
    let moment = |power: i32| all.iter().map(|z| z.powi(power)).sum::<f64>() / count as f64;
    // Five standard errors each: the standard deviations of z, z², z³ and z⁴ are 1, √2, √15 and √96.
    let near =
        |value: f64, expected: f64, variance: f64| (value - expected).abs() < 5.0 * (variance / count as f64).sqrt();
    assert!(near(moment(1), 0.0, 1.0) && near(moment(2), 1.0, 2.0));
    assert!(near(moment(3), 0.0, 15.0) && near(moment(4), 3.0, 96.0));
    for (beyond, share) in [(1.0, 0.317_310_5), (2.0, 0.045_500_3), (3.0, 0.002_699_8), (3.6, 0.000_318_2)] {
        let found = all.iter().filter(|z| z.abs() > beyond).count() as f64 / count as f64;
        assert!(near(found, share, share), "{beyond}: {found}");
    }
}
