//! Active columns of a path, with a factor of their Gram matrix.

use vaglio_kernels::linalg::LowerFactor;
use vaglio_kernels::tolerance::{DEPENDENT_COLUMN, SUSPECT_COLUMN};

/// An active column, with its column of the Gram matrix.
pub(super) struct ActiveColumn {
    pub feature: usize,
    pub gram: Vec<f64>,
}

/// Active columns A of a path, in order of entry, and Q_AA = LLᵀ.
#[derive(Default)]
pub(super) struct ActiveSet {
    pub columns: Vec<ActiveColumn>,
    pub factor: LowerFactor,
}

impl ActiveSet {
    /// Adds a column; returns false if it depends on the active ones.
    pub fn push(&mut self, feature: usize, gram: Vec<f64>) -> bool {
        let (left, w) = self.left_over(feature, gram[feature]);
        if left <= DEPENDENT_COLUMN * gram[feature] || left.is_nan() {
            return false;
        }
        self.factor.push(left, w);
        self.columns.push(ActiveColumn { feature, gram });
        true
    }

    /// Removes the column at a place.
    pub fn remove(&mut self, place: usize) {
        self.factor.remove(place);
        self.columns.remove(place);
        let squares = self.columns.iter().map(|active| active.gram[active.feature]);
        if self.factor.pivots().zip(squares).any(|(pivot, square)| pivot < SUSPECT_COLUMN * square) {
            self.renew();
        }
    }

    /// Q_AA⁻¹b with one step of refinement. Cost O(s²).
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.factor.solve(b);
        let mut rest = b.to_vec();
        for (column, x) in self.columns.iter().zip(&x) {
            rest.iter_mut().zip(&self.columns).for_each(|(rest, row)| *rest -= column.gram[row.feature] * x);
        }
        x.iter_mut().zip(self.factor.solve(&rest)).for_each(|(x, by)| *x += by);
        x
    }

    /// Whether a column, with its column of the Gram matrix, does not depend on the active ones.
    pub fn is_independent(&mut self, feature: usize, column: &[f64]) -> bool {
        self.left_over(feature, column[feature]).0 > DEPENDENT_COLUMN * column[feature]
    }

    /// Whether a column is a multiple of an active one, a positive one if coefficients are `non_negative`.
    pub fn has_copy(&self, feature: usize, column: &[f64], non_negative: bool) -> bool {
        self.columns.iter().any(|active| {
            let (product, other) = (active.gram[feature], active.gram[active.feature]);
            product * product >= column[feature] * other * (1.0 - DEPENDENT_COLUMN) && (product > 0.0 || !non_negative)
        })
    }

    /// Schur complement of Q_jj given the active columns, with the row of the factor.
    fn left_over(&mut self, feature: usize, diagonal: f64) -> (f64, Vec<f64>) {
        let row: Vec<f64> = self.columns.iter().map(|active| active.gram[feature]).collect();
        let found = self.factor.left_over(&row, diagonal);
        if found.0 >= SUSPECT_COLUMN * diagonal || !self.factor.updated {
            return found;
        }
        self.renew();
        self.factor.left_over(&row, diagonal)
    }

    /// Recomputes the factor, unless a column turns out to be dependent. Cost O(s³).
    fn renew(&mut self) {
        let mut factor = LowerFactor::default();
        for (k, active) in self.columns.iter().enumerate() {
            let row: Vec<f64> = self.columns[..k].iter().map(|before| before.gram[active.feature]).collect();
            let (left, w) = factor.left_over(&row, active.gram[active.feature]);
            if left <= 0.0 || left.is_nan() {
                return;
            }
            factor.push(left, w);
        }
        self.factor = factor;
    }
}

/// Root of the sum of squares.
pub(super) fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|v| v * v).sum::<f64>().sqrt()
}
