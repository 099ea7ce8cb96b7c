//! The fit of a subset, with what each column would take off.

use super::SubsetSquares;
use crate::sums::axpy;

/// Rows of the Cholesky factor of the subset over some columns, their Schur complements and gradients.
#[derive(Clone, Debug)]
pub(super) struct SubsetFit {
    rows: Vec<(usize, std::rc::Rc<Vec<f64>>)>,
    schur: Vec<f64>,
    gradients: Vec<Vec<f64>>,
    /// What the fit of the subset leaves over.
    pub squares: f64,
}

impl SubsetFit {
    /// The empty subset among columns with these xᵀy.
    pub fn new(along: &[Vec<f64>], total: f64) -> Self {
        let columns = along.first().map_or(0, Vec::len);
        SubsetFit { rows: Vec::new(), schur: vec![1.0; columns], gradients: along.to_vec(), squares: total }
    }

    /// What is left over with the column at a place.
    #[inline]
    pub fn with(&self, place: usize) -> f64 {
        let gain: f64 = self.gradients.iter().map(|g| g[place] * g[place]).sum();
        self.squares - gain / self.schur[place]
    }

    /// Adds the column at a place, of which the products with all are given. Cost O(n·s).
    pub fn add(&mut self, of: &SubsetSquares, place: usize, mut row: Vec<f64>) {
        for (_, known) in &self.rows {
            axpy(of.level, -known[place], known, &mut row);
        }
        let root = self.schur[place].max(f64::MIN_POSITIVE).sqrt();
        row.iter_mut().for_each(|r| *r /= root);
        self.schur.iter_mut().zip(&row).for_each(|(s, r)| *s -= r * r);
        for g in &mut self.gradients {
            let gamma = g[place] / root;
            axpy(of.level, -gamma, &row, g);
            self.squares -= gamma * gamma;
        }
        self.rows.push((place, row.into()));
    }

    /// The same subset with other xᵀy. Cost O(n·s).
    pub fn lean(&mut self, of: &SubsetSquares, along: &[Vec<f64>], total: f64) {
        (self.gradients, self.squares) = (along.to_vec(), total);
        for (place, row) in &self.rows {
            for g in &mut self.gradients {
                let gamma = g[*place] / row[*place];
                axpy(of.level, -gamma, row, g);
                self.squares -= gamma * gamma;
            }
        }
    }
}
