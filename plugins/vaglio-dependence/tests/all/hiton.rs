//! Parents and children of the target.

use crate::{design, dot, fit, regression, two_classes, weights};
use vaglio_core::Criterion;
use vaglio_dependence::{Bins, HitonPc, Independence};
use vaglio_testkit::{SplitMix64, Tolerance, data};

pub fn kinds() -> impl Iterator<Item = HitonPc> {
    let settings = |test| [0.05, 0.5].map(|level| HitonPc { test, level, ..HitonPc::default() });
    [Independence::FisherZ, Independence::GSquared].into_iter().flat_map(settings)
}

/// Computes least-squares residuals on columns and a constant.
fn residuals(y: &[f64], on: &[&[f64]]) -> Vec<f64> {
    let functions: Vec<Vec<f64>> = std::iter::once(vec![1.0; y.len()]).chain(on.iter().map(|x| x.to_vec())).collect();
    y.iter().zip(fit(&functions, y)).map(|(y, fitted)| y - fitted).collect()
}

/// Computes the partial correlation of two columns given others.
fn correlation(x: &[f64], y: &[f64], given: &[&[f64]]) -> f64 {
    let (a, b) = (residuals(x, given), residuals(y, given));
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
}

/// Tests whether |z| of the partial correlation is below the quantile.
fn independent(x: &[f64], y: &[f64], given: &[&[f64]], quantile: f64) -> bool {
    let r = correlation(x, y, given);
    let z = 0.5 * ((1.0 + r) / (1.0 - r)).ln();
    z.abs() * (x.len() as f64 - given.len() as f64 - 3.0).sqrt() <= quantile
}

/// Tests whether any set of one to three of `others` makes x independent of y.
fn are_separated(columns: &[Vec<f64>], y: &[f64], x: usize, others: &[usize], quantile: f64) -> bool {
    (1..1u32 << others.len()).any(|bits| {
        let set: Vec<&[f64]> =
            (0..others.len()).filter(|k| bits >> k & 1 == 1).map(|k| &columns[others[k]][..]).collect();
        set.len() <= 3 && independent(&columns[x], y, &set, quantile)
    })
}

/// The algorithm as printed, for numbers.
fn published(columns: &[Vec<f64>], y: &[f64], quantile: f64) -> Vec<usize> {
    let strength = |x: usize| correlation(&columns[x], y, &[]).abs();
    let mut open: Vec<usize> = (0..columns.len()).filter(|&x| !independent(&columns[x], y, &[], quantile)).collect();
    open.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)));
    let mut members: Vec<usize> = Vec::new();
    for x in open {
        if !are_separated(columns, y, x, &members, quantile) {
            members.push(x);
        }
    }
    for place in (0..members.len()).rev() {
        let others: Vec<usize> = members.iter().copied().filter(|z| *z != members[place]).collect();
        if are_separated(columns, y, members[place], &others, quantile) {
            members.remove(place);
        }
    }
    members.sort_unstable();
    members
}

#[test]
fn the_columns_that_stay_are_those_of_the_printed_algorithm() {
    let (mut stayed, mut associated) = (0, 0);
    for seed in 0..25 {
        let mut random = SplitMix64::new(seed);
        let mut draw = || (0..80).map(|_| random.normal()).collect::<Vec<f64>>();
        // Parents 0 to 2, their causes, their effects, and noise.
        let parents: Vec<Vec<f64>> = (0..3).map(|_| draw()).collect();
        let mut columns = parents.clone();
        for parent in &parents {
            let noise = draw();
            columns.push(parent.iter().zip(&noise).map(|(p, e)| p + 0.6 * e).collect());
        }
        columns.extend((0..3).map(|_| draw()));
        let noise = draw();
        let y: Vec<f64> = (0..80)
            .map(|row| parents[0][row] + 0.8 * parents[1][row] - 0.6 * parents[2][row] + 0.5 * noise[row])
            .collect();
        let problem = regression(&columns, &y);
        for (level, quantile) in [(0.05, 1.959_963_984_540_054), (0.01, 2.575_829_303_548_901)] {
            let found = weights(&HitonPc { level, ..HitonPc::default() }, &problem);
            let members: Vec<usize> = (0..columns.len()).filter(|&x| found[x] > 0.0).collect();
            assert_eq!(members, published(&columns, &y, quantile), "seed {seed}");
            stayed += members.len();
            associated += (0..columns.len()).filter(|&x| !independent(&columns[x], &y, &[], quantile)).count();
        }
    }
    assert!(stayed >= 120 && associated > stayed + 60, "{stayed} of {associated}");
}

/// Column 2 is separated by columns 1 and 4 together, and column 5 by 0, 3 and 6 together.
#[test]
fn every_set_up_to_the_largest_is_tried() {
    let mut random = SplitMix64::new(1);
    let mut draw = || (0..400).map(|_| random.normal()).collect::<Vec<f64>>();
    let parents: Vec<Vec<f64>> = (0..5).map(|_| draw()).collect();
    let sum = |causes: &[usize], noise: Vec<f64>| -> Vec<f64> {
        let known = |row: usize| causes.iter().map(|&k| parents[k][row]).sum::<f64>();
        noise.iter().enumerate().map(|(row, noise)| known(row) + noise).collect()
    };
    let mut loud = || draw().iter().map(|noise| 2.0 * noise).collect();
    let (two, three) = (sum(&[1, 3], loud()), sum(&[0, 2, 4], loud()));
    let y = sum(&[0, 1, 2, 3, 4], draw());
    let columns: [&[f64]; 7] = [&parents[0], &parents[1], &two, &parents[2], &parents[3], &three, &parents[4]];
    let problem = regression(&columns, &y);
    for (conditions, separated) in [(0, &[][..]), (1, &[]), (2, &[2]), (3, &[2, 5])] {
        let found = weights(&HitonPc { level: 0.01, conditions, ..HitonPc::default() }, &problem);
        let left: Vec<usize> = (0..7).filter(|&column| found[column] == 0.0).collect();
        assert_eq!(left, separated, "sets of up to {conditions}");
    }
}

/// −ln p of the normal distribution, and of the χ² distribution with two degrees of freedom, in closed form.
#[test]
fn a_column_that_stays_weighs_its_p() {
    let x: [f64; 8] = [1., 2., 3., 4., 5., 6., 7., 8.];
    let y: [f64; 8] = [2., 1., 4., 3., 6., 5., 8., 7.];
    let problem = regression(&[x], &y);
    let z = (38.0f64 / 42.0).atanh() * 5f64.sqrt();
    let expected = -libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2).ln();
    Tolerance::relative(1e-10).assert(expected, weights(&HitonPc::default(), &problem)[0], "a weight");

    // Three levels of twelve rows against two classes of 18.
    let levels: Vec<f64> = (0..36).map(|row| f64::from(row / 12)).collect();
    let classes: Vec<f64> = (0..36).map(|row| if [10, 6, 2][row / 12] > row % 12 { 1.0 } else { -1.0 }).collect();
    let problem = two_classes(&[levels], &classes);
    let term = |observed: f64| 2.0 * observed * (observed / 6.0).ln();
    let g_squared = 2.0 * (term(10.0) + term(2.0)) + 2.0 * term(6.0);
    let by_bins = HitonPc { test: Independence::GSquared, bins: Bins::Width(3), ..HitonPc::default() };
    Tolerance::relative(1e-10).assert(g_squared / 2.0, weights(&by_bins, &problem)[0], "a weight");
}

/// Generates two orthogonal columns of mean 0 and equal norm.
fn orthogonal(rows: usize) -> [Vec<f64>; 2] {
    let turn = |row: usize| std::f64::consts::TAU * row as f64 / rows as f64;
    [(0..rows).map(|row| turn(row).cos()).collect(), (0..rows).map(|row| turn(row).sin()).collect()]
}

/// The correlation of a and a + tb is 1/√(1 + t²). χ² with six degrees of freedom has the tail e^(−x/2) Σ (x/2)^k/k!.
#[test]
fn weights_are_tails_of_chi_squared_from_their_middle_to_where_they_would_underflow() {
    let near =
        |expected: f64, found: f64| Tolerance { tolerance: 1e-10, least: 1.0 }.assert(expected, found, "a weight");
    let mixed = |rows: usize, t: f64| {
        let [y, other] = orthogonal(rows);
        let x: Vec<f64> = y.iter().zip(&other).map(|(a, b)| a + t * b).collect();
        weights(&HitonPc { level: 0.999, ..HitonPc::default() }, &regression(&[x], &y))[0]
    };
    for t in [100.0, 10.0, 3.0, 1.0, 0.3, 0.1] {
        let z = (1.0 / f64::sqrt(1.0 + t * t)).atanh() * 10.0;
        near(-libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2).ln(), mixed(103, t));
    }
    let far = mixed(10_003, 0.085);
    assert!(far > 4e4 && far.is_finite(), "{far}");
    let signs: Vec<f64> = (0..64).map(|row| if row % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let copy = regression(&[&signs], &signs);
    assert_eq!(weights(&HitonPc::default(), &copy), [f64::INFINITY]);

    // Seven levels of a hundred rows, half of all in each class.
    let levels: Vec<f64> = (0..700).map(|row| f64::from(row / 100)).collect();
    let by_bins = HitonPc { test: Independence::GSquared, bins: Bins::Width(7), level: 0.999, ..HitonPc::default() };
    for step in [1, 2, 5, 16] {
        let is_one = |row: i32| row % 100 < 50 + step * (row / 100 - 3);
        let classes: Vec<f64> = (0..700).map(|row| if is_one(row) { 1.0 } else { -1.0 }).collect();
        let term = |observed: f64| 2.0 * observed * (observed / 50.0).ln();
        let count = |level: i32| f64::from(50 + step * (level - 3));
        let half = (0..7).map(|level| term(count(level)) + term(100.0 - count(level))).sum::<f64>() / 2.0;
        let expected = half - (1.0 + half + half * half / 2.0).ln();
        near(expected, weights(&by_bins, &two_classes(&[&levels], &classes))[0]);
    }
}

/// A chain a → b → y of labels: given b, a is uninformative.
#[test]
fn labels_of_a_chain_are_separated_by_bins() {
    let mut random = SplitMix64::new(8);
    let mut noisy = |values: &[f64], keep: f64| -> Vec<f64> {
        values.iter().map(|v| if random.uniform() < keep { *v } else { -*v }).collect()
    };
    let start: Vec<f64> = (0..400).map(|row| if row % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let (a, noise) = (noisy(&start, 0.5), noisy(&start, 0.5));
    let b = noisy(&a, 0.85);
    let y = noisy(&b, 0.85);
    let problem = two_classes(&[a, noise, b], &y);
    for test in [Independence::GSquared, Independence::FisherZ] {
        let with = |conditions| weights(&HitonPc { test, level: 0.01, conditions, ..HitonPc::default() }, &problem);
        let (alone, given) = (with(0), with(3));
        assert!(alone[0] > 0.0 && alone[2] > alone[0] && alone[1] == 0.0, "{alone:?}");
        assert!(given[0] == 0.0 && given[2] == alone[2], "{given:?}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let problem = data::regression(12, 3, 3).problem();
    let refused = |criterion: HitonPc| criterion.check(&design(&problem)).unwrap_err().to_string();
    let found = refused(HitonPc { level: 1.0, ..HitonPc::default() });
    assert!(found.contains("`level`: 1 is not above 0 and below 1"), "{found}");
    let found = refused(HitonPc { conditions: 9, ..HitonPc::default() });
    assert!(found.contains("`conditions`: 9 is not between 0 and 5"), "{found}");
}
