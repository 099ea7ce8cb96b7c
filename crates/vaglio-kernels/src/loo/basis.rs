//! The state of the selected columns for one λ.

use super::Data;
use crate::column::{TILE, axpy, dot, product};
use crate::wide::Wide;
use crate::{Level, Scorer};
use pulp::NullaryFnOnce;
use rayon::prelude::*;
use std::sync::Arc;

/// A selected column as it was when it entered: G loses c·cᵀ/τ with it.
#[derive(Debug, Clone)]
pub(crate) struct Commit {
    pub feature: usize,
    /// G x before the column entered.
    pub c: Vec<f64>,
    /// λ + xᵀG x.
    pub tau: f64,
    /// xᵀa of each output before the column entered.
    pub t: Vec<f64>,
}

/// a = G y and d = diag G of the selected columns, with the vectors that make up G.
#[derive(Debug, Clone)]
pub struct Basis<'d> {
    pub(crate) data: Arc<Data<'d>>,
    pub(crate) lambda: f64,
    pub(crate) commits: Vec<Commit>,
    /// Residuals of each output.
    pub(crate) a: Vec<Vec<f64>>,
    /// 1 − leverage of each row.
    pub(crate) d: Vec<f64>,
}

/// The outcome of a trial.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    /// The mean loss.
    pub loss: f64,
    /// The smallest 1 − leverage of a row; where it [`super::is_weak`] the loss is not to be trusted.
    pub low: f64,
}

impl<'d> Basis<'d> {
    /// The empty subset. Cost O(m · outputs).
    pub fn new(data: Arc<Data<'d>>, lambda: f64) -> Self {
        let a = (0..data.outputs()).map(|o| data.centred(o).to_vec()).collect();
        let d = data.empty_diagonal();
        Basis { data, lambda, commits: Vec::new(), a, d }
    }

    /// The rows that the state is about.
    pub fn data(&self) -> &Data<'d> {
        &self.data
    }

    /// The penalty.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The selected columns, in order of entry.
    pub fn selected(&self) -> impl Iterator<Item = usize> {
        self.commits.iter().map(|c| c.feature)
    }

    /// Whether a column is selected.
    pub fn contains(&self, feature: usize) -> bool {
        self.commits.iter().any(|c| c.feature == feature)
    }

    /// Adds a column. Cost O(m·s).
    pub fn add(&mut self, feature: usize) {
        let c = self.residual(feature);
        self.add_residual(feature, c);
    }

    /// Adds a column of which c = G x is known.
    ///
    /// a ← a − c·t/τ, d ← d − c∘c/τ.
    pub(crate) fn add_residual(&mut self, feature: usize, c: Vec<f64>) {
        let level = self.data.level;
        let (s, t) = self.scalars(feature, &c);
        let tau = self.lambda + s;
        for (a, t) in self.a.iter_mut().zip(&t) {
            axpy(level, -t / tau, &c, a);
        }
        for (d, c) in self.d.iter_mut().zip(&c) {
            *d -= c * c / tau;
        }
        self.commits.push(Commit { feature, c, tau, t });
    }

    /// xᵀG x and xᵀa of each output, from c = G x. Cost O(m · outputs).
    pub(crate) fn scalars(&self, feature: usize, c: &[f64]) -> (f64, Vec<f64>) {
        let level = self.data.level;
        let x = self.data.scaled(feature);
        (dot(level, &x, c), self.a.iter().map(|a| dot(level, &x, a)).collect())
    }

    /// G x of a column that is not selected, one commit after the other. Cost O(m·s).
    pub(crate) fn residual(&self, feature: usize) -> Vec<f64> {
        let mut c = self.data.scaled(feature);
        let mut weighted = Vec::new();
        for commit in &self.commits {
            let (x, shift) = self.data.column(commit.feature);
            let g = match self.data.root() {
                None => product(self.data.level, x, shift, &c),
                Some(root) => {
                    weighted.clear();
                    weighted.extend(c.iter().zip(root).map(|(c, r)| c * r));
                    product(self.data.level, x, shift, &weighted)
                }
            };
            axpy(self.data.level, -g / commit.tau, &commit.c, &mut c);
        }
        c
    }

    /// z ← G z for each vector, with G as it was before the commit that is given with it. Cost O(m·s · vectors).
    pub(crate) fn apply(&self, mut vectors: Vec<(usize, Vec<f64>)>) -> Vec<Vec<f64>> {
        let level = self.data.level;
        vectors.iter_mut().for_each(|(_, z)| self.data.centre(z));
        let along = |p: usize, commit: &Commit| -> Vec<f64> {
            vectors
                .iter()
                .map(|(until, z)| if p < *until { dot(level, &commit.c, z) / commit.tau } else { 0.0 })
                .collect()
        };
        let along: Vec<Vec<f64>> = self.commits.par_iter().enumerate().map(|(p, commit)| along(p, commit)).collect();
        let rows = self.data.rows();
        let tiles: Vec<Vec<Vec<f64>>> = (0..rows.div_ceil(TILE))
            .into_par_iter()
            .map(|tile| {
                let (start, end) = (tile * TILE, rows.min((tile + 1) * TILE));
                let mut parts: Vec<Vec<f64>> = vectors.iter().map(|(_, z)| z[start..end].to_vec()).collect();
                let mut views: Vec<&mut [f64]> = parts.iter_mut().map(Vec::as_mut_slice).collect();
                subtract(level, &self.commits, |p, k| along[p][k], start, &mut views);
                parts
            })
            .collect();
        (0..vectors.len()).map(|k| tiles.iter().flat_map(|parts| &parts[k]).copied().collect()).collect()
    }

    /// Leave-one-out residuals a/d of each output, scaled like the rows. Cost O(m · outputs).
    pub fn residuals(&self) -> Vec<Vec<f64>> {
        self.a.iter().map(|a| a.iter().zip(&self.d).map(|(a, d)| a / d).collect()).collect()
    }

    /// The loss of the current subset. Cost O(m · outputs).
    pub fn score(&self, scorer: &Scorer) -> Trial {
        let low = self.d.iter().copied().fold(f64::INFINITY, f64::min);
        Trial { loss: scorer.loss(&self.residuals()), low }
    }

    /// The loss with one more column, from c = G x. Cost O(m · outputs).
    ///
    /// ã = a − c·t/τ, d̃ = d − c∘c/τ, and the residuals left out are ã/d̃.
    pub(crate) fn trial(&self, scorer: &Scorer, c: &[f64], s: f64, t: &[f64]) -> Trial {
        let inverse = 1.0 / (self.lambda + s);
        let mut residuals = vec![vec![0.0; TILE]; t.len()];
        let (mut tally, mut low) = (scorer.start(), Wide::INFINITY);
        for start in (0..c.len()).step_by(TILE) {
            let end = c.len().min(start + TILE);
            let (c, d) = (&c[start..end], &self.d[start..end]);
            for ((a, t), out) in self.a.iter().zip(t).zip(&mut residuals) {
                leave_out(self.data.level, c, &a[start..end], d, t * inverse, inverse, out, &mut low);
            }
            scorer.add(&mut tally, start, &residuals, c.len());
        }
        Trial { loss: scorer.finish(&tally), low: low.least() }
    }
}

/// part_k ← part_k − Σ_p coefficient(p, k)·c_p over the rows from `start`.
///
/// Every entry takes its commits one after the other, so the bits do not depend on how commits are grouped into calls;
/// four commits at a time are loaded once for all parts.
pub(crate) fn subtract(
    level: Level,
    commits: &[Commit],
    coefficient: impl Fn(usize, usize) -> f64,
    start: usize,
    parts: &mut [&mut [f64]],
) {
    struct Four<'k>([f64; 4], [&'k [f64]; 4], &'k mut [f64]);
    impl NullaryFnOnce for Four<'_> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            let Four([a, b, c, d], vectors, part) = self;
            let [va, vb, vc, vd] = vectors.map(|v| &v[..part.len()]);
            for j in 0..part.len() {
                part[j] = (((part[j] - a * va[j]) - b * vb[j]) - c * vc[j]) - d * vd[j];
            }
        }
    }
    let end = start + parts.first().map_or(0, |part| part.len());
    let (fours, rest) = commits.as_chunks::<4>();
    for (block, four) in fours.iter().enumerate() {
        for (k, part) in parts.iter_mut().enumerate() {
            let factors = std::array::from_fn(|p| coefficient(4 * block + p, k));
            let vectors = std::array::from_fn(|p| &four[p].c[start..end]);
            level.run(Four(factors, vectors, part));
        }
    }
    for (p, commit) in rest.iter().enumerate() {
        for (k, part) in parts.iter_mut().enumerate() {
            axpy(level, -coefficient(4 * fours.len() + p, k), &commit.c[start..end], part);
        }
    }
}

/// out_j ← (a_j − step·c_j) / (d_j − c_j²·inverse), and the smallest divisor per lane.
#[allow(clippy::too_many_arguments)]
fn leave_out(level: Level, c: &[f64], a: &[f64], d: &[f64], step: f64, inverse: f64, out: &mut [f64], low: &mut Wide) {
    struct Kernel<'k> {
        c: &'k [f64],
        a: &'k [f64],
        d: &'k [f64],
        step: f64,
        inverse: f64,
        out: &'k mut [f64],
        low: &'k mut Wide,
    }
    impl NullaryFnOnce for Kernel<'_> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            let Kernel { c, a, d, step, inverse, out, low } = self;
            let rows = c.len();
            let (chunks, rest) = c.as_chunks();
            let whole = chunks.len();
            let (out, out_rest) = out[..rows].as_chunks_mut();
            let ((a, a_rest), (d, d_rest)) = (a[..rows].as_chunks(), d[..rows].as_chunks());
            let (a, d, out) = (&a[..whole], &d[..whole], &mut out[..whole]);
            let mut smallest = *low;
            let (wide_step, wide_inverse) = (Wide::splat(step), Wide::splat(inverse));
            for j in 0..whole {
                let c = Wide::load(&chunks[j]);
                let divisor = Wide::load(&d[j]) - c * c * wide_inverse;
                ((Wide::load(&a[j]) - wide_step * c) / divisor).store(&mut out[j]);
                smallest = divisor.min(smallest);
            }
            for (l, c) in rest.iter().enumerate() {
                let divisor = d_rest[l] - c * c * inverse;
                out_rest[l] = (a_rest[l] - step * c) / divisor;
                smallest.update(l, |low| if divisor < low { divisor } else { low });
            }
            *low = smallest;
        }
    }
    level.run(Kernel { c, a, d, step, inverse, out, low });
}
