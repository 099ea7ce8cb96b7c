//! The ways in which the ridge paper finds λ on all columns, written plainly: what each does for every fold and λ.

use ndarray::{Array1, Array2, Axis};
use std::time::Instant;
use vaglio_core::{Error, Result};
use vaglio_kernels::linalg;

/// How the squared loss of rows held out is found for every λ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Products and a solution for every fold and λ.
    Naive,
    /// Products for every fold, a solution for every λ.
    Covariance,
    /// Products and an eigendecomposition for every fold.
    Eigendecomposition,
}

/// Columns and targets of a fold, centered on the means of the rows that it is trained on.
struct Centered {
    x: Array2<f64>,
    y: Array1<f64>,
    held: Array2<f64>,
    held_y: Array1<f64>,
}

impl Centered {
    fn new(x: &Array2<f64>, y: &Array1<f64>, of_row: &[usize], fold: usize) -> Self {
        let rows =
            |is_held: bool| (0..of_row.len()).filter(|&row| (of_row[row] == fold) == is_held).collect::<Vec<_>>();
        let pick = |is_held: bool| (x.select(Axis(0), &rows(is_held)), y.select(Axis(0), &rows(is_held)));
        let ((mut x, mut y), (mut held, mut held_y)) = (pick(false), pick(true));
        let (means, mean) = (x.mean_axis(Axis(0)).unwrap_or_default(), y.mean().unwrap_or_default());
        x -= &means;
        held -= &means;
        y -= mean;
        held_y -= mean;
        Centered { x, y, held, held_y }
    }
}

/// The mean squared loss for each λ over the folds of the rows, with the seconds of the whole and of the products alone.
///
/// # Errors
/// [`Error::Numerical`] where a system cannot be solved.
pub fn losses(
    way: Way,
    x: &Array2<f64>,
    y: &Array1<f64>,
    of_row: &[usize],
    lambdas: &[f64],
) -> Result<(Vec<f64>, f64, f64)> {
    let failed = |failure: linalg::FactorizationError| Error::Numerical(format!("a fold cannot be solved: {failure}"));
    let (start, mut fixed) = (Instant::now(), 0.0);
    let mut sums = vec![0.0; lambdas.len()];
    for fold in 0..=of_row.iter().copied().max().unwrap_or(0) {
        let Centered { x, y, held, held_y } = Centered::new(x, y, of_row, fold);
        let begun = Instant::now();
        let (mut products, along) = (linalg::gram(x.view()), x.t().dot(&y).insert_axis(Axis(1)));
        fixed += begun.elapsed().as_secs_f64();
        let mut take = |k: usize, predicted: Array1<f64>| sums[k] += (&held_y - &predicted).mapv(|e| e * e).sum();
        if way == Way::Eigendecomposition {
            let (values, vectors) = linalg::eigh(products.view()).map_err(failed)?;
            let (turned, held) = (vectors.t().dot(&along), held.dot(&vectors));
            for (k, lambda) in lambdas.iter().enumerate() {
                let weights = &turned.column(0) / &values.mapv(|d| d + lambda);
                take(k, held.dot(&weights));
            }
            continue;
        }
        for (k, &lambda) in lambdas.iter().enumerate() {
            if way == Way::Naive && k > 0 {
                products = linalg::gram(x.view());
            }
            let mut system = products.clone();
            system.diag_mut().mapv_inplace(|d| d + lambda);
            let weights = linalg::solve(system.view(), along.view()).map_err(failed)?;
            take(k, held.dot(&weights.column(0)));
        }
    }
    let rows = of_row.len() as f64;
    Ok((sums.into_iter().map(|sum| sum / rows).collect(), start.elapsed().as_secs_f64(), fixed))
}

/// The condition number of the products of centered columns.
///
/// # Errors
/// [`Error::Numerical`] where eigenvalues do not converge.
pub fn condition(x: &Array2<f64>) -> Result<f64> {
    let centered = x - &x.mean_axis(Axis(0)).unwrap_or_default();
    let (values, _) = linalg::eigh(linalg::gram(centered.view()).view())
        .map_err(|failure| Error::Numerical(format!("no eigenvalues: {failure}")))?;
    let (least, most) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
    Ok(most / least.max(f64::MIN_POSITIVE))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use vaglio::criteria::{Engine, KFold};
    use vaglio_core::{Criterion, Design, Readout};

    #[test]
    fn all_ways_agree_with_the_criterion() {
        let problem = vaglio_testkit::data::regression(60, 7, 3).problem();
        let lambdas = [0.01, 1.0, 30.0];
        let all: Vec<usize> = (0..7).collect();
        let (x, y) = (problem.columns().matrix(&all), problem.targets().row(0).to_owned());
        let of_row: Vec<usize> = (0..60).map(|row| row / 15).collect();
        for way in [Way::Naive, Way::Covariance, Way::Eigendecomposition] {
            let (found, ..) = losses(way, &x, &y, &of_row, &lambdas).unwrap();
            for (loss, lambda) in found.iter().zip(lambdas) {
                let design = Design::identity(&problem, Readout::new(vec![lambda], true).unwrap());
                let kfold = KFold { folds: Some(4), engine: Engine::Auto, ..KFold::default() };
                let expected = kfold.evaluate(&design, &all).unwrap().loss;
                assert!((loss / expected - 1.0).abs() < 1e-10, "{way:?}: {loss} is not {expected}");
            }
        }
    }
}
