//! A trained reservoir.

use crate::network::Network;
use crate::{Decision, lengths};
use ndarray::{Array2, Axis, s};
use serde::{Deserialize, Serialize};
use vaglio_core::{Coefficients, Columns, Error, Feature, FeatureMap, Model, Result, Trained, check_inputs};

/// A linear readout of the states of a network, with the part of the network that it needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct EchoState {
    inputs: Vec<Feature>,
    leak_rate: f64,
    warmup: usize,
    decision: Decision,
    network: Network,
    /// What the readout stands on: nodes of the network, and after these its inputs.
    chosen: Vec<usize>,
    lambda: f64,
    coefficients: Coefficients,
}

/// What a file holds, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    inputs: Vec<Feature>,
    leak_rate: f64,
    warmup: usize,
    decision: Decision,
    network: Network,
    chosen: Vec<usize>,
    lambda: f64,
    coefficients: Coefficients,
}

impl TryFrom<Stored> for EchoState {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { inputs, leak_rate, warmup, decision, network, chosen, lambda, coefficients } = stored;
        network.check(inputs.len())?;
        coefficients.check(chosen.len())?;
        let known = network.nodes() + inputs.len();
        if let Some(unknown) = chosen.iter().find(|&&column| column >= known) {
            return Err(Error::Shape(format!("the readout stands on column {unknown} of {known}")));
        }
        if !(lambda.is_finite() && leak_rate > 0.0 && leak_rate <= 1.0) {
            return Err(Error::Shape("a number of the model is out of its range".into()));
        }
        Ok(EchoState { inputs, leak_rate, warmup, decision, network, chosen, lambda, coefficients })
    }
}

impl EchoState {
    /// The columns that the readout stands on. Cost O(rows · (connections + nodes · inputs)).
    fn chosen(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Columns> {
        check_inputs(inputs, self.inputs.len())?;
        let lengths = lengths(inputs.rows(), series)?;
        let nodes = self.network.nodes();
        let wanted: Vec<usize> = self.chosen.iter().copied().filter(|&column| column < nodes).collect();
        let mut states = self.network.states(self.leak_rate, inputs, &lengths, &wanted)?.into_iter();
        let mut columns = Columns::new(inputs.rows());
        for &column in &self.chosen {
            match column.checked_sub(nodes) {
                Some(input) => columns.push(inputs.column(input).values().into_owned()),
                None => columns.push(states.next().unwrap_or_default()),
            }
        }
        Ok(columns)
    }
}

#[typetag::serde(name = "reservoir")]
impl Model for EchoState {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn predict(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Array2<f64>> {
        let mut predictions = self.coefficients.of_columns(&self.chosen(inputs, series)?)?;
        if self.decision == Decision::Step {
            return Ok(predictions);
        }
        let mut start = 0;
        for (k, length) in lengths(inputs.rows(), series)?.into_iter().enumerate() {
            if length <= self.warmup {
                return Err(Error::Shape(format!(
                    "series {} has {length} rows, and the model decides by those after {} of warm-up",
                    k + 1,
                    self.warmup
                )));
            }
            let mut rows = predictions.slice_mut(s![.., start..start + length]);
            for mut output in rows.axis_iter_mut(Axis(0)) {
                let counted = output.iter().skip(self.warmup);
                let mean = counted.sum::<f64>() / (length - self.warmup) as f64;
                output.fill(mean);
            }
            start += length;
        }
        Ok(predictions)
    }

    fn columns(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Option<Columns>> {
        self.chosen(inputs, series).map(Some)
    }

    fn counts(&self, rows: usize, series: Option<&[u32]>) -> Option<Vec<f64>> {
        if self.decision == Decision::Step && self.warmup == 0 {
            return None;
        }
        let of_series = |length: usize| {
            (0..length).map(move |step| match self.decision {
                Decision::Step if step < self.warmup => 0.0,
                Decision::Step => 1.0,
                Decision::Series => 1.0 / length as f64,
            })
        };
        Some(lengths(rows, series).ok()?.into_iter().flat_map(of_series).collect())
    }

    fn lambda(&self) -> Option<f64> {
        Some(self.lambda)
    }

    fn coefficients(&self) -> Option<&Coefficients> {
        Some(&self.coefficients)
    }
}

/// The map from a problem's columns to the states of a network, followed by the columns themselves.
#[derive(Debug)]
pub(crate) struct States {
    pub network: Network,
    /// How many columns the problem has.
    pub inputs: usize,
    pub leak_rate: f64,
    pub warmup: usize,
    pub decision: Decision,
}

impl FeatureMap for States {
    fn model(&self, subset: &[Feature], readout: Trained) -> Result<Box<dyn Model>> {
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
        let chosen: std::result::Result<Vec<usize>, usize> = subset.iter().map(place).collect();
        let chosen = chosen.map_err(|at| Error::Shape(format!("the map has lost column {at}")))?;
        let Trained { lambda, coefficients } = readout;
        let States { leak_rate, warmup, decision, .. } = *self;
        Ok(Box::new(EchoState { inputs, leak_rate, warmup, decision, network, chosen, lambda, coefficients }))
    }
}
