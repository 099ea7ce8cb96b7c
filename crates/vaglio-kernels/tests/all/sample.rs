//! Sample data, with plain ridge fits on some rows and predictions of others.

use ndarray::{Array2, Axis};
use std::sync::Arc;
use vaglio_columns::Column;
use vaglio_kernels::kfold::FoldedRows;
use vaglio_kernels::ridge::Ridge;
use vaglio_kernels::{Data, Folds};

/// Columns of doubles, then of bytes, targets of each output, and a weight per row.
#[derive(Clone)]
pub struct Sample {
    pub doubles: Vec<Vec<f64>>,
    pub bytes: Vec<Vec<u8>>,
    pub targets: Vec<Vec<f64>>,
    pub weights: Vec<f64>,
}

impl Sample {
    /// Creates a sample of doubles only, with all weights 1.
    pub fn new(doubles: Vec<Vec<f64>>, targets: Vec<Vec<f64>>) -> Self {
        let weights = vec![1.0; targets[0].len()];
        Sample { doubles, bytes: Vec::new(), targets, weights }
    }

    pub fn count(&self) -> usize {
        self.weights.len()
    }

    pub fn columns(&self) -> Vec<Column<'_>> {
        let doubles = self.doubles.iter().map(|x| Column::Double(x));
        doubles.chain(self.bytes.iter().map(|x| Column::Byte(x))).collect()
    }

    pub fn data(&self, weighted: bool, intercept: bool) -> Arc<Data<'_>> {
        let targets: Vec<&[f64]> = self.targets.iter().map(Vec::as_slice).collect();
        let weights = weighted.then_some(&self.weights[..]);
        Arc::new(Data::new(self.columns().into_iter().collect(), &targets, weights, intercept, None).unwrap())
    }

    pub fn rows(&self, folds: &[u32], weighted: bool, intercept: bool, standardize: bool) -> FoldedRows<'_> {
        FoldedRows::new(self.data(weighted, intercept), Folds::new(folds), standardize)
    }

    pub fn entry(&self, column: usize, row: usize) -> f64 {
        let bytes = self.doubles.len();
        if column < bytes { self.doubles[column][row] } else { f64::from(self.bytes[column - bytes][row]) }
    }

    pub fn weight(&self, weighted: bool, row: usize) -> f64 {
        if weighted { self.weights[row] } else { 1.0 }
    }

    /// Returns the columns of a subset, rows × columns.
    pub fn matrix(&self, subset: &[usize], rows: &[usize]) -> Array2<f64> {
        Array2::from_shape_fn((rows.len(), subset.len()), |(j, k)| self.entry(subset[k], rows[j]))
    }

    /// Returns the targets, outputs × rows.
    pub fn outputs(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.targets.len(), self.count()), |(o, j)| self.targets[o][j])
    }

    /// Returns residuals of the rows `held` for a fit on the rows `training`, outputs × held.
    pub fn residuals(
        &self,
        training: &[usize],
        held: &[usize],
        subset: &[usize],
        lambda: f64,
        weighted: bool,
        intercept: bool,
    ) -> Array2<f64> {
        let y = self.outputs();
        let weights: Vec<f64> = training.iter().map(|&j| self.weight(weighted, j)).collect();
        let x = self.matrix(subset, training);
        let ridge = Ridge::new(x.view(), y.select(Axis(1), training).view(), Some(&weights), intercept).unwrap();
        let (coefficients, offsets) = ridge.coefficients(lambda).unwrap();
        let fitted = self.matrix(subset, held).dot(&coefficients) + ndarray::Array1::from(offsets);
        y.select(Axis(1), held) - fitted.t()
    }

    /// Computes the leave-one-out mean squared error by refitting.
    pub fn leave_one_out(&self, subset: &[usize], lambda: f64, weighted: bool, intercept: bool) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for row in 0..self.count() {
            let others: Vec<usize> = (0..self.count()).filter(|&other| other != row).collect();
            let weight = self.weight(weighted, row);
            let residuals = self.residuals(&others, &[row], subset, lambda, weighted, intercept);
            sum += weight * residuals.mapv(|e| e * e).sum();
            total += weight;
        }
        sum / (self.targets.len() as f64 * total)
    }
}

/// Sums of squared errors over folds, and the conditioning, for each λ.
pub fn sums(losses: &[(Vec<f64>, f64)]) -> (Vec<f64>, Vec<f64>) {
    losses.iter().map(|(fold_losses, conditioning)| (fold_losses.iter().sum::<f64>(), *conditioning)).unzip()
}

pub fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
