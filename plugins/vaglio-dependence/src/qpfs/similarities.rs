//! Similarities of columns to each other and to the target.

use super::redundancy::{Redundancy, map_pairs};
use crate::bins::BinnedData;
use crate::kernel_matrix::shares;
use crate::mrmr::correlation::{Correlations, correlation};
use crate::nhsic::kernels::Kernels;
use crate::target::{Output, Target};
use crate::{Approximation, Kernel, Nhsic, Qpfs};
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

/// Q and F of some columns.
pub(super) struct Similarities {
    /// Q.
    pub matrix: Redundancy,
    /// F.
    pub relevance: Vec<f64>,
    /// Share of Q_ii + Q_kk up to which columns count as similar.
    pub equal: f64,
}

impl Similarities {
    /// Computes Q and F. Cost O(n² m), with kernels O(n² m·rank²), by levels O(n² m·rank), memory O(n² + nm); from r
    /// columns O(nrm) and O(nr + nm).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Stopped`], and with kernels [`vaglio_core::Error::Numerical`] if a decomposition fails.
    pub fn new(qpfs: &Qpfs, design: &Design, members: &[Feature]) -> Result<Self> {
        let nystrom = qpfs.nystrom;
        Ok(match qpfs.similarity {
            Similarity::MutualInformation => {
                let binned = BinnedData::new(qpfs.bins, design, members);
                let relevance: Vec<f64> =
                    parallel::map_slice(&binned.columns, |x| binned.target_dependence(x, BinnedData::information));
                let pairs = map_pairs(&binned.columns, |a, b| binned.information(a, b));
                let matrix = Redundancy::new(nystrom, &relevance, pairs)?;
                Similarities { matrix, relevance, equal: EQUAL_SIMILARITY }
            }
            Similarity::Correlation => by_correlation(nystrom, design, members)?,
            Similarity::Nhsic => by_kernels(nystrom, design, members)?,
        })
    }

    /// q̄/(q̄ + f̄); 0 if nothing is relevant or redundant.
    pub fn balance(&self) -> f64 {
        let count = self.relevance.len() as f64;
        let redundancy = self.matrix.total() / (count * count);
        let relevance = self.relevance.iter().sum::<f64>() / count;
        let both = redundancy + relevance;
        if both > 0.0 { redundancy / both } else { 0.0 }
    }
}

fn by_correlation(nystrom: Option<usize>, design: &Design, members: &[Feature]) -> Result<Similarities> {
    let Correlations { columns, outputs } = Correlations::new(design, members);
    let counts = outputs_count(design);
    let relevance = |x: &Vec<f64>| outputs.iter().zip(&counts).map(|(y, count)| count * correlation(x, y)).sum();
    let relevance: Vec<f64> = columns.iter().map(relevance).collect();
    let matrix = Redundancy::new(nystrom, &relevance, map_pairs(&columns, |x, z| correlation(x, z)))?;
    Ok(Similarities { matrix, relevance, equal: EQUAL_SIMILARITY })
}

/// Weights of the outputs: equal for numbers, shares of the rows for classes against the rest.
fn outputs_count(design: &Design) -> Vec<f64> {
    let outputs = design.targets().nrows();
    let Some(classes) = design.problem().classes().filter(|_| outputs > 1) else {
        return vec![1.0 / outputs as f64; outputs];
    };
    let mut counts = vec![0.0; outputs];
    let shares = shares(design.rows(), design.weights());
    classes.of_row.iter().zip(shares).for_each(|(class, share)| counts[*class] += share);
    counts
}

/// Maximum number of rows for exact kernels.
pub(super) const MOST_EXACT: usize = 2000;

fn by_kernels(nystrom: Option<usize>, design: &Design, members: &[Feature]) -> Result<Similarities> {
    let approximation = if design.rows() > MOST_EXACT { Approximation::Levels } else { Approximation::Exact };
    let nhsic = Nhsic { kernel: Kernel { approximation, ..Kernel::default() }, ..Nhsic::default() };
    let shares = shares(design.rows(), design.weights());
    let kernels = Kernels::new(&nhsic, design, members, &shares)?;
    let target = Target::new(Output::Auto, 1.0, design, &shares);
    let (relevance, _) = kernels.relevance(&target.matrix(&shares), 0..members.len())?;
    // With itself as with others, so that copies have its bits.
    let similarities = |i: usize, others: Range<usize>| kernels.products(i, others);
    let equal = if kernels.is_by_levels() { LEVEL_SIMILARITY } else { EQUAL_SIMILARITY };
    Ok(Similarities { matrix: Redundancy::new(nystrom, &relevance, similarities)?, relevance, equal })
}
