//! Paths: the steps and results of a search.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use vaglio_core::serde_json::{Map, Value};
use vaglio_core::{Action, Diagnostics, Feature, Score, StopReason, record};

/// One step of a search, seen by the observer as it happens.
#[record]
#[non_exhaustive]
pub struct Step {
    /// Whether columns were added or removed.
    pub action: Action,
    /// The column; the first of a block.
    pub feature: Feature,
    /// The other columns of its block, which moved together with it.
    pub with: Vec<Feature>,
    /// The score of the subset after the step.
    pub score: Score,
    /// The size of the subset after the step.
    pub size: usize,
    /// Other columns with exactly this score.
    pub tied: Vec<Feature>,
    /// The knot of a least-angle path after the step.
    pub knot: Option<Knot>,
}

impl Step {
    /// Creates a step of one column, with the score and the size of the subset after it, without ties.
    pub fn new(action: Action, feature: Feature, score: Score, size: usize) -> Self {
        Step { action, feature, with: Vec::new(), score, size, tied: Vec::new(), knot: None }
    }

    /// Sets the knot after the step: the decrease `mu` of the common correlation until the next knot, and the
    /// coefficients there.
    #[must_use]
    pub fn at_knot(self, mu: f64, alpha: Vec<f64>) -> Self {
        Step { knot: Some(Knot { mu, alpha }), ..self }
    }

    /// Updates `subset`, from before the step to after it.
    pub fn follow(&self, subset: &mut Vec<Feature>) {
        self.action.follow(&[&[self.feature], &self.with[..]].concat(), subset);
    }
}

/// A knot of a least-angle path, at which a column enters or leaves.
#[record]
pub struct Knot {
    /// Decrease of the common correlation until the next knot.
    pub mu: f64,
    /// The coefficients of the current columns at the next knot, in order of entry. With several outputs, the norms of
    /// the rows of W.
    pub alpha: Vec<f64>,
}

/// The best recorded subset of one size.
#[record]
#[non_exhaustive]
pub struct PathEntry {
    /// The subset, in order of entry.
    pub subset: Vec<Feature>,
    /// The score of the subset.
    pub score: Score,
    /// The standard error of the score; `None` unless the score is a mean over rows.
    pub standard_error: Option<f64>,
    /// The training of the entry's model.
    pub fit: EntryFit,
}

impl PathEntry {
    /// Creates an entry from a subset and its score, without a standard error. Its model is the readout at the score's
    /// λ. `SubsetScorer::entry` fills in both for the current subset of a search.
    pub fn new(subset: Vec<Feature>, score: Score) -> Self {
        PathEntry { subset, score, standard_error: None, fit: EntryFit::Readout }
    }

    /// The λ of each output, if each has its own.
    pub fn lambdas(&self) -> Option<&[f64]> {
        if let EntryFit::Lambdas(lambdas) = &self.fit { Some(lambdas) } else { None }
    }
}

/// The training of an entry's model.
#[record]
#[derive(Default)]
pub enum EntryFit {
    /// The readout is trained at the λ of the score.
    #[default]
    Readout,
    /// The readout is trained at these λ, one for each output.
    Lambdas(Vec<f64>),
    /// Fixed coefficients of the subset's columns, for columns and targets centered and divided by their norms. With
    /// several outputs row by row, columns × outputs.
    Coefficients(Vec<f64>),
}

/// A finished search of a chain; the next search continues with its result.
#[record]
pub struct Stage {
    /// The kind of the search.
    pub kind: String,
    /// The selected subset, in order of entry.
    pub taken: Vec<Feature>,
    /// The score of the selected subset.
    pub score: Score,
    /// The reason why the search ended.
    pub stop_reason: StopReason,
}

/// The steps of a search and the best subset of each size.
#[record]
#[non_exhaustive]
pub struct Path {
    /// The score of the empty subset.
    pub empty: Score,
    /// Every step, in order.
    pub steps: Vec<Step>,
    /// The best recorded subset of each size, in increasing size.
    pub entries: Vec<PathEntry>,
    /// Penalties λ at which the path is judged, in increasing order, each with its model: the columns with coefficients
    /// there, and these coefficients.
    #[optional]
    pub at_penalties: Vec<(f64, PathEntry)>,
    /// Index of the result in `entries`; `None` if nothing was selected.
    pub chosen: Option<usize>,
    /// The sizes allowed for the result; 0 is the empty subset.
    pub allowed: RangeInclusive<usize>,
    /// The reason why the search ended.
    pub stop_reason: StopReason,
    /// Proof of optimality of the entries, from a search of all subsets.
    pub certificate: Option<Certificate>,
    /// Subsets nearly as good as the best, if a search of all subsets was asked for them.
    #[optional]
    pub alternatives: Option<NearBest>,
    /// The diagnostics of the trials, if the evaluator records them. For a search that does not report them, see
    /// `SubsetScorer::diagnostics`.
    #[serde(rename = "health")]
    pub diagnostics: Option<Diagnostics>,
    /// Earlier searches of a chain; this path belongs to the last one.
    pub stages: Vec<Stage>,
    /// Other findings of the search: see `SearchContext::found`.
    #[optional]
    pub found: Map<String, Value>,
}

/// The subsets with scores near the lowest.
#[record]
#[derive(Default)]
#[non_exhaustive]
pub struct NearBest {
    /// Largest score that counts as near.
    pub limit: f64,
    /// Number of counted subsets with a score up to `limit`.
    pub count: u64,
    /// Whether all subsets up to `limit` were counted.
    pub is_whole: bool,
    /// Columns in all counted subsets.
    pub in_all: Vec<Feature>,
    /// Columns in none of the counted subsets.
    pub in_none: Vec<Feature>,
    /// The best subsets with their scores, lowest first, each with columns in increasing order.
    pub subsets: Vec<(Vec<Feature>, f64)>,
}

/// Proof of a search of all subsets.
#[record]
#[derive(Default)]
#[non_exhaustive]
pub struct Certificate {
    /// Whether every entry is the best subset of its size.
    pub optimal: bool,
    /// Number of scored subsets.
    pub visited: u64,
    /// Number of subsets ruled out without scoring: proven worse, or in breach of a constraint.
    pub pruned: u64,
    /// Upper bound of how much an unvisited subset could lower the best score. 0 when optimal, `None` if unknown.
    #[optional]
    pub gap: Option<f64>,
    /// Word for the bounds that ruled subsets out ([`vaglio_core::EngineEvaluator::bound`]). `None` if every subset was
    /// scored.
    #[optional]
    pub bound: Option<Cow<'static, str>>,
}

impl Path {
    /// Whether all column indices of the path are below `features`.
    pub fn is_among(&self, features: usize) -> bool {
        let are_there = |subset: &[Feature]| subset.iter().all(|feature| *feature < features);
        let is_there = |step: &Step| step.feature < features && are_there(&step.with) && are_there(&step.tied);
        self.steps.iter().all(is_there)
            && self.entries.iter().all(|entry| are_there(&entry.subset))
            && self.at_penalties.iter().all(|(_, entry)| are_there(&entry.subset))
            && self.stages.iter().all(|stage| are_there(&stage.taken))
            && self.chosen.is_none_or(|chosen| chosen < self.entries.len())
    }

    /// The subset before the first step: the largest entry if that step is a removal, else the empty one.
    pub fn start(&self) -> Vec<Feature> {
        let all = self.entries.last().filter(|_| self.is_backward());
        all.map_or_else(Vec::new, |all| all.subset.clone())
    }

    fn is_backward(&self) -> bool {
        self.steps.first().is_some_and(|step| step.action == Action::Remove)
    }

    /// The final subset's size if the path reached its natural end: all candidates (forward), the starting subset
    /// (backward), or the smallest allowed size.
    pub fn everything(&self, candidates: usize) -> Option<usize> {
        let largest = self.entries.last().map_or(0, |entry| entry.subset.len());
        let most = self.stages.last().map_or(candidates, |before| before.taken.len());
        let is_least = largest > 0 && *self.allowed.start() >= largest;
        (largest >= most || self.is_backward() || is_least).then_some(largest)
    }

    /// Creates the path of a search that ended before it reached a subset. Searches fill in its steps and entries.
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
            found: Map::new(),
        }
    }

    /// Makes the model at a penalty the result; it replaces the entry of its size. Unchanged if there is no model at
    /// `lambda`.
    #[must_use]
    pub fn taking(mut self, lambda: f64) -> Self {
        let Some((_, entry)) = self.at_penalties.iter().find(|(own, _)| *own == lambda) else { return self };
        let (entry, size) = (entry.clone(), entry.subset.len());
        let place = self.entries.partition_point(|other| other.subset.len() < size);
        match self.entries.get_mut(place).filter(|other| other.subset.len() == size) {
            _ if size == 0 => {}
            Some(other) => *other = entry,
            None => self.entries.insert(place, entry),
        }
        self.chosen = (size > 0).then_some(place);
        self
    }

    /// The score of the result, which is that of the empty subset if nothing was selected.
    pub fn score(&self) -> Score {
        self.result().map_or(self.empty, |entry| entry.score)
    }

    /// The entry of the result.
    pub fn result(&self) -> Option<&PathEntry> {
        self.chosen.and_then(|index| self.entries.get(index))
    }

    /// The selected features, in order of entry.
    pub fn subset(&self) -> &[Feature] {
        self.result().map_or(&[], |entry| &entry.subset)
    }
}
