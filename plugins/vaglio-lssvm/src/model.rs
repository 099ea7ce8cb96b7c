//! The trained machine.

use crate::components::columns_of;
use crate::kernel::Fixed;
use serde::{Deserialize, Serialize};
use vaglio_core::{Coefficients, Columns, Error, Feature, Model, Result, Trained, check_inputs};

/// A readout of some components of a kernel: no other component is kept, and no row but the landmarks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct LsSvmModel {
    inputs: Vec<Feature>,
    kernel: Fixed,
    /// Landmarks × inputs.
    landmarks: Vec<Vec<f64>>,
    /// Components × landmarks.
    components: Vec<Vec<f64>>,
    lambda: f64,
    coefficients: Coefficients,
}

/// What a file holds, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    inputs: Vec<Feature>,
    kernel: Fixed,
    landmarks: Vec<Vec<f64>>,
    components: Vec<Vec<f64>>,
    lambda: f64,
    coefficients: Coefficients,
}

impl TryFrom<Stored> for LsSvmModel {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { inputs, kernel, landmarks, components, lambda, coefficients } = stored;
        let refused = |what: &str| Err(Error::Shape(what.into()));
        if !inputs.is_sorted_by(|a, b| a < b) {
            return refused("the inputs are not in increasing order");
        }
        if !kernel.is_valid() {
            return refused("the kernel has a number that it cannot have");
        }
        if landmarks.iter().any(|landmark| landmark.len() != inputs.len()) {
            return refused("a landmark has not one number for each input");
        }
        if components.iter().any(|component| component.len() != landmarks.len()) {
            return refused("a component has not one number for each landmark");
        }
        coefficients.check(components.len())?;
        let finite = |all: &[f64]| all.iter().all(|v| v.is_finite());
        let map = landmarks.iter().chain(&components).all(|row| finite(row));
        if !(map && lambda.is_finite()) {
            return refused("the model holds a number that is not finite");
        }
        Ok(LsSvmModel { inputs, kernel, landmarks, components, lambda, coefficients })
    }
}

impl LsSvmModel {
    pub(crate) fn new(
        inputs: Vec<Feature>,
        kernel: Fixed,
        landmarks: Vec<Vec<f64>>,
        components: Vec<Vec<f64>>,
        readout: Trained,
    ) -> Self {
        let Trained { lambda, coefficients } = readout;
        LsSvmModel { inputs, kernel, landmarks, components, lambda, coefficients }
    }
}

#[typetag::serde(name = "fs_ls_svm_model")]
impl Model for LsSvmModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn columns(&self, inputs: &Columns, _series: Option<&[u32]>) -> Result<Option<Columns>> {
        check_inputs(inputs, self.inputs.len())?;
        let columns: Vec<_> = inputs.iter().collect();
        columns_of(self.kernel, &self.landmarks, &self.components, &columns, inputs.rows()).map(Some)
    }

    fn lambda(&self) -> Option<f64> {
        Some(self.lambda)
    }

    fn coefficients(&self) -> Option<&Coefficients> {
        Some(&self.coefficients)
    }
}
