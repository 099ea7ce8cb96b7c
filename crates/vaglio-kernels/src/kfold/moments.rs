//! Moments of every fold: products over its training rows and the rows held out, centered and scaled by the former.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::centering::{Centering, MomentSource, ProductLayout, rounding};
use super::gram::SIDE;
use super::imputation::Imputation;
use super::moment_rows::{GroupedEntries, MomentRows};
use super::products::{FoldSums, sums};
use super::training::{Totals, range, ranges};
use super::{Cells, FoldedRows};
use crate::duplicates::first_equal;
use crate::linalg::Failure;
use crate::normal_equations::NormalEquations;
use crate::parallel;
use crate::sums::LANES;
use crate::wide::Wide;
use ndarray::Array2;

/// The moments of every fold: all that ridge losses on held-out rows need of the data.
///
/// For fold v with training rows t: A_t = X_tᵀX_t, B_t = X_tᵀy_t, A_v = X_vᵀX_v, B_v = X_vᵀy_v and c_v = ‖y_v‖², rows
/// scaled by √r_j, and columns and targets centered and columns standardized by the training rows of v as asked. Only
/// active columns are in. Memory 16·K·n² bytes.
#[derive(Debug)]
pub struct Moments {
    pub(super) level: crate::Level,
    pub(super) folds: Vec<FoldMoments>,
    /// What makes rows of A_t and A_v, where folds have no more than the diagonals.
    rows: Option<MomentRows>,
    /// The active columns, in order.
    features: Vec<usize>,
    /// The place of every column among the active ones.
    places: Vec<Option<usize>>,
    /// The first of the columns equal to each, by place.
    pub(super) duplicates: Vec<usize>,
    /// Length of a row of a matrix: the number of active columns, filled up to a multiple of 8.
    pub(super) stride: usize,
    pub(super) outputs: usize,
    divisor: f64,
    normal_equations: Option<NormalEquations>,
    /// Whether losses count classes alike.
    counts_classes_alike: bool,
}

/// The moments of one fold; matrices are symmetric, rows one after the other.
#[derive(Debug)]
pub(super) struct FoldMoments {
    /// A_t and A_v: columns × stride, or no more than their diagonals.
    pub training: Vec<f64>,
    pub held_out: Vec<f64>,
    /// How far apart the entries of a diagonal stand.
    pub apart: usize,
    /// B_t and B_v: outputs × stride.
    pub training_targets: Vec<f64>,
    pub held_out_targets: Vec<f64>,
    /// c_v, added up over outputs.
    pub squares: f64,
    /// What (A_t)_ii is a difference from: the digits of a Schur diagonal are counted from here.
    pub scale: Vec<f64>,
}

impl Moments {
    /// Columns that a pass over all columns makes the rows of A_t and A_v of, where they are made column by column.
    pub const AT_ONCE: usize = Wide::WIDTH;
    /// Bytes of such rows beyond which none are made that were not asked for.
    pub const READ_AHEAD: usize = 1 << 24;

    /// Reads the rows once. Cost O(m·n² + K·n²).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when products overflow.
    pub fn new(rows: &FoldedRows<'_>) -> Result<Self, Failure> {
        let features = rows.active();
        let duplicates = duplicates(rows, &features);
        let folds = rows.folds.blocks().map_or(&rows.folds, |blocks| &blocks.rows);
        let (sums, side) = sums(rows, folds, &features);
        Moments::of_sums(rows, features, duplicates, &sums, side, None)
    }

    /// The same from the entries that columns store: of A_t and A_v the diagonals, and other rows when [`Moments::read`] asks
    /// for them. No cells are missing. Cost O(entries + K·n), memory 16·K·n bytes for each column that is read.
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when products overflow.
    pub fn by_columns(rows: &FoldedRows<'_>) -> Result<Self, Failure> {
        let features = rows.active();
        let duplicates = duplicates(rows, &features);
        let entries = GroupedEntries::new(rows, &features);
        let (sums, side) = entries.sums(rows, &features);
        Moments::of_sums(rows, features, duplicates, &sums, side, Some(entries))
    }

    /// Makes the rows of A_t and A_v of some columns, unless they are there; `rows` are those of the moments. Cost O(entries +
    /// K·n) for eight of them.
    pub fn read(&self, rows: &FoldedRows<'_>, columns: &[usize]) {
        self.read_ahead(rows, columns, &[]);
    }

    /// The same, and of some of the columns that are `likely` to be asked for next, where that costs next to nothing.
    pub fn read_ahead(&self, rows: &FoldedRows<'_>, columns: &[usize], likely: &[usize]) {
        if let Some(made) = &self.rows {
            made.read(rows, &self.features, &self.places(columns), &self.places(likely));
        }
    }

    /// The rows of A_t and A_v of the column at a place.
    pub(super) fn rows(&self, fold: usize, place: usize) -> [&[f64]; 2] {
        match &self.rows {
            Some(made) => made.rows(fold, place),
            None => {
                let of_fold = &self.folds[fold];
                [&of_fold.training, &of_fold.held_out].map(|all| &all[place * self.stride..][..self.stride])
            }
        }
    }

    /// A_t and A_v of the columns at some places.
    pub(super) fn among(&self, fold: usize, places: &[usize]) -> [Array2<f64>; 2] {
        let rows: Vec<[&[f64]; 2]> = places.iter().map(|&place| self.rows(fold, place)).collect();
        [0, 1].map(|which| Array2::from_shape_fn((places.len(), places.len()), |(i, j)| rows[i][which][places[j]]))
    }

    /// The same from `cells` of rows of which `rows` has some: `folds` gives each cell its fold, or none where none of its
    /// rows are there. `None` where `rows` are centered or scaled otherwise, or have other columns. Cost O(m·n + K·n²).
    ///
    /// Columns that are equal in `rows` have equal moments, whatever they are elsewhere.
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when products overflow.
    pub fn of_cells(rows: &FoldedRows<'_>, cells: &Cells, folds: &[Option<usize>]) -> Result<Option<Self>, Failure> {
        if !rows.missing.is_empty() || !rows.folds.is_of_others() {
            return Ok(None);
        }
        let features = rows.active();
        let duplicates = duplicates(rows, &features);
        let first: Vec<usize> = duplicates.iter().map(|&place| features[place]).collect();
        let Some((sums, side)) = cells.folded(rows, &first, folds) else { return Ok(None) };
        Moments::of_sums(rows, features, duplicates, &sums, side, None).map(Some)
    }

    /// With `entries`, `sums` are without the products of columns with each other.
    fn of_sums(
        rows: &FoldedRows<'_>,
        features: Vec<usize>,
        duplicates: Vec<usize>,
        sums: &[Vec<FoldSums>],
        side: usize,
        entries: Option<GroupedEntries>,
    ) -> Result<Self, Failure> {
        let data = &rows.data;
        let (outputs, columns) = (data.outputs(), features.len());
        let stride = columns.next_multiple_of(LANES);
        let imputed = Imputation::new(rows, &features, side);
        let blocks = rows.folds.blocks();
        let layout = ProductLayout { columns, side, is_whole: entries.is_none() };
        let weight = rows.classes.as_ref().map(|_| layout.at(imputed.ones(), imputed.ones()));
        let totals = Totals::new(sums, layout.len(), weight, rows.scored.as_ref().map(|(_, shares)| &shares[..]));
        let whole = MomentSource {
            rows,
            imputed: &imputed,
            layout: ProductLayout { side: imputed.side(), ..layout },
            stride,
            outputs,
            ranges: match blocks {
                Some(blocks) => blocks.training.iter().map(|some| range(sums, some.iter().copied())).collect(),
                None => ranges(sums),
            },
            rounding: features.iter().map(|&feature| rounding(rows, feature)).collect(),
        };
        let count = blocks.map_or(sums.len(), |blocks| blocks.training.len());
        let fold = |k: usize| whole.fold(k, totals.of_fold(sums, blocks, k));
        let (folds, centering): (Vec<FoldMoments>, Vec<Centering>) = parallel::map(count, fold).into_iter().unzip();
        let finite =
            |f: &FoldMoments| f.squares.is_finite() && f.training.iter().chain(&f.held_out).all(|x| x.is_finite());
        if !folds.iter().all(finite) {
            return Err(Failure::NoConvergence);
        }
        let weight = |fold: usize| rows.folds.held_out(fold).iter().map(|&row| rows.targets().weight(row)).sum::<f64>();
        let held_out = match blocks {
            Some(_) => (0..count).map(weight).sum(),
            None => data.targets().total_weight,
        };
        let divisor = held_out * outputs as f64;
        let places = rows.places();
        let is_plain = rows.classes.is_none() && rows.missing.is_empty() && rows.folds.is_of_others();
        let normal_equations = (is_plain && layout.is_whole && (rows.intercept || !rows.standardize))
            .then(|| NormalEquations::from_products(features.clone(), totals.all(), side, outputs, rows.intercept));
        Ok(Moments {
            level: data.level,
            folds,
            rows: entries.map(|entries| MomentRows::new(entries, centering, stride)),
            features,
            places,
            duplicates,
            stride,
            outputs,
            divisor,
            normal_equations,
            counts_classes_alike: rows.scores_classes_alike(),
        })
    }

    /// The same with the first `count` folds held out alone, the others being trained on in every one of them.
    #[must_use]
    pub fn holding_out(mut self, rows: &FoldedRows<'_>, count: usize) -> Self {
        if count >= self.folds.len() {
            return self;
        }
        self.folds.truncate(count);
        let weight = |fold: usize| rows.folds.held_out(fold).iter().map(|&row| rows.targets().weight(row)).sum::<f64>();
        self.divisor = (0..self.folds.len()).map(weight).sum::<f64>() * self.outputs as f64;
        self
    }

    /// The products over all rows, where they were added up for the folds: not of columns that folds impute or, without an
    /// intercept, standardize, nor of balanced classes or folds that are trained on rows of their own.
    pub fn normal_equations(&self) -> Option<&NormalEquations> {
        self.normal_equations.as_ref()
    }

    /// Bytes that the moments of `folds` folds and `columns` active columns need, without the products of a chunk of
    /// rows on each thread; `parts` is how many classes with weights of their own have rows in a fold, over all folds, each
    /// with the products of `side` columns, masks and targets.
    pub fn bytes(folds: usize, parts: usize, columns: usize, side: usize) -> usize {
        // What is made of the products, and these.
        let (made, side) = (2 * folds * columns * columns.next_multiple_of(LANES), side.next_multiple_of(SIDE));
        (made + (parts + 1) * side * side) * size_of::<f64>()
    }

    /// Whether losses are those of [`FoldedRows::scoring`].
    pub fn counts_classes_alike(&self) -> bool {
        self.counts_classes_alike
    }

    /// Whether rows of A_t and A_v are made when they are asked for.
    pub fn are_by_columns(&self) -> bool {
        self.rows.is_some()
    }

    /// Number of folds, K.
    pub fn folds(&self) -> usize {
        self.folds.len()
    }

    /// The active columns, in order.
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// The mean over rows and outputs, from a sum of squared errors.
    pub fn mean_of(&self, sum: f64) -> f64 {
        sum / self.divisor
    }

    /// Σ c_v: the sum of squared errors of the empty subset.
    pub fn squares(&self) -> f64 {
        self.folds.iter().map(|fold| fold.squares).sum()
    }

    /// Where an active column stands.
    pub(super) fn place(&self, feature: usize) -> Option<usize> {
        self.places.get(feature).copied().flatten()
    }

    pub(super) fn places(&self, subset: &[usize]) -> Vec<usize> {
        subset.iter().filter_map(|&feature| self.place(feature)).collect()
    }
}

/// The first of the columns equal to each, by place.
fn duplicates(rows: &FoldedRows<'_>, features: &[usize]) -> Vec<usize> {
    let first = first_equal(&features.iter().map(|&feature| rows.data.column(feature).0).collect::<Vec<_>>());
    if rows.missing.is_empty() {
        return first;
    }
    // What fills equal columns is equal if their missing cells are.
    let alike =
        |a: usize, b: usize| first[a] == first[b] && rows.missing.of(features[a]) == rows.missing.of(features[b]);
    (0..features.len()).map(|place| (first[place]..place).find(|&other| alike(other, place)).unwrap_or(place)).collect()
}
