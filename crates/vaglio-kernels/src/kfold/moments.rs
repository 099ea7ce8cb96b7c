//! Moments of every fold: products over its training rows and the rows held out, centered and scaled by the former.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::gram::SIDE;
use super::imputation::Imputation;
use super::products::{FoldSums, sums};
use super::training::{Split, Totals, range, ranges};
use super::{Cells, FoldedRows};
use crate::duplicates::first_equal;
use crate::linalg::Failure;
use crate::normal_equations::NormalEquations;
use crate::sums::LANES;
use rayon::prelude::*;

/// The moments of every fold: all that ridge losses on held-out rows need of the data.
///
/// For fold v with training rows t: A_t = X_tᵀX_t, B_t = X_tᵀy_t, A_v = X_vᵀX_v, B_v = X_vᵀy_v and c_v = ‖y_v‖², rows
/// scaled by √r_j, and columns and targets centered and columns standardized by the training rows of v as asked. Only
/// active columns are in. Memory 16·K·n² bytes.
#[derive(Debug)]
pub struct Moments {
    pub(super) level: crate::Level,
    pub(super) folds: Vec<FoldMoments>,
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
    /// A_t and A_v: columns × stride.
    pub training: Vec<f64>,
    pub held_out: Vec<f64>,
    /// B_t and B_v: outputs × stride.
    pub training_targets: Vec<f64>,
    pub held_out_targets: Vec<f64>,
    /// c_v, added up over outputs.
    pub squares: f64,
    /// What (A_t)_ii is a difference from: the digits of a Schur diagonal are counted from here.
    pub scale: Vec<f64>,
}

impl Moments {
    /// Reads the rows once. Cost O(m·n² + K·n²).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when products overflow; [`Failure::Stopped`].
    pub fn new(rows: &FoldedRows<'_>) -> Result<Self, Failure> {
        let features = rows.active();
        let duplicates = duplicates(rows, &features);
        let folds = rows.folds.blocks().map_or(&rows.folds, |blocks| &blocks.rows);
        let (sums, side) = sums(rows, folds, &features)?;
        Moments::of_sums(rows, features, duplicates, &sums, side)
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
        Moments::of_sums(rows, features, duplicates, &sums, side).map(Some)
    }

    fn of_sums(
        rows: &FoldedRows<'_>,
        features: Vec<usize>,
        duplicates: Vec<usize>,
        sums: &[Vec<FoldSums>],
        side: usize,
    ) -> Result<Self, Failure> {
        let data = &rows.data;
        let (outputs, columns) = (data.outputs(), features.len());
        let stride = columns.next_multiple_of(LANES);
        let imputed = Imputation::new(rows, &features, side);
        let blocks = rows.folds.blocks();
        let weight = rows.classes.as_ref().map(|_| imputed.ones() * (side + 1));
        let totals = Totals::new(sums, side, weight, rows.scored.as_ref().map(|(_, shares)| &shares[..]));
        let whole = MomentSource {
            rows,
            imputed: &imputed,
            side: imputed.side(),
            columns,
            stride,
            outputs,
            ranges: match blocks {
                Some(blocks) => blocks.training.iter().map(|some| range(sums, some.iter().copied())).collect(),
                None => ranges(sums),
            },
            rounding: features.iter().map(|&feature| rounding(rows, feature)).collect(),
        };
        let split = |k: usize| match blocks {
            Some(blocks) => {
                let of = |some: &[usize]| some.iter().map(|&block| &sums[block][..]).collect::<Vec<_>>();
                totals.split_of(&of(&blocks.training[k]), &of(&blocks.held_out[k]))
            }
            None => totals.split(&sums[k]),
        };
        let count = blocks.map_or(sums.len(), |blocks| blocks.training.len());
        let folds: Vec<FoldMoments> = (0..count).into_par_iter().map(|k| whole.fold(k, split(k))).collect();
        let finite =
            |f: &FoldMoments| f.squares.is_finite() && f.training.iter().chain(&f.held_out).all(|x| x.is_finite());
        if !folds.par_iter().all(finite) {
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
        let normal_equations = (is_plain && (rows.intercept || !rows.standardize))
            .then(|| NormalEquations::from_products(features.clone(), totals.all(), side, outputs, rows.intercept));
        Ok(Moments {
            level: data.level,
            folds,
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

/// What the moments of all folds are made with.
struct MomentSource<'w> {
    rows: &'w FoldedRows<'w>,
    imputed: &'w Imputation,
    side: usize,
    columns: usize,
    stride: usize,
    outputs: usize,
    ranges: Vec<Vec<(f64, f64)>>,
    /// By how much the entries of a column may differ that count as constant.
    rounding: Vec<f64>,
}

/// Only what is divided by its deviation is constant where it is so but for rounding.
fn rounding(rows: &FoldedRows<'_>, feature: usize) -> f64 {
    if rows.standardize { rows.data.column(feature).0.rounding() } else { 0.0 }
}

/// What centering and standardizing need of one fold v with training rows t.
///
/// With μ_i the mean of column i over t, d_i its deviation there, sums σ_i = Σ_v x_i over the rows held out and n_t, n_v the
/// weights of both, the centered moments follow from the sums of products alone:
///
///   (A_t)_ij = (Σ_t x_i x_j − n_t·μ_i μ_j)/(d_i d_j),
///   (A_v)_ij = (Σ_v x_i x_j − σ_i μ_j − μ_i σ_j + n_v·μ_i μ_j)/(d_i d_j),
///
/// the first because Σ_t x_i = n_t·μ_i. Targets have means of their own and no deviation; Σ_t (x_i − μ_i) = 0, so
/// (B_t)_i = (Σ_t x_i y − μ_i·Σ_t y)/d_i.
struct Centering {
    means: Vec<f64>,
    /// One over the standard deviation.
    inverse: Vec<f64>,
    /// Columns that are 0 in training.
    constant: Vec<bool>,
    target_means: Vec<f64>,
    sums: Vec<f64>,
    target_sums: Vec<f64>,
    /// Sums of the targets over the training rows.
    training_sums: Vec<f64>,
    weight: f64,
    held_out_weight: f64,
}

impl MomentSource<'_> {
    fn fold(&self, fold: usize, split: Split) -> FoldMoments {
        let (n, stride, side) = (self.columns, self.stride, self.side);
        let Split { training, held_out, from } = self.imputed.filled(split, &self.ranges[fold]);
        let centering = self.centering(fold, &training, &held_out);
        let mut out = FoldMoments {
            training: vec![0.0; n * stride],
            held_out: vec![0.0; n * stride],
            training_targets: vec![0.0; self.outputs * stride],
            held_out_targets: vec![0.0; self.outputs * stride],
            squares: 0.0,
            scale: vec![0.0; stride],
        };
        for i in 0..n {
            for j in 0..=i {
                let (training, held) = centering.columns(i, j, training[i * side + j], held_out[i * side + j]);
                (out.training[i * stride + j], out.held_out[i * stride + j]) = (training, held);
            }
            if !centering.constant[i] {
                out.scale[i] = from[i * side + i] * (centering.inverse[i] * centering.inverse[i]);
            }
        }
        mirror(&mut out.training, n, stride);
        mirror(&mut out.held_out, n, stride);
        for o in 0..self.outputs {
            let row = (n + o) * side;
            for i in 0..n {
                let (training, held) = centering.targets(i, o, training[row + i], held_out[row + i]);
                out.training_targets[o * stride + i] = training;
                out.held_out_targets[o * stride + i] = held;
            }
            let mean = centering.target_means[o];
            out.squares +=
                held_out[row + n + o] - 2.0 * mean * centering.target_sums[o] + centering.held_out_weight * mean * mean;
        }
        out
    }

    fn centering(&self, fold: usize, training: &[f64], held_out: &[f64]) -> Centering {
        let (n, side) = (self.columns, self.side);
        let ones = (n + self.outputs) * side;
        let last = ones + n + self.outputs;
        let (weight, held_out_weight) = (training[last], held_out[last]);
        let (intercept, standardize) = (self.rows.intercept, self.rows.standardize);
        let centered = (intercept || standardize) && weight > 0.0;
        let mut centering = Centering {
            means: vec![0.0; n],
            inverse: vec![1.0; n],
            constant: vec![false; n],
            target_means: vec![0.0; self.outputs],
            sums: held_out[ones..ones + n].to_vec(),
            target_sums: held_out[ones + n..last].to_vec(),
            training_sums: training[ones + n..last].to_vec(),
            weight,
            held_out_weight,
        };
        for i in (0..n).filter(|_| centered) {
            let mean = training[ones + i] / weight;
            let (least, greatest) = self.ranges[fold][i];
            centering.means[i] = mean;
            centering.constant[i] = greatest - least <= self.rounding[i];
            let at = i * side + i;
            let variance = (training[at] - weight * (mean * mean)) / weight;
            if standardize && !centering.constant[i] && variance > 0.0 {
                centering.inverse[i] = 1.0 / variance.sqrt();
            }
        }
        if intercept && weight > 0.0 {
            for o in 0..self.outputs {
                centering.target_means[o] = centering.training_sums[o] / weight;
            }
        }
        centering
    }
}

impl Centering {
    /// The entries of A_t and A_v, centered and scaled, from those of the training and held-out rows as they are.
    fn columns(&self, i: usize, j: usize, training: f64, held: f64) -> (f64, f64) {
        let scale = self.inverse[i] * self.inverse[j];
        let (a, b) = (self.means[i], self.means[j]);
        let cross = self.sums[i] * b + a * self.sums[j];
        let held = (held - cross + self.held_out_weight * (a * b)) * scale;
        if self.constant[i] || self.constant[j] {
            return (0.0, held);
        }
        ((training - self.weight * (a * b)) * scale, held)
    }

    /// The entries of B_t and B_v.
    fn targets(&self, i: usize, o: usize, training: f64, held: f64) -> (f64, f64) {
        let (a, b, scale) = (self.means[i], self.target_means[o], self.inverse[i]);
        let held = (held - (self.sums[i] * b + a * self.target_sums[o]) + self.held_out_weight * (a * b)) * scale;
        if self.constant[i] {
            return (0.0, held);
        }
        // The rows of a centered column add up to 0, so the mean of the targets takes nothing off.
        ((training - a * self.training_sums[o]) * scale, held)
    }
}

/// Mirrors what is below the diagonal, in blocks that stay in cache.
fn mirror(matrix: &mut [f64], n: usize, stride: usize) {
    const BLOCK: usize = 32;
    for i_block in (0..n).step_by(BLOCK) {
        for j_block in (0..=i_block).step_by(BLOCK) {
            for j in j_block..n.min(j_block + BLOCK) {
                for i in i_block.max(j + 1)..n.min(i_block + BLOCK) {
                    matrix[j * stride + i] = matrix[i * stride + j];
                }
            }
        }
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
