//! Sums of held-out losses, which can be pooled over folds and compared on the same rows.
//!
//! For a mean loss, sums by cluster are kept, up to a number of clusters. Further clusters are joined in turn: the
//! expected variance between them is unchanged, its estimate slightly less precise. A loss of all rows together keeps
//! the rows; a jackknife over clusters or folds replaces the sums.

use ndarray::{Array2, ArrayView2, Axis, concatenate};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use vaglio_core::{Error, Loss, Measure, Result, gather, jackknife_variance, row_weights, select_rows};
use vaglio_report::record::Cell;
use vaglio_report::{ClusterSum, MeanVariances, StandardizedMoments};

/// Limit on the number of clusters that joins none of them.
pub const EVERY: u32 = 1 << 31;
/// Largest number of clusters joined by direct indexing.
const MOST_INDEXED: u32 = 1 << 16;
/// Approximate limit of the number of sums kept for one fold.
const MOST_SUMS: usize = 1 << 15;
/// Largest number of parts of the jackknife.
const LEFT_OUT: u32 = 64;

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

/// Predictions with the targets to compare.
#[derive(Clone, Copy)]
pub struct TargetsAndPredictions<'a> {
    /// Targets, outputs × rows.
    pub targets: ArrayView2<'a, f64>,
    /// Predictions, outputs × rows.
    pub predictions: ArrayView2<'a, f64>,
    /// Weight of each row; equal if absent.
    pub weights: Option<&'a [f64]>,
    /// Unit of each row, if rows are evaluated in groups; rows of a unit are adjacent.
    pub units: Option<&'a [u32]>,
    /// Cluster of each row; its own if absent.
    pub clusters: Option<&'a [u32]>,
}

impl TargetsAndPredictions<'_> {
    /// First row, weight and loss of every unit of positive weight, in order, for a mean loss.
    pub fn units(&self, loss: &dyn Loss) -> impl Iterator<Item = (usize, f64, f64)> {
        let TargetsAndPredictions { targets, predictions, weights, units, .. } = *self;
        let (mut target, mut prediction) = (vec![0.0; targets.nrows()], vec![0.0; targets.nrows()]);
        let alone = match targets.nrows() {
            1 => targets.to_slice().zip(predictions.to_slice()),
            _ => None,
        };
        let is_squared = loss.traits().measure == Measure::Squared;
        let mut of_row = move |row: usize| match alone {
            Some((targets, predictions)) if is_squared => (targets[row] - predictions[row]).powi(2),
            Some((targets, predictions)) => loss.row_loss(&targets[row..=row], &predictions[row..=row]),
            None => {
                target.iter_mut().zip(targets.column(row)).for_each(|(to, from)| *to = *from);
                prediction.iter_mut().zip(predictions.column(row)).for_each(|(to, from)| *to = *from);
                loss.row_loss(&target, &prediction)
            }
        };
        let weight = row_weights(weights);
        let mut next = 0;
        std::iter::from_fn(move || {
            while next < targets.ncols() {
                let row = next;
                next = match units {
                    None => row + 1,
                    Some(units) => row + units[row..].iter().take_while(|unit| **unit == units[row]).count(),
                };
                let total: f64 = (row..next).map(weight).sum();
                if total > 0.0 {
                    let mean = (row..next).map(|row| weight(row) * of_row(row)).sum::<f64>() / total;
                    return Some((row, total, mean));
                }
            }
            None
        })
    }
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
        Ok((self.mean(loss)?, self.spread(loss, None).and_then(|spread| spread.error())))
    }

    /// The pooled loss of a size, as a cell of a table.
    pub(super) fn cell(&self, loss: &dyn Loss, size: usize) -> Result<Cell> {
        let (loss, standard_error) = self.pooled_mean(loss)?;
        Ok(Cell { size, loss, standard_error, difference_error: None })
    }

    /// Standard error of the difference to another mean over the same rows in the same folds.
    pub fn difference(&self, loss: &dyn Loss, other: &FoldLosses<'t>) -> Option<f64> {
        self.spread(loss, Some(other))?.root()
    }

    /// Variances of the mean, or of its difference to another mean over the same rows in the same folds.
    pub(super) fn spread(&self, loss: &dyn Loss, less: Option<&FoldLosses<'t>>) -> Option<MeanVariances> {
        if matches!(self.folds.first()?, LossSums::Rows(_)) {
            let rows = std::iter::once(self).chain(less).map(FoldLosses::rows).collect::<Option<Vec<_>>>();
            return Some(rows.map_or_else(MeanVariances::default, |rows| left_out(loss, &rows, self.repeats.max(1))));
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
    pub(super) fn shape(&self, less: Option<&FoldLosses<'t>>) -> StandardizedMoments {
        let Some(LossSums::Mean { .. }) = self.folds.first() else {
            let clusters = self.folds.iter().flat_map(|fold| match fold {
                LossSums::Rows(rows) => &rows.clusters[..],
                LossSums::Mean { .. } => &[],
            });
            return StandardizedMoments::normal(clusters.collect::<BTreeSet<_>>().len());
        };
        let sums = self.cluster_sums(less).unwrap_or_default();
        let by_cluster = merge_clusters(EVERY, sums.into_iter().flatten());
        let (weight, sum) = by_cluster.iter().fold((0.0, 0.0), |(w, s), cluster| (w + cluster.weight, s + cluster.sum));
        let mean = sum / weight;
        StandardizedMoments::from_deviations(by_cluster.iter().map(|cluster| cluster.sum - cluster.weight * mean))
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

/// Number of clusters in each of the `count` loss sums of a fold.
pub fn most_clusters(count: usize) -> u32 {
    let most = (MOST_SUMS / count.max(1)).clamp(32, 256);
    1 << most.ilog2()
}

/// Adds up sums by cluster number modulo `most`; the result is in order of these numbers. Memory: O(`most`) up to
/// [`MOST_INDEXED`], else O(sums) for any cluster numbers.
fn merge_clusters(most: u32, sums: impl Iterator<Item = ClusterSum>) -> Vec<ClusterSum> {
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

/// Held-out rows with predictions in the user's units, of one fold or of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PooledPredictions {
    /// Targets, outputs × rows.
    pub targets: Array2<f64>,
    /// Predictions, outputs × rows.
    pub predictions: Array2<f64>,
    /// Weight of each row.
    pub weights: Vec<f64>,
    /// Unit of each row of one fold, if rows are evaluated in groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) units: Option<Vec<u32>>,
    /// Cluster of each row.
    pub clusters: Vec<u32>,
    /// Index of each row among all rows; empty if unknown.
    #[serde(skip)]
    pub places: Vec<u32>,
    /// End of the rows of each fold.
    #[serde(skip)]
    pub ends: Vec<usize>,
}

impl PooledPredictions {
    /// Held-out rows of one fold.
    pub fn from_rows(rows: TargetsAndPredictions<'_>) -> Self {
        let count = rows.targets.ncols();
        PooledPredictions {
            targets: rows.targets.to_owned(),
            predictions: rows.predictions.to_owned(),
            weights: rows.weights.map_or_else(|| vec![1.0; count], <[f64]>::to_vec),
            units: rows.units.map(<[u32]>::to_vec),
            clusters: rows.clusters.map_or_else(|| (0..count as u32).collect(), <[u32]>::to_vec),
            places: Vec::new(),
            ends: vec![count],
        }
    }

    /// Concatenates the held-out rows of folds.
    pub fn new<'a>(folds: impl Iterator<Item = &'a PooledPredictions>) -> Result<Self> {
        let folds: Vec<&PooledPredictions> = folds.collect();
        let views = |matrix: fn(&PooledPredictions) -> &Array2<f64>| {
            let views: Vec<ArrayView2<'_, f64>> = folds.iter().map(|fold| matrix(fold).view()).collect();
            concatenate(Axis(1), &views).map_err(|e| Error::failed("folds differ", e))
        };
        let ends = folds.iter().scan(0, |end, fold| {
            *end += fold.weights.len();
            Some(*end)
        });
        Ok(PooledPredictions {
            targets: views(|fold| &fold.targets)?,
            predictions: views(|fold| &fold.predictions)?,
            weights: folds.iter().flat_map(|fold| &fold.weights).copied().collect(),
            units: None,
            clusters: folds.iter().flat_map(|fold| &fold.clusters).copied().collect(),
            places: Vec::new(),
            ends: ends.collect(),
        })
    }

    /// Targets and predictions to compare.
    pub fn targets_and_predictions(&self) -> TargetsAndPredictions<'_> {
        TargetsAndPredictions {
            targets: self.targets.view(),
            predictions: self.predictions.view(),
            weights: Some(&self.weights),
            units: self.units.as_deref(),
            clusters: Some(&self.clusters),
        }
    }

    /// Loss of the selected rows.
    fn mean(&self, loss: &dyn Loss, keeps: impl Fn(usize) -> bool) -> f64 {
        let rows: Vec<usize> = (0..self.weights.len()).filter(|&row| keeps(row)).collect();
        if rows.len() == self.weights.len() {
            return loss.mean(self.targets.view(), self.predictions.view(), Some(&self.weights));
        }
        let weights = gather(&self.weights, &rows);
        let (targets, predictions) = (select_rows(&self.targets, &rows), select_rows(&self.predictions, &rows));
        loss.mean(targets.view(), predictions.view(), Some(&weights))
    }
}

/// Variances of a loss of all rows together, or of a difference, by the jackknife over clusters and over folds.
fn left_out(loss: &dyn Loss, rows: &[PooledPredictions], repeats: usize) -> MeanVariances {
    let Some(first) = rows.first() else { return MeanVariances::default() };
    let without = |keeps: &dyn Fn(usize) -> bool| {
        rows.iter().map(|rows| rows.mean(loss, keeps)).reduce(|a, b| a - b).unwrap_or(f64::NAN)
    };
    let numbers: BTreeSet<u32> = first.clusters.iter().copied().collect();
    let is_by_rows = numbers.len() == first.clusters.len() && rows.len() == 1;
    let place: BTreeMap<u32, u32> = (0..).zip(&numbers).map(|(place, number)| (*number, place % LEFT_OUT)).collect();
    let parts = (numbers.len() as u32).min(LEFT_OUT);
    let part_of: Vec<u32> = first.clusters.iter().map(|cluster| place[cluster]).collect();
    let fold_of: Vec<usize> = (0..part_of.len()).map(|row| first.ends.partition_point(|end| *end <= row)).collect();
    let clusters = if is_by_rows {
        let error = loss.standard_error(first.targets.view(), first.predictions.view(), Some(&first.weights), None);
        error.map(|error| (error * error, numbers.len()))
    } else {
        jackknife_with_count((0..parts).map(|part| without(&|row| part_of[row] != part)).collect())
    };
    let folds = first.ends.len().div_ceil(repeats).max(1);
    let most = folds.min(LEFT_OUT as usize);
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
