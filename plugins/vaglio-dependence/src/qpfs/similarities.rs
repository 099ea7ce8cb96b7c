//! How alike columns are to each other and to the target.

use super::redundancy::Redundancy;
use super::{Qpfs, Similarity};
use crate::bins::{Binned, Binning};
use crate::target::{Output, Target};
use rayon::prelude::*;
use vaglio_core::{Design, Feature, Result, standardized};
use vaglio_kernels::Level;
use vaglio_kernels::hsic::{ThinFactor, gaussian, shares, standardized as in_deviations};

/// Q and F of some columns.
pub(super) struct Similarities {
    /// Q.
    pub matrix: Redundancy,
    /// F.
    pub relevance: Vec<f64>,
}

impl Similarities {
    /// Cost O(n² m), with kernels O(n² m·rank²), memory O(n² + nm); by r columns O(nrm) and O(nr + nm).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Stopped`].
    pub fn new(qpfs: &Qpfs, design: &Design, members: &[Feature]) -> Result<Self> {
        Ok(match qpfs.similarity {
            Similarity::MutualInformation => {
                let rows = Binning::new(qpfs.bins, design);
                let targets = rows.targets(design);
                let columns: Vec<Binned> = members.par_iter().map(|&feature| rows.column(design, feature)).collect();
                let relevance: Vec<f64> = columns.par_iter().map(|x| rows.relevance(x, &targets)).collect();
                Similarities {
                    matrix: Redundancy::new(qpfs.nystrom, &columns, &relevance, |a, b| rows.information(a, b)),
                    relevance,
                }
            }
            Similarity::Correlation => by_correlation(qpfs, design, members),
            Similarity::Nhsic => by_kernels(qpfs, design, members)?,
        })
    }

    /// q̄/(q̄ + f̄), and all to redundancy where nothing is relevant nor redundant.
    pub fn balance(&self) -> f64 {
        let count = self.relevance.len() as f64;
        let redundancy = self.matrix.total() / (count * count);
        let relevance = self.relevance.iter().sum::<f64>() / count;
        let both = redundancy + relevance;
        if both > 0.0 { redundancy / both } else { 0.0 }
    }
}

fn by_correlation(qpfs: &Qpfs, design: &Design, members: &[Feature]) -> Similarities {
    let unit = |values: &[f64]| standardized(values, design.weights());
    let correlation = |x: &Vec<f64>, z: &Vec<f64>| x.iter().zip(z).map(|(x, z)| x * z).sum::<f64>().abs().min(1.0);
    let columns: Vec<Vec<f64>> = members.par_iter().map(|&feature| unit(&design.column(feature).values())).collect();
    let outputs: Vec<Vec<f64>> = design.targets().rows().into_iter().map(|y| unit(&y.to_vec())).collect();
    let counts = outputs_count(design);
    let relevance = |x: &Vec<f64>| outputs.iter().zip(&counts).map(|(y, count)| count * correlation(x, y)).sum();
    let relevance: Vec<f64> = columns.iter().map(relevance).collect();
    Similarities { matrix: Redundancy::new(qpfs.nystrom, &columns, &relevance, correlation), relevance }
}

/// What the outputs count: numbers alike, classes against the rest by their shares of the rows.
fn outputs_count(design: &Design) -> Vec<f64> {
    let outputs = design.targets().nrows();
    let Some(classes) = design.classes().filter(|_| outputs > 1) else { return vec![1.0 / outputs as f64; outputs] };
    let mut counts = vec![0.0; outputs];
    let shares = shares(design.rows(), design.weights());
    classes.of_row.iter().zip(shares).for_each(|(class, share)| counts[*class] += share);
    counts
}

fn by_kernels(qpfs: &Qpfs, design: &Design, members: &[Feature]) -> Result<Similarities> {
    let (level, shares) = (Level::best(), shares(design.rows(), design.weights()));
    let column = |&feature: &Feature| match in_deviations(&design.column(feature).values(), &shares) {
        Some(values) => gaussian(level, &shares, &[values], 1.0).normalized(level),
        None => ThinFactor::default(),
    };
    let columns: Vec<ThinFactor> = members.par_iter().map(column).collect();
    let target = Target::of(Output::Auto, 1.0, design, &shares);
    let (relevance, _) = target.matrix(level, &shares).products(level, design, &columns, true)?;
    Ok(Similarities {
        matrix: Redundancy::new(qpfs.nystrom, &columns, &relevance, |a, b| a.inner(level, b)),
        relevance,
    })
}
