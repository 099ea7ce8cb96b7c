//! Lazy rows of the moments A_t and A_v, computed for selected columns by passes over eight of them. A pass for one
//! column also computes likely next ones, each with the bits that it would have alone.

use super::FoldedRows;
use super::fold_moments::FoldMoments;
use super::group_sums::{GroupSums, shifted_columns};
use crate::f64x8::F64x8;
use crate::parallel;
use crate::row_groups::RowGroups;
use crate::sums::{LANES, times};
use std::sync::OnceLock;

/// Columns whose rows of A_t and A_v one pass computes.
pub const ROWS_AT_ONCE: usize = F64x8::WIDTH;
/// Bytes of such rows up to which further ones are prefetched.
pub const READ_AHEAD: usize = 1 << 24;

/// Rows of A_t and A_v, computed on demand.
#[derive(Debug)]
pub(super) struct MomentRows {
    /// A group is a class of a fold, or of a block of rows.
    groups: RowGroups,
    classes: usize,
    stride: usize,
    /// By place: for each fold the row of A_t, then of A_v.
    computed: Vec<OnceLock<Vec<f64>>>,
    /// NaN row, returned for a row that was never requested.
    unknown: Vec<f64>,
}

impl MomentRows {
    /// Groups the rows. Cost O(entries).
    pub fn new(rows: &FoldedRows<'_>) -> Self {
        let ((row_group, classes), weights) = (rows.groups(), rows.data.targets.weights());
        let features = &rows.data.candidates;
        let columns = shifted_columns(rows, features);
        let groups = RowGroups::new(row_group, rows.blocks().count() * classes, &weights, &columns);
        let stride = features.len().next_multiple_of(LANES);
        let computed = features.iter().map(|_| OnceLock::new()).collect();
        MomentRows { groups, classes, stride, computed, unknown: vec![f64::NAN; stride] }
    }

    /// Products of columns with targets and the ones-vector, not with each other, by class in every fold or block. Cost
    /// O(entries · outputs).
    pub fn sums(&self, rows: &FoldedRows<'_>) -> GroupSums {
        let (data, features) = (&rows.data, &rows.data.candidates);
        let n = features.len();
        let ones = data.ones();
        let vectors: Vec<&[f64]> = data.centered.iter().map(Vec::as_slice).chain([&ones[..]]).collect();
        let scaled: Vec<Vec<f64>> = vectors.iter().map(|v| times(v, &ones)).collect();
        let in_eights: Vec<[Vec<F64x8>; 2]> =
            scaled.chunks(F64x8::WIDTH).map(|some| self.groups.vectors(some)).collect();
        let weight = &scaled[scaled.len() - 1];
        let column_products = |place: usize| {
            let x = data.column(features[place]).0;
            let products = in_eights.iter().map(|eight| self.groups.products(x, place, eight));
            (products.collect::<Vec<_>>(), self.groups.squares(x, place, weight))
        };
        let columns: Vec<_> = parallel::map(n, column_products);
        let sums = GroupSums::empty(features.clone(), vectors.len(), false);
        let pairs: Vec<(usize, usize)> = (0..vectors.len()).flat_map(|v| (0..=v).map(move |u| (v, u))).collect();
        let pair_sums = |&(v, u): &(usize, usize)| self.groups.sums(&times(vectors[v], vectors[u]));
        let all_pair_sums: Vec<Vec<f64>> = pairs.iter().map(pair_sums).collect();
        let group = |group: usize| {
            if self.groups.sizes[group] == 0 {
                return Vec::new();
            }
            let mut products = vec![0.0; sums.len()];
            for (place, (with_vectors, squares)) in columns.iter().enumerate() {
                let vector_sum = |v: usize| with_vectors[v / F64x8::WIDTH][group].lane(v % F64x8::WIDTH);
                (0..vectors.len()).for_each(|v| products[sums.at(n + v, place)] = vector_sum(v));
                products[sums.at(place, place)] = squares[group];
            }
            pairs.iter().zip(&all_pair_sums).for_each(|((v, u), own)| products[sums.at(n + v, n + u)] = own[group]);
            products
        };
        let products = self.products_by_group(group);
        sums.with_products(products)
    }

    /// Products of every class in every fold or block.
    fn products_by_group(&self, products: impl Fn(usize) -> Vec<f64> + Sync) -> Vec<Vec<Vec<f64>>> {
        parallel::map(self.groups.sizes.len(), products).chunks(self.classes).map(<[Vec<f64>]>::to_vec).collect()
    }

    /// Rows of A_t and A_v of the column at a place.
    pub fn rows(&self, fold: usize, place: usize) -> [&[f64]; 2] {
        let Some(own) = self.computed[place].get() else { return [&self.unknown; 2] };
        let (training, held_out) = own[2 * fold * self.stride..][..2 * self.stride].split_at(self.stride);
        [training, held_out]
    }

    /// Computes the rows of the columns at some places. Free lanes of the pass prefetch `likely` places while all rows
    /// take few bytes. Cost O(entries + K·n) for eight of them.
    pub fn read(&self, folds: &[FoldMoments], rows: &FoldedRows<'_>, places: &[usize], likely: &[usize]) {
        let is_new = |place: &&usize| self.computed[**place].get().is_none();
        let mut wanted: Vec<usize> = places.iter().filter(is_new).copied().collect();
        let lanes = wanted.len().next_multiple_of(F64x8::WIDTH) - wanted.len();
        if lanes > 0 {
            let capacity = READ_AHEAD / (2 * size_of::<f64>() * folds.len() * self.stride).max(1);
            let count = self.computed.iter().filter(|own| own.get().is_some()).count();
            let free = capacity.saturating_sub(count + wanted.len());
            let more = likely.iter().filter(is_new).filter(|place| !places.contains(place));
            wanted.extend(more.take(lanes.min(free)));
        }
        for some in wanted.chunks(F64x8::WIDTH) {
            // Computed without a lock: a waiting thread may take up work that requests the same rows.
            let computed = self.compute(folds, rows, some);
            for (&place, own) in some.iter().zip(computed) {
                // Another thread may have been faster, with the same bits.
                let _ = self.computed[place].set(own);
            }
        }
    }

    /// Computes the rows of up to eight columns.
    fn compute(&self, folds: &[FoldMoments], rows: &FoldedRows<'_>, places: &[usize]) -> Vec<Vec<f64>> {
        let (data, groups, features) = (&rows.data, &self.groups, &rows.data.candidates);
        let z = |&place: &usize| {
            let mut z = groups.shift(data.column(features[place]).0, place);
            z.iter_mut().enumerate().for_each(|(row, z)| *z *= data.targets.weight(row));
            z
        };
        let z = groups.vectors(&parallel::map_slice(places, z));
        let lanes = places.len();
        // Group after group, only lanes in use.
        let product = |other: usize| -> Vec<f64> {
            let group_products = groups.products(data.column(features[other]).0, other, &z);
            group_products.iter().flat_map(|sums| &sums.doubles()[..lanes]).copied().collect()
        };
        let products: Vec<Vec<f64>> = parallel::map(features.len(), product);
        let row =
            |lane: usize| self.row(folds, rows, places[lane], |other, group| products[other][group * lanes + lane]);
        parallel::map(places.len(), row)
    }

    /// Computes the row of the column at a place, from its product with each column in each group.
    fn row(
        &self,
        folds: &[FoldMoments],
        rows: &FoldedRows<'_>,
        place: usize,
        product: impl Fn(usize, usize) -> f64 + Sync,
    ) -> Vec<f64> {
        let (groups, n) = (&self.groups, self.computed.len());
        // The weight follows the products.
        let products = self.products_by_group(|group| match groups.sizes[group] {
            0 => Vec::new(),
            _ => (0..n).map(|other| product(other, group)).chain([groups.weights[group]]).collect(),
        });
        let sums = GroupSums { weight: n, ..GroupSums::empty(Vec::new(), n + 1, false) }.with_products(products);
        let mut out = vec![0.0; 2 * folds.len() * self.stride];
        parallel::chunks_mut(&mut out, 2 * self.stride, |fold, out| {
            let [training, held_out, _] = sums.split_fold(rows, fold);
            let (to_training, to_held_out) = out.split_at_mut(self.stride);
            for other in 0..n {
                (to_training[other], to_held_out[other]) =
                    folds[fold].entries(place, other, training[other], held_out[other]);
            }
        });
        out
    }
}
