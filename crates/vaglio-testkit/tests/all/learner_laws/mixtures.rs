//! Ridge regression on mixtures of all columns, with one fault.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{
    Coefficients, Columns, Design, Error, Feature, FeatureMap, Learner, Model, ModelData, Problem, Readout, ReadoutMap,
    Result, TrainedReadout, saved,
};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Fault {
    None,
    RandomPerCall,
    Batch,
    ColumnOrder,
    UnsavedField,
    TargetsInMap,
    ChecksNothing,
}

pub const FAULTS: [(Fault, &str); 6] = [
    (Fault::RandomPerCall, "retrained"),
    (Fault::Batch, "rows_alone"),
    (Fault::ColumnOrder, "retrained"),
    (Fault::UnsavedField, "saved"),
    (Fault::TargetsInMap, "targets_unseen"),
    (Fault::ChecksNothing, "damaged"),
];

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// The learner; there are as many mixtures as columns.
#[saved(Learner, "mixtures")]
pub struct Mixed {
    pub fault: Fault,
}

impl Learner for Mixed {
    fn readout(&self) -> Result<Option<Readout>> {
        Readout::new(vec![1.0], true).map(Some)
    }

    fn design(&self, problem: &Problem, readout: Readout) -> Result<Design> {
        let count = problem.columns().len();
        let by = match self.fault {
            Fault::RandomPerCall => 1.0 + CALLS.fetch_add(1, Ordering::SeqCst) as f64,
            Fault::TargetsInMap => 1.0 + problem.targets()[[0, 0]].abs(),
            _ => 1.0,
        };
        let rows = (0..count).map(|k| (0..count).map(|j| by * ((2 + k * 7 + j * j * 3) % 11) as f64).collect());
        let mixtures = Mixtures { inputs: (0..count).collect(), rows: rows.collect(), shift: 1.0, fault: self.fault };
        let columns = mixtures.mix(problem.columns());
        let names = (0..count).map(|k| format!("mixture {k}")).collect();
        Design::from_map(problem, columns, names, readout, Arc::new(mixtures))
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mixtures {
    inputs: Vec<Feature>,
    /// Coefficients of each feature on the inputs.
    rows: Vec<Vec<f64>>,
    #[serde(skip)]
    shift: f64,
    fault: Fault,
}

impl Mixtures {
    fn mix(&self, inputs: &Columns) -> Columns {
        let mut features = Columns::new(inputs.rows());
        for shares in &self.rows {
            let entry = |row: usize| -> f64 { shares.iter().zip(inputs.iter()).map(|(s, x)| s * x.get(row)).sum() };
            let mut values: Vec<f64> = (0..inputs.rows()).map(entry).collect();
            let mean = values.iter().sum::<f64>() / inputs.rows() as f64;
            match self.fault {
                Fault::Batch => values.iter_mut().for_each(|v| *v -= mean),
                Fault::UnsavedField => values.iter_mut().for_each(|v| *v = (*v + 8.0 * self.shift).abs()),
                _ => {}
            }
            features.push(values);
        }
        features
    }
}

impl FeatureMap for Mixtures {
    fn model(&self, subset: &[Feature], lambda: f64, coefficients: Coefficients) -> Result<Model> {
        let mut picked = subset.to_vec();
        if self.fault == Fault::ColumnOrder {
            picked.sort_unstable();
        }
        let rows = picked.iter().map(|&f| self.rows[f].clone()).collect();
        Model::new(MixedModel { map: Mixtures { rows, ..self.clone() }, lambda, coefficients })
    }
}

#[saved(ModelData, "mixtures_model")]
struct MixedModel {
    map: Mixtures,
    lambda: f64,
    coefficients: Coefficients,
}

impl ModelData for MixedModel {
    fn inputs(&self) -> &[Feature] {
        &self.map.inputs
    }

    fn readout(&self) -> Option<TrainedReadout<'_>> {
        Some(TrainedReadout { lambda: self.lambda, coefficients: &self.coefficients, map: Some(&self.map) })
    }
}

impl ReadoutMap for Mixtures {
    fn check(&self) -> Result<()> {
        let fit = self.rows.iter().all(|row| row.len() == self.inputs.len()) || self.fault == Fault::ChecksNothing;
        if fit { Ok(()) } else { Err(Error::Shape("a mixture of another number of columns".into())) }
    }

    fn count(&self) -> usize {
        self.rows.len()
    }

    fn features(&self, inputs: &Columns, _: Option<&[u32]>) -> Result<Columns> {
        Ok(self.mix(inputs))
    }
}
