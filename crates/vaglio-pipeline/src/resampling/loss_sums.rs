//! Sums of the held-out losses of one fold.
//!
//! For a mean loss, sums by cluster are kept, up to a number of clusters. Further clusters are joined in turn: the
//! expected variance between them is unchanged, its estimate slightly less precise. A loss of all rows together keeps
//! the rows.

use super::{FoldLosses, PooledPredictions, TargetsAndPredictions};
use serde::{Deserialize, Serialize};
use vaglio_core::Loss;
use vaglio_report::ClusterSum;

/// Limit on the number of clusters that joins none of them.
pub const EVERY: u32 = 1 << 31;
/// Largest number of clusters joined by direct indexing.
const MOST_INDEXED: u32 = 1 << 16;
/// Approximate limit of the number of sums kept for one fold.
const MOST_SUMS: usize = 1 << 15;

/// Summary of the predictions for some rows under one loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LossSums {
    /// Mean loss over units: total weight, mean, and sums by cluster.
    Mean {
        /// Total weight of the units.
        weight: f64,
        /// Mean loss of the units.
        #[serde(with = "vaglio_core::exact_float")]
        mean: f64,
        /// Largest number of clusters, a power of two; cluster numbers are modulo this.
        most: u32,
        /// Sums by cluster.
        clusters: Vec<ClusterSum>,
    },
    /// Rows for a loss of all rows together.
    Rows(Box<PooledPredictions>),
}

impl LossSums {
    /// Sums with at most `most` clusters, a power of two. Cost O(rows · outputs).
    pub fn new(loss: &dyn Loss, predictions: TargetsAndPredictions<'_>, most: u32) -> Self {
        if !loss.traits().measure.is_of_rows() {
            return LossSums::Rows(Box::new(PooledPredictions::from_rows(predictions)));
        }
        let (mut weight, mut sum) = (0.0, 0.0);
        let sums = predictions.units(loss).map(|(row, own, lost)| {
            let cluster = predictions.clusters.map_or(row as u32, |clusters| clusters[row]);
            (weight, sum) = (weight + own, sum + own * lost);
            ClusterSum { cluster, weight: own, sum: own * lost }
        });
        let clusters = merge_clusters(most, sums);
        let mean = if weight > 0.0 { sum / weight } else { 0.0 };
        LossSums::Mean { weight, mean, most, clusters }
    }

    /// Empty sums.
    pub fn none() -> Self {
        LossSums::Mean { weight: 0.0, mean: 0.0, most: EVERY, clusters: Vec::new() }
    }

    /// Mean loss; +∞ if it is undefined, like AUC on rows of one class.
    pub fn mean(&self, loss: &dyn Loss) -> f64 {
        FoldLosses::new([self], 1).mean(loss).unwrap_or(f64::INFINITY)
    }

    pub(super) fn sums(&self, most: u32) -> Vec<ClusterSum> {
        let LossSums::Mean { most: own, clusters, .. } = self else { return Vec::new() };
        if *own == most { clusters.clone() } else { merge_clusters(most, clusters.iter().copied()) }
    }
}

/// Number of clusters in each of the `count` loss sums of a fold.
pub fn most_clusters(count: usize) -> u32 {
    let most = (MOST_SUMS / count.max(1)).clamp(32, 256);
    1 << most.ilog2()
}

/// Adds up sums by cluster number modulo `most`; the result is in order of these numbers. Memory: O(`most`) up to
/// [`MOST_INDEXED`], else O(sums) for any cluster numbers.
pub(super) fn merge_clusters(most: u32, sums: impl Iterator<Item = ClusterSum>) -> Vec<ClusterSum> {
    let mut all: Vec<ClusterSum> = Vec::new();
    let add = |to: &mut ClusterSum, more: &ClusterSum| {
        (to.weight, to.sum) = (to.weight + more.weight, to.sum + more.sum);
    };
    if most <= MOST_INDEXED {
        for more in sums {
            let (cluster, next) = (more.cluster % most, all.len() as u32);
            all.extend((next..=cluster).map(|cluster| ClusterSum { cluster, weight: 0.0, sum: 0.0 }));
            add(&mut all[cluster as usize], &more);
        }
    } else {
        all.extend(sums.map(|more| ClusterSum { cluster: more.cluster % most, ..more }));
        all.sort_by_key(|sum| sum.cluster);
        all.dedup_by(|more, to| {
            let is_same = more.cluster == to.cluster;
            if is_same {
                add(to, more);
            }
            is_same
        });
    }
    all.retain(|sum| sum.weight > 0.0);
    all.shrink_to_fit();
    all
}
