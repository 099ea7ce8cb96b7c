//! Similarities of columns to each other and to the target.

use super::program::SimplexQuadraticProgram;
use crate::bins::BinnedData;
use crate::kernel_matrix::row_shares;
use crate::mrmr::Dependence;
use crate::mrmr::correlation::{Correlations, correlation};
use crate::nhsic::kernels::Kernels;
use crate::target::{Output, Target};
use crate::{Approximation, Kernel, Nhsic, Qpfs};
use rayon::prelude::*;
use std::ops::Range;
use vaglio_core::{Design, Feature, Result, setting};
use vaglio_kernels::parallel;
use vaglio_kernels::tolerance::{EQUAL_SIMILARITY, LEVEL_SIMILARITY};

/// Similarity of two columns, and of a column and the target.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Similarity {
    /// Mutual information of binned columns.
    #[default]
    MutualInformation,
    /// Absolute correlation.
    Correlation,
    /// Normalized Hilbert–Schmidt independence.
    Nhsic,
}

/// Computes Q and F of some columns. Cost O(n² m), with kernels O(n² m·rank²), by levels O(n² m·rank), memory O(n² +
/// nm); from r columns O(nrm) and O(nr + nm).
///
/// # Errors
/// [`vaglio_core::Error::Stopped`], and with kernels [`vaglio_core::Error::Numerical`] if a decomposition fails.
pub(super) fn build_program(qpfs: &Qpfs, design: &Design, members: &[Feature]) -> Result<SimplexQuadraticProgram> {
    match qpfs.similarity {
        Similarity::MutualInformation => {
            let binned = BinnedData::new(qpfs.bins, design, members);
            let relevance = parallel::map(members.len(), |i| binned.relevance(i));
            by_pairs(qpfs.nystrom, &binned, relevance)
        }
        Similarity::Correlation => {
            let correlations = Correlations::new(design, members);
            let (Correlations { columns, outputs }, shares) = (&correlations, output_shares(design));
            let relevance = |x: &Vec<f64>| outputs.iter().zip(&shares).map(|(y, p)| p * correlation(x, y)).sum();
            by_pairs(qpfs.nystrom, &correlations, columns.iter().map(relevance).collect())
        }
        Similarity::Nhsic => by_kernels(qpfs.nystrom, design, members),
    }
}

fn by_pairs(
    nystrom: Option<usize>,
    dependence: &impl Dependence,
    relevance: Vec<f64>,
) -> Result<SimplexQuadraticProgram> {
    let pairs = |i: usize, others: Range<usize>| Ok(others.into_par_iter().map(|k| dependence.between(i, k)).collect());
    SimplexQuadraticProgram::new(nystrom, relevance, EQUAL_SIMILARITY, pairs)
}

/// Weights of the outputs: equal for numbers, shares of the rows for classes against the rest.
fn output_shares(design: &Design) -> Vec<f64> {
    let outputs = design.targets().nrows();
    let Some(classes) = design.problem().classes().filter(|_| outputs > 1) else {
        return vec![1.0 / outputs as f64; outputs];
    };
    let mut class_shares = vec![0.0; outputs];
    classes.per_row.iter().zip(row_shares(design)).for_each(|(class, share)| class_shares[*class] += share);
    class_shares
}

/// Maximum number of rows for exact kernels.
pub(super) const MOST_EXACT: usize = 2000;

fn by_kernels(nystrom: Option<usize>, design: &Design, members: &[Feature]) -> Result<SimplexQuadraticProgram> {
    let approximation = if design.rows() > MOST_EXACT { Approximation::Levels } else { Approximation::Exact };
    let nhsic = Nhsic { kernel: Kernel { approximation, ..Kernel::default() }, ..Nhsic::default() };
    let kernels = Kernels::new(&nhsic, design, members)?;
    let target = Target::new(Output::Auto, 1.0, design);
    let (relevance, _) = kernels.relevance(&target.matrix(&kernels.shares), 0..members.len())?;
    // With itself as with others, so that copies have its bits.
    let similarities = |i: usize, others: Range<usize>| kernels.products(i, others);
    let equal = if kernels.is_by_levels() { LEVEL_SIMILARITY } else { EQUAL_SIMILARITY };
    SimplexQuadraticProgram::new(nystrom, relevance, equal, similarities)
}
