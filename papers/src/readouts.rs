//! Ridge readouts of the first one, two, … columns of an order, all from one factorization.

use ndarray::{Array1, Array2, s};
use vaglio_core::{Feature, Problem};
use vaglio_kernels::linalg;

/// Products of the columns of training rows, and the test rows.
pub struct Readouts {
    products: Array2<f64>,
    /// Columns times targets about their mean.
    along: Array1<f64>,
    mean: f64,
    /// Columns × test rows.
    test: Array2<f64>,
    is_positive: Vec<bool>,
}

impl Readouts {
    /// Of one target, ±1, on columns whose means over the training rows are 0, as [`crate::data::split`] makes them.
    pub fn new(train: &Problem, test: &Problem) -> Self {
        let all: Vec<Feature> = (0..train.columns().len()).collect();
        let x = train.columns().matrix(&all);
        let targets = train.targets().row(0).to_owned();
        let mean = targets.mean().unwrap_or(0.0);
        Readouts {
            products: linalg::gram(x.view()),
            along: x.t().dot(&(targets - mean)),
            mean,
            test: test.columns().matrix(&all).t().as_standard_layout().into_owned(),
            is_positive: test.targets().row(0).iter().map(|y| *y > 0.0).collect(),
        }
    }

    /// The share of test rows on the right side for the sizes 1, 2, … of an order of columns.
    ///
    /// With L Lᵀ = XᵀX + λI in this order, L z = Xᵀy and L V = X_test, what the first k columns predict is Σ_{i ≤ k} z_i V_i.
    pub fn accuracies(&self, order: &[Feature], lambda: f64) -> Vec<f64> {
        let (count, rows) = (order.len(), self.is_positive.len());
        let (mut l, mut z) = (Array2::<f64>::zeros((count, count)), Array1::<f64>::zeros(count));
        let mut v = Array2::<f64>::zeros((count, rows));
        let mut predicted = Array1::from_elem(rows, self.mean);
        let mut accuracies = Vec::with_capacity(count);
        for (i, &feature) in order.iter().enumerate() {
            for (j, &other) in order[..i].iter().enumerate() {
                let dot = l.slice(s![i, ..j]).dot(&l.slice(s![j, ..j]));
                l[[i, j]] = (self.products[[feature, other]] - dot) / l[[j, j]];
            }
            let own = l.slice(s![i, ..i]).to_owned();
            // At least λ but for rounding.
            let pivot = (self.products[[feature, feature]] + lambda - own.dot(&own)).max(lambda).sqrt();
            l[[i, i]] = pivot;
            z[i] = (self.along[feature] - own.dot(&z.slice(s![..i]))) / pivot;
            let row = (&self.test.row(feature) - &own.dot(&v.slice(s![..i, ..]))) / pivot;
            predicted.scaled_add(z[i], &row);
            v.row_mut(i).assign(&row);
            let right = predicted.iter().zip(&self.is_positive).filter(|(p, is_positive)| (**p > 0.0) == **is_positive);
            accuracies.push(right.count() as f64 / rows as f64);
        }
        accuracies
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::data::{split, test_figures};

    #[test]
    fn every_size_is_a_readout_of_its_own() {
        for seed in 0..4 {
            let problem = vaglio_testkit::data::binary(60, 9, seed).problem();
            let rows: Vec<usize> = (0..60).collect();
            let (train, test) = split(&problem, &rows[..40], &rows[40..]).unwrap();
            let order = crate::data::order(seed, 9);
            let found = Readouts::new(&train, &test).accuracies(&order, 0.3);
            for size in 1..=9 {
                let [_, error] = test_figures(&train, &test, &order[..size], 0.3, true).unwrap();
                assert!((found[size - 1] - (1.0 - error)).abs() < 1e-12, "seed {seed}, {size} columns");
            }
        }
    }
}
