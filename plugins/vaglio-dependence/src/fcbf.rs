//! The fast correlation-based filter.

use crate::bins::{BinnedData, Bins};
use crate::column_weights::ColumnWeighting;
use rayon::prelude::*;
use vaglio_core::{
    Design, Error, Estimate, Feature, Result, SearchExtent, part, standardize_column, standardize_outputs,
    sum_of_products,
};
use vaglio_kernels::parallel;
use vaglio_kernels::tolerance::EQUAL_UNCERTAINTY;

/// Fast correlation-based filter: keeps the columns whose information about the target no better column has too.
///
/// SU(a, b) = 2·I(a, b)/(H(a) + H(b)) is the symmetrical uncertainty of two binned columns. Columns with SU(x, y) >
/// `threshold` are sorted by it, ties by their correlation with the target y. The first is predominant and eliminates
/// every later column q with SU(x, q) ≥ SU(q, y); this repeats with the next remaining column, to the end. A
/// predominant column has weight SU(x, y), the others 0, and the score of a subset is minus the sum of its weights.
/// Lower is better; the empty subset scores 0.
///
/// `search: {kind: rank, choose: best}` selects exactly the predominant columns. Equal columns share one weight. With
/// several numeric outputs the mean SU counts; each class is a bin. A row of weight 2 equals two such rows. Constant
/// columns have weight 0. The learner and λ are not used.
///
/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Readout};
/// use vaglio_dependence::Fcbf;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let design = Design::identity(&problem, Readout::new(vec![1.0], true)?);
/// assert!(Fcbf::default().evaluate(&design, &[0, 1, 2, 3, 4])?.loss < 0.0);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// L. Yu and H. Liu, *Feature selection for high-dimensional data: a fast correlation-based filter solution*,
/// Proceedings of the 20th International Conference on Machine Learning, 2003.
#[part(
    Criterion,
    "fcbf",
    summary = "columns that tell of the target what no better column tells of them, by symmetrical uncertainty; with `search: rank`",
    example = "criterion: {kind: fcbf, bins: deviation}\nsearch: {kind: rank, choose: best}",
    title = "FCBF"
)]
#[derive(Copy, PartialEq)]
pub struct Fcbf {
    /// Binning of columns.
    pub bins: Bins,
    /// Minimum symmetrical uncertainty of a column and the target, from 0 to 1.
    pub threshold: f64,
}

impl ColumnWeighting for Fcbf {
    /// Computes the weights. Cost O(nmp) with p predominant columns, memory O(nm).
    fn weights(&self, design: &Design, features: &[Feature]) -> Result<Vec<f64>> {
        let binned = BinnedData::new(self.bins, design, features);
        let columns = &binned.columns;
        let relevance = |column| binned.target_dependence(column, BinnedData::symmetrical_uncertainty);
        let relevance: Vec<f64> = parallel::map_slice(columns, relevance);
        let mut left: Vec<usize> = (0..columns.len()).filter(|&x| relevance[x] > self.threshold).collect();
        // Ties in bins are broken by the larger correlation, so that the order of columns does not matter.
        let correlations = target_correlations(design, features);
        let steps = |x: usize| (relevance[x] / EQUAL_UNCERTAINTY).round();
        let better = |a: usize, b: usize| {
            steps(b).total_cmp(&steps(a)).then(correlations[b].total_cmp(&correlations[a])).then(a.cmp(&b))
        };
        left.sort_by(|&a, &b| better(a, b));
        let mut weights = vec![0.0; columns.len()];
        while let Some((&best, others)) = left.split_first() {
            design.problem().sign().check()?;
            weights[best] = relevance[best];
            let remains = |other: &&usize| {
                binned.symmetrical_uncertainty(&columns[best], &columns[**other])
                    < relevance[**other] - EQUAL_UNCERTAINTY
            };
            left = others.par_iter().filter(remains).copied().collect();
        }
        Ok(weights)
    }

    fn check_weighting(&self, _: &Design) -> Result<()> {
        self.bins.check()?;
        Error::unless_between("threshold", self.threshold, 0.0..=1.0)
    }

    /// Plans one pass over the columns per predominant column of the largest subset.
    fn estimate(&self, design: &Design, extent: &SearchExtent, columns: f64) -> Estimate {
        let rows = design.planned_rows() as f64;
        Estimate {
            engine: "predominance",
            reason: "each predominant column is compared once with those after it".into(),
            flops: 8.0 * rows * columns * (1.0 + extent.largest as f64) + extent.trials,
            bytes: 4.0 * rows * columns,
        }
    }
}

/// Sum over outputs of the absolute correlation of each column with the target. Cost O(m) each.
fn target_correlations(design: &Design, columns: &[Feature]) -> Vec<f64> {
    let outputs = standardize_outputs(design);
    let correlation = |&feature: &Feature| {
        let x = standardize_column(design, feature);
        outputs.iter().map(|y| sum_of_products(&x, y).abs()).sum()
    };
    parallel::map_slice(columns, correlation)
}
