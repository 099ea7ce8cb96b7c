//! Units of work of a distributed run.

use super::evaluations::{RepetitionInput, repetitions};
use serde::{Deserialize, Serialize};
use vaglio_core::Result;
use vaglio_pipeline::resampling::Jobs;

/// Key of the search on all rows, with the choice of its result.
pub const SEARCH: &str = "search";
/// Index that performs the search on all rows, which is the first unit.
pub const SEARCH_INDEX: usize = 0;
/// Key prefix of a process's part in a search on all rows that another process completes.
pub const PARTS: &str = "part/";
/// Maximum number of processes in one search.
const MOST_PARTS: usize = 64;

/// Display name of some jobs.
pub fn name(jobs: &Jobs) -> &'static str {
    let known = repetitions().find(|repetitions| repetitions.prefix == jobs.prefix);
    known.map_or(if jobs.prefix == PARTS { "parts of the search" } else { "search" }, |known| known.units)
}

/// Whether a unit, or units with a key prefix, wait for the search on all rows.
pub fn waits_for_search(key: &str) -> bool {
    repetitions().any(|repetitions| repetitions.is_one_search && key.starts_with(repetitions.prefix))
}

/// Units of a run, numbered across all kinds of jobs. So each index gets an equal number of every kind, up to one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkUnits(pub Vec<Jobs>);

impl WorkUnits {
    /// Units of a run: its search, and its repetitions.
    pub fn new(input: &RepetitionInput<'_>) -> Result<Self> {
        let mut phases = vec![Jobs::new(SEARCH, 1)];
        for repetitions in repetitions() {
            phases.push(Jobs::new(repetitions.prefix, (repetitions.count)(input)?));
        }
        phases.retain(|phase| phase.count > 0);
        Ok(WorkUnits(phases))
    }

    /// A copy with parts of the search for several processes, if it is divisible. Parts follow the search in the
    /// numbering, so that each index gets at most one, and index 0 none.
    pub fn in_parts(mut self, processes: usize) -> Self {
        if processes > 1 {
            self.0.insert(1, Jobs::new(PARTS, processes.min(MOST_PARTS) - 1));
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

    /// Keys of the units of one index, of several `indexes`.
    pub fn keys_at(&self, index: usize, indexes: usize) -> Vec<String> {
        let keys = self.0.iter().flat_map(|phase| (0..phase.count).map(|number| phase.key(number)));
        keys.enumerate().filter(|(number, _)| number % indexes == index).map(|(_, key)| key).collect()
    }

    /// Whether a key belongs to a unit other than the search.
    pub fn is_inside(&self, key: &str) -> bool {
        self.0.iter().any(|phase| phase.prefix != SEARCH && key.starts_with(&*phase.prefix))
    }
}

/// `107: 1 search, 6 outer folds, 100 shuffles`
impl std::fmt::Display for WorkUnits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named: Vec<String> = self.0.iter().map(|phase| format!("{} {}", phase.count, name(phase))).collect();
        write!(f, "{}: {}", self.count(), named.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_unit_is_of_one_index_and_phases_are_shared_evenly() {
        let units = WorkUnits(vec![
            Jobs::new(SEARCH, 1),
            Jobs::new(Jobs::NESTED, 5),
            Jobs::new("learning/", 15),
            Jobs::new("permutations/", 100),
        ]);
        for of in 1..9 {
            let shared: Vec<Vec<String>> = (0..of).map(|index| units.keys_at(index, of)).collect();
            let all: BTreeSet<&String> = shared.iter().flatten().collect();
            assert_eq!((all.len(), shared.iter().map(Vec::len).sum()), (121, 121));
            for prefix in [Jobs::NESTED, "learning/", "permutations/"] {
                let counts = shared.iter().map(|own| own.iter().filter(|key| key.starts_with(prefix)).count());
                let (least, most) = (counts.clone().min().unwrap(), counts.max().unwrap());
                assert!(most - least <= 1, "{prefix} {of}: {least} to {most}");
            }
            for (index, own) in shared.iter().enumerate() {
                assert!(own.iter().all(|key| units.number(key).unwrap() % of == index));
            }
        }
        assert_eq!(units.number("learning/14"), Some(20));
        for other in ["nested/5", "nested/1/path", "learning/15", "search/", "walk/0/path", "permutations/-1"] {
            assert_eq!(units.number(other), None, "{other}");
        }
        assert!(units.is_inside("nested/1/path") && !units.is_inside("walk/0/path"));
    }
}
