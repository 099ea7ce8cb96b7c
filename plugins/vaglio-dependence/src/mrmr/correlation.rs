//! mRMR by correlations.

use super::pairwise_dependence::{Dependence, Scheme};
use vaglio_core::{Design, Feature, part, standardize_column, standardize_outputs, sum_of_products};
use vaglio_kernels::parallel;

/// Minimum redundancy, maximum relevance for numeric data, by correlations instead of mutual information.
///
/// With ρ the weighted Pearson correlation, relevance rᵢ = mean over outputs of |ρ(xᵢ, yₒ)|, D(S) = (1/|S|) Σᵢ rᵢ and
/// R(S) = (1/|S|²) Σᵢⱼ |ρ(xᵢ, xⱼ)| for i, j ∈ S (including i = j), the score is −(D − R) or −D/R. Lower is better. It
/// is a function of the set alone, so every search can use it.
///
/// Classes count through their ±1 codings: for two classes |ρ| grows with the F statistic, for more the mean over one
/// class against the rest is taken. A constant column has correlation 0 with everything, itself included. The empty
/// subset, and one of constant columns alone, scores 0. The learner and λ are not used.
///
/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Readout};
/// use vaglio_dependence::Mrmr;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let design = Design::identity(&problem, Readout::new(vec![1.0], true)?);
/// let score = Mrmr::default().evaluate(&design, &[0, 3])?;
/// assert!(score.loss.abs() < 1.0);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// H. Peng, F. Long and C. Ding, *Feature selection based on mutual information: criteria of max-dependency,
/// max-relevance, and min-redundancy*, IEEE Transactions on Pattern Analysis and Machine Intelligence 27(8), 2005,
/// equations 4 to 6; with correlations: C. Ding and H. Peng, *Minimum redundancy feature selection from microarray gene
/// expression data*, Journal of Bioinformatics and Computational Biology 3(2), 2005.
#[part(
    Criterion,
    "mrmr",
    summary = "relevance to the targets against redundancy among the columns, by correlation",
    example = "criterion: {kind: mrmr, scheme: difference}",
    title = "mRMR"
)]
#[derive(Copy, PartialEq, Eq)]
pub struct Mrmr {
    /// Combination of relevance and redundancy.
    pub scheme: Scheme,
}

/// Standardized columns and outputs.
pub(crate) struct Correlations {
    pub columns: Vec<Vec<f64>>,
    pub outputs: Vec<Vec<f64>>,
}

impl Correlations {
    /// Standardizes the given columns. Cost O(m) each.
    pub fn new(design: &Design, features: &[Feature]) -> Self {
        let columns = parallel::map_slice(features, |&feature| standardize_column(design, feature));
        Correlations { columns, outputs: standardize_outputs(design) }
    }
}

impl Dependence for Correlations {
    /// Each non-constant column contributes at least its own |ρᵢᵢ| = 1, so half of that allows for rounding.
    const NOTHING: f64 = 0.5;
    const ENGINE: &'static str = "correlation";
    const REASON: &'static str = "correlations with the selected columns are kept";
    const PREPARATION: f64 = 8.0;
    const FLOPS: f64 = 2.0;
    const BYTES: f64 = 8.0;

    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn relevance(&self, i: usize) -> f64 {
        let correlations = self.outputs.iter().map(|y| correlation(&self.columns[i], y));
        correlations.sum::<f64>() / self.outputs.len() as f64
    }

    fn between(&self, i: usize, j: usize) -> f64 {
        correlation(&self.columns[i], &self.columns[j])
    }
}

/// |ρ| of standardized columns, limited to 1 because of rounding; 0 if one is constant. Cost O(m).
pub(crate) fn correlation(x: &[f64], z: &[f64]) -> f64 {
    sum_of_products(x, z).abs().min(1.0)
}
