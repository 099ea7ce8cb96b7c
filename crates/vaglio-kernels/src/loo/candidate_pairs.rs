//! Candidates that are updated and tried together.
//!
//! g = x_bᵀC of a candidate needs all rows, and so do the change of C and its trial once g is known. A group is small
//! enough that its C is still in cache when it is read again. The vectors c_b, a and d, which do not depend on the
//! candidate, are read for the whole group by tiles of rows.

use super::RidgeState;
use super::candidate::{PendingUpdate, Placed};
use super::conditioning::{is_cancelled, judged};
use crate::pass::{PassLoss, PassSums, PassVectors, two};
use crate::sums::{TILE, dots};
use crate::{Scorer, Trial};

/// Candidates per group.
const GROUP: usize = 4;

/// Like [`super::candidate::CandidateColumn::visit`], for several candidates.
pub(super) fn visit_together(
    some: &mut [Placed<'_>],
    basis: &RidgeState<'_>,
    scorer: &Scorer,
    last: Option<&PendingUpdate<'_>>,
) -> Vec<Trial> {
    let mut trials = Vec::with_capacity(some.len());
    for group in some.chunks_mut(GROUP) {
        let rest = match (scorer.pass(), last) {
            (Some(pass), Some(pending)) => {
                let (pairs, rest) = group.split_at_mut(group.len() / 2 * 2);
                UpdateStep { basis, scorer, pass, pending }.visit(pairs, &mut trials);
                rest
            }
            _ => group,
        };
        trials.extend(rest.iter_mut().map(|(feature, one)| one.visit(basis, scorer, *feature, last)));
    }
    trials
}

/// The last update, after which candidates are tried.
struct UpdateStep<'k> {
    basis: &'k RidgeState<'k>,
    scorer: &'k Scorer,
    pass: PassLoss<'k>,
    pending: &'k PendingUpdate<'k>,
}

/// Two candidates in the passes over the tiles.
struct CandidatePair {
    steps: [f64; 2],
    /// 1/(λ + s) and the remaining share of the columns, for each.
    judgements: [(f64, f64); 2],
    running: [PassSums; 2],
}

impl UpdateStep<'_> {
    /// Applies the update and tries pairs of candidates.
    fn visit(&self, group: &mut [Placed<'_>], trials: &mut Vec<Trial>) {
        let (basis, rows) = (self.basis, self.basis.d.len());
        let mut pairs: Vec<Result<CandidatePair, Vec<Trial>>> =
            group.chunks_exact_mut(2).map(|pair| self.open(pair)).collect();
        let shared = PassVectors { b: self.pending.c, a: &basis.a[0], d: &basis.d };
        for start in (0..rows).step_by(TILE) {
            let tile = start..rows.min(start + TILE);
            let shared = shared.rows(tile.clone());
            let pass = self.pass.rows(tile.clone());
            for (pair, candidates) in pairs.iter_mut().zip(group.chunks_exact_mut(2)) {
                let (Ok(pair), [(_, one), (_, other)]) = (pair, candidates) else { continue };
                let [(first, _), (second, _)] = pair.judgements;
                let moving =
                    [one.moving(tile.clone(), pair.steps[0], first), other.moving(tile.clone(), pair.steps[1], second)];
                two(basis.data.level, moving, shared, pass, &mut pair.running);
            }
        }
        for pair in pairs {
            match pair {
                Err(alone) => trials.extend(alone),
                Ok(CandidatePair { judgements, running, .. }) => {
                    let judge = |k: usize| judged(self.scorer.trial(running[k].found()), judgements[k].1);
                    trials.extend([judge(0), judge(1)]);
                }
            }
        }
    }

    /// Updates the scalars of a pair; returns the trials instead if one of them needs a separate path.
    fn open(&self, pair: &mut [Placed<'_>]) -> Result<CandidatePair, Vec<Trial>> {
        let UpdateStep { basis, scorer, pending, .. } = self;
        let visit = |(feature, one): &mut Placed<'_>| one.visit(basis, scorer, *feature, Some(pending));
        let [(first, one), (second, other)] = pair else { return Err(pair.iter_mut().map(visit).collect()) };
        if one.until.max(other.until) > pending.place {
            return Err(pair.iter_mut().map(visit).collect());
        }
        let data = &*basis.data;
        let products = match &pending.x {
            Some(x) => dots(data.level, x, [&one.c, &other.c]),
            None => [pending.product(data, *first, &one.c), pending.product(data, *second, &other.c)],
        };
        let steps = [one.scalars_by(products[0], pending), other.scalars_by(products[1], pending)];
        if is_cancelled(one.s, data.squares(*first)) || is_cancelled(other.s, data.squares(*second)) {
            let visit = |((feature, one), step): (&mut Placed<'_>, f64)| {
                one.visit_by(basis, scorer, *feature, Some((step, pending.c)))
            };
            return Err(pair.iter_mut().zip(steps).map(visit).collect());
        }
        let judgements = [one.judgement(basis, *first), other.judgement(basis, *second)];
        Ok(CandidatePair { steps, judgements, running: [PassSums::NONE; 2] })
    }
}
