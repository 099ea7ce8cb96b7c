//! The walks of one fold: searched on its training rows at each λ, judged on the rows held out.

use super::along::{Held, order};
use super::parting::Part;
use super::sample::{Fitted, Sample};
use super::tally::Tally;
use crate::final_model::Judging;
use crate::selector::ValidSelector;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use vaglio_core::{
    AtPenalty, Design, EntryFit, Error, Feature, Judge, Loss, Path, PathEntry, Problem, Result, Score, StopReason,
    TargetUnits,
};

/// What one walk loses on rows held out, by size.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Trail {
    /// Of the empty subset.
    pub empty: Tally,
    /// The sizes that the walk reached, in increasing order, with the loss of each.
    pub sizes: Vec<(usize, Tally)>,
    /// The models at penalties, where its path is judged at some, with the loss of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    penalties: Vec<(AtPenalty, Tally)>,
    pub(super) walked: Walked,
    /// The losses on the other scale, where targets are mapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) other: Option<Box<Trail>>,
}

/// The subsets of a walk, by the order in which their features come; one that is not the first of these is written out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Walked {
    pub(super) empty: Score,
    allowed: RangeInclusive<usize>,
    /// The size of the last entry, where that is all that there was to take.
    everything: Option<usize>,
    order: Vec<Feature>,
    entries: Vec<Own>,
}

/// What an entry of a walk has of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Own {
    size: usize,
    score: Score,
    fit: EntryFit,
    /// A subset that is not the first features.
    subset: Option<Vec<Feature>>,
}

impl Walked {
    fn new(path: Path, candidates: usize) -> Self {
        let everything = path.everything(candidates);
        let order = order_of(&path);
        let place: HashMap<Feature, usize> =
            order.iter().enumerate().map(|(place, &feature)| (feature, place)).collect();
        let own = |entry: PathEntry| {
            let is_first = entry.subset.iter().all(|feature| place[feature] < entry.subset.len());
            Own {
                size: entry.subset.len(),
                score: entry.score,
                fit: entry.fit,
                subset: (!is_first).then_some(entry.subset),
            }
        };
        let entries = path.entries.into_iter().map(own).collect();
        Walked { empty: path.empty, allowed: path.allowed, everything, order, entries }
    }

    /// An entry with its score alone.
    fn entry(&self, own: &Own) -> PathEntry {
        let subset = own.subset.clone().unwrap_or_else(|| self.order[..own.size].to_vec());
        let mut entry = PathEntry::new(subset, own.score);
        entry.fit = own.fit.clone();
        entry
    }
}

/// A fold: training rows with what was learned from them, and rows held out.
pub struct Fold {
    /// The training rows, by their places in the sample.
    pub training: Vec<usize>,
    /// What was learned from them.
    pub fitted: Fitted,
    /// The problem of the rows held out.
    pub held: Problem,
    /// The cluster of each row held out.
    pub clusters: Vec<u32>,
    /// The scale of the losses that choose, where targets are mapped.
    pub judge: Option<Judge>,
}

impl Fold {
    /// Of a part of the rows of a sample.
    ///
    /// # Errors
    /// Those of the maps.
    pub fn of(sample: &Sample, Part { training, held }: &Part) -> Result<Self> {
        // What maps warn of was said when they were fitted on all rows.
        tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::default(), || {
            let fitted = sample.select(training)?.fitted()?;
            let (held, clusters) = held_by(sample, &fitted, held)?;
            Ok(Fold { training: training.clone(), fitted, held, clusters, judge: sample.judge() })
        })
    }

    /// The rows held out, with what predictions of them need.
    pub fn held(&self) -> Held<'_> {
        let held = Held::new(&self.held, self.fitted.units.as_deref(), &self.fitted.problem);
        Held { clusters: Some(&self.clusters), ..held }
    }

    /// Calls `then` with the rows held out on the scale of the losses that choose.
    ///
    /// # Errors
    /// Those of `then`.
    pub(super) fn judged<T>(&self, then: impl FnOnce(&Held<'_>) -> Result<T>) -> Result<T> {
        self.on_scale(self.judge.unwrap_or_default(), then)
    }

    fn on_scale<T>(&self, judge: Judge, then: impl FnOnce(&Held<'_>) -> Result<T>) -> Result<T> {
        let Some(units) = self.fitted.units.as_ref().filter(|_| judge == Judge::Mapped) else {
            return then(&self.held());
        };
        let mut targets = self.held.targets().as_ref().clone();
        for (mut target, units) in targets.rows_mut().into_iter().zip(units) {
            target.mapv_inplace(|y| units.map.as_ref().map_or(y, |map| map.map(y)));
        }
        let problem = self.held.with_targets(targets)?;
        let units: Vec<TargetUnits> = units.iter().map(|units| units.scale.into()).collect();
        then(&Held { problem: &problem, units: Some(&units), ..self.held() })
    }
}

/// Rows held out with the cluster of each, by the maps of others.
pub(super) fn held_by(sample: &Sample, fitted: &Fitted, held: &[usize]) -> Result<(Problem, Vec<u32>)> {
    let all = sample.clusters();
    let clusters = held.iter().map(|&row| all[row]).collect();
    sample.select(held)?.apply(fitted, clusters)
}

/// An error about settings, on some of the rows.
pub fn said_of(error: Error, rows: &str) -> Error {
    match error {
        Error::Setting { field, message, place, from_root } => {
            Error::Setting { field, message: format!("on the training rows of {rows}: {message}"), place, from_root }
        }
        other => other,
    }
}

/// Sums that the tallies of a fold hold together, about.
const MOST_SUMS: usize = 1 << 15;

/// The clusters that each of so many tallies of a fold tells apart.
pub(super) fn most_clusters(tallies: usize) -> u32 {
    let most = (MOST_SUMS / tallies.max(1)).clamp(32, 256);
    1 << most.ilog2()
}

/// What a walk loses that has gone on to a path, from its trail so far: entries that were there before are not fitted again.
///
/// # Errors
/// Those of the fits.
pub(super) fn gone_on(
    selector: &ValidSelector,
    (fold, design): (&Fold, &Design),
    (path, mut before): (Path, Option<Trail>),
    by: Judging<'_>,
    as_what: (&dyn Loss, u32),
) -> Result<Trail> {
    let of = (&fold.fitted.problem, design);
    let Some(judge) = fold.judge else { return followed(selector, of, (path, before), (&fold.held(), by), as_what) };
    let other = before.as_mut().and_then(|trail| trail.other.take()).map(|trail| *trail);
    let other =
        fold.on_scale(judge.other(), |held| followed(selector, of, (path.clone(), other), (held, by), as_what))?;
    let trail = fold.on_scale(judge, |held| followed(selector, of, (path, before), (held, by), as_what))?;
    Ok(Trail { other: Some(Box::new(other)), ..trail })
}

/// What a walk loses on some rows.
fn followed(
    selector: &ValidSelector,
    (problem, design): (&Problem, &Design),
    (path, before): (Path, Option<Trail>),
    (held, by): (&Held<'_>, Judging<'_>),
    (loss, most): (&dyn Loss, u32),
) -> Result<Trail> {
    let at_penalties = path.at_penalties.clone();
    let new: Vec<PathEntry> = match at_penalties.is_empty() {
        true => path.entries.iter().filter(|entry| !before.as_ref().is_some_and(|t| t.has(entry))).cloned().collect(),
        false => at_penalties.iter().map(|at| at.entry.clone()).collect(),
    };
    let walked = Walked::new(path, design.candidates().len());
    let (mut empty, known) = before.map_or((None, Vec::new()), |trail| (Some(trail.empty), trail.sizes));
    let mut sizes: BTreeMap<usize, Tally> = known.into_iter().collect();
    let mut penalties = Vec::with_capacity(at_penalties.len());
    selector.predictions((problem, design), (&new, walked.empty), held, by, |index, model, predictions| {
        let tally = held.compare(model, &predictions, |compared| Tally::new(loss, compared, most));
        match index {
            None => empty = Some(tally),
            Some(index) if at_penalties.is_empty() => drop(sizes.insert(new[index].subset.len(), tally)),
            Some(index) => penalties.push((at_penalties[index].clone(), tally)),
        }
        Ok(())
    })?;
    let empty = empty.unwrap_or_else(Tally::none);
    Ok(Trail { empty, sizes: sizes.into_iter().collect(), penalties, walked, other: None })
}

/// The features of a path in the order in which they come.
fn order_of(path: &Path) -> Vec<Feature> {
    order(path.entries.iter().flat_map(|entry| &entry.subset))
}

impl Trail {
    /// The walk to a penalty, whose only size is all that there was to take; one that may stand for no size where it did not
    /// come so far.
    pub(crate) fn to_penalty(&self, lambda: f64) -> Trail {
        let found = self.penalties.iter().find(|(at, _)| at.lambda == lambda);
        let size = found.map_or(0, |(at, _)| at.entry.subset.len());
        // A size that no subset has, where there is none.
        let only = if found.is_some() { size } else { usize::MAX };
        let own = found.filter(|_| size > 0);
        let entries: Vec<PathEntry> = own.iter().map(|(at, _)| at.entry.clone()).collect();
        let mut path = Path::stopped(self.walked.empty, StopReason::Penalty);
        (path.entries, path.allowed) = (entries, only..=only);
        Trail {
            empty: self.empty.clone(),
            sizes: own.iter().map(|(_, tally)| (size, tally.clone())).collect(),
            penalties: Vec::new(),
            walked: Walked { everything: found.map(|_| size), ..Walked::new(path, size) },
            other: self.other.as_ref().map(|other| Box::new(other.to_penalty(lambda))),
        }
    }

    /// The loss of the largest subset of at most so many features.
    pub fn at(&self, size: usize) -> &Tally {
        self.place(size).map_or(&self.empty, |place| &self.sizes[place].1)
    }

    /// That subset, with its score alone.
    pub fn entry(&self, size: usize) -> PathEntry {
        let Some(place) = self.place(size) else {
            return PathEntry::new(Vec::new(), self.walked.empty);
        };
        self.walked.entry(&self.walked.entries[place])
    }

    /// The largest size that it can stand for: without bound where it reached everything.
    pub(crate) fn reach(&self) -> usize {
        let largest = self.sizes.last().map_or(0, |(size, _)| *size);
        self.everything().map_or(largest, |_| usize::MAX)
    }

    /// The size of the last subset, where that is all that there was to take.
    pub(crate) fn everything(&self) -> Option<usize> {
        self.walked.everything
    }

    /// The sizes that may be the result.
    pub(crate) fn allowed(&self) -> &RangeInclusive<usize> {
        &self.walked.allowed
    }

    /// Whether its walk had this entry of that size.
    fn has(&self, entry: &PathEntry) -> bool {
        let own = self.walked.entries.binary_search_by_key(&entry.subset.len(), |own| own.size);
        own.is_ok_and(|at| self.walked.entry(&self.walked.entries[at]).subset == entry.subset)
    }

    fn place(&self, size: usize) -> Option<usize> {
        self.sizes.partition_point(|(reached, _)| *reached <= size).checked_sub(1)
    }
}

#[cfg(test)]
impl Trail {
    /// Of a walk that adds one feature after another up to a size, by the losses of rows of every size, none included.
    pub(crate) fn of_losses(sizes: usize, losses: impl Fn(usize) -> Vec<f64>) -> Self {
        let tally = |size: usize| {
            let roots: Vec<f64> = losses(size).into_iter().map(f64::sqrt).collect();
            let predictions = ndarray::Array2::from_shape_fn((1, roots.len()), |(_, row)| roots[row]);
            let targets = ndarray::Array2::zeros((1, roots.len()));
            let (targets, predictions) = (targets.view(), predictions.view());
            let of = super::tally::Compared { targets, predictions, weights: None, units: None, clusters: None };
            Tally::new(&vaglio_core::Squared, of, super::tally::EVERY)
        };
        let score = Score { loss: 1.0, lambda: None };
        let entry = |size: usize| PathEntry::new((0..size).collect(), score);
        let mut path = Path::stopped(score, vaglio_core::StopReason::Patience);
        (path.entries, path.allowed) = ((1..=sizes).map(entry).collect(), 0..=sizes + 1);
        let sizes = (1..=sizes).map(|size| (size, tally(size))).collect();
        Trail { empty: tally(0), sizes, penalties: Vec::new(), walked: Walked::new(path, usize::MAX), other: None }
    }
}
