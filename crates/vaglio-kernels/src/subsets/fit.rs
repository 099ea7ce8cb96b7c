//! The fit of a subset, with what each column would take off.

use super::SubsetSquares;
use super::descent::LevelRows;
use crate::sums::axpy;

/// Schur complements and gradients of all columns. The rows of the Cholesky factor of the subset over all columns are in the levels of the descent.
#[derive(Debug, Default)]
pub(super) struct SubsetFit {
    size: usize,
    schur: Vec<f64>,
    gradients: Vec<Vec<f64>>,
    /// What the fit of the subset leaves over.
    pub squares: f64,
}

impl SubsetFit {
    /// The empty subset among columns with these xᵀy.
    pub fn new(along: &[Vec<f64>], total: f64) -> Self {
        let columns = along.first().map_or(0, Vec::len);
        SubsetFit { size: 0, schur: vec![1.0; columns], gradients: along.to_vec(), squares: total }
    }

    pub fn copy_from(&mut self, other: &SubsetFit) {
        (self.size, self.squares) = (other.size, other.squares);
        self.schur.clone_from(&other.schur);
        self.gradients.clone_from(&other.gradients);
    }

    /// What is left over with the column at a place.
    #[inline]
    pub fn with(&self, place: usize) -> f64 {
        let gain: f64 = self.gradients.iter().map(|g| g[place] * g[place]).sum();
        self.squares - gain / self.schur[place]
    }

    /// Adds the column at a place, as the next level. Cost O(n·s).
    pub fn add(&mut self, of: &SubsetSquares, place: usize, levels: &mut Vec<LevelRows>) {
        if levels.len() == self.size {
            levels.push(LevelRows::default());
        }
        let (known, LevelRows { column, row, .. }) = LevelRows::next(levels, self.size);
        *column = place;
        row.clear();
        row.extend_from_slice(of.row(place));
        for known in known {
            axpy(of.level, -known.row[place], &known.row, row);
        }
        let root = self.schur[place].max(f64::MIN_POSITIVE).sqrt();
        row.iter_mut().for_each(|r| *r /= root);
        self.schur.iter_mut().zip(&*row).for_each(|(s, r)| *s -= r * r);
        for g in &mut self.gradients {
            let gamma = g[place] / root;
            axpy(of.level, -gamma, row, g);
            self.squares -= gamma * gamma;
        }
        self.size += 1;
    }

    /// The same subset with other xᵀy. Cost O(n·s).
    pub fn lean(&mut self, of: &SubsetSquares, along: &[Vec<f64>], total: f64, levels: &[LevelRows]) {
        self.gradients.clone_from_slice(along);
        self.squares = total;
        for LevelRows { column, row, .. } in &levels[..self.size] {
            for g in &mut self.gradients {
                let gamma = g[*column] / row[*column];
                axpy(of.level, -gamma, row, g);
                self.squares -= gamma * gamma;
            }
        }
    }
}
