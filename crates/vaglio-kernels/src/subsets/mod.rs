//! Best subsets by branch and bound: what the fits of subsets leave over, bounded from below.
//!
//! A node of the tree holds the columns that are fixed and those that are free. Its fit of all of them, with coefficients c,
//! leaves f over; a subset of s columns leaves out t of the free ones, and so no less than f and the larger of the t-th
//! least c_j²/(H⁻¹)_jj and the sum of the t least D_j c_j², for a diagonal D with H − D positive semidefinite, which is found once: principal
//! submatrices of H keep it. The node branches on the free column whose removal costs most. To include it is nothing; to
//! exclude it is a rank-one update of the inverse.
//!
//! # Reference
//! G. Furnival, R. Wilson, *Regressions by leaps and bounds*, Technometrics 16 (1974); J. Liu, S. Rosen, C. Zhong, C. Rudin,
//! *OKRidge: scalable optimal k-sparse ridge regression*, NeurIPS 2023, for D = λ_min(H)·I.

mod explore;
mod fit;
mod held_out;
mod node;
mod start;

pub use explore::{Explored, OpenSubtree};
pub use held_out::HeldOut;

use crate::Level;
use crate::linalg;
use crate::linalg::inverse_of_unit;
use crate::sums::{dot, sum_of};
use crate::tolerance::{BOUND_ROUNDING, ILL_CONDITIONED, RSS_ROUNDING, RSS_ROUNDING_BY_CONDITION};
use ndarray::{Array2, ArrayView2};

/// Columns beyond which the linear-algebra backend inverts and factors.
const FEW: usize = 128;
/// Powers of a matrix by which its largest eigenvalue is estimated, and the part of that which is tried first.
const POWERS: usize = 30;
const PART_TRIED: f64 = 0.97;

/// Columns and targets of which subsets are fitted by least squares, with what their bounds need. Columns count from 0 in
/// the order in which they are given.
#[derive(Debug)]
pub struct SubsetSquares {
    level: Level,
    /// Columns of length 1, and what they were divided by.
    x: Vec<Vec<f64>>,
    lengths: Vec<f64>,
    targets: Vec<Vec<f64>>,
    /// XᵀX and its inverse, row by row; Xᵀy and yᵀy.
    gram: Vec<f64>,
    inverse: Vec<f64>,
    along: Vec<Vec<f64>>,
    total: f64,
    /// D.
    diagonal: Vec<f64>,
    rounding: f64,
    held_out: Option<HeldOut>,
}

impl SubsetSquares {
    /// Of columns and targets that are scaled, and centered where there is an intercept; `None` where the columns are nearly
    /// dependent or can fit every row. Cost O(m·n² + n³).
    pub fn new(level: Level, mut x: Vec<Vec<f64>>, targets: Vec<Vec<f64>>, held_out: Option<HeldOut>) -> Option<Self> {
        let (size, rows) = (x.len(), targets.first().map_or(0, Vec::len));
        if size == 0 || rows <= size + 1 {
            return None;
        }
        let lengths: Vec<f64> = x.iter().map(|x| dot(level, x, x).sqrt()).collect();
        if !lengths.iter().all(|length| length.is_normal()) {
            return None;
        }
        x.iter_mut().zip(&lengths).for_each(|(x, length)| x.iter_mut().for_each(|v| *v /= length));
        let gram = gram_of(level, &x, rows);
        let (inverse, condition) = inverse_of(&gram, size)?;
        let along = targets.iter().map(|y| x.iter().map(|x| dot(level, x, y)).collect()).collect();
        let total = targets.iter().map(|y| dot(level, y, y)).sum();
        let diagonal = separable(&gram, &inverse, size)?;
        let rounding = RSS_ROUNDING + RSS_ROUNDING_BY_CONDITION * condition;
        Some(SubsetSquares { level, x, lengths, targets, gram, inverse, along, total, diagonal, rounding, held_out })
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.lengths.len()
    }

    /// What is left over without columns.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// What a computed bound must be above for the true one to be above `limit`.
    fn safe(&self, limit: f64) -> f64 {
        (limit + self.rounding * self.total) / (1.0 - BOUND_ROUNDING)
    }

    /// What is left over at least, of a bound that was computed.
    pub fn lowest(&self, squares: f64) -> f64 {
        (squares * (1.0 - BOUND_ROUNDING) - self.rounding * self.total).max(0.0)
    }

    /// No eigenvalue of XᵀX of any subset, in the units of the columns, is less.
    pub fn least_eigenvalue(&self) -> f64 {
        let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        least(&self.diagonal) * least(&self.lengths).powi(2)
    }

    fn product(&self, k: usize, l: usize) -> f64 {
        self.gram[k * self.columns() + l]
    }
}

fn gram_of(level: Level, x: &[Vec<f64>], rows: usize) -> Vec<f64> {
    let size = x.len();
    let mut gram = vec![1.0; size * size];
    if size <= FEW {
        for k in 0..size {
            for l in 0..k {
                let product = dot(level, &x[k], &x[l]);
                (gram[k * size + l], gram[l * size + k]) = (product, product);
            }
        }
        return gram;
    }
    let mut all = Array2::zeros((rows, size));
    for (mut to, from) in all.columns_mut().into_iter().zip(x) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
    let products = linalg::gram(all.view());
    for k in 0..size {
        for l in 0..k {
            (gram[k * size + l], gram[l * size + k]) = (products[[k, l]], products[[k, l]]);
        }
    }
    gram
}

fn inverse_of(gram: &[f64], size: usize) -> Option<(Vec<f64>, f64)> {
    if size <= FEW {
        return inverse_of_unit(gram.to_vec(), size);
    }
    let inverse = linalg::inverse(ArrayView2::from_shape((size, size), gram).ok()?).ok()?;
    let condition = inverse.diag().sum() * size as f64;
    let is_fine = condition > 0.0 && condition <= ILL_CONDITIONED;
    is_fine.then(|| (inverse.as_standard_layout().iter().copied().collect(), condition))
}

/// D ⪰ 0 with H − D positive semidefinite, for a positive definite H, row by row; zeros where H is nearly singular. Cost O(n³).
pub fn separable_part(mut gram: Vec<f64>, size: usize) -> Vec<f64> {
    let own: Vec<f64> = (0..size).map(|k| gram[k * size + k]).collect();
    for k in 0..size {
        (0..size).for_each(|l| gram[k * size + l] /= (own[k] * own[l]).sqrt());
    }
    let unit = inverse_of_unit(gram.clone(), size).and_then(|(inverse, _)| separable(&gram, &inverse, size));
    unit.map_or_else(|| vec![0.0; size], |unit| unit.iter().zip(&own).map(|(unit, own)| unit * own).collect())
}

/// D = s·diag(1/(H⁻¹)_jj) with H − D positive definite, which a factorization proves. Cost O(n³).
fn separable(gram: &[f64], inverse: &[f64], size: usize) -> Option<Vec<f64>> {
    let own: Vec<f64> = (0..size).map(|k| 1.0 / inverse[k * size + k]).collect();
    let roots: Vec<f64> = own.iter().map(|own| own.sqrt()).collect();
    let mut v: Vec<f64> = (0..size).map(|k| 1.0 + (k % 7) as f64 / 16.0).collect();
    let mut largest = 1.0;
    for _ in 0..POWERS {
        let scaled: Vec<f64> = v.iter().zip(&roots).map(|(v, root)| v * root).collect();
        let row = |k: usize| {
            let row = &inverse[k * size..(k + 1) * size];
            sum_of(row, &scaled, |a, b| a * b) * roots[k]
        };
        let next: Vec<f64> = (0..size).map(row).collect();
        let norm = next.iter().map(|v| v * v).sum::<f64>().sqrt();
        let before = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        largest = norm / before;
        v = next.into_iter().map(|v| v / norm).collect();
    }
    let mut part = PART_TRIED / largest;
    for _ in 0..POWERS {
        let mut rest = gram.to_vec();
        (0..size).for_each(|k| rest[k * size + k] -= part * own[k]);
        if is_definite(&rest, size) {
            return Some(own.into_iter().map(|own| part * own).collect());
        }
        part *= 0.9;
    }
    Some(vec![0.0; size])
}

fn is_definite(a: &[f64], size: usize) -> bool {
    ArrayView2::from_shape((size, size), a).is_ok_and(|a| linalg::Cholesky::new(a).is_ok())
}
