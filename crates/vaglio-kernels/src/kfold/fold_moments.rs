//! Moments of a fold: its products are split into training and held-out rows, imputed, centered and scaled.
//!
//! Training products are A_t = ΣA − A_v, by class if training balances classes.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::FoldedRows;
use super::group_sums::GroupSums;
use super::rows::ValueRange;
use crate::parallel;
use crate::sums::{LANES, axpy};
use crate::tolerance::FEW_DIGITS;
use std::sync::OnceLock;
use vaglio_columns::get_or_make;

/// Moments of each held-out fold. `fills` has the places of columns with missing cells, and the value in these cells.
pub(super) fn fold_moments(rows: &FoldedRows<'_>, sums: &GroupSums, fills: &[(usize, f64)]) -> Vec<FoldMoments> {
    let (features, row_blocks) = (&rows.data.candidates, rows.blocks().fold_of_rows());
    // Range of entries up to which a column counts as constant.
    let rounding = |&f: &usize| if rows.standardize { rows.data.column(f).0.rounding() } else { 0.0 };
    let rounding: Vec<f64> = features.iter().map(rounding).collect();
    let ranges: Vec<OnceLock<Vec<ValueRange>>> = features.iter().map(|_| OnceLock::new()).collect();
    let ranges_of = |place: usize| get_or_make(&ranges[place], || rows.training_ranges(features[place], &row_blocks));
    // Every fold needs the ranges of columns with missing cells, so they are computed before, on all threads.
    parallel::map_slice(fills, |&(place, _)| _ = ranges_of(place));
    parallel::map(rows.folds.count_held_out(), |fold| {
        let mut products = sums.split_fold(rows, fold);
        if !fills.is_empty() {
            let ones = features.len() + fills.len() + rows.data.outputs();
            products = impute(products, sums, fills, |place| ranges_of(place)[fold], ones);
        }
        FoldMoments::new(rows, sums, &products, |place, variance, minuend| {
            // Columns are read again only if their variance may be rounding. Imputation rounds relative to what cells
            // held.
            let may_be_flat = variance <= rounding[place].powi(2)
                || variance <= FEW_DIGITS * minuend
                || rows.missing_cells(features[place]).is_some();
            may_be_flat && {
                let (least, greatest) = ranges_of(place)[fold];
                greatest - least <= rounding[place]
            }
        })
    })
}

/// Moments of one fold v with training rows t, centered and standardized by t. Matrices are symmetric, row-major.
///
/// With μ_i the mean of column i over t, d_i its deviation there, σ_i = Σ_v x_i the sum over the held-out rows and n_t,
/// n_v the weights of both, the moments follow from the sums of products alone:
///
/// (A_t)_ij = (Σ_t x_i x_j − n_t·μ_i μ_j)/(d_i d_j), (A_v)_ij = (Σ_v x_i x_j − σ_i μ_j − μ_i σ_j + n_v·μ_i μ_j)/(d_i
/// d_j).
///
/// The first holds because Σ_t x_i = n_t·μ_i. Targets follow the columns, with their own means and no deviation; Σ_t
/// (x_i − μ_i) = 0, so (B_t)_i = (Σ_t x_i y − μ_i·Σ_t y)/d_i.
#[derive(Debug)]
pub(super) struct FoldMoments {
    /// A_t and A_v: columns × stride, or their diagonals only.
    pub training: Vec<f64>,
    pub held_out: Vec<f64>,
    /// Distance of consecutive diagonal entries.
    pub diagonal_stride: usize,
    /// B_t and B_v: outputs × stride.
    pub training_targets: Vec<f64>,
    pub held_out_targets: Vec<f64>,
    /// c_v, summed over outputs.
    pub squares: f64,
    /// The minuend of (A_t)_ii, relative to which the digits of a Schur complement are judged.
    pub scale: Vec<f64>,
    means: Vec<f64>,
    /// Inverse of the standard deviation.
    inverse: Vec<f64>,
    /// Columns that are 0 in training.
    constant: Vec<bool>,
    sums: Vec<f64>,
    /// Sums of the targets over the training rows.
    training_sums: Vec<f64>,
    weight: f64,
    held_out_weight: f64,
}

impl FoldMoments {
    /// Moments from the products of [`GroupSums::split_fold`]. `is_flat` says whether a column is constant in training,
    /// given its variance there and the minuend of this difference.
    fn new(
        rows: &FoldedRows<'_>,
        sums: &GroupSums,
        products: &[Vec<f64>; 3],
        is_flat: impl Fn(usize, f64, f64) -> bool,
    ) -> FoldMoments {
        let mut out = FoldMoments::with_means(rows, sums, products, is_flat);
        let [training, held_out, from] = products;
        let (n, stride, outputs) = (sums.features.len(), out.scale.len(), rows.data.outputs());
        for i in 0..n {
            for j in if sums.is_whole { 0..i + 1 } else { i..i + 1 } {
                let (from, to) = (sums.at(i, j), i * out.diagonal_stride - if sums.is_whole { i - j } else { 0 });
                (out.training[to], out.held_out[to]) = out.entries(i, j, training[from], held_out[from]);
            }
            if !out.constant[i] {
                out.scale[i] = from[sums.at(i, i)] * (out.inverse[i] * out.inverse[i]);
            }
        }
        if sums.is_whole {
            mirror(&mut out.training, n, stride);
            mirror(&mut out.held_out, n, stride);
        }
        for o in 0..outputs {
            for i in 0..n {
                let (from, to) = (sums.at(n + o, i), o * stride + i);
                (out.training_targets[to], out.held_out_targets[to]) =
                    out.entries(i, n + o, training[from], held_out[from]);
            }
            let mean = out.means[n + o];
            out.squares +=
                held_out[sums.at(n + o, n + o)] - 2.0 * mean * out.sums[n + o] + out.held_out_weight * mean * mean;
        }
        out
    }

    /// Means, deviations and sums of a fold, without moments.
    fn with_means(
        rows: &FoldedRows<'_>,
        sums: &GroupSums,
        [training, held_out, from]: &[Vec<f64>; 3],
        is_flat: impl Fn(usize, f64, f64) -> bool,
    ) -> FoldMoments {
        let (n, stride, outputs) =
            (sums.features.len(), sums.features.len().next_multiple_of(LANES), rows.data.outputs());
        let (size, diagonal_stride) = if sums.is_whole { (n * stride, stride + 1) } else { (stride, 1) };
        let ones = sums.at(n + outputs, 0);
        let (all, last) = (n + outputs, ones + n + outputs);
        let weight = training[last];
        let mut out = FoldMoments {
            training: vec![0.0; size],
            held_out: vec![0.0; size],
            diagonal_stride,
            training_targets: vec![0.0; outputs * stride],
            held_out_targets: vec![0.0; outputs * stride],
            squares: 0.0,
            scale: vec![0.0; stride],
            means: vec![0.0; all],
            inverse: vec![1.0; all],
            constant: vec![false; all],
            sums: held_out[ones..last].to_vec(),
            training_sums: training[ones + n..last].to_vec(),
            weight,
            held_out_weight: held_out[last],
        };
        let is_centered = (rows.data.has_intercept() || rows.standardize) && weight > 0.0;
        for i in (0..n).filter(|_| is_centered) {
            let mean = training[ones + i] / weight;
            let variance = (training[sums.at(i, i)] - weight * (mean * mean)) / weight;
            (out.means[i], out.constant[i]) = (mean, is_flat(i, variance, from[sums.at(i, i)] / weight));
            if rows.standardize && !out.constant[i] && variance > 0.0 {
                out.inverse[i] = 1.0 / variance.sqrt();
            }
        }
        if rows.data.has_intercept() && weight > 0.0 {
            for o in 0..outputs {
                out.means[n + o] = out.training_sums[o] / weight;
            }
        }
        out
    }

    /// Centered and scaled entries of A_t and A_v from the raw training and held-out products; for a target j, entries
    /// of B_t and B_v.
    pub fn entries(&self, i: usize, j: usize, training: f64, held: f64) -> (f64, f64) {
        let scale = self.inverse[i] * self.inverse[j];
        let (a, b) = (self.means[i], self.means[j]);
        let cross = self.sums[i] * b + a * self.sums[j];
        let held = (held - cross + self.held_out_weight * (a * b)) * scale;
        if self.constant[i] || self.constant[j] {
            return (0.0, held);
        }
        let lost = match j.checked_sub(self.means.len() - self.training_sums.len()) {
            // The rows of a centered column sum to 0, so the targets' mean has no effect.
            Some(output) => a * self.training_sums[output],
            None => self.weight * (a * b),
        };
        ((training - lost) * scale, held)
    }
}

/// Imputes the missing cells of one fold by training means. Cost O(n²).
///
/// Let x be a column that holds f in its missing cells, and M their indicator. The other cells have the mean μ in the
/// training rows. The imputed column is x + (μ − f)M, so every product with it follows from products with x and M. The
/// book, *Cross-validation without refitting*, "Missing cells". `ones` is the index of the ones-vector after the masks.
fn impute(
    products: [Vec<f64>; 3],
    sums: &GroupSums,
    fills: &[(usize, f64)],
    range: impl Fn(usize) -> ValueRange,
    ones: usize,
) -> [Vec<f64>; 3] {
    let at = |a: usize, b: usize| products[0][a.max(b) * sums.side + a.min(b)];
    let change = |(k, &(place, fill)): (usize, &(usize, f64))| {
        let mask = sums.features.len() + k;
        let (least, greatest) = range(place);
        let total = at(ones, ones) - at(ones, mask);
        // Without other cells there is no mean, and nothing changes.
        let is_unknown = least > greatest || total <= 0.0;
        (place, if is_unknown { 0.0 } else { (at(ones, place) - at(mask, place)) / total - fill })
    };
    let changes: Vec<(usize, f64)> = fills.iter().enumerate().map(change).collect();
    products.map(|products| imputed_products(&products, sums, &changes, ones))
}

/// Products of the columns after adding `changes`, by place, to their missing cells.
fn imputed_products(products: &[f64], sums: &GroupSums, changes: &[(usize, f64)], ones: usize) -> Vec<f64> {
    let (columns, side) = (sums.features.len(), sums.side);
    let at = |a: usize, b: usize| products[a.max(b) * side + a.min(b)];
    let mut masks = vec![None; columns];
    for (k, &(place, change)) in changes.iter().enumerate() {
        masks[place] = Some((columns + k, change));
    }
    let kept: Vec<(usize, Option<(usize, f64)>)> = (0..columns)
        .map(|place| (place, masks[place]))
        .chain((columns + changes.len()..=ones).map(|place| (place, None)))
        .collect();
    let mut out = vec![0.0; side * side];
    for (i, &(a, mask_a)) in kept.iter().enumerate() {
        for (j, &(b, mask_b)) in kept[..=i].iter().enumerate() {
            let mut sum = at(a, b);
            if let Some((mask, change)) = mask_a {
                sum += change * at(mask, b);
            }
            if let Some((mask, change)) = mask_b {
                sum += change * at(mask, a);
            }
            if let (Some((x, by_x)), Some((y, by_y))) = (mask_a, mask_b) {
                sum += by_x * by_y * at(x, y);
            }
            out[i * side + j] = sum;
        }
    }
    out
}

impl GroupSums {
    /// Products over no rows.
    fn no_products(&self) -> Vec<f64> {
        vec![0.0; self.totals.first().map_or(0, Vec::len)]
    }

    /// Products over all rows.
    pub(super) fn all(&self) -> Vec<f64> {
        let mut all = self.no_products();
        self.totals.iter().for_each(|total| axpy(1.0, total, &mut all));
        all
    }

    /// Products of a fold, in this order: of training rows with their training weights; of held-out rows with their loss
    /// weights; minuends of the training products. Training products are differences from all rows, or sums of blocks.
    pub(super) fn split_fold(&self, rows: &FoldedRows<'_>, fold: usize) -> [Vec<f64>; 3] {
        let (groups, folds) = (&self.products, &rows.folds);
        if folds.train_on_all_others() {
            return self.split(rows, &groups[fold]);
        }
        let sums_of = |some: &[usize]| some.iter().map(|&block| &groups[block][..]).collect::<Vec<_>>();
        let training = self.sum(rows, &sums_of(&folds.training_blocks[fold]));
        [training.clone(), self.weigh_held_out(rows, &sums_of(&folds.held_out_blocks[fold])), training]
    }

    /// If balanced, the training products are Σ_c (S_c − S_{c,v})/(n_c − n_{c,v}), with n the weights of the rows.
    fn split(&self, rows: &FoldedRows<'_>, fold_products: &[Vec<f64>]) -> [Vec<f64>; 3] {
        if rows.classes.is_none() {
            let (from, held_out) = (self.all(), self.sum(rows, &[fold_products]));
            let training = from.iter().zip(&held_out).map(|(all, held)| all - held).collect();
            let held_out = if rows.balances_losses() { self.weigh_held_out(rows, &[fold_products]) } else { held_out };
            return [training, held_out, from];
        }
        let empty = self.no_products();
        let (mut training, mut from) = (empty.clone(), empty.clone());
        for (total, own) in self.totals.iter().zip(fold_products) {
            let own = if own.is_empty() { &empty } else { own };
            let weight = total[self.weight] - own[self.weight];
            if weight > 0.0 {
                training.iter_mut().zip(total).zip(own).for_each(|((sum, all), held)| *sum += (all - held) / weight);
                from.iter_mut().zip(total).for_each(|(sum, all)| *sum += all / weight);
            }
        }
        [training, self.weigh_held_out(rows, &[fold_products]), from]
    }

    /// Products of some groups, each with sums by class, with their training weights.
    fn sum(&self, rows: &FoldedRows<'_>, blocks: &[&[Vec<f64>]]) -> Vec<f64> {
        let mut out = self.no_products();
        for class in 0..self.totals.len() {
            let products = || blocks.iter().map(|block| &block[class]).filter(|all| !all.is_empty());
            let weight = if rows.classes.is_some() { products().map(|all| all[self.weight]).sum() } else { 1.0 };
            for all in products() {
                out.iter_mut().zip(all).for_each(|(sum, x)| *sum += x / weight);
            }
        }
        out
    }

    /// Held-out products as they count in losses, from the sums by class in each of their groups.
    fn weigh_held_out(&self, rows: &FoldedRows<'_>, groups: &[&[Vec<f64>]]) -> Vec<f64> {
        let mut out = self.no_products();
        let shares = rows.loss_classes.as_ref().map(|(_, shares)| shares);
        for (class, own) in groups.iter().flat_map(|group| group.iter().enumerate()) {
            let share = shares.map_or(1.0, |shares| shares.get(class).copied().unwrap_or_default());
            axpy(share, own, &mut out);
        }
        out
    }
}

/// Copies the lower triangle to the upper, in blocks that stay in cache.
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
