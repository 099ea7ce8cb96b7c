//! The trained machine.

use crate::features::columns_of;
use crate::similarity::KernelFunction;
use vaglio_core::{Error, Result, prelude::*};

/// A readout of selected kernel components, or of selected landmarks' kernels; stores only these and the landmarks.
#[saved(ModelData, "fs_ls_svm_model")]
pub(crate) struct LsSvmModel {
    pub inputs: Vec<Feature>,
    pub kernel: KernelFunction,
    /// Landmarks × inputs.
    pub landmarks: Vec<Vec<f64>>,
    /// Components × landmarks; `None` if the features are the landmarks' kernels.
    #[optional]
    pub components: Option<Vec<Vec<f64>>>,
    pub lambda: f64,
    pub coefficients: Coefficients,
}

impl ModelData for LsSvmModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn readout(&self) -> Option<TrainedReadout<'_>> {
        Some(TrainedReadout { lambda: self.lambda, coefficients: &self.coefficients, map: Some(self) })
    }
}

/// Rejects parts of a saved model that do not fit together.
///
/// # Errors
/// [`Error::Shape`].
pub(crate) fn check_parts(
    inputs: &[Feature],
    kernel: KernelFunction,
    landmarks: &[Vec<f64>],
    components: &[Vec<f64>],
) -> Result<()> {
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
    if !landmarks.iter().chain(components).flatten().all(|v| v.is_finite()) {
        return refused("a landmark or a component holds a number that is not finite");
    }
    Ok(())
}

impl ReadoutMap for LsSvmModel {
    fn check(&self) -> Result<()> {
        let LsSvmModel { inputs, kernel, landmarks, components, .. } = self;
        check_parts(inputs, *kernel, landmarks, components.as_deref().unwrap_or_default())
    }

    fn count(&self) -> usize {
        self.components.as_ref().map_or(self.landmarks.len(), Vec::len)
    }

    fn features(&self, inputs: &Columns, _series: Option<&[u32]>) -> Result<Columns> {
        columns_of(self.kernel, &self.landmarks, self.components.as_deref(), inputs)
    }
}
