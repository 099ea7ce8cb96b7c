//! Held-out losses of folds: pooled, compared on the same rows, and with confidence intervals.
//!
//! For a mean loss, sums by cluster are kept, up to a number of clusters. Further clusters are joined in turn: the
//! expected variance between them is unchanged, its estimate slightly less precise. A loss of all rows together keeps
//! the rows; a jackknife over clusters or folds replaces the sums.
//!
//! # Intervals
//! Held-out losses are dependent, since the models of all folds share training rows, so their standard error is too
//! small. The delivered model is one more than the K that were evaluated, so the error is √(K/(K − 1)) standard errors.
//! The bounds come from [`StandardizedMoments::interval`](vaglio_report::StandardizedMoments::interval), which handles
//! skewed losses.
//!
//! A loss chosen as the lowest of many is optimistic. The optimism is the mean loss of each fold at the choice of the
//! *other* folds, minus the lowest loss. It is added to the upper bound.
//!
//! # Reference
//! R. J. Tibshirani, R. Tibshirani, *A bias correction for the minimum error rate in
//! cross-validation*, Annals of Applied Statistics 3 (2009).

use super::{PooledPredictions, TargetsAndPredictions};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use vaglio_core::{Error, Loss, Result, jackknife_variance};
use vaglio_report::record::{Cell, LEAST_P};
use vaglio_report::{ClusterSum, MeanVariances, StandardizedMoments, has_width};

/// Limit on the number of clusters that joins none of them.
pub const EVERY: u32 = 1 << 31;
/// Largest number of clusters joined by direct indexing.
const MOST_INDEXED: u32 = 1 << 16;
/// Approximate limit of the number of sums kept for one fold.
const MOST_SUMS: usize = 1 << 15;
/// Largest number of parts of the jackknife.
const MOST_PARTS: u32 = 64;

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

    /// Mean loss; +∞ if it is undefined, like AUC on rows of one class.
    pub fn mean(&self, loss: &dyn Loss) -> f64 {
        FoldLosses::new([self], 1).mean(loss).unwrap_or(f64::INFINITY)
    }

    fn sums(&self, most: u32) -> Vec<ClusterSum> {
        let LossSums::Mean { most: own, clusters, .. } = self else { return Vec::new() };
        if *own == most { clusters.clone() } else { merge_clusters(most, clusters.iter().copied()) }
    }
}

/// Held-out losses of folds.
#[derive(Debug, Clone)]
pub struct FoldLosses<'t> {
    /// Losses of every fold, repeat by repeat.
    pub folds: Vec<&'t LossSums>,
    /// Number of random splits into folds.
    pub repeats: usize,
}

impl<'t> FoldLosses<'t> {
    /// Losses of every fold, repeat by repeat.
    pub fn new(folds: impl IntoIterator<Item = &'t LossSums>, repeats: usize) -> Self {
        FoldLosses { folds: folds.into_iter().collect(), repeats }
    }

    /// Mean loss pooled over folds.
    ///
    /// # Errors
    /// [`Error::Shape`] if no row has weight.
    pub fn mean(&self, loss: &dyn Loss) -> Result<f64> {
        let nothing = || Error::Shape("no row that was held out counts".into());
        match self.folds.first().ok_or_else(nothing)? {
            LossSums::Mean { .. } => {
                let mut pooled: Option<(f64, f64)> = None;
                for fold in &self.folds {
                    let LossSums::Mean { weight, mean, .. } = fold else { continue };
                    pooled = match pooled {
                        None => Some((*weight, *mean)),
                        Some(all) if *weight == 0.0 => Some(all),
                        Some((w, m)) => Some((w + weight, m + (mean - m) * weight / (w + weight))),
                    };
                }
                pooled.filter(|(weight, _)| *weight != 0.0).map(|(_, mean)| mean).ok_or_else(nothing)
            }
            LossSums::Rows(_) => {
                let value = self.rows().ok_or_else(nothing)?.mean(loss, |_| true);
                if value.is_nan() { Err(nothing()) } else { Ok(value) }
            }
        }
    }

    /// Mean loss pooled over folds, with its standard error.
    pub fn pooled_mean(&self, loss: &dyn Loss) -> Result<(f64, Option<f64>)> {
        Ok((self.mean(loss)?, self.variances(loss, None).and_then(|spread| spread.error())))
    }

    /// The pooled loss of a size, as a cell of a table.
    pub(super) fn cell(&self, loss: &dyn Loss, size: usize) -> Result<Cell> {
        let (loss, standard_error) = self.pooled_mean(loss)?;
        Ok(Cell { size, loss, standard_error, difference_error: None })
    }

    /// Standard error of the difference to another mean over the same rows in the same folds.
    pub fn difference(&self, loss: &dyn Loss, other: &FoldLosses<'t>) -> Option<f64> {
        self.variances(loss, Some(other))?.root()
    }

    /// Variances of the mean, or of its difference to another mean over the same rows in the same folds.
    fn variances(&self, loss: &dyn Loss, less: Option<&FoldLosses<'t>>) -> Option<MeanVariances> {
        if matches!(self.folds.first()?, LossSums::Rows(_)) {
            let rows = std::iter::once(self).chain(less).map(FoldLosses::rows).collect::<Option<Vec<_>>>();
            return Some(
                rows.map_or_else(MeanVariances::default, |rows| jackknife_variances(loss, &rows, self.repeats.max(1))),
            );
        }
        let sums = self.cluster_sums(less)?;
        Some(MeanVariances::from_folds(&sums.iter().map(Vec::as_slice).collect::<Vec<_>>(), self.repeats))
    }

    /// Sums by cluster of each fold, or their differences.
    fn cluster_sums(&self, less: Option<&FoldLosses<'t>>) -> Option<Vec<Vec<ClusterSum>>> {
        let all = self.folds.iter().chain(less.iter().flat_map(|less| &less.folds));
        // The smallest limit on the number of clusters.
        let most = all.map(|fold| if let LossSums::Mean { most, .. } = fold { *most } else { EVERY }).min();
        let most = most.unwrap_or(EVERY);
        let Some(other) = less else { return Some(self.folds.iter().map(|fold| fold.sums(most)).collect()) };
        let less = |(a, b): (&&LossSums, &&LossSums)| -> Option<Vec<ClusterSum>> {
            let (a, b) = (a.sums(most), b.sums(most));
            let same = |(a, b): (&ClusterSum, &ClusterSum)| {
                (a.cluster == b.cluster).then_some(ClusterSum { sum: a.sum - b.sum, ..*a })
            };
            if a.len() == b.len() { a.iter().zip(&b).map(same).collect() } else { None }
        };
        self.folds.iter().zip(&other.folds).map(less).collect()
    }

    /// Standardized moments of the cluster sums, for one mean or a difference of two.
    pub(super) fn moments(&self, less: Option<&FoldLosses<'t>>) -> StandardizedMoments {
        let Some(LossSums::Mean { .. }) = self.folds.first() else {
            let clusters = self.folds.iter().flat_map(|fold| match fold {
                LossSums::Rows(rows) => &rows.clusters[..],
                LossSums::Mean { .. } => &[],
            });
            return StandardizedMoments::normal(clusters.collect::<BTreeSet<_>>().len());
        };
        let sums = self.cluster_sums(less).unwrap_or_default();
        StandardizedMoments::from_clusters(&ClusterSum::merge(sums.concat()))
    }

    /// Mean loss with its interval, or the mean difference to `less` on the same rows. The `optimism` of the choice
    /// widens the interval. Returns `None` if: there are too few rows or folds; all rows have the same loss. The interval
    /// is limited to the range of the loss.
    pub fn mean_with_interval(
        &self,
        loss: &dyn Loss,
        less: Option<&FoldLosses<'t>>,
        optimism: f64,
        level: f64,
    ) -> Option<(f64, [f64; 2])> {
        let mean = self.mean(loss).ok()? - less.map_or(Some(0.0), |less| less.mean(loss).ok())?;
        let spread = self.variances(loss, less)?;
        let (plain, _) = spread.clusters.or(spread.folds)?;
        let folds = (self.folds.len() / self.repeats.max(1)).max(2) as f64;
        let error = (folds / (folds - 1.0) * plain).sqrt();
        // Infinite losses have no interval.
        if less.is_none() && !has_width(mean, error) {
            return None;
        }
        let shape = self.moments(less);
        let [low, _] = shape.interval(mean, error, level);
        let [_, high] = shape.interval(mean + optimism.max(0.0), error, level);
        let [least, most] = loss.traits().range;
        let [least, most] = if less.is_some() { [least - most, most - least] } else { [least, most] };
        let within = |end: f64| end.max(least).min(most);
        (low.is_finite() && high.is_finite()).then(|| (mean, [within(low), within(high)]))
    }

    /// p-value of the hypothesis that these losses are not below `other` on the same rows. It inverts the one-sided
    /// interval and is at least [`LEAST_P`]. Returns `None` for too few rows or folds.
    pub fn p_value_below(&self, loss: &dyn Loss, other: &FoldLosses<'t>) -> Option<f64> {
        let is_passed = |level: f64| {
            let bounded = self.mean_with_interval(loss, Some(other), 0.0, 1.0 - 2.0 * level);
            bounded.map(|(_, [_, high])| high < 0.0)
        };
        let (mut passed, mut failed) = (0.5, LEAST_P);
        if !is_passed(passed)? {
            return Some(1.0);
        }
        if is_passed(failed)? {
            return Some(LEAST_P);
        }
        while passed - failed > 1e-6 * passed {
            let middle = 0.5 * (passed + failed);
            if is_passed(middle)? { passed = middle } else { failed = middle }
        }
        Some(passed)
    }

    /// The rows of all folds, for a loss of all rows together.
    fn rows(&self) -> Option<PooledPredictions> {
        let rows = self.folds.iter().filter_map(|fold| match fold {
            LossSums::Rows(rows) => Some(&**rows),
            LossSums::Mean { .. } => None,
        });
        PooledPredictions::new(rows).ok()
    }
}

/// Variances of a loss of all rows together, or of a difference, by the jackknife over clusters and over folds.
fn jackknife_variances(loss: &dyn Loss, rows: &[PooledPredictions], repeats: usize) -> MeanVariances {
    let Some(first) = rows.first() else { return MeanVariances::default() };
    let without = |keeps: &dyn Fn(usize) -> bool| {
        rows.iter().map(|rows| rows.mean(loss, keeps)).reduce(|a, b| a - b).unwrap_or(f64::NAN)
    };
    let numbers: BTreeSet<u32> = first.clusters.iter().copied().collect();
    let is_by_rows = numbers.len() == first.clusters.len() && rows.len() == 1;
    let place: BTreeMap<u32, u32> = (0..).zip(&numbers).map(|(place, number)| (*number, place % MOST_PARTS)).collect();
    let parts = (numbers.len() as u32).min(MOST_PARTS);
    let part_of: Vec<u32> = first.clusters.iter().map(|cluster| place[cluster]).collect();
    let fold_of: Vec<usize> = (0..part_of.len()).map(|row| first.ends.partition_point(|end| *end <= row)).collect();
    let clusters = if is_by_rows {
        let error = loss.standard_error(first.targets.view(), first.predictions.view(), Some(&first.weights), None);
        error.map(|error| (error * error, numbers.len()))
    } else {
        jackknife_with_count((0..parts).map(|part| without(&|row| part_of[row] != part)).collect())
    };
    let folds = first.ends.len().div_ceil(repeats).max(1);
    let most = folds.min(MOST_PARTS as usize);
    let repeat_variance = |repeat: usize| {
        let is_kept = |own: usize, part: usize| own / folds == repeat && own % folds % most != part;
        jackknife_with_count((0..most).map(|part| without(&|row| is_kept(fold_of[row], part))).collect())
    };
    MeanVariances { clusters, folds: MeanVariances::over((0..repeats).map(repeat_variance)) }
}

/// Jackknife variance from the values without each of n parts, with n.
fn jackknife_with_count(without: Vec<f64>) -> Option<(f64, usize)> {
    jackknife_variance(&without).map(|variance| (variance, without.len()))
}

/// Number of clusters in each of the `count` loss sums of a fold.
pub fn most_clusters(count: usize) -> u32 {
    let most = (MOST_SUMS / count.max(1)).clamp(32, 256);
    1 << most.ilog2()
}

/// Adds up sums by cluster number modulo `most`; the result is in order of these numbers. Memory: O(`most`) up to
/// [`MOST_INDEXED`], else O(sums) for any cluster numbers.
fn merge_clusters(most: u32, sums: impl Iterator<Item = ClusterSum>) -> Vec<ClusterSum> {
    let sums = sums.map(|sum| ClusterSum { cluster: sum.cluster % most, ..sum });
    let mut all: Vec<ClusterSum> = Vec::new();
    if most <= MOST_INDEXED {
        for more in sums {
            let next = all.len() as u32;
            all.extend((next..=more.cluster).map(|cluster| ClusterSum { cluster, weight: 0.0, sum: 0.0 }));
            let to = &mut all[more.cluster as usize];
            (to.weight, to.sum) = (to.weight + more.weight, to.sum + more.sum);
        }
    } else {
        all = ClusterSum::merge(sums.collect());
    }
    all.retain(|sum| sum.weight > 0.0);
    all.shrink_to_fit();
    all
}
