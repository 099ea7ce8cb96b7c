//! Inner products of columns, each computed once for all states of the same rows.

use crate::Data;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Shifts and squares of columns, and the inner products of columns and targets with every column that were asked for.
///
/// None of it depends on λ. Memory 8·n bytes for each column asked for.
#[derive(Debug)]
pub struct Inner {
    pub(crate) shifts: Vec<f64>,
    pub(crate) squares: Vec<f64>,
    pub(crate) intercept: bool,
    rows: Mutex<HashMap<Of, Arc<[f64]>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Of {
    Column(usize),
    Target(usize),
}

impl Inner {
    pub(crate) fn new(shifts: Vec<f64>, squares: Vec<f64>, intercept: bool) -> Self {
        Inner { shifts, squares, intercept, rows: Mutex::default() }
    }

    /// Whether columns were centered.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// The products, computed by one read of the columns where they are not known. The lock is not held meanwhile.
    fn row(&self, data: &Data<'_>, of: Of) -> Arc<[f64]> {
        let known = self.rows.lock().ok().and_then(|rows| rows.get(&of).cloned());
        known.unwrap_or_else(|| {
            let vector = match of {
                Of::Column(column) => data.scaled(column),
                Of::Target(output) => data.centered(output).to_vec(),
            };
            let active: Vec<usize> = (0..data.columns()).filter(|&c| data.is_active(c)).collect();
            let mut row = vec![0.0; data.columns()];
            let products = data.products(&active, &[vector]);
            active.iter().zip(products).for_each(|(&column, product)| row[column] = product);
            let row: Arc<[f64]> = row.into();
            if let Ok(mut rows) = self.rows.lock() {
                rows.insert(of, Arc::clone(&row));
            }
            row
        })
    }
}

impl Data<'_> {
    /// x_iᵀx_b for every column i, scaled and centered; 0 for inactive ones. Cost O(m·n) once.
    pub(crate) fn with_column(&self, column: usize) -> Arc<[f64]> {
        self.inner.row(self, Of::Column(column))
    }

    /// x_iᵀy for every column i and the residuals of the empty subset. Cost O(m·n) once.
    pub(crate) fn with_target(&self, output: usize) -> Arc<[f64]> {
        self.inner.row(self, Of::Target(output))
    }
}
