//! Ridge readouts from one orthogonal reduction of the rows, for any number of λ.

mod equations;
mod normal;

use crate::linalg::{self, Failure};
use crate::tolerance::SMALL_PENALTY;
pub(crate) use equations::Equations;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
pub use normal::Normal;

/// Minimizes Σ_j r_j (y_j − wᵀx_j − b)² + λ‖w‖² by reflections of the scaled, centered rows.
///
/// The rows with their targets are reduced to a triangle once; for each λ the triangle stacked on √λ·I is reduced again.
/// Neither forms normal equations, and rounding in a column stays relative to that column, so small λ, high condition
/// numbers and columns of unlike scale cost no digits.
#[derive(Debug, Clone)]
pub struct Ridge {
    /// Scaled, centered rows: rows × features.
    x: Array2<f64>,
    /// Scaled, centered targets: rows × outputs.
    y: Array2<f64>,
    /// The triangle of x with Qᵀy beside it: min(rows, features) × (features + outputs).
    triangle: Array2<f64>,
    /// √r_j.
    root: Array1<f64>,
    means: Array1<f64>,
    target_means: Array1<f64>,
    intercept: bool,
}

impl Ridge {
    /// Reduces `x` (rows × features) for targets `y` (outputs × rows). Cost O(rows · features²).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when entries overflow.
    pub fn new(
        mut x: Array2<f64>,
        y: ArrayView2<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
    ) -> Result<Self, Failure> {
        let (rows, features) = x.dim();
        let weight: Array1<f64> = weights.map_or_else(|| Array1::ones(rows), |w| w.iter().copied().collect());
        let share = &weight / weight.sum();
        let (means, target_means) = if intercept {
            (share.dot(&x), y.dot(&share))
        } else {
            (Array1::zeros(features), Array1::zeros(y.nrows()))
        };
        let root = weight.mapv(f64::sqrt);
        let scale = root.view().insert_axis(Axis(1));
        x -= &means;
        x *= &scale;
        let y = (&y.t() - &target_means) * scale;
        let reduced = match by_weight(&weight) {
            Some(order) => reduce(x.select(Axis(0), &order).view(), y.select(Axis(0), &order).view())?,
            None => reduce(x.view(), y.view())?,
        };
        let triangle = reduced.slice(s![..features.min(rows), ..]).to_owned();
        Ok(Ridge { x, y, triangle, root, means, target_means, intercept })
    }

    /// Weights (features × outputs) and intercepts for one λ. Cost O(features · min(rows, features)²).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when entries overflow.
    pub fn coefficients(&self, lambda: f64) -> Result<(Array2<f64>, Vec<f64>), Failure> {
        let features = self.x.ncols();
        let weights = weights_of(self.triangle.view(), features, lambda)?;
        Ok(self.with_intercept(weights, &(0..features).collect::<Vec<_>>()))
    }

    /// Weights and intercepts of the features at `places` alone. Cost O(features · |places|²).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when entries overflow.
    pub fn coefficients_of(&self, places: &[usize], lambda: f64) -> Result<(Array2<f64>, Vec<f64>), Failure> {
        let features = self.x.ncols();
        let columns: Vec<usize> = places.iter().copied().chain(features..self.triangle.ncols()).collect();
        let reduced =
            linalg::triangle(stacked(self.triangle.select(Axis(1), &columns).view(), places.len(), lambda).view())?;
        Ok(self.with_intercept(back_substituted(reduced.view(), places.len()), places))
    }

    /// One λ for the first features, however many: the triangle of all of them holds that of the first.
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when entries overflow.
    pub fn prefixes(&self, lambda: f64) -> Result<Prefixes<'_>, Failure> {
        // Features beyond the rows are not reduced: each has a triangle of its own.
        let square = self.x.ncols().min(self.triangle.nrows());
        let kept: Vec<usize> = (0..square).chain(self.x.ncols()..self.triangle.ncols()).collect();
        let reduced = linalg::triangle(stacked(self.triangle.select(Axis(1), &kept).view(), square, lambda).view())?;
        Ok(Prefixes { ridge: self, lambda, square, reduced, wide: None })
    }

    fn with_intercept(&self, weights: Array2<f64>, places: &[usize]) -> (Array2<f64>, Vec<f64>) {
        let intercept = &self.target_means - &self.means.select(Axis(0), places).dot(&weights);
        (weights, if self.intercept { intercept.to_vec() } else { vec![0.0; self.y.ncols()] })
    }

    /// The triangle R of the rows stacked on √λ·I, features × features, and the weights.
    fn solve(&self, lambda: f64) -> Result<(Array2<f64>, Array2<f64>), Failure> {
        let features = self.x.ncols();
        let reduced = linalg::triangle(stacked(self.triangle.view(), features, lambda).view())?;
        let triangle = reduced.slice(s![..features, ..features]).to_owned();
        Ok((triangle, back_substituted(reduced.view(), features)))
    }

    /// Mean squared leave-one-out error over rows and outputs for one λ. Cost O(rows · features · (features + outputs)).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when entries overflow.
    pub fn leave_one_out(&self, lambda: f64) -> Result<f64, Failure> {
        let (triangle, weights) = self.solve(lambda)?;
        let total = self.root.dot(&self.root);
        let mut residuals = &self.y - &self.x.dot(&weights);
        // Row j of X·R⁻¹ has the leverage as its sum of squares.
        let mut along = vec![0.0; self.x.ncols()];
        for ((j, row), mut residual) in self.x.rows().into_iter().enumerate().zip(residuals.rows_mut()) {
            for k in 0..along.len() {
                let known: f64 = along[..k].iter().zip(triangle.slice(s![..k, k])).map(|(a, r)| a * r).sum();
                along[k] = (row[k] - known) / triangle[[k, k]];
            }
            let center = if self.intercept { self.root[j] * self.root[j] / total } else { 0.0 };
            residual /= 1.0 - center - along.iter().map(|a| a * a).sum::<f64>();
        }
        Ok(residuals.iter().map(|r| r * r).sum::<f64>() / (total * self.y.ncols() as f64))
    }
}

/// The weights of rows beyond which their order counts, over the least.
const UNLIKE: f64 = 1e6;

/// The rows from the heaviest to the lightest, where weights are very unlike: reflections then cost no digits of light rows.
///
/// A. J. Cox, N. J. Higham, *Stability of Householder QR factorization for weighted least squares problems* (1998).
fn by_weight(weights: &Array1<f64>) -> Option<Vec<usize>> {
    let (least, most) = weights.iter().fold((f64::INFINITY, 0.0f64), |(least, most), w| (least.min(*w), most.max(*w)));
    (most > UNLIKE * least).then(|| {
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        order
    })
}

/// A ridge readout at one λ, for its first features.
#[derive(Debug, Clone)]
pub struct Prefixes<'r> {
    ridge: &'r Ridge,
    lambda: f64,
    /// Features of the triangle.
    square: usize,
    /// The triangle of the first features stacked on √λ·I, with what it makes of the targets beside it.
    reduced: Array2<f64>,
    /// Of more features than rows: how many, and their triangle R with RᵀR = TTᵀ + λI.
    wide: Option<(usize, Array2<f64>)>,
}

impl Prefixes<'_> {
    /// Weights (features × outputs) and intercepts of the first `count` features. Cost O(count² · outputs); for more
    /// features than rows O(rows · (count + rows · features that are new since the last call)).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when entries overflow.
    pub fn coefficients(&mut self, count: usize) -> Result<(Array2<f64>, Vec<f64>), Failure> {
        let places: Vec<usize> = (0..count).collect();
        if count <= self.square {
            let kept: Vec<usize> = (0..count).chain(self.square..self.reduced.ncols()).collect();
            let reduced = self.reduced.slice(s![..count, ..]).select(Axis(1), &kept);
            return Ok(self.ridge.with_intercept(back_substituted(reduced.view(), count), &places));
        }
        let (triangle, features) = (&self.ridge.triangle, self.ridge.x.ncols());
        // Rotations bring in a few columns; reflections of all are faster where there are many.
        let is_near = |known: usize| known <= count && count - known <= triangle.nrows();
        let (from, mut root) = match self.wide.take().filter(|(known, _)| is_near(*known)) {
            Some(known) => known,
            None => {
                let from = if is_near(self.square) { self.square } else { count };
                (from, rows_root(triangle.slice(s![.., ..from]), self.lambda)?)
            }
        };
        triangle
            .slice(s![.., from..count])
            .columns()
            .into_iter()
            .for_each(|column| add_row(&mut root, column.to_vec()));
        let (t, z) = (triangle.slice(s![.., ..count]), triangle.slice(s![.., features..]));
        let weights = by_rows(t, z, &root, self.lambda);
        self.wide = Some((count, root));
        Ok(self.ridge.with_intercept(weights, &places))
    }
}

/// Features for each row up to which the triangle of features is reduced in its place.
const MOST_WIDE: usize = 2;

/// The weights of [T Z], rows × (features + outputs), for one λ: by a triangle of the features, or of the rows where these
/// are fewer.
fn weights_of(triangle: ArrayView2<f64>, features: usize, lambda: f64) -> Result<Array2<f64>, Failure> {
    let squares: f64 = triangle.slice(s![.., ..features]).iter().map(|x| x * x).sum();
    let is_few = features <= MOST_WIDE * triangle.nrows();
    let is_square_enough = is_few && lambda > 0.0 && lambda < SMALL_PENALTY * squares;
    if features <= triangle.nrows() || is_square_enough {
        let reduced = linalg::triangle(stacked(triangle, features, lambda).view())?;
        return Ok(back_substituted(reduced.view(), features));
    }
    let (t, z) = (triangle.slice(s![.., ..features]), triangle.slice(s![.., features..]));
    Ok(by_rows(t, z, &rows_root(t, lambda)?, lambda))
}

/// R with RᵀR = TTᵀ + λI, by reflections of [Tᵀ; √λI].
fn rows_root(t: ArrayView2<f64>, lambda: f64) -> Result<Array2<f64>, Failure> {
    let rows = t.nrows();
    let reduced = linalg::triangle(stacked(t.t(), rows, lambda).view())?;
    Ok(reduced.slice(s![..rows, ..rows]).to_owned())
}

/// R of RᵀR + xxᵀ, by rotations. Cost O(rows²).
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

/// w = Tᵀu with (TTᵀ + λI)u = Z and R of that matrix. Cost O(rows · (features + rows) · outputs).
fn by_rows(t: ArrayView2<f64>, z: ArrayView2<f64>, root: &Array2<f64>, lambda: f64) -> Array2<f64> {
    let rows = t.nrows();
    let solve = |right: Array2<f64>| {
        let mut forward = right;
        for k in 0..rows {
            let (known, mut rest) = forward.view_mut().split_at(Axis(0), k);
            let mut row = rest.row_mut(0);
            row -= &root.slice(s![..k, k]).dot(&known);
            row /= root[[k, k]];
        }
        let mut beside = Array2::zeros((rows, rows + forward.ncols()));
        beside.slice_mut(s![.., ..rows]).assign(root);
        beside.slice_mut(s![.., rows..]).assign(&forward);
        back_substituted(beside.view(), rows)
    };
    let mut u = solve(z.to_owned());
    // One refinement takes back what the product of R with itself costs.
    let missing = &z - &t.dot(&t.t().dot(&u)) - &u * lambda;
    u += &solve(missing);
    t.t().dot(&u)
}

/// The triangle [R Z] above √λ·I.
fn stacked(triangle: ArrayView2<f64>, features: usize, lambda: f64) -> Array2<f64> {
    let height = triangle.nrows();
    let mut stacked = Array2::zeros((height + features, triangle.ncols()));
    stacked.slice_mut(s![..height, ..]).assign(&triangle);
    stacked.slice_mut(s![height.., ..]).diag_mut().slice_mut(s![..features]).fill(lambda.sqrt());
    stacked
}

/// R⁻¹Z of [R Z] with R in its upper left, features × features.
pub(crate) fn back_substituted(reduced: ArrayView2<f64>, features: usize) -> Array2<f64> {
    let mut weights = reduced.slice(s![..features, features..]).to_owned();
    for mut column in weights.columns_mut() {
        for k in (0..features).rev() {
            let known = reduced.slice(s![k, k + 1..features]).dot(&column.slice(s![k + 1..]));
            column[k] = (column[k] - known) / reduced[[k, k]];
        }
    }
    weights
}

/// Rows that are reduced at once, at least; they stay in cache with the triangle of those before.
const TILE: usize = 1024;

/// The triangle of [x | y], tile of rows after tile of rows on the triangle of those before.
pub(crate) fn reduce(x: ArrayView2<f64>, y: ArrayView2<f64>) -> Result<Array2<f64>, Failure> {
    let (features, width) = (x.ncols(), x.ncols() + y.ncols());
    let tile = TILE.max(4 * width);
    let mut triangle = Array2::zeros((0, width));
    for (x, y) in x.axis_chunks_iter(Axis(0), tile).zip(y.axis_chunks_iter(Axis(0), tile)) {
        let mut stacked = Array2::zeros((triangle.nrows() + x.nrows(), width));
        let (mut above, mut below) = stacked.view_mut().split_at(Axis(0), triangle.nrows());
        above.assign(&triangle);
        below.slice_mut(s![.., ..features]).assign(&x);
        below.slice_mut(s![.., features..]).assign(&y);
        triangle = linalg::triangle(stacked.view())?;
    }
    Ok(triangle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn one_column_has_the_textbook_weight_and_leave_one_out_error() {
        let (x, y) = (array![[1.0], [2.0], [4.0]], array![[3.0, 5.0, 6.0]]);
        let ridge = Ridge::new(x, y.view(), None, false).unwrap();
        let (weights, intercept) = ridge.coefficients(1.0).unwrap();
        assert!((weights[[0, 0]] - 37.0 / 22.0).abs() < 1e-13);
        assert_eq!(intercept, [0.0]);
        let without = [(34.0, 21.0, 1.0, 3.0), (27.0, 18.0, 2.0, 5.0), (13.0, 6.0, 4.0, 6.0)];
        let expected: f64 = without.iter().map(|(b, a, x, y)| (y - x * b / a) * (y - x * b / a)).sum::<f64>() / 3.0;
        assert!((ridge.leave_one_out(1.0).unwrap() - expected).abs() < 1e-12 * expected);
    }

    #[test]
    fn features_of_a_reduction_are_those_reduced_alone() {
        let x = Array2::from_shape_fn((9, 5), |(j, k)| ((7 * j + 3 * k * k) % 11) as f64 - 4.0);
        let y = Array2::from_shape_fn((2, 9), |(o, j)| ((5 * j + o) % 7) as f64);
        let weights: Vec<f64> = (0..9).map(|j| 0.5 + j as f64).collect();
        let near = |(a, b): &(Array2<f64>, Vec<f64>), (c, d): &(Array2<f64>, Vec<f64>)| {
            let close = |p: &f64, q: &f64| (p - q).abs() < 1e-12 * (1.0 + q.abs());
            a.iter().zip(c).all(|(p, q)| close(p, q)) && b.iter().zip(d).all(|(p, q)| close(p, q))
        };
        for rows in [9, 3] {
            let rows: Vec<usize> = (0..rows).collect();
            let (x, y) = (x.select(Axis(0), &rows), y.select(Axis(1), &rows));
            let alone = |places: &[usize]| {
                let x = x.select(Axis(1), places);
                Ridge::new(x, y.view(), Some(&weights[..rows.len()]), true).unwrap().coefficients(0.3).unwrap()
            };
            let all = Ridge::new(x.clone(), y.view(), Some(&weights[..rows.len()]), true).unwrap();
            let mut prefixes = all.prefixes(0.3).unwrap();
            for count in 0..=5 {
                assert!(
                    near(&prefixes.coefficients(count).unwrap(), &alone(&(0..count).collect::<Vec<_>>())),
                    "{count}"
                );
            }
            assert!(near(&all.coefficients_of(&[4, 1], 0.3).unwrap(), &alone(&[4, 1])));
            assert!(near(&all.coefficients_of(&[], 0.3).unwrap(), &alone(&[])));
        }
    }
}
