//! Forward paths over columns and random dummies, without storing the dummies.
//!
//! A dummy is uniform on the unit sphere of the centered rows. A path only uses its products with vectors in the span
//! of the targets and the columns on the path. Given these, its part outside of that span is still uniform on a sphere
//! of lower dimension. So each new direction of the span draws one number per dummy (stick breaking). Only a dummy that
//! enters becomes a vector.
//!
//! With r the residuals, P the projection on the columns A of the path and w = P r, a step of γ moves r to r − γ w and
//! w to (1 − γ) w. The direction e that a column adds to the span of A moves w to w + (eᵀr) e. So two numbers, xᵀr and
//! xᵀw, tell where a column or dummy x enters, and cost O(1) per step beside xᵀe. As e is orthogonal to A, its part in
//! the previous span is a multiple of r − w, and xᵀ(r − w) is known; a dummy's product with the rest of e is the new
//! number.
//!
//! Virtual dummies: arXiv 2604.07464, for the T-Rex selector of J. Machkour, M. Muma, D. P. Palomar, *The
//! terminating-random experiments selector: fast high-dimensional variable selection with false discovery rate
//! control*, Signal Processing 231 (2025).

mod normal_rng;
mod virtual_dummies;

pub use normal_rng::NormalRng;
use vaglio_core::sum_of_products;
use vaglio_kernels::sums::{axpy, dot};
use vaglio_kernels::tolerance::{DEPENDENT_SQUARE, OUTSIDE_SPAN};
use virtual_dummies::VirtualDummies;

/// A forward path that can be continued.
pub struct DummyPath<'a> {
    /// Columns, followed by the stored dummies.
    columns: &'a [&'a [f64]],
    /// Dimension of the space of the columns.
    dimensions: usize,
    draws: NormalRng,
    /// Residuals of each target, and their projections on the columns of the path.
    residuals: Vec<Vec<f64>>,
    projected: Vec<Vec<f64>>,
    /// Absolute correlation of all columns on a least-angle path with the residual.
    common: f64,
    /// An orthonormal basis of the columns on the path.
    basis: Vec<Vec<f64>>,
    stored: Products,
    unstored: VirtualDummies,
    /// Number of dummies on the path before each feature entered.
    entered: Vec<Option<u32>>,
    dummies: u32,
    has_ended: bool,
}

/// Products of columns with the vectors of a path.
#[derive(Default)]
struct Products {
    /// xᵀr and xᵀw, by target.
    residual: Vec<Vec<f64>>,
    projected: Vec<Vec<f64>>,
    /// ‖x − P x‖²; 0 on the path.
    left: Vec<f64>,
}

impl<'a> DummyPath<'a> {
    /// Creates an empty path with `dummies` dummies that are not stored. The first `features` columns are no dummies,
    /// the others are stored dummies. Columns and targets are centered with norm 1; an empty column is ignored. Cost
    /// O(rows · columns + dummies).
    pub fn new(columns: &'a [&'a [f64]], features: usize, targets: &[&[f64]], dummies: usize, seed: u64) -> Self {
        let mut draws = NormalRng::new(seed);
        let rows = targets.first().map_or(0, |y| y.len());
        let dimensions = rows.saturating_sub(1);
        let targets: Vec<Vec<f64>> = targets.iter().map(|target| target.to_vec()).collect();
        let residuals = DifferenceBasis::new(&targets, &vec![vec![0.0; rows]; targets.len()]).vectors;
        let with = |y: &Vec<f64>| columns.iter().map(|x| product(x, y)).collect();
        let residual: Vec<Vec<f64>> = residuals.iter().map(with).collect();
        let unstored = VirtualDummies::new(dummies, residuals.len(), dimensions, &mut draws);
        DummyPath {
            draws,
            projected: vec![vec![0.0; rows]; residuals.len()],
            common: 0.0,
            basis: Vec::new(),
            stored: Products {
                projected: vec![vec![0.0; columns.len()]; residuals.len()],
                residual,
                left: columns.iter().map(|x| if x.is_empty() { 0.0 } else { 1.0 }).collect(),
            },
            unstored,
            entered: vec![None; features],
            dummies: 0,
            has_ended: residuals.is_empty(),
            residuals,
            columns,
            dimensions,
        }
    }

    /// Continues until `dummies` dummies are on the path, `stop` returns true, or nothing is left to enter. Cost of a
    /// step O(rows · (columns + steps) + dummies).
    pub fn until(&mut self, dummies: u32, stop: &impl Fn() -> bool) {
        while self.dummies < dummies && !self.has_ended && !stop() {
            match self.next() {
                Some(entry) if self.basis.len() < self.dimensions => self.enter(entry),
                _ => self.has_ended = true,
            }
        }
    }

    /// Number of dummies that entered before each feature on the path.
    pub fn entered(&self) -> &[Option<u32>] {
        &self.entered
    }

    /// Moves to the entry of the next column: by least angles for one target, and for several to the column that lowers
    /// the sum of squared residuals most.
    fn next(&mut self) -> Option<usize> {
        if self.residuals.len() > 1 {
            self.advance(1.0);
            self.best(0.0, |products, index| products.squares(index) * (1.0 / products.left[index])).1
        } else if self.basis.is_empty() {
            let (most, entry) = self.best(0.0, Products::squares);
            self.common = most.sqrt();
            entry
        } else {
            let common = self.common;
            let (least, entry) = self.best(-1.0, |products, index| -products.first_meeting(common, index));
            self.advance(-least);
            entry
        }
    }

    /// The largest value above `start`, and the first column that has it. Dummies that are not stored come after the
    /// columns.
    fn best(&self, start: f64, value: impl Fn(&Products, usize) -> f64) -> (f64, Option<usize>) {
        let (mut best, mut first) = ((start, None), 0);
        for products in [&self.stored, &self.unstored.products] {
            for (index, _) in products.left.iter().enumerate().filter(|(_, left)| **left > DEPENDENT_SQUARE) {
                let found = value(products, index);
                if found > best.0 {
                    best = (found, Some(first + index));
                }
            }
            first = products.left.len();
        }
        best
    }

    fn advance(&mut self, gamma: f64) {
        for (residual, projected) in self.residuals.iter_mut().zip(&mut self.projected) {
            axpy(-gamma, projected, residual);
            projected.iter_mut().for_each(|w| *w *= 1.0 - gamma);
        }
        self.common *= 1.0 - gamma;
        self.stored.advance(gamma);
        self.unstored.products.advance(gamma);
    }

    fn enter(&mut self, entry: usize) {
        let outer = DifferenceBasis::new(&self.residuals, &self.projected);
        let mut vector = match entry.checked_sub(self.columns.len()) {
            None => {
                self.stored.left[entry] = 0.0;
                self.columns[entry].to_vec()
            }
            Some(index) => {
                self.unstored.products.left[index] = 0.0;
                let (coefficients, outside) = self.unstored.coordinates(index, &outer);
                let rows = self.residuals[0].len();
                let known = [&self.basis[..], &outer.vectors[..]].concat();
                let mut vector = direction(rows, &known, &mut self.draws);
                vector.iter_mut().for_each(|v| *v *= outside.sqrt());
                for (f, coefficient) in outer.vectors.iter().zip(coefficients) {
                    axpy(coefficient, f, &mut vector);
                }
                vector
            }
        };
        match self.entered.get_mut(entry) {
            Some(entered) => *entered = Some(self.dummies),
            None => self.dummies += 1,
        }
        if outside_of(&self.basis, &mut vector) {
            self.add(vector, &outer);
        }
    }

    /// Adds a direction to the span of the path.
    fn add(&mut self, direction: Vec<f64>, outer: &DifferenceBasis) {
        let slopes: Vec<f64> = self.residuals.iter().map(|r| dot(r, &direction)).collect();
        for (projected, slope) in self.projected.iter_mut().zip(&slopes) {
            axpy(*slope, &direction, projected);
        }
        let columns = self.columns;
        let left = &self.stored.left;
        let with = |index: usize| if left[index] > 0.0 { dot(columns[index], &direction) } else { 0.0 };
        let products: Vec<f64> = (0..columns.len()).map(with).collect();
        self.stored.add(&slopes, &products);
        self.unstored.add(&slopes, &outer.coordinates(&direction), outer, &mut self.draws);
        self.basis.push(direction);
    }
}

impl Products {
    /// ‖xᵀr‖² of a column.
    fn squares(&self, index: usize) -> f64 {
        self.residual.iter().map(|c| c[index] * c[index]).sum()
    }

    /// The smallest γ at which a column or its negative has the common correlation.
    fn first_meeting(&self, common: f64, index: usize) -> f64 {
        let (residual, projected) = (self.residual[0][index], self.projected[0][index]);
        meeting(common, residual, projected).min(meeting(common, -residual, -projected))
    }

    fn advance(&mut self, gamma: f64) {
        for (residual, projected) in self.residual.iter_mut().zip(&mut self.projected) {
            for (residual, projected) in residual.iter_mut().zip(projected) {
                *residual -= gamma * *projected;
                *projected *= 1.0 - gamma;
            }
        }
    }

    /// Adds a direction, given its product with each column.
    fn add(&mut self, slopes: &[f64], products: &[f64]) {
        for (index, product) in products.iter().enumerate() {
            if self.left[index] > 0.0 {
                self.left[index] = (self.left[index] - product * product).max(f64::MIN_POSITIVE);
                for (projected, slope) in self.projected.iter_mut().zip(slopes) {
                    projected[index] += slope * product;
                }
            }
        }
    }
}

/// The γ at which xᵀr − γ xᵀw equals (1 − γ) times the common correlation, from below.
fn meeting(common: f64, residual: f64, projected: f64) -> f64 {
    let approach = common - projected;
    if approach > 0.0 { ((common - residual) / approach).max(0.0) } else { f64::INFINITY }
}

/// A random direction, uniform over those centered and orthogonal to the known ones.
fn direction(rows: usize, known: &[Vec<f64>], draws: &mut NormalRng) -> Vec<f64> {
    let mut vector: Vec<f64> = (0..rows).map(|_| draws.normal()).collect();
    let mean = vector.iter().sum::<f64>() / rows as f64;
    vector.iter_mut().for_each(|v| *v -= mean);
    outside_of(known, &mut vector);
    vector
}

fn product(x: &[f64], y: &[f64]) -> f64 {
    if x.is_empty() { 0.0 } else { dot(x, y) }
}

/// Orthonormal basis of vectors r_i − w_i, with its coefficients.
struct DifferenceBasis {
    /// Basis vectors; dependent ones are left out.
    pub vectors: Vec<Vec<f64>>,
    /// Coefficients of each basis vector in the original vectors.
    coefficients: Vec<Vec<f64>>,
}

impl DifferenceBasis {
    pub fn new(residuals: &[Vec<f64>], projected: &[Vec<f64>]) -> Self {
        let mut outer = DifferenceBasis { vectors: Vec::new(), coefficients: Vec::new() };
        for (place, (residual, projected)) in residuals.iter().zip(projected).enumerate() {
            let mut vector = residual.clone();
            axpy(-1.0, projected, &mut vector);
            let mut weights = vec![0.0; residuals.len()];
            weights[place] = 1.0;
            let before = dot(&vector, &vector).sqrt();
            for _ in 0..2 {
                for (f, coefficients) in outer.vectors.iter().zip(&outer.coefficients) {
                    let along = dot(f, &vector);
                    axpy(-along, f, &mut vector);
                    weights
                        .iter_mut()
                        .zip(coefficients)
                        .for_each(|(weight, coefficient)| *weight -= along * coefficient);
                }
            }
            let norm = dot(&vector, &vector).sqrt();
            if norm > OUTSIDE_SPAN && norm > OUTSIDE_SPAN * before {
                vector.iter_mut().for_each(|v| *v /= norm);
                weights.iter_mut().for_each(|weight| *weight /= norm);
                outer.vectors.push(vector);
                outer.coefficients.push(weights);
            }
        }
        outer
    }

    /// Products of the basis with a vector.
    pub fn coordinates(&self, vector: &[f64]) -> Vec<f64> {
        self.vectors.iter().map(|f| dot(f, vector)).collect()
    }

    /// Coefficients of Σ_i ρ_i f_i in the original vectors, with basis vectors f_i and ρ = `along`.
    pub fn weights(&self, along: &[f64]) -> Vec<f64> {
        let count = self.coefficients.first().map_or(0, Vec::len);
        (0..count)
            .map(|place| self.coefficients.iter().zip(along).map(|(made, along)| made[place] * along).sum())
            .collect()
    }

    /// Products of the basis with a vector, given its products with the original vectors.
    pub fn known(&self, products: &[f64]) -> Vec<f64> {
        self.coefficients.iter().map(|made| sum_of_products(made, products)).collect()
    }
}

/// Orthogonalizes a vector to an orthonormal basis, twice.
pub fn orthogonalize(basis: &[Vec<f64>], vector: &mut [f64]) {
    for e in basis.iter().chain(basis) {
        let along = dot(e, vector);
        axpy(-along, e, vector);
    }
}

/// Orthogonalizes a vector to a basis and normalizes it; returns whether anything remains.
fn outside_of(basis: &[Vec<f64>], vector: &mut [f64]) -> bool {
    let before = dot(vector, vector).sqrt();
    orthogonalize(basis, vector);
    let norm = dot(vector, vector).sqrt();
    let is_new = norm > OUTSIDE_SPAN * before;
    if is_new {
        vector.iter_mut().for_each(|v| *v /= norm);
    }
    is_new
}
