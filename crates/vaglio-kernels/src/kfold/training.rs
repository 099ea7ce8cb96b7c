//! Products over the training rows of each fold, A_t = ΣA − A_v, by class if training balances classes.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::products::{FoldSums, widen};
use crate::folds::FoldBlocks;

/// Products over all rows of each class.
#[derive(Debug)]
pub(super) struct ClassTotals {
    of_classes: Vec<Vec<f64>>,
    /// Index of the weight of a class, if training balances classes.
    weight: Option<usize>,
    /// Factors of each class's held-out products, if losses balance classes.
    shares: Option<Vec<f64>>,
}

/// Products of one fold.
#[derive(Debug)]
pub(super) struct SplitProducts {
    /// Products over the training rows, with their training weights.
    pub training: Vec<f64>,
    /// Products over the held-out rows, with their weights in the loss.
    pub held_out: Vec<f64>,
    /// Minuends of the training products.
    pub from: Vec<f64>,
}

impl ClassTotals {
    /// Totals `sums`, given for each class in each fold. `weight` is the index of the ones-vector's product with itself
    /// if training balances classes; `shares` are the factors of each class's held-out products if losses do.
    pub fn new(sums: &[Vec<FoldSums>], size: usize, weight: Option<usize>, shares: Option<&[f64]>) -> Self {
        let mut of_classes = vec![vec![0.0; size]; sums.first().map_or(1, Vec::len)];
        for fold in sums {
            for (total, own) in of_classes.iter_mut().zip(fold) {
                add(total, &own.products);
            }
        }
        ClassTotals { of_classes, weight, shares: shares.map(<[f64]>::to_vec) }
    }

    /// Products over all rows.
    pub fn all(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.of_classes.first().map_or(0, Vec::len)];
        self.of_classes.iter().for_each(|total| add(&mut all, total));
        all
    }

    /// Products of a fold, from the sums of all folds, or of the blocks that folds are unions of.
    pub fn fold_split(&self, sums: &[Vec<FoldSums>], blocks: Option<&FoldBlocks>, fold: usize) -> SplitProducts {
        let Some(blocks) = blocks else { return self.split(&sums[fold]) };
        let of = |some: &[usize]| some.iter().map(|&block| &sums[block][..]).collect::<Vec<_>>();
        self.split_of(&of(&blocks.training[fold]), &of(&blocks.held_out[fold]))
    }

    /// Products over the training and held-out rows of a fold, from the fold's sums by class.
    ///
    /// If balanced, the training products are Σ_c (S_c − S_{c,v})/(n_c − n_{c,v}), with n the weights of the rows.
    fn split(&self, of_fold: &[FoldSums]) -> SplitProducts {
        let size = self.of_classes.first().map_or(0, Vec::len);
        let mut held_out = vec![0.0; size];
        of_fold.iter().for_each(|own| add(&mut held_out, &own.products));
        let Some(at) = self.weight else {
            let from = self.all();
            let training = from.iter().zip(&held_out).map(|(all, held)| all - held).collect();
            return SplitProducts { training, held_out: self.counted(held_out, &[of_fold]), from };
        };
        let (mut training, mut from) = (vec![0.0; size], vec![0.0; size]);
        let empty = vec![0.0; size];
        for (total, own) in self.of_classes.iter().zip(of_fold) {
            let own = if own.products.is_empty() { &empty } else { &own.products };
            let weight = total[at] - own[at];
            if weight > 0.0 {
                training.iter_mut().zip(total).zip(own).for_each(|((sum, all), held)| *sum += (all - held) / weight);
                from.iter_mut().zip(total).for_each(|(sum, all)| *sum += all / weight);
            }
        }
        SplitProducts { training, held_out: self.counted(held_out, &[of_fold]), from }
    }

    /// Held-out products as they count in losses, from their sum and the sums by class in each of their blocks.
    fn counted(&self, held_out: Vec<f64>, blocks: &[&[FoldSums]]) -> Vec<f64> {
        let Some(shares) = &self.shares else { return held_out };
        let mut out = vec![0.0; held_out.len()];
        for (own, share) in blocks.iter().flat_map(|block| block.iter().zip(shares)) {
            out.iter_mut().zip(&own.products).for_each(|(sum, x)| *sum += share * x);
        }
        out
    }
}

impl ClassTotals {
    /// Products of a fold that is predicted from some blocks of rows, given by sums without differences. Each block has
    /// sums by class.
    fn split_of(&self, training: &[&[FoldSums]], held_out: &[&[FoldSums]]) -> SplitProducts {
        let size = self.of_classes.first().map_or(0, Vec::len);
        let mut held = vec![0.0; size];
        held_out.iter().flat_map(|block| *block).for_each(|own| add(&mut held, &own.products));
        let mut out =
            SplitProducts { training: vec![0.0; size], held_out: self.counted(held, held_out), from: Vec::new() };
        for class in 0..self.of_classes.len() {
            let products = || training.iter().map(|block| &block[class].products).filter(|all| !all.is_empty());
            let weight = self.weight.map_or(1.0, |at| products().map(|all| all[at]).sum());
            for all in products() {
                out.training.iter_mut().zip(all).for_each(|(sum, x)| *sum += x / weight);
            }
        }
        out.from.clone_from(&out.training);
        out
    }
}

fn add(sum: &mut [f64], other: &[f64]) {
    sum.iter_mut().zip(other).for_each(|(sum, x)| *sum += x);
}

/// Least and greatest entry of each column over all other folds, for each fold: those before it and those after. Cost
/// O(K·n).
pub(super) fn ranges(sums: &[Vec<FoldSums>]) -> Vec<Vec<(f64, f64)>> {
    let of_fold = |fold: usize| range(sums, std::iter::once(fold));
    let mut before = range(sums, std::iter::empty());
    let mut behind = vec![before.clone(); sums.len()];
    for fold in (1..sums.len()).rev() {
        behind[fold - 1] = behind[fold].clone();
        widen(&mut behind[fold - 1], &of_fold(fold));
    }
    for (fold, others) in behind.iter_mut().enumerate() {
        widen(others, &before);
        widen(&mut before, &of_fold(fold));
    }
    behind
}

/// Least and greatest entry of each column over some of the folds or blocks.
pub(super) fn range(sums: &[Vec<FoldSums>], some: impl Iterator<Item = usize>) -> Vec<(f64, f64)> {
    let columns = sums.first().and_then(|fold| fold.first()).map_or(0, |s| s.range.len());
    let mut out = vec![(f64::INFINITY, f64::NEG_INFINITY); columns];
    some.flat_map(|at| &sums[at]).for_each(|sums| widen(&mut out, &sums.range));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_all_other_folds() {
        let fold = |k: usize| {
            let range = (0..3).map(|i| (((k * 7 + i) % 5) as f64, ((k * 3 + i) % 4) as f64 + 5.0)).collect();
            vec![FoldSums { products: Vec::new(), range }]
        };
        for count in 1..6 {
            let sums: Vec<Vec<FoldSums>> = (0..count).map(fold).collect();
            let others = |fold: usize| range(&sums, (0..count).filter(|&other| other != fold));
            assert_eq!(ranges(&sums), (0..count).map(others).collect::<Vec<_>>());
        }
    }
}
