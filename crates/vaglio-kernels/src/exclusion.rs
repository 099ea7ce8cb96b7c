//! Leave-one-out residuals of rows whose 1 − leverage is too small to divide by.
//!
//! Let 1 − leverage be unreliable for rows A. All other rows T, stacked on √λ·I, are reduced by reflections to a
//! triangle R of [1 X] and to their fit. With Z the rows A of [1 X], P = R⁻ᵀZᵀ, e their residuals from the fit of T and
//! M = (I + PᵀP)⁻¹, row j of A predicted from T and the others of A has the residual (M e)_j / M_jj: the leave-one-out
//! identity of Gaussian processes with T as prior data. M comes from the triangle of P on I, without normal equations.
//! If all rows are unreliable and there is an intercept, the heaviest row is excluded separately from the others
//! ([`split_rows`]); without an intercept T may be empty, and P = Xᵀ/√λ.
//!
//! # Reference
//! C. E. Rasmussen, C. K. I. Williams, *Gaussian Processes for Machine Learning*, MIT Press 2006, eq. 5.12; the book,
//! explanation/leave-one-out.md.

use crate::Data;
use crate::linalg::{self, FactorizationError};
use crate::ridge::triangle_of;
use crate::sums::shift_and_scale;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, concatenate, s};

/// Scaled rows [1 | X_S | added columns | y]: the excluded ones, and the triangle of all others.
#[derive(Debug)]
pub(crate) struct Exclusion {
    /// Excluded rows, in the order given.
    pub places: Vec<usize>,
    /// 1 if the first column is the intercept's, which is not penalized, else 0.
    intercept: usize,
    /// Number of columns of the subset.
    size: usize,
    outputs: usize,
    triangle: Array2<f64>,
    rows: Array2<f64>,
}

/// Fit of an [`Exclusion`] at one λ, possibly without one of the columns.
pub(crate) struct ExclusionFit<'e> {
    excluded: &'e Exclusion,
    lambda: f64,
    /// R⁻ᵀZᵀ: columns × excluded rows.
    p: Array2<f64>,
    /// Transformed added columns and targets, beside R.
    right: Array2<f64>,
    /// Residuals of the excluded rows: rows × outputs.
    e: Array2<f64>,
    /// The triangle of √λ·P on √λ·I.
    triangle: Array2<f64>,
}

/// A scaled column, shifted by one of its entries if there is an intercept: the entry of a row that outweighs all
/// others, else one that leaves zeros where most rows are equal. So a column that is constant but for the excluded rows
/// becomes exactly 0 elsewhere.
fn shift_column(data: &Data<'_>, feature: usize, heaviest: Option<usize>) -> Vec<f64> {
    let (column, shift) = match heaviest {
        Some(row) => {
            let (column, _) = data.column(feature);
            (column, column.get(row))
        }
        None => data.column_from_entry(feature),
    };
    let mut out = vec![0.0; column.len()];
    shift_and_scale(column, shift, data.root(), &mut out);
    out
}

/// Finds the heaviest training row, and whether it weighs more than all other training rows together.
fn heaviest(data: &Data<'_>, excluded: &[usize]) -> Option<(usize, bool)> {
    data.unit.as_ref()?;
    let mut rest = data.targets.weights();
    excluded.iter().for_each(|&row| rest[row] = 0.0);
    let heaviest = (0..rest.len()).max_by(|&a, &b| rest[a].total_cmp(&rest[b]))?;
    Some((heaviest, 2.0 * rest[heaviest] > rest.iter().sum()))
}

/// Whether this many columns can fit every row, so that no 1 − leverage is reliable for every λ.
pub(crate) fn fits_every_row(data: &Data<'_>, columns: usize) -> bool {
    columns + usize::from(data.has_intercept()) >= data.rows()
}

/// Splits rows, in increasing order, so that each group leaves a row to fit the intercept.
pub(crate) fn split_rows(data: &Data<'_>, rows: &[usize]) -> Vec<Vec<usize>> {
    let is_all = rows.len() == data.rows();
    match is_all.then(|| heaviest(data, &[])).flatten() {
        Some((heaviest, _)) => vec![rows.iter().copied().filter(|&row| row != heaviest).collect(), vec![heaviest]],
        None => vec![rows.to_vec()],
    }
}

impl Exclusion {
    /// Reduces all rows but `rows`. Cost O(m·n²) with n columns, memory O(m·n).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn new(data: &Data<'_>, subset: &[usize], added: &[usize], rows: &[usize]) -> Result<Self, FactorizationError> {
        let (intercept, outputs) = (usize::from(data.has_intercept()), data.outputs());
        let before = intercept + subset.len() + added.len();
        let mut all = Array2::zeros((data.rows(), before + outputs));
        let ones = (0..intercept).map(|_| data.ones());
        let about = heaviest(data, rows).and_then(|(row, outweighs)| outweighs.then_some(row));
        let columns = subset.iter().chain(added).map(|&feature| shift_column(data, feature, about));
        for (mut to, from) in all.columns_mut().into_iter().zip(ones.chain(columns).chain(data.centered.clone())) {
            to.assign(&ArrayView1::from(&from));
        }
        let excluded = all.select(Axis(0), rows);
        // A row of zeros adds nothing to the triangle.
        rows.iter().for_each(|&row| all.row_mut(row).fill(0.0));
        let triangle = triangle_of(all.view())?;
        Ok(Exclusion { places: rows.to_vec(), intercept, size: subset.len(), outputs, triangle, rows: excluded })
    }

    /// Fits one λ, optionally without the column at place `removed` of the subset. Cost O(s³ + (s + w)·w²) with w
    /// excluded rows.
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn fit(&self, lambda: f64, removed: Option<usize>) -> Result<ExclusionFit<'_>, FactorizationError> {
        let (root, end, width) = (lambda.sqrt(), self.intercept + self.size, self.rows.ncols());
        let kept: Vec<usize> = (0..end).filter(|&k| removed.is_none_or(|place| k != self.intercept + place)).collect();
        let (size, height) = (kept.len(), self.triangle.nrows());
        let z = self.rows.select(Axis(1), &kept);
        let columns: Vec<usize> = kept.iter().copied().chain(end..width).collect();
        let mut stacked = Array2::zeros((height + size, columns.len()));
        stacked.slice_mut(s![..height, ..]).assign(&self.triangle.select(Axis(1), &columns));
        (self.intercept..size).for_each(|k| stacked[[height + k, k]] = root);
        let reduced = linalg::triangle(stacked.view())?;
        let p = forward(reduced.slice(s![.., ..size]), z.t());
        let right = reduced.slice(s![.., size..]).to_owned();
        let own = right.slice(s![..size, right.ncols() - self.outputs..]);
        let e = &self.rows.slice(s![.., width - self.outputs..]) - &p.t().dot(&own);
        let triangle = linalg::triangle(concatenate![Axis(0), &p * root, Array2::eye(z.nrows()) * root].view())?;
        Ok(ExclusionFit { excluded: self, lambda, p, right, e, triangle })
    }
}

impl ExclusionFit<'_> {
    /// Residuals of the excluded rows, each predicted from all other rows: rows × outputs, scaled. Cost O(w³).
    pub fn left_out(&self) -> Array2<f64> {
        left_out(&self.triangle, &self.e)
    }

    /// Like [`ExclusionFit::left_out`], with the added column at `place`. P gains the row p = (z − Pᵀr)/ρ, where r is
    /// the column's part of R and ρ² = λ + ‖rest‖² below. Cost O(s·w + w³).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn left_out_with(&self, place: usize) -> Result<Array2<f64>, FactorizationError> {
        let Exclusion { intercept, size, outputs, rows, .. } = self.excluded;
        let (above, below) = self.right.view().split_at(Axis(0), self.p.nrows());
        let (rest, targets) = (below.column(place), below.slice(s![.., below.ncols() - outputs..]));
        let rho = (self.lambda + rest.dot(&rest)).sqrt();
        let p = (&rows.column(intercept + size + place) - &self.p.t().dot(&above.column(place))) / rho;
        let step = rest.dot(&targets) / rho;
        let column = p.view().insert_axis(Axis(1));
        let e = &self.e - &column.dot(&step.insert_axis(Axis(0)));
        let stacked = concatenate![Axis(0), self.triangle, (&column * self.lambda.sqrt()).reversed_axes()];
        Ok(left_out(&linalg::triangle(stacked.view())?, &e))
    }
}

/// (M e)_j / M_jj from the triangle R of M⁻¹ = RᵀR.
fn left_out(triangle: &Array2<f64>, e: &Array2<f64>) -> Array2<f64> {
    let inverse = forward(triangle.view(), Array2::eye(triangle.ncols()).view());
    let along = forward(triangle.view(), e.view());
    let diagonal = inverse.map_axis(Axis(0), |column| column.dot(&column));
    inverse.t().dot(&along) / diagonal.insert_axis(Axis(1))
}

/// R⁻ᵀB for a triangle R. Cost O(size²) for each column of B.
fn forward(triangle: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    let mut columns = b.t().as_standard_layout().into_owned();
    // Runs over columns of R, which are contiguous.
    let rows = triangle.t().as_standard_layout().into_owned();
    for mut column in columns.rows_mut() {
        for k in 0..rows.nrows() {
            let known = rows.slice(s![k, ..k]).dot(&column.slice(s![..k]));
            column[k] = (column[k] - known) / rows[[k, k]];
        }
    }
    columns.reversed_axes()
}
