//! The best addition without trying every candidate, for squared loss.

use super::full::Candidate;
use super::{Basis, Full, Scorer, Trial};
use crate::column::scaled;
use rayon::prelude::*;

/// For every candidate s_i = x_iᵀG x_i, t_i = x_iᵀa, q_i = ‖G x_i‖² and the inner products with the commits, but not
/// G x_i itself.
///
/// Additions only lower d = diag G. So with w_j = 1/d_j² of the present state and f = t_i/(λ + s_i) the squared
/// leave-one-out error of candidate i sums to at least
///
///   Σ_o [ Σ w a² − 2f·(w∘a)ᵀG x_i + f²·(min w)·q_i ],
///
/// where (w∘a)ᵀG x_i = x_iᵀG(w∘a) for all candidates takes one read of X. Candidates are tried exactly in the order of
/// their bounds until a bound passes the best trial. Memory 8·m·s bytes beside X.
#[derive(Debug)]
pub struct Bounded<'d> {
    basis: Basis<'d>,
    features: Vec<usize>,
    scalars: Vec<Scalars>,
    /// Commits that the scalars have taken in.
    applied: usize,
    /// Whether `along` belongs to the present state.
    fresh: bool,
}

#[derive(Debug, Clone, Default)]
struct Scalars {
    s: f64,
    q: f64,
    t: Vec<f64>,
    /// x_iᵀG(w∘a) of each output.
    along: Vec<f64>,
    /// x_iᵀc_p/τ_p of each commit.
    shares: Vec<f64>,
}

/// Of ‖x_i‖²: below this part, the recurrences of a nearly dependent column are not trusted.
const DEPENDENT: f64 = 1e-6;
/// Rounding that a bound may have, relative to the terms it is made of.
const SLACK: f64 = 1e-9;
/// Rows of the buffer in which G x_i is made.
const BUFFER: usize = 512;
/// Candidates that share the commits in cache.
const GROUP: usize = 8;

impl<'d> Bounded<'d> {
    /// The candidates that a basis has not selected. One read of X and one per commit. Cost O(m·n·(s + outputs)).
    pub fn new(basis: Basis<'d>) -> Self {
        let data = &basis.data;
        let features: Vec<usize> =
            (0..data.columns()).filter(|&f| data.is_active(f) && !basis.contains(f)).collect();
        let start = Basis::new(std::sync::Arc::clone(&basis.data), basis.lambda);
        let outputs = data.outputs();
        let products = data.products(&features, &start.a);
        let scalars = features
            .iter()
            .zip(products.chunks(outputs))
            .map(|(&feature, t)| {
                let squares = data.squares(feature);
                Scalars { s: squares, q: squares, t: t.to_vec(), along: vec![0.0; outputs], shares: Vec::new() }
            })
            .collect();
        Bounded { basis, features, scalars, applied: 0, fresh: false }
    }

    /// The state of the selected columns.
    pub fn basis(&self) -> &Basis<'d> {
        &self.basis
    }

    /// Adds a column. Cost O(m·s).
    pub fn add(&mut self, feature: usize) {
        self.basis.add(feature);
        self.fresh = false;
    }

    /// Brings the scalars up to date: one read of X when one commit is new.
    fn refresh(&mut self) {
        let selected: Vec<usize> = self.basis.selected().collect();
        let kept: Vec<bool> = self.features.iter().map(|f| !selected.contains(f)).collect();
        let mut keep = kept.iter().copied();
        self.features.retain(|_| keep.next().unwrap_or(false));
        let mut keep = kept.into_iter();
        self.scalars.retain(|_| keep.next().unwrap_or(false));

        let end = self.basis.commits.len();
        let outputs = self.basis.data.outputs();
        let first = self.applied;
        let mut vectors: Vec<Vec<f64>> = Vec::new();
        for p in first..end {
            let mut image = vec![self.basis.commits[p].c.clone()];
            self.basis.apply(p, &mut image);
            vectors.push(self.basis.commits[p].c.clone());
            vectors.append(&mut image);
        }
        let mut weighted: Vec<Vec<f64>> = self
            .basis
            .a
            .iter()
            .map(|a| a.iter().zip(&self.basis.d).map(|(a, d)| a / (d * d)).collect())
            .collect();
        self.basis.apply(end, &mut weighted);
        vectors.append(&mut weighted);

        let products = self.basis.data.products(&self.features, &vectors);
        let norms: Vec<f64> = self.basis.commits[first..end].iter().map(|p| p.c.iter().map(|c| c * c).sum()).collect();
        for (scalars, products) in self.scalars.iter_mut().zip(products.chunks(vectors.len())) {
            for (k, commit) in self.basis.commits[first..end].iter().enumerate() {
                let (g, image) = (products[2 * k], products[2 * k + 1]);
                let share = g / commit.tau;
                scalars.q += share * (share * norms[k] - 2.0 * image);
                scalars.s -= g * share;
                scalars.t.iter_mut().zip(&commit.t).for_each(|(t, tb)| *t -= share * tb);
                scalars.shares.push(share);
            }
            scalars.along.copy_from_slice(&products[2 * (end - first)..][..outputs]);
        }
        self.applied = end;
        self.fresh = true;
    }

    /// For each candidate a number that its mean loss cannot be below, in the order of [`Bounded::features`].
    ///
    /// −∞ for a nearly dependent column. One read of X per step. Cost O(m·n·outputs).
    pub fn bounds(&mut self, scorer: &Scorer) -> Vec<f64> {
        if !self.fresh {
            self.refresh();
        }
        let weight = |d: &f64| 1.0 / (d * d);
        let base: f64 =
            self.basis.a.iter().map(|a| a.iter().zip(&self.basis.d).map(|(a, d)| a * a * weight(d)).sum::<f64>()).sum();
        let least = self.basis.d.iter().map(weight).fold(f64::INFINITY, f64::min);
        let bound = |(&feature, scalars): (&usize, &Scalars)| {
            let squares = self.basis.data.squares(feature);
            if scalars.s < DEPENDENT * squares {
                return f64::NEG_INFINITY;
            }
            let quadratic = (scalars.q - SLACK * squares).max(0.0) * least;
            let (mut sum, mut terms) = (base, base);
            for (t, along) in scalars.t.iter().zip(&scalars.along) {
                let f = t / (self.basis.lambda + scalars.s);
                sum += f * (f * quadratic - 2.0 * along);
                terms += f.abs() * (f.abs() * squares * least + 2.0 * along.abs());
            }
            scorer.mean_of(sum - SLACK * terms)
        };
        self.features.iter().zip(&self.scalars).map(bound).collect()
    }

    /// The candidates that [`Bounded::bounds`] speaks of, in increasing order.
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// Exact trials of some candidates, by position in [`Bounded::features`]. Cost O(m·(s + outputs)) each.
    pub fn trials(&self, scorer: &Scorer, positions: &[usize]) -> Vec<Trial> {
        let group = positions.len().div_ceil(rayon::current_num_threads()).clamp(1, GROUP);
        positions
            .par_chunks(group)
            .flat_map_iter(|group| {
                let mut running: Vec<_> = group
                    .iter()
                    .map(|&at| {
                        let scalars = &self.scalars[at];
                        let dependent = scalars.s < DEPENDENT * self.basis.data.squares(self.features[at]);
                        (!dependent).then(|| self.basis.start_trial(scorer, scalars.s, &scalars.t))
                    })
                    .collect();
                self.walk(group, |k, start, part| {
                    if let Some(progress) = &mut running[k] {
                        progress.add(&self.basis, scorer, start, part);
                    }
                });
                let finish = |(progress, &at): (Option<super::basis::Progress>, &usize)| match progress {
                    Some(progress) => progress.finish(scorer),
                    None => {
                        let Candidate { c, s, t } = self.careful(at);
                        self.basis.trial(scorer, &c, s, &t)
                    }
                };
                running.into_iter().zip(group).map(finish).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Makes G x_i of a group of candidates, a buffer of rows at a time: x_i − Σ_p (x_iᵀc_p/τ_p) c_p.
    fn walk(&self, group: &[usize], mut visit: impl FnMut(usize, usize, &[f64])) {
        let data = &self.basis.data;
        let mut buffer = vec![0.0; BUFFER];
        for start in (0..data.rows()).step_by(BUFFER) {
            let end = data.rows().min(start + BUFFER);
            let part = &mut buffer[..end - start];
            for (k, &at) in group.iter().enumerate() {
                let (x, shift) = data.column(self.features[at]);
                scaled(data.level, x.rows(start, end), shift, data.root().map(|r| &r[start..end]), part);
                let shares = &self.scalars[at].shares;
                super::basis::subtract(data.level, &self.basis.commits, |p| shares[p], start, part);
                visit(k, start, part);
            }
        }
    }

    /// G x_i and its scalars, one commit after the other.
    fn careful(&self, at: usize) -> Candidate {
        let c = self.basis.residual(self.features[at]);
        let (s, t) = self.basis.scalars(self.features[at], &c);
        Candidate { c, s, t }
    }

    /// The same state with C of every candidate, for when bounds no longer tell candidates apart. Cost O(m·n·s).
    pub fn into_full(mut self) -> Full<'d> {
        if !self.fresh {
            self.refresh();
        }
        let mut columns: Vec<Option<Candidate>> = Vec::new();
        columns.resize_with(self.basis.data.columns(), || None);
        let positions: Vec<usize> = (0..self.features.len()).collect();
        let made: Vec<Candidate> = positions
            .par_chunks(GROUP)
            .flat_map_iter(|group| {
                let mut c = vec![vec![0.0; self.basis.data.rows()]; group.len()];
                self.walk(group, |k, start, part| c[k][start..start + part.len()].copy_from_slice(part));
                let finish = |(c, &at): (Vec<f64>, &usize)| {
                    let Scalars { s, t, .. } = &self.scalars[at];
                    if *s < 1e-3 * self.basis.data.squares(self.features[at]) {
                        return self.careful(at);
                    }
                    Candidate { c, s: *s, t: t.clone() }
                };
                c.into_iter().zip(group).map(finish).collect::<Vec<_>>()
            })
            .collect();
        for (candidate, &feature) in made.into_iter().zip(&self.features) {
            columns[feature] = Some(candidate);
        }
        Full::from_parts(self.basis, columns)
    }
}
