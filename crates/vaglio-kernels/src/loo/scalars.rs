//! Scalars of each candidate that lower bounds are computed from, and the products of updates that change them.

use super::RidgeState;
use super::basis::UpdateKind;
use super::norm_interval::NormInterval;
use crate::Data;
use crate::data::slice_products;
use crate::parallel;
use crate::sums::axpy;
use crate::tolerance::INDEPENDENT_COLUMN;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use vaglio_columns::sum_of_squares;

/// s, t and q of the candidates and their inner products with the updates, by position.
///
/// Virtual columns may be many thousand, and each λ has its own scalars: 8·(4 + outputs + updates) bytes
/// per candidate. Inner products with the first updates are then computed from rows of the Gram matrix, which all λ
/// share.
#[derive(Debug, Clone)]
pub(super) struct CandidateScalars {
    pub s: Vec<f64>,
    pub q: Vec<f64>,
    /// t of each output, candidate after candidate.
    t: Vec<f64>,
    outputs: usize,
    /// x_iᵀc_p/τ_p of every candidate, update after update.
    shares: Vec<UpdateRatios>,
    /// Whether most columns are virtual.
    are_virtual: bool,
    /// Number of updates up to which s_i was above [`INDEPENDENT_COLUMN`].
    pub sound: Vec<u32>,
    /// Norm intervals of candidates that were tried.
    pub intervals: HashMap<usize, NormInterval>,
}

/// x_iᵀc_p/τ_p of every candidate with an update.
#[derive(Debug, Clone)]
enum UpdateRatios {
    Known(Vec<f64>),
    /// (x_iᵀx_b − Σ_q y_iq·c_qᵀx_b)/τ_p over the earlier updates q, from the row x_iᵀx_b of every column.
    OfRow {
        row: Arc<[f64]>,
        with_x: Vec<f64>,
        tau: f64,
    },
}

/// Candidates per batch.
const TOGETHER: usize = 256;
/// Maximum number of updates whose shares are recomputed each time, at a cost that grows with their square.
const FROM_ROWS: usize = 64;

impl CandidateScalars {
    /// Scalars of the candidates for the empty subset.
    pub fn empty_model(data: &Data<'_>) -> Self {
        let (outputs, features) = (data.outputs(), &data.candidates);
        let with: Vec<Arc<[f64]>> = (0..outputs).map(|output| data.with_target(output)).collect();
        let s: Vec<f64> = features.iter().map(|&feature| data.squares(feature)).collect();
        let t = features.iter().flat_map(|&feature| with.iter().map(move |row| row[feature])).collect();
        let (sound, intervals) = (vec![0; features.len()], HashMap::new());
        let are_virtual = 2 * data.count_products() > data.columns();
        CandidateScalars { q: s.clone(), s, t, outputs, shares: Vec::new(), are_virtual, sound, intervals }
    }

    /// t of each output of a candidate.
    pub fn t(&self, at: usize) -> &[f64] {
        &self.t[at * self.outputs..(at + 1) * self.outputs]
    }

    /// f of each output.
    fn factors(&self, at: usize, lambda: f64) -> Vec<f64> {
        self.t(at).iter().map(|t| t / (lambda + self.s[at])).collect()
    }

    /// Σ_p y_ip·z_p of every candidate, for each vector z of one number per update.
    pub fn with_updates(&self, data: &Data<'_>, z: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let features = &data.candidates;
        let mut sums = vec![vec![0.0; features.len()]; z.len()];
        parallel::map_spans(&mut sums, features.len(), TOGETHER, |k, sums| {
            let from = k * TOGETHER;
            let shares = shares_of(&self.shares, from, &features[from..features.len().min(from + TOGETHER)]);
            sums.iter_mut().zip(z).for_each(|(sums, z)| add_updates(&shares, z, sums));
        });
        sums
    }

    /// Applies an update by the recurrences of [`super::candidate_bounds`]. `shift` has the norms of an update that
    /// intervals can follow. Cost O(n·p).
    pub fn apply(&mut self, basis: &RidgeState<'_>, new: &UpdateProducts, shift: Option<[f64; 2]>) {
        let features = &basis.data.candidates;
        let (p, update) = (new.update, &basis.updates[new.update]);
        let mut tried = std::mem::take(&mut self.intervals);
        tried.retain(|_, _| shift.is_some());
        let before: HashMap<usize, Vec<f64>> = tried.keys().map(|&at| (at, self.factors(at, basis.lambda))).collect();
        let CandidateScalars { s, q, t, sound, shares, outputs, .. } = self;
        let outputs = *outputs;
        let mut share = vec![0.0; features.len()];
        let scalars = share.chunks_mut(TOGETHER).zip(s.chunks_mut(TOGETHER)).zip(q.chunks_mut(TOGETHER));
        let others = t.chunks_mut(TOGETHER * outputs).zip(sound.chunks_mut(TOGETHER));
        let mut candidates: Vec<_> = scalars.zip(others).collect();
        parallel::each_mut(&mut candidates, |k, (((share, s), q), (t, sound))| {
            let from = k * TOGETHER;
            let features = &features[from..features.len().min(from + TOGETHER)];
            let [mut with_x, mut with_c] = [[0.0; TOGETHER]; 2];
            let before = shares_of(shares, from, features);
            add_updates(&before, &new.with_x, &mut with_x);
            add_updates(&before, &new.with_c, &mut with_c);
            for (i, &feature) in features.iter().enumerate() {
                let g = new.row[feature] - with_x[i];
                let image = g - with_c[i];
                share[i] = g / update.tau;
                if sound[i] as usize == p && s[i] > INDEPENDENT_COLUMN * basis.data.squares(feature) {
                    sound[i] += 1;
                }
                q[i] += share[i] * (share[i] * new.norm - 2.0 * image);
                s[i] -= g * share[i];
                for (t, tb) in t[i * outputs..].iter_mut().zip(&update.t) {
                    *t -= share[i] * tb;
                }
            }
        });
        if let Some(shift) = shift {
            let gone: Vec<f64> = update.t.iter().map(|t| t / update.tau).collect();
            for (at, interval) in &mut tried {
                let after = self.factors(*at, basis.lambda);
                *interval = interval.after(shift, &gone, share[*at], &before[at], &after);
            }
        }
        self.intervals = tried;
        self.shares.push(match self.are_virtual && p < FROM_ROWS {
            true => UpdateRatios::OfRow { row: Arc::clone(&new.row), with_x: new.with_x.clone(), tau: update.tau },
            false => UpdateRatios::Known(share),
        });
    }
}

/// x_iᵀc_p/τ_p of some candidates from a position on, update after update.
fn shares_of<'s>(shares: &'s [UpdateRatios], from: usize, features: &[usize]) -> Vec<Cow<'s, [f64]>> {
    let mut found: Vec<Cow<'s, [f64]>> = Vec::with_capacity(shares.len());
    for share in shares {
        let share = match share {
            UpdateRatios::Known(share) => Cow::Borrowed(&share[from..from + features.len()]),
            UpdateRatios::OfRow { row, with_x, tau } => {
                let mut gone = vec![0.0; features.len()];
                add_updates(&found, with_x, &mut gone);
                Cow::Owned(features.iter().zip(gone).map(|(&feature, gone)| (row[feature] - gone) / tau).collect())
            }
        };
        found.push(share);
    }
    found
}

/// Adds Σ_p y_ip·z_p of some candidates.
fn add_updates(shares: &[Cow<'_, [f64]>], z: &[f64], sums: &mut [f64]) {
    shares.iter().zip(z).for_each(|(share, z)| axpy(*z, share, sums));
}

/// Products of an update's c with the columns and with earlier updates.
pub(super) struct UpdateProducts {
    /// Index of the update.
    pub update: usize,
    /// Row x_iᵀx_b of every column if x_iᵀc_p follows from it, else x_iᵀc_p itself.
    pub row: Arc<[f64]>,
    /// x_bᵀc_q of each earlier update, or empty if the row is x_iᵀc_p itself.
    pub with_x: Vec<f64>,
    /// c_pᵀc_q of each earlier update.
    pub with_c: Vec<f64>,
    pub norm: f64,
}

impl UpdateProducts {
    /// Computes the products, given the row if it is known, and a function that reads x_iᵀc_p otherwise.
    pub fn new(basis: &RidgeState<'_>, p: usize, row: Option<Arc<[f64]>>, read: impl FnOnce() -> Arc<[f64]>) -> Self {
        let update = &basis.updates[p];
        let [with_x, with_c] = match (&row, &update.kind) {
            (Some(_), UpdateKind::Entry(feature)) => along(basis, p, [&basis.data.scaled_column(*feature), &update.c]),
            _ => {
                let [with_c] = along(basis, p, [&update.c]);
                [Vec::new(), with_c]
            }
        };
        let norm = sum_of_squares(&update.c);
        UpdateProducts { update: p, row: row.unwrap_or_else(read), with_x, with_c, norm }
    }
}

/// Products c_qᵀz of the first updates with some vectors z, for each vector.
pub(super) fn along<const N: usize>(basis: &RidgeState<'_>, count: usize, vectors: [&[f64]; N]) -> [Vec<f64>; N] {
    let updates: Vec<&[f64]> = basis.updates[..count].iter().map(|update| &*update.c).collect();
    let products = slice_products(&updates, &vectors);
    std::array::from_fn(|k| products.iter().skip(k).step_by(N).copied().collect())
}
