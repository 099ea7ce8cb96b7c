//! What lower bounds follow of each candidate.

use super::Basis;
use super::norm_interval::{IntervalShift, NormInterval};
use super::update_products::UpdateProducts;
use crate::Data;
use crate::tolerance::INDEPENDENT_COLUMN;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// s, t and q of the candidates and their inner products with the updates, by position.
///
/// Columns that are made when they are read may be many thousand, and each λ has its own scalars: 8·(4 + outputs·2 + updates) bytes
/// a candidate at most.
#[derive(Debug, Clone)]
pub(super) struct CandidateScalars {
    pub s: Vec<f64>,
    pub q: Vec<f64>,
    /// t of each output, candidate after candidate.
    t: Vec<f64>,
    outputs: usize,
    /// x_iᵀc_p/τ_p of every candidate, update after update.
    shares: Vec<Vec<f64>>,
    /// Updates up to which s_i was above [`INDEPENDENT_COLUMN`].
    pub sound: Vec<u32>,
    /// Of candidates that were tried.
    pub intervals: HashMap<usize, NormInterval>,
}

/// Candidates that are brought up to date at once.
const TOGETHER: usize = 256;

impl CandidateScalars {
    /// The scalars of columns on the empty subset.
    pub fn of_empty(data: &Data<'_>, features: &[usize]) -> Self {
        let outputs = data.outputs();
        let with: Vec<Arc<[f64]>> = (0..outputs).map(|output| data.with_target(output)).collect();
        let s: Vec<f64> = features.iter().map(|&feature| data.squares(feature)).collect();
        let t = features.iter().flat_map(|&feature| with.iter().map(move |row| row[feature])).collect();
        let (sound, intervals) = (vec![0; features.len()], HashMap::new());
        CandidateScalars { q: s.clone(), s, t, outputs, shares: Vec::new(), sound, intervals }
    }

    /// t of each output of a candidate.
    pub fn t(&self, at: usize) -> &[f64] {
        &self.t[at * self.outputs..(at + 1) * self.outputs]
    }

    /// f of each output.
    fn factors(&self, at: usize, lambda: f64) -> Vec<f64> {
        self.t(at).iter().map(|t| t / (lambda + self.s[at])).collect()
    }

    /// Σ_p y_ip·z_p of every candidate, for a number z_p of each update.
    pub fn with_updates(&self, z: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.s.len()];
        let add = |(k, sums): (usize, &mut [f64])| add_updates(&self.shares, k * TOGETHER, z, sums);
        sums.par_chunks_mut(TOGETHER).enumerate().for_each(add);
        sums
    }

    /// Takes in update p, by the recurrences of [`super::candidate_bounds`]; `product` gives x_iᵀc_p where it was read, and `shift`
    /// is of an update after which intervals are known. Cost O(n·p).
    pub fn take_in(
        &mut self,
        basis: &Basis<'_>,
        features: &[usize],
        (p, new): (usize, &UpdateProducts),
        shift: Option<&IntervalShift>,
        product: impl Fn(usize) -> f64 + Sync,
    ) {
        let update = &basis.updates[p];
        let mut tried = std::mem::take(&mut self.intervals);
        tried.retain(|_, _| shift.is_some());
        let before: HashMap<usize, Vec<f64>> = tried.keys().map(|&at| (at, self.factors(at, basis.lambda))).collect();
        let CandidateScalars { s, q, t, sound, shares, outputs, .. } = self;
        let outputs = *outputs;
        let mut share = vec![0.0; features.len()];
        let of_candidates = (
            features.par_chunks(TOGETHER),
            share.par_chunks_mut(TOGETHER),
            s.par_chunks_mut(TOGETHER),
            q.par_chunks_mut(TOGETHER),
            t.par_chunks_mut(TOGETHER * outputs),
            sound.par_chunks_mut(TOGETHER),
        );
        of_candidates.into_par_iter().enumerate().for_each(|(k, (features, share, s, q, t, sound))| {
            let from = k * TOGETHER;
            let [mut with_x, mut with_c] = [[0.0; TOGETHER]; 2];
            add_updates(shares, from, &new.with_x, &mut with_x[..features.len()]);
            add_updates(shares, from, &new.with_c, &mut with_c[..features.len()]);
            for (i, &feature) in features.iter().enumerate() {
                let g = match (new.place, &new.row) {
                    (Some(_), _) => product(from + i),
                    (None, Some(row)) => row[feature] - with_x[i],
                    (None, None) => 0.0,
                };
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
            for (at, interval) in &mut tried {
                *interval = interval.after(shift, share[*at], &before[at], &self.factors(*at, basis.lambda));
            }
        }
        self.intervals = tried;
        self.shares.push(share);
    }
}

/// Adds Σ_p y_ip·z_p of the candidates from a position on.
fn add_updates(shares: &[Vec<f64>], from: usize, z: &[f64], sums: &mut [f64]) {
    for (share, z) in shares.iter().zip(z) {
        sums.iter_mut().zip(&share[from..]).for_each(|(sum, y)| *sum += y * z);
    }
}
