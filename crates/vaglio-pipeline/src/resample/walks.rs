//! Searches of one fold: run on its training rows at each λ, evaluated on its held-out rows.

use super::loss_sums::LossSums;
use super::path_predictions::{FoldTestRows, PathModels, PathReduction, order};
use super::sample::{FittedProblem, Sample};
use super::split_rule::TrainTestSplit;
use crate::final_model::PredictionContext;
use crate::selector::ValidSelector;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use vaglio_core::{
    AtPenalty, Design, EntryFit, Error, Feature, Loss, Path, PathEntry, Problem, Result, Score, StopReason, TargetUnits,
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
    penalties: Vec<(AtPenalty, LossSums)>,
    pub(super) walked: EncodedPath,
    /// Losses on the other scale, if targets are mapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) other: Option<Box<FoldPath>>,
}

/// Subsets of a path, encoded by the order of features; a subset that is not a prefix is stored in full.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct EncodedPath {
    pub(super) empty: Score,
    allowed: RangeInclusive<usize>,
    /// Size of the last entry, if the path reached its full subset.
    everything: Option<usize>,
    order: Vec<Feature>,
    entries: Vec<EncodedEntry>,
}

/// One path entry in this encoding.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct EncodedEntry {
    size: usize,
    score: Score,
    fit: EntryFit,
    /// The subset, if it is not a prefix of the order.
    subset: Option<Vec<Feature>>,
}

impl EncodedPath {
    fn new(path: Path, candidates: usize) -> Self {
        let everything = path.everything(candidates);
        let order = order_of(&path);
        let place: HashMap<Feature, usize> =
            order.iter().enumerate().map(|(place, &feature)| (feature, place)).collect();
        let own = |entry: PathEntry| {
            let is_first = entry.subset.iter().all(|feature| place[feature] < entry.subset.len());
            EncodedEntry {
                size: entry.subset.len(),
                score: entry.score,
                fit: entry.fit,
                subset: (!is_first).then_some(entry.subset),
            }
        };
        let entries = path.entries.into_iter().map(own).collect();
        EncodedPath { empty: path.empty, allowed: path.allowed, everything, order, entries }
    }

    /// Decodes an entry.
    fn entry(&self, own: &EncodedEntry) -> PathEntry {
        let subset = own.subset.clone().unwrap_or_else(|| self.order[..own.size].to_vec());
        let mut entry = PathEntry::new(subset, own.score);
        entry.fit = own.fit.clone();
        entry
    }
}

/// A fold: training rows with the result of fitting, and held-out rows.
pub struct Fold {
    /// Training rows, as indices in the sample.
    pub training: Vec<usize>,
    /// Result of fitting on the training rows.
    pub fitted: FittedProblem,
    /// Problem of the held-out rows.
    pub held: Problem,
    /// Cluster of each held-out row.
    pub clusters: Vec<u32>,
    /// Scale of the losses that choose, if targets are mapped.
    pub judge: Option<Judge>,
}

impl Fold {
    /// Builds a fold from a split of a sample.
    ///
    /// # Errors
    /// Returns the errors of the maps.
    pub fn new(sample: &Sample, TrainTestSplit { training, held }: &TrainTestSplit) -> Result<Self> {
        // Warnings of maps were given when they were fitted on all rows.
        tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::default(), || {
            let fitted = sample.select(training)?.fitted()?;
            let (held, clusters) = held_by(sample, &fitted, held)?;
            Ok(Fold { training: training.clone(), fitted, held, clusters, judge: sample.judge() })
        })
    }

    /// The held-out rows, with the units of their targets.
    pub fn held(&self) -> FoldTestRows<'_> {
        let held = FoldTestRows::new(&self.held, self.fitted.units.as_deref(), &self.fitted.problem);
        FoldTestRows { clusters: Some(&self.clusters), ..held }
    }

    /// Calls `then` with the held-out rows on the scale of the losses that choose.
    ///
    /// # Errors
    /// Returns the errors of `then`.
    pub(super) fn judged<T>(&self, then: impl FnOnce(&FoldTestRows<'_>) -> Result<T>) -> Result<T> {
        self.on_scale(self.judge.unwrap_or_default(), then)
    }

    fn on_scale<T>(&self, judge: Judge, then: impl FnOnce(&FoldTestRows<'_>) -> Result<T>) -> Result<T> {
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
pub(super) fn held_by(sample: &Sample, fitted: &FittedProblem, held: &[usize]) -> Result<(Problem, Vec<u32>)> {
    let all = sample.clusters();
    let clusters = held.iter().map(|&row| all[row]).collect();
    sample.select(held)?.apply(fitted, clusters)
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

/// Number of clusters that each of a fold's tallies keeps.
pub(super) fn most_clusters(tallies: usize) -> u32 {
    let most = (MOST_SUMS / tallies.max(1)).clamp(32, 256);
    1 << most.ilog2()
}

/// Evaluation of the paths of one search in a fold.
pub(super) struct PathEvaluation<'a> {
    pub selector: &'a ValidSelector,
    pub fold: &'a Fold,
    /// Design of the search.
    pub design: &'a Design,
    pub reduced: Option<&'a PathReduction>,
    pub by: PredictionContext<'a>,
    pub loss: &'a dyn Loss,
    /// Number of clusters kept per loss sum.
    pub most: u32,
}

impl PathEvaluation<'_> {
    /// Updates the losses of the search after it continued to `path`; entries evaluated before are not fitted again.
    ///
    /// # Errors
    /// Returns the errors of the fits.
    pub fn update(&self, path: Path, mut before: Option<FoldPath>) -> Result<FoldPath> {
        let fold = self.fold;
        let Some(judge) = fold.judge else { return self.losses(path, before, &fold.held()) };
        let other = before.as_mut().and_then(|trail| trail.other.take()).map(|trail| *trail);
        let other = fold.on_scale(judge.other(), |held| self.losses(path.clone(), other, held))?;
        let trail = fold.on_scale(judge, |held| self.losses(path, before, held))?;
        Ok(FoldPath { other: Some(Box::new(other)), ..trail })
    }

    /// Losses of a path on some rows.
    fn losses(&self, path: Path, before: Option<FoldPath>, held: &FoldTestRows<'_>) -> Result<FoldPath> {
        let PathEvaluation { design, reduced, by, loss, most, .. } = *self;
        let at_penalties = path.at_penalties.clone();
        let is_known = |entry: &PathEntry| before.as_ref().is_some_and(|before| before.has(entry));
        let new: Vec<PathEntry> = match at_penalties.is_empty() {
            true => path.entries.iter().filter(|entry| !is_known(entry)).cloned().collect(),
            false => at_penalties.iter().map(|at| at.entry.clone()).collect(),
        };
        let walked = EncodedPath::new(path, design.candidates().len());
        let (mut empty, known) = before.map_or((None, Vec::new()), |trail| (Some(trail.empty), trail.sizes));
        let mut sizes: BTreeMap<usize, LossSums> = known.into_iter().collect();
        let mut penalties = Vec::with_capacity(at_penalties.len());
        let models = PathModels { design, entries: &new, empty_lambda: walked.empty.lambda, reduced };
        self.selector.predictions(models, by, held, |index, model, predictions| {
            let tally = held.compare(model, &predictions, |compared| LossSums::new(loss, compared, most));
            match index {
                None => empty = Some(tally),
                Some(index) if at_penalties.is_empty() => drop(sizes.insert(new[index].subset.len(), tally)),
                Some(index) => penalties.push((at_penalties[index].clone(), tally)),
            }
            Ok(())
        })?;
        let empty = empty.unwrap_or_else(LossSums::none);
        Ok(FoldPath { empty, sizes: sizes.into_iter().collect(), penalties, walked, other: None })
    }
}

/// Features of a path in order of entry.
fn order_of(path: &Path) -> Vec<Feature> {
    order(path.entries.iter().flat_map(|entry| &entry.subset))
}

impl FoldPath {
    /// The path cut at one lasso penalty: a single model that counts as the full subset, or none if the path stopped
    /// before it.
    pub(crate) fn to_penalty(&self, lambda: f64) -> FoldPath {
        let found = self.penalties.iter().find(|(at, _)| at.lambda == lambda);
        let size = found.map_or(0, |(at, _)| at.entry.subset.len());
        // An impossible size marks a path without a model.
        let only = if found.is_some() { size } else { usize::MAX };
        let own = found.filter(|_| size > 0);
        let entries: Vec<PathEntry> = own.iter().map(|(at, _)| at.entry.clone()).collect();
        let mut path = Path::stopped(self.walked.empty, StopReason::Penalty);
        (path.entries, path.allowed) = (entries, only..=only);
        FoldPath {
            empty: self.empty.clone(),
            sizes: own.iter().map(|(_, tally)| (size, tally.clone())).collect(),
            penalties: Vec::new(),
            walked: EncodedPath { everything: found.map(|_| size), ..EncodedPath::new(path, size) },
            other: self.other.as_ref().map(|other| Box::new(other.to_penalty(lambda))),
        }
    }

    /// Loss of the largest subset of at most `size` features.
    pub fn at(&self, size: usize) -> &LossSums {
        self.place(size).map_or(&self.empty, |place| &self.sizes[place].1)
    }

    /// Largest subset of at most `size` features.
    pub fn entry(&self, size: usize) -> PathEntry {
        let Some(place) = self.place(size) else {
            return PathEntry::new(Vec::new(), self.walked.empty);
        };
        self.walked.entry(&self.walked.entries[place])
    }

    /// Largest size that the path covers; unbounded if it reached its full subset.
    pub(crate) fn reach(&self) -> usize {
        let largest = self.sizes.last().map_or(0, |(size, _)| *size);
        self.everything().map_or(largest, |_| usize::MAX)
    }

    /// Size of the last subset, if it is the full one.
    pub(crate) fn everything(&self) -> Option<usize> {
        self.walked.everything
    }

    /// Sizes that may be the result.
    pub(crate) fn allowed(&self) -> &RangeInclusive<usize> {
        &self.walked.allowed
    }

    /// Whether the path already has this entry.
    fn has(&self, entry: &PathEntry) -> bool {
        let own = self.walked.entries.binary_search_by_key(&entry.subset.len(), |own| own.size);
        own.is_ok_and(|at| self.walked.entry(&self.walked.entries[at]).subset == entry.subset)
    }

    fn place(&self, size: usize) -> Option<usize> {
        self.sizes.partition_point(|(reached, _)| *reached <= size).checked_sub(1)
    }
}

#[cfg(test)]
impl FoldPath {
    /// A path that adds one feature after another up to a size, given the row losses of every size from 0.
    pub(crate) fn from_losses(sizes: usize, losses: impl Fn(usize) -> Vec<f64>) -> Self {
        let tally = |size: usize| {
            let roots: Vec<f64> = losses(size).into_iter().map(f64::sqrt).collect();
            let predictions = ndarray::Array2::from_shape_fn((1, roots.len()), |(_, row)| roots[row]);
            let targets = ndarray::Array2::zeros((1, roots.len()));
            let (targets, predictions) = (targets.view(), predictions.view());
            let of = super::loss_sums::TargetsAndPredictions {
                targets,
                predictions,
                weights: None,
                units: None,
                clusters: None,
            };
            LossSums::new(&vaglio_core::Squared, of, super::loss_sums::EVERY)
        };
        let score = Score { loss: 1.0, lambda: None };
        let entry = |size: usize| PathEntry::new((0..size).collect(), score);
        let mut path = Path::stopped(score, vaglio_core::StopReason::Patience);
        (path.entries, path.allowed) = ((1..=sizes).map(entry).collect(), 0..=sizes + 1);
        let sizes = (1..=sizes).map(|size| (size, tally(size))).collect();
        FoldPath {
            empty: tally(0),
            sizes,
            penalties: Vec::new(),
            walked: EncodedPath::new(path, usize::MAX),
            other: None,
        }
    }
}
