//! Redundancy matrix Q of pairwise similarities: exact, or Nyström's approximation from some columns.

use rayon::prelude::*;
use std::ops::Range;
use vaglio_core::{Column, Result, max_abs, sum_of_products, sum_of_squares};
use vaglio_kernels::duplicates::first_equal;
use vaglio_kernels::parallel;
use vaglio_kernels::sums::dot;
use vaglio_kernels::tolerance::EQUAL_SIMILARITY;

/// Q, n × n.
pub(super) enum Redundancy {
    /// All of Q, row by row.
    Whole(Vec<Vec<f64>>),
    /// Q ≈ GGᵀ: G row by row, r numbers each.
    Thin(Vec<Vec<f64>>),
}

impl Redundancy {
    /// Computes Q from the similarities of a column with others; approximates it from `most` columns if given. Cost
    /// O(n²) similarities, or O(nr) and O(nr²) operations.
    ///
    /// # Errors
    /// Forwards errors of `similarities`.
    pub fn new(
        most: Option<usize>,
        relevance: &[f64],
        similarities: impl Fn(usize, Range<usize>) -> Result<Vec<f64>> + Sync,
    ) -> Result<Self> {
        Ok(match most {
            Some(most) => Redundancy::Thin(thin(most, relevance, similarities)?),
            None => Redundancy::Whole(whole(relevance.len(), similarities)?),
        })
    }

    /// Q_ik. Cost O(1), for GGᵀ O(r).
    pub fn entry(&self, i: usize, k: usize) -> f64 {
        match self {
            Redundancy::Whole(rows) => rows[i][k],
            Redundancy::Thin(rows) => dot(&rows[i], &rows[k]),
        }
    }

    /// The sum of all entries.
    pub fn total(&self) -> f64 {
        match self {
            Redundancy::Whole(rows) => rows.iter().flatten().sum(),
            Redundancy::Thin(rows) => {
                let mut along = vec![0.0; rows.first().map_or(0, Vec::len)];
                rows.iter().for_each(|row| along.iter_mut().zip(row).for_each(|(sum, g)| *sum += g));
                sum_of_squares(&along)
            }
        }
    }

    /// Largest entry in magnitude; for GGᵀ it is on the diagonal.
    pub fn largest(&self) -> f64 {
        match self {
            Redundancy::Whole(rows) => max_abs(rows.iter().flatten()),
            Redundancy::Thin(rows) => (0..rows.len()).map(|i| self.entry(i, i)).fold(0.0, f64::max),
        }
    }

    /// Multiplies all entries by a non-negative number.
    pub fn scale(&mut self, by: f64) {
        match self {
            Redundancy::Whole(rows) => rows.iter_mut().flatten().for_each(|q| *q *= by),
            Redundancy::Thin(rows) => rows.iter_mut().flatten().for_each(|g| *g *= by.sqrt()),
        }
    }

    /// Adds `step` times column `to`, minus column `from` if given, to `sums`. Cost O(n), for GGᵀ O(nr).
    pub fn add(&self, step: f64, to: usize, from: Option<usize>, sums: &mut [f64]) {
        let (Redundancy::Whole(rows) | Redundancy::Thin(rows)) = self;
        let from = from.map(|from| &rows[from]);
        let moved = |(k, to): (usize, &f64)| step * (to - from.map_or(0.0, |from| from[k]));
        let moved = rows[to].iter().enumerate().map(moved);
        match self {
            Redundancy::Whole(_) => sums.iter_mut().zip(moved).for_each(|(sum, moved)| *sum += moved),
            Redundancy::Thin(rows) => {
                let moved: Vec<f64> = moved.collect();
                sums.iter_mut().zip(rows).for_each(|(sum, row)| *sum += dot(row, &moved));
            }
        }
    }

    /// For each column the lowest one similar to it: Q_ii + Q_kk = 2Q_ik up to the share `equal` of Q_ii + Q_kk, or
    /// equal rows of G.
    pub fn similar(&self, equal: f64) -> Vec<usize> {
        match self {
            Redundancy::Whole(rows) => {
                let mut similar: Vec<usize> = Vec::with_capacity(rows.len());
                for i in 0..rows.len() {
                    let own = |k: usize| rows[i][i] + rows[k][k];
                    let is_similar = |&k: &usize| similar[k] == k && own(k) - 2.0 * rows[i][k] <= equal * own(k);
                    similar.push((0..i).find(is_similar).unwrap_or(i));
                }
                similar
            }
            Redundancy::Thin(rows) => first_equal(&rows.iter().map(|row| Column::Double(row)).collect::<Vec<_>>()),
        }
    }
}

/// Symmetric matrix of a similarity.
fn whole(count: usize, similarities: impl Fn(usize, Range<usize>) -> Result<Vec<f64>> + Sync) -> Result<Vec<Vec<f64>>> {
    let upper: Vec<Vec<f64>> =
        parallel::map(count, |i| similarities(i, i..count)).into_iter().collect::<Result<_>>()?;
    let row = |i: usize| (0..count).map(|k| upper[i.min(k)][i.max(k) - i.min(k)]).collect();
    Ok(parallel::map(count, row))
}

/// G of Q ≈ GGᵀ: the first columns of a pivoted Cholesky decomposition, each by the column with the largest remainder.
/// This is Nyström's approximation from these columns. Ties, as at first if Q_ii = 1, go to the most relevant column.
fn thin(
    most: usize,
    relevance: &[f64],
    similarities: impl Fn(usize, Range<usize>) -> Result<Vec<f64>> + Sync,
) -> Result<Vec<Vec<f64>>> {
    let count = relevance.len();
    let own = |i: usize| similarities(i, i..i + 1).map(|own| own[0]);
    let mut left: Vec<f64> = parallel::map(count, own).into_iter().collect::<Result<_>>()?;
    let enough = EQUAL_SIMILARITY * max_abs(&left);
    let mut rows: Vec<Vec<f64>> = vec![Vec::new(); count];
    for _ in 0..most.min(count) {
        let largest = left.iter().fold(0.0, |most: f64, q| q.max(most));
        if largest <= enough {
            break;
        }
        let equal = (0..count).filter(|&i| left[i] >= largest - EQUAL_SIMILARITY * largest);
        let Some(pivot) = equal.reduce(|best, i| if relevance[i] <= relevance[best] { best } else { i }) else { break };
        let (own, root) = (rows[pivot].clone(), left[pivot].sqrt());
        let column = similarities(pivot, 0..count)?;
        rows.par_iter_mut().zip(&column).zip(&mut left).for_each(|((row, entry), left)| {
            let along = sum_of_products(&*row, &own);
            let g = (entry - along) / root;
            row.push(g);
            *left -= g * g;
        });
        left[pivot] = 0.0;
    }
    Ok(rows)
}
