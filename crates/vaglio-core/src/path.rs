//! What a search did and found.

use crate::{Diagnostics, Feature, Figures, Score};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A column entered.
    Add,
    /// A column left.
    Remove,
}

/// One step of a search, seen by the observer as it happens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Step {
    /// What happened.
    pub action: Action,
    /// To which column; to the first of a block.
    pub feature: Feature,
    /// The other columns of its block, which moved with it.
    pub with: Vec<Feature>,
    /// The score of the subset after the step.
    pub score: Score,
    /// The size of the subset after the step.
    pub size: usize,
    /// Other columns that would have given exactly this score.
    pub tied: Vec<Feature>,
    /// Where a least-angle path is after the step.
    pub knot: Option<Knot>,
}

impl Step {
    /// A step of one column, with the score and the size of the subset after it; nothing is tied.
    pub fn new(action: Action, feature: Feature, score: Score, size: usize) -> Self {
        Step { action, feature, with: Vec::new(), score, size, tied: Vec::new(), knot: None }
    }
}

/// A knot of a least-angle path: a column enters or leaves, and the path goes on to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Knot {
    /// How far the common correlation falls until the next knot.
    pub mu: f64,
    /// The coefficients of the current columns at the next knot, in order of entry; of several outputs the
    /// norms of the rows of W.
    pub alpha: Vec<f64>,
}

/// The best subset that was recorded of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PathEntry {
    /// The subset, in order of entry.
    pub subset: Vec<Feature>,
    /// Its score.
    pub score: Score,
    /// The standard error of the score as a mean over rows, where it is one.
    pub standard_error: Option<f64>,
    /// How its model is made.
    pub fit: EntryFit,
}

impl PathEntry {
    /// A subset with its score alone: without a standard error, and with the readout of that λ as its model.
    /// [`SubsetScorer::entry`](crate::SubsetScorer::entry) knows these of the subset that a search is at.
    pub fn new(subset: Vec<Feature>, score: Score) -> Self {
        PathEntry { subset, score, standard_error: None, fit: EntryFit::Readout }
    }

    /// The λ of each output, where each has its own.
    pub fn lambdas(&self) -> Option<&[f64]> {
        if let EntryFit::Lambdas(lambdas) = &self.fit { Some(lambdas) } else { None }
    }
}

/// The model of a path at a penalty of its own, between two knots or at one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AtPenalty {
    /// λ of the path.
    pub lambda: f64,
    /// The columns whose coefficients the path has there, none at the start, with these.
    pub entry: PathEntry,
}

/// How the model of an entry is made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub enum EntryFit {
    /// The readout is trained at the λ of the score.
    #[default]
    Readout,
    /// The readout is trained at these λ, one for each output.
    Lambdas(Vec<f64>),
    /// It has these coefficients of the subset's columns about their means and divided by their norms, of targets likewise;
    /// of several outputs row by row, columns × outputs.
    Coefficients(Vec<f64>),
}

/// Why a search ended; one that ends by itself says which of these it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The largest size was reached.
    MaxFeatures,
    /// The smallest size was reached.
    MinFeatures,
    /// No column has a positive correlation with the residual of the target.
    NoCorrelation,
    /// The columns on the path depend on each other.
    Singular,
    /// The smallest penalty was reached at which the path is judged.
    Penalty,
    /// Every subset was scored or proven worse.
    AllSubsets,
    /// No step reached the tolerance.
    Tolerance,
    /// Too many steps in a row brought no improvement.
    Patience,
    /// No step lowered the score.
    NoImprovement,
    /// No candidate was left.
    NoCandidates,
    /// No change keeps the constraints.
    Constraints,
    /// The user interrupted; the result so far is valid.
    Interrupted,
    /// A limit was hit; the result so far is valid.
    Limit,
}

impl StopReason {
    /// Whether the search was cut short.
    pub fn is_partial(self) -> bool {
        matches!(self, StopReason::Interrupted | StopReason::Limit)
    }

    /// Why the search ended, as the rest of a sentence after "because".
    pub fn sentence(self) -> &'static str {
        match self {
            StopReason::MaxFeatures => "the largest size was reached",
            StopReason::MinFeatures => "the smallest size was reached",
            StopReason::NoCorrelation => "no column is positively correlated with the residual of the target",
            StopReason::Singular => "the columns on the path are linearly dependent",
            StopReason::Penalty => "the smallest penalty was reached",
            StopReason::AllSubsets => "every subset was scored or proven worse",
            StopReason::Tolerance => "no step reached the tolerance",
            StopReason::Patience => "too many steps in a row brought no improvement",
            StopReason::NoImprovement => "no step lowered the score",
            StopReason::NoCandidates => "no candidate was left",
            StopReason::Constraints => "no change keeps the constraints",
            StopReason::Interrupted => "it was interrupted",
            StopReason::Limit => "a limit was hit",
        }
    }
}

/// A search that another followed, which was left with what this one took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// The kind of the search.
    pub kind: String,
    /// What it took, in order of entry.
    pub taken: Vec<Feature>,
    /// The score of that.
    pub score: Score,
    /// Why it ended.
    pub stop_reason: StopReason,
}

/// The steps of a search and the best subset of each size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Path {
    /// The score of the empty subset.
    pub empty: Score,
    /// Every step, in order.
    pub steps: Vec<Step>,
    /// The best subset recorded per size, in increasing size.
    pub entries: Vec<PathEntry>,
    /// The models at penalties, in increasing order of these, where the path is judged at some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_penalties: Vec<AtPenalty>,
    /// Index into `entries` of the result; `None` when nothing was selected.
    pub chosen: Option<usize>,
    /// The sizes that may be the result; 0 for the empty subset.
    pub allowed: RangeInclusive<usize>,
    /// Why the search ended.
    pub stop_reason: StopReason,
    /// What is proven of the entries, after a search of all subsets.
    pub certificate: Option<Certificate>,
    /// Subsets nearly as good as the best, of a search of all subsets that was asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<NearBest>,
    /// The diagnostics of the trials, where their evaluator records them; [`crate::SubsetScorer::diagnostics`] has those of a search
    /// that does not report them itself.
    #[serde(rename = "health")]
    pub diagnostics: Option<Diagnostics>,
    /// What was searched before, where searches follow each other; the path is that of the last.
    pub stages: Vec<Stage>,
    /// What the search found beside it: see [`SearchContext::found`](crate::SearchContext::found).
    #[serde(default, skip_serializing_if = "Figures::is_empty")]
    pub found: Figures,
}

/// The subsets whose scores are near the lowest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NearBest {
    /// The score up to which a subset is near.
    pub limit: f64,
    /// How many there are, as far as they were counted.
    pub count: u64,
    /// Whether every one of them was counted.
    pub is_whole: bool,
    /// Columns that are in all that were counted.
    pub in_all: Vec<Feature>,
    /// Columns that are in none of them.
    pub in_none: Vec<Feature>,
    /// The best of them, each in increasing order with its score, the lowest first.
    pub subsets: Vec<(Vec<Feature>, f64)>,
}

/// What a search of all subsets has proven.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Certificate {
    /// Whether every entry is the best subset of its size.
    pub optimal: bool,
    /// Subsets that were scored.
    pub visited: u64,
    /// Subsets that were proven worse, or break a constraint, without being scored.
    pub pruned: u64,
    /// By how much, at most, a subset that was not reached could lower the best score; 0 when optimal, `None` when
    /// nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// What the bounds rest on that ruled subsets out, in a word ([`crate::Engine::bound`]); `None` where every subset
    /// was scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Cow<'static, str>>,
}

impl Action {
    /// The subset after columns have moved, from the one before.
    pub fn follow(self, moved: &[Feature], subset: &mut Vec<Feature>) {
        match self {
            Action::Add => subset.extend_from_slice(moved),
            Action::Remove => subset.retain(|feature| !moved.contains(feature)),
        }
    }
}

impl Step {
    /// The subset after the step, from the one before.
    pub fn follow(&self, subset: &mut Vec<Feature>) {
        self.action.follow(&[&[self.feature], &self.with[..]].concat(), subset);
    }
}

impl Path {
    /// Whether all that it names is there, of so many columns.
    pub fn is_among(&self, features: usize) -> bool {
        let are_there = |subset: &[Feature]| subset.iter().all(|feature| *feature < features);
        let is_there = |step: &Step| step.feature < features && are_there(&step.with) && are_there(&step.tied);
        self.steps.iter().all(is_there)
            && self.entries.iter().all(|entry| are_there(&entry.subset))
            && self.at_penalties.iter().all(|at| are_there(&at.entry.subset))
            && self.stages.iter().all(|stage| are_there(&stage.taken))
            && self.chosen.is_none_or(|chosen| chosen < self.entries.len())
    }

    /// The subset before the first step: the largest entry where that step is a removal, else the empty one.
    pub fn start(&self) -> Vec<Feature> {
        let is_backward = self.steps.first().is_some_and(|step| step.action == Action::Remove);
        let all = self.entries.last().filter(|_| is_backward);
        all.map_or_else(Vec::new, |all| all.subset.clone())
    }

    /// The size of the last entry, where that holds all that there was to take: every one of so many `candidates`, what
    /// the search opened with, or as much as may be the result at least.
    pub fn everything(&self, candidates: usize) -> Option<usize> {
        let largest = self.entries.last().map_or(0, |entry| entry.subset.len());
        let most = self.stages.last().map_or(candidates, |before| before.taken.len());
        let opens = self.steps.first().is_some_and(|step| step.action == Action::Remove);
        let is_least = largest > 0 && *self.allowed.start() >= largest;
        (largest >= most || opens || is_least).then_some(largest)
    }

    /// A search that ended before it reached a subset: what a search puts its steps and entries into, field by field.
    pub fn stopped(empty: Score, stop_reason: StopReason) -> Self {
        Path {
            empty,
            steps: Vec::new(),
            entries: Vec::new(),
            at_penalties: Vec::new(),
            chosen: None,
            allowed: 0..=0,
            stop_reason,
            certificate: None,
            alternatives: None,
            diagnostics: None,
            stages: Vec::new(),
            found: Figures::new(),
        }
    }

    /// The same with the model at a penalty as its result, in place of the entry of that size, where it has one there.
    #[must_use]
    pub fn taking(mut self, lambda: f64) -> Self {
        let Some(at) = self.at_penalties.iter().find(|at| at.lambda == lambda) else { return self };
        let (entry, size) = (at.entry.clone(), at.entry.subset.len());
        let place = self.entries.partition_point(|other| other.subset.len() < size);
        match self.entries.get_mut(place).filter(|other| other.subset.len() == size) {
            _ if size == 0 => {}
            Some(other) => *other = entry,
            None => self.entries.insert(place, entry),
        }
        self.chosen = (size > 0).then_some(place);
        self
    }

    /// The entry that is the result.
    pub fn result(&self) -> Option<&PathEntry> {
        self.chosen.and_then(|index| self.entries.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reason that follows in the order of the enum; a new reason does not compile without its place here.
    fn next(reason: StopReason) -> Option<StopReason> {
        Some(match reason {
            StopReason::MaxFeatures => StopReason::MinFeatures,
            StopReason::MinFeatures => StopReason::NoCorrelation,
            StopReason::NoCorrelation => StopReason::Singular,
            StopReason::Singular => StopReason::Penalty,
            StopReason::Penalty => StopReason::AllSubsets,
            StopReason::AllSubsets => StopReason::Tolerance,
            StopReason::Tolerance => StopReason::Patience,
            StopReason::Patience => StopReason::NoImprovement,
            StopReason::NoImprovement => StopReason::NoCandidates,
            StopReason::NoCandidates => StopReason::Constraints,
            StopReason::Constraints => StopReason::Interrupted,
            StopReason::Interrupted => StopReason::Limit,
            StopReason::Limit => return None,
        })
    }

    #[test]
    fn every_stop_reason_has_a_sentence_of_its_own() {
        let all: Vec<StopReason> =
            std::iter::successors(Some(StopReason::MaxFeatures), |&reason| next(reason)).collect();
        let sentences: std::collections::BTreeSet<&str> = all.iter().map(|reason| reason.sentence()).collect();
        assert_eq!(sentences.len(), all.len());
        for (reason, sentence) in all.iter().map(|reason| (reason, reason.sentence())) {
            assert!(sentence.split(' ').count() >= 3 && !sentence.ends_with('.'), "{reason:?}: {sentence}");
        }
    }
}
