//! Centered columns and targets, with cached products.

use crate::definition::prepare;
use ndarray::Array2;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use vaglio_core::{Cache, Column, Columns, Design, Feature, lock};
use vaglio_kernels::parallel;

/// Columns and targets, rows scaled by the roots of their weights and centered if there is an intercept.
pub(crate) struct CenteredData {
    columns: Vec<Option<Vec<f64>>>,
    /// Columns of the design, some of which are computed on reading.
    source: Columns,
    weights: Option<Vec<f64>>,
    intercept: bool,
    pub targets: Vec<Vec<f64>>,
    /// xᵢᵀxᵢ.
    pub squares: Vec<f64>,
    /// xᵢᵀyₒ, outputs × columns.
    pub along: Vec<Vec<f64>>,
    /// yₒᵀyₒ.
    pub target_squares: Vec<f64>,
    /// Products of each selected column with all others.
    products: Mutex<HashMap<Feature, Arc<[f64]>>>,
}

impl CenteredData {
    /// Data of a design, shared by all λ. Cost O(mn), memory 8mn bytes without columns computed on reading.
    pub fn from_design(design: &Design) -> Arc<Self> {
        let session = design.session::<Cache<CenteredData>>();
        if let Some(known) = session.get() {
            return known;
        }
        let intercept = design.has_intercept();
        let scaled = |values: &[f64]| prepare(values, design.weights(), intercept);
        let stored = |feature: Feature| match design.column(feature) {
            Column::Product(_) => None,
            stored => Some(scaled(&stored.values())),
        };
        let columns: Vec<Option<Vec<f64>>> = parallel::map(design.features(), stored);
        let targets: Vec<Vec<f64>> = design.targets().rows().into_iter().map(|y| scaled(&y.to_vec())).collect();
        let target_squares = targets.iter().map(|y| dot(y, y)).collect();
        let data = CenteredData {
            columns,
            source: design.problem().columns().clone(),
            weights: design.weights().map(<[f64]>::to_vec),
            intercept,
            targets,
            squares: Vec::new(),
            along: Vec::new(),
            target_squares,
            products: Mutex::default(),
        };
        let column_products = |feature: Feature| {
            let x = data.column(feature);
            (dot(&x, &x), data.targets.iter().map(|y| dot(&x, y)).collect::<Vec<f64>>())
        };
        let (squares, with): (Vec<f64>, Vec<Vec<f64>>) = parallel::map(data.len(), column_products).into_iter().unzip();
        let along = (0..data.targets.len()).map(|output| with.iter().map(|with| with[output]).collect()).collect();
        let data = Arc::new(CenteredData { squares, along, ..data });
        session.set(Arc::clone(&data));
        data
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// A column. Cost O(m) if it is computed on reading.
    pub fn column(&self, feature: Feature) -> Cow<'_, [f64]> {
        match &self.columns[feature] {
            Some(stored) => Cow::Borrowed(stored),
            None => {
                let values = self.source.column(feature).values();
                Cow::Owned(prepare(&values, self.weights.as_deref(), self.intercept))
            }
        }
    }

    /// A column and all that equal it.
    pub fn copies(&self, feature: Feature) -> impl Iterator<Item = Feature> + '_ {
        let (products, x) = (self.products(feature), self.column(feature));
        let looks_equal = move |&other: &Feature| [products[other], self.squares[other]] == [self.squares[feature]; 2];
        (0..self.len()).filter(looks_equal).filter(move |&other| self.column(other) == x)
    }

    /// XᵀX of some columns.
    pub fn gram(&self, features: &[Feature]) -> Array2<f64> {
        let products: Vec<_> = features.iter().map(|&feature| self.products(feature)).collect();
        let entry = |(i, k): (usize, usize)| products[i.min(k)][features[i.max(k)]];
        Array2::from_shape_fn((features.len(), features.len()), entry)
    }

    /// xᵢᵀx of every column i with a given one, cached. Cost O(mn) at first use.
    pub fn products(&self, feature: Feature) -> Arc<[f64]> {
        let known = lock(&self.products).get(&feature).cloned();
        if let Some(known) = known {
            return known;
        }
        let x = self.column(feature);
        let product = |other: Feature| dot(&self.column(other), &x);
        let found: Arc<[f64]> = parallel::map(self.len(), product).into();
        let mut all = lock(&self.products);
        Arc::clone(all.entry(feature).or_insert(found))
    }
}

/// Σ xⱼ yⱼ, in eight parallel sums.
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
