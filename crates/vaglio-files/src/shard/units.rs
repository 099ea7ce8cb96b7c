//! Units of work of a distributed run.

use crate::TrainTest;
use crate::learning::{SHARES, learning_parts, points};
use serde::{Deserialize, Serialize};
use vaglio_core::Result;
use vaglio_pipeline::pipeline::{Evaluate, ValidPipeline};
use vaglio_pipeline::resample::procedure::{Procedure, outer_jobs};
use vaglio_pipeline::resample::{self, STARTS, Sample};

/// Key of the search on all rows, with the choice of its result.
pub(super) const SEARCH: &str = "search";
/// Key prefix of a process's part in a search on all rows that another process completes.
pub(super) const PARTS: &str = "part/";
/// Maximum number of processes in one search.
const MOST_PARTS: usize = 64;
pub(super) const NESTED: &str = "nested/";
pub(super) const SHUFFLES: &str = "permutations/";
pub(super) const LEARNING: &str = "learning/";
pub(super) const HALVES: &str = "stability/";

/// Units with a common key prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phase {
    /// The key prefix, or the only key.
    pub prefix: String,
    pub count: usize,
    /// Number of units per first number of a two-number key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<usize>,
}

impl Phase {
    fn new(prefix: &str, count: usize) -> Self {
        Phase { prefix: prefix.into(), count, inner: None }
    }

    /// Phases that `evaluate` asks for.
    fn evaluation_phases(evaluate: &Evaluate, whole: Procedure<'_>, sample: &Sample) -> Result<Vec<Self>> {
        let (selector, outer, mut phases) = (whole.selector, evaluate.outer_folds(), Vec::new());
        if let Some(how) = &outer {
            phases.push(Phase::new(NESTED, outer_jobs(whole, sample, how)?.len()));
        }
        phases.push(Phase::new(SHUFFLES, evaluate.permutations.unwrap_or(0)));
        if let Some(how) = evaluate.learning_folds() {
            let shares = points(outer.is_some());
            let folds = learning_parts(selector, sample, &how.parting(selector, sample)?)?.len();
            phases.push(Phase { inner: Some(shares), ..Phase::new(LEARNING, folds * shares) });
        }
        phases.push(Phase::new(HALVES, evaluate.stability.as_ref().map_or(0, |how| 2 * how.pairs)));
        Ok(phases)
    }

    /// Display name.
    pub fn name(&self) -> &'static str {
        match &*self.prefix {
            PARTS => "parts of the search",
            STARTS => "folds of the choice",
            NESTED => "outer folds",
            SHUFFLES => "shuffles",
            LEARNING => "points of the learning curve",
            HALVES => "halves",
            _ => "search",
        }
    }

    /// Key of a unit.
    pub fn key(&self, number: usize) -> String {
        match self.inner {
            _ if self.prefix == SEARCH => SEARCH.into(),
            None => format!("{}{number}", self.prefix),
            Some(inner) => format!("{}{}/{}", self.prefix, number / inner, number % inner),
        }
    }

    /// Number of a key within the phase.
    fn number(&self, key: &str) -> Option<usize> {
        if self.prefix == SEARCH {
            return (key == SEARCH).then_some(0);
        }
        let rest = key.strip_prefix(&*self.prefix)?;
        let number = match self.inner {
            None => rest.parse().ok(),
            Some(inner) => {
                let (first, second) = rest.split_once('/')?;
                Some(first.parse::<usize>().ok()? * inner + second.parse::<usize>().ok()?)
            }
        };
        number.filter(|number| *number < self.count)
    }
}

/// Units of a run, numbered across all phases, so that each index gets an equal number of every phase, up to one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct WorkUnits(pub(super) Vec<Phase>);

impl WorkUnits {
    /// Units of a pipeline with its data.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] for impossible folds.
    pub fn new(pipeline: &ValidPipeline, prepared: &TrainTest) -> Result<Self> {
        let (selector, sample) = (&pipeline.selector(), &prepared.sample);
        // What tuning finds is of one process.
        let is_parted = pipeline.settings().tune.is_none();
        let starts = if is_parted { resample::count_starts(selector, sample)? } else { 0 };
        let mut phases = vec![Phase::new(SEARCH, 1), Phase::new(STARTS, starts)];
        if let Some(evaluate) = &pipeline.settings().evaluate {
            let whole = Procedure { selector, tune: pipeline.settings().tune.as_ref() };
            phases.extend(Phase::evaluation_phases(evaluate, whole, sample)?);
        }
        phases.retain(|phase| phase.count > 0);
        Ok(WorkUnits(phases))
    }

    /// A copy with parts of the search for several processes, if it is divisible. Parts follow the search in the
    /// numbering, so that each index gets at most one, and index 0 none.
    pub fn in_parts(mut self, processes: usize) -> Self {
        self.0.retain(|phase| phase.prefix != PARTS);
        if processes > 1 {
            self.0.insert(1, Phase::new(PARTS, processes.min(MOST_PARTS) - 1));
        }
        self
    }

    /// Number of processes that may perform the search on all rows together.
    pub fn parts(&self) -> usize {
        self.0.iter().find(|phase| phase.prefix == PARTS).map_or(1, |phase| phase.count + 1)
    }

    /// Total number of units.
    pub fn count(&self) -> usize {
        self.0.iter().map(|phase| phase.count).sum()
    }

    /// Number of a key, if it is a unit.
    pub fn number(&self, key: &str) -> Option<usize> {
        let mut before = 0;
        self.0.iter().find_map(|phase| {
            let number = phase.number(key).map(|number| before + number);
            before += phase.count;
            number
        })
    }

    /// Keys of the folds of the choice, with the index of each.
    pub fn starts(&self, of: usize) -> Vec<(String, usize)> {
        let keys = self.0.iter().flat_map(|phase| (0..phase.count).map(|number| phase.key(number)));
        let starts = keys.enumerate().filter(|(_, key)| key.starts_with(STARTS));
        starts.map(|(number, key)| (key, number % of)).collect()
    }

    /// Keys of the units of an index, of `of` indexes.
    pub fn keys_at(&self, index: usize, of: usize) -> Vec<String> {
        let keys = self.0.iter().flat_map(|phase| (0..phase.count).map(|number| phase.key(number)));
        keys.enumerate().filter(|(number, _)| number % of == index).map(|(_, key)| key).collect()
    }

    /// Whether a key belongs to a unit other than the search.
    pub fn is_inside(&self, key: &str) -> bool {
        self.0.iter().any(|phase| phase.prefix != SEARCH && key.starts_with(&*phase.prefix))
    }
}

/// `107: 1 search, 6 outer folds, 100 shuffles`
impl std::fmt::Display for WorkUnits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named: Vec<String> = self.0.iter().map(|phase| format!("{} {}", phase.count, phase.name())).collect();
        write!(f, "{}: {}", self.count(), named.join(", "))
    }
}

/// Shares of the training rows that a learning curve computes itself.
pub(super) fn shares(has_outer: bool) -> &'static [f64] {
    &SHARES[..points(has_outer)]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_unit_is_of_one_index_and_phases_are_shared_evenly() {
        let learning = Phase { inner: Some(3), ..Phase::new(LEARNING, 15) };
        let units = WorkUnits(vec![Phase::new(SEARCH, 1), Phase::new(NESTED, 5), learning, Phase::new(SHUFFLES, 100)]);
        for of in 1..9 {
            let shared: Vec<Vec<String>> = (0..of).map(|index| units.keys_at(index, of)).collect();
            let all: BTreeSet<&String> = shared.iter().flatten().collect();
            assert_eq!((all.len(), shared.iter().map(Vec::len).sum()), (121, 121));
            for prefix in [NESTED, LEARNING, SHUFFLES] {
                let counts = shared.iter().map(|own| own.iter().filter(|key| key.starts_with(prefix)).count());
                let (least, most) = (counts.clone().min().unwrap(), counts.max().unwrap());
                assert!(most - least <= 1, "{prefix} {of}: {least} to {most}");
            }
            for (index, own) in shared.iter().enumerate() {
                assert!(own.iter().all(|key| units.number(key).unwrap() % of == index));
            }
        }
        assert_eq!(units.number("learning/4/2"), Some(20));
        for other in ["nested/5", "nested/1/path", "learning/5/0", "search/", "walk/0/path", "permutations/-1"] {
            assert_eq!(units.number(other), None, "{other}");
        }
        assert!(units.is_inside("nested/1/path") && !units.is_inside("walk/0/path"));
    }
}
