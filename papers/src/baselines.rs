//! The algorithms that greedy RLS is compared with in its paper, written plainly.
//!
//! All choose the columns of lowest squared leave-one-out error one after another, without an intercept.

use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate, s};
use vaglio_core::{Error, Feature, Problem, Result};
use vaglio_kernels::linalg::{self, FactorizationError};
use vaglio_kernels::ridge::Ridge;

fn failed(failure: FactorizationError) -> Error {
    Error::Numerical(failure.to_string())
}

/// The wrapper: every candidate is trained anew, with leave-one-out by leverages. Cost O(k³mn).
pub fn wrapper(problem: &Problem, lambda: f64, count: usize) -> Result<Vec<Feature>> {
    choose(problem, count, |selected, candidate| {
        let x = problem.columns().matrix(&[selected, &[candidate]].concat());
        let y = problem.targets().view();
        left_out(&x, y, lambda).map_err(failed)
    })
}

/// Mean squared leave-one-out error: the squared norm of row j of X·R⁻¹ is its leverage, with the triangle R of the
/// rows stacked on √λ·I.
fn left_out(x: &Array2<f64>, y: ArrayView2<f64>, lambda: f64) -> std::result::Result<f64, FactorizationError> {
    let (weights, _) = Ridge::new(x.view(), y, None, false)?.coefficients(lambda)?;
    let mut residuals = &y.t() - &x.dot(&weights);
    let stacked = concatenate![Axis(0), x.view(), Array2::eye(x.ncols()) * lambda.sqrt()];
    let triangle = linalg::triangle(stacked.view())?;
    for (row, mut residual) in x.rows().into_iter().zip(residuals.rows_mut()) {
        let mut along = row.to_owned();
        for k in 0..along.len() {
            let known = along.slice(s![..k]).dot(&triangle.slice(s![..k, k]));
            along[k] = (along[k] - known) / triangle[[k, k]];
        }
        residual /= 1.0 - along.dot(&along);
    }
    Ok(residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64)
}

fn choose(problem: &Problem, count: usize, score: impl Fn(&[Feature], Feature) -> Result<f64>) -> Result<Vec<Feature>> {
    let mut selected: Vec<Feature> = Vec::new();
    while selected.len() < count {
        let mut best = (f64::INFINITY, 0);
        for candidate in (0..problem.columns().len()).filter(|f| !selected.contains(f)) {
            let loss = score(&selected, candidate)?;
            if loss < best.0 {
                best = (loss, candidate);
            }
        }
        selected.push(best.1);
    }
    Ok(selected)
}

/// LS-SVM with low-rank updates: G = (K + λI)⁻¹ is kept, and a candidate changes it by rank one. Cost O(k·m²·n), memory
/// O(m²).
///
/// # Reference
/// F. Ojeda, J. A. K. Suykens, B. De Moor, *Low rank updated LS-SVM classifiers for fast variable selection*, Neural
/// Networks 21, 2008.
pub fn low_rank(problem: &Problem, lambda: f64, count: usize) -> Vec<Feature> {
    let rows = problem.rows();
    let columns: Vec<Array1<f64>> =
        (0..problem.columns().len()).map(|f| problem.columns().column(f).values().iter().copied().collect()).collect();
    let mut g: Array2<f64> = Array2::eye(rows) / lambda;
    let mut a: Array1<f64> = problem.targets().row(0).to_owned() / lambda;
    let mut selected: Vec<Feature> = Vec::new();
    while selected.len() < count {
        let mut best = (f64::INFINITY, 0);
        for (candidate, v) in columns.iter().enumerate().filter(|(f, _)| !selected.contains(f)) {
            let u = g.dot(v);
            let c = 1.0 + v.dot(&u);
            let step = v.dot(&a) / c;
            let left_out = |j: usize| (a[j] - step * u[j]) / (g[[j, j]] - u[j] * u[j] / c);
            let loss = (0..rows).map(|j| left_out(j) * left_out(j)).sum::<f64>() / rows as f64;
            if loss < best.0 {
                best = (loss, candidate);
            }
        }
        let v = &columns[best.1];
        let u = g.dot(v);
        let c = 1.0 + v.dot(&u);
        a.scaled_add(-v.dot(&a) / c, &u);
        for (mut row, &of_row) in g.axis_iter_mut(Axis(0)).zip(&u) {
            row.scaled_add(-of_row / c, &u);
        }
        selected.push(best.1);
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use linfa::ParamGuard;
    use vaglio::search::Silent;
    use vaglio::{Selector, core::Lambda, criteria::Loo, learners::Rls, search::Greedy};

    #[test]
    fn all_choose_what_greedy_rls_chooses() {
        for seed in 0..5 {
            let problem = vaglio_testkit::data::regression(40, 12, seed).problem();
            let learner = Rls { lambda: Lambda::from(0.7), intercept: false };
            let selector = Selector::params(Loo::default(), Greedy::new(5), learner).check().unwrap();
            let found = selector.select(&problem, &mut Silent).unwrap();
            let ours: Vec<Feature> = found.path.steps.iter().map(|step| step.feature).collect();
            assert_eq!(ours, wrapper(&problem, 0.7, 5).unwrap());
            assert_eq!(ours, low_rank(&problem, 0.7, 5));
        }
    }
}
