//! Kernel components on landmarks.

use crate::FsLsSvm;
use crate::entropy::{LandmarkSelection, select_landmarks};
use crate::features::{columns_of, overflow};
use crate::kernel_inputs::{KernelInputs, shuffle};
use crate::model::LsSvmModel;
use crate::similarity::KernelFunction;
use ndarray::Array2;
use vaglio_core::{Column, Error, Result, prelude::*};
use vaglio_kernels::linalg::eigh;
use vaglio_kernels::tolerance::COMPONENT_ROUNDING;

/// Scaling of components.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Scaling {
    /// By D_ii^{−½}: inner products of rows of components are the kernel.
    #[default]
    Gram,
    /// By √N·D_ii⁻¹: components have a mean square of 1 over the landmarks.
    Entropy,
    /// No components: the columns are the kernels of the landmarks.
    None,
}

/// Map from the problem's columns to kernel components.
#[derive(Debug)]
pub(crate) struct ComponentMap {
    /// Problem columns that the kernel uses.
    inputs: Vec<Feature>,
    kernel: KernelFunction,
    /// Landmarks × inputs.
    landmarks: Vec<Vec<f64>>,
    chosen: LandmarkSelection,
    /// Scaled eigenvectors, components × landmarks; `None` if the features are the landmarks' kernels.
    components: Option<Vec<Vec<f64>>>,
    /// Eigenvalues D in decreasing order; empty without a decomposition.
    spectrum: Vec<f64>,
}

/// Decomposes the landmarks' kernel matrix K̃ = C·D·Cᵀ, scales each column of C, and returns them and D. Cost O(N³).
///
/// # Errors
/// [`Error::Numerical`] for kernels that overflow or are all 0.
fn decompose(gram: &[Vec<f64>], scaling: Scaling) -> Result<(Vec<Vec<f64>>, Vec<f64>)> {
    if !gram.iter().flatten().all(|k| k.is_finite()) {
        return Err(overflow());
    }
    let count = gram.len();
    let gram = Array2::from_shape_fn((count, count), |(i, j)| gram[i][j]);
    let failed = |failure| Error::Numerical(format!("the kernel matrix of the landmarks: {failure}; standardize"));
    let (values, vectors) = eigh(gram.view()).map_err(failed)?;
    let largest = values.last().copied().unwrap_or(0.0);
    if !(largest > 0.0 && largest.is_finite()) {
        return Err(Error::Numerical(format!(
            "the largest eigenvalue of the landmarks' kernel matrix is {largest}; standardize the columns, or use the `rbf` kernel"
        )));
    }
    let component = |k: usize| {
        let vector = vectors.column(k);
        let peak = vector.iter().fold(0.0, |peak: f64, v| if v.abs() > peak.abs() { *v } else { peak });
        let scale = match scaling {
            Scaling::Gram | Scaling::None => 1.0 / values[k].sqrt(),
            Scaling::Entropy => (count as f64).sqrt() / values[k],
        };
        vector.iter().map(|v| v * scale.copysign(peak)).collect()
    };
    let components = (0..count).rev().filter(|&k| values[k] > COMPONENT_ROUNDING * largest).map(component).collect();
    Ok((components, values.iter().rev().copied().collect()))
}

impl ComponentMap {
    /// Selects landmarks among the distinct rows, or all if there are no more, and decomposes their kernel matrix. With
    /// [`Scaling::None`] the features are the landmarks' kernels.
    ///
    /// # Errors
    /// [`Error::Numerical`] if the square of the median distance over- or underflows, and for kernels that overflow or
    /// are all 0.
    pub fn new(svm: &FsLsSvm, problem: &Problem) -> Result<Self> {
        let (columns, seed) = (problem.columns(), svm.seed.unwrap_or(problem.seed()));
        let all: Vec<Feature> = (0..columns.len()).collect();
        let seen = KernelInputs::select(&svm.kernel, seed, columns, &all)?;
        if seen.distinct.len() < svm.landmarks {
            tracing::info!(
                rows = seen.distinct.len(),
                landmarks = svm.landmarks,
                "fewer distinct rows than landmarks: all are taken"
            );
        }
        let inputs: Vec<Column<'_>> = seen.inputs.iter().map(|&f| columns.column(f)).collect();
        let order = shuffle(seen.distinct.clone(), seed);
        let mut chosen = select_landmarks(seen.kernel, &inputs, order, svm.landmarks);
        tracing::debug!(swaps = chosen.swaps, proposals = chosen.proposals, entropy = chosen.entropy, "landmarks");
        let landmarks = seen.entries(columns, &chosen.rows);
        let gram = std::mem::take(&mut chosen.gram);
        let (components, spectrum) = match svm.scaling {
            Scaling::None => (None, Vec::new()),
            scaling => decompose(&gram, scaling).map(|(components, spectrum)| (Some(components), spectrum))?,
        };
        Ok(ComponentMap { inputs: seen.inputs, kernel: seen.kernel, landmarks, chosen, components, spectrum })
    }

    /// Computes the mapped columns from the problem's.
    pub fn columns(&self, columns: &Columns) -> Result<Columns> {
        columns_of(self.kernel, &self.landmarks, self.components.as_deref(), &columns.select(&self.inputs))
    }

    /// Prefix of the columns' names.
    pub fn name(&self) -> &'static str {
        if self.components.is_some() { "component" } else { "landmark" }
    }
}

impl FeatureMap for ComponentMap {
    fn model(&self, subset: &[Feature], lambda: f64, coefficients: Coefficients) -> Result<Model> {
        let chosen = |columns: &[Vec<f64>]| -> Result<Vec<Vec<f64>>> {
            let one = |&feature: &Feature| {
                let found = columns.get(feature).cloned();
                found.ok_or_else(|| Error::Shape(format!("there is no {} {}", self.name(), feature + 1)))
            };
            subset.iter().map(one).collect()
        };
        let (landmarks, components) = match &self.components {
            // Without components, nothing of the map is needed.
            Some(_) if subset.is_empty() => (Vec::new(), Some(Vec::new())),
            Some(components) => (self.landmarks.clone(), Some(chosen(components)?)),
            None => (chosen(&self.landmarks)?, None),
        };
        let inputs = if subset.is_empty() { Vec::new() } else { self.inputs.clone() };
        Model::new(LsSvmModel { inputs, kernel: self.kernel, landmarks, components, lambda, coefficients })
    }

    fn found(&self) -> PartOutputs {
        let LandmarkSelection { rows, entropy, swaps, proposals, .. } = &self.chosen;
        let found = PartOutputs::new("landmarks", rows.len()).and("entropy", *entropy).and("swaps", *swaps);
        let found = found.and("proposals", *proposals);
        let found = match &self.components {
            Some(_) => found.and("spectrum", self.spectrum.clone()),
            None => found,
        };
        match self.kernel {
            KernelFunction::Rbf { bandwidth } => found.and("bandwidth", bandwidth),
            KernelFunction::Polynomial { .. } => found,
        }
    }
}
