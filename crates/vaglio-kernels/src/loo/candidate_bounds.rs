//! Best addition without trying every candidate, for squared loss.
//!
//! Derived in the book: explanation/leave-one-out.md, "Most candidates need not be tried".
//!
//! # Recurrences
//! Update p subtracts c_p·c_pᵀ/τ_p from G (τ_p < 0 for a removal), with t_p = x_pᵀa of each output before it. With g =
//! x_iᵀc_p and the share y_ip = g/τ_p, candidate i has G x_i ← G x_i − y_ip·c_p, and so
//!
//! s_i ← s_i − g·y_ip,   t_i ← t_i − y_ip·t_p,   q_i ← q_i − 2·y_ip·c_pᵀG x_i + y_ip²·‖c_p‖².
//!
//! G x_i itself is not needed, since for any z
//!
//! x_iᵀG z = x_iᵀz − Σ_{q<p} y_iq·c_qᵀz.
//!
//! With z = c_p this is c_pᵀG x_i, from the products c_qᵀc_p of the updates. With z = x_b it is g for an added column
//! b, because c_p = G x_b: from c_qᵀx_b and the row x_iᵀx_b of the Gram matrix, which does not depend on λ. For a
//! removed column, c_p is a combination of columns and g one of such rows. If neither is known, c_p is multiplied with
//! X.
//!
//! A Gram matrix of all columns would cost m·n² flops, more than a search of few columns. So its rows are prefetched
//! for the likely next columns, twice as many as the last read served; those of a removed column are a combination of
//! known ones. With small leverages the bounds read no data at all: (w∘a)ᵀGx is w̄·aᵀGx, known from the rank-one
//! updates, up to a term bounded by ‖(w − w̄)∘a‖.
//!
//! A trial also tells how much leaving rows out adds to its candidate's error. Later bounds keep the part of it that
//! added columns cannot have removed (`norm_interval`). A resumed run has not seen earlier trials. So nothing cached or
//! recorded may depend on which losing candidates were tried.

use super::RidgeState;
use super::basis::{RankOneUpdate, UpdateKind};
use super::cached_product::{CachedProduct, bring_up_to_date};
use super::norm_interval::{NormInterval, update_norms};
use super::row_weights::{RowWeights, weights};
use super::scalars::{CandidateScalars, UpdateProducts, along};
use crate::parallel;
use crate::sums::{dot, times};
use crate::tolerance::{BOUND_ROUNDING, PRODUCT_DRIFT, SOUND_CACHE, UNBOUNDED_COLUMN};
use crate::{Data, Scorer, Trial, is_unreliable};
use std::collections::HashMap;
use std::sync::Arc;
use vaglio_columns::{argsort_by, sum_of_squares};

/// s_i = x_iᵀG x_i, t_i = x_iᵀa, q_i = ‖G x_i‖² and the inner products with the updates for every candidate; not G x_i
/// itself.
///
/// Additions only lower d = diag G. So with w_j = 1/d_j² of the present state and f = t_i/(λ + s_i), the squared
/// leave-one-out error of candidate i is at least
///
/// Σ_o [ Σ w a² − 2f·(w∘a)ᵀG x_i + f²·(min w)·q_i ],
///
/// and more if an earlier trial gave the [`NormInterval`] of the candidate. (w∘a)ᵀG x_i = x_iᵀG(w∘a) for all candidates
/// takes one read of X; so do the inner products of an added column, which states of other λ share. Candidates are
/// tried exactly in the order of their bounds until a bound exceeds the best trial. G x_i of tried candidates is
/// cached, for up to one in 60. Memory at most 8·m·(s + n/60) bytes beside X.
#[derive(Debug)]
pub(super) struct CandidateBounds {
    scalars: CandidateScalars,
    /// Number of updates applied to the scalars; `None` before the first bounds.
    applied: Option<usize>,
    /// x_iᵀG(w∘a) of each output, candidate after candidate, with the number of updates applied to it.
    along: Option<(usize, Vec<f64>)>,
    /// c_pᵀa of each output with each update.
    with_residuals: Vec<Vec<f64>>,
    /// Whether x_iᵀc_p still follows from inner products of columns; otherwise it is computed from the rows.
    by_columns: bool,
    /// G x of tried candidates, by column, with the number of updates applied.
    cached: HashMap<usize, CachedProduct>,
    /// Number of further products that may be cached.
    capacity: usize,
}

/// Largest ‖(w − w̄)∘a‖ relative to ‖a‖ at which bounds without reading X separate candidates.
const NEAR: f64 = 0.05;
/// One in this many columns may be cached as G x once it was tried.
const CACHED: usize = 60;
/// One in this many stored columns may be cached as G x of virtual columns.
const OF_STORED: usize = 16;
/// Number of G x in memory at once besides the cached ones.
const IN_MEMORY: usize = 16;

impl CandidateBounds {
    /// Creates the bounds of all columns for one of `together` states; nothing is read before bounds are requested.
    pub fn new(basis: &RidgeState<'_>, together: usize) -> Self {
        let data = &basis.data;
        CandidateBounds {
            scalars: CandidateScalars::empty_model(data),
            applied: None,
            along: None,
            with_residuals: vec![Vec::new(); data.outputs()],
            by_columns: true,
            cached: HashMap::new(),
            capacity: capacity(data, together),
        }
    }

    /// Removes a candidate and returns its G x, with the bits of its trial, if that is cached and accurate.
    pub fn take(&mut self, basis: &RidgeState<'_>, feature: usize) -> Option<Vec<f64>> {
        let cached = self.cached.remove(&feature);
        self.capacity += usize::from(cached.is_some());
        let at = basis.data.candidates.binary_search(&feature).ok()?;
        let end = basis.updates.len();
        self.scalars.intervals.remove(&at);
        let (s, sound) = (self.scalars.s[at], self.scalars.sound[at] as usize);
        if self.applied != Some(end) || s <= SOUND_CACHE * basis.data.squares(feature) {
            return None;
        }
        let cached = cached.unwrap_or_else(|| CachedProduct::new(basis, feature));
        let mut products = [CachedProduct { sound, ..cached }];
        bring_up_to_date(basis, &mut products);
        let [product] = products;
        Some(product.c)
    }

    /// Brings the scalars up to date: one read of X, and one for each new update whose products are not cached.
    ///
    /// With y_ip = x_iᵀc_p/τ_p of the updates so far, x_iᵀG z = x_iᵀz − Σ_p y_ip·c_pᵀz for any z. So G is applied to no
    /// vector, and with z = x_b the inner products of columns give x_iᵀc_b, independently of λ.
    pub fn refresh(&mut self, basis: &RidgeState<'_>) {
        let end = basis.updates.len();
        if self.applied == Some(end) {
            return;
        }
        let first = self.applied.unwrap_or(0);
        if self.by_columns && self.has_drifted(basis) {
            self.by_columns = false;
            self.scalars = CandidateScalars::empty_model(&basis.data);
            (self.applied, self.along) = (None, None);
            self.with_residuals.iter_mut().for_each(Vec::clear);
            return self.refresh(basis);
        }
        let data = &basis.data;
        let updates = &basis.updates[first..end];
        let entered = updates.iter().filter(|_| self.by_columns).filter_map(|update| update.added_feature());
        let columns: Vec<usize> = entered.collect();
        let mut entry_products = data.with_columns(&columns, || self.likely(basis)).into_iter();
        let rows: Vec<Option<Arc<[f64]>>> = updates
            .iter()
            .map(|update| match &update.kind {
                _ if !self.by_columns => None,
                UpdateKind::Entry(_) => entry_products.next(),
                UpdateKind::Exit(parts) if !parts.is_empty() => data.with_sum(parts),
                UpdateKind::Exit(_) | UpdateKind::Direction => None,
            })
            .collect();
        let to_read = updates.iter().zip(&rows).filter(|(_, row)| row.is_none());
        let vectors: Vec<&[f64]> = to_read.map(|(update, _)| &*update.c).collect();
        let mut read = data.with_vectors(&vectors).into_iter();
        let product = |(p, row)| UpdateProducts::new(basis, p, row, || read.next().unwrap_or_default());
        let new: Vec<UpdateProducts> = (first..end).zip(rows).map(product).collect();

        // After several updates at once, the residuals between them are not known.
        let shift = if end == first + 1 { update_norms(basis) } else { None };
        for new in &new {
            self.scalars.apply(basis, new, shift);
        }
        self.follow_residuals(basis, first, &new);
        self.applied = Some(end);
    }

    /// c_qᵀa ← c_qᵀa − Σ_p c_qᵀc_p·t_p/τ_p for earlier updates; appends the products of new ones.
    fn follow_residuals(&mut self, basis: &RidgeState<'_>, first: usize, new: &[UpdateProducts]) {
        let updates = &basis.updates[first..];
        for (output, (with, a)) in self.with_residuals.iter_mut().zip(&basis.a).enumerate() {
            for (q, with) in with.iter_mut().enumerate() {
                let lost = |(update, new): (&Arc<RankOneUpdate>, &UpdateProducts)| {
                    new.with_c[q] * update.t[output] / update.tau
                };
                *with -= updates.iter().zip(new).map(lost).sum::<f64>();
            }
            with.extend(updates.iter().map(|update| dot(&update.c, a)));
        }
    }

    /// Candidates in decreasing order of the reduction of the squared residuals.
    fn likely(&self, basis: &RidgeState<'_>) -> Vec<usize> {
        let scalars = &self.scalars;
        let gain = |at| sum_of_squares(scalars.t(at)) / (basis.lambda + scalars.s[at]);
        let (gains, candidates): (Vec<f64>, _) = ((0..scalars.s.len()).map(gain).collect(), &basis.data.candidates);
        let order = argsort_by(gains.len(), |a, b| gains[b].total_cmp(&gains[a]));
        order.into_iter().map(|at| candidates[at]).filter(|&feature| basis.is_candidate(feature)).collect()
    }

    /// x_iᵀG(w∘a) of every candidate and output, in one pass over X.
    fn along_of(&self, basis: &RidgeState<'_>) -> Vec<f64> {
        let weights = weights(basis);
        let vectors: Vec<Vec<f64>> = basis.a.iter().map(|a| times(a, &weights)).collect();
        let mut products = basis.data.products_of_most(&basis.data.candidates, &vectors);
        let with_updates = |z: &Vec<f64>| {
            let [with] = along(basis, basis.updates.len(), [z]);
            with
        };
        let with: Vec<Vec<f64>> = vectors.iter().map(with_updates).collect();
        for (output, gone) in self.scalars.with_updates(&basis.data, &with).into_iter().enumerate() {
            products.iter_mut().skip(output).step_by(vectors.len()).zip(gone).for_each(|(along, gone)| *along -= gone);
        }
        products
    }

    /// Like [`CandidateBounds::bounds`], but without reading X, and somewhat lower; `None` if the bounds would be too
    /// loose.
    ///
    /// With w̄ the mean of w weighted by a², (w∘a)ᵀG x_i is w̄·aᵀG x_i, known from the updates, up to ‖(w − w̄)∘a‖·‖G
    /// x_i‖. With many more rows than selected columns, leverages and so this difference are small. Cost O(n·(s +
    /// outputs)).
    pub fn near(&mut self, basis: &RidgeState<'_>, scorer: &Scorer) -> Option<Vec<f64>> {
        let weighing = RowWeights::new(basis);
        let (mean, deviations, part) = weighing.deviations();
        let is_near = part <= NEAR * NEAR;
        if !is_near {
            return None;
        }
        self.refresh(basis);
        let scalars = &self.scalars;
        let gone = scalars.with_updates(&basis.data, &self.with_residuals);
        Some(self.each(basis, &weighing, scorer, |at, output, f| {
            let along = mean * (scalars.t(at)[output] - gone[output][at]);
            along + f.signum() * deviations[output] * scalars.q[at].max(0.0).sqrt()
        }))
    }

    /// Whether s of the column just added differs from the value that its c gives.
    ///
    /// The rounding of s_i relative to xᵀG x depends on the data. So [`PRODUCT_DRIFT`] is checked at every added
    /// column, whose c is known. If s is off by more, all products are computed from the rows from then on.
    fn has_drifted(&self, basis: &RidgeState<'_>) -> bool {
        basis.updates.get(self.applied.unwrap_or(usize::MAX)).is_some_and(|update| {
            let Some(feature) = update.added_feature() else { return false };
            let Ok(at) = basis.data.candidates.binary_search(&feature) else { return false };
            let (s, squares) = (update.tau - basis.lambda, basis.data.squares(feature));
            (self.scalars.s[at] - s).abs() > PRODUCT_DRIFT * squares
        })
    }

    /// Lower bound of each candidate's mean loss, in the order of [`Data::candidates`].
    ///
    /// The bound of a nearly dependent column is −∞. One read of X per step. Cost O(m·n·outputs).
    pub fn bounds(&mut self, basis: &RidgeState<'_>, scorer: &Scorer) -> Vec<f64> {
        self.refresh(basis);
        let end = basis.updates.len();
        let known = self.along.take().filter(|(applied, _)| *applied == end);
        let along = known.unwrap_or_else(|| (end, self.along_of(basis)));
        let weighing = RowWeights::new(basis);
        let bounds = self.each(basis, &weighing, scorer, |at, output, _| along.1[at * basis.a.len() + output]);
        self.along = Some(along);
        bounds
    }

    /// Computes the bounds from (w∘a)ᵀG x_i, given by `along` for an output and an f.
    fn each(
        &self,
        basis: &RidgeState<'_>,
        weighing: &RowWeights,
        scorer: &Scorer,
        along: impl Fn(usize, usize, f64) -> f64,
    ) -> Vec<f64> {
        let (base, least) = (weighing.squares(), weighing.least);
        let bound = |(at, &feature): (usize, &usize)| {
            let (s, squares) = (self.scalars.s[at], basis.data.squares(feature));
            if s < UNBOUNDED_COLUMN * squares {
                return f64::NEG_INFINITY;
            }
            let quadratic = (self.scalars.q[at] - BOUND_ROUNDING * squares).max(0.0) * least;
            let (mut sum, mut terms) = (base, base);
            for (output, t) in self.scalars.t(at).iter().enumerate() {
                let f = t / (basis.lambda + s);
                let along = along(at, output, f);
                sum += f * (f * quadratic - 2.0 * along);
                // An error δ of s changes f by the share w = δ/(λ + s), and f·(f·q − 2·along) by 2w·(f²·q − f·along) to
                // first order.
                let wrong = PRODUCT_DRIFT * squares / (basis.lambda + s);
                sum -= 2.0 * wrong * (f * f * quadratic + (f * along).abs());
                terms += f.abs() * (f.abs() * squares * least + 2.0 * along.abs());
            }
            scorer.mean_of(sum - BOUND_ROUNDING * terms)
        };
        basis.data.candidates.iter().enumerate().map(bound).collect()
    }

    /// Amount by which earlier trials raise each candidate's bound.
    pub fn refinements(&self, basis: &RidgeState<'_>, scorer: &Scorer) -> Vec<f64> {
        let is_known = basis.d.iter().all(|d| !is_unreliable(*d));
        let scalars = &self.scalars;
        let interval = |at| scalars.intervals.get(&at).copied().filter(|_| is_known);
        let higher = |(at, s): (usize, &f64)| interval(at).map_or(0.0, NormInterval::adds) / (basis.lambda + s);
        scalars.s.iter().enumerate().map(|scalar| scorer.mean_of(higher(scalar))).collect()
    }

    /// Exact trials of some candidates, by position in [`Data::candidates`]. Cost O(m·(s + outputs)) each,
    /// O(m) for one that was tried in the step before.
    pub fn trials(&mut self, basis: &RidgeState<'_>, scorer: &Scorer, positions: &[usize]) -> Vec<Trial> {
        positions.chunks(IN_MEMORY).flat_map(|some| self.few_trials(basis, scorer, some)).collect()
    }

    fn few_trials(&mut self, basis: &RidgeState<'_>, scorer: &Scorer, positions: &[usize]) -> Vec<Trial> {
        let (mut known, mut stay) = (Vec::new(), Vec::new());
        for &at in positions {
            let cached = self.cached.remove(&basis.data.candidates[at]);
            // Products already cached stay; new ones are cached while there is room, in the order of their bounds.
            let stays = cached.is_some() || self.capacity > 0;
            self.capacity -= usize::from(cached.is_none() && stays);
            known.push((at, cached));
            stay.push(stays);
        }
        let sound = &self.scalars.sound;
        let product = |(at, cached): (usize, Option<CachedProduct>)| CachedProduct {
            sound: sound[at] as usize,
            ..cached.unwrap_or_else(|| CachedProduct::new(basis, basis.data.candidates[at]))
        };
        let mut products = parallel::map_vec(known, product);
        bring_up_to_date(basis, &mut products);
        let one = |one: &CachedProduct| {
            let (s, t) = basis.scalars(one.feature, &one.c);
            let trial = basis.trial(scorer, one.feature, &one.c, s, &t);
            let f: Vec<f64> = t.iter().map(|t| t / (basis.lambda + s)).collect();
            (trial, NormInterval::new(basis, &one.c, &f))
        };
        let (trials, intervals): (Vec<Trial>, Vec<NormInterval>) =
            parallel::map_slice(&products, one).into_iter().unzip();
        self.scalars.intervals.extend(positions.iter().copied().zip(intervals));
        let kept = products.into_iter().zip(stay).filter(|(_, stays)| *stays);
        self.cached.extend(kept.map(|(product, _)| (product.feature, product)));
        trials
    }
}

/// Number of G x that a state may cache. For virtual columns, all states together are limited to a share of the stored
/// columns.
fn capacity(data: &Data<'_>, together: usize) -> usize {
    let virtual_columns = data.count_products();
    let stored = data.columns() - virtual_columns;
    stored.div_ceil(CACHED) + virtual_columns.div_ceil(CACHED).min(stored / OF_STORED / together)
}
