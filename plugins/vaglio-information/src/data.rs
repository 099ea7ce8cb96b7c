//! Columns and targets as a readout sees them, with the products that were needed so far.

use crate::definition::prepared;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use vaglio_core::{Cache, Design, Feature};

/// Columns and targets, rows scaled by the roots of their weights and centered where there is an intercept.
pub(crate) struct CenteredData {
    pub columns: Vec<Vec<f64>>,
    pub targets: Vec<Vec<f64>>,
    /// xᵢᵀxᵢ.
    pub squares: Vec<f64>,
    /// xᵢᵀyₒ, outputs × columns.
    pub along: Vec<Vec<f64>>,
    /// yₒᵀyₒ.
    pub target_squares: Vec<f64>,
    /// Of a column that was selected, its products with all others.
    products: Mutex<HashMap<Feature, Arc<[f64]>>>,
}

impl CenteredData {
    /// The data of a design, for all λ. Cost O(mn), memory 8mn bytes.
    pub fn of(design: &Design) -> Arc<Self> {
        let session = design.session::<Cache<CenteredData>>();
        if let Some(known) = session.get() {
            return known;
        }
        let intercept = design.readout().is_some_and(|readout| readout.intercept);
        let scaled = |values: &[f64]| prepared(values, design.weights(), intercept);
        let columns: Vec<Vec<f64>> =
            (0..design.features()).into_par_iter().map(|f| scaled(&design.column(f).values())).collect();
        let targets: Vec<Vec<f64>> = design.targets().rows().into_iter().map(|y| scaled(&y.to_vec())).collect();
        let squares = columns.par_iter().map(|x| dot(x, x)).collect();
        let with = |y: &Vec<f64>| columns.par_iter().map(|x| dot(x, y)).collect();
        let along = targets.iter().map(with).collect();
        let target_squares = targets.iter().map(|y| dot(y, y)).collect();
        let data =
            Arc::new(CenteredData { columns, targets, squares, along, target_squares, products: Mutex::default() });
        session.set(Arc::clone(&data));
        data
    }

    /// xᵢᵀx of every column i with one. Cost O(mn) when it is first asked for.
    pub fn products(&self, feature: Feature) -> Arc<[f64]> {
        let known = self.products.lock().unwrap_or_else(PoisonError::into_inner).get(&feature).cloned();
        if let Some(known) = known {
            return known;
        }
        let x = &self.columns[feature];
        let found: Arc<[f64]> = self.columns.par_iter().map(|other| dot(other, x)).collect::<Vec<f64>>().into();
        let mut all = self.products.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(feature).or_insert(found))
    }
}

/// Σ xⱼ yⱼ, in eight sums side by side.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in xs.zip(ys) {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += x * y);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (b + f)) + ((c + g) + (d + h)) + rest
}
