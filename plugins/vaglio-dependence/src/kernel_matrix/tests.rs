//! HSIC of columns against m × m matrices, and non-negative least squares against every support.

use super::{Landmarks, LevelColumn, LevelGrid, Quadratic, ThinFactor, classes, gaussian, shares, standardize};
use ndarray::{Array1, Array2};
use vaglio_kernels::Level;
use vaglio_kernels::linalg::solve;
use vaglio_testkit::SplitMix64;

fn noise(seed: u64, count: usize) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| random.normal()).collect()
}

fn center(k: Array2<f64>, p: &[f64]) -> Array2<f64> {
    let m = p.len();
    let h = Array2::from_shape_fn((m, m), |(i, j)| f64::from(i == j) - p[j]);
    let roots = Array2::from_diag(&Array1::from_iter(p.iter().map(|p| p.sqrt())));
    roots.dot(&h).dot(&k).dot(&h.t()).dot(&roots)
}

fn plain(u: &[f64], p: &[f64], sigma: f64) -> Array2<f64> {
    let k = |i: usize, j: usize| (-(u[i] - u[j]).powi(2) / (2.0 * sigma * sigma)).exp();
    center(Array2::from_shape_fn((u.len(), u.len()), |(i, j)| k(i, j)), p)
}

fn normalize(k: &Array2<f64>) -> Array2<f64> {
    k / (k * k).sum().sqrt()
}

fn columns(m: usize) -> Vec<Vec<f64>> {
    let mut all = vec![noise(1, m), noise(2, m), noise(3, m).iter().map(|v| v.exp()).collect()];
    all.push(noise(4, m).iter().map(|v| v.round()).collect());
    all.push((0..m).map(|j| f64::from(j == 3)).collect());
    all.push(noise(5, m).iter().map(|v| v.powi(5)).collect());
    all.push((0..m).map(|j| 1e9 + j as f64).collect());
    all
}

#[test]
fn inner_products_are_those_of_the_matrices() {
    let mut worst = 0.0f64;
    for m in [2, 7, 33, 150, 301] {
        let weights: Vec<f64> = noise(9, m).iter().map(|v| v.abs() + 0.1).collect();
        for (p, sigma) in
            [(shares(m, None), 1.0), (shares(m, Some(&weights)), 1.0), (shares(m, None), 0.3), (shares(m, None), 20.0)]
        {
            let all: Vec<Vec<f64>> = columns(m).iter().filter_map(|x| standardize(x, &p)).collect();
            let matrices: Vec<_> = all.iter().map(|u| normalize(&plain(u, &p, sigma))).collect();
            let factor = |u: &Vec<f64>| gaussian(&p, std::slice::from_ref(u), sigma, usize::MAX).unwrap().normalize();
            let factors: Vec<ThinFactor> = all.iter().map(factor).collect();
            for (a, f) in matrices.iter().zip(&factors) {
                for (b, g) in matrices.iter().zip(&factors) {
                    worst = worst.max(((a * b).sum() - f.inner(g)).abs());
                }
            }
        }
    }
    assert!(worst < 1e-10, "{worst:e}");
}

#[test]
fn a_column_has_a_low_rank() {
    let p = shares(300, None);
    let u = standardize(&noise(1, 300), &p).unwrap();
    let rank = gaussian(&p, &[u], 1.0, usize::MAX).unwrap().rank();
    assert!((10..=32).contains(&rank), "{rank}");
}

#[test]
fn landmarks_are_near_the_matrices() {
    let m = 200;
    let p = shares(m, None);
    let marks = Landmarks::new(20, 1.0).unwrap();
    assert!(marks.features(&standardize(&noise(1, m), &p).unwrap()).len() <= 20);
    let all: Vec<Vec<f64>> = (1..5).map(|s| standardize(&noise(s, m), &p).unwrap()).collect();
    let mut worst = 0.0f64;
    for u in &all {
        for v in &all {
            let exact = (normalize(&plain(u, &p, 1.0)) * normalize(&plain(v, &p, 1.0))).sum();
            let factor = |u: &[f64]| ThinFactor::from_features(&p, marks.features(u)).normalize();
            worst = worst.max((factor(u).inner(&factor(v)) - exact).abs());
        }
    }
    assert!(worst < 1e-5, "{worst:e}");
}

#[test]
fn classes_are_block_matrices() {
    let class = [0, 1, 1, 2, 0, 1, 2, 2, 2];
    let weights: Vec<f64> = (1..10).map(f64::from).collect();
    let p = shares(9, Some(&weights));
    let u = standardize(&noise(3, 9), &p).unwrap();
    let x = gaussian(&p, std::slice::from_ref(&u), 1.0, usize::MAX).unwrap();
    for by_size in [true, false] {
        let size = |c: usize| (0..9).filter(|&j| class[j] == c).map(|j| p[j]).sum::<f64>();
        let entry = |(i, j): (usize, usize)| match (class[i] == class[j], by_size) {
            (false, _) => 0.0,
            (true, true) => 1.0 / size(class[i]),
            (true, false) => 1.0,
        };
        let l = center(Array2::from_shape_fn((9, 9), entry), &p);
        let f = classes(&p, &class, by_size);
        assert!((f.inner(&f) - (&l * &l).sum()).abs() < 1e-14);
        assert!((f.inner(&x) - (&l * &plain(&u, &p, 1.0)).sum()).abs() < 1e-14);
    }
}

#[test]
fn every_level_gives_the_same_bits() {
    let p = shares(101, None);
    let all: Vec<Vec<f64>> = columns(101).iter().filter_map(|x| standardize(x, &p)).collect();
    let marks = Landmarks::new(20, 1.0).unwrap();
    let bits = || -> Vec<u64> {
        let exact = all.iter().map(|u| gaussian(&p, std::slice::from_ref(u), 1.0, usize::MAX).unwrap().normalize());
        let sampled = all.iter().map(|u| ThinFactor::from_features(&p, marks.features(u)).normalize());
        let factors: Vec<ThinFactor> = exact.chain(sampled).collect();
        factors.iter().flat_map(|f| factors.iter().map(move |g| f.inner(g).to_bits())).collect()
    };
    let first = Level::available()[0].within(bits);
    Level::available().into_iter().for_each(|level| assert_eq!(level.within(bits), first));
}

/// Generates columns of many distributions, with heavy tails and spikes; the last four have at most 256 values.
fn many_laws(m: usize) -> Vec<Vec<f64>> {
    let mut random = SplitMix64::new(m as u64);
    let ratio = |random: &mut SplitMix64| random.normal() / random.normal().abs().max(1e-9);
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); 12];
    for j in 0..m {
        let (z, x) = (random.normal(), random.normal());
        let spike = f64::from(j % 50 == 3);
        let laws = [
            z,
            z + 0.5 * x,
            random.uniform(),
            z / (-random.uniform().max(1e-12).ln()).sqrt(),
            ratio(&mut random),
            (1.5 * x).exp(),
            spike * (3.0 + x) + 1e-4 * z,
            if j == 0 { 1e6 } else { x },
            f64::from(j % 3 == 0),
            spike,
            (2.0 * z).round(),
            if z > 0.0 { 1.0 } else { x.round().abs() },
        ];
        all.iter_mut().zip(laws).for_each(|(column, v)| column.push(v));
    }
    all
}

const FEW: usize = 4;

/// Computes inner products of all pairs of normalized kernels, by levels.
fn by_levels(p: &[f64], columns: &[Vec<f64>], sigma: f64) -> Vec<Vec<f64>> {
    let levels = LevelGrid::common(sigma);
    let made: Vec<LevelColumn> = columns.iter().map(|x| levels.column(p, &standardize(x, p).unwrap())).collect();
    let all: Vec<&LevelColumn> = made.iter().collect();
    let with = |column: &LevelColumn| {
        let products = column.factor_rows(p, true).unwrap().products(&all);
        products.iter().zip(&all).map(|(product, other)| product / other.square().sqrt()).collect()
    };
    made.iter().map(with).collect()
}

#[test]
fn levels_are_near_the_matrices_and_few_values_are_exact() {
    for m in [400, 1100] {
        let columns = many_laws(m);
        let weights: Vec<f64> = noise(9, m).iter().map(|v| v.abs() + 0.1).collect();
        for (p, sigma) in
            [(shares(m, None), 1.0), (shares(m, Some(&weights)), 1.0), (shares(m, None), 0.5), (shares(m, None), 20.0)]
        {
            let factor =
                |x: &Vec<f64>| gaussian(&p, &[standardize(x, &p).unwrap()], sigma, usize::MAX).unwrap().normalize();
            let factors: Vec<ThinFactor> = columns.iter().map(factor).collect();
            let (mut worst, mut worst_few) = (0.0f64, 0.0f64);
            for (i, row) in by_levels(&p, &columns, sigma).iter().enumerate() {
                for (k, found) in row.iter().enumerate() {
                    let apart = (found - factors[i].inner(&factors[k])).abs();
                    let is_few = i.min(k) >= columns.len() - FEW;
                    let worst = if is_few { &mut worst_few } else { &mut worst };
                    *worst = worst.max(apart);
                }
            }
            assert!(worst < 2e-4 && worst_few < 1e-11, "{m} rows, σ = {sigma}: {worst:e}, {worst_few:e}");
        }
    }
}

#[test]
fn levels_give_the_same_bits_whatever_the_processor_and_the_other_columns() {
    let (columns, p) = (many_laws(1100), shares(1100, None));
    let first = Level::available()[0].within(|| by_levels(&p, &columns, 1.0));
    let again = |level: Level| level.within(|| by_levels(&p, &columns, 1.0));
    Level::available().into_iter().for_each(|level| assert_eq!(again(level), first));
    let reversed: Vec<Vec<f64>> = columns.iter().rev().cloned().collect();
    let mut again = by_levels(&p, &reversed, 1.0);
    again.reverse();
    again.iter_mut().for_each(|row| row.reverse());
    assert_eq!(again, first);
}

#[test]
fn a_pass_over_many_rows_is_the_product_of_the_factors_of_levels() {
    let m = 20_000;
    let p = shares(m, Some(&noise(9, m).iter().map(|v| v.abs() + 0.1).collect::<Vec<f64>>()));
    let levels = LevelGrid::common(1.0);
    let mut columns: Vec<Vec<f64>> = (0..4).map(|k| noise(100 + k, m)).collect();
    columns[1] = columns[0].iter().zip(&columns[1]).map(|(a, b)| a * a + 0.3 * b).collect();
    columns[2] = columns[0].iter().zip(&columns[2]).map(|(a, b)| (3.0 * (a + b)).exp()).collect();
    columns[3] = columns[0].iter().map(|a| (4.0 * a).round()).collect();
    let made: Vec<LevelColumn> = columns.iter().map(|x| levels.column(&p, &standardize(x, &p).unwrap())).collect();
    assert!(made[..3].iter().all(|column| column.bytes() == 2 * m) && made[3].bytes() == m);
    let all: Vec<&LevelColumn> = made.iter().collect();
    let factors: Vec<ThinFactor> = made.iter().map(|column| ThinFactor::from_features(&p, column.features())).collect();
    for (own, column) in factors.iter().zip(&made) {
        let products = column.factor_rows(&p, false).unwrap().products(&all);
        for ((product, factor), other) in products.iter().zip(&factors).zip(&all) {
            let apart = (product - own.inner(factor)).abs() / (column.square() * other.square()).sqrt();
            assert!(apart < 1e-7, "{apart:e}");
        }
    }
}

/// Returns c and Q of `columns` and a non-negative target, so that every inner product is non-negative.
fn problem(columns: &[Vec<f64>], target: &[f64]) -> (Quadratic, Array2<f64>, Array1<f64>, f64) {
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut quadratic = Quadratic::new(inner(target, target));
    for (k, x) in columns.iter().enumerate() {
        quadratic.push(inner(x, target), columns[..=k].iter().map(|y| inner(x, y)).collect());
    }
    let s = columns.len();
    let q = Array2::from_shape_fn((s, s), |(k, l)| inner(&columns[k], &columns[l]));
    let c = columns.iter().map(|x| inner(x, target)).collect();
    (quadratic, q, c, inner(target, target))
}

fn by_supports(q: &Array2<f64>, c: &Array1<f64>, total: f64) -> f64 {
    let s = c.len();
    let mut best = total;
    for support in 1u32..1 << s {
        let on: Vec<usize> = (0..s).filter(|k| support >> k & 1 == 1).collect();
        let part = Array2::from_shape_fn((on.len(), on.len()), |(i, j)| q[[on[i], on[j]]]);
        let right = Array2::from_shape_fn((on.len(), 1), |(i, _)| c[on[i]]);
        let Ok(z) = solve(part.view(), right.view()) else { continue };
        if z.iter().all(|z| *z >= 0.0) {
            best = best.min(total - 2.0 * (&right * &z).sum() + z.t().dot(&part).dot(&z)[[0, 0]]);
        }
    }
    best
}

#[test]
fn the_minimum_is_the_lowest_over_supports() {
    let mut worst = 0.0f64;
    for seed in 0..60 {
        let s = 1 + seed as usize % 8;
        let mut columns: Vec<Vec<f64>> =
            (0..s).map(|k| noise(100 * seed + k as u64, 12).iter().map(|v| v.abs()).collect()).collect();
        let target: Vec<f64> = noise(7777 + seed, 12).iter().map(|v| v.abs()).collect();
        if seed % 3 == 1 && s > 2 {
            columns[1] = columns[0].iter().zip(&columns[2]).map(|(a, b)| a + 1e-6 * b).collect();
        }
        let (mut quadratic, q, c, total) = problem(&columns, &target);
        let alpha = quadratic.minimizer(&vec![0.0; s]);
        let warm = quadratic.minimizer(&vec![0.3; s]);
        assert!(alpha.iter().chain(&warm).all(|a| *a >= 0.0));
        let lowest = by_supports(&q, &c, total);
        worst = worst.max((quadratic.value(&alpha) - lowest).abs() / total);
        worst = worst.max((quadratic.value(&warm) - lowest).abs() / total);
        if s > 1 {
            quadratic.remove(1);
            columns.remove(1);
            let (_, q, c, total) = problem(&columns, &target);
            let value = quadratic.value(&quadratic.minimizer(&vec![0.0; s - 1]));
            worst = worst.max((value - by_supports(&q, &c, total)).abs() / total);
        }
    }
    assert!(worst < 1e-12, "{worst:e}");
}

/// A coefficient above 0 has a slope of 0, another none upwards: for a convex function the conditions of its minimum.
#[test]
fn the_conditions_of_a_minimum_hold_for_many_columns() {
    for seed in 0..10 {
        let positive = |seed: u64| noise(seed, 60).iter().map(|v| v.abs()).collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> = (0..40).map(|k| positive(100 * seed + k)).collect();
        let (quadratic, _, _, total) = problem(&columns, &positive(7777 + seed));
        let alpha = quadratic.minimizer(&[0.0; 40]);
        for (k, a) in alpha.iter().enumerate() {
            let slope = quadratic.slope(&alpha, k);
            assert!(slope <= 1e-10 * total && (*a == 0.0 || slope >= -1e-10 * total), "{slope:e} at {a}");
        }
    }
}

#[test]
fn copies_and_empty_columns_do_no_harm() {
    let x: Vec<f64> = noise(1, 9).iter().map(|v| v.abs()).collect();
    let y: Vec<f64> = noise(2, 9).iter().map(|v| v.abs()).collect();
    let (alone, ..) = problem(&[x.clone(), y.clone()], &noise(3, 9).iter().map(|v| v.abs()).collect::<Vec<_>>());
    let (more, ..) =
        problem(&[x.clone(), y.clone(), x, vec![0.0; 9], y], &noise(3, 9).iter().map(|v| v.abs()).collect::<Vec<_>>());
    let lowest = alone.value(&alone.minimizer(&[0.0; 2]));
    for start in [[0.0; 5], [0.1; 5]] {
        let alpha = more.minimizer(&start);
        assert!((more.value(&alpha) - lowest).abs() < 1e-12, "{alpha:?}");
    }
}

#[test]
fn an_offset_costs_no_digits() {
    let p = vec![1.0 / 40.0; 40];
    let x: Vec<f64> = noise(5, 40).iter().map(|v| (v * 1024.0).round() / 1024.0).collect();
    let plain = standardize(&x, &p).unwrap();
    for offset in [1e5, 3e8, -7e11] {
        let moved: Vec<f64> = x.iter().map(|v| v + offset).collect();
        let found = standardize(&moved, &p).unwrap();
        let off = plain.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-13, "{offset}: {off:e}");
    }
}
