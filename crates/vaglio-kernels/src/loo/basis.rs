//! State of the selected columns for one λ.
//!
//! Additions follow arXiv:1003.3570, algorithm 3, with G for λ times theirs. The book derives additions and removals:
//! explanation/leave-one-out.md, "Trying one more column" and "Taking a column out".

use super::orthonormal_basis::OrthonormalBasis;
use super::removal::RemovalState;
use crate::sums::{axpy, dot};
use crate::tolerance::{DIGITS_LEFT, NEARLY_DEPENDENT, SMALL_RESIDUAL, SOUND_ROW, UNLIKE_SQUARES};
use crate::{Data, is_unreliable};
use std::sync::Arc;
use vaglio_columns::{max_abs, minimum};

/// A rank-one update G ← G − c·cᵀ/τ.
#[derive(Debug, Clone)]
pub(crate) struct RankOneUpdate {
    pub kind: UpdateKind,
    /// For an added column G x before the addition; for a removed one C_b = X_S H e_b before the removal.
    pub c: Vec<f64>,
    /// For an added column λ + xᵀG x; for a removed one −H_bb.
    pub tau: f64,
    /// For an added column xᵀa of each output before the addition; for a removed one its weights before the removal.
    pub t: Vec<f64>,
}

/// Reason of a rank-one update.
#[derive(Debug, Clone)]
pub(crate) enum UpdateKind {
    /// Addition of a column.
    Entry(usize),
    /// Removal of a column, with τ < 0. The pairs express c as a combination of columns if that is accurate enough,
    /// else there are none.
    Exit(Vec<(usize, f64)>),
    /// Direction of several columns, with τ = 1.
    Direction,
}

impl RankOneUpdate {
    /// The added column.
    pub fn added_feature(&self) -> Option<usize> {
        if let UpdateKind::Entry(feature) = self.kind { Some(feature) } else { None }
    }
}

/// a = G y and d = diag G of the selected columns, with the vectors that represent G.
#[derive(Debug, Clone)]
pub(crate) struct RidgeState<'d> {
    pub(crate) data: Arc<Data<'d>>,
    /// The penalty.
    pub lambda: f64,
    /// Shared with forks.
    pub(crate) updates: Vec<Arc<RankOneUpdate>>,
    /// Residuals of each output.
    pub(crate) a: Vec<Vec<f64>>,
    /// 1 − leverage of each row.
    pub(crate) d: Vec<f64>,
    /// The selected columns, in order of entry.
    pub(super) features: Vec<usize>,
    /// State for removals, from the first removal on.
    pub(super) removable: Option<RemovalState>,
    /// Smallest remaining share of λ + ‖x‖² of an added column.
    share: f64,
    /// Remaining share that rounding is judged by: of the added columns, or for directions its root.
    pub(super) left: f64,
}

/// Number of updates beyond twice the selected columns at which a state must be rebuilt.
const LONG: usize = 16;

impl<'d> RidgeState<'d> {
    /// Creates the state of the empty subset. Cost O(m · outputs).
    pub fn new(data: Arc<Data<'d>>, lambda: f64) -> Self {
        let a = data.centered.clone();
        let d = data.empty_diagonal();
        let (updates, features) = (Vec::new(), Vec::new());
        RidgeState { data, lambda, updates, a, d, features, removable: None, share: 1.0, left: 1.0 }
    }

    /// Creates the state of some columns, added in order. Cost O(m·s²).
    pub fn with_columns(data: Arc<Data<'d>>, lambda: f64, features: impl IntoIterator<Item = usize>) -> Self {
        let mut basis = RidgeState::new(data, lambda);
        features.into_iter().for_each(|feature| basis.add(feature));
        basis.orthogonal();
        basis
    }

    /// Creates a state for trials of removals alone, from one decomposition if the columns are far from dependent. Cost
    /// O(m·s²).
    pub(super) fn for_removals(data: Arc<Data<'d>>, lambda: f64, features: Vec<usize>) -> Self {
        let alike = !features.is_empty() && !are_unlike(&data, lambda, &features);
        let selected = alike.then(|| RemovalState::new(&data, lambda, features.clone(), false)).flatten();
        match selected.map(|selected| (selected.remaining_share(&data, lambda), selected)) {
            Some((left, selected)) if left >= DIGITS_LEFT => {
                let (a, d) = selected.residuals(&data);
                let removable = Some(selected);
                RidgeState { a, d, features, removable, share: left, left, ..RidgeState::new(data, lambda) }
            }
            _ => {
                let mut basis = RidgeState::with_columns(data, lambda, features);
                basis.prepare();
                basis.updates = Vec::new();
                basis
            }
        }
    }

    /// Switches to orthonormal directions if a column is nearly dependent, and returns whether it did. Cost O(m·s²).
    pub(super) fn orthogonal(&mut self) -> bool {
        let is_dependent = self.share < NEARLY_DEPENDENT;
        if is_dependent {
            let directions = OrthonormalBasis::new(&self.data, self.lambda, &self.features);
            let features = std::mem::take(&mut self.features);
            *self = RidgeState::new(Arc::clone(&self.data), self.lambda);
            self.left = directions.share.sqrt();
            directions.q.into_iter().for_each(|q| {
                // Directions are orthonormal together with rows for λ below them, where targets are 0.
                let t = self.data.centered.iter().map(|y| dot(&q, y)).collect();
                self.apply(RankOneUpdate { kind: UpdateKind::Direction, c: q, tau: 1.0, t });
            });
            self.features = features;
        }
        is_dependent
    }

    fn has_directions(&self) -> bool {
        self.updates.iter().any(|update| matches!(update.kind, UpdateKind::Direction))
    }

    /// a ← a − c·t/τ, d ← d − c∘c/τ.
    fn apply(&mut self, update: RankOneUpdate) {
        let RankOneUpdate { c, tau, t, .. } = &update;
        for (a, t) in self.a.iter_mut().zip(t) {
            axpy(-t / tau, c, a);
        }
        for (d, c) in self.d.iter_mut().zip(c) {
            *d -= c * c / tau;
        }
        self.updates.push(Arc::new(update));
    }

    /// Remaining share of the columns after adding one, given its λ + xᵀG x, `tau`; 0 if it is nearly dependent.
    pub(super) fn left_with(&self, feature: usize, tau: f64) -> f64 {
        let share = tau / (self.lambda + self.data.squares(feature));
        if share < NEARLY_DEPENDENT { 0.0 } else { self.left.min(share) }
    }

    /// Whether a row's leave-one-out residual has few digits, because little remains of its 1 − leverage or of its
    /// target.
    pub(super) fn is_unreliable(&self, row: usize) -> bool {
        let conditioning = conditioning(self.d[row], self.left);
        let is_small = |(o, a): (usize, &Vec<f64>)| {
            a[row] != 0.0 && a[row].abs() < SMALL_RESIDUAL * self.data.targets.scaled[o][row].abs()
        };
        is_unreliable(conditioning) || (conditioning < SOUND_ROW && self.a.iter().enumerate().any(is_small))
    }

    /// Whether a column is active and not selected.
    pub(super) fn is_candidate(&self, feature: usize) -> bool {
        self.data.is_active(feature) && !self.features.contains(&feature)
    }

    /// Adds a column. Cost O(m·s).
    pub fn add(&mut self, feature: usize) {
        let c = self.residual(feature);
        self.add_residual(feature, c);
    }

    /// A copy with one more column. Cost O(m·s), or O(m·s²) if it is nearly dependent.
    pub(super) fn with(&self, feature: usize) -> Self {
        let mut basis = self.without_updates();
        basis.add_residual(feature, self.residual(feature));
        basis.orthogonal();
        basis
    }

    /// A copy that shares the updates, without the state of removals. Cost O(m · outputs).
    pub(super) fn fork(&self) -> Self {
        RidgeState { updates: self.updates.clone(), ..self.without_updates() }
    }

    /// A copy without the updates that represent G. Cost O(m · outputs).
    pub(super) fn without_updates(&self) -> Self {
        let (data, a, d, features) = (Arc::clone(&self.data), self.a.clone(), self.d.clone(), self.features.clone());
        let RidgeState { lambda, share, left, .. } = *self;
        RidgeState { data, lambda, updates: Vec::new(), a, d, features, removable: None, share, left }
    }

    /// Adds a column given c = G x.
    pub(crate) fn add_residual(&mut self, feature: usize, c: Vec<f64>) {
        let (s, t) = self.scalars(feature, &c);
        let tau = self.lambda + s;
        let share = tau / (self.lambda + self.data.squares(feature));
        (self.share, self.left) = (self.share.min(share), self.left.min(share));
        let update = RankOneUpdate { kind: UpdateKind::Entry(feature), c, tau, t };
        if self.has_directions() {
            // Entries as large as 1/λ leave few digits to others.
            self.removable = None;
        } else if let Some(removable) = &mut self.removable {
            removable.add(&self.data, feature, &update);
        }
        self.features.push(feature);
        self.apply(update);
    }

    /// Removes a column: a ← a + C_b w_b/H_bb, d ← d + C_b∘C_b/H_bb. Cost O(m·s).
    ///
    /// Returns false if the state must be rebuilt: the subset is now empty; there were many updates; or columns are
    /// nearly dependent.
    #[must_use]
    pub fn remove(&mut self, feature: usize) -> bool {
        self.prepare();
        let data = &self.data;
        let removal = self.removable.as_mut().and_then(|state| state.remove(data, feature));
        let Some((update, is_unreliable)) = removal else { return false };
        if is_unreliable {
            self.removable = None;
        }
        self.features.retain(|f| *f != feature);
        let share = 1.0 / (-update.tau * (self.lambda + self.data.squares(feature)));
        self.apply(update);
        let is_dependent = self.has_directions() || self.left.max(share) < DIGITS_LEFT;
        !self.features.is_empty() && !is_dependent && self.updates.len() <= 2 * self.features.len() + LONG
    }

    pub(super) fn prepare(&mut self) {
        if self.removable.is_none() {
            let one_by_one = self.has_directions() || are_unlike(&self.data, self.lambda, &self.features);
            self.removable = RemovalState::new(&self.data, self.lambda, self.features.clone(), one_by_one);
        }
    }

    /// xᵀG x, and xᵀa of each output, from c = G x. Cost O(m · outputs).
    pub(crate) fn scalars(&self, feature: usize, c: &[f64]) -> (f64, Vec<f64>) {
        let with: Vec<&[f64]> = std::iter::once(c).chain(self.a.iter().map(Vec::as_slice)).collect();
        let products = self.data.products(&[feature], &with);
        (products[0], products[1..].to_vec())
    }

    /// G x of a column that is not selected, by applying every update. Cost O(m·updates).
    pub(crate) fn residual(&self, feature: usize) -> Vec<f64> {
        self.residual_from(feature, self.data.scaled_column(feature), 0)
    }

    /// G x from its value before the updates from `from` on. Cost O(m) for each of them.
    pub(crate) fn residual_from(&self, feature: usize, mut c: Vec<f64>, from: usize) -> Vec<f64> {
        let mut x = None;
        for update in &self.updates[from..] {
            // After a removal, xᵀC_b is computed from x itself: from G x cancellation would grow with every change.
            let g = match update.added_feature() {
                Some(entered) => self.data.product(entered, &c),
                None => dot(x.get_or_insert_with(|| self.data.scaled_column(feature)), &update.c),
            };
            axpy(-g / update.tau, &update.c, &mut c);
        }
        c
    }

    /// Leave-one-out residuals a/d of each output, scaled like the rows. Cost O(m · outputs).
    pub fn residuals(&self) -> Vec<Vec<f64>> {
        self.a.iter().map(|a| a.iter().zip(&self.d).map(|(a, d)| a / d).collect()).collect()
    }
}

/// Conditioning of a row by its 1 − leverage and the remaining share of the columns.
pub(super) fn conditioning(row_conditioning: f64, left: f64) -> f64 {
    row_conditioning * (left / DIGITS_LEFT).min(1.0)
}

/// Whether columns are so unlike in length that decomposing all at once costs digits of short ones.
fn are_unlike(data: &Data<'_>, lambda: f64, features: &[usize]) -> bool {
    let squares: Vec<f64> = features.iter().map(|&feature| lambda + data.squares(feature)).collect();
    max_abs(&squares) > UNLIKE_SQUARES * minimum(squares)
}
