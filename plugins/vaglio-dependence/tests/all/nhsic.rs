//! Inner products of kernels against m × m matrices.

use crate::{design, regression};
use ndarray::{Array1, Array2};
use vaglio_core::{Problem, SearchExtent, Task};
use vaglio_dependence::{Approximation, Kernel, Nhsic, Output};
use vaglio_kernels::Level;
use vaglio_search::{SubsetScorer, plan_geometry};
use vaglio_testkit::{SplitMix64, data, design_copies};

fn with(approximation: Approximation, bandwidth: f64) -> Nhsic {
    Nhsic { kernel: Kernel { approximation, bandwidth, ..Kernel::default() }, normalize: true }
}

pub fn noise(seed: u64, count: usize) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| random.normal()).collect()
}

fn weighted(columns: &[Vec<f64>], y: &[f64], weights: Option<&[f64]>) -> Problem {
    let problem = regression(columns, y);
    match weights {
        Some(weights) => problem.with_weights(weights.to_vec()).unwrap(),
        None => problem,
    }
}

/// Returns inner products of the kernels of all columns, each with each.
fn gram(nhsic: &Nhsic, problem: &Problem) -> Vec<Vec<f64>> {
    let design = design(problem);
    let geometry = plan_geometry(nhsic, &design);
    assert!(!geometry.is_linear());
    (0..design.features()).map(|k| geometry.gram(k).unwrap()).collect()
}

/// Returns the largest difference of two matrices from the row and column `first`.
fn distance(a: &[Vec<f64>], b: &[Vec<f64>], first: usize) -> f64 {
    let rows = a.iter().zip(b).skip(first);
    rows.flat_map(|(a, b)| a.iter().zip(b).skip(first)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// P^{½}HKHᵀP^{½} with H = I − 1pᵀ.
fn center(k: &Array2<f64>, p: &Array1<f64>) -> Array2<f64> {
    let h = Array2::from_shape_fn(k.dim(), |(i, j)| f64::from(i == j) - p[j]);
    let roots = Array2::from_diag(&p.mapv(f64::sqrt));
    roots.dot(&h).dot(k).dot(&h.t()).dot(&roots)
}

/// Centers the Gaussian kernel matrix of a column that is not constant.
fn centered_kernel(x: &[f64], p: &Array1<f64>, bandwidth: f64) -> Array2<f64> {
    let mean: f64 = x.iter().zip(p).map(|(x, p)| p * x).sum();
    let variance: f64 = x.iter().zip(p).map(|(x, p)| p * (x - mean) * (x - mean)).sum();
    let scale = -0.5 / (bandwidth * bandwidth * variance);
    center(&Array2::from_shape_fn((x.len(), x.len()), |(i, j)| (scale * (x[i] - x[j]) * (x[i] - x[j])).exp()), p)
}

/// Row weights divided by their sum.
fn shares(rows: usize, weights: Option<&[f64]>) -> Array1<f64> {
    let weights = weights.map_or_else(|| Array1::ones(rows), |weights| Array1::from(weights.to_vec()));
    let total = weights.sum();
    weights / total
}

/// Row weights and bandwidths of the tests.
fn kernels(rows: usize, narrow: f64) -> [(Option<Vec<f64>>, f64); 4] {
    let weights = noise(9, rows).iter().map(|v| v.abs() + 0.1).collect();
    [(None, 1.0), (Some(weights), 1.0), (None, narrow), (None, 20.0)]
}

#[test]
fn inner_products_are_those_of_the_matrices() {
    for rows in [2, 7, 33, 150, 301] {
        let mut columns = vec![noise(1, rows), noise(2, rows), noise(3, rows).iter().map(|v| v.exp()).collect()];
        columns.push(noise(4, rows).iter().map(|v| v.round()).collect());
        columns.push((0..rows).map(|j| f64::from(j == 3)).collect());
        columns.push(noise(5, rows).iter().map(|v| v.powi(5)).collect());
        columns.push((0..rows).map(|j| 1e9 + j as f64).collect());
        for (weights, bandwidth) in kernels(rows, 0.3) {
            let p = shares(rows, weights.as_deref());
            let matrix = |x: &Vec<f64>| {
                let is_constant = x.iter().all(|v| *v == x[0]);
                let k = if is_constant { Array2::zeros((rows, rows)) } else { centered_kernel(x, &p, bandwidth) };
                let norm = (&k * &k).sum().sqrt();
                if is_constant { k } else { k / norm }
            };
            let matrices: Vec<Array2<f64>> = columns.iter().map(matrix).collect();
            let product = |a: &Array2<f64>| matrices.iter().map(|b| (a * b).sum()).collect();
            let expected: Vec<Vec<f64>> = matrices.iter().map(product).collect();
            let problem = weighted(&columns, &noise(6, rows), weights.as_deref());
            let worst = distance(&gram(&with(Approximation::Exact, bandwidth), &problem), &expected, 0);
            assert!(worst < 1e-10, "{rows} rows, σ = {bandwidth}: {worst:e}");
        }
    }
}

#[test]
fn sampled_kernels_are_near_exact_ones() {
    let columns: Vec<Vec<f64>> = (1..5).map(|seed| noise(seed, 200)).collect();
    let problem = regression(&columns, &noise(6, 200));
    let [sampled, exact] = [Approximation::Nystrom, Approximation::Exact].map(|kind| gram(&with(kind, 1.0), &problem));
    let worst = distance(&sampled, &exact, 0);
    assert!(worst > 0.0 && worst < 1e-5, "{worst:e}");
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

#[test]
fn levels_are_near_exact_kernels_and_few_values_are_exact() {
    for rows in [400, 1100] {
        let columns = many_laws(rows);
        for (weights, bandwidth) in kernels(rows, 0.5) {
            let problem = weighted(&columns, &noise(6, rows), weights.as_deref());
            let [levels, exact] =
                [Approximation::Levels, Approximation::Exact].map(|kind| gram(&with(kind, bandwidth), &problem));
            let (worst, worst_few) = (distance(&levels, &exact, 0), distance(&levels, &exact, columns.len() - FEW));
            let on = format!("{rows} rows, σ = {bandwidth}: {worst:e}, {worst_few:e}");
            assert!(worst < 2e-4 && worst_few < 1e-11, "{on}");
        }
    }
}

#[test]
fn kernels_have_the_same_bits_whatever_the_processor_and_the_other_columns() {
    for approximation in [Approximation::Exact, Approximation::Nystrom, Approximation::Levels] {
        let nhsic = with(approximation, 1.0);
        let mut columns = many_laws(if approximation == Approximation::Levels { 1100 } else { 101 });
        let y = noise(6, columns[0].len());
        let problem = regression(&columns, &y);
        let first = Level::available()[0].within(|| gram(&nhsic, &problem));
        Level::available().into_iter().for_each(|level| assert_eq!(level.within(|| gram(&nhsic, &problem)), first));
        columns.reverse();
        let mut again = gram(&nhsic, &regression(&columns, &y));
        again.reverse();
        again.iter_mut().for_each(|row| row.reverse());
        assert_eq!(again, first, "{approximation:?}");
    }
}

/// Sums over more than 16384 rows are gathered in several steps, sums over the weighted rows in one.
#[test]
fn levels_of_many_rows_sum_to_those_of_fewer_weighted_rows() {
    let drawn = data::regression(10_000, 4, 7).problem();
    let (weighted, repeated) = design_copies::whole_weights(&drawn).unwrap();
    assert!(weighted.rows() < 16_384 && repeated.rows() > 16_384);
    let [weighted, repeated] = [weighted, repeated].map(|problem| gram(&with(Approximation::Levels, 1.0), &problem));
    let worst = distance(&weighted, &repeated, 0);
    assert!(worst < 1e-7, "{worst:e}");
}

#[test]
fn kernels_of_classes_are_block_matrices() {
    let class = [0, 1, 1, 2, 0, 1, 2, 2, 2];
    let weights: Vec<f64> = (1..10).map(f64::from).collect();
    let p = shares(9, Some(&weights));
    let coded = |k: i32| class.map(|own| if own == k { 1.0 } else { -1.0 });
    let (x, targets) = (noise(3, 9), [0, 1, 2].map(coded));
    let task = Task::Multiclass { labels: ["a", "b", "c"].map(str::to_owned).to_vec() };
    let problem = data::given(&[&x], &targets.each_ref().map(|y| &y[..]), task).unwrap();
    let design = design(&problem.with_weights(weights).unwrap());
    let size = |c: i32| (0..9).filter(|&j| class[j] == c).map(|j| p[j]).sum::<f64>();
    for output in [Output::Delta, Output::SameClass] {
        let within = |c: i32| if output == Output::Delta { 1.0 / size(c) } else { 1.0 };
        let entry = |(i, j): (usize, usize)| if class[i] == class[j] { within(class[i]) } else { 0.0 };
        let l = center(&Array2::from_shape_fn((9, 9), entry), &p);
        let kernel = Kernel { output, approximation: Approximation::Exact, ..Kernel::default() };
        let nhsic = Nhsic { kernel, normalize: false };
        let relevance = plan_geometry(&nhsic, &design).relevances().unwrap()[0][0];
        assert!((relevance - (&l * &centered_kernel(&x, &p, 1.0)).sum()).abs() < 1e-14);
        let mut empty = SubsetScorer::open(&nhsic, &design, &SearchExtent::forward(1, 1)).unwrap();
        assert!((empty.score().unwrap().loss - (&l * &l).sum()).abs() < 1e-14);
    }
}

#[test]
fn an_offset_costs_no_digits() {
    let x: Vec<f64> = noise(5, 40).iter().map(|v| (v * 1024.0).round() / 1024.0).collect();
    let moved = [1e5, 3e8, -7e11].map(|offset| x.iter().map(|v| v + offset).collect());
    let columns = [vec![x.clone()], moved.to_vec()].concat();
    let y: Vec<f64> = x.iter().zip(noise(6, 40)).map(|(x, e)| x * x + e).collect();
    let design = design(&regression(&columns, &y));
    let relevance = plan_geometry(&with(Approximation::Exact, 1.0), &design).relevances().unwrap().swap_remove(0);
    assert!(relevance.iter().all(|c| (c - relevance[0]).abs() < 1e-11), "{relevance:?}");
}

/// Both levels of a word are one kernel, which single precision must not take for two.
#[test]
fn by_levels_a_column_and_its_mirror_image_are_copies() {
    let mut random = SplitMix64::new(11);
    let is_one: Vec<f64> = (0..5000).map(|_| f64::from(u8::from(random.uniform() < 0.07))).collect();
    let other: Vec<f64> = is_one.iter().map(|x| 1.0 - x).collect();
    let third = noise(12, 5000);
    let y: Vec<f64> = is_one.iter().zip(&third).map(|(a, b)| a + 0.1 * b).collect();
    let q = gram(&with(Approximation::Levels, 1.0), &regression(&[is_one, third, other], &y));
    assert_eq!((q[0][2], q[2][0]), ((q[0][0] * q[2][2]).sqrt(), (q[0][0] * q[2][2]).sqrt()));
    assert!(q[0][1] < 0.1);
}
