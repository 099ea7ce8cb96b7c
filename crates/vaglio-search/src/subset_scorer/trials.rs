//! Trials, and their description in the journal.

use vaglio_core::{Action, Feature};

/// A batch of trials: changes of the current subset by each of some candidates.
#[derive(Clone, Copy)]
pub(crate) struct Trials<'c> {
    /// Whether the candidates are added or removed.
    pub change: Action,
    pub candidates: &'c [Feature],
    /// Whether only the best candidate is wanted; else all scores.
    pub is_best: bool,
}

/// Describes trials: their kind, the subset's size, the number of candidates, and the FNV-1a digest of all.
pub(crate) fn describe(selected: &[Feature], trials: Trials<'_>) -> String {
    let Trials { change, candidates, is_best } = trials;
    let kind = usize::from(change == Action::Remove) + 2 * usize::from(is_best);
    let what = ["additions", "removals", "addition", "removal"][kind];
    let mixed = |digest: u64, word: u64| (digest ^ word).wrapping_mul(0x100_0000_01b3);
    let lists = [selected, candidates];
    let words = lists.iter().flat_map(|list| list.iter().map(|&column| column as u64).chain([u64::MAX]));
    let digest = words.fold(mixed(0xcbf2_9ce4_8422_2325, kind as u64), mixed);
    format!("{what} {}/{} {digest:016x}", selected.len(), candidates.len())
}
