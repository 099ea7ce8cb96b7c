//! Ridge regression by one orthogonal reduction of the rows, for any number of λ.

mod correction;
mod normal_equation_ridge;
mod reduction;

use crate::Column;
use crate::linalg::{self, FactorizationError};
use crate::parallel;
use crate::tolerance::SMALL_PENALTY;
use correction::Correction;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, concatenate, s};
pub use normal_equation_ridge::NormalEquationRidge;
use reduction::{PARTS, by_weight};
pub use reduction::{append_rows, tile_of};
pub(crate) use reduction::{reduce, triangle_of};
use vaglio_columns::{accurate_sum_of_products, max_abs, minimum, sum_of_squares};

/// Minimizes Σ_j r_j (y_j − wᵀx_j − b)² + λ‖w‖² by reflections of the scaled, centered rows.
///
/// The rows with their targets are reduced to a triangle once; for each λ the triangle stacked on √λ·I is reduced
/// again. No normal equations are formed, and rounding stays relative to each column. So columns of unlike scale cost no
/// digits. Nearly dependent columns at small λ cost some; a correction by the rows restores them.
#[derive(Debug, Clone)]
pub struct Ridge {
    features: usize,
    /// Triangle of the scaled, centered rows beside Qᵀy: min(rows, features) × (features + outputs).
    triangle: Array2<f64>,
    means: Array1<f64>,
    target_means: Array1<f64>,
    intercept: bool,
}

/// Rows that a [`Ridge`] is reduced from.
pub(crate) struct RidgeRows {
    /// Rows × features.
    pub x: Array2<f64>,
    /// Outputs × rows.
    pub y: Array2<f64>,
    pub weights: Vec<f64>,
}

/// Weights, features × outputs, and intercepts.
type Fit = (Array2<f64>, Vec<f64>);

impl Ridge {
    /// Reduces `x` (rows × features) for targets `y` (outputs × rows). Cost O(rows · features²).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn new(
        x: ArrayView2<f64>,
        y: ArrayView2<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
    ) -> Result<Self, FactorizationError> {
        let fill = |rows: &[usize], mut to: ArrayViewMut2<f64>| to.assign(&x.select(Axis(0), rows));
        let means = intercept.then_some(|share: &Array1<f64>| share.dot(&x));
        Self::from_rows(x.ncols(), means, y, weights, fill)
    }

    /// Like [`Ridge::new`], but reads columns tile by tile without copying them as a whole.
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn from_columns(
        columns: &[Column<'_>],
        y: ArrayView2<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
    ) -> Result<Self, FactorizationError> {
        let mean = |column: &Column<'_>, share: &Array1<f64>| {
            let x = column.values();
            let about = |center: f64| x.iter().zip(share).map(|(x, share)| (x - center) * share).sum::<f64>();
            let rough = about(0.0);
            rough + about(rough)
        };
        let means = |share: &Array1<f64>| columns.iter().map(|column| mean(column, share)).collect();
        let fill = |rows: &[usize], mut to: ArrayViewMut2<f64>| {
            for (mut to, column) in to.columns_mut().into_iter().zip(columns) {
                to.iter_mut().zip(column.gather(rows)).for_each(|(to, x)| *to = x);
            }
        };
        Self::from_rows(columns.len(), intercept.then_some(means), y, weights, fill)
    }

    /// Reduces rows written by `fill`. With an intercept, `means` computes column means from each row's share of the total
    /// weight.
    fn from_rows(
        features: usize,
        means: Option<impl FnOnce(&Array1<f64>) -> Array1<f64>>,
        y: ArrayView2<f64>,
        weights: Option<&[f64]>,
        fill: impl Fn(&[usize], ArrayViewMut2<f64>) + Sync,
    ) -> Result<Self, FactorizationError> {
        let (rows, width) = (y.ncols(), features + y.nrows());
        let weight: Array1<f64> = weights.map_or_else(|| Array1::ones(rows), |w| w.iter().copied().collect());
        let share = &weight / weight.sum();
        let intercept = means.is_some();
        let (means, target_means) = match means {
            Some(means) => (means(&share), y.dot(&share)),
            None => (Array1::zeros(features), Array1::zeros(y.nrows())),
        };
        let root = weight.mapv(f64::sqrt);
        let write_rows = |rows: &[usize], mut to: ArrayViewMut2<f64>| {
            let (x, mut targets) = to.view_mut().split_at(Axis(1), features);
            fill(rows, x);
            targets.assign(&y.select(Axis(1), rows).t());
            let root = weights.map(|_| root.select(Axis(0), rows));
            for (mut column, mean) in to.columns_mut().into_iter().zip(means.iter().chain(&target_means)) {
                column -= *mean;
                root.iter().for_each(|root| column *= root);
            }
        };
        let tile = tile_of(width);
        let (order, part) = match by_weight(&weight) {
            Some(order) => (order, rows),
            None => ((0..rows).collect(), rows.div_ceil(PARTS).max(tile)),
        };
        let reduced = |rows: &[usize]| reduce(width, rows.chunks(tile), |rows| rows.len(), write_rows);
        let parts: Vec<Array2<f64>> =
            parallel::map_chunks(&order, part.max(1), reduced).into_iter().collect::<Result<_, _>>()?;
        let triangle = match <[Array2<f64>; 1]>::try_from(parts) {
            Ok([alone]) => alone,
            Err(parts) => reduce(width, parts.iter(), |part| part.nrows(), |part, mut to| to.assign(part))?,
        };
        let triangle = triangle.slice(s![..features.min(rows), ..]).to_owned();
        Ok(Ridge { features, triangle, means, target_means, intercept })
    }

    /// Upper bound of the bytes of a reduction and its coefficients.
    pub fn bytes(rows: usize, features: usize) -> f64 {
        let (width, height) = (features as f64, rows as f64);
        8.0 * if is_wide(rows, features) { height * (4.0 * width + 4.0 * height) } else { 8.0 * width * width }
    }

    /// Weights (features × outputs) and intercepts for one λ. Cost O(features · min(rows, features)²).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn coefficients(&self, lambda: f64) -> Result<Fit, FactorizationError> {
        let (features, rows) = (self.features, self.triangle.nrows());
        let (t, z) = self.triangle.view().split_at(Axis(1), features);
        let places: Vec<usize> = (0..features).collect();
        if features <= rows || self.is_hardly_penalized(lambda) {
            return self.coefficients_of(&places, lambda);
        }
        Ok(self.with_intercept(by_rows(t, z, &rows_root(t, lambda)?, lambda), &places))
    }

    /// Like [`Ridge::coefficients`], corrected by the residuals of the `rows` if λ leaves dependent columns few digits.
    /// Cost O(rows · features · outputs) more.
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub(crate) fn corrected_coefficients(
        &self,
        lambda: f64,
        rows: impl FnOnce() -> RidgeRows,
    ) -> Result<Fit, FactorizationError> {
        if !self.is_hardly_penalized(lambda) {
            return self.coefficients(lambda);
        }
        let reduced = penalize(self.triangle.view(), self.features, lambda)?;
        let mut weights = back_substituted(reduced.view(), self.features);
        let triangle = reduced.slice(s![..self.features, ..self.features]);
        let squares = triangle.diag().mapv(|pivot| pivot * pivot);
        let (least, most) = (minimum(squares.iter().copied()), max_abs(&squares));
        if SMALL_PENALTY * most > least && Correction::can_begin(most / least) {
            let slopes = forward_substituted(triangle, self.slopes(&rows(), &weights, lambda));
            weights += &back_substituted(concatenate![Axis(1), triangle, slopes].view(), self.features);
        }
        Ok(self.with_intercept(weights, &(0..self.features).collect::<Vec<_>>()))
    }

    /// Whether a triangle of the features is reduced, and λ is so small beside them that dependent columns cost digits.
    fn is_hardly_penalized(&self, lambda: f64) -> bool {
        let squares = sum_of_squares(self.triangle.slice(s![.., ..self.features]));
        !is_wide(self.triangle.nrows(), self.features) && lambda > 0.0 && lambda < SMALL_PENALTY * squares
    }

    /// XᵀR − λW with the residuals R of the scaled, centered rows, in twice the digits: features × outputs.
    fn slopes(&self, rows: &RidgeRows, weights: &Array2<f64>, lambda: f64) -> Array2<f64> {
        let root: Array1<f64> = rows.weights.iter().map(|weight| weight.sqrt()).collect();
        let scaled = |values: ArrayView1<f64>, mean: f64| (&values - mean) * &root;
        let columns = rows.x.columns().into_iter().zip(&self.means);
        let x: Vec<Array1<f64>> = columns.map(|(column, mean)| scaled(column, *mean)).collect();
        let targets = rows.y.rows().into_iter().zip(&self.target_means);
        let residuals = targets.zip(weights.columns()).map(|((y, mean), weights)| {
            let y = scaled(y, *mean);
            let left = |row: usize| x.iter().zip(weights).map(move |(x, w)| (-x[row], *w)).chain([(y[row], 1.0)]);
            (0..y.len()).map(|row| accurate_sum_of_products(left(row))).collect::<Vec<f64>>()
        });
        let residuals: Vec<Vec<f64>> = residuals.collect();
        Array2::from_shape_fn(weights.dim().f(), |(k, o)| {
            let terms = x[k].iter().zip(&residuals[o]).map(|(x, e)| (*x, *e));
            accurate_sum_of_products(terms.chain([(-lambda, weights[[k, o]])]))
        })
    }

    /// Columns of the features at `places`, then those of the targets.
    fn select(&self, places: impl Iterator<Item = usize>) -> Array2<f64> {
        let columns: Vec<usize> = places.chain(self.features..self.triangle.ncols()).collect();
        self.triangle.select(Axis(1), &columns)
    }

    /// Restricts the reduction to the features at `places`, in that order. Cost O(features · |places|²).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn restrict(&self, places: &[usize]) -> Result<Self, FactorizationError> {
        let triangle = linalg::triangle(self.select(places.iter().copied()).view())?;
        let triangle = triangle.slice(s![..places.len().min(self.triangle.nrows()), ..]).to_owned();
        Ok(Ridge { features: places.len(), triangle, means: self.means.select(Axis(0), places), ..self.clone() })
    }

    /// Weights and intercepts of the features at `places` alone. Cost O(features · |places|²).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn coefficients_of(&self, places: &[usize], lambda: f64) -> Result<Fit, FactorizationError> {
        let reduced = penalize(self.select(places.iter().copied()).view(), places.len(), lambda)?;
        Ok(self.with_intercept(back_substituted(reduced.view(), places.len()), places))
    }

    /// Prepares fits of the first k features for one λ and any k. A fit costs O(k² · outputs), or with more features than
    /// rows O(rows · (k + rows · new features since the last fit)).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn prefixes(
        &self,
        lambda: f64,
    ) -> Result<impl FnMut(usize) -> Result<Fit, FactorizationError>, FactorizationError> {
        // Features beyond the number of rows are not reduced here; each such count has its own triangle.
        let (triangle, features) = (&self.triangle, self.features);
        let square = features.min(triangle.nrows());
        let reduced = penalize(self.select(0..square).view(), square, lambda)?;
        // For more features than rows: their number and the triangle R with RᵀR = TTᵀ + λI.
        let mut wide: Option<(usize, Array2<f64>)> = None;
        Ok(move |count: usize| -> Result<Fit, FactorizationError> {
            let places: Vec<usize> = (0..count).collect();
            if count <= square {
                let kept: Vec<usize> = (0..count).chain(square..reduced.ncols()).collect();
                let reduced = reduced.slice(s![..count, ..]).select(Axis(1), &kept);
                return Ok(self.with_intercept(back_substituted(reduced.view(), count), &places));
            }
            // Rotations add a few columns; for many, reflecting all of them is faster.
            let is_near = |known: usize| known <= count && count - known <= triangle.nrows();
            let (from, mut root) = match wide.take().filter(|(known, _)| is_near(*known)) {
                Some(known) => known,
                None => {
                    let from = if is_near(square) { square } else { count };
                    (from, rows_root(triangle.slice(s![.., ..from]), lambda)?)
                }
            };
            let new = triangle.slice(s![.., from..count]);
            new.columns().into_iter().for_each(|column| add_row(&mut root, column.to_vec()));
            let (t, z) = (triangle.slice(s![.., ..count]), triangle.slice(s![.., features..]));
            let weights = by_rows(t, z, &root, lambda);
            wide = Some((count, root));
            Ok(self.with_intercept(weights, &places))
        })
    }

    fn with_intercept(&self, weights: Array2<f64>, places: &[usize]) -> Fit {
        let intercept = &self.target_means - &self.means.select(Axis(0), places).dot(&weights);
        (weights, if self.intercept { intercept.to_vec() } else { vec![0.0; self.target_means.len()] })
    }
}

/// Maximum number of features per row at which the feature triangle is reduced instead of the rows'.
const MOST_WIDE: usize = 2;

/// Whether there are so many features that only a rows × rows matrix is formed.
pub fn is_wide(rows: usize, features: usize) -> bool {
    features > MOST_WIDE * rows
}

/// R with RᵀR = TTᵀ + λI, by reflections of [Tᵀ; √λI].
fn rows_root(t: ArrayView2<f64>, lambda: f64) -> Result<Array2<f64>, FactorizationError> {
    let rows = t.nrows();
    let reduced = penalize(t.t(), rows, lambda)?;
    Ok(reduced.slice(s![..rows, ..rows]).to_owned())
}

/// Updates R to the triangle of RᵀR + xxᵀ by rotations. Cost O(rows²).
fn add_row(root: &mut Array2<f64>, mut x: Vec<f64>) {
    for k in 0..x.len() {
        let (r, y) = (root[[k, k]], x[k]);
        let length = r.hypot(y);
        if length == 0.0 {
            continue;
        }
        let (cosine, sine) = (r / length, y / length);
        for (r, x) in root.row_mut(k).iter_mut().zip(&mut x).skip(k) {
            (*r, *x) = (cosine * *r + sine * *x, cosine * *x - sine * *r);
        }
    }
}

/// w = Tᵀu with (TTᵀ + λI)u = Z, given the triangle R of that matrix. Cost O(rows · (features + rows) · outputs).
fn by_rows(t: ArrayView2<f64>, z: ArrayView2<f64>, root: &Array2<f64>, lambda: f64) -> Array2<f64> {
    let rows = t.nrows();
    let solve = |right: Array2<f64>| {
        let mut beside = Array2::zeros((rows, rows + right.ncols()));
        beside.slice_mut(s![.., ..rows]).assign(root);
        beside.slice_mut(s![.., rows..]).assign(&forward_substituted(root.view(), right));
        back_substituted(beside.view(), rows)
    };
    let mut u = solve(z.to_owned());
    // One step of iterative refinement restores the digits lost in RᵀR.
    let missing = &z - &t.dot(&t.t().dot(&u)) - &u * lambda;
    u += &solve(missing);
    t.t().dot(&u)
}

/// Triangle of `triangle` on √λ·I for its first columns, the features.
fn penalize(triangle: ArrayView2<f64>, features: usize, lambda: f64) -> Result<Array2<f64>, FactorizationError> {
    let height = triangle.nrows();
    let mut stacked = Array2::zeros((height + features, triangle.ncols()));
    stacked.slice_mut(s![..height, ..]).assign(&triangle);
    stacked.slice_mut(s![height.., ..]).diag_mut().slice_mut(s![..features]).fill(lambda.sqrt());
    linalg::triangle(stacked.view())
}

/// R⁻ᵀB for a triangle R.
fn forward_substituted(triangle: ArrayView2<f64>, mut right: Array2<f64>) -> Array2<f64> {
    for k in 0..triangle.nrows() {
        let (known, mut rest) = right.view_mut().split_at(Axis(0), k);
        let mut row = rest.row_mut(0);
        row -= &triangle.slice(s![..k, k]).dot(&known);
        row /= triangle[[k, k]];
    }
    right
}

/// R⁻¹Z for [R Z] with R in the upper left features × features block.
fn back_substituted(reduced: ArrayView2<f64>, features: usize) -> Array2<f64> {
    let mut weights = reduced.slice(s![..features, features..]).to_owned();
    for mut column in weights.columns_mut() {
        for k in (0..features).rev() {
            let known = reduced.slice(s![k, k + 1..features]).dot(&column.slice(s![k + 1..]));
            column[k] = (column[k] - known) / reduced[[k, k]];
        }
    }
    weights
}
