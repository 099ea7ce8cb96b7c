//! Which rows are held out together, or left out one by one.

/// A partition of the rows into folds, each with its rows in increasing order. A fold is predicted from all others, or
/// from rows of its own: [`Folds::training_on`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    /// Rows, fold after fold.
    order: Vec<usize>,
    /// Where each fold starts in `order`, and its end at last.
    starts: Vec<usize>,
    trained: Option<Trained>,
}

/// The rows that each of the first folds is predicted from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Trained {
    rows: Vec<Vec<usize>>,
    blocks: FoldBlocks,
}

/// A partition of the rows finer than folds and training rows: each of these is a union of blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoldBlocks {
    /// The blocks, as folds.
    pub rows: Box<Folds>,
    /// The blocks that each fold is predicted from.
    pub training: Vec<Vec<usize>>,
    /// The blocks of each fold.
    pub held_out: Vec<Vec<usize>>,
}

impl Folds {
    /// Folds from the fold of each row; folds count from 0, and every one up to the largest is there, even when empty.
    pub fn new(of_row: &[u32]) -> Self {
        let count = of_row.iter().max().map_or(0, |&f| f as usize + 1);
        let mut starts = vec![0; count + 1];
        of_row.iter().for_each(|&f| starts[f as usize + 1] += 1);
        (0..count).for_each(|k| starts[k + 1] += starts[k]);
        let (mut next, mut order) = (starts.clone(), vec![0; of_row.len()]);
        for (row, &fold) in of_row.iter().enumerate() {
            order[next[fold as usize]] = row;
            next[fold as usize] += 1;
        }
        Folds { order, starts, trained: None }
    }

    /// A fold for each row.
    pub fn single(rows: usize) -> Self {
        Folds { order: (0..rows).collect(), starts: (0..=rows).collect(), trained: None }
    }

    /// Whether every fold is one row, so that rows are left out one by one.
    pub fn is_single(&self) -> bool {
        self.starts.windows(2).all(|pair| pair[1] - pair[0] == 1)
    }

    /// Number of folds, K.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of rows, m.
    pub fn rows(&self) -> usize {
        self.order.len()
    }

    /// All rows, fold after fold.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Where the fold stands in [`Folds::order`].
    pub fn range(&self, fold: usize) -> std::ops::Range<usize> {
        self.starts[fold]..self.starts[fold + 1]
    }

    /// The rows of a fold.
    pub fn held_out(&self, fold: usize) -> &[usize] {
        &self.order[self.range(fold)]
    }

    /// The fold of each row.
    pub fn of_rows(&self) -> Vec<u32> {
        let mut of_row = vec![0; self.rows()];
        for fold in 0..self.count() {
            self.held_out(fold).iter().for_each(|&row| of_row[row] = fold as u32);
        }
        of_row
    }

    /// The same, where fold k is predicted from `rows[k]` alone, which are in increasing order and none of its own; folds
    /// without an entry are never held out. Cost O(m · folds).
    #[must_use]
    pub fn training_on(self, rows: Vec<Vec<usize>>) -> Self {
        let blocks = self.blocks_of(&rows);
        Folds { trained: Some(Trained { rows, blocks }), ..self }
    }

    /// Rows that are in the same fold, and are trained on with the same folds, are a block.
    fn blocks_of(&self, training: &[Vec<usize>]) -> FoldBlocks {
        let (mut of_row, mut count) = (vec![0; self.rows()], self.count());
        for fold in 0..count {
            self.held_out(fold).iter().for_each(|&row| of_row[row] = fold);
        }
        for rows in training {
            // Each block so far, without and with these rows.
            let mut numbers = vec![None; 2 * count];
            let mut is_in = vec![false; of_row.len()];
            rows.iter().for_each(|&row| is_in[row] = true);
            count = 0;
            for (label, is_in) in of_row.iter_mut().zip(is_in) {
                *label = *numbers[2 * *label + usize::from(is_in)].get_or_insert_with(|| {
                    count += 1;
                    count - 1
                });
            }
        }
        let of = |rows: &[usize]| {
            let mut is_there = vec![false; count];
            rows.iter().for_each(|&row| is_there[of_row[row]] = true);
            (0..count).filter(|&block| is_there[block]).collect::<Vec<usize>>()
        };
        FoldBlocks {
            training: training.iter().map(|rows| of(rows)).collect(),
            held_out: (0..training.len()).map(|fold| of(self.held_out(fold))).collect(),
            rows: Box::new(Folds::new(&of_row.iter().map(|&block| block as u32).collect::<Vec<_>>())),
        }
    }

    /// The blocks of rows that folds and their training rows are made of, where these are not all other folds.
    pub(crate) fn blocks(&self) -> Option<&FoldBlocks> {
        self.trained.as_ref().map(|trained| &trained.blocks)
    }

    /// Whether every fold is predicted from all others.
    pub fn is_of_others(&self) -> bool {
        self.trained.is_none()
    }

    /// The rows that a fold is predicted from, in increasing order: those of all other folds, unless it was given others.
    pub fn training(&self, fold: usize) -> Vec<usize> {
        if let Some(trained) = &self.trained {
            return trained.rows.get(fold).cloned().unwrap_or_default();
        }
        let range = self.range(fold);
        let mut rows: Vec<usize> = self.order[..range.start].iter().chain(&self.order[range.end..]).copied().collect();
        rows.sort_unstable();
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_fold_after_fold_and_train_the_others() {
        let folds = Folds::new(&[2, 0, 1, 0, 2]);
        assert_eq!((folds.count(), folds.rows()), (3, 5));
        assert_eq!(folds.order(), [1, 3, 2, 0, 4]);
        assert_eq!(folds.held_out(2), [0, 4]);
        assert_eq!(folds.training(1), [0, 1, 3, 4]);
        assert_eq!(Folds::new(&[1, 1]).held_out(0), [0usize; 0]);
    }

    #[test]
    fn training_rows_and_folds_are_unions_of_blocks() {
        // The second fold is predicted from the first but for its last row.
        let folds = Folds::new(&[2, 2, 0, 0, 1, 1]).training_on(vec![vec![0, 1], vec![1, 2]]);
        assert_eq!((folds.training(0), folds.training(1)), (vec![0, 1], vec![1, 2]));
        let blocks = folds.blocks().unwrap();
        let rows = |some: &[usize]| {
            let mut rows: Vec<usize> = some.iter().flat_map(|&block| blocks.rows.held_out(block)).copied().collect();
            rows.sort_unstable();
            rows
        };
        for fold in 0..2 {
            assert_eq!(rows(&blocks.training[fold]), folds.training(fold));
            assert_eq!(rows(&blocks.held_out[fold]), folds.held_out(fold));
        }
        assert_eq!(blocks.rows.count(), 5);
    }
}
