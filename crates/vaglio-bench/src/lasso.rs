//! Least-angle regression with its own coefficients, as many steps as cross-validation asks for.

use linfa::ParamGuard;
use vaglio::Selector;
use vaglio::criteria::Loo;
use vaglio::learners::Rls;
use vaglio::search::Lars;
use vaglio_core::{Choose, Feature, Problem, Result, Silent};

/// A least-angle path in the units of the data: after each step an intercept and the weights of some columns.
struct LeastAnglePath(Vec<(f64, Vec<(Feature, f64)>)>);

/// Predictions of test rows by the path of the training rows, stopped where the squared error over `folds` contiguous
/// folds is least.
pub fn predict(train: &Problem, test: &Problem, folds: usize) -> Result<Vec<f64>> {
    let rows = train.rows();
    let y = train.targets().row(0).to_vec();
    let mut errors: Vec<f64> = Vec::new();
    for fold in 0..folds {
        let held_out: Vec<usize> = (fold * rows / folds..(fold + 1) * rows / folds).collect();
        let others: Vec<usize> = (0..rows).filter(|row| !held_out.contains(row)).collect();
        let (fitted, held) = (LeastAnglePath::new(&train.select_rows(&others))?, train.select_rows(&held_out));
        let steps = fitted.0.len();
        if fold == 0 {
            errors = vec![0.0; steps];
        }
        errors.truncate(steps);
        for (step, error) in errors.iter_mut().enumerate() {
            let predicted = fitted.predict(step, &held);
            *error += held_out.iter().zip(predicted).map(|(&row, p)| (y[row] - p) * (y[row] - p)).sum::<f64>();
        }
    }
    let fitted = LeastAnglePath::new(train)?;
    let steps = 0..errors.len().min(fitted.0.len());
    let best = steps.min_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap_or(0);
    Ok(fitted.predict(best, test))
}

impl LeastAnglePath {
    fn new(problem: &Problem) -> Result<Self> {
        let selector =
            Selector::params(Loo::default(), Lars { choose: Choose::Best, ..Lars::default() }, Rls::default())
                .check()?;
        let path = selector.select(problem, &mut Silent)?.path;
        let rows = problem.rows() as f64;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / rows;
        let length = |values: &[f64], mean: f64| values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>().sqrt();
        let y = problem.targets().row(0).to_vec();
        let (center, scale) = (mean(&y), length(&y, mean(&y)));
        let mut selected: Vec<Feature> = Vec::new();
        let mut steps = vec![(center, Vec::new())];
        for step in &path.steps {
            match step.action {
                vaglio_core::Action::Add => selected.push(step.feature),
                vaglio_core::Action::Remove => selected.retain(|&feature| feature != step.feature),
            }
            let Some(knot) = &step.knot else { continue };
            // The path is one of columns of mean 0 and length 1.
            let (mut intercept, mut weights) = (center, Vec::new());
            for (&feature, alpha) in selected.iter().zip(&knot.alpha) {
                let values = problem.columns().column(feature).values();
                let middle = mean(&values);
                let weight = alpha * scale / length(&values, middle);
                intercept -= weight * middle;
                weights.push((feature, weight));
            }
            steps.push((intercept, weights));
        }
        Ok(LeastAnglePath(steps))
    }

    fn predict(&self, step: usize, problem: &Problem) -> Vec<f64> {
        let (intercept, weights) = &self.0[step];
        let mut out = vec![*intercept; problem.rows()];
        for &(feature, weight) in weights {
            let values = problem.columns().column(feature).values();
            out.iter_mut().zip(values.iter()).for_each(|(out, x)| *out += weight * x);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_noise_the_last_step_is_least_squares() {
        let recipe = vaglio_testkit::data::regression(60, 4, 1);
        let problem = recipe.problem();
        let path = LeastAnglePath::new(&problem).unwrap();
        let fitted = path.predict(path.0.len() - 1, &problem);
        let design = recipe.design(&[1e-12], true);
        let rows: Vec<usize> = (0..60).collect();
        let expected = design.retrain(&rows, &rows, &[0, 1, 2, 3], Some(1e-12)).unwrap();
        for (a, b) in fitted.iter().zip(expected.row(0)) {
            assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{a} is not {b}");
        }
    }
}
