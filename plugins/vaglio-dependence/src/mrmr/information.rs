//! mRMR by mutual information.

use super::pairwise_dependence::{Dependence, Scheme};
use crate::bins::{BinnedData, Bins};
use vaglio_core::part;
use vaglio_kernels::tolerance::ENTROPY_ROUNDING;

/// Minimum redundancy, maximum relevance, by mutual information of binned columns.
///
/// With I(xᵢ, xⱼ) the mutual information of two binned columns, in nats, and y the target, D(S) = (1/|S|) Σᵢ I(xᵢ, y)
/// and R(S) = (1/|S|²) Σᵢⱼ I(xᵢ, xⱼ) for i, j ∈ S (including the entropies, i = j). The score is −(D − R) or −D/R.
/// Lower is better. It is a function of the set alone, so every search can use it. The criterion `mrmr` has the same
/// objective with correlations, which need no bins but miss dependence that is not monotone.
///
/// The default bins are those of the paper: below, within and above one standard deviation about the mean. Each class
/// is a bin; with several numeric outputs the mean relevance counts. A row of weight 2 equals two such rows. A constant
/// column has no information. The empty subset, and one of constant columns alone, scores 0. The learner and λ are not
/// used.
///
/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Readout};
/// use vaglio_dependence::MrmrInformation;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let design = Design::identity(&problem, Readout::new(vec![1.0], true)?);
/// assert!(MrmrInformation::default().evaluate(&design, &[0, 3])?.loss.is_finite());
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// H. Peng, F. Long and C. Ding, *Feature selection based on mutual information: criteria of max-dependency,
/// max-relevance, and min-redundancy*, IEEE Transactions on Pattern Analysis and Machine Intelligence 27(8), 2005,
/// equations 4 to 6.
#[part(
    Criterion,
    "mrmr_information",
    summary = "relevance to the targets against redundancy among the columns, by mutual information of columns in bins",
    example = "criterion: {kind: mrmr_information, scheme: difference, bins: deviation}",
    title = "mRMR (MI)"
)]
#[derive(Copy, PartialEq, Eq)]
pub struct MrmrInformation {
    /// Combination of relevance and redundancy.
    pub scheme: Scheme,
    /// Binning of columns.
    pub bins: Bins,
}

impl Dependence for BinnedData {
    /// Sum of entropies below which it is rounding.
    const NOTHING: f64 = ENTROPY_ROUNDING;
    const ENGINE: &'static str = "information";
    const REASON: &'static str = "informations with the selected columns are kept";
    const PREPARATION: f64 = 20.0;
    const FLOPS: f64 = 8.0;
    const BYTES: f64 = 4.0;

    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn relevance(&self, i: usize) -> f64 {
        self.target_dependence(&self.columns[i], BinnedData::information)
    }

    fn between(&self, i: usize, j: usize) -> f64 {
        self.information(&self.columns[i], &self.columns[j])
    }
}
