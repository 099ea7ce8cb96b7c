//! Rows of which the fit knows nothing else: left out without a difference of nearly equal numbers.

use super::Basis;
use super::reduced::Reduced;
use crate::sums::{axpy, dot};
use crate::{Data, Scorer, is_unreliable};
use rayon::prelude::*;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// A change of a subset by one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The subset as it is.
    None,
    /// With one more column.
    Add(usize),
    /// Without one of its columns.
    Remove(usize),
}

impl Change {
    /// The subset after the change.
    pub fn of(self, subset: impl Iterator<Item = usize>) -> Vec<usize> {
        match self {
            Change::None => subset.collect(),
            Change::Add(feature) => subset.chain([feature]).collect(),
            Change::Remove(feature) => subset.filter(|f| *f != feature).collect(),
        }
    }
}

/// The losses of a subset after each change, from [`careful_residuals`].
pub fn careful(basis: &Basis<'_>, scorer: &Scorer, changes: &[Change]) -> Vec<f64> {
    careful_residuals(basis, changes).iter().map(|residuals| scorer.loss(residuals)).collect()
}

/// The residuals left out of a subset after each change, exact also where a row's leverage is nearly 1: for each change,
/// outputs × rows, scaled like the rows.
///
/// Residuals are a/d as in every trial, but rows whose d has lost its digits are left out by a state of their own.
/// Cost O(m·s) per change and O(m·s²) per such row, with O(m·s) for each addition that it matters to. A removal costs
/// O(m·s²), and again for each such row; without additions among the changes all rows but these w are reduced once, which
/// leaves O((s + w)·s²) for each.
pub fn careful_residuals(basis: &Basis<'_>, changes: &[Change]) -> Vec<Vec<Vec<f64>>> {
    let mut residuals: Vec<(Vec<Vec<f64>>, Vec<usize>)> =
        changes.par_iter().map(|change| basis.residuals_after(*change)).collect();
    let mut by_row: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (k, (_, weak)) in residuals.iter().enumerate() {
        weak.iter().for_each(|&row| by_row.entry(row).or_default().push(k));
    }
    let (data, lambda, subset) = (basis.data(), basis.lambda(), Change::None.of(basis.selected()));
    let is_addition = |change: &Change| matches!(change, Change::Add(_));
    let apart: Vec<usize> = by_row.keys().copied().collect();
    let reduced = if changes.iter().any(is_addition) { None } else { Reduced::new(data, &subset, &apart) };
    let rows: Vec<(usize, Vec<usize>)> = by_row.into_iter().collect();
    let of_row = |(row, concerned): &(usize, Vec<usize>)| {
        let state = OnceCell::new();
        let residual = |&k: &usize| match changes[k] {
            Change::Add(feature) => {
                state.get_or_init(|| HeldOut::new(data, lambda, *row, &subset)).residual(Some(feature))
            }
            Change::Remove(feature) => left_out(data, lambda, &subset, *row, Some(feature), reduced.as_ref()),
            Change::None => left_out(data, lambda, &subset, *row, None, reduced.as_ref()),
        };
        concerned.iter().map(residual).collect::<Vec<_>>()
    };
    let exact: Vec<Vec<Vec<f64>>> = rows.par_iter().map(of_row).collect();
    for ((row, concerned), exact) in rows.iter().zip(exact) {
        for (&k, of_outputs) in concerned.iter().zip(exact) {
            residuals[k].0.iter_mut().zip(of_outputs).for_each(|(residual, e)| residual[*row] = e);
        }
    }
    residuals.into_iter().map(|(residual, _)| residual).collect()
}

/// The residual of each output of a row, left out of a subset or of that without one of its columns, of all other rows as
/// they are reduced, if they are.
pub(crate) fn left_out(
    data: &Data<'_>,
    lambda: f64,
    subset: &[usize],
    row: usize,
    removed: Option<usize>,
    reduced: Option<&Reduced>,
) -> Vec<f64> {
    let place = removed.and_then(|removed| subset.iter().position(|f| *f == removed));
    let found = reduced.and_then(|reduced| reduced.residual(row, lambda, place));
    found.unwrap_or_else(|| {
        let subset = removed.map_or(Change::None, Change::Remove).of(subset.iter().copied());
        HeldOut::new(data, lambda, row, &subset).residual(None)
    })
}

impl Basis<'_> {
    /// Residuals left out of the subset after a change, and the rows at which they are not to be trusted.
    ///
    /// Cost O(m·s), for a removal O(m·s²), or O(m³) for a subset that can fit every row.
    fn residuals_after(&self, change: Change) -> (Vec<Vec<f64>>, Vec<usize>) {
        let subset = change.of(self.selected());
        if let Some(residuals) = super::dual::residuals(&self.data, self.lambda, &subset) {
            return (residuals, Vec::new());
        }
        let mut changed = Basis::new(self.data.clone(), self.lambda);
        match change {
            Change::Remove(_) => subset.iter().for_each(|&feature| changed.add(feature)),
            Change::Add(feature) => {
                (changed.a, changed.d) = (self.a.clone(), self.d.clone());
                changed.add_residual(feature, self.residual(feature));
            }
            Change::None => (changed.a, changed.d) = (self.a.clone(), self.d.clone()),
        }
        let weak = (0..changed.d.len()).filter(|&j| is_unreliable(changed.d[j])).collect();
        (changed.residuals(), weak)
    }
}

/// A vector with one row kept apart: sums run over the others, changes apply to all.
#[derive(Clone)]
struct Apart {
    /// The vector, 0 at the row.
    others: Vec<f64>,
    /// Its entry at the row.
    at: f64,
}

/// The state of a subset on all rows but one, which follows along: its entry of the targets' residual is the residual
/// left out, with nothing to divide by.
struct HeldOut<'b, 'd> {
    data: &'b Data<'d>,
    row: usize,
    lambda: f64,
    commits: Vec<(Apart, Apart, f64)>,
    a: Vec<Apart>,
}

impl<'b, 'd> HeldOut<'b, 'd> {
    /// Cost O(m·s²).
    fn new(data: &'b Data<'d>, lambda: f64, row: usize, subset: &[usize]) -> Self {
        let mut state = HeldOut { data, row, lambda, commits: Vec::new(), a: Vec::new() };
        state.a = (0..data.outputs()).map(|o| state.apart(data.centered(o).to_vec())).collect();
        for &feature in subset {
            let (x, c, tau, steps) = state.reduced(feature);
            for (a, step) in state.a.iter_mut().zip(steps) {
                a.subtract(data, step, &c);
            }
            state.commits.push((x, c, tau));
        }
        state
    }

    /// The row's residual of each output, with one more column if given. Cost O(m·s).
    fn residual(&self, candidate: Option<usize>) -> Vec<f64> {
        let Some(feature) = candidate else { return self.a.iter().map(|a| a.at).collect() };
        let (_, c, _, steps) = self.reduced(feature);
        self.a.iter().zip(steps).map(|(a, step)| a.at - step * c.at).collect()
    }

    /// x of a column, its residual c on the subset, τ = λ + xᵀc and xᵀa/τ of each output, sums without the row.
    fn reduced(&self, feature: usize) -> (Apart, Apart, f64, Vec<f64>) {
        let level = self.data.level;
        let x = self.apart(self.data.scaled(feature));
        let mut c = x.clone();
        for (earlier, residual, tau) in &self.commits {
            let step = dot(level, &earlier.others, &c.others) / tau;
            c.subtract(self.data, step, residual);
        }
        let tau = self.lambda + dot(level, &x.others, &c.others);
        let steps = self.a.iter().map(|a| dot(level, &x.others, &a.others) / tau).collect();
        (x, c, tau, steps)
    }

    /// A scaled vector with the row apart, centered on the other rows where there is an intercept.
    fn apart(&self, mut others: Vec<f64>) -> Apart {
        let level = self.data.level;
        let mut at = std::mem::take(&mut others[self.row]);
        if self.data.unit().is_some() {
            let mut ones = self.data.ones();
            let one = std::mem::take(&mut ones[self.row]);
            let mean = dot(level, &ones, &others) / dot(level, &ones, &ones);
            axpy(level, -mean, &ones, &mut others);
            at -= mean * one;
        }
        Apart { others, at }
    }
}

impl Apart {
    fn subtract(&mut self, data: &Data<'_>, step: f64, other: &Apart) {
        axpy(data.level, -step, &other.others, &mut self.others);
        self.at -= step * other.at;
    }
}
