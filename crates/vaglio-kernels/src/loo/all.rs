//! All trials of a step in one pass over C.
//!
//! arXiv:1003.3570, algorithm 3, with removals as well; the book, explanation/leave-one-out.md, "Trying one more column".

use super::basis::{By, Commit};
use super::group::visit_together;
use super::pass::{Moving, alone};
use super::trial::trial;
use super::{Basis, is_cancelled, judged};
use crate::sums::{axpy, dot};
use crate::{Data, Scorer, Trial};
use rayon::prelude::*;
use std::ops::Range;

/// C_i = G x_i for every active column that is not selected, with s_i = x_iᵀC_i and t_i = x_iᵀa.
///
/// The commit of one step and the trials of the next are fused: a column is loaded once, brought up to date, tried,
/// and stored, so a step reads and writes C once and does not read X. Memory 8·m·n bytes.
#[derive(Debug)]
pub(super) struct All {
    columns: Vec<Option<Candidate>>,
    /// Commits that every candidate has been brought up to.
    applied: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// Commits that it has taken in.
    pub until: usize,
    pub c: Vec<f64>,
    pub s: f64,
    pub t: Vec<f64>,
}

/// A commit that candidates still have to take in.
pub(super) struct Pending<'k> {
    /// Its place among the commits.
    pub place: usize,
    /// x scaled of a column that entered; none for one that left, and for a direction.
    pub x: Option<Vec<f64>>,
    pub c: &'k [f64],
    tau: f64,
    t: &'k [f64],
}

/// Commits that are taken in together when there are many.
const TOGETHER: usize = 8;
/// Candidates that a thread visits in turn, at most.
const IN_TURN: usize = 64;

impl All {
    /// C of the columns that a basis has not selected. Cost O(m·n·(s + outputs)).
    pub fn new(basis: &Basis<'_>) -> Self {
        let data = &basis.data;
        let candidate = |feature: usize| {
            (data.is_active(feature) && !basis.contains(feature)).then(|| Candidate::new(basis, feature))
        };
        All::from_parts(basis, (0..data.columns()).into_par_iter().map(candidate).collect())
    }

    /// C that is known already and up to date.
    pub fn from_parts(basis: &Basis<'_>, columns: Vec<Option<Candidate>>) -> Self {
        All { columns, applied: basis.commits.len() }
    }

    /// C of a candidate that becomes one no more. Cost O(m) per commit that it has not taken in.
    pub fn take(&mut self, basis: &Basis<'_>, feature: usize) -> Option<Vec<f64>> {
        let mut candidate = self.columns[feature].take()?;
        for pending in pending(basis, self.applied, basis.commits.len()) {
            candidate.take_in(&basis.data, feature, &pending);
        }
        Some(candidate.c)
    }

    /// Makes the column that was just removed a candidate again.
    ///
    /// G x_b = C_b/H_bb without the column, x_bᵀG x_b = 1/H_bb − λ and x_bᵀa = w_b/H_bb; a column that equals a
    /// candidate gets that one's bits.
    pub fn readmit(&mut self, basis: &Basis<'_>, feature: usize) {
        let data = &basis.data;
        if !data.is_active(feature) {
            return;
        }
        let equal = self.columns.iter().enumerate().find(|(f, c)| c.is_some() && data.equal(*f, feature));
        self.columns[feature] = match (equal, basis.commits.last()) {
            (Some((_, equal)), _) => equal.clone(),
            (None, Some(left)) => {
                let h = -left.tau;
                let over = |v: &Vec<f64>| v.iter().map(|v| v / h).collect();
                let (s, until) = (1.0 / h - basis.lambda, basis.commits.len());
                Some(Candidate { until, c: over(&left.c), s, t: over(&left.t) })
            }
            (None, None) => None,
        };
    }

    /// The trial of adding each of some columns; inactive or selected ones get an infinite loss.
    ///
    /// One read and one write of C. Cost O(m·n·outputs).
    pub fn trials(&mut self, basis: &Basis<'_>, scorer: &Scorer, wanted: &[usize]) -> Vec<Trial> {
        let end = basis.commits.len();
        while end - self.applied > 1 {
            let to = (self.applied + TOGETHER).min(end - 1);
            let pending = pending(basis, self.applied, to);
            let take_in = |(feature, candidate): (usize, &mut Option<Candidate>)| {
                let Some(candidate) = candidate else { return };
                pending.iter().for_each(|p| candidate.take_in(&basis.data, feature, p));
            };
            self.columns.par_iter_mut().enumerate().for_each(take_in);
            self.applied = to;
        }
        let last = pending(basis, self.applied, end);
        let mut is_wanted = vec![false; self.columns.len()];
        wanted.iter().for_each(|&w| is_wanted[w] = true);
        let present = self.columns.iter_mut().enumerate().filter_map(|(feature, c)| Some((feature, c.as_mut()?)));
        let (mut tried, others): (Vec<Placed<'_>>, Vec<Placed<'_>>) =
            present.partition(|(feature, _)| is_wanted[*feature]);
        others.into_par_iter().for_each(|(feature, candidate)| {
            last.iter().for_each(|p| candidate.take_in(&basis.data, feature, p));
        });
        let visit = |group: &mut [Placed<'_>]| visit_together(group, basis, scorer, last.first());
        let in_turn = (tried.len() / (4 * rayon::current_num_threads())).clamp(2, IN_TURN) / 2 * 2;
        let trials: Vec<Trial> = tried.par_chunks_mut(in_turn).flat_map_iter(visit).collect();
        let mut all = vec![Trial::of(f64::INFINITY, f64::INFINITY); is_wanted.len()];
        tried.iter().zip(trials).for_each(|((feature, _), trial)| all[*feature] = trial);
        self.applied = end;
        wanted.iter().map(|&w| all[w].clone()).collect()
    }
}

fn pending<'k>(basis: &'k Basis<'_>, from: usize, to: usize) -> Vec<Pending<'k>> {
    let commits = basis.commits.iter().enumerate().take(to).skip(from);
    commits
        .map(|(place, Commit { by, c, tau, t })| {
            let x = if let By::Entry(feature) = by { Some(basis.data.scaled(*feature)) } else { None };
            Pending { place, x, c, tau: *tau, t }
        })
        .collect()
}

impl Pending<'_> {
    /// g = x_bᵀC, or x_lᵀC_b of the candidate's own x where column b left: the two are one number, but the errors of the
    /// first grow with every change.
    pub fn product(&self, data: &Data<'_>, feature: usize, c: &[f64]) -> f64 {
        match &self.x {
            Some(x) => dot(data.level, x, c),
            None => data.product(feature, self.c),
        }
    }
}

impl Candidate {
    /// G x and its scalars, one commit after the other. Cost O(m·s).
    pub fn new(basis: &Basis<'_>, feature: usize) -> Self {
        let c = basis.residual(feature);
        let (s, t) = basis.scalars(feature, &c);
        Candidate { until: basis.commits.len(), c, s, t }
    }

    /// C ← C − (g/τ) c_b, s ← s − g²/τ, t ← t − g t_b/τ.
    fn take_in(&mut self, data: &Data<'_>, feature: usize, pending: &Pending<'_>) {
        if let Some(step) = self.scalars_after(data, feature, pending) {
            axpy(data.level, -step, pending.c, &mut self.c);
        }
    }

    /// The step by which C is still to go along c_b; `None` for a commit that it has taken in.
    fn scalars_after(&mut self, data: &Data<'_>, feature: usize, pending: &Pending<'_>) -> Option<f64> {
        let is_open = pending.place >= self.until;
        is_open.then(|| self.scalars_by(pending.product(data, feature, &self.c), pending))
    }

    /// The step, given g.
    pub fn scalars_by(&mut self, g: f64, pending: &Pending<'_>) -> f64 {
        self.until = pending.place + 1;
        let step = g / pending.tau;
        self.s -= g * step;
        self.t.iter_mut().zip(pending.t).for_each(|(t, tb)| *t -= step * tb);
        step
    }

    /// Takes in the last commit and tries the column.
    pub fn visit(&mut self, basis: &Basis<'_>, scorer: &Scorer, feature: usize, last: Option<&Pending<'_>>) -> Trial {
        let step = last.and_then(|p| Some((self.scalars_after(&basis.data, feature, p)?, p.c)));
        self.visit_by(basis, scorer, feature, step)
    }

    pub fn visit_by(
        &mut self,
        basis: &Basis<'_>,
        scorer: &Scorer,
        feature: usize,
        step: Option<(f64, &[f64])>,
    ) -> Trial {
        let level = basis.data.level;
        let step = self.settle(basis, feature, step);
        let (inverse, left) = self.judgement(basis, feature);
        if let Some(pass) = scorer.pass() {
            let moving = self.moving(0..basis.d.len(), step.map_or(0.0, |(step, _)| step), inverse);
            let found = alone(level, moving, step.map(|(_, c)| c), (&basis.a[0], &basis.d), pass);
            return judged(scorer.of_pass(found), left);
        }
        if let Some((step, c)) = step {
            axpy(level, -step, c, &mut self.c);
        }
        judged(trial(level, scorer, (&basis.a, &basis.d), &self.c, &self.t, inverse), left)
    }

    /// 1/(λ + s), and what is left of the columns with this one.
    pub fn judgement(&self, basis: &Basis<'_>, feature: usize) -> (f64, f64) {
        let tau = basis.lambda + self.s;
        (1.0 / tau, basis.left_with(feature, tau))
    }

    /// Where s is nearly cancelled, takes in the step and makes s and t anew; else the step is still to be taken in.
    fn settle<'k>(
        &mut self,
        basis: &Basis<'_>,
        feature: usize,
        step: Option<(f64, &'k [f64])>,
    ) -> Option<(f64, &'k [f64])> {
        if !is_cancelled(self.s, basis.data.squares(feature)) {
            return step;
        }
        if let Some((step, c)) = step {
            axpy(basis.data.level, -step, c, &mut self.c);
        }
        (self.s, self.t) = basis.scalars(feature, &self.c);
        None
    }

    /// Its part of a pass over some rows.
    pub fn moving(&mut self, rows: Range<usize>, step: f64, inverse: f64) -> Moving<'_> {
        Moving { step, f: self.t[0] * inverse, inverse, c: &mut self.c[rows] }
    }
}

/// A candidate with its feature.
pub(super) type Placed<'k> = (usize, &'k mut Candidate);
