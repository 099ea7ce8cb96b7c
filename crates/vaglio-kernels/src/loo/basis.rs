//! The state of the selected columns for one λ.
//!
//! Additions follow arXiv:1003.3570, algorithm 3, with G for λ times theirs; the book derives additions and removals:
//! explanation/leave-one-out.md, "Trying one more column" and "Taking a column out".

use super::selected::{Leaving, Selected};
use super::trial::trial;
use crate::sums::{axpy, dot};
use crate::{Data, Scorer, Trial};
use rayon::prelude::*;
use std::sync::Arc;

/// A change of G by one column, which G loses c·cᵀ/τ with: a column that entered, or one that left, with τ < 0.
#[derive(Debug, Clone)]
pub(crate) struct Commit {
    pub feature: usize,
    /// G x before the column entered; C_b = X_S H e_b before it left.
    pub c: Vec<f64>,
    /// λ + xᵀG x; −H_bb for a column that left.
    pub tau: f64,
    /// xᵀa of each output before the column entered; its weights before it left.
    pub t: Vec<f64>,
    /// Whether the column left.
    pub leaves: bool,
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
    /// The selected columns, in order of entry.
    features: Vec<usize>,
    /// What removals need, from the first of them on.
    removable: Option<Selected>,
}

/// Changes beyond twice the selected columns that a state keeps before it is to be built anew.
const LONG: usize = 16;

impl<'d> Basis<'d> {
    /// The empty subset. Cost O(m · outputs).
    pub fn new(data: Arc<Data<'d>>, lambda: f64) -> Self {
        let a = (0..data.outputs()).map(|o| data.centered(o).to_vec()).collect();
        let d = data.empty_diagonal();
        Basis { data, lambda, commits: Vec::new(), a, d, features: Vec::new(), removable: None }
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
        self.features.iter().copied()
    }

    /// Whether a column is selected.
    pub fn contains(&self, feature: usize) -> bool {
        self.features.contains(&feature)
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
        if let Some(removable) = &mut self.removable {
            removable.add(&self.data, feature, &c, tau, &t);
        }
        self.features.push(feature);
        self.commits.push(Commit { feature, c, tau, t, leaves: false });
    }

    /// Removes a column: a ← a + C_b w_b/H_bb, d ← d + C_b∘C_b/H_bb. Cost O(m·s).
    ///
    /// False where the state does not go on and is to be built anew: without a column, so that nothing is left of
    /// rounding, and after many changes.
    #[must_use]
    pub fn remove(&mut self, feature: usize) -> bool {
        self.prepare();
        let data = &self.data;
        let Some(leaving) = self.removable.as_mut().and_then(|r| r.remove(data, feature)) else { return false };
        let Leaving { c, w, h, is_unreliable } = leaving;
        for (a, w) in self.a.iter_mut().zip(&w) {
            axpy(self.data.level, w / h, &c, a);
        }
        for (d, c) in self.d.iter_mut().zip(&c) {
            *d += c * c / h;
        }
        if is_unreliable {
            self.removable = None;
        }
        self.features.retain(|f| *f != feature);
        self.commits.push(Commit { feature, c, tau: -h, t: w, leaves: true });
        !self.features.is_empty() && self.commits.len() <= 2 * self.features.len() + LONG
    }

    /// The trials of removing some selected columns. Cost O(m · outputs) each; the first call O(m·s² + s³).
    pub fn removals(&mut self, scorer: &Scorer, features: &[usize]) -> Vec<Trial> {
        self.prepare();
        if self.features.len() == 1 {
            // Nothing is left of rounding, as where the state is built anew.
            let empty = Basis::new(Arc::clone(&self.data), self.lambda).score(scorer);
            return vec![empty; features.len()];
        }
        let one = |&feature: &usize| match self.removable.as_ref().and_then(|r| r.column(feature)) {
            Some((c, w, h)) => trial(self.data.level, scorer, (&self.a, &self.d), c, w, -1.0 / h),
            None => Trial::of(f64::NAN, f64::NAN),
        };
        features.par_iter().map(one).collect()
    }

    fn prepare(&mut self) {
        if self.removable.is_none() {
            self.removable = Selected::new(&self.data, self.lambda, self.features.clone());
        }
    }

    /// xᵀG x and xᵀa of each output, from c = G x. Cost O(m · outputs).
    pub(crate) fn scalars(&self, feature: usize, c: &[f64]) -> (f64, Vec<f64>) {
        let level = self.data.level;
        let x = self.data.scaled(feature);
        (dot(level, &x, c), self.a.iter().map(|a| dot(level, &x, a)).collect())
    }

    /// G x of a column that is not selected, one commit after the other. Cost O(m·commits).
    pub(crate) fn residual(&self, feature: usize) -> Vec<f64> {
        self.residual_from(feature, self.data.scaled(feature), 0)
    }

    /// G x from what it was before the commits from `from` on. Cost O(m) for each of them.
    pub(crate) fn residual_from(&self, feature: usize, mut c: Vec<f64>, from: usize) -> Vec<f64> {
        let level = self.data.level;
        let commits = &self.commits[from..];
        let x = commits.iter().any(|commit| commit.leaves).then(|| self.data.scaled(feature));
        for commit in commits {
            // Where a column left, xᵀC_b is found from x itself: with G x cancellation grows with every change.
            let g = match &x {
                Some(x) if commit.leaves => dot(level, x, &commit.c),
                _ => self.data.product(commit.feature, &c),
            };
            axpy(level, -g / commit.tau, &commit.c, &mut c);
        }
        c
    }

    /// Leave-one-out residuals a/d of each output, scaled like the rows. Cost O(m · outputs).
    pub fn residuals(&self) -> Vec<Vec<f64>> {
        self.a.iter().map(|a| a.iter().zip(&self.d).map(|(a, d)| a / d).collect()).collect()
    }

    /// The loss of the current subset. Cost O(m · outputs).
    pub fn score(&self, scorer: &Scorer) -> Trial {
        let least = self.d.iter().copied().fold(f64::INFINITY, f64::min);
        Trial::from_outcome(scorer.outcome(&self.residuals()), least)
    }
}
