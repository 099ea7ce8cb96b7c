//! Fits by normal equations against Householder QR, and both against double-double arithmetic.

use super::sample::Sample;
use ndarray::{Array1, Array2, Axis, s};
use std::sync::Arc;
use vaglio_columns::Column;
use vaglio_kernels::kfold::{Moments, NormalEquations};
use vaglio_kernels::linalg::{svd, triangle};
use vaglio_kernels::ridge::{NormalEquationRidge, Ridge};
use vaglio_kernels::{Data, Level};
use vaglio_testkit::SplitMix64;

/// A number as the sum of two doubles.
#[derive(Clone, Copy)]
struct Twice(f64, f64);

impl Twice {
    fn new(high: f64, low: f64) -> Self {
        let sum = high + low;
        let back = sum - high;
        Twice(sum, (high - (sum - back)) + (low - back))
    }

    fn plus(self, other: Twice) -> Twice {
        let Twice(sum, error) = Twice::new(self.0, other.0);
        Twice::new(sum, error + self.1 + other.1)
    }

    fn times(self, other: f64) -> Twice {
        let product = self.0 * other;
        Twice::new(product, self.0.mul_add(other, -product) + self.1 * other)
    }
}

/// Least-squares problem of one output: rows scaled by √r_j, the ones-vector last with an intercept, a penalty per
/// column.
struct Problem {
    a: Array2<f64>,
    b: Array1<f64>,
    penalties: Vec<f64>,
}

impl Problem {
    /// Refines approximate coefficients to nearly full double precision.
    fn exact(&self, start: &Array1<f64>) -> Array1<f64> {
        let (rows, count) = self.a.dim();
        let mut stacked = Array2::zeros((rows + count, count));
        stacked.slice_mut(s![..rows, ..]).assign(&self.a);
        stacked.slice_mut(s![rows.., ..]).diag_mut().iter_mut().zip(&self.penalties).for_each(|(d, p)| *d = p.sqrt());
        let r = triangle(stacked.view()).unwrap();
        let mut w: Vec<Twice> = start.iter().map(|w| Twice(*w, 0.0)).collect();
        for _ in 0..12 {
            let mut g: Vec<Twice> = w.iter().zip(&self.penalties).map(|(w, p)| w.times(-p)).collect();
            for (row, b) in self.a.rows().into_iter().zip(&self.b) {
                let residual = row.iter().zip(&w).fold(Twice(*b, 0.0), |sum, (a, w)| sum.plus(w.times(-a)));
                g.iter_mut().zip(row).for_each(|(g, a)| *g = g.plus(residual.times(*a)));
            }
            // RᵀR·δ = g.
            let mut delta: Vec<f64> = g.iter().map(|g| g.0).collect();
            for k in 0..count {
                delta[k] = (delta[k] - (0..k).map(|l| r[[l, k]] * delta[l]).sum::<f64>()) / r[[k, k]];
            }
            for k in (0..count).rev() {
                delta[k] = (delta[k] - (k + 1..count).map(|l| r[[k, l]] * delta[l]).sum::<f64>()) / r[[k, k]];
            }
            w.iter_mut().zip(delta).for_each(|(w, d)| *w = w.plus(Twice(d, 0.0)));
        }
        w.iter().map(|w| w.0).collect()
    }
}

/// Generates mixtures of `true` random columns of decreasing size, with a condition number near `condition`.
fn sample(random: &mut SplitMix64, rows: usize, count: usize, condition: f64, offset: f64) -> Sample {
    let parts: Vec<Vec<f64>> = (0..count).map(|_| (0..rows).map(|_| random.normal()).collect()).collect();
    let mut doubles = Vec::new();
    for k in 0..count {
        let size = 10f64.powi((random.uniform() * 6.0) as i32 - 3);
        let shares: Vec<f64> = (0..count)
            .map(|l| if l == k { 1.0 } else { random.normal() } * condition.powf(-(l as f64) / count.max(2) as f64))
            .collect();
        let entry =
            |j: usize| size * (offset + parts.iter().zip(&shares).map(|(part, share)| share * part[j]).sum::<f64>());
        doubles.push((0..rows).map(entry).collect());
    }
    let bytes = vec![(0..rows).map(|_| (random.uniform() * 200.0) as u8).collect()];
    let noise = [0.0, 1e-6, 1.0][(random.uniform() * 3.0) as usize];
    let target = |j: usize| doubles.iter().map(|x: &Vec<f64>| x[j]).sum::<f64>();
    let targets = (0..2).map(|_| (0..rows).map(|j| target(j) + noise * random.normal()).collect()).collect();
    let weights = (0..rows).map(|_| 0.5 + random.uniform()).collect();
    Sample { doubles, bytes, targets, weights }
}

#[test]
fn refined_weights_are_as_good_as_those_of_reflections() {
    let mut random = SplitMix64::new(5);
    let (mut refined, mut refused, mut corrected_together) = (0, 0, 0);
    for condition in [1.0, 1e3, 1e6, 1e9, 1e19] {
        for (rows, count) in [(12, 1), (30, 4), (300, 9), (400, 30), (35, 34)] {
            for (lambda, offset) in [(1e-18, 0.0), (1e-9, 1e4), (1.0, 1.0), (1e3, 0.0)] {
                let sample = sample(&mut random, rows, count, condition, offset);
                let (weighted, intercept) = (random.uniform() < 0.5, offset != 0.0 || random.uniform() < 0.5);
                let subset: Vec<usize> = (0..=count).rev().collect();
                let data = sample.data(weighted, intercept);
                let products = NormalEquations::new(&data, &subset).unwrap();
                let Some(normal) = NormalEquationRidge::new(data, &subset, &products) else { continue };
                let together = normal.at_lambdas(&[7.0 * lambda, lambda]).swap_remove(1);
                let alone = normal.coefficients(lambda);
                refined += usize::from(alone.is_some());
                refused += usize::from(alone.is_none());
                corrected_together += usize::from(together.is_some());
                if alone.is_none() && together.is_none() {
                    continue;
                }
                let all: Vec<usize> = (0..rows).collect();
                let weights = weighted.then_some(&sample.weights[..]);
                let ridge =
                    Ridge::new(sample.matrix(&subset, &all).view(), sample.outputs().view(), weights, intercept);
                let (plain, plain_intercepts) = ridge.unwrap().coefficients(lambda).unwrap();
                let root = |j: usize| sample.weight(weighted, j).sqrt();
                let width = subset.len() + usize::from(intercept);
                // About the means, which costs an exact solution nothing.
                let total: f64 = all.iter().map(|&j| sample.weight(weighted, j)).sum();
                let matrix = sample.matrix(&subset, &all);
                let mean = |k: usize| match intercept {
                    true => all.iter().map(|&j| sample.weight(weighted, j) * matrix[[j, k]]).sum::<f64>() / total,
                    false => 0.0,
                };
                let means: Vec<f64> = (0..subset.len()).map(mean).collect();
                let entry =
                    |(j, k): (usize, usize)| root(j) * if k < subset.len() { matrix[[j, k]] - means[k] } else { 1.0 };
                let a = Array2::from_shape_fn((rows, width), entry);
                let squares: Vec<f64> = a.columns().into_iter().map(|x| x.dot(&x) + lambda).collect();
                // The condition number relevant to QR, after scaling columns to equal length.
                let mut stacked = Array2::zeros((rows + subset.len(), subset.len()));
                stacked.slice_mut(s![..rows, ..]).assign(&a.slice(s![.., ..subset.len()]));
                stacked.slice_mut(s![rows.., ..]).diag_mut().fill(lambda.sqrt());
                stacked.columns_mut().into_iter().zip(&squares).for_each(|(mut x, square)| x /= square.sqrt());
                let values = svd(stacked.view()).unwrap().1;
                let rounding = f64::EPSILON * values[0] / values[subset.len() - 1];
                for (o, (own, own_intercepts)) in
                    alone.iter().chain(&together).flat_map(|found| [(0, found), (1, found)])
                {
                    let b = all.iter().map(|&j| root(j) * sample.targets[o][j]).collect();
                    let penalties = (0..width).map(|k| if k < subset.len() { lambda } else { 0.0 }).collect();
                    let start: Array1<f64> =
                        (0..width).map(|k| if k < subset.len() { own[[k, o]] } else { 0.0 }).collect();
                    let exact = Problem { a: a.clone(), b, penalties }.exact(&start);
                    let size = |w: &dyn Fn(usize) -> f64| {
                        (0..subset.len()).map(|k| w(k) * w(k) * squares[k]).sum::<f64>().sqrt()
                    };
                    let own_error = size(&|k| own[[k, o]] - exact[k]);
                    let plain_error = size(&|k| plain[[k, o]] - exact[k]);
                    let all = size(&|k| exact[k]);
                    assert!(
                        own_error <= 4.0 * plain_error + 2.0 * rounding * all,
                        "condition {condition:e}, {rows} x {count}, λ {lambda:e}: {own_error:e} and {plain_error:e} of {all:e}"
                    );
                    let between = (own_intercepts[o] - plain_intercepts[o]).abs();
                    let most = subset.iter().enumerate().map(|(k, _)| (means[k] * (own[[k, o]] - plain[[k, o]])).abs());
                    let scale = (0..subset.len()).map(|k| (means[k] * own[[k, o]]).abs()).sum::<f64>() + 1.0;
                    assert!(between <= most.sum::<f64>() + 1e-13 * scale, "{between:e}");
                }
            }
        }
    }
    assert!(refined > 60 && refused > 5, "{refined} refined, {refused} refused");
    assert!(corrected_together > 5, "{corrected_together} for several lambdas");
}

#[test]
fn offsets_cost_refined_weights_no_digits() {
    let mut random = SplitMix64::new(5);
    let mut column = || (0..200).map(|_| (random.normal() * 256.0).round() / 256.0).collect::<Vec<f64>>();
    let (x, y) = ([column(), column(), column()], column());
    let weights = |offset: f64| {
        let moved = x.each_ref().map(|x| x.iter().map(|x| offset + x).collect::<Vec<f64>>());
        let columns = moved.iter().map(|x| Column::Double(x)).collect();
        let data = Arc::new(Data::new(columns, &[&y], None, true, None).unwrap());
        let products = NormalEquations::new(&data, &[0, 1, 2]).unwrap();
        NormalEquationRidge::new(data, &[0, 1, 2], &products).unwrap().coefficients(0.5).unwrap().0
    };
    let plain = weights(0.0);
    for offset in [1e9, 1e12, 1e13] {
        assert!(weights(offset).iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-13), "{offset:e}");
    }
}

#[test]
fn moments_of_folds_tell_the_products_over_all_rows() {
    let sample = sample(&mut SplitMix64::new(2), 200, 7, 10.0, 3.0);
    let folds: Vec<u32> = (0..200).map(|j| j % 4).collect();
    for (weighted, intercept) in [(false, false), (true, true)] {
        let rows = sample.rows(&folds, weighted, intercept, false);
        let moments = Moments::new(&rows).unwrap();
        let known = moments.normal_equations.as_ref().unwrap();
        let subset = [6, 0, 7, 3];
        let own = NormalEquations::new(&rows.data, &subset).unwrap();
        let pairs = [known.restrict(&subset).unwrap(), own.restrict(&subset).unwrap()];
        let x = sample.matrix(&subset, &(0..200).collect::<Vec<_>>());
        let weights: Array1<f64> = (0..200).map(|j| sample.weight(weighted, j)).collect();
        let total = weights.sum();
        let centered = if intercept { &x - &(weights.dot(&x) / total) } else { x.clone() };
        let scaled = &centered * &weights.view().insert_axis(Axis(1));
        for (gram, along) in pairs {
            for ((k, l), entry) in gram.indexed_iter() {
                let plain = scaled.column(k).dot(&centered.column(l));
                assert!((entry - plain).abs() < 1e-10 * (gram[[k, k]] * gram[[l, l]]).sqrt());
            }
            for ((k, o), entry) in along.indexed_iter() {
                let plain = scaled.column(k).dot(&sample.outputs().row(o));
                assert!((entry - plain).abs() < 1e-9 * gram[[k, k]].sqrt() * 1e2, "{entry} {plain}");
            }
        }
        let correlations = known.correlations(&subset).unwrap();
        let about = &x - &(weights.dot(&x) / total);
        let product = |k: usize, l: usize| (0..200).map(|j| weights[j] * about[[j, k]] * about[[j, l]]).sum::<f64>();
        for ((k, l), r) in correlations.indexed_iter() {
            assert!((r - product(k, l) / (product(k, k) * product(l, l)).sqrt()).abs() < 1e-11);
        }
        assert!(own.correlations(&[1]).is_none() && !own.has(&[0, 1]));
    }
}

#[test]
fn levels_and_threads_change_no_bit_of_a_fit() {
    let sample = sample(&mut SplitMix64::new(3), 5000, 13, 100.0, 1.0);
    let subset: Vec<usize> = (0..14).collect();
    let fit = || {
        let data = sample.data(true, true);
        let products = NormalEquations::new(&data, &subset).unwrap();
        NormalEquationRidge::new(data, &subset, &products).unwrap().coefficients(0.1).unwrap()
    };
    let first = Level::available()[0].within(fit);
    for level in Level::available() {
        level.within(|| {
            assert_eq!(fit(), first);
            let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            assert_eq!(one.install(fit), first);
        });
    }
}
