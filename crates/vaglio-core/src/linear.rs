//! The model of a readout of columns as they are.

use crate::{Coefficients, Error, Feature, FeatureMap, Model, Result, Trained};
use serde::{Deserialize, Serialize};

/// A linear readout of columns as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Linear {
    inputs: Vec<Feature>,
    lambda: f64,
    coefficients: Coefficients,
}

/// What a file holds, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    inputs: Vec<Feature>,
    lambda: f64,
    coefficients: Coefficients,
}

impl TryFrom<Stored> for Linear {
    type Error = Error;

    fn try_from(Stored { inputs, lambda, coefficients }: Stored) -> Result<Self> {
        coefficients.check(inputs.len())?;
        Ok(Linear { inputs, lambda, coefficients })
    }
}

#[typetag::serde(name = "linear")]
impl Model for Linear {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn lambda(&self) -> Option<f64> {
        Some(self.lambda)
    }

    fn coefficients(&self) -> Option<&Coefficients> {
        Some(&self.coefficients)
    }
}

/// No map at all: columns stand for themselves.
#[derive(Debug)]
pub(crate) struct Identity;

impl FeatureMap for Identity {
    fn model(&self, subset: &[Feature], readout: Trained) -> Result<Box<dyn Model>> {
        let Trained { lambda, coefficients } = readout;
        Ok(Box::new(Linear { inputs: subset.to_vec(), lambda, coefficients }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_whose_parts_do_not_fit_is_refused() {
        let good = r#"{"inputs":[3,1],"lambda":0.5,"coefficients":{"weights":{"v":1,"dim":[2,1],"data":[1.0,2.0]},"intercept":[0.5]}}"#;
        let linear: Linear = serde_json::from_str(good).unwrap();
        assert_eq!(serde_json::to_string(&linear).unwrap(), good);
        for (from, to) in [("[3,1]", "[3]"), ("[0.5]", "[]"), ("[2,1]", "[1,2]"), ("\"lambda\"", "\"lamda\"")] {
            assert!(serde_json::from_str::<Linear>(&good.replacen(from, to, 1)).is_err(), "{to}");
        }
    }
}
