//! Gaussian kernels of columns quantized to levels: one or two bytes per entry, and a pass of additions for a column of
//! Q.
//!
//! An entry has weight w on one level and 1 − w on the next: K ≈ Z·K_g·Zᵀ with Z, rows × levels, of two entries per
//! row, and K_g = F·Fᵀ on the levels. With Γ = P − ppᵀ, <K̄_k, K̄_l> = ‖F_kᵀ·Z_kᵀ·P_l‖² for P_l = Γ·Z_l·F_l. Centering
//! removes the part of the interpolation error that depends on single rows. The rest widens the kernel by h²/6 on
//! either side for steps of h. The book, criteria/nhsic.md.

mod factor_rows;

pub use factor_rows::{FactorRows, TOGETHER};

use super::cholesky::factorize;
use ndarray::Array2;
use std::collections::HashMap;
use std::sync::Arc;
use vaglio_core::sum_of_squares;
use vaglio_kernels::sums::axpy;
use vaglio_kernels::tolerance::{LEVEL_TRACE, TRACE_ROUNDING};

/// Maximum number of levels: their indices are bytes.
const MOST: usize = 256;
/// Range of the common levels, in standard deviations on either side.
const REACH: f64 = 6.0;
/// Distance of neighboring common levels.
const STEP: f64 = 2.0 * REACH / (MOST - 1) as f64;
/// Minimum bandwidth for levels: the kernel then hardly bends between them.
pub const LEAST_BANDWIDTH: f64 = 0.5;
/// Weight 1 in 255ths.
const WHOLE: f64 = 255.0;

/// Levels for kernels of one bandwidth, and the factor of the kernel on them.
pub struct LevelGrid {
    bandwidth: f64,
    /// Levels in increasing order.
    values: Vec<f64>,
    /// F, level by level.
    factor: Vec<f64>,
    rank: usize,
}

/// A column as levels: one byte per entry if it has at most 256 values, else two.
pub struct LevelColumn {
    grid: Arc<LevelGrid>,
    places: Vec<u8>,
    /// Weight of the next level, in 255ths; empty if every entry is a level.
    weights: Vec<u8>,
    /// C = FᵀZᵀΓZF, with ‖C‖_F = ‖K̄‖_F.
    spread: Array2<f64>,
}

impl LevelGrid {
    /// Factors the kernel on the levels, which has the width `width` there. Cost O(levels·rank²).
    fn new(values: Vec<f64>, bandwidth: f64, width: f64) -> Self {
        let (height, scale) = (bandwidth / width, -0.5 / (width * width));
        let column = |pivot: usize| {
            let near = |v: &f64| height * (scale * (v - values[pivot]) * (v - values[pivot])).exp();
            values.iter().map(near).collect::<Vec<f64>>()
        };
        let least = (LEVEL_TRACE / width.powi(2).max(1.0)).max(TRACE_ROUNDING * values.len() as f64);
        let columns = factorize(vec![height; values.len()], column, |_, left| left <= least);
        let rank = columns.len();
        let factor = (0..values.len()).flat_map(|a| columns.iter().map(move |column| column[a])).collect();
        LevelGrid { bandwidth, values, factor, rank }
    }

    /// Index of the last level that is at most `u`, or 0. Cost O(1) for equidistant levels.
    fn place(&self, u: f64) -> usize {
        let last = self.values.len() - 1;
        let step = (self.values[last] - self.values[0]) / last as f64;
        let near = ((u - self.values[0]) / step) as usize;
        let is_in = |place: usize| self.values[place] <= u && self.values.get(place + 1).is_none_or(|next| u < *next);
        match [near, near.saturating_sub(1), near.saturating_add(1)]
            .into_iter()
            .find(|place| *place <= last && is_in(*place))
        {
            Some(place) => place,
            None => self.values.partition_point(|v| *v <= u).saturating_sub(1),
        }
    }

    fn row(&self, place: usize) -> &[f64] {
        &self.factor[place * self.rank..][..self.rank]
    }

    /// Creates the common levels for kernels of width `bandwidth`. The kernel on them is narrower by the amount that
    /// interpolation widens it.
    pub fn common(bandwidth: f64) -> Arc<Self> {
        let narrower = (bandwidth * bandwidth - STEP * STEP / 3.0).sqrt();
        let values = (0..MOST).map(|a| STEP * a as f64 - REACH).collect();
        Arc::new(LevelGrid::new(values, bandwidth, narrower))
    }

    /// Quantizes a column of standardized entries, to these levels or levels of its own; `shares` are the p_j. Cost
    /// O(m·log levels), or O(m·log m) with entries beyond the common levels.
    pub fn column(self: &Arc<Self>, shares: &[f64], values: &[f64]) -> LevelColumn {
        let own = |levels: Vec<f64>| Arc::new(LevelGrid::new(levels, self.bandwidth, self.bandwidth));
        let (grid, is_exact) = match few(values) {
            Some(levels) => (own(levels), true),
            None if values.iter().all(|u| u.abs() <= REACH) => (Arc::clone(self), false),
            None => (own(own_levels(shares, values)), false),
        };
        let (mut places, mut weights) = (vec![0; values.len()], vec![0; if is_exact { 0 } else { values.len() }]);
        for (j, &u) in values.iter().enumerate() {
            let at = grid.place(u);
            places[j] = at as u8;
            if let (Some(weight), Some(next)) = (weights.get_mut(j), grid.values.get(at + 1)) {
                *weight = (WHOLE * (u - grid.values[at]) / (next - grid.values[at])).round().clamp(0.0, WHOLE) as u8;
            }
        }
        let spread = spread(&grid, &places, &weights, shares);
        LevelColumn { grid, places, weights, spread }
    }
}

/// Distinct values of a column, if there are few.
fn few(values: &[f64]) -> Option<Vec<f64>> {
    let mut seen = HashMap::new();
    for u in values {
        // 0 and −0 are one value.
        seen.insert((u + 0.0).to_bits(), u + 0.0);
        if seen.len() > MOST {
            return None;
        }
    }
    let mut levels: Vec<f64> = seen.into_values().collect();
    levels.sort_unstable_by(f64::total_cmp);
    Some(levels)
}

/// Levels at entries of a column, placed half by rows and half by distance, with gaps capped at σ. So a core that is
/// narrow relative to the tails gets levels of its own, as do outliers.
fn own_levels(shares: &[f64], values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let gap = |pair: &[usize]| (values[pair[1]] - values[pair[0]]).min(1.0);
    let total: f64 = order.windows(2).map(gap).sum();
    let (mut levels, mut passed, mut due) = (vec![values[order[0]]], 0.0, 1.0);
    for pair in order.windows(2) {
        passed += 0.5 * (shares[pair[1]] + gap(pair) / total) * (MOST - 2) as f64;
        if passed >= due && values[pair[1]] > values[pair[0]] && levels.len() < MOST - 1 {
            levels.push(values[pair[1]]);
            due = passed.floor() + 1.0;
        }
    }
    let last = values[order[order.len() - 1]];
    if levels.last() != Some(&last) {
        levels.push(last);
    }
    levels
}

/// FᵀZᵀΓZF from the sums of the levels, since ZᵀPZ is tridiagonal. Cost O(m + levels·rank²).
fn spread(grid: &LevelGrid, places: &[u8], weights: &[u8], shares: &[f64]) -> Array2<f64> {
    let (mut own, mut beside) = ([0.0; MOST + 1], [0.0; MOST]);
    for (j, (&place, share)) in places.iter().zip(shares).enumerate() {
        let (place, w) = (usize::from(place), weight_of_next(weights, j));
        own[place] += share * (1.0 - w) * (1.0 - w);
        own[place + 1] += share * w * w;
        beside[place] += share * w * (1.0 - w);
    }
    let levels = grid.values.len();
    let sums: Vec<f64> = (0..levels).map(|a| own[a] + beside[a] + if a > 0 { beside[a - 1] } else { 0.0 }).collect();
    let mut mean = vec![0.0; grid.rank];
    for (a, sum) in sums.iter().enumerate() {
        axpy(*sum, grid.row(a), &mut mean);
    }
    // About the mean, so that nothing cancels.
    let about = |a: usize| grid.row(a).iter().zip(&mean).map(|(f, m)| f - m).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = (0..levels).map(about).collect();
    let mut out = Array2::zeros((grid.rank, grid.rank));
    for a in 0..levels {
        let mut along: Vec<f64> = rows[a].iter().map(|f| own[a] * f).collect();
        if let Some(before) = a.checked_sub(1) {
            axpy(beside[before], &rows[before], &mut along);
        }
        if beside[a] > 0.0 {
            axpy(beside[a], &rows[a + 1], &mut along);
        }
        for (row, f) in out.rows_mut().into_iter().zip(&rows[a]) {
            row.into_iter().zip(&along).for_each(|(v, g)| *v += f * g);
        }
    }
    out
}

/// Weight of the level after an entry's level.
fn weight_of_next(weights: &[u8], row: usize) -> f64 {
    weights.get(row).map_or(0.0, |weight| f64::from(*weight) / WHOLE)
}

impl LevelColumn {
    /// ‖K̄‖²_F. Cost O(rank²).
    pub fn square(&self) -> f64 {
        sum_of_squares(&self.spread)
    }

    /// ZF before centering: K ≈ ZF(ZF)ᵀ, one column per rank. Cost O(m·rank).
    pub fn features(&self) -> Vec<Vec<f64>> {
        (0..self.grid.rank).map(|k| self.interpolate(|place| self.grid.row(place)[k])).collect()
    }

    fn interpolate(&self, level_value: impl Fn(usize) -> f64) -> Vec<f64> {
        let entry = |(j, &place): (usize, &u8)| {
            let (place, w) = (usize::from(place), weight_of_next(&self.weights, j));
            let next = if w > 0.0 { level_value(place + 1) } else { 0.0 };
            level_value(place) * (1.0 - w) + w * next
        };
        self.places.iter().enumerate().map(entry).collect()
    }
}
