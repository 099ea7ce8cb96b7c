//! Fit of a subset, with the gain of adding each column.

use super::SubsetSquares;
use vaglio_kernels::sums::axpy;

/// A fixed column with its rows of factors. The parent's next child overwrites them.
#[derive(Default)]
pub(super) struct LevelRows {
    pub column: usize,
    /// Row of the Cholesky factor of H in the fixed columns, over all columns.
    pub row: Vec<f64>,
    /// Column of Z with H = ZZᵀ, if rows are held out together, and the row of the lower factor that produced it.
    pub z: Vec<f64>,
    pub factor: Vec<f64>,
}

impl LevelRows {
    /// Splits the levels into those above one and that one.
    pub fn next(levels: &mut [LevelRows], at: usize) -> (&[LevelRows], &mut LevelRows) {
        let (known, next) = levels.split_at_mut(at);
        (known, &mut next[0])
    }
}

/// Schur complements and gradients of all columns. The rows of the subset's Cholesky factor over all columns are in the
/// levels of the descent.
#[derive(Clone, Default)]
pub(super) struct NodeFit {
    size: usize,
    schur: Vec<f64>,
    gradients: Vec<Vec<f64>>,
    /// Residual sum of squares of the subset.
    pub squares: f64,
}

impl NodeFit {
    /// Creates the fit of the empty subset, given xᵀy of all columns.
    pub fn new(along: &[Vec<f64>], total: f64) -> Self {
        let columns = along.first().map_or(0, Vec::len);
        NodeFit { size: 0, schur: vec![1.0; columns], gradients: along.to_vec(), squares: total }
    }

    pub fn copy_from(&mut self, other: &NodeFit) {
        (self.size, self.squares) = (other.size, other.squares);
        self.schur.clone_from(&other.schur);
        self.gradients.clone_from(&other.gradients);
    }

    /// Residual sum of squares after adding the column at a place.
    #[inline]
    pub fn with(&self, place: usize) -> f64 {
        let gain: f64 = self.gradients.iter().map(|g| g[place] * g[place]).sum();
        self.squares - gain / self.schur[place]
    }

    /// Residual sum of squares with a block of columns. Overwrites the buffer `larger` and the levels below the subset.
    /// Cost O(n·s) for each column but one.
    pub fn with_block(
        &self,
        squares: &SubsetSquares,
        block: &[usize],
        larger: &mut NodeFit,
        levels: &mut Vec<LevelRows>,
    ) -> f64 {
        let [first @ .., last] = block else { return self.squares };
        if first.is_empty() {
            return self.with(*last);
        }
        larger.copy_from(self);
        first.iter().for_each(|&column| larger.add(squares, column, levels));
        larger.with(*last)
    }

    /// Adds the column at a place as the next level. Cost O(n·s).
    pub fn add(&mut self, squares: &SubsetSquares, place: usize, levels: &mut Vec<LevelRows>) {
        if levels.len() == self.size {
            levels.push(LevelRows::default());
        }
        let (known, LevelRows { column, row, .. }) = LevelRows::next(levels, self.size);
        *column = place;
        row.clear();
        row.extend_from_slice(squares.row(place));
        for known in known {
            axpy(-known.row[place], &known.row, row);
        }
        let root = self.schur[place].max(f64::MIN_POSITIVE).sqrt();
        row.iter_mut().for_each(|r| *r /= root);
        self.schur.iter_mut().zip(&*row).for_each(|(s, r)| *s -= r * r);
        for g in &mut self.gradients {
            let gamma = g[place] / root;
            axpy(-gamma, row, g);
            self.squares -= gamma * gamma;
        }
        self.size += 1;
    }

    /// Refits the same subset for other xᵀy. Cost O(n·s).
    pub fn refit(&mut self, along: &[Vec<f64>], total: f64, levels: &[LevelRows]) {
        self.gradients.clone_from_slice(along);
        self.squares = total;
        for LevelRows { column, row, .. } in &levels[..self.size] {
            for g in &mut self.gradients {
                let gamma = g[*column] / row[*column];
                axpy(-gamma, row, g);
                self.squares -= gamma * gamma;
            }
        }
    }
}
