//! Orthonormal spline basis of a column.

use std::cmp::Ordering;
use vaglio_core::{argsort_by, magnitude, row_weights, sum_of_products, sum_of_squares};
use vaglio_kernels::sums::axpy;
use vaglio_kernels::tolerance::DEPENDENT_FUNCTION;

/// Basis functions of a column by their values times the roots of the rows' weights: orthonormal, with mean 0.
///
/// Cubic splines with `knots` inner knots at quantiles: x, x², x³ and (x − κ)³₊ of each knot, orthogonalized in order;
/// dependent functions are left out. Cost O(m·(log m + functions²)).
pub(super) fn basis_functions(values: &[f64], weights: Option<&[f64]>, knots: usize) -> Vec<Vec<f64>> {
    let weight = row_weights(weights);
    let units = units(values);
    let mut basis = vec![unit((0..units.len()).map(|row| weight(row).sqrt()).collect())];
    let knots = quantiles(&units, &weight, knots);
    let power = |k: i32| -> Vec<f64> { units.iter().map(|u| u.powi(k)).collect() };
    let above = |knot: &f64| -> Vec<f64> { units.iter().map(|u| (u - knot).max(0.0).powi(3)).collect() };
    for function in (1..=3).map(power).chain(knots.iter().map(above)) {
        let mut own: Vec<f64> = function.iter().enumerate().map(|(row, v)| weight(row).sqrt() * v).collect();
        let before = norm(&own);
        // Two rounds of Gram–Schmidt are enough.
        for _ in 0..2 {
            for other in &basis {
                let along = sum_of_products(&own, other);
                axpy(-along, other, &mut own);
            }
        }
        if norm(&own) > DEPENDENT_FUNCTION * before {
            basis.push(unit(own));
        }
    }
    basis.remove(0);
    basis
}

/// Scales entries linearly from −1 (lowest) to 1 (highest).
fn units(values: &[f64]) -> Vec<f64> {
    let size = magnitude(values);
    let scaled: Vec<f64> = values.iter().map(|v| v / size).collect();
    let (low, high) = scaled.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    let half = (high - low) / 2.0;
    scaled.iter().map(|v| if half > 0.0 { (v - low) / half - 1.0 } else { 0.0 }).collect()
}

/// Inner quantiles: the least entries with at least the share k/(count + 1) of the weight at or below them.
fn quantiles(units: &[f64], weight: &dyn Fn(usize) -> f64, count: usize) -> Vec<f64> {
    let order = argsort_by(units.len(), |a, b| units[a].partial_cmp(&units[b]).unwrap_or(Ordering::Equal));
    let total: f64 = (0..units.len()).map(weight).sum();
    let (mut below, mut found) = (0.0, Vec::new());
    for row in order {
        below += weight(row);
        while found.len() < count && below >= total * (found.len() + 1) as f64 / (count + 1) as f64 {
            found.push(units[row]);
        }
    }
    found
}

fn norm(values: &[f64]) -> f64 {
    sum_of_squares(values).sqrt()
}

fn unit(values: Vec<f64>) -> Vec<f64> {
    let norm = norm(&values);
    values.into_iter().map(|v| v / norm).collect()
}
