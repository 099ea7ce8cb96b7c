//! Products over the training rows of each fold, A_t = ΣA − A_v, by class if training balances classes.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward".

use super::FoldedRows;
use crate::folds::FoldBlocks;
use crate::sums::axpy;

/// Products over groups, and over all rows of each class.
#[derive(Debug)]
pub(super) struct ClassTotals<'s> {
    /// Products of each class in each group.
    groups: &'s [Vec<Vec<f64>>],
    /// Groups of the training and held-out rows of each fold, if they are not the folds.
    blocks: Option<&'s FoldBlocks>,
    class_totals: Vec<Vec<f64>>,
    /// Index of the weight of a class, if training balances classes.
    weight: Option<usize>,
    /// Factors of each class's held-out products, if losses balance classes.
    shares: Option<&'s [f64]>,
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

impl<'s> ClassTotals<'s> {
    /// Totals `size` products of each class in each group; `ones` is the index of the ones-vector's product with
    /// itself.
    pub fn new(rows: &'s FoldedRows<'_>, groups: &'s [Vec<Vec<f64>>], size: usize, ones: usize) -> Self {
        let mut class_totals = vec![vec![0.0; size]; groups.first().map_or(1, Vec::len)];
        for group in groups {
            class_totals.iter_mut().zip(group).for_each(|(total, own)| axpy(1.0, own, total));
        }
        let (blocks, weight) = (rows.folds.blocks(), rows.classes.as_ref().map(|_| ones));
        let shares = rows.scored.as_ref().map(|(_, shares)| &shares[..]);
        ClassTotals { groups, blocks, class_totals, weight, shares }
    }

    /// Products over all rows.
    pub fn all(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.class_totals.first().map_or(0, Vec::len)];
        self.class_totals.iter().for_each(|total| axpy(1.0, total, &mut all));
        all
    }

    /// Products over the training and held-out rows of a fold. Training products are differences from all rows, or sums
    /// of blocks.
    pub fn fold_split(&self, fold: usize) -> SplitProducts {
        let groups = self.groups;
        let Some(blocks) = self.blocks else { return self.split(&groups[fold]) };
        let sums_of = |some: &[usize]| some.iter().map(|&block| &groups[block][..]).collect::<Vec<_>>();
        let training = self.sum(&sums_of(&blocks.training[fold]));
        SplitProducts {
            from: training.clone(),
            training,
            held_out: self.weigh_held_out(&sums_of(&blocks.held_out[fold])),
        }
    }

    /// If balanced, the training products are Σ_c (S_c − S_{c,v})/(n_c − n_{c,v}), with n the weights of the rows.
    fn split(&self, fold_products: &[Vec<f64>]) -> SplitProducts {
        let size = self.class_totals.first().map_or(0, Vec::len);
        let Some(at) = self.weight else {
            let (from, held_out) = (self.all(), self.sum(&[fold_products]));
            let training = from.iter().zip(&held_out).map(|(all, held)| all - held).collect();
            let held_out = if self.shares.is_some() { self.weigh_held_out(&[fold_products]) } else { held_out };
            return SplitProducts { training, held_out, from };
        };
        let (mut training, mut from) = (vec![0.0; size], vec![0.0; size]);
        let empty = vec![0.0; size];
        for (total, own) in self.class_totals.iter().zip(fold_products) {
            let own = if own.is_empty() { &empty } else { own };
            let weight = total[at] - own[at];
            if weight > 0.0 {
                training.iter_mut().zip(total).zip(own).for_each(|((sum, all), held)| *sum += (all - held) / weight);
                from.iter_mut().zip(total).for_each(|(sum, all)| *sum += all / weight);
            }
        }
        SplitProducts { training, held_out: self.weigh_held_out(&[fold_products]), from }
    }

    /// Products of some groups, each with sums by class, with their training weights.
    fn sum(&self, blocks: &[&[Vec<f64>]]) -> Vec<f64> {
        let mut out = vec![0.0; self.class_totals.first().map_or(0, Vec::len)];
        for class in 0..self.class_totals.len() {
            let products = || blocks.iter().map(|block| &block[class]).filter(|all| !all.is_empty());
            let weight = self.weight.map_or(1.0, |at| products().map(|all| all[at]).sum());
            for all in products() {
                out.iter_mut().zip(all).for_each(|(sum, x)| *sum += x / weight);
            }
        }
        out
    }

    /// Held-out products as they count in losses, from the sums by class in each of their groups.
    fn weigh_held_out(&self, groups: &[&[Vec<f64>]]) -> Vec<f64> {
        let mut out = vec![0.0; self.class_totals.first().map_or(0, Vec::len)];
        for (class, own) in groups.iter().flat_map(|group| group.iter().enumerate()) {
            let share = self.shares.map_or(1.0, |shares| shares.get(class).copied().unwrap_or_default());
            axpy(share, own, &mut out);
        }
        out
    }
}
