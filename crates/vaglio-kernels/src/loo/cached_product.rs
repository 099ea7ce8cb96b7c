//! G x of tried candidates: computed together, cached for the next steps.

use super::RidgeState;
use super::basis::RankOneUpdate;
use crate::f64x8::F64x8;
use crate::parallel;
use crate::sums::{LANES, subtract};
use crate::vectorize;
use std::ops::Range;
use std::sync::Arc;

/// G x of a candidate, to be computed or brought up to date.
#[derive(Debug, Clone)]
pub(super) struct CachedProduct {
    pub feature: usize,
    pub c: Vec<f64>,
    /// Number of updates applied.
    pub until: usize,
    /// Number of updates for which enough of the column remains that its products with them may use x itself.
    pub sound: usize,
}

/// Candidates that share one read of the updates.
const TOGETHER: usize = 4;
/// Updates applied at once.
const AT_ONCE: usize = 4;
/// Rows per tile: the candidates' entries stay in the first-level cache.
const TILE: usize = 512;

/// Tiles of rows of several candidates.
type Candidates<'c> = [&'c mut [f64]; TOGETHER];

impl CachedProduct {
    /// Starts from x itself, with no update applied. Cost O(m).
    pub fn new(basis: &RidgeState<'_>, feature: usize) -> Self {
        CachedProduct { feature, c: basis.data.scaled_column(feature), until: 0, sound: 0 }
    }
}

/// Applies all updates to candidates. Cost O(m) for each candidate and missing update.
///
/// c ← c − c_p·x_iᵀc_p/τ_p, update by update. x_iᵀc_p equals x_pᵀc before that. Computed from x_i, if enough of it
/// remains, it depends on no other update. All candidates and updates then share one product of matrices. The bits
/// depend neither on the grouping nor on earlier computations.
pub(super) fn bring_up_to_date(basis: &RidgeState<'_>, products: &mut [CachedProduct]) {
    let end = basis.updates.len();
    let mut sorted: Vec<&mut CachedProduct> = products.iter_mut().collect();
    sorted.sort_by_key(|one| (one.until, one.sound));
    for group in sorted.chunk_by_mut(|a, b| (a.until, a.sound) == (b.until, b.sound)) {
        let (from, sound) = (group[0].until, group[0].sound.min(end));
        if from < sound {
            apply_updates(basis, group, &basis.updates[from..sound]);
        }
    }
    parallel::each_mut(products, |_, one| {
        let sound = one.sound.min(end).max(one.until);
        one.c = basis.residual_from(one.feature, std::mem::take(&mut one.c), sound);
        one.until = end;
    });
}

fn apply_updates(basis: &RidgeState<'_>, group: &mut [&mut CachedProduct], updates: &[Arc<RankOneUpdate>]) {
    let features: Vec<usize> = group.iter().map(|one| one.feature).collect();
    let vectors: Vec<&[f64]> = updates.iter().map(|update| &*update.c).collect();
    let mut shares = basis.data.products(&features, &vectors);
    for shares in shares.chunks_mut(updates.len()) {
        shares.iter_mut().zip(updates).for_each(|(share, update)| *share /= update.tau);
    }
    let rows = basis.data.rows();
    let span = rows.div_ceil(rayon::current_num_threads()).next_multiple_of(TILE);
    let shares: Vec<&[f64]> = shares.chunks(updates.len()).collect();
    let c = group.iter_mut().map(|one| &mut one.c);
    parallel::map_spans(c, rows, span, |at, parts| {
        let own = rows.min((at + 1) * span) - at * span;
        // Rows outermost, so that the updates are read once for all candidates.
        for start in (0..own).step_by(TILE) {
            let tile = start..own.min(start + TILE);
            let rows = at * span + tile.start..at * span + tile.end;
            for (parts, shares) in parts.chunks_mut(TOGETHER).zip(shares.chunks(TOGETHER)) {
                match (parts, shares) {
                    ([a, b, c, d], &[p, q, r, s]) => {
                        let tiles = [a, b, c, d].map(|part| &mut part[tile.clone()]);
                        subtract_together(tiles, &rows, &vectors, [p, q, r, s]);
                    }
                    (few, shares) => few.iter_mut().zip(shares).for_each(|(part, shares)| {
                        subtract_each(&mut part[tile.clone()], &rows, &vectors, shares);
                    }),
                }
            }
        }
    });
}

/// c ← c − Σ_p share_p·v_p over some rows, one p after the other.
fn subtract_each(c: &mut [f64], rows: &Range<usize>, vectors: &[&[f64]], shares: &[f64]) {
    for (vectors, shares) in vectors.chunks(AT_ONCE).zip(shares.chunks(AT_ONCE)) {
        match (vectors, shares) {
            (&[p, q, r, s], &[share_p, share_q, share_r, share_s]) => {
                let parts = [p, q, r, s].map(|v| &v[rows.clone()]);
                subtract(parts, [share_p, share_q, share_r, share_s], c);
            }
            _ => vectors.iter().zip(shares).for_each(|(v, share)| subtract([&v[rows.clone()]], [*share], c)),
        }
    }
}

/// Like [`subtract_each`], but for several c that share one read of the vectors, with the same bits.
fn subtract_together(mut c: Candidates<'_>, rows: &Range<usize>, vectors: &[&[f64]], shares: [&[f64]; TOGETHER]) {
    const { assert!(TILE.is_multiple_of(LANES)) };
    let (some, rest) = vectors.as_chunks::<AT_ONCE>();
    for (place, vectors) in some.iter().enumerate() {
        let own_shares = shares.map(|shares| std::array::from_fn(|p| shares[place * AT_ONCE + p]));
        take_off(&mut c, vectors.map(|v| &v[rows.clone()]), own_shares);
    }
    let done = some.len() * AT_ONCE;
    c.into_iter().zip(shares).for_each(|(c, shares)| subtract_each(c, rows, rest, &shares[done..]));
}

fn take_off(c: &mut Candidates<'_>, v: [&[f64]; AT_ONCE], shares: [[f64; AT_ONCE]; TOGETHER]) {
    vectorize!(move || {
        let rows = v[0].len();
        let whole = rows / LANES;
        for (c, shares) in c.iter_mut().zip(&shares) {
            for j in whole * LANES..rows {
                for p in 0..AT_ONCE {
                    c[j] -= shares[p] * v[p][j];
                }
            }
        }
        let v = v.map(|v| &v.as_chunks().0[..whole]);
        let c = c.each_mut().map(|c| &mut c.as_chunks_mut().0[..whole]);
        let by = shares.map(|shares| shares.map(F64x8::splat));
        for j in 0..whole {
            let v: [F64x8; AT_ONCE] = std::array::from_fn(|p| F64x8::load(&v[p][j]));
            for k in 0..TOGETHER {
                let mut sum = F64x8::load(&c[k][j]);
                for p in 0..AT_ONCE {
                    sum = sum - by[k][p] * v[p];
                }
                sum.store(&mut c[k][j]);
            }
        }
    });
}
