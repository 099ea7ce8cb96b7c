//! Weights that maximize the dependence of one kernel on the target.

use crate::{design, regression, score, weights};
use vaglio_core::{Criterion, Error, Problem};
use vaglio_dependence::{Hsfs, Hsic, HsicKernel};
use vaglio_testkit::{SplitMix64, Tolerance, data};

/// Computes the dependence at given weights by definition: tr(KHLH)/m² of m × m matrices.
fn dependence(columns: &[Vec<f64>], y: &[f64], weights: &[f64]) -> f64 {
    let unit = |values: &[f64]| -> Vec<f64> {
        let rows = values.len() as f64;
        let mean = values.iter().sum::<f64>() / rows;
        let deviation = (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / rows).sqrt();
        values.iter().map(|v| (v - mean) / deviation).collect()
    };
    let (columns, y): (Vec<Vec<f64>>, _) = (columns.iter().map(|x| unit(x)).collect(), unit(y));
    let rows = y.len();
    let apart = |j: usize, k: usize| -> f64 {
        columns.iter().zip(weights).map(|(x, w)| w * (x[j] - x[k]) * (x[j] - x[k])).sum()
    };
    let kernel = |j: usize, k: usize| (-apart(j, k) / 2.0).exp();
    let target = |j: usize, k: usize| (-(y[j] - y[k]) * (y[j] - y[k]) / 2.0).exp();
    let share = 1.0 / rows as f64;
    let means: Vec<f64> = (0..rows).map(|j| (0..rows).map(|k| share * target(j, k)).sum()).collect();
    let grand: f64 = means.iter().map(|mean| share * mean).sum();
    let pairs = (0..rows).flat_map(|j| (0..rows).map(move |k| (j, k)));
    pairs.map(|(j, k)| share * share * kernel(j, k) * (target(j, k) - means[j] - means[k] + grand)).sum()
}

fn draw(seed: u64) -> (Vec<Vec<f64>>, Vec<f64>, Problem) {
    let mut random = SplitMix64::new(seed);
    let columns: Vec<Vec<f64>> = (0..3).map(|_| (0..40).map(|_| random.normal()).collect()).collect();
    let y: Vec<f64> =
        (0..40).map(|row| columns[0][row].powi(2) + 0.7 * columns[1][row] + 0.3 * random.normal()).collect();
    let problem = regression(&columns, &y);
    (columns, y, problem)
}

#[test]
fn no_weights_of_a_grid_are_better() {
    for seed in 0..4 {
        let (columns, y, problem) = draw(seed);
        let found = weights(&Hsfs::default(), &problem);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let reached = dependence(&columns, &y, &found);
        for (a, b) in (0..=20).flat_map(|a| (0..=20 - a).map(move |b| (a, b))) {
            let at = [a, b, 20 - a - b].map(|k| f64::from(k) / 20.0);
            let other = dependence(&columns, &y, &at);
            assert!(other <= reached * (1.0 + 1e-6), "seed {seed}: {other} at {at:?}, {reached} at {found:?}");
        }
    }
}

/// Weights 1/|S| on a subset give its `hsic` score, so the optimum is at least as good as every subset.
#[test]
fn subsets_of_hsic_are_among_the_weights() {
    let (columns, y, problem) = draw(7);
    let best = dependence(&columns, &y, &weights(&Hsfs::default(), &problem));
    for bits in 1..8u32 {
        let subset: Vec<usize> = (0..3).filter(|k| bits >> k & 1 == 1).collect();
        let mut at = [0.0; 3];
        subset.iter().for_each(|&k| at[k] = 1.0 / subset.len() as f64);
        let subset_dependence = -score(&Hsic::default(), &problem, &subset);
        Tolerance::relative(1e-12).assert(dependence(&columns, &y, &at), subset_dependence, "a subset");
        assert!(subset_dependence <= best * (1.0 + 1e-9));
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let problem = data::regression(12, 3, 3).problem();
    let refused = |criterion: Hsfs| criterion.check(&design(&problem)).unwrap_err().to_string();
    let kernel = |kernel: HsicKernel| Hsfs { kernel, ..Hsfs::default() };
    let found = refused(kernel(HsicKernel { bandwidth: 0.0, ..HsicKernel::default() }));
    assert!(found.contains("`kernel.bandwidth`"), "{found}");
    let found = refused(kernel(HsicKernel { adapt: false, ..HsicKernel::default() }));
    assert!(found.contains("`kernel.adapt`"), "{found}");
    let found = refused(Hsfs { steps: 0, ..Hsfs::default() });
    assert!(found.contains("`steps`: 0 steps"), "{found}");
    let narrow = kernel(HsicKernel { bandwidth: 1e-160, ..HsicKernel::default() });
    let found = narrow.evaluate(&design(&problem), &[0, 1]).unwrap_err();
    assert!(matches!(found, Error::Numerical(_)), "{found}");
}
