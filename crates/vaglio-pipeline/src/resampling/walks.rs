//! Searches of one fold: run on its training rows at each λ, evaluated on its held-out rows.

use super::final_training::FinalModelCache;
use super::loss_sums::LossSums;
use super::path_predictions::{FoldTestRows, order, places};
use super::sample::{FittedProblem, Sample};
use super::split_rule::TrainTestSplit;
use crate::selector::ValidSelector;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use vaglio_core::{
    AtPenalty, Design, Error, Feature, Path, PathEntry, Problem, Result, Score, StopReason, TargetUnits,
};
use vaglio_search::Judge;

/// Held-out losses of one search path, by size.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FoldPath {
    /// Loss of the empty subset.
    pub empty: LossSums,
    /// Sizes that the path reached, in increasing order, with their losses.
    pub sizes: Vec<(usize, LossSums)>,
    /// Models at penalties with their losses, if the path is evaluated at penalties.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) penalties: Vec<(AtPenalty, LossSums)>,
    pub(super) empty_score: Score,
    /// Sizes that may be the result.
    pub(super) allowed: RangeInclusive<usize>,
    /// Size of the last entry, if the path reached its full subset.
    pub(super) everything: Option<usize>,
    /// Features in order of entry.
    order: Vec<Feature>,
    /// Entries by size. A subset that consists of the first features of the order is left empty.
    entries: Vec<(usize, PathEntry)>,
    /// Losses on the other scale, if targets are mapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) other: Option<Box<FoldPath>>,
}

/// A fold: training rows with the result of fitting, and held-out rows.
pub struct Fold {
    /// Result of fitting on the training rows.
    pub fitted: FittedProblem,
    /// Design of the training rows.
    pub design: Design,
    /// Problem of the held-out rows.
    pub held: Problem,
    /// Final models of the training rows.
    pub(super) known: FinalModelCache,
}

impl Fold {
    /// Builds a fold from a split of a sample. The design of all rows, if given, provides λ and data that folds share.
    ///
    /// # Errors
    /// Returns the errors of the maps and of the design.
    pub fn new(
        selector: &ValidSelector,
        sample: &Sample,
        TrainTestSplit { training, held }: &TrainTestSplit,
        whole: Option<&Design>,
    ) -> Result<Self> {
        // Warnings of maps were given when they were fitted on all rows.
        let (fitted, held) = tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::default(), || {
            let fitted = sample.select(training)?.fitted()?;
            let held = held_by(sample, &fitted, held)?;
            Ok::<_, Error>((fitted, held))
        })?;
        let design = selector.design_at(&fitted.problem, whole)?;
        let design = match whole {
            Some(whole) => design.as_subset_of(whole, training),
            None => design,
        };
        Ok(Fold { fitted, design, held, known: FinalModelCache::default() })
    }

    /// The held-out rows, with the units of their targets.
    pub fn held(&self) -> FoldTestRows<'_> {
        FoldTestRows::new(&self.held, self.fitted.units.as_deref(), &self.fitted.problem)
    }

    /// Calls `then` with the held-out rows, whose targets and predictions are on the scale `judge`.
    ///
    /// # Errors
    /// Returns the errors of `then`.
    pub(super) fn on_scale<T>(&self, judge: Judge, then: impl FnOnce(&FoldTestRows<'_>) -> Result<T>) -> Result<T> {
        let Some(units) = self.fitted.units.as_ref().filter(|_| judge == Judge::Mapped) else {
            return then(&self.held());
        };
        let mut targets = self.held.targets().as_ref().clone();
        for (mut target, units) in targets.rows_mut().into_iter().zip(units) {
            target.mapv_inplace(|y| units.map.as_ref().map_or(y, |map| map.map(y)));
        }
        let problem = self.held.with_targets(targets)?;
        let units: Vec<TargetUnits> = units.iter().map(|units| units.scale.into()).collect();
        then(&FoldTestRows { problem: &problem, units: Some(&units), ..self.held() })
    }
}

/// Held-out rows after fitted maps, with the cluster of each.
pub(super) fn held_by(sample: &Sample, fitted: &FittedProblem, held: &[usize]) -> Result<Problem> {
    let all = sample.clusters();
    let clusters = held.iter().map(|&row| all[row]).collect();
    sample.select(held)?.apply(&fitted.maps, fitted.problem.names(), clusters)
}

/// Adds a description of the rows to a setting error.
pub fn said_of(error: Error, rows: &str) -> Error {
    match error {
        Error::Setting { field, message, place, from_root } => {
            let message = message.reworded(|message| format!("on the training rows of {rows}: {message}"));
            Error::Setting { field, message, place, from_root }
        }
        other => other,
    }
}

/// Approximate limit of the number of sums kept for one fold.
const MOST_SUMS: usize = 1 << 15;

/// Number of clusters in each of the `tallies` loss sums of a fold.
pub(super) fn most_clusters(tallies: usize) -> u32 {
    let most = (MOST_SUMS / tallies.max(1)).clamp(32, 256);
    1 << most.ilog2()
}

impl FoldPath {
    /// Encodes the subsets of a path, without losses.
    pub(super) fn new(path: Path, candidates: usize) -> Self {
        let (everything, allowed) = (path.everything(candidates), path.allowed.clone());
        let order = order(path.entries.iter().flat_map(|entry| &entry.subset));
        let place = places(&order);
        let own = |mut entry: PathEntry| {
            let size = entry.subset.len();
            entry.standard_error = None;
            if entry.subset.iter().all(|feature| place[feature] < size) {
                entry.subset = Vec::new();
            }
            (size, entry)
        };
        FoldPath {
            empty: LossSums::none(),
            sizes: Vec::new(),
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
    pub(crate) fn to_penalty(&self, lambda: f64) -> FoldPath {
        let found = self.penalties.iter().find(|(at, _)| at.lambda == lambda);
        let size = found.map_or(0, |(at, _)| at.entry.subset.len());
        // An impossible size marks a path without a model.
        let only = if found.is_some() { size } else { usize::MAX };
        let own = found.filter(|_| size > 0);
        let entries: Vec<PathEntry> = own.iter().map(|(at, _)| at.entry.clone()).collect();
        let mut path = Path::stopped(self.empty_score, StopReason::Penalty);
        (path.entries, path.allowed) = (entries, only..=only);
        FoldPath {
            empty: self.empty.clone(),
            sizes: own.iter().map(|(_, tally)| (size, tally.clone())).collect(),
            everything: found.map(|_| size),
            other: self.other.as_ref().map(|other| Box::new(other.to_penalty(lambda))),
            ..FoldPath::new(path, size)
        }
    }

    /// Loss of the largest subset of at most `size` features.
    pub fn at(&self, size: usize) -> &LossSums {
        self.place(size).map_or(&self.empty, |place| &self.sizes[place].1)
    }

    /// Largest subset of at most `size` features.
    pub fn entry(&self, size: usize) -> PathEntry {
        match self.place(size) {
            Some(place) => self.decoded(place),
            None => PathEntry::new(Vec::new(), self.empty_score),
        }
    }

    fn decoded(&self, place: usize) -> PathEntry {
        let (size, entry) = &self.entries[place];
        let subset = if entry.subset.is_empty() { self.order[..*size].to_vec() } else { entry.subset.clone() };
        let mut entry = entry.clone();
        entry.subset = subset;
        entry
    }

    /// Largest size that the path covers; unbounded if it reached its full subset.
    pub(crate) fn reach(&self) -> usize {
        let largest = self.sizes.last().map_or(0, |(size, _)| *size);
        self.everything.map_or(largest, |_| usize::MAX)
    }

    /// Whether the path already has this entry.
    pub(super) fn has(&self, entry: &PathEntry) -> bool {
        let own = self.entries.binary_search_by_key(&entry.subset.len(), |(size, _)| *size);
        own.is_ok_and(|place| self.decoded(place).subset == entry.subset)
    }

    fn place(&self, size: usize) -> Option<usize> {
        self.sizes.partition_point(|(reached, _)| *reached <= size).checked_sub(1)
    }
}
