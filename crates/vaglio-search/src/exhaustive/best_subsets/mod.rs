//! Best subsets by branch and bound: lower bounds of residual sums of squares.
//!
//! A node of the tree has fixed and free columns, and branches on the free column with the largest influence. Its
//! bounds use a diagonal D with H − D positive semidefinite. It is computed once at the root, since principal
//! submatrices of H inherit it. The bounds depend on D, thus on the least eigenvalues of H, and on the columns in the
//! fit.
//!
//! # Reference
//! G. Furnival, R. Wilson, *Regressions by leaps and bounds*, Technometrics 16 (1974); J. Liu, S. Rosen, C. Zhong, C.
//! Rudin, *OKRidge: scalable optimal k-sparse ridge regression*, NeurIPS 2023, for D = λ_min(H)·I.

mod held_out_bound;
mod node;
mod node_fit;
mod open_subtree;
mod starting_subsets;
mod subtree_search;

pub(crate) use open_subtree::OpenSubtree;
pub(crate) use subtree_search::SearchOutcome;

use ndarray::Array2;
use std::sync::Arc;
use vaglio_core::{Feature, RowsHeldOut, SquaresBound, checkpoint, gather, minimum, sum_of_squares};
use vaglio_kernels::linalg::{self, POWERS, inverse_of_unit, largest_factor, separable};
use vaglio_kernels::sums::dot;
use vaglio_kernels::tolerance::{BOUND_ROUNDING, ILL_CONDITIONED, RSS_ROUNDING, RSS_ROUNDING_BY_CONDITION};

/// Number of columns above which the linear-algebra backend multiplies and factors, and no matrix is inverted.
const FEW: usize = 128;

/// Number of bisection steps that convert a bound of a score into one of squares.
const HALVINGS: usize = 100;

/// Squares of the subsets of some columns, fitted by least squares, and the bounds of scores that they imply. Columns
/// are numbered by their places in `features`.
pub struct SubsetSquares {
    /// Design columns, in increasing order.
    pub features: Vec<Feature>,
    /// Unit columns, kept if rows are held out.
    x: Vec<Vec<f64>>,
    /// Lengths of the columns as given.
    lengths: Vec<f64>,
    targets: Vec<Vec<f64>>,
    /// Gram matrix H = XᵀX of the unit columns, row-major.
    gram: Vec<f64>,
    /// Xᵀy of each target.
    along: Vec<Vec<f64>>,
    /// Residual sum of squares of the empty subset.
    total: f64,
    /// Diagonal D.
    diagonal: Vec<f64>,
    rounding: f64,
    held_out: Option<RowsHeldOut>,
    /// Block of each column: the columns that enter together, itself included.
    blocks: Vec<Arc<[usize]>>,
    /// Lower bound of scores, as in [`SquaresBound::score`].
    score: Box<dyn Fn(f64, usize, f64) -> f64 + Send + Sync>,
}

impl SubsetSquares {
    /// Prepares the bound of the scores of some features, in increasing order. Returns `None` if columns are nearly
    /// dependent or can fit every row. Cost O(m·n² + n³).
    pub fn new(features: Vec<Feature>, bound: SquaresBound) -> Option<Self> {
        let SquaresBound { columns: mut x, targets, held_out, score } = bound;
        let (size, rows) = (x.len(), targets.first().map_or(0, Vec::len));
        let lengths: Vec<f64> = x.iter().map(|x| dot(x, x).sqrt()).collect();
        if size == 0 || rows <= size + 1 || !lengths.iter().all(|length| length.is_normal()) {
            return None;
        }
        x.iter_mut().zip(&lengths).for_each(|(x, length)| x.iter_mut().for_each(|v| *v /= length));
        let gram = gram_of(&x, rows);
        let (diagonal, condition) = diagonal_of(&gram, size)?;
        let along = targets.iter().map(|y| x.iter().map(|x| dot(x, y)).collect()).collect();
        let total = targets.iter().map(|y| dot(y, y)).sum();
        let rounding = RSS_ROUNDING + RSS_ROUNDING_BY_CONDITION * condition;
        let x = if held_out.is_some() { x } else { Vec::new() };
        let blocks = (0..size).map(|column| [column].into()).collect();
        Some(SubsetSquares {
            features,
            x,
            lengths,
            targets,
            gram,
            along,
            total,
            diagonal,
            rounding,
            held_out,
            blocks,
            score,
        })
    }

    /// Restricts subsets to unions of blocks of columns and single columns outside of them.
    #[must_use]
    pub fn with_blocks<'b>(mut self, blocks: impl IntoIterator<Item = &'b [usize]>) -> Self {
        for block in blocks {
            let block: Arc<[usize]> = block.into();
            block.iter().for_each(|&column| self.blocks[column] = Arc::clone(&block));
        }
        self
    }

    /// Operations of [`SubsetSquares::new`], and bytes of one descent per thread, for subsets of at most `most` columns.
    /// Reading the columns is not counted; the number of nodes depends on the data.
    pub fn effort(rows: usize, columns: usize, most: usize) -> (f64, f64) {
        let (m, n, threads) = (rows as f64, columns as f64, rayon::current_num_threads());
        let flops = m * n * n + n * n * n;
        // Columns and their products' operands; the products, a factor and its source.
        let node = 8.0 * n * (most as f64 + 8.0);
        (flops, 8.0 * (2.0 * m * n + 4.0 * n * n) + (threads * most) as f64 * node)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.lengths.len()
    }

    /// Blocks of some columns, each once.
    fn blocks_of(&self, columns: impl Iterator<Item = usize>) -> impl Iterator<Item = &[usize]> {
        columns.filter(|&column| self.blocks[column][0] == column).map(|column| &*self.blocks[column])
    }

    /// Threshold that a computed bound must exceed for the true bound to exceed `limit`.
    fn safe(&self, limit: f64) -> f64 {
        (limit + self.rounding * self.total) / (1.0 - BOUND_ROUNDING)
    }

    /// Lower bound of the exact value of `squares`, which was computed with rounding errors.
    pub fn lowest(&self, squares: f64) -> f64 {
        (squares * (1.0 - BOUND_ROUNDING) - self.rounding * self.total).max(0.0)
    }

    /// The place of a feature.
    pub fn place(&self, feature: Feature) -> Option<usize> {
        self.features.binary_search(&feature).ok()
    }

    /// The features at some places, in increasing order.
    pub fn features_at(&self, places: &[usize]) -> Vec<Feature> {
        let mut features = gather(&self.features, places);
        features.sort_unstable();
        features
    }

    /// Lower bound of the score of a subset, from squares with rounding errors.
    pub fn loss_of_squares(&self, squares: f64, size: usize) -> f64 {
        (self.score)(self.lowest(squares), size, self.least_eigenvalue())
    }

    /// Residual sum of squares above which every subset of a size scores above `threshold`; −∞ if all do.
    pub fn limit(&self, size: usize, threshold: f64) -> f64 {
        let is_below = |squares: f64| (self.score)(squares, size, self.least_eigenvalue()) <= threshold;
        let (mut below, mut above) = (0.0, self.total.max(f64::MIN_POSITIVE));
        if threshold == f64::INFINITY {
            return f64::INFINITY;
        }
        if !is_below(0.0) {
            return f64::NEG_INFINITY;
        }
        for _ in 0..HALVINGS {
            if !is_below(above) {
                break;
            }
            above *= 2.0;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (below + above);
            *(if is_below(middle) { &mut below } else { &mut above }) = middle;
        }
        above
    }

    /// Lower bound of all eigenvalues of XᵀX of any subset, in the original units.
    fn least_eigenvalue(&self) -> f64 {
        let [diagonal, length] = [&self.diagonal, &self.lengths].map(|values| minimum(values.iter().copied()));
        (diagonal * length.powi(2)).max(0.0)
    }

    fn row(&self, k: usize) -> &[f64] {
        &self.gram[k * self.columns()..(k + 1) * self.columns()]
    }
}

fn gram_of(x: &[Vec<f64>], rows: usize) -> Vec<f64> {
    let size = x.len();
    let mut gram = vec![1.0; size * size];
    if size <= FEW {
        for k in 0..size {
            checkpoint();
            for l in 0..k {
                let product = dot(&x[k], &x[l]);
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

/// D and the condition number of H; `None` if H is nearly singular. Cost O(n³).
fn diagonal_of(gram: &[f64], size: usize) -> Option<(Vec<f64>, f64)> {
    if size <= FEW {
        let (inverse, condition) = inverse_of_unit(gram.to_vec(), size)?;
        return Some((separable(gram, &inverse, size), condition));
    }
    let least = least_eigenvalue(gram, size)?;
    let condition = size as f64 / least;
    (condition <= ILL_CONDITIONED).then(|| (vec![least; size], condition))
}

/// Lower bound of the eigenvalues of H, verified by a factorization. Cost O(n³).
fn least_eigenvalue(gram: &[f64], size: usize) -> Option<f64> {
    let mut shifted = Array2::from_shape_vec((size, size), gram.to_vec()).ok()?;
    let factor = linalg::Cholesky::new(shifted.view()).ok()?;
    let mut v = Array2::from_shape_fn((size, 1), |(k, _)| 1.0 + (k % 7) as f64 / 16.0);
    let norm = |v: &Array2<f64>| sum_of_squares(v).sqrt();
    let mut largest = 1.0;
    for _ in 0..POWERS {
        v /= norm(&v);
        v = factor.solve(v.view());
        largest = norm(&v);
    }
    let least = largest_factor(largest, |part| {
        shifted.diag_mut().fill(1.0 - part);
        linalg::Cholesky::new(shifted.view()).is_ok()
    });
    least.filter(|part| *part > 0.0)
}
