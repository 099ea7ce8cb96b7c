//! Folds: rows that are held out together, or one by one.

/// A partition of the rows into folds, each with its rows in increasing order. By default every fold is held out, and its
/// training rows are all others; see [`Folds::holding_out`] and [`Folds::training_on`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    /// Rows, fold after fold.
    order: Vec<usize>,
    /// Start of each fold in `order`, followed by the end.
    pub(crate) starts: Vec<usize>,
    /// Number of held-out folds, the first ones. Other folds are only trained on.
    held_out: usize,
    /// If the training rows of a fold are not all other rows: blocks of rows, as folds, such that every fold and every
    /// training set is a union of blocks.
    pub(crate) blocks: Option<Box<Folds>>,
    /// Blocks of each held-out fold's training rows.
    pub(crate) training_blocks: Vec<Vec<usize>>,
    /// Blocks of each held-out fold's rows.
    pub(crate) held_out_blocks: Vec<Vec<usize>>,
}

impl Folds {
    /// Creates folds from each row's fold number. Numbers count from 0; folds up to the largest number exist even if
    /// empty.
    pub fn new(row_folds: &[u32]) -> Self {
        let count = row_folds.iter().max().map_or(0, |&f| f as usize + 1);
        let order = vaglio_columns::argsort_by(row_folds.len(), |a, b| row_folds[a].cmp(&row_folds[b]));
        let start = |fold: usize| order.partition_point(|&row| (row_folds[row] as usize) < fold);
        Folds::from_order((0..=count).map(start).collect(), order)
    }

    /// Creates one fold for each row.
    pub fn single(rows: usize) -> Self {
        Folds::from_order((0..=rows).collect(), (0..rows).collect())
    }

    fn from_order(starts: Vec<usize>, order: Vec<usize>) -> Self {
        Folds {
            held_out: starts.len() - 1,
            order,
            starts,
            blocks: None,
            training_blocks: Vec::new(),
            held_out_blocks: Vec::new(),
        }
    }

    /// Holds out the first `count` folds alone; the others are in every training set.
    #[must_use]
    pub fn holding_out(self, count: usize) -> Self {
        Folds { held_out: count, ..self }
    }

    /// Each held-out fold as a partition of its own, into this fold and all other rows.
    pub fn each_fold(&self) -> impl Iterator<Item = Folds> {
        (0..self.held_out).map(|fold| {
            let labels: Vec<u32> = self.is_held_out_in(&[fold]).iter().map(|&is_in| u32::from(!is_in)).collect();
            let folds = Folds::new(&labels);
            if self.train_on_all_others() { folds.holding_out(1) } else { folds.training_on(&[self.training(fold)]) }
        })
    }

    /// Whether every fold is one row, as in leave-one-out.
    pub fn is_single(&self) -> bool {
        self.starts.windows(2).all(|pair| pair[1] - pair[0] == 1)
    }

    /// Number of folds, K.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of held-out folds.
    pub fn count_held_out(&self) -> usize {
        self.held_out
    }

    /// Whether every fold is held out.
    pub fn is_partition(&self) -> bool {
        self.held_out == self.count()
    }

    /// Number of rows, m.
    pub fn rows(&self) -> usize {
        self.order.len()
    }

    /// All rows, fold after fold.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Range of a fold in [`Folds::order`].
    pub fn range(&self, fold: usize) -> std::ops::Range<usize> {
        self.starts[fold]..self.starts[fold + 1]
    }

    /// Held-out rows of a fold.
    pub fn held_out(&self, fold: usize) -> &[usize] {
        &self.order[self.range(fold)]
    }

    /// The rows of all held-out folds, in increasing order.
    pub fn rows_held_out(&self) -> Vec<usize> {
        let mut rows = self.order[..self.starts[self.held_out]].to_vec();
        rows.sort_unstable();
        rows
    }

    /// Whether each row is held out in one of `folds`.
    pub fn is_held_out_in(&self, folds: &[usize]) -> Vec<bool> {
        let mut out = vec![false; self.rows()];
        folds.iter().flat_map(|&fold| self.held_out(fold)).for_each(|&row| out[row] = true);
        out
    }

    /// Fold of each row.
    pub fn fold_of_rows(&self) -> Vec<u32> {
        let mut row_folds = vec![0; self.rows()];
        for fold in 0..self.count() {
            self.held_out(fold).iter().for_each(|&row| row_folds[row] = fold as u32);
        }
        row_folds
    }

    /// Sets the training rows of fold k to `training[k]`, in increasing order and disjoint from the fold. Folds beyond the
    /// end of `training` are not held out. Cost O(m · folds).
    #[must_use]
    pub fn training_on(self, training: &[Vec<usize>]) -> Self {
        // Rows with the same fold and the same training sets are one block.
        let mut row_folds: Vec<usize> = self.fold_of_rows().into_iter().map(|fold| fold as usize).collect();
        let mut count = self.count();
        for rows in training {
            // New number of each block, without and with these rows.
            let mut numbers = vec![None; 2 * count];
            let mut is_in = vec![false; row_folds.len()];
            rows.iter().for_each(|&row| is_in[row] = true);
            count = 0;
            for (label, is_in) in row_folds.iter_mut().zip(is_in) {
                *label = *numbers[2 * *label + usize::from(is_in)].get_or_insert_with(|| {
                    count += 1;
                    count - 1
                });
            }
        }
        let blocks_of = |rows: &[usize]| {
            let mut is_there = vec![false; count];
            rows.iter().for_each(|&row| is_there[row_folds[row]] = true);
            (0..count).filter(|&block| is_there[block]).collect::<Vec<usize>>()
        };
        let training_blocks = training.iter().map(|rows| blocks_of(rows)).collect();
        let held_out_blocks = (0..training.len()).map(|fold| blocks_of(self.held_out(fold))).collect();
        let blocks = Folds::new(&row_folds.iter().map(|&block| block as u32).collect::<Vec<_>>());
        Folds { held_out: training.len(), blocks: Some(Box::new(blocks)), training_blocks, held_out_blocks, ..self }
    }

    /// Whether every fold's training rows are all other folds.
    pub fn train_on_all_others(&self) -> bool {
        self.blocks.is_none()
    }

    /// Training rows of a fold, in increasing order: all other folds, unless set by [`Folds::training_on`].
    pub fn training(&self, fold: usize) -> Vec<usize> {
        let mut rows: Vec<usize> = match &self.blocks {
            Some(blocks) => {
                let own = self.training_blocks.get(fold).into_iter().flatten();
                own.flat_map(|&block| blocks.held_out(block)).copied().collect()
            }
            None => {
                let range = self.range(fold);
                self.order[..range.start].iter().chain(&self.order[range.end..]).copied().collect()
            }
        };
        rows.sort_unstable();
        rows
    }

    /// The training rows of each held-out fold.
    pub fn trainings(&self) -> impl Iterator<Item = Vec<usize>> {
        (0..self.held_out).map(|fold| self.training(fold))
    }

    /// The smallest number of training rows of a held-out fold.
    pub fn least_training(&self) -> usize {
        let count = |fold: usize| match &self.blocks {
            Some(blocks) => self.training_blocks[fold].iter().map(|&block| blocks.range(block).len()).sum(),
            None => self.rows() - self.range(fold).len(),
        };
        (0..self.held_out).map(count).min().unwrap_or(0)
    }
}

/// For each part, combines all other parts: the parts before it, then the parts after it. Cost O(parts).
pub(crate) fn combine_others<T: Clone>(parts: &[T], none: T, with: impl Fn(&T, &T) -> T) -> Vec<T> {
    let mut before = none.clone();
    let next = |part: &T| {
        let combined = with(&before, part);
        std::mem::replace(&mut before, combined)
    };
    let mut out: Vec<T> = parts.iter().map(next).collect();
    let mut after = none;
    for (out, part) in out.iter_mut().zip(parts).rev() {
        *out = with(out, &after);
        after = with(part, &after);
    }
    out
}
