//! All trials of a step in one pass over C.

use super::{Basis, Trial};
use crate::column::{axpy, dot};
use crate::wide::Wide;
use crate::{Level, Measure, Scorer};
use pulp::NullaryFnOnce;
use rayon::prelude::*;

/// C_i = G x_i for every active column that is not selected, with s_i = x_iᵀC_i and t_i = x_iᵀa.
///
/// The commit of one step and the trials of the next are fused: a column is loaded once, brought up to date, tried,
/// and stored, so a step reads and writes C once and does not read X. Memory 8·m·n bytes.
#[derive(Debug)]
pub struct Full<'d> {
    basis: Basis<'d>,
    columns: Vec<Option<Candidate>>,
    /// Commits that every candidate has been brought up to.
    applied: usize,
}

#[derive(Debug)]
pub(crate) struct Candidate {
    pub c: Vec<f64>,
    pub s: f64,
    pub t: Vec<f64>,
}

/// A commit that candidates still have to take in, with x scaled.
struct Pending<'k> {
    x: Vec<f64>,
    c: &'k [f64],
    tau: f64,
    t: &'k [f64],
}

/// At so small a part of ‖x‖², xᵀG x has lost digits and is computed anew.
const REFRESH: f64 = 1e-3;
/// Commits that are taken in together when there are many.
const TOGETHER: usize = 8;

impl<'d> Full<'d> {
    /// C of the columns that a basis has not selected. Cost O(m·n·(s + outputs)).
    pub fn new(basis: Basis<'d>) -> Self {
        let data = &basis.data;
        let candidate = |feature: usize| {
            (data.is_active(feature) && !basis.contains(feature)).then(|| {
                let c = basis.residual(feature);
                let (s, t) = basis.scalars(feature, &c);
                Candidate { c, s, t }
            })
        };
        let columns = (0..data.columns()).into_par_iter().map(candidate).collect();
        Full::from_parts(basis, columns)
    }

    /// C that is known already and up to date.
    pub(crate) fn from_parts(basis: Basis<'d>, columns: Vec<Option<Candidate>>) -> Self {
        let applied = basis.commits.len();
        Full { basis, columns, applied }
    }

    /// The state of the selected columns.
    pub fn basis(&self) -> &Basis<'d> {
        &self.basis
    }

    /// Adds a column. Cost O(m) per commit that its C has not taken in.
    pub fn add(&mut self, feature: usize) {
        match self.columns[feature].take() {
            Some(mut candidate) => {
                for pending in self.pending(self.applied, self.basis.commits.len()) {
                    candidate.take_in(self.basis.data.level, &pending);
                }
                self.basis.add_residual(feature, candidate.c);
            }
            None => self.basis.add(feature),
        }
    }

    fn pending(&self, from: usize, to: usize) -> Vec<Pending<'_>> {
        let commits = &self.basis.commits[from..to];
        commits.iter().map(|p| Pending { x: self.basis.data.scaled(p.feature), c: &p.c, tau: p.tau, t: &p.t }).collect()
    }

    /// The trial of adding each candidate; inactive or selected columns get an infinite loss.
    ///
    /// One read and one write of C. Cost O(m·n·outputs).
    pub fn trials(&mut self, scorer: &Scorer, wanted: &[usize]) -> Vec<Trial> {
        let mut columns = std::mem::take(&mut self.columns);
        let end = self.basis.commits.len();
        while end - self.applied > 1 {
            let to = (self.applied + TOGETHER).min(end - 1);
            let pending = self.pending(self.applied, to);
            columns.par_iter_mut().flatten().for_each(|candidate| {
                pending.iter().for_each(|p| candidate.take_in(self.basis.data.level, p));
            });
            drop(pending);
            self.applied = to;
        }
        let last = self.pending(self.applied, end);
        let mut is_wanted = vec![false; columns.len()];
        wanted.iter().for_each(|&w| is_wanted[w] = true);
        let none = Trial { loss: f64::INFINITY, low: f64::INFINITY };
        let all: Vec<Trial> = columns
            .par_iter_mut()
            .enumerate()
            .map(|(feature, candidate)| match candidate {
                Some(candidate) if is_wanted[feature] => candidate.visit(&self.basis, scorer, feature, last.first()),
                Some(candidate) => {
                    last.iter().for_each(|p| candidate.take_in(self.basis.data.level, p));
                    none
                }
                None => none,
            })
            .collect();
        drop(last);
        self.applied = end;
        self.columns = columns;
        wanted.iter().map(|&w| all[w]).collect()
    }
}

impl Candidate {
    /// C ← C − (g/τ) c_b, s ← s − g²/τ, t ← t − g t_b/τ with g = x_bᵀC.
    fn take_in(&mut self, level: Level, pending: &Pending<'_>) {
        let step = self.scalars_after(level, pending);
        axpy(level, -step, pending.c, &mut self.c);
    }

    fn scalars_after(&mut self, level: Level, pending: &Pending<'_>) -> f64 {
        let g = dot(level, &pending.x, &self.c);
        let step = g / pending.tau;
        self.s -= g * step;
        self.t.iter_mut().zip(pending.t).for_each(|(t, tb)| *t -= step * tb);
        step
    }

    /// Takes in the last commit and tries the column.
    fn visit(&mut self, basis: &Basis<'_>, scorer: &Scorer, feature: usize, last: Option<&Pending<'_>>) -> Trial {
        let level = basis.data.level;
        let mut step = last.map(|pending| (self.scalars_after(level, pending), pending.c));
        if self.s < REFRESH * basis.data.squares(feature) {
            if let Some((step, c)) = step.take() {
                axpy(level, -step, c, &mut self.c);
            }
            (self.s, self.t) = basis.scalars(feature, &self.c);
        }
        if scorer.measure == Measure::Squared && self.t.len() == 1 {
            let inverse = 1.0 / (basis.lambda + self.s);
            let (sum, low) = fused(level, &mut self.c, step, &basis.a[0], &basis.d, self.t[0] * inverse, inverse);
            return Trial { loss: scorer.mean_of(sum), low };
        }
        if let Some((step, c)) = step {
            axpy(level, -step, c, &mut self.c);
        }
        basis.trial(scorer, &self.c, self.s, &self.t)
    }
}

/// c ← c − step·c_b, then Σ ((a − f c)/(d − c²·inverse))² with the smallest divisor, in one pass.
fn fused(
    level: Level,
    c: &mut [f64],
    update: Option<(f64, &[f64])>,
    a: &[f64],
    d: &[f64],
    f: f64,
    inverse: f64,
) -> (f64, f64) {
    struct Kernel<'k> {
        c: &'k mut [f64],
        update: Option<(f64, &'k [f64])>,
        a: &'k [f64],
        d: &'k [f64],
        f: f64,
        inverse: f64,
    }
    impl NullaryFnOnce for Kernel<'_> {
        type Output = (f64, f64);
        #[inline(always)]
        fn call(self) -> (f64, f64) {
            let Kernel { c, update, a, d, f, inverse } = self;
            match update {
                None => pass::<false>(c, 0.0, a, a, d, f, inverse),
                Some((step, b)) => pass::<true>(c, step, b, a, d, f, inverse),
            }
        }
    }
    level.run(Kernel { c, update, a, d, f, inverse })
}

#[inline(always)]
fn pass<const UPDATE: bool>(
    c: &mut [f64],
    step: f64,
    b: &[f64],
    a: &[f64],
    d: &[f64],
    f: f64,
    inverse: f64,
) -> (f64, f64) {
    let rows = c.len();
    let (c, c_rest) = c.as_chunks_mut();
    let whole = c.len();
    let ((a, a_rest), (b, b_rest), (d, d_rest)) = (a[..rows].as_chunks(), b[..rows].as_chunks(), d[..rows].as_chunks());
    let (a, b, d) = (&a[..whole], &b[..whole], &d[..whole]);
    let (mut sums, mut low) = (Wide::ZERO, Wide::INFINITY);
    let (wide_f, wide_inverse, wide_step) = (Wide::splat(f), Wide::splat(inverse), Wide::splat(-step));
    for j in 0..whole {
        let mut x = Wide::load(&c[j]);
        if UPDATE {
            x = x + wide_step * Wide::load(&b[j]);
            x.store(&mut c[j]);
        }
        let divisor = Wide::load(&d[j]) - x * x * wide_inverse;
        let error = (Wide::load(&a[j]) - wide_f * x) / divisor;
        sums = sums + error * error;
        low = divisor.min(low);
    }
    for (l, c) in c_rest.iter_mut().enumerate() {
        if UPDATE {
            *c += -step * b_rest[l];
        }
        let divisor = d_rest[l] - *c * *c * inverse;
        let error = (a_rest[l] - f * *c) / divisor;
        sums.update(l, |sum| sum + error * error);
        low.update(l, |low| if divisor < low { divisor } else { low });
    }
    (sums.sum(), low.least())
}
