//! Search paths of folds with their held-out losses, and the paths of all folds at one λ.

use super::{FoldLosses, LossSums, feature_places, order_features};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use vaglio_core::{Feature, Loss, Result, Score, StopReason};
use vaglio_report::record::Cell;
use vaglio_search::{Path, PathEntry};

/// Held-out losses of one search path, by size.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FoldPath {
    /// Losses of the sizes that the path reached, from the empty subset on.
    pub sizes: BTreeMap<usize, LossSums>,
    /// Penalties at which the path is evaluated, with their models and losses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub penalties: Vec<(f64, PathEntry, LossSums)>,
    pub empty_score: Score,
    /// Sizes that may be the result.
    pub allowed: RangeInclusive<usize>,
    /// Size of the last entry, if the path reached its full subset.
    pub everything: Option<usize>,
    /// Features in order of entry.
    order: Vec<Feature>,
    /// Entries by size. A subset that consists of the first features of the order is left empty.
    entries: BTreeMap<usize, PathEntry>,
    /// Losses on the other scale, if targets are mapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<Arc<FoldPath>>,
}

impl FoldPath {
    /// Encodes the subsets of a path, without losses.
    pub fn new(path: Path, candidates: usize) -> Self {
        let (everything, allowed) = (path.everything(candidates), path.allowed.clone());
        let order = order_features(path.entries.iter().flat_map(|entry| &entry.subset));
        let place = feature_places(&order);
        let own = |mut entry: PathEntry| {
            let size = entry.subset.len();
            entry.standard_error = None;
            if entry.subset.iter().all(|feature| place[feature] < size) {
                entry.subset = Vec::new();
            }
            (size, entry)
        };
        FoldPath {
            sizes: BTreeMap::new(),
            penalties: Vec::new(),
            empty_score: path.empty,
            allowed,
            everything,
            entries: path.entries.into_iter().map(own).collect(),
            order,
            other: None,
        }
    }

    /// Path cut at one lasso penalty: a single model that counts as the full subset, or none if the path ended before.
    pub fn to_penalty(&self, lambda: f64) -> FoldPath {
        let found = self.penalties.iter().find(|(own, ..)| *own == lambda);
        let size = found.map_or(0, |(_, entry, _)| entry.subset.len());
        // An impossible size marks a path without a model.
        let only = if found.is_some() { size } else { usize::MAX };
        let own = found.filter(|_| size > 0);
        let entries: Vec<PathEntry> = own.iter().map(|(_, entry, _)| entry.clone()).collect();
        let mut path = Path::stopped(self.empty_score, StopReason::Penalty);
        (path.entries, path.allowed) = (entries, only..=only);
        let empty = self.at(0).map(|sums| (0, sums.clone()));
        FoldPath {
            sizes: empty.into_iter().chain(own.map(|(.., sums)| (size, sums.clone()))).collect(),
            everything: found.map(|_| size),
            other: self.other.as_ref().map(|other| Arc::new(other.to_penalty(lambda))),
            ..FoldPath::new(path, size)
        }
    }

    /// Loss of the largest subset of at most `size` features.
    pub fn at(&self, size: usize) -> Option<&LossSums> {
        self.sizes.range(..=size).next_back().map(|(_, sums)| sums)
    }

    /// Largest subset of at most `size` features.
    pub fn entry(&self, size: usize) -> PathEntry {
        let reached = self.sizes.range(..=size).next_back();
        let entry = reached.and_then(|(size, _)| self.decode_entry(*size));
        entry.unwrap_or_else(|| PathEntry::new(Vec::new(), self.empty_score))
    }

    fn decode_entry(&self, size: usize) -> Option<PathEntry> {
        let mut entry = self.entries.get(&size)?.clone();
        if entry.subset.is_empty() {
            entry.subset = self.order[..size].to_vec();
        }
        Some(entry)
    }

    /// Largest size that the path covers; unbounded if it reached its full subset.
    pub fn reach(&self) -> usize {
        let largest = self.sizes.last_key_value().map_or(0, |(size, _)| *size);
        self.everything.map_or(largest, |_| usize::MAX)
    }

    /// Whether the path already has this entry.
    pub fn has(&self, entry: &PathEntry) -> bool {
        self.decode_entry(entry.subset.len()).is_some_and(|own| own.subset == entry.subset)
    }
}

/// Search paths of all folds at one λ, repeat by repeat. Sizes are matched with sizes of the path on all rows.
///
/// A fold may lack candidates that are constant in it. Its full subset is matched with the full subset of all rows,
/// whatever their sizes; other sizes match by number.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LambdaPaths {
    /// The λ of the searches, if each λ has its own.
    pub lambda: Option<f64>,
    /// Path of every fold, with its losses.
    pub folds: Vec<Arc<FoldPath>>,
    /// Checkpoint at which the searches were ended; `None` if all ended by themselves.
    pub end: Option<usize>,
    /// Size of the full subset on all rows.
    pub everything: usize,
    /// Number of random splits into folds.
    pub repeats: usize,
}

impl LambdaPaths {
    /// Copies the paths with losses on the other scale of mapped targets, if any.
    pub fn on_other_scale(&self) -> Option<LambdaPaths> {
        let folds = self.folds.iter().map(|path| path.other.clone()).collect::<Option<_>>()?;
        Some(LambdaPaths { folds, ..*self })
    }

    /// Splits one path per fold into models at each penalty that gives all rows an allowed model.
    pub fn to_penalties(&self, path: &Path) -> Vec<LambdaPaths> {
        let to = |(lambda, entry): &(f64, PathEntry)| LambdaPaths {
            lambda: Some(*lambda),
            folds: self.folds.iter().map(|path| Arc::new(path.to_penalty(*lambda))).collect(),
            end: None,
            everything: entry.subset.len(),
            ..*self
        };
        path.at_penalties.iter().filter(|(_, entry)| path.allowed.contains(&entry.subset.len())).map(to).collect()
    }

    /// Selects some folds, as one repeat.
    pub fn select_folds(&self, kept: &[usize]) -> Self {
        LambdaPaths { folds: kept.iter().map(|&fold| Arc::clone(&self.folds[fold])).collect(), repeats: 1, ..*self }
    }

    /// Size of the full subset on all rows, if every fold's path reached its own full subset.
    fn full_size(&self) -> Option<usize> {
        let is_reached = !self.folds.is_empty() && self.folds.iter().all(|path| path.everything.is_some());
        is_reached.then_some(self.everything)
    }

    /// Matching size in a fold.
    fn key_in_fold(&self, size: usize) -> usize {
        if self.full_size() == Some(size) { usize::MAX } else { size }
    }

    /// Losses matched to a size, by fold.
    pub fn losses(&self, size: usize) -> FoldLosses<'_> {
        let key = self.key_in_fold(size);
        FoldLosses::new(self.folds.iter().filter_map(|path| path.at(key)), self.repeats)
    }

    /// Losses of no columns, by fold.
    pub fn empties(&self) -> FoldLosses<'_> {
        FoldLosses::new(self.folds.iter().filter_map(|path| path.at(0)), self.repeats)
    }

    /// Pooled loss of no columns.
    pub fn empty(&self, loss: &dyn Loss) -> Result<Cell> {
        self.empties().cell(loss, 0)
    }

    /// Path entries matched to a size, in the first folds.
    pub fn entries(&self, size: usize, folds: usize) -> Vec<PathEntry> {
        let key = self.key_in_fold(size);
        self.folds.iter().take(folds).map(|path| path.entry(key)).collect()
    }

    /// Whether a size is allowed and was reached in every fold.
    pub fn has(&self, size: usize) -> bool {
        let (folds, full) = (|| self.folds.iter(), self.full_size());
        if full == Some(size) {
            return folds().all(|path| path.everything.is_some_and(|all| path.allowed.contains(&all)));
        }
        let least = folds().map(|path| *path.allowed.start()).max().unwrap_or(0);
        let most = folds().map(|path| *path.allowed.end()).max().unwrap_or(0);
        let reach = folds().map(|path| path.reach()).min().unwrap_or(0);
        // Sizes at which every fold has all of its columns are represented by the full subset.
        let bound = full.map(|all| folds().filter_map(|path| path.everything).fold(0, usize::max).min(all));
        (least..=most.min(reach)).contains(&size) && bound.is_none_or(|bound| size < bound)
    }

    /// Allowed sizes that were reached, the empty subset included.
    pub fn sizes(&self) -> BTreeSet<usize> {
        let reached = self.folds.iter().flat_map(|path| path.sizes.keys().copied());
        let mut sizes: BTreeSet<usize> = reached.chain(self.full_size()).collect();
        sizes.retain(|&size| self.has(size));
        sizes
    }

    /// Size with the lowest loss among those up to `most`, the first of ties, and that loss; `None` if there is none.
    pub fn lowest(&self, loss: &dyn Loss, most: usize) -> Result<Option<(usize, f64)>> {
        let mut best: Option<(usize, f64)> = None;
        for size in self.sizes().into_iter().take_while(|size| *size <= most) {
            let own = self.losses(size).mean(loss)?;
            if best.is_none_or(|(_, lowest)| own < lowest) {
                best = Some((size, own));
            }
        }
        Ok(best)
    }

    /// Pooled losses of those `sizes` that are allowed and reached, in increasing order.
    pub fn cells(&self, loss: &dyn Loss, sizes: impl IntoIterator<Item = usize>) -> Result<Vec<Cell>> {
        let sizes: BTreeSet<usize> = sizes.into_iter().filter(|&size| self.has(size)).collect();
        sizes.into_iter().map(|size| self.losses(size).cell(loss, size)).collect()
    }

    /// Losses of no columns, the chosen size and its neighbors, and all columns, where every fold reached them.
    pub fn near(&self, size: usize) -> BTreeMap<usize, Vec<LossSums>> {
        let near = [Some(0), size.checked_sub(1), Some(size), Some(size + 1), self.full_size()];
        // Every search has the empty subset, even if it cannot be the result.
        let sizes = near.into_iter().flatten().filter(|&near| near == 0 || self.has(near));
        let losses = |size: usize| if size == 0 { self.empties() } else { self.losses(size) };
        sizes.map(|size| (size, losses(size).folds.into_iter().cloned().collect())).collect()
    }
}
