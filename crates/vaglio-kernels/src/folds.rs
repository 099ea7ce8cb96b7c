//! Which rows are held out together, or left out one by one.

/// A partition of the rows into folds, each with its rows in increasing order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    /// Rows, fold after fold.
    order: Vec<usize>,
    /// Where each fold starts in `order`, and its end at last.
    starts: Vec<usize>,
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
        Folds { order, starts }
    }

    /// A fold for each row.
    pub fn single(rows: usize) -> Self {
        Folds { order: (0..rows).collect(), starts: (0..=rows).collect() }
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

    /// The rows of all other folds, in increasing order.
    pub fn training(&self, fold: usize) -> Vec<usize> {
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
}
