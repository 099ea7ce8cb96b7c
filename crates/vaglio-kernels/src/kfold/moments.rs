//! Moments of every fold: products over its training and held-out rows, centered and scaled by the training rows.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::fold_moments::{FoldMoments, fold_moments};
use super::group_sums::{GroupSums, SIDE, fill_values};
use super::moment_rows::MomentRows;
use super::{FoldedRows, NormalEquations};
use crate::Trial;
use crate::duplicates::first_equal;
use crate::linalg::FactorizationError;
use crate::sums::LANES;
use ndarray::Array2;
use std::sync::Arc;
use vaglio_columns::gather;

/// Moments of every fold: all that ridge losses on held-out rows need of the data.
///
/// For fold v with training rows t: A_t = X_tᵀX_t, B_t = X_tᵀy_t, A_v = X_vᵀX_v, B_v = X_vᵀy_v and c_v = ‖y_v‖². Rows
/// are scaled by √r_j. Columns and targets are centered, and columns standardized, by the training rows of v as
/// requested. Only active columns are included. Memory 16·K·n² bytes.
#[derive(Debug)]
pub struct Moments {
    pub(super) folds: Vec<FoldMoments>,
    /// Lazy rows of A_t and A_v, if folds have the diagonals only.
    rows: Option<MomentRows>,
    /// The active columns, in order.
    pub(super) features: Vec<usize>,
    /// Place of the first column equal to each.
    pub(super) duplicates: Vec<usize>,
    /// Length of a matrix row: the number of active columns, rounded up to a multiple of 8.
    pub(super) stride: usize,
    pub(super) outputs: usize,
    /// Weight of the held-out rows, times the number of outputs.
    divisor: f64,
    /// Loss of the empty subset: the mean of c_v over rows and outputs.
    pub empty: f64,
    /// Products over all rows, if they were summed for the folds. `None` if folds impute or balance, standardize without
    /// an intercept, or have training rows of their own.
    pub normal_equations: Option<Arc<NormalEquations>>,
}

impl Moments {
    /// Computes all moments in one read of the rows. Cost O(m·n² + K·n²).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if products overflow.
    pub fn new(rows: &FoldedRows<'_>) -> Result<Self, FactorizationError> {
        Moments::from_sums(rows, duplicates(rows), &GroupSums::new(rows), None)
    }

    /// Computes the diagonals of A_t and A_v from the entries that columns store; [`Moments::read`] adds other rows on
    /// demand. Requires that no cells are missing. Cost O(entries + K·n), memory 16·K·n bytes for each column read.
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if products overflow.
    pub fn by_columns(rows: &FoldedRows<'_>) -> Result<Self, FactorizationError> {
        let lazy = MomentRows::new(rows);
        let sums = lazy.sums(rows);
        Moments::from_sums(rows, duplicates(rows), &sums, Some(lazy))
    }

    /// Computes the rows of A_t and A_v of some columns, unless present; `rows` are the rows of the moments. Prefetches
    /// some of the `likely` columns if that costs next to nothing. Cost O(entries + K·n) for eight columns.
    pub fn read(&self, rows: &FoldedRows<'_>, columns: &[usize], likely: &[usize]) {
        if let Some(lazy) = &self.rows {
            lazy.read(&self.folds, rows, &self.places(columns), &self.places(likely));
        }
    }

    /// Rows of A_t and A_v of the column at a place.
    pub(super) fn rows(&self, fold: usize, place: usize) -> [&[f64]; 2] {
        match &self.rows {
            Some(lazy) => lazy.rows(fold, place),
            None => {
                let fold_moments = &self.folds[fold];
                [&fold_moments.training, &fold_moments.held_out].map(|all| &all[place * self.stride..][..self.stride])
            }
        }
    }

    /// A_t and A_v restricted to the columns at some places.
    pub(super) fn among(&self, fold: usize, places: &[usize]) -> [Array2<f64>; 2] {
        let rows: Vec<[&[f64]; 2]> = places.iter().map(|&place| self.rows(fold, place)).collect();
        [0, 1].map(|which| Array2::from_shape_fn((places.len(), places.len()), |(i, j)| rows[i][which][places[j]]))
    }

    /// Computes moments from shared `cells` of rows. `folds` gives each cell its fold, or `None` if `rows` has none of
    /// its rows. Both must be centered, scaled and weighted alike, impute nothing, and train on all other folds; losses
    /// must not balance classes. Returns `None` if cells lack columns of `rows`. Cost O(m·n + K·n²).
    ///
    /// Columns that are equal in `rows` get equal moments, even if they differ elsewhere.
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if products overflow.
    pub fn from_cells(
        rows: &FoldedRows<'_>,
        cells: &GroupSums,
        folds: &[Option<usize>],
    ) -> Result<Option<Self>, FactorizationError> {
        let duplicates = duplicates(rows);
        let first = gather(&rows.data.candidates, &duplicates);
        let Some(sums) = cells.fold_sums(rows, &first, folds) else { return Ok(None) };
        Moments::from_sums(rows, duplicates, &sums, None).map(Some)
    }

    /// With `lazy` rows, `sums` lack the products of columns with each other.
    fn from_sums(
        rows: &FoldedRows<'_>,
        duplicates: Vec<usize>,
        sums: &GroupSums,
        lazy: Option<MomentRows>,
    ) -> Result<Self, FactorizationError> {
        let data = &rows.data;
        let (outputs, features) = (data.outputs(), data.candidates.clone());
        let stride = features.len().next_multiple_of(LANES);
        let fills = fill_values(rows);
        let folds = fold_moments(rows, sums, &fills);
        let finite =
            |f: &FoldMoments| f.squares.is_finite() && f.training.iter().chain(&f.held_out).all(|x| x.is_finite());
        if !folds.iter().all(finite) {
            return Err(FactorizationError::NoConvergence);
        }
        let is_whole = rows.folds.train_on_all_others() && rows.folds.is_partition();
        let held_out = if is_whole { data.targets.total_weight } else { held_out_weight(rows) };
        let divisor = held_out * outputs as f64;
        let empty = folds.iter().map(|fold| fold.squares).sum::<f64>() / divisor;
        let is_plain = rows.classes.is_none() && rows.missing.is_empty() && rows.folds.train_on_all_others();
        let intercept = data.has_intercept();
        let normal_equations = (is_plain && lazy.is_none() && (intercept || !rows.standardize)).then(|| {
            let (features, products, side) = (features.clone(), sums.all(), sums.side);
            Arc::new(NormalEquations { features, products, side, outputs, intercept })
        });
        Ok(Moments { folds, rows: lazy, features, duplicates, stride, outputs, divisor, empty, normal_equations })
    }

    /// Bytes of the moments of `folds` folds and `columns` active columns, without each thread's products of a chunk of
    /// rows. `parts` counts the classes with rows in a fold, over all folds, if classes have weights of their own; each
    /// needs the products of `side` columns, masks and targets.
    pub fn bytes(folds: usize, parts: usize, columns: usize, side: usize) -> usize {
        // The moments, and the products they are computed from.
        let (moments, side) = (2 * folds * columns * columns.next_multiple_of(LANES), side.next_multiple_of(SIDE));
        (moments + (parts + 1) * side * side) * size_of::<f64>()
    }

    /// Whether rows of A_t and A_v are computed lazily.
    pub fn are_by_columns(&self) -> bool {
        self.rows.is_some()
    }

    /// Trial of a subset: the mean of its squared errors over rows and outputs, from their `sum`.
    pub fn trial(&self, sum: f64, conditioning: f64) -> Trial {
        Trial::from_difference(sum / self.divisor, conditioning, self.empty)
    }

    /// Index of an active column.
    pub(super) fn place(&self, feature: usize) -> Option<usize> {
        self.features.binary_search(&feature).ok()
    }

    pub(super) fn places(&self, subset: &[usize]) -> Vec<usize> {
        subset.iter().filter_map(|&feature| self.place(feature)).collect()
    }
}

/// Weight of the held-out rows.
fn held_out_weight(rows: &FoldedRows<'_>) -> f64 {
    let weight = |fold: usize| rows.folds.held_out(fold).iter().map(|&row| rows.data.targets.weight(row)).sum::<f64>();
    (0..rows.folds.count_held_out()).map(weight).sum()
}

/// Place of the first active column equal to each.
fn duplicates(rows: &FoldedRows<'_>) -> Vec<usize> {
    let features = &rows.data.candidates;
    let first = first_equal(&features.iter().map(|&feature| rows.data.column(feature).0).collect::<Vec<_>>());
    if rows.missing.is_empty() {
        return first;
    }
    // Equal columns are imputed equally if their missing cells are equal.
    let alike =
        |a: usize, b: usize| first[a] == first[b] && rows.missing_cells(features[a]) == rows.missing_cells(features[b]);
    (0..features.len()).map(|place| (first[place]..place).find(|&other| alike(other, place)).unwrap_or(place)).collect()
}
