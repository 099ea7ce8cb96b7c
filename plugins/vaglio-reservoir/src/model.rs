//! A trained reservoir.

use crate::network::Network;
use ndarray::{Array2, Axis, s};
use std::ops::Range;
use vaglio_core::{Error, Result, prelude::*};

/// Unit of prediction.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Decision {
    /// Every row by itself.
    #[default]
    Step,
    /// Every series: predictions are averaged over its rows after warm-up.
    Series,
}

/// A linear readout of a network's states, with the part of the network that it needs.
#[saved(ModelData, "reservoir")]
struct EchoState {
    inputs: Vec<Feature>,
    leak_rate: f64,
    warmup: usize,
    decision: Decision,
    network: Network,
    /// Features of the readout: nodes of the network, followed by its inputs.
    chosen: Vec<usize>,
    lambda: f64,
    coefficients: Coefficients,
}

impl ModelData for EchoState {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn readout(&self) -> Option<TrainedReadout<'_>> {
        Some(TrainedReadout { lambda: self.lambda, coefficients: &self.coefficients, map: Some(self) })
    }

    fn counts(&self, rows: usize, series: Option<&[u32]>) -> Option<Vec<f64>> {
        if self.decision == Decision::Step && self.warmup == 0 {
            return None;
        }
        let series_states = |rows: Range<usize>| {
            (0..rows.len()).map(move |step| match self.decision {
                Decision::Step if step < self.warmup => 0.0,
                Decision::Step => 1.0,
                Decision::Series => 1.0 / rows.len() as f64,
            })
        };
        Some(series_rows(rows, series).ok()?.into_iter().flat_map(series_states).collect())
    }
}

impl ReadoutMap for EchoState {
    fn check(&self) -> Result<()> {
        self.network.check(self.inputs.len())?;
        let known = self.network.nodes() + self.inputs.len();
        if let Some(unknown) = self.chosen.iter().find(|&&column| column >= known) {
            return Err(Error::Shape(format!("the readout stands on column {unknown} of {known}")));
        }
        if !(self.leak_rate > 0.0 && self.leak_rate <= 1.0) {
            return Err(Error::Shape(format!("the leak rate {} is not between 0 and 1", self.leak_rate)));
        }
        Ok(())
    }

    fn count(&self) -> usize {
        self.chosen.len()
    }

    /// Computes the features. Cost O(rows · (connections + nodes · inputs)).
    fn features(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Columns> {
        let series = series_rows(inputs.rows(), series)?;
        let nodes = self.network.nodes();
        let wanted: Vec<usize> = self.chosen.iter().copied().filter(|&column| column < nodes).collect();
        let mut states = self.network.states(self.leak_rate, inputs, &series, &wanted)?.into_iter();
        let mut features = Columns::new(inputs.rows());
        for &column in &self.chosen {
            match column.checked_sub(nodes) {
                Some(input) => features.push(inputs.column(input)),
                None => features.push(states.next().unwrap_or_default()),
            }
        }
        Ok(features)
    }

    /// With `decision: series`, averages over the rows of each series after the warm-up.
    fn decide(&self, mut predictions: Array2<f64>, series: Option<&[u32]>) -> Result<Array2<f64>> {
        if self.decision == Decision::Step {
            return Ok(predictions);
        }
        for (k, rows) in series_rows(predictions.ncols(), series)?.into_iter().enumerate() {
            let length = rows.len();
            if length <= self.warmup {
                return Err(Error::Shape(format!(
                    "series {} has {length} rows, and the model decides by those after {} of warm-up",
                    k + 1,
                    self.warmup
                )));
            }
            let mut rows = predictions.slice_mut(s![.., rows]);
            for mut output in rows.axis_iter_mut(Axis(0)) {
                let counted = output.iter().skip(self.warmup);
                let mean = counted.sum::<f64>() / (length - self.warmup) as f64;
                output.fill(mean);
            }
        }
        Ok(predictions)
    }
}

/// Map from a problem's columns to the states of a network, followed by the columns themselves.
#[derive(Debug)]
pub(crate) struct States {
    pub network: Network,
    /// Spectral radius of W before rescaling.
    pub drawn_radius: f64,
    /// Number of the problem's columns.
    pub inputs: usize,
    pub leak_rate: f64,
    pub warmup: usize,
    pub decision: Decision,
}

impl FeatureMap for States {
    fn model(&self, subset: &[Feature], lambda: f64, coefficients: Coefficients) -> Result<Model> {
        let nodes = self.network.nodes();
        if let Some(unknown) = subset.iter().find(|&&column| column >= nodes + self.inputs) {
            return Err(Error::Shape(format!("the map makes no column {unknown}")));
        }
        let wanted: Vec<usize> = subset.iter().copied().filter(|&column| column < nodes).collect();
        let direct: Vec<Feature> = subset.iter().filter_map(|&column| column.checked_sub(nodes)).collect();
        let (network, kept, inputs) = self.network.reaching(&wanted, &direct);
        let place = |&column: &usize| match column.checked_sub(nodes) {
            None => kept.binary_search(&column),
            Some(input) => inputs.binary_search(&input).map(|at| kept.len() + at),
        };
        let chosen: Result<Vec<usize>, usize> = subset.iter().map(place).collect();
        let chosen = chosen.map_err(|at| Error::Shape(format!("the map has lost column {at}")))?;
        let States { leak_rate, warmup, decision, .. } = *self;
        Model::new(EchoState { inputs, leak_rate, warmup, decision, network, chosen, lambda, coefficients })
    }

    fn found(&self) -> PartOutputs {
        PartOutputs::new("connections", self.network.sources.len()).and("drawn_spectral_radius", self.drawn_radius)
    }
}

/// Rows of each of the consecutive series; one series if none are given.
pub(crate) fn series_rows(rows: usize, series: Option<&[u32]>) -> Result<Vec<Range<usize>>> {
    let Some(series) = series else { return Ok(std::iter::once(0..rows).collect()) };
    if series.len() != rows {
        return Err(Error::Shape(format!("{} series for {rows} rows", series.len())));
    }
    let mut end = 0;
    let next = |own: &[u32]| {
        end += own.len();
        end - own.len()..end
    };
    Ok(series.chunk_by(|a, b| a == b).map(next).collect())
}
