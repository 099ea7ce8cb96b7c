//! The kernel of the target.

use super::{Nhsic, Output, OutputApproximation};
use vaglio_core::{Design, Result, Task};
use vaglio_kernels::Level;
use vaglio_kernels::hsic::{ThinFactor, classes, gaussian, standardized};

/// The target as its kernel takes it.
pub(super) enum Target {
    /// The standardized targets that are not constant.
    Numbers(Vec<Vec<f64>>),
    /// The class of each row from 0, and whether the kernel is one over the class's share.
    Classes(Vec<usize>, bool),
}

impl Target {
    pub(super) fn of(nhsic: &Nhsic, design: &Design, shares: &[f64]) -> Self {
        let output = match (nhsic.kernel.output, design.task()) {
            (Output::Auto, Task::Regression) => Output::Gaussian,
            (Output::Auto, _) => Output::Delta,
            (output, _) => output,
        };
        match output {
            Output::Auto | Output::Gaussian => {
                let rows = design.targets();
                Target::Numbers(rows.rows().into_iter().filter_map(|y| standardized(&y.to_vec(), shares)).collect())
            }
            Output::Delta => Target::Classes(class_of_rows(design), true),
            Output::SameClass => Target::Classes(class_of_rows(design), false),
        }
    }

    /// The factor of its centered kernel matrix.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`].
    pub(super) fn factor(&self, nhsic: &Nhsic, level: Level, shares: &[f64]) -> Result<ThinFactor> {
        Ok(match (self, nhsic.kernel.output_approximation) {
            (Target::Numbers(targets), _) if targets.is_empty() => ThinFactor::default(),
            (Target::Numbers(targets), OutputApproximation::Exact) => {
                gaussian(level, shares, targets, nhsic.kernel.bandwidth)
            }
            (Target::Numbers(targets), OutputApproximation::Nystrom) => {
                nhsic.landmarks()?.factor(level, shares, &targets[0])
            }
            (Target::Classes(class, by_size), _) => classes(level, shares, class, *by_size),
        })
    }
}

/// Rows with equal codes are of one class; classes count in the order in which they appear.
fn class_of_rows(design: &Design) -> Vec<usize> {
    let targets = design.targets();
    let mut seen: Vec<Vec<f64>> = Vec::new();
    let class = |code: ndarray::ArrayView1<'_, f64>| {
        seen.iter().position(|s| code.iter().eq(s)).unwrap_or_else(|| {
            seen.push(code.to_vec());
            seen.len() - 1
        })
    };
    targets.columns().into_iter().map(class).collect()
}
