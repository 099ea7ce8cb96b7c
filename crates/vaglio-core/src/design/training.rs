//! Plain training: the basis of every criterion's definition.

use super::TrainingMethod;
use crate::{
    Columns, Design, Feature, Learner, Model, PerFoldPreprocessing, Problem, Result, Squared, ridge, row_weights,
};
use crate::{gather, select_rows};
use ndarray::Array2;
use std::sync::Arc;

impl Design {
    /// Trains on the rows `training` and columns `subset` alone and predicts the rows `held_out`, outputs × held out.
    ///
    /// This is plain retraining, the basis of every criterion's definition. `lambda` is one of [`Design::lambdas`].
    ///
    /// # Errors
    /// Returns [`crate::Error::Numerical`] when the system is singular, or an error of the learner.
    pub fn retrain(
        &self,
        training: &[usize],
        held_out: &[usize],
        subset: &[Feature],
        lambda: Option<f64>,
    ) -> Result<Array2<f64>> {
        if let Some(refitted) = self.refit(training)? {
            return refitted.retrain(training, held_out, subset, lambda);
        }
        match &self.training {
            TrainingMethod::Ridge(readout, _) => {
                let mut x = self.gather(subset, training);
                let y = select_rows(self.targets(), training);
                let lambda = lambda.unwrap_or(readout.lambdas[0]);
                let mut held = self.gather(subset, held_out);
                if let Some(missing) = self.problem().in_folds.missing() {
                    let means = missing.means(subset, training, &x, self.weights());
                    missing.fill(subset, training, &mut x, &means);
                    missing.fill(subset, held_out, &mut held, &means);
                }
                if self.problem().in_folds.is_standardized() {
                    self.standardize(subset, training, &mut x, &mut held);
                }
                let weights = training_weights(self, training.iter().copied());
                if readout.intercept {
                    // The intercept absorbs any shift of all rows, so offsets cost no digits.
                    center(&mut x, &mut held, weights.as_deref(), &vec![0.0; subset.len()]);
                }
                let fitted = ridge::ridge(x.view(), y.view(), weights.as_deref(), lambda, readout.intercept)?;
                Ok(fitted.predict(held.view()))
            }
            TrainingMethod::Learner(learner) => {
                let problem = match self.problem().in_folds.is_standardized() {
                    true => &self.standardized_by(training, subset),
                    false => self.problem(),
                };
                let model = fit_model(learner, &problem.select_rows(training), subset, lambda)?;
                let held = problem.view_rows(held_out);
                let predictions = model.predict(&held.columns.select(model.inputs()), held.series());
                predictions.map_err(|error| error.from_part(&**learner))
            }
        }
    }

    /// The entries of `subset` in `rows`, as features × rows.
    fn gather(&self, subset: &[Feature], rows: &[usize]) -> Array2<f64> {
        Array2::from_shape_fn((subset.len(), rows.len()), |(k, j)| self.column(subset[k]).get(rows[j]))
    }

    /// Standardizes the columns of `subset` by mean and population standard deviation of their entries `x` in the rows
    /// `training`, and `held` likewise. A column with equal entries in `x`, up to rounding, is divided by 1.
    fn standardize(&self, subset: &[Feature], training: &[usize], x: &mut Array2<f64>, held: &mut Array2<f64>) {
        let weights = self.weights().map(|weights| gather(weights, training));
        let rounding: Vec<f64> = subset.iter().map(|&feature| self.column(feature).rounding()).collect();
        center(x, held, weights.as_deref(), &rounding);
        let weight = row_weights(weights.as_deref());
        let total: f64 = (0..x.ncols()).map(weight).sum();
        for (mut x, mut held) in x.rows_mut().into_iter().zip(held.rows_mut()) {
            if x.iter().all(|v| *v == 0.0) {
                continue;
            }
            let deviation = (x.iter().enumerate().map(|(j, v)| weight(j) * v * v).sum::<f64>() / total).sqrt();
            x /= deviation;
            held /= deviation;
        }
    }

    /// The problem with the columns of `subset` standardized by the rows `training`. Cost O(rows · columns).
    fn standardized_by(&self, training: &[usize], subset: &[Feature]) -> Problem {
        let every: Vec<usize> = (0..self.rows()).collect();
        let (mut x, mut all) = (self.gather(subset, training), self.gather(subset, &every));
        self.standardize(subset, training, &mut x, &mut all);
        let mut columns = Columns::new(self.rows());
        for feature in 0..self.features() {
            columns.push(match subset.iter().position(|own| *own == feature) {
                Some(at) => all.row(at).to_vec(),
                None => self.column(feature).values().into_owned(),
            });
        }
        Problem { columns: Arc::new(columns), ..self.problem().clone() }
    }

    /// Trains on all rows and the columns `subset`: the plain definition for tests of every faster way.
    ///
    /// Without `lambda`, takes the one with the lowest mean squared leave-one-out error. Cost O(rows · columns²), and
    /// that for every row and λ if λ is chosen.
    ///
    /// # Errors
    /// Returns an error of [`Design::retrain`] or of the learner.
    pub fn train(&self, subset: &[Feature], lambda: Option<f64>) -> Result<Model> {
        let (readout, map) = match &self.training {
            TrainingMethod::Ridge(readout, map) => (readout, map),
            TrainingMethod::Learner(learner) => return fit_model(learner, self.problem(), subset, lambda),
        };
        let rows: Vec<usize> = (0..self.rows()).collect();
        // Maps are not refitted for each left-out row, which would give each row its own columns.
        let plain = match self.problem().in_folds.is_by_maps() {
            true => self.with_change(|design| design.problem.in_folds = PerFoldPreprocessing::default()),
            false => self.clone(),
        };
        let left_out = |lambda: Option<f64>| {
            let mut predictions = Array2::zeros(self.targets().dim());
            for &row in &rows {
                let others: Vec<usize> = rows.iter().copied().filter(|&other| other != row).collect();
                predictions.column_mut(row).assign(&plain.retrain(&others, &[row], subset, lambda)?.column(0));
            }
            Ok(self.loss(&Squared, predictions.view()))
        };
        let lambda = match (lambda, &readout.lambdas[..]) {
            (Some(lambda), _) => lambda,
            (None, [only]) => *only,
            (None, all) => self.best_lambda(left_out)?.lambda.unwrap_or(all[0]),
        };
        let (x, weights) = (self.gather(subset, &rows), training_weights(self, 0..self.rows()));
        let coefficients = ridge::ridge(x.view(), self.targets(), weights.as_deref(), lambda, readout.intercept)?;
        map.model(subset, lambda, coefficients)
    }
}

/// The weight of each of `rows` in training on them alone: r_j. With a balanced readout, r_j / Σ r over the rows of its
/// class among them. `None` if all are 1.
pub fn training_weights(design: &Design, rows: impl Iterator<Item = usize> + Clone) -> Option<Vec<f64>> {
    let weight = row_weights(design.weights());
    let balanced = design.readout().is_some_and(|readout| readout.balanced);
    let Some(classes) = design.problem().classes().filter(|_| balanced) else {
        return design.weights().map(|_| rows.map(weight).collect());
    };
    let mut totals = vec![0.0; classes.names.len()];
    rows.clone().for_each(|row| totals[classes.per_row[row]] += weight(row));
    Some(rows.map(|row| weight(row) / totals[classes.per_row[row]]).collect())
}

/// Calls a learner and attributes errors to it, not to the caller.
fn fit_model(learner: &Arc<dyn Learner>, problem: &Problem, subset: &[Feature], lambda: Option<f64>) -> Result<Model> {
    learner.fit(problem, subset, lambda).map_err(|error| error.from_part(&**learner))
}

/// Subtracts the weighted mean of each row of `x` from both arrays. If a row's entries in `x` are equal up to
/// `rounding`, one entry is subtracted and `x` becomes 0.
fn center(x: &mut Array2<f64>, held: &mut Array2<f64>, weights: Option<&[f64]>, rounding: &[f64]) {
    let weight = row_weights(weights);
    let total: f64 = (0..x.ncols()).map(weight).sum();
    for ((mut x, mut held), rounding) in x.rows_mut().into_iter().zip(held.rows_mut()).zip(rounding) {
        let Some(&first) = x.first() else { continue };
        let (least, greatest) = x.iter().fold((first, first), |(least, greatest), v| (least.min(*v), greatest.max(*v)));
        if greatest - least <= *rounding {
            x.fill(0.0);
            held -= first;
            continue;
        }
        vaglio_columns::center(x, weight, total).into_iter().for_each(|mean| held -= mean);
    }
}
