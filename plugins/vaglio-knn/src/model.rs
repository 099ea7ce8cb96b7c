//! The training rows as a model.

use crate::neighbours::{Near, Search};
use crate::{MOST, Weights};
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use vaglio_core::{Columns, Error, Feature, Model, Result, check_inputs};

/// The training rows with their targets: all that nearest neighbours need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct NeighboursModel(Stored);

/// What a file holds; checked when it becomes a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stored {
    pub inputs: Vec<Feature>,
    pub neighbours: usize,
    pub weights: Weights,
    /// Rows × chosen columns.
    pub rows: Array2<f64>,
    /// Outputs × rows.
    pub targets: Array2<f64>,
    pub row_weights: Option<Vec<f64>>,
}

impl From<NeighboursModel> for Stored {
    fn from(model: NeighboursModel) -> Self {
        model.0
    }
}

impl TryFrom<Stored> for NeighboursModel {
    type Error = Error;

    fn try_from(mut stored: Stored) -> Result<Self> {
        let (rows, outputs) = (stored.targets.ncols(), stored.targets.nrows());
        let weights = stored.row_weights.as_deref();
        let fit = stored.rows.dim() == (rows, stored.inputs.len()) && weights.is_none_or(|w| w.len() == rows);
        if !fit || rows == 0 || outputs == 0 {
            return Err(Error::Shape(format!(
                "{:?} stored values, {outputs} × {rows} targets and {} inputs do not fit together",
                stored.rows.dim(),
                stored.inputs.len()
            )));
        }
        if !(1..=MOST).contains(&stored.neighbours) {
            return Err(Error::Shape(format!("{} neighbours is not between 1 and {MOST}", stored.neighbours)));
        }
        let finite = stored.rows.iter().chain(&stored.targets).all(|v| v.is_finite());
        if !finite || weights.is_some_and(|w| w.iter().any(|w| !(w.is_finite() && *w > 0.0))) {
            return Err(Error::Shape("stored values must be finite, and row weights positive".into()));
        }
        // A tree takes each row as one slice.
        if !stored.rows.is_standard_layout() {
            stored.rows = stored.rows.as_standard_layout().into_owned();
        }
        Ok(NeighboursModel(stored))
    }
}

impl Stored {
    fn weight(&self, row: usize) -> f64 {
        self.row_weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// Σ s v y / Σ s v for each output.
    fn mean(&self, shares: &[(usize, f64)]) -> Array1<f64> {
        // Shares are ratios: the largest becomes 1, so that no sum of them over- or underflows.
        let largest = shares.iter().fold(0.0, |most: f64, (_, share)| most.max(*share));
        let total: f64 = shares.iter().map(|(_, share)| share / largest).sum();
        let of =
            |y: ndarray::ArrayView1<f64>| shares.iter().map(|(row, share)| share / largest / total * y[*row]).sum();
        self.targets.rows().into_iter().map(of).collect()
    }

    /// The shares s·v of the neighbours among `near`, which are in order of distance and reach k.
    fn shares(&self, near: &[Near]) -> Vec<(usize, f64)> {
        let mut left = self.neighbours as f64;
        let mut taken = Vec::new();
        for &Near { row, distance } in near {
            if left <= 0.0 {
                break;
            }
            taken.push((row, self.weight(row).min(left), distance));
            left -= self.weight(row);
        }
        // v is the ratio of the smallest distance to the row's, which lies between 0 and 1.
        let nearest = taken.first().map_or(0.0, |(_, _, distance)| *distance);
        let vote = |distance: f64| match self.weights {
            Weights::Uniform => 1.0,
            Weights::Distance if nearest == 0.0 => f64::from(u8::from(distance == 0.0)),
            Weights::Distance => nearest / distance,
        };
        taken.into_iter().map(|(row, share, distance)| (row, share * vote(distance))).collect()
    }
}

#[typetag::serde(name = "neighbours")]
impl Model for NeighboursModel {
    fn inputs(&self) -> &[Feature] {
        &self.0.inputs
    }

    fn predict(&self, inputs: &Columns, _series: Option<&[u32]>) -> Result<Array2<f64>> {
        let stored = &self.0;
        check_inputs(inputs, stored.inputs.len())?;
        let rows = stored.targets.ncols();
        let mut out = Array2::zeros((stored.targets.nrows(), inputs.rows()));
        if inputs.is_empty() {
            let all: Vec<(usize, f64)> = (0..rows).map(|row| (row, stored.weight(row))).collect();
            let mean = stored.mean(&all);
            out.columns_mut().into_iter().for_each(|mut column| column.assign(&mean));
            return Ok(out);
        }
        let points = inputs.matrix(&(0..inputs.len()).collect::<Vec<_>>());
        let search = Search::new(&stored.rows, points.as_standard_layout().into_owned());
        let index = search.index()?;
        for (point, mut to) in out.columns_mut().into_iter().enumerate() {
            let mut wanted = stored.neighbours.min(rows);
            let near = loop {
                let near = search.nearest(&*index, point, wanted)?;
                let weight: f64 = near.iter().map(|near| stored.weight(near.row)).sum();
                if wanted == rows || weight >= stored.neighbours as f64 {
                    break near;
                }
                wanted = (2 * wanted).min(rows);
            };
            to.assign(&stored.mean(&stored.shares(&near)));
        }
        Ok(out)
    }
}
