//! Model of nearest neighbours: the training rows.

use crate::neighbours::each_nearest;
use ndarray::{Array1, Array2, ArrayView1};
use vaglio_core::{Error, Result, prelude::*, row_weights};

/// Maximum number of neighbours.
pub(crate) const MOST: usize = 1_000_000;

/// Weights of neighbours.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Weights {
    /// All equal.
    #[default]
    Uniform,
    /// Inverse to their distance.
    Distance,
}

/// Training rows with their targets.
#[saved(ModelData, "neighbours")]
pub(crate) struct NeighboursModel {
    pub inputs: Vec<Feature>,
    pub neighbours: usize,
    pub weights: Weights,
    /// Rows × inputs.
    pub rows: Array2<f64>,
    /// Outputs × rows.
    pub targets: Array2<f64>,
    pub row_weights: Option<Vec<f64>>,
}

impl ModelData for NeighboursModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn check(&self) -> Result<()> {
        let NeighboursModel { inputs, neighbours, rows, targets, row_weights, .. } = self;
        let (outputs, count) = targets.dim();
        let fit = rows.dim() == (count, inputs.len()) && row_weights.as_ref().is_none_or(|w| w.len() == count);
        let finite = rows.iter().chain(targets).chain(row_weights.iter().flatten()).all(|v| v.is_finite());
        let positive = row_weights.iter().flatten().all(|w| *w > 0.0);
        if !(fit && finite && positive && count > 0 && outputs > 0) {
            let found = format!("{:?} values and {outputs} × {count} targets for {} inputs", rows.dim(), inputs.len());
            return Err(Error::Shape(format!("{found} do not fit together, are not finite, or weigh nothing")));
        }
        Error::unless_between("neighbours", *neighbours, 1..=MOST)
    }

    fn predict(&self, inputs: &Columns, _series: Option<&[u32]>) -> Result<Array2<f64>> {
        // Without columns all distances are equal.
        let k = if inputs.is_empty() { f64::INFINITY } else { self.neighbours as f64 };
        let mut out = Array2::zeros((self.targets.nrows(), inputs.rows()));
        let mean = |point, near: &[(usize, f64)]| out.column_mut(point).assign(&self.mean(near, k));
        each_nearest(&self.rows, |row| self.weight(row), inputs, k, mean)?;
        Ok(out)
    }
}

impl NeighboursModel {
    fn weight(&self, row: usize) -> f64 {
        row_weights(self.row_weights.as_deref())(row)
    }

    /// Σ s v y / Σ s v for each output, over the first rows whose weights reach k.
    fn mean(&self, near: &[(usize, f64)], k: f64) -> Array1<f64> {
        // v relative to that of the nearest row, so that it is between 0 and 1.
        let vote = |distance: f64| match self.weights {
            Weights::Distance if distance > near[0].1 => near[0].1 / distance,
            _ => 1.0,
        };
        let share = |left: &mut f64, (row, distance): &(usize, f64)| {
            let taken = self.weight(*row).min(*left);
            *left -= self.weight(*row);
            (taken > 0.0).then(|| (*row, taken * vote(*distance)))
        };
        let shares: Vec<(usize, f64)> = near.iter().scan(k, share).collect();
        // Scaled to a largest share of 1, so that no sum over- or underflows.
        let largest = shares.iter().fold(0.0, |most: f64, (_, share)| most.max(*share));
        let total: f64 = shares.iter().map(|(_, share)| share / largest).sum();
        let mean = |y: ArrayView1<f64>| shares.iter().map(|(row, share)| share / largest / total * y[*row]).sum();
        self.targets.rows().into_iter().map(mean).collect()
    }
}
