//! All trials of a step in one pass over the candidates: C_i = G x_i for every active column that is not selected, with
//! s_i = x_iᵀC_i and t_i = x_iᵀa.
//!
//! The update of one step and the trials of the next are fused: a column is loaded once, updated, tried, and stored. So
//! a step reads and writes C once and does not read X. A column that is not tried keeps its pending updates. Memory
//! 8·m·n bytes.
//!
//! arXiv:1003.3570, algorithm 3, extended by removals; the book, explanation/leave-one-out.md, "Trying one more
//! column".

use super::RidgeState;
use super::candidate::{CandidateColumn, pending};
use crate::parallel;
use crate::{Scorer, Trial};

/// Number of pending updates applied together.
const TOGETHER: usize = 8;
/// Maximum number of candidates that a thread visits in turn.
const IN_TURN: usize = 64;
/// Number of entries of C up to which one thread visits all candidates: less than calling other threads costs.
const ALL_IN_TURN: usize = 1 << 13;

/// Computes C of all active columns that are not selected. Cost O(m·n·(s + outputs)).
pub(super) fn candidates(basis: &RidgeState<'_>) -> Vec<Option<CandidateColumn>> {
    let candidate = |feature| basis.is_candidate(feature).then(|| CandidateColumn::new(basis, feature));
    parallel::map(basis.data.columns(), candidate)
}

/// Removes a candidate and returns its C, up to date. Cost O(m) per pending update.
pub(super) fn take(
    candidates: &mut [Option<CandidateColumn>],
    basis: &RidgeState<'_>,
    feature: usize,
) -> Option<Vec<f64>> {
    let mut candidate = candidates[feature].take()?;
    for pending in pending(basis, candidate.until, basis.updates.len()) {
        candidate.apply(&basis.data, &pending);
    }
    Some(candidate.c)
}

/// Makes the column that was just removed a candidate again.
///
/// Without column b, G x_b = C_b/H_bb, x_bᵀG x_b = 1/H_bb − λ and x_bᵀa = w_b/H_bb. A column that equals a
/// candidate copies that one's bits.
pub(super) fn readmit(candidates: &mut [Option<CandidateColumn>], basis: &RidgeState<'_>, feature: usize) {
    let data = &basis.data;
    if !data.is_active(feature) {
        return;
    }
    let equal = candidates.iter().flatten().find(|candidate| data.equal(candidate.feature, feature));
    candidates[feature] = match (equal, basis.updates.last()) {
        (Some(equal), _) => Some(CandidateColumn { feature, ..equal.clone() }),
        (None, Some(left)) => {
            let h = -left.tau;
            let over = |v: &Vec<f64>| v.iter().map(|v| v / h).collect();
            let (s, until) = (1.0 / h - basis.lambda, basis.updates.len());
            Some(CandidateColumn { feature, until, c: over(&left.c), s, t: over(&left.t) })
        }
        (None, None) => None,
    };
}

/// Trials of adding each of some columns; inactive or selected ones get an infinite loss.
///
/// Reads and writes C once. Cost O(m·n·outputs).
pub(super) fn trials(
    candidates: &mut [Option<CandidateColumn>],
    basis: &RidgeState<'_>,
    scorer: &Scorer,
    wanted: &[usize],
) -> Vec<Trial> {
    let mut is_wanted = vec![false; candidates.len()];
    wanted.iter().for_each(|&w| is_wanted[w] = true);
    for &feature in wanted {
        if candidates[feature].is_none() && basis.is_candidate(feature) {
            candidates[feature] = Some(CandidateColumn::new(basis, feature));
        }
    }
    let present = candidates.iter_mut().flatten();
    let mut tried: Vec<&mut CandidateColumn> = present.filter(|candidate| is_wanted[candidate.feature]).collect();
    let end = basis.updates.len();
    let mut from = tried.iter().map(|candidate| candidate.until).min().unwrap_or(end);
    let in_turn = match tried.len() * basis.d.len() <= ALL_IN_TURN {
        true => tried.len().max(1),
        false => (tried.len() / (4 * rayon::current_num_threads())).clamp(1, IN_TURN),
    };
    let mut groups: Vec<&mut [&mut CandidateColumn]> = tried.chunks_mut(in_turn).collect();
    let trials = loop {
        let to = (from + TOGETHER).min(end);
        let pending = pending(basis, from, to);
        let visit = |_, group: &mut &mut [&mut CandidateColumn]| {
            let try_candidate = |candidate: &mut &mut CandidateColumn| {
                let last = pending.last().filter(|_| to == end);
                let before = pending.iter().take(pending.len() - usize::from(last.is_some()));
                before.for_each(|p| candidate.apply(&basis.data, p));
                (to == end).then(|| candidate.trial(basis, scorer, last))
            };
            group.iter_mut().filter_map(try_candidate).collect::<Vec<Trial>>()
        };
        let trials = parallel::map_mut(&mut groups, visit);
        if to == end {
            break trials.into_iter().flatten();
        }
        from = to;
    };
    let mut all = vec![Trial::IMPOSSIBLE; is_wanted.len()];
    tried.iter().zip(trials).for_each(|(candidate, trial)| all[candidate.feature] = trial);
    wanted.iter().map(|&w| all[w].clone()).collect()
}
