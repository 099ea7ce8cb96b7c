//! Tests column diagnostics against plain refits.

use super::*;
use crate::evaluations::nested_validation::record_spreads;
use linfa::ParamGuard;
use ndarray::{Array1, Array2, Axis};
use vaglio_core::{Criterion, Problem, Task};
use vaglio_kernels::linalg;
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::resampling::{OuterFoldFit, Sample, StageMonitor, outer};
use vaglio_pipeline::selector::{Selector, ValidSelector};
use vaglio_report::record::{OuterFolds, PerOutput, SelectedRecord};
use vaglio_search::{Greedy, Silent};
use vaglio_testkit::{SplitMix64, data};
use vaglio_validate::{KFold, Loo};

fn selector(criterion: impl Criterion + 'static) -> ValidSelector {
    Selector::params(criterion, Greedy::default(), Rls::default()).seed(3).check().unwrap()
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// Ridge weights with an intercept, by the normal equations of exactly these columns and rows.
fn ridge(columns: &[Vec<f64>], y: &[f64], counts: &[f64], lambda: f64) -> Vec<f64> {
    let total: f64 = counts.iter().sum();
    let centered = |v: &[f64]| -> Array1<f64> {
        let mean = v.iter().zip(counts).map(|(v, w)| v * w).sum::<f64>() / total;
        v.iter().zip(counts).map(|(v, w)| (v - mean) * w.sqrt()).collect()
    };
    let x = Array2::from_shape_fn((y.len(), columns.len()), |(j, k)| centered(&columns[k])[j]);
    let y = centered(y).insert_axis(Axis(1));
    let gram = x.t().dot(&x) + lambda * Array2::<f64>::eye(columns.len());
    linalg::solve(gram.view(), x.t().dot(&y).view()).unwrap().column(0).to_vec()
}

/// R² of least squares, from its residuals.
fn r2(columns: &[Vec<f64>], y: &[f64], counts: &[f64]) -> f64 {
    let weights = ridge(columns, y, counts, 0.0);
    let total: f64 = counts.iter().sum();
    let variance = |v: &[f64]| {
        let mean = v.iter().zip(counts).map(|(v, w)| v * w).sum::<f64>() / total;
        v.iter().zip(counts).map(|(v, w)| w * (v - mean).powi(2)).sum::<f64>()
    };
    let fitted = |j: usize| weights.iter().zip(columns).map(|(w, x)| w * x[j]).sum::<f64>();
    let left: Vec<f64> = y.iter().enumerate().map(|(j, y)| y - fitted(j)).collect();
    1.0 - variance(&left) / variance(y)
}

fn column(design: &Design, feature: Feature) -> Vec<f64> {
    design.column(feature).values().to_vec()
}

#[test]
fn ranks_and_steps_are_those_of_the_definition() {
    for selector in [selector(Loo::default()), selector(KFold { folds: Some(4), ..KFold::default() })] {
        let design = selector.design(&data::regression(40, 12, 7).weighted().problem()).unwrap();
        let chosen = [8, 2, 5];
        let step_trials = StepTrials::new(&TrialDesign::new(&selector, &design), &chosen, 4).unwrap();
        let score = |subset: &[Feature]| selector.criterion.evaluate(&design, subset).unwrap().loss;
        for feature in 0..12 {
            let mut best: Option<(usize, usize, f64)> = None;
            for k in 0..=3 {
                let with = |f: Feature| score(&[&chosen[..k], &[f]].concat());
                let open = (0..12).filter(|f| !chosen[..k].contains(f));
                if chosen[..k].contains(&feature) {
                    break;
                }
                let rank = 1 + open.filter(|&f| with(f) < with(feature)).count();
                let taken = if k < 3 { with(chosen[k]) } else { score(&chosen) };
                if best.is_none_or(|(_, least, _)| rank < least) {
                    best = Some((k + 1, rank, with(feature) - taken));
                }
                if k == 0 {
                    let (alone, found) = step_trials.alone[feature].unwrap();
                    near(alone, with(feature));
                    assert_eq!(found, rank);
                }
            }
            let (step, rank, above) = best.unwrap();
            let found = step_trials.nearest[feature].unwrap();
            assert_eq!((found.step, found.rank), (step, rank));
            near(found.above, above);
        }
        // Single columns alone say nothing of later steps.
        let first = StepTrials::new(&TrialDesign::new(&selector, &design), &chosen, 1).unwrap();
        assert!(first.alone.iter().all(Option::is_some) && first.nearest.iter().all(Option::is_none));
    }
}

#[test]
fn inflation_and_shares_are_those_of_regressions() {
    let selector = selector(Loo::default());
    let mut pairs = 0;
    for recipe in [data::regression(20, 9, 5), data::regression(20, 9, 5).weighted()] {
        let design = selector.design(&recipe.problem()).unwrap();
        let counts: Vec<f64> = design.weights().map_or(vec![1.0; 20], <[f64]>::to_vec);
        let chosen = [3, 7, 0, 5];
        let columns: Vec<Vec<f64>> = chosen.iter().map(|&f| column(&design, f)).collect();
        let span = ColumnSpan::new(&design, &chosen);
        for (k, factor) in span.inflation().into_iter().enumerate() {
            let others: Vec<Vec<f64>> = (0..4).filter(|&l| l != k).map(|l| columns[l].clone()).collect();
            near(factor.unwrap(), 1.0 / (1.0 - r2(&others, &columns[k], &counts)));
        }
        for (feature, correlations) in [1, 8].into_iter().zip(span.correlations(&design, &[1, 8])) {
            let own = column(&design, feature);
            near(span.r2(&correlations), r2(&columns, &own, &counts));
            let squares: Vec<f64> = columns.iter().map(|x| r2(std::slice::from_ref(x), &own, &counts)).collect();
            correlations.iter().zip(&squares).for_each(|(r, square)| near(r.powi(2), *square));
            // The best of single columns, then the best beside it.
            let explaining = span.explaining(&correlations, 2);
            near(squares[explaining[0].0], squares.iter().copied().fold(0.0, f64::max));
            if let Some(&(second, share)) = explaining.get(1) {
                let with = |k: usize| r2(&[columns[explaining[0].0].clone(), columns[k].clone()], &own, &counts);
                pairs += 1;
                near(share, with(second));
                assert!((0..4).filter(|k| *k != explaining[0].0).all(|k| with(k) <= share + 1e-12));
            }
        }
    }
    assert!(pairs > 2);
}

#[test]
fn a_column_that_depends_on_others_is_inflated_without_bound() {
    let mut random = SplitMix64::new(4);
    let mut columns: Vec<Vec<f64>> = (0..3).map(|_| (0..30).map(|_| random.normal()).collect()).collect();
    columns.push((0..30).map(|row| 2.0 * columns[0][row] - columns[1][row]).collect());
    let y: Vec<f64> = (0..30).map(|_| random.normal()).collect();
    let lists: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let problem = data::given(&lists, &[&y], Task::Regression).unwrap();
    let design = selector(Loo::default()).design(&problem).unwrap();
    let found = ColumnSpan::new(&design, &[0, 1, 2, 3]).inflation();
    assert!([0, 1, 3].iter().all(|&k| found[k] == Some(f64::INFINITY)), "{found:?}");
    near(found[2].unwrap(), 1.0 / (1.0 - r2(&[columns[0].clone(), columns[1].clone()], &columns[2], &[1.0; 30])));
    // What they span explains each of them.
    let span = ColumnSpan::new(&design, &[0, 1]);
    near(span.r2(&span.correlations(&design, &[3])[0]), 1.0);
}

fn outer_folds(problem: &Problem, selector: &ValidSelector) -> Vec<OuterFoldFit> {
    let sample = Sample::from_problem(problem.clone(), false);
    let how = OuterFolds { folds: 4, repeats: 2, ..OuterFolds::default() };
    outer(selector, &sample, &how, &StageMonitor::new(&mut Silent)).unwrap().unwrap()
}

#[test]
fn weights_over_outer_folds_are_those_of_refits() {
    let problem = data::regression(40, 8, 9).problem();
    let selector = selector(Loo::default());
    let folds = outer_folds(&problem, &selector);
    let spread = |name: &String, own: PerOutput| {
        let mut column = [SelectedRecord { name: name.clone(), weight: Some(own), ..SelectedRecord::default() }];
        record_spreads(&folds, &mut column);
        column[0].over_folds.take()
    };
    let mut seen = 0;
    for (feature, name) in problem.names().iter().enumerate() {
        let refitted: Vec<f64> = folds
            .iter()
            .filter_map(|fold| {
                let place = fold.selected.iter().position(|selected| selected == name)?;
                let training: Vec<usize> = (0..40).filter(|row| !fold.rows.contains(row)).collect();
                let rows = |values: &[f64]| training.iter().map(|&row| values[row]).collect::<Vec<f64>>();
                let index = |name: &String| problem.names().iter().position(|other| other == name).unwrap();
                let column = |name: &String| rows(&problem.columns().column(index(name)).values());
                let columns: Vec<Vec<f64>> = fold.selected.iter().map(column).collect();
                let y = rows(&problem.targets().row(0).to_vec());
                Some(ridge(&columns, &y, &vec![1.0; y.len()], fold.model.lambda().unwrap())[place])
            })
            .collect();
        let own = PerOutput::One(refitted.first().copied().unwrap_or(1.0));
        let Some(found) = spread(name, own) else {
            assert!(refitted.is_empty(), "{feature}");
            continue;
        };
        seen += 1;
        assert_eq!(found.folds, refitted.len());
        near(found.low.values()[0], refitted.iter().copied().fold(f64::INFINITY, f64::min));
        near(found.high.values()[0], refitted.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let signs = |positive: bool| refitted.iter().any(|weight| (*weight > 0.0) == positive);
        assert_eq!(found.changes_sign, signs(true) && signs(false));
        // A result of the other sign than all folds is marked too.
        let other = PerOutput::One(-found.low.values()[0]);
        assert!(spread(name, other).unwrap().changes_sign);
    }
    assert!(seen > 3);
}

#[test]
fn trends_are_means_of_tenths() {
    let mut random = SplitMix64::new(11);
    let x: Vec<f64> = (0..200).map(|_| 9.0 * random.uniform()).collect();
    let residuals: Vec<f64> = x.iter().map(|x| x + 0.2 * random.normal()).collect();
    let weights: Vec<f64> = (0..200).map(|row| f64::from(1 + row % 3)).collect();
    let points = trend(&x, &residuals, &weights);
    assert_eq!(points.len(), 10);
    let mut rows: Vec<usize> = (0..200).collect();
    rows.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
    let sum = |values: &dyn Fn(usize) -> f64| rows[20..40].iter().map(|&row| weights[row] * values(row)).sum::<f64>();
    let mean = |values: &[f64]| sum(&|row| values[row]) / sum(&|_| 1.0);
    assert!((points[1][0] - mean(&x)).abs() < 1e-12 && (points[1][1] - mean(&residuals)).abs() < 1e-12);
}

#[test]
fn rows_of_one_value_are_one_point() {
    assert_eq!(trend(&[0.0, 1.0, 0.0, 1.0, 1.0], &[1.0, 2.0, 1.5, 0.0, 3.0], &[1.0; 5]).len(), 2);
}
