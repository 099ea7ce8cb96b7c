//! Sums of held-out losses, which can be pooled over folds and compared on the same rows.
//!
//! For a mean loss, sums by cluster are kept, up to a number of clusters. Further clusters are joined in turn, which
//! leaves the expected variance between them unchanged but makes its estimate slightly less precise. For a loss of all
//! rows together, the rows are kept, and a jackknife over clusters or folds replaces the sums.

use ndarray::{Array2, ArrayView2, Axis, concatenate};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vaglio_core::{Error, Loss, Measure, Result, row_weights, select_rows};
use vaglio_report::{ClusterSum, MeanVariances, StandardizedMoments};

/// Limit on the number of clusters that joins none of them.
pub const EVERY: u32 = 1 << 31;
/// Largest number of clusters joined by direct indexing.
const FEW: u32 = 1 << 10;
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
    /// Rows for a loss of all rows together: targets, predictions, weights and clusters.
    Rows {
        /// Targets, outputs × rows.
        targets: Array2<f64>,
        /// Predictions, outputs × rows.
        predictions: Array2<f64>,
        /// Weight of each row.
        weights: Vec<f64>,
        /// Cluster of each row.
        clusters: Vec<u32>,
    },
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
    /// Calls `then` with first row, weight and loss of every unit of positive weight, in order, for a mean loss.
    pub fn each_unit(&self, loss: &dyn Loss, mut then: impl FnMut(usize, f64, f64)) {
        let TargetsAndPredictions { targets, predictions, weights, units, .. } = *self;
        let (mut target, mut prediction) = (vec![0.0; targets.nrows()], vec![0.0; targets.nrows()]);
        let alone = match targets.nrows() {
            1 => targets.as_slice().zip(predictions.as_slice()),
            _ => None,
        };
        let is_squared = loss.traits().measure == Measure::Squared;
        let mut of_row = |row: usize| {
            if let Some((targets, predictions)) = alone {
                if is_squared {
                    return (targets[row] - predictions[row]).powi(2);
                }
                return loss.row_loss(&targets[row..=row], &predictions[row..=row]);
            }
            target.iter_mut().zip(targets.column(row)).for_each(|(to, from)| *to = *from);
            prediction.iter_mut().zip(predictions.column(row)).for_each(|(to, from)| *to = *from);
            loss.row_loss(&target, &prediction)
        };
        let weight = row_weights(weights);
        let (mut row, rows) = (0, targets.ncols());
        while row < rows {
            let end = match units {
                None => row + 1,
                Some(units) => row + units[row..].iter().take_while(|unit| **unit == units[row]).count(),
            };
            let total: f64 = (row..end).map(weight).sum();
            if total > 0.0 {
                let mean = (row..end).map(|row| weight(row) * of_row(row)).sum::<f64>() / total;
                then(row, total, mean);
            }
            row = end;
        }
    }
}

impl LossSums {
    /// Sums with at most `most` clusters, a power of two. Cost O(rows · outputs).
    pub fn new(loss: &dyn Loss, of: TargetsAndPredictions<'_>, most: u32) -> Self {
        let TargetsAndPredictions { targets, predictions, weights, clusters, .. } = of;
        let cluster = |row: usize| clusters.map_or(row as u32, |clusters| clusters[row]);
        if !loss.traits().measure.is_of_rows() {
            let weights = weights.map_or_else(|| vec![1.0; targets.ncols()], <[f64]>::to_vec);
            let clusters = (0..targets.ncols()).map(cluster).collect();
            return LossSums::Rows {
                targets: targets.to_owned(),
                predictions: predictions.to_owned(),
                weights,
                clusters,
            };
        }
        if most as usize <= targets.ncols() {
            return summed(loss, of, most);
        }
        let mut units = Vec::with_capacity(targets.ncols());
        of.each_unit(loss, |row, weight, lost| {
            units.push(ClusterSum { cluster: cluster(row), weight, sum: weight * lost });
        });
        let weight: f64 = units.iter().map(|unit| unit.weight).sum();
        let sum: f64 = units.iter().map(|unit| unit.sum).sum();
        let mean = if units.is_empty() { 0.0 } else { sum / weight };
        let clusters = joined(units.into_iter(), most);
        LossSums::Mean { weight, mean, most, clusters }
    }

    /// Empty sums.
    pub fn none() -> Self {
        LossSums::Mean { weight: 0.0, mean: 0.0, most: EVERY, clusters: Vec::new() }
    }

    /// Mean loss pooled over the folds of all repeats, with its standard error.
    ///
    /// # Errors
    /// [`Error::Shape`] if no row has weight.
    pub fn pooled(loss: &dyn Loss, parts: &[&LossSums], repeats: usize) -> Result<(f64, Option<f64>)> {
        let value = LossSums::mean(loss, parts)?;
        let spread = LossSums::spread(loss, parts, None, repeats);
        Ok((value, spread.and_then(|spread| spread.error())))
    }

    /// Mean loss pooled over folds.
    ///
    /// # Errors
    /// [`Error::Shape`] if no row has weight.
    pub fn mean(loss: &dyn Loss, parts: &[&LossSums]) -> Result<f64> {
        let nothing = || Error::Shape("no row that was held out counts".into());
        match parts.first().ok_or_else(nothing)? {
            LossSums::Mean { .. } => {
                let mut pooled: Option<(f64, f64)> = None;
                for part in parts {
                    let LossSums::Mean { weight, mean, .. } = part else { continue };
                    pooled = match pooled {
                        None => Some((*weight, *mean)),
                        Some(all) if *weight == 0.0 => Some(all),
                        Some((w, m)) => Some((w + weight, m + (mean - m) * weight / (w + weight))),
                    };
                }
                pooled.filter(|(weight, _)| *weight != 0.0).map(|(_, mean)| mean).ok_or_else(nothing)
            }
            LossSums::Rows { .. } => {
                let value = Joined::new(parts).ok_or_else(nothing)?.mean(loss, |_| true);
                if value.is_nan() { Err(nothing()) } else { Ok(value) }
            }
        }
    }

    /// Standard error of the difference of two means over the same rows in the same folds.
    pub fn difference(loss: &dyn Loss, a: &[&LossSums], b: &[&LossSums], repeats: usize) -> Option<f64> {
        LossSums::spread(loss, a, Some(b), repeats)?.root()
    }

    /// Variances of the pooled mean, or of its difference to another mean on the same rows in the same folds.
    pub fn spread(
        loss: &dyn Loss,
        a: &[&LossSums],
        less: Option<&[&LossSums]>,
        repeats: usize,
    ) -> Option<MeanVariances> {
        if matches!(a.first()?, LossSums::Rows { .. }) {
            return Some(match less {
                Some(b) => left_out(loss, &[a, b], repeats),
                None => left_out(loss, &[a], repeats),
            });
        }
        let parts = LossSums::cluster_sums(a, less)?;
        Some(MeanVariances::from_folds(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>(), repeats))
    }

    /// Sums by cluster of each fold, or their differences.
    fn cluster_sums(a: &[&LossSums], less: Option<&[&LossSums]>) -> Option<Vec<Vec<ClusterSum>>> {
        let most = less.map_or(fewest(a), |b| fewest(a).min(fewest(b)));
        let Some(b) = less else { return Some(a.iter().map(|part| part.sums(most)).collect()) };
        let less = |(a, b): (&&LossSums, &&LossSums)| -> Option<Vec<ClusterSum>> {
            let (a, b) = (a.sums(most), b.sums(most));
            let same = |(a, b): (&ClusterSum, &ClusterSum)| {
                (a.cluster == b.cluster).then_some(ClusterSum { sum: a.sum - b.sum, ..*a })
            };
            if a.len() == b.len() { a.iter().zip(&b).map(same).collect() } else { None }
        };
        a.iter().zip(b).map(less).collect()
    }

    /// Standardized moments of the cluster sums, for one mean or a difference of two.
    pub(crate) fn shape(a: &[&LossSums], less: Option<&[&LossSums]>) -> StandardizedMoments {
        let Some(LossSums::Mean { .. }) = a.first() else {
            let clusters = a.iter().flat_map(|part| match part {
                LossSums::Rows { clusters, .. } => &clusters[..],
                LossSums::Mean { .. } => &[],
            });
            return StandardizedMoments::normal(clusters.collect::<std::collections::BTreeSet<_>>().len());
        };
        let parts = LossSums::cluster_sums(a, less).unwrap_or_default();
        let of_cluster = joined(parts.into_iter().flatten(), EVERY);
        let (weight, sum) = of_cluster.iter().fold((0.0, 0.0), |(w, s), of| (w + of.weight, s + of.sum));
        let mean = sum / weight;
        StandardizedMoments::from_deviations(of_cluster.iter().map(|of| of.sum - of.weight * mean))
    }

    fn sums(&self, most: u32) -> Vec<ClusterSum> {
        let LossSums::Mean { most: own, clusters, .. } = self else { return Vec::new() };
        if *own == most { clusters.clone() } else { joined(clusters.iter().copied(), most) }
    }
}

/// Sums of many rows by their cluster, whose numbers are taken modulo a power of two.
fn summed(loss: &dyn Loss, of: TargetsAndPredictions<'_>, most: u32) -> LossSums {
    let mut clusters = vec![(0.0, 0.0); most as usize];
    let (mut weight, mut sum) = (0.0, 0.0);
    of.each_unit(loss, |row, own, lost| {
        let lost = own * lost;
        (weight, sum) = (weight + own, sum + lost);
        let cluster = of.clusters.map_or(row as u32, |clusters| clusters[row]);
        let of_cluster = &mut clusters[(cluster % most) as usize];
        *of_cluster = (of_cluster.0 + own, of_cluster.1 + lost);
    });
    let mean = if weight > 0.0 { sum / weight } else { 0.0 };
    let sums = (0..most).zip(clusters).filter(|(_, (weight, _))| *weight > 0.0);
    let clusters = sums.map(|(cluster, (weight, sum))| ClusterSum { cluster, weight, sum }).collect();
    LossSums::Mean { weight, mean, most, clusters }
}

/// Smallest limit on the number of clusters among the folds.
fn fewest(parts: &[&LossSums]) -> u32 {
    let most = |part: &&LossSums| if let LossSums::Mean { most, .. } = part { *most } else { EVERY };
    parts.iter().map(most).min().unwrap_or(EVERY)
}

/// Adds up sums of equal cluster number modulo `most`; the result is in order of these numbers.
pub(super) fn joined(sums: impl Iterator<Item = ClusterSum>, most: u32) -> Vec<ClusterSum> {
    if most <= FEW || sums.size_hint().0 >= most as usize {
        let mut all = vec![ClusterSum { cluster: 0, weight: 0.0, sum: 0.0 }; most as usize];
        for ClusterSum { cluster, weight, sum } in sums {
            let of = &mut all[(cluster % most) as usize];
            *of = ClusterSum { cluster: cluster % most, weight: of.weight + weight, sum: of.sum + sum };
        }
        all.retain(|of| of.weight > 0.0);
        return all;
    }
    let mut all: Vec<ClusterSum> = sums.map(|sum| ClusterSum { cluster: sum.cluster % most, ..sum }).collect();
    all.sort_by_key(|sum| sum.cluster);
    let mut out: Vec<ClusterSum> = Vec::with_capacity(all.len());
    for next in all {
        match out.last_mut().filter(|last| last.cluster == next.cluster) {
            Some(last) => (last.weight, last.sum) = (last.weight + next.weight, last.sum + next.sum),
            None => out.push(next),
        }
    }
    out.shrink_to_fit();
    out
}

/// Rows of several folds.
struct Joined {
    targets: Array2<f64>,
    predictions: Array2<f64>,
    weights: Vec<f64>,
    /// Cluster and fold of each row.
    of_row: Vec<(u32, usize)>,
}

impl Joined {
    fn new(parts: &[&LossSums]) -> Option<Self> {
        let (mut targets, mut predictions, mut weights, mut of_row) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (fold, part) in parts.iter().enumerate() {
            let LossSums::Rows { targets: t, predictions: p, weights: w, clusters } = part else { continue };
            targets.push(t.view());
            predictions.push(p.view());
            weights.extend_from_slice(w);
            of_row.extend(clusters.iter().map(|cluster| (*cluster, fold)));
        }
        let joined = |parts: &[ArrayView2<'_, f64>]| concatenate(Axis(1), parts).ok();
        Some(Joined { targets: joined(&targets)?, predictions: joined(&predictions)?, weights, of_row })
    }

    /// Loss of the selected rows.
    fn mean(&self, loss: &dyn Loss, keeps: impl Fn(usize) -> bool) -> f64 {
        let rows: Vec<usize> = (0..self.of_row.len()).filter(|&row| keeps(row)).collect();
        if rows.len() == self.of_row.len() {
            return loss.mean(self.targets.view(), self.predictions.view(), Some(&self.weights));
        }
        let weights: Vec<f64> = rows.iter().map(|&row| self.weights[row]).collect();
        let (targets, predictions) = (select_rows(&self.targets, &rows), select_rows(&self.predictions, &rows));
        loss.mean(targets.view(), predictions.view(), Some(&weights))
    }
}

/// Variances of a loss of all rows together, or of a difference, by the jackknife over clusters and over folds.
fn left_out(loss: &dyn Loss, of: &[&[&LossSums]], repeats: usize) -> MeanVariances {
    let known: Option<Vec<Joined>> = of.iter().map(|parts| Joined::new(parts)).collect();
    let Some(known) = known else { return MeanVariances::default() };
    let Some(first) = known.first() else { return MeanVariances::default() };
    let without = |known: &[Joined], keeps: &dyn Fn(usize) -> bool| {
        known.iter().map(|rows| rows.mean(loss, keeps)).reduce(|a, b| a - b).unwrap_or(f64::NAN)
    };
    let numbers: std::collections::BTreeSet<u32> = first.of_row.iter().map(|(cluster, _)| *cluster).collect();
    let is_by_rows = numbers.len() == first.of_row.len() && of.len() == 1;
    let place: BTreeMap<u32, u32> = (0..).zip(&numbers).map(|(place, number)| (*number, place % LEFT_OUT)).collect();
    let parts = (numbers.len() as u32).min(LEFT_OUT);
    let part_of: Vec<u32> = first.of_row.iter().map(|(cluster, _)| place[cluster]).collect();
    let clusters = match is_by_rows {
        true => loss
            .standard_error(first.targets.view(), first.predictions.view(), Some(&first.weights), None)
            .map(|error| (error * error, numbers.len())),
        false => jackknife((0..parts).map(|part| without(&known, &|row| part_of[row] != part)).collect()),
    };
    let folds = of.first().map_or(0, |parts| parts.len()).div_ceil(repeats.max(1)).max(1);
    let most = folds.min(LEFT_OUT as usize);
    let of_repeat = |repeat: usize| {
        let is_kept = |own: usize, part: usize| own / folds == repeat && own % folds % most != part;
        jackknife((0..most).map(|part| without(&known, &|row| is_kept(first.of_row[row].1, part))).collect())
    };
    let known = (0..repeats.max(1)).map(of_repeat);
    MeanVariances { clusters, folds: MeanVariances::over(known) }
}

/// Jackknife variance (n − 1)/n·Σ (θ − θ̄)², with n.
fn jackknife(without: Vec<f64>) -> Option<(f64, usize)> {
    let count = without.len() as f64;
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|theta| (theta - mean).powi(2)).sum();
    let variance = (count - 1.0) / count * squares;
    (without.len() > 1 && variance.is_finite()).then_some((variance, without.len()))
}

#[cfg(test)]
mod tests;
