//! Tests whether a column explains more than every rival.
//!
//! Dummies rule out chance, but a neighbor of a column of the model is not chosen by chance either. So each taken
//! column gets t tests: one given the other taken columns, and one for each correlated column (rival) given these and
//! the rival. The largest p-value says whether the data distinguish it from all of them.

use super::dummy_path::orthogonalize;
use vaglio_core::Feature;
use vaglio_kernels::sums::dot;
use vaglio_kernels::tolerance::DEPENDENT_SQUARE;

/// Absolute correlation that makes a column a rival.
const RIVAL: f64 = 0.3;
/// Factor from the largest p-value to a rate; it corrects for choosing the neighbor as the best of several.
const CHOSEN: f64 = 4.0;
/// Largest degrees of freedom of a t test; more are treated as this many, whose tails are slightly heavier.
const MOST_DEGREES: usize = 400;

/// Rate at which a column differs from all rivals given the other taken columns, and the rival closest to it. Cost
/// O(rows · (columns + taken · rivals)).
pub fn rivals(
    columns: &[Vec<f64>],
    targets: &[Vec<f64>],
    taken: &[Feature],
    feature: Feature,
) -> (f64, Option<Feature>) {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for &other in taken.iter().filter(|other| **other != feature) {
        let (vector, norm) = outside(&basis, &columns[other]);
        if norm > DEPENDENT_SQUARE {
            basis.push(vector.iter().map(|v| v / norm.sqrt()).collect());
        }
    }
    let targets: Vec<Vec<f64>> = targets.iter().map(|y| outside(&basis, y).0).collect();
    let (own, norm) = outside(&basis, &columns[feature]);
    let degrees = own.len().saturating_sub(basis.len() + 2);
    // p-value of the column given the others and a rival with its squared norm. With several targets: the smallest
    // p-value times their number (Bonferroni).
    let p_value = |rival: Option<(&[f64], f64)>| {
        let degrees = degrees.saturating_sub(usize::from(rival.is_some()));
        let across = rival.map_or(0.0, |(rival, left)| dot(rival, &own) / left);
        let left = rival.map_or(norm, |(_, of_rival)| norm - across * across * of_rival);
        if degrees == 0 || left <= DEPENDENT_SQUARE {
            return 1.0;
        }
        let target_p_value = |y: &Vec<f64>| {
            let with_rival = rival.map_or(0.0, |(rival, _)| dot(rival, y));
            let product = dot(&own, y) - across * with_rival;
            let gain = product * product / left;
            let before = dot(y, y) - rival.map_or(0.0, |(_, of_rival)| with_rival * with_rival / of_rival);
            beyond(gain / (before - gain).max(f64::MIN_POSITIVE), degrees)
        };
        (targets.len() as f64 * targets.iter().map(target_p_value).fold(1.0, f64::min)).min(1.0)
    };
    let mut worst = (p_value(None), None);
    for (rival, column) in columns.iter().enumerate() {
        let is_other = rival != feature && !column.is_empty() && !taken.contains(&rival);
        if is_other && dot(column, &columns[feature]).abs() >= RIVAL {
            let (vector, left) = outside(&basis, column);
            let p = if left > DEPENDENT_SQUARE { p_value(Some((&vector[..], left))) } else { 0.0 };
            if p > worst.0 {
                worst = (p, Some(rival));
            }
        }
    }
    ((CHOSEN * worst.0).min(1.0), worst.1)
}

/// Probability that the square of Student's t exceeds `ratio` times its degrees of freedom: 1 minus finite sums of
/// powers of cos θ, with θ = atan √ratio.
fn beyond(ratio: f64, degrees: usize) -> f64 {
    let ratio = if degrees > MOST_DEGREES { ratio * degrees as f64 / MOST_DEGREES as f64 } else { ratio };
    let degrees = degrees.min(MOST_DEGREES);
    let square = 1.0 / (1.0 + ratio);
    let sine = (1.0 - square).sqrt();
    let odd = degrees % 2;
    // Terms with cos θ to the powers 0, 2, … or 1, 3, …, up to degrees − 2.
    let (mut term, mut sum) = (if odd == 1 { square.sqrt() } else { 1.0 }, 0.0);
    for power in (odd..degrees.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= square * (power + 1) as f64 / (power + 2) as f64;
    }
    let inside = match odd {
        1 => (ratio.sqrt().atan() + sine * sum) * std::f64::consts::FRAC_2_PI,
        _ => sine * sum,
    };
    (1.0 - inside).max(0.0)
}

/// Component of a vector orthogonal to an orthonormal basis, and its squared norm.
fn outside(basis: &[Vec<f64>], vector: &[f64]) -> (Vec<f64>, f64) {
    let mut vector = vector.to_vec();
    orthogonalize(basis, &mut vector);
    let norm = dot(&vector, &vector);
    (vector, norm)
}
