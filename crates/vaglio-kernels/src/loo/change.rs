//! Leave-one-out residuals after one-column changes of a subset, exact for every row.
//!
//! Residuals are a/d as in every trial (see [`super`]). Rows whose d = 1 − leverage is unreliable are handled by
//! [`Exclusion`] instead. The book derives both: explanation/leave-one-out.md, "Where the closed form alone would go
//! wrong".

use super::{LooState, RidgeState};
use crate::exclusion::{Exclusion, fits_every_row, split_rows};
use crate::linalg::FactorizationError;
use crate::parallel;
use ndarray::Array2;
use std::collections::BTreeSet;
use vaglio_columns::gather;

/// A change of a subset by one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnChange {
    /// No change.
    None,
    /// Adds a column.
    Add(usize),
    /// Removes a column.
    Remove(usize),
}

impl ColumnChange {
    /// Applies the change to a subset.
    pub fn apply(self, subset: impl Iterator<Item = usize>) -> Vec<usize> {
        match self {
            ColumnChange::None => subset.collect(),
            ColumnChange::Add(feature) => subset.chain([feature]).collect(),
            ColumnChange::Remove(feature) => subset.filter(|f| *f != feature).collect(),
        }
    }
}

/// Minimum number of changes that may share a reduction.
const TOGETHER: usize = 16;

impl LooState<'_> {
    /// Leave-one-out residuals after each change, as outputs × rows, scaled like the rows. Also returns the largest
    /// number of rows with unreliable 1 − leverage after a change.
    ///
    /// Cost O(m·s) per change, for a removal O(m·s²). Changes with similar unreliable rows share one reduction of all
    /// other rows at O(m·s²). With w unreliable rows, each such change costs another O(s³ + (s + w)·w²), an addition
    /// O(s·w + w³).
    pub fn residuals_after(&self, changes: &[ColumnChange]) -> (Vec<Vec<Vec<f64>>>, usize) {
        let basis = &self.basis;
        let (mut residuals, unreliable): (Vec<_>, Vec<_>) =
            parallel::map_slice(changes, |change| basis.residuals_after(*change)).into_iter().unzip();
        let data = &basis.data;
        let subset = basis.features.len();
        let spare = (data.rows() - data.rows().min(subset + 1)) / 2;
        let groups = group(&unreliable, spare, TOGETHER.max(subset));
        let exact = |(members, rows): &(Vec<usize>, BTreeSet<usize>)| {
            let changes = gather(changes, members);
            left_out(basis, &changes, &rows.iter().copied().collect::<Vec<_>>())
        };
        let found: Vec<_> = parallel::map_slice(&groups, exact);
        for ((members, _), parts) in groups.iter().zip(found) {
            for (at, &k) in members.iter().enumerate() {
                for (rows, exact) in &parts {
                    for (place, row) in rows.iter().enumerate().filter(|(_, row)| unreliable[k].contains(row)) {
                        for (o, residuals) in residuals[k].iter_mut().enumerate() {
                            // NaN if entries overflow.
                            residuals[*row] = exact.as_ref().map_or(f64::NAN, |exact| exact[at][[place, o]]);
                        }
                    }
                }
            }
        }
        (residuals, unreliable.iter().map(BTreeSet::len).max().unwrap_or(0))
    }
}

/// Groups consecutive changes that share a reduction, with the union of their unreliable rows: at most `most` changes,
/// with at most `spare` rows or as many as one of them has.
fn group(unreliable: &[BTreeSet<usize>], spare: usize, most: usize) -> Vec<(Vec<usize>, BTreeSet<usize>)> {
    let mut groups: Vec<(Vec<usize>, BTreeSet<usize>)> = Vec::new();
    for (k, rows) in unreliable.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
        if let Some((changes, all)) = groups.last_mut() {
            let together: BTreeSet<usize> = all.union(rows).copied().collect();
            if changes.len() < most && together.len() <= spare.max(all.len()).max(rows.len()) {
                changes.push(k);
                *all = together;
                continue;
            }
        }
        groups.push((vec![k], rows.clone()));
    }
    groups
}

/// Rows excluded together, and for each change their residuals, rows × outputs.
type ExcludedResiduals = (Vec<usize>, Result<Vec<Array2<f64>>, FactorizationError>);

/// Exact residuals of excluded rows after each change, by groups of rows.
fn left_out(basis: &RidgeState<'_>, changes: &[ColumnChange], rows: &[usize]) -> Vec<ExcludedResiduals> {
    let added: Vec<usize> = changes
        .iter()
        .filter_map(|change| if let ColumnChange::Add(feature) = change { Some(*feature) } else { None })
        .collect();
    let place = |columns: &[usize], feature: usize| columns.iter().position(|f| *f == feature);
    let residuals = |rows: &[usize]| {
        let excluded = Exclusion::new(&basis.data, &basis.features, &added, rows)?;
        let fit = excluded.fit(basis.lambda, None)?;
        let after = |change: &ColumnChange| match *change {
            ColumnChange::None => Ok(fit.left_out()),
            ColumnChange::Add(feature) => fit.left_out_with(place(&added, feature).unwrap_or_default()),
            ColumnChange::Remove(feature) => {
                Ok(excluded.fit(basis.lambda, place(&basis.features, feature))?.left_out())
            }
        };
        parallel::map_slice(changes, after).into_iter().collect()
    };
    let part = |rows: Vec<usize>| {
        let found = residuals(&rows);
        (rows, found)
    };
    split_rows(&basis.data, rows).into_iter().map(part).collect()
}

impl RidgeState<'_> {
    /// Residuals a/d after a change, and the rows where they are unreliable: all rows if the subset can fit them.
    ///
    /// Cost O(m·s), for a removal O(m·s²), or O(m³) for a subset that can fit every row.
    fn residuals_after(&self, change: ColumnChange) -> (Vec<Vec<f64>>, BTreeSet<usize>) {
        let subset = change.apply(self.features.iter().copied());
        if let Some(residuals) = super::row_inverse::residuals(&self.data, self.lambda, &subset) {
            return (residuals, BTreeSet::new());
        }
        if fits_every_row(&self.data, subset.len()) {
            return (vec![vec![0.0; self.data.rows()]; self.data.outputs()], (0..self.data.rows()).collect());
        }
        let changed = match change {
            ColumnChange::Remove(_) => RidgeState::with_columns(self.data.clone(), self.lambda, subset),
            ColumnChange::Add(feature) => self.with(feature),
            ColumnChange::None => self.without_updates(),
        };
        let unreliable = (0..changed.d.len()).filter(|&row| changed.is_unreliable(row)).collect();
        (changed.residuals(), unreliable)
    }
}
