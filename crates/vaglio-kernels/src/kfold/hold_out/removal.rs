//! Trials of removing each selected column, by held-out rows.
//!
//! Uses in each fold the identity of the book, *Leave-one-out without refitting*, "Taking a column out".

use super::HoldOutRows;
use super::chain::{ColumnUpdate, HeldOutColumn, UpdateChain, tally};
use super::fold_products::subtract;
use crate::linalg::{self, FactorizationError};
use crate::parallel;
use crate::sums;
use crate::tolerance::FALLEN_INVERSE;
use crate::trial::worse;
use crate::{Scorer, Trial, is_unreliable};
use ndarray::{Array2, ArrayView1, ArrayViewMut2, s};
use std::ops::Range;
use std::sync::Arc;
use vaglio_columns::sum_of_squares;

/// For each fold H = (X_{T,S}ᵀX_{T,S} + Λ)⁻¹ with Λ the penalties, the weights of its fit, and E = X_{U,S} H, in order
/// of addition.
#[derive(Debug, Clone)]
pub(super) struct FoldRemovals {
    /// H of each fold: s × s.
    h: Vec<Array2<f64>>,
    columns: Vec<RemovableColumn>,
    /// Held-out residuals of each output.
    pub residuals: Vec<Vec<f64>>,
    /// Conditioning of the updates it was computed from. It is 1 if computed from the rows, unless folds standardize
    /// and held-out rows are far off.
    pub conditioning: f64,
}

/// E, weights and H_ii of one column.
#[derive(Debug, Clone, Default)]
struct RemovableColumn {
    e: Vec<f64>,
    /// Weights, folds × outputs.
    weights: Vec<f64>,
    /// Largest H_ii of each fold since it was computed without a difference.
    largest: Vec<f64>,
}

impl FoldRemovals {
    /// State of the empty subset.
    pub fn empty(rows: &HoldOutRows<'_>) -> Self {
        let h = vec![Array2::zeros((0, 0)); rows.folds()];
        FoldRemovals { h, columns: Vec::new(), residuals: rows.residuals.clone(), conditioning: 1.0 }
    }

    /// Computes the state from the columns in order of addition. Cost O((m + K·s)·s²).
    pub fn from_chain(chain: &UpdateChain<'_>) -> Self {
        let mut state = FoldRemovals::empty(&chain.rows);
        (1..=chain.updates.len()).for_each(|count| state.add(chain, count));
        state
    }

    /// Computes the state from an orthogonal decomposition of each fold's training rows. Cost O(K·m·s²).
    ///
    /// # Errors
    /// [`FactorizationError::NoConvergence`] if entries overflow.
    pub fn from_rows(rows: &HoldOutRows<'_>, lambda: f64, subset: &[usize]) -> Result<Self, FactorizationError> {
        let is_alone = rows.folded.standardize;
        let held = |&i: &usize| if is_alone { Vec::new() } else { rows.candidate(lambda, i, &rows.column(i)).e };
        let held: Vec<Vec<f64>> = parallel::map_slice(subset, held);
        let folds = parallel::map(rows.folds(), |fold| FoldRemovals::from_fold(rows, lambda, subset, &held, fold));
        drop(held);
        let columns = vec![RemovableColumn::default(); subset.len()];
        let residuals = vec![Vec::new(); rows.outputs()];
        let mut all = FoldRemovals { h: Vec::new(), columns, residuals, conditioning: 1.0 };
        for fold in folds {
            let fold = fold?;
            all.h.extend(fold.h);
            for (all, own) in all.columns.iter_mut().zip(fold.columns) {
                all.e.extend(own.e);
                all.weights.extend(own.weights);
                all.largest.extend(own.largest);
            }
            all.residuals.iter_mut().zip(fold.residuals).for_each(|(all, own)| all.extend(own));
            all.conditioning = worse(all.conditioning, fold.conditioning);
        }
        Ok(all)
    }

    /// State of one fold alone. `held` has the columns less the means of each fold's training rows; unused if folds
    /// standardize.
    fn from_fold(
        rows: &HoldOutRows<'_>,
        lambda: f64,
        subset: &[usize],
        held: &[Vec<f64>],
        fold: usize,
    ) -> Result<Self, FactorizationError> {
        let (size, outputs) = (subset.len(), rows.outputs());
        let range = rows.starts[fold]..rows.starts[fold + 1];
        let trained = rows.root.len() - range.len();
        let mut both = Array2::zeros((trained + size, size + outputs));
        let (mut x, mut conditioning) = (Array2::zeros((range.len(), size)), 1.0);
        // With √λI stacked below, R is the factor of XᵀX + λI; every column loses only its own last digits.
        for (i, (&feature, mut to)) in subset.iter().zip(both.columns_mut()).enumerate() {
            let (training, held_out, variance) = if rows.folded.standardize {
                center_and_scale(rows, feature, fold)
            } else {
                let training = without(&rows.column(feature), &range).copied().collect();
                (training, held[i][range.clone()].to_vec(), 1.0)
            };
            if rows.folded.standardize {
                conditioning = worse(conditioning, training_share(&training, &held_out, lambda * variance));
            }
            to[trained + i] = lambda.sqrt() * variance.sqrt();
            to.slice_mut(s![..trained]).assign(&ArrayView1::from(&training));
            x.column_mut(i).assign(&ArrayView1::from(&held_out));
        }
        for (o, mut to) in both.columns_mut().into_iter().skip(size).enumerate() {
            to.iter_mut().zip(without(&rows.targets[o], &range)).for_each(|(to, y)| *to = *y);
        }
        if rows.is_centered() {
            let root: Vec<f64> = without(&rows.root, &range).copied().collect();
            center(both.slice_mut(s![..trained, ..]), &root);
        }
        let triangle = linalg::triangle(both.view())?;
        drop(both);
        let inverse = linalg::inverse_of_triangle(triangle.slice(s![..size, ..size]));
        let weights = inverse.dot(&triangle.slice(s![..size, size..]));
        let y = Array2::from_shape_fn((range.len(), outputs), |(j, o)| rows.residuals[o][range.start + j]);
        let e = x.dot(&inverse).dot(&inverse.t());
        let residuals = (y - x.dot(&weights)).columns().into_iter().map(|own| own.to_vec()).collect();
        let h = inverse.dot(&inverse.t());
        let column = |i: usize| RemovableColumn {
            e: e.column(i).to_vec(),
            weights: weights.row(i).to_vec(),
            largest: vec![h[[i, i]]],
        };
        let columns = (0..size).map(column).collect();
        Ok(FoldRemovals { h: vec![h], columns, residuals, conditioning })
    }

    /// Trial of removing the column at a place: r_U + E_{i,U} w_i/H_ii. Cost O(m · outputs).
    pub fn trial(&self, rows: &HoldOutRows<'_>, scorer: &Scorer, place: usize) -> Trial {
        let (outputs, column) = (self.residuals.len(), &self.columns[place]);
        if self.columns.len() == 1 {
            return scorer.trial(&rows.residuals, 1.0);
        }
        let step = |o: usize, k: usize| -column.weights[k * outputs + o] / self.h[k][[place, place]];
        scorer.finish(tally(rows, scorer, step, &column.e, &self.residuals), self.conditioning)
    }

    /// Adds the column of update number `count`, counted from 1, after all earlier ones. Cost O((m + K·s)·s).
    ///
    /// With u the weights of the others in a fit of x: H ← H + uuᵀ/σ, H_b = −u/σ, H_bb = 1/σ.
    pub fn add(&mut self, chain: &UpdateChain<'_>, count: usize) {
        let Some((last, before)) = chain.updates[..count].split_last() else { return };
        let rows = &*chain.rows;
        let (outputs, HeldOutColumn { e, sigma, q, .. }) = (self.residuals.len(), &last.column);
        let weights_on: Vec<Vec<f64>> = parallel::map(rows.folds(), |k| last.weights_on(before, k));
        parallel::each_mut(&mut self.h, |k, h| *h = linalg::with_border(h, &weights_on[k], sigma[k]));
        let h = &self.h;
        let largest = |i: usize| h.iter().map(|h| h[[i, i]]).collect::<Vec<f64>>();
        parallel::each_mut(&mut self.columns, |i, column| {
            column.subtract(rows, e, q, |k| weights_on[k][i] / sigma[k]);
            column.largest.iter_mut().zip(largest(i)).for_each(|(old, new)| *old = old.max(new));
        });
        let mut own = RemovableColumn { e: e.clone(), weights: q.clone(), largest: largest(before.len()) };
        for (at, sigma) in rows.starts.windows(2).zip(sigma) {
            own.e[at[0]..at[1]].iter_mut().for_each(|e| *e /= sigma);
        }
        own.weights.iter_mut().enumerate().for_each(|(at, weight)| *weight /= sigma[at / outputs]);
        self.columns.push(own);
        last.subtract_from_residuals(rows, &mut self.residuals);
        self.conditioning = worse(chain.conditioning, self.conditioning);
    }

    /// Removes the column at a place and returns whether all others have kept their digits. Cost O((m + K·s)·s).
    ///
    /// E_i ← E_i − E_b H_ib/H_bb, w_i ← w_i − w_b H_ib/H_bb, and H ← its Schur complement.
    #[must_use]
    pub fn remove(&mut self, rows: &HoldOutRows<'_>, place: usize) -> bool {
        let outputs = self.residuals.len();
        let gone = self.columns.remove(place);
        if self.columns.is_empty() {
            *self = FoldRemovals::empty(rows);
            return true;
        }
        for (o, r) in self.residuals.iter_mut().enumerate() {
            let step = |k: usize| -gone.weights[k * outputs + o] / self.h[k][[place, place]];
            subtract(&rows.starts, 0, step, &gone.e, r);
        }
        let h = &self.h;
        parallel::each_mut(&mut self.columns, |at, column| {
            let old = at + usize::from(at >= place);
            let step = |k: usize| h[k][[old, place]] / h[k][[place, place]];
            column.subtract(rows, &gone.e, &gone.weights, step);
        });
        parallel::each_mut(&mut self.h, |_, h| *h = linalg::without_border(h, place));
        let kept = |(i, column): (usize, &RemovableColumn)| {
            self.h.iter().zip(&column.largest).all(|(h, largest)| h[[i, i]] >= FALLEN_INVERSE * largest)
        };
        !is_unreliable(self.conditioning) && self.columns.iter().enumerate().all(kept)
    }
}

impl RemovableColumn {
    /// E_U ← E_U − step_U e_U, w ← w − step_U q.
    fn subtract(&mut self, rows: &HoldOutRows<'_>, e: &[f64], q: &[f64], step: impl Fn(usize) -> f64) {
        subtract(&rows.starts, 0, &step, e, &mut self.e);
        for (at, (weight, q)) in self.weights.iter_mut().zip(q).enumerate() {
            *weight -= step(at / rows.outputs()) * q;
        }
    }
}

impl ColumnUpdate {
    /// Weights of the earlier columns in a fit of this one to a fold's training rows. Cost O(s²).
    fn weights_on(&self, before: &[Arc<ColumnUpdate>], fold: usize) -> Vec<f64> {
        let folds = self.column.sigma.len();
        let mut weights: Vec<f64> = (0..before.len()).map(|k| self.steps[k * folds + fold]).collect();
        for (k, update) in before.iter().enumerate().rev() {
            let weight = weights[k];
            let earlier = update.steps.iter().skip(fold).step_by(folds);
            weights.iter_mut().zip(earlier).for_each(|(u, step)| *u -= weight * step);
        }
        weights
    }
}

/// Share of a column's squares, with its penalty, in the training rows of a fold. It is tiny if held-out rows deviate by
/// many standard deviations; their residuals then cancel when the column is removed.
fn training_share(training: &[f64], held_out: &[f64], penalty: f64) -> f64 {
    let squares = sum_of_squares(training);
    if squares == 0.0 {
        // A column constant in training has weight 0.
        return 1.0;
    }
    let sigma = penalty + squares;
    sigma / (sigma + sum_of_squares(held_out))
}

/// Training and held-out entries of a column for one fold, less the training mean and scaled by √r_j; and the variance
/// over the training rows, 1 for a constant. From the stored entries, since the column may be much smaller in the
/// training rows than in the fold. Cost O(m).
fn center_and_scale(rows: &HoldOutRows<'_>, feature: usize, fold: usize) -> (Vec<f64>, Vec<f64>, f64) {
    let (column, shift) = rows.folded.data.column(feature);
    let (order, range) = (rows.folded.folds.order(), rows.starts[fold]..rows.starts[fold + 1]);
    let entries = |at: Range<usize>| order[at].iter().map(|&row| column.get(row) - shift);
    let roots: Vec<f64> = without(&rows.root, &range).copied().collect();
    let mut training: Vec<f64> = entries(0..range.start).chain(entries(range.end..order.len())).collect();
    let mut held_out: Vec<f64> = entries(range.clone()).collect();
    let total = sum_of_squares(&roots);
    let is_flat = rows.flat[feature].contains(&fold);
    let means = if is_flat {
        let first = training[0];
        training.fill(0.0);
        [first, 0.0]
    } else {
        sums::center((&mut training[..]).into(), |j| roots[j] * roots[j], total)
    };
    for mean in means {
        held_out.iter_mut().for_each(|x| *x -= mean);
    }
    training.iter_mut().zip(&roots).for_each(|(x, v)| *x *= v);
    held_out.iter_mut().zip(&rows.root[range]).for_each(|(x, v)| *x *= v);
    let variance = if is_flat { 1.0 } else { sum_of_squares(&training) / total };
    (training, held_out, variance)
}

/// Entries outside a range.
fn without<'x>(x: &'x [f64], range: &Range<usize>) -> impl Iterator<Item = &'x f64> {
    x[..range.start].iter().chain(&x[range.end..])
}

/// Removes the component along `root` from every column, twice because of rounding.
fn center(mut columns: ArrayViewMut2<'_, f64>, root: &[f64]) {
    let root = ArrayView1::from(root);
    let total = root.dot(&root);
    for mut x in columns.columns_mut() {
        for _ in 0..2 {
            let mean = root.dot(&x) / total;
            x.zip_mut_with(&root, |x, v| *x -= mean * v);
        }
    }
}
