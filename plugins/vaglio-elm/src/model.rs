//! Trained extreme learning machines.

use crate::hidden_layer::{self, Activation, HiddenUnit};
use serde::{Deserialize, Serialize};
use vaglio_core::{Error, Result, prelude::*};

/// The hidden layer as drawn, with all its units.
#[derive(Debug)]
pub(crate) struct RandomLayer {
    pub activation: Activation,
    pub units: Vec<HiddenUnit>,
    /// Number of the problem's columns.
    pub inputs: usize,
    /// Whether the problem's columns follow the units.
    pub direct: bool,
}

impl FeatureMap for RandomLayer {
    fn model(&self, subset: &[Feature], lambda: f64, coefficients: Coefficients) -> Result<Model> {
        let own = |feature: Feature| feature.checked_sub(self.units.len()).filter(|i| self.direct && *i < self.inputs);
        if let Some(unknown) = subset.iter().find(|f| **f >= self.units.len() && own(**f).is_none()) {
            return Err(Error::Shape(format!("the hidden layer makes no column {unknown}")));
        }
        let direct = subset.iter().filter_map(|&f| own(f));
        let mut inputs: Vec<Feature> =
            if subset.iter().any(|f| *f < self.units.len()) { (0..self.inputs).collect() } else { direct.collect() };
        inputs.sort_unstable();
        inputs.dedup();
        let mut units = Vec::new();
        let mut columns = Vec::with_capacity(subset.len());
        for &feature in subset {
            columns.push(match own(feature) {
                Some(input) => ColumnSource::Input(inputs.partition_point(|i| *i < input)),
                None => {
                    units.extend(self.units.get(feature).cloned());
                    ColumnSource::Unit(units.len() - 1)
                }
            });
        }
        Model::new(ElmModel { inputs, activation: self.activation, units, columns, lambda, coefficients })
    }
}

/// Source of a column.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ColumnSource {
    /// Output of the model's unit with this index.
    Unit(usize),
    /// The model's input with this index.
    Input(usize),
}

/// A readout of selected hidden units and inputs; other units are dropped.
#[saved(ModelData, "elm_model")]
struct ElmModel {
    inputs: Vec<Feature>,
    activation: Activation,
    units: Vec<HiddenUnit>,
    columns: Vec<ColumnSource>,
    lambda: f64,
    coefficients: Coefficients,
}

impl ModelData for ElmModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn readout(&self) -> Option<TrainedReadout<'_>> {
        Some(TrainedReadout { lambda: self.lambda, coefficients: &self.coefficients, map: Some(self) })
    }
}

impl ReadoutMap for ElmModel {
    fn check(&self) -> Result<()> {
        let ElmModel { inputs, units, columns, .. } = self;
        let refused = |what: &str| Err(Error::Shape(what.into()));
        if !inputs.is_sorted_by(|a, b| a < b) {
            return refused("the inputs are not in increasing order");
        }
        if units.iter().any(|unit| unit.weights.len() != inputs.len()) {
            return refused("a hidden unit has not one weight for each input");
        }
        let is_there = |source: &ColumnSource| match *source {
            ColumnSource::Unit(unit) => unit < units.len(),
            ColumnSource::Input(input) => input < inputs.len(),
        };
        if !columns.iter().all(is_there) {
            return refused("a column comes from a unit or an input that is not there");
        }
        if !units.iter().flat_map(|unit| unit.weights.iter().chain([&unit.bias])).all(|v| v.is_finite()) {
            return refused("a hidden unit holds a number that is not finite");
        }
        Ok(())
    }

    fn count(&self) -> usize {
        self.columns.len()
    }

    fn expressions(&self, inputs: &[Expression]) -> Option<Vec<Expression>> {
        let expression = |source: &ColumnSource| match *source {
            ColumnSource::Unit(unit) => Some(self.activation.expression(self.units.get(unit)?, inputs)),
            ColumnSource::Input(input) => inputs.get(input).cloned(),
        };
        self.columns.iter().map(expression).collect()
    }

    fn features(&self, inputs: &Columns, _series: Option<&[u32]>) -> Result<Columns> {
        let mut all = hidden_layer::outputs(self.activation, &self.units, inputs)?;
        let mut places = Vec::with_capacity(self.columns.len());
        for source in &self.columns {
            places.push(match *source {
                ColumnSource::Unit(unit) => unit,
                ColumnSource::Input(input) => {
                    all.push(inputs.column(input));
                    all.len() - 1
                }
            });
        }
        // Columns are already in the order of the subset, unless units and inputs alternate.
        Ok(if places.is_sorted_by(|a, b| a < b) && places.len() == all.len() { all } else { all.select(&places) })
    }
}
