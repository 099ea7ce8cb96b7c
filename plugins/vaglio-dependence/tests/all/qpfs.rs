//! The quadratic program.

use crate::{design, dot, regression, score, weights};
use vaglio_core::{Criterion, Problem};
use vaglio_dependence::{Alpha, Bins, Qpfs, Similarity};
use vaglio_testkit::{SplitMix64, Tolerance, check_criterion_on_standard_data, data};

const SIMILARITIES: [Similarity; 3] = [Similarity::MutualInformation, Similarity::Correlation, Similarity::Nhsic];

pub fn kinds() -> impl Iterator<Item = Qpfs> {
    let alphas = [Alpha::Auto, Alpha::Value(0.3), Alpha::Value(0.0)];
    let settings = move |similarity| alphas.map(|alpha| Qpfs { similarity, alpha, ..Qpfs::default() });
    SIMILARITIES.into_iter().flat_map(settings)
}

/// With uncorrelated columns and target correlations f, (1 − α)x_i − αf_i is equal for all i.
#[test]
fn the_weights_are_those_worked_out_by_hand() {
    let columns: [&[f64]; 3] = [&[1., -1., 1., -1.], &[1., 1., -1., -1.], &[4., 4., 4., 4.]];
    let problem = regression(&columns, &[3., 1., -1., -3.]);
    let f = [4.0, 8.0].map(|along| along / 80f64.sqrt());
    for (alpha, share) in [(Alpha::Value(0.2), 0.2), (Alpha::Auto, 0.5 / (0.5 + (f[0] + f[1]) / 2.0))] {
        let qpfs = Qpfs { similarity: Similarity::Correlation, alpha, ..Qpfs::default() };
        let apart = share / (1.0 - share) * (f[1] - f[0]);
        let expected = [0.5 - apart / 2.0, 0.5 + apart / 2.0];
        for (column, expected) in expected.into_iter().enumerate() {
            Tolerance::relative(1e-12).assert(-expected, score(&qpfs, &problem, &[column]), "a weight");
        }
        Tolerance::relative(1e-12).assert(-1.0, score(&qpfs, &problem, &[1, 0]), "all weights");
        assert_eq!((score(&qpfs, &problem, &[2]), score(&qpfs, &problem, &[])), (0.0, 0.0));
    }
}

#[test]
fn a_column_turned_round_weighs_what_it_weighs() {
    let recipe = data::regression(40, 5, 3).problem();
    let mut columns: Vec<Vec<f64>> = (0..5).map(|k| design(&recipe).column(k).values().to_vec()).collect();
    columns.push(columns[2].iter().map(|v| 7.0 - 2.0 * v).collect());
    let y = recipe.targets().row(0).to_vec();
    let problem = regression(&columns, &y);
    for similarity in SIMILARITIES {
        let qpfs = Qpfs { similarity, ..Qpfs::default() };
        assert_eq!(score(&qpfs, &problem, &[2]), score(&qpfs, &problem, &[5]), "{qpfs:?}");
    }
}

/// With all columns as landmarks, the approximation of a positive semidefinite Q is exact.
#[test]
fn by_all_columns_the_approximation_is_exact() {
    for recipe in [data::regression(40, 6, 2).weighted(), data::multiclass(30, 6, 3, 5)] {
        let problem = recipe.problem();
        let exact = Qpfs { similarity: Similarity::Nhsic, ..Qpfs::default() };
        let near = Qpfs { nystrom: Some(6), ..exact };
        for column in 0..6 {
            let (found, expected) = (score(&near, &problem, &[column]), score(&exact, &problem, &[column]));
            Tolerance { tolerance: 1e-7, least: 1.0 }.assert(expected, found, "a weight");
        }
        let few = Qpfs { nystrom: Some(3), ..exact };
        Tolerance::relative(1e-12).assert(-1.0, score(&few, &problem, &[0, 1, 2, 3, 4, 5]), "all weights");
    }
}

#[test]
fn every_law_holds_of_the_approximation() {
    for similarity in SIMILARITIES {
        check_criterion_on_standard_data(&Qpfs { similarity, nystrom: Some(4), ..Qpfs::default() }, 1e-7).unwrap();
    }
}

/// Computes a column's centered, normalized Gaussian kernel by definition.
fn kernel(column: &[f64]) -> Vec<f64> {
    let rows = column.len();
    let mean = column.iter().sum::<f64>() / rows as f64;
    let deviation = (column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / rows as f64).sqrt();
    let entry = |i: usize, k: usize| (-((column[i] - column[k]) / deviation).powi(2) / 2.0).exp();
    let row_means: Vec<f64> = (0..rows).map(|i| (0..rows).map(|k| entry(i, k)).sum::<f64>() / rows as f64).collect();
    let all = row_means.iter().sum::<f64>() / rows as f64;
    let pairs = (0..rows * rows).map(|at| (at / rows, at % rows));
    let centered: Vec<f64> = pairs.map(|(i, k)| entry(i, k) - row_means[i] - row_means[k] + all).collect();
    let norm = centered.iter().map(|v| v * v).sum::<f64>().sqrt();
    centered.into_iter().map(|v| v / norm).collect()
}

/// Returns Q and F of columns with normalized Gaussian kernels, by definition.
fn similarities(columns: &[Vec<f64>], y: &[f64]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let kernels: Vec<Vec<f64>> = columns.iter().map(|column| kernel(column)).collect();
    let with = |kernel: &[f64]| kernels.iter().map(|other| dot(kernel, other)).collect::<Vec<f64>>();
    (kernels.iter().map(|kernel| with(kernel)).collect(), with(&kernel(y)))
}

/// Asserts the conditions of a minimum: weights of sum 1, and no slope of a weighted column above the lowest one.
#[track_caller]
fn assert_minimum(weights: &[f64], q: &[Vec<f64>], f: &[f64], alpha: f64, within: f64) {
    let slope =
        |(q, f): (&Vec<f64>, &f64)| (1.0 - alpha) * q.iter().zip(weights).map(|(q, x)| q * x).sum::<f64>() - alpha * f;
    let slopes: Vec<f64> = q.iter().zip(f).map(slope).collect();
    let least = slopes.iter().copied().fold(f64::INFINITY, f64::min);
    for (slope, weight) in slopes.iter().zip(weights) {
        assert!(*weight == 0.0 || *weight > 0.0 && slope - least < within, "{slopes:?} of {weights:?}");
    }
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

/// Draws three columns and others near them, and a target that depends on the first three.
fn draw(rows: usize, count: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>, Problem) {
    let mut random = SplitMix64::new(seed);
    let mut columns: Vec<Vec<f64>> = (0..count).map(|_| (0..rows).map(|_| random.normal()).collect()).collect();
    for k in 3..count {
        columns[k] = columns[k - 3].iter().zip(&columns[k]).map(|(x, noise)| x + 0.3 * noise).collect();
    }
    let y: Vec<f64> =
        (0..rows).map(|row| columns[0][row].powi(2) + columns[1][row] - columns[2][row] + random.normal()).collect();
    let problem = regression(&columns, &y);
    (columns, y, problem)
}

/// Q_nr Q_rr⁻¹ Q_rn from the most relevant column and the one least similar to it, the inverse by hand.
fn nystrom(q: &[Vec<f64>], f: &[f64]) -> Vec<Vec<f64>> {
    let all = 0..q.len();
    let first = all.clone().max_by(|&a, &b| f[a].total_cmp(&f[b])).unwrap();
    let second = all.clone().min_by(|&a, &b| q[first][a].total_cmp(&q[first][b])).unwrap();
    let (a, b, d) = (q[first][first], q[first][second], q[second][second]);
    let entry = |i: usize, k: usize| {
        let (u, v) = ([q[i][first], q[i][second]], [q[k][first], q[k][second]]);
        (u[0] * (d * v[0] - b * v[1]) + u[1] * (a * v[1] - b * v[0])) / (a * d - b * b)
    };
    all.clone().map(|i| all.clone().map(|k| entry(i, k)).collect()).collect()
}

/// Q is positive semidefinite, so that the conditions are those of the minimum.
#[test]
fn weights_of_kernels_minimize_the_program_of_q_and_of_its_approximation() {
    for seed in 0..10 {
        let (columns, y, problem) = draw(40, 7, seed);
        let (q, f) = similarities(&columns, &y);
        for alpha in [0.0, 0.3, 0.6, 0.95] {
            let qpfs = Qpfs { similarity: Similarity::Nhsic, alpha: Alpha::Value(alpha), ..Qpfs::default() };
            assert_minimum(&weights(&qpfs, &problem), &q, &f, alpha, 1e-10);
            let thin = Qpfs { nystrom: Some(2), ..qpfs };
            assert_minimum(&weights(&thin, &problem), &nystrom(&q, &f), &f, alpha, 1e-10);
        }
    }
}

#[test]
fn the_conditions_hold_for_many_columns() {
    let (columns, y, problem) = draw(40, 300, 5);
    let unit = |values: &[f64]| -> Vec<f64> {
        let mean = values.iter().sum::<f64>() / 40.0;
        let norm = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>().sqrt();
        values.iter().map(|v| (v - mean) / norm).collect()
    };
    let units: Vec<Vec<f64>> = columns.iter().map(|x| unit(x)).collect();
    let with = |a: &[f64]| units.iter().map(|b| dot(a, b).abs()).collect::<Vec<f64>>();
    let (q, f): (Vec<Vec<f64>>, _) = (units.iter().map(|a| with(a)).collect(), with(&unit(&y)));
    for alpha in [0.2, 0.5, 1.0] {
        let qpfs = Qpfs { similarity: Similarity::Correlation, alpha: Alpha::Value(alpha), ..Qpfs::default() };
        assert_minimum(&weights(&qpfs, &problem), &q, &f, alpha, 1e-10);
    }
}

/// Above 2000 rows kernels are approximated by levels: the optimality conditions hold for the exact Q and F within the
/// approximation error.
#[test]
fn by_levels_the_weights_are_those_of_the_kernels() {
    let drawn = data::regression(2010, 5, 9).problem();
    let mut columns: Vec<Vec<f64>> = (0..5).map(|k| design(&drawn).column(k).values().to_vec()).collect();
    columns.push(columns[1].clone());
    let y = drawn.targets().row(0).to_vec();
    let problem = regression(&columns, &y);
    let qpfs = Qpfs { similarity: Similarity::Nhsic, alpha: Alpha::Value(0.4), ..Qpfs::default() };
    let weights = weights(&qpfs, &problem);
    assert_eq!(weights[1], weights[5]);
    // The program contains the copied column once.
    let (q, f) = similarities(&columns[..5], &y);
    assert_minimum(&weights[..5], &q, &f, 0.4, 1e-4);
}

#[test]
fn what_cannot_be_is_refused() {
    let problem = data::regression(12, 3, 3).problem();
    let refused = |qpfs: Qpfs| qpfs.check(&design(&problem)).unwrap_err().to_string();
    let found = refused(Qpfs { alpha: Alpha::Value(1.5), ..Qpfs::default() });
    assert!(found.contains("`alpha`: 1.5 is not between 0 and 1"), "{found}");
    let found = refused(Qpfs { nystrom: Some(0), ..Qpfs::default() });
    assert!(found.contains("`nystrom`: 0 columns"), "{found}");
    let found = refused(Qpfs { bins: Bins::Width(1), ..Qpfs::default() });
    assert!(found.contains("`bins.width`"), "{found}");
    let read = |text: &str| serde_json::from_str::<Qpfs>(text);
    assert_eq!(read(r#"{"alpha": "auto"}"#).unwrap(), Qpfs::default());
    assert_eq!(read(r#"{"alpha": 0.25}"#).unwrap().alpha, Alpha::Value(0.25));
    let found = read(r#"{"alpha": "none"}"#).unwrap_err().to_string();
    assert!(found.contains("expected `auto` or a number from 0 to 1"), "{found}");
}
