//! The classes of rows.

use crate::{Design, Task};

/// The classes of the rows of a [`Design`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The class of each row, an index into the labels.
    pub of_row: Vec<usize>,
    /// The classes' labels.
    pub names: Vec<String>,
}

impl Design {
    /// The class of each row, with the classes' labels; `None` for numbers.
    pub fn classes(&self) -> Option<Classes> {
        let rows = 0..self.rows();
        let is_positive = |class: usize, row: usize| self.targets()[[class, row]] > 0.0;
        Some(match self.task() {
            Task::Regression => return None,
            Task::Binary { negative, positive } => Classes {
                of_row: rows.map(|row| usize::from(is_positive(0, row))).collect(),
                names: vec![negative.clone().unwrap_or_else(|| format!("not {positive}")), positive.clone()],
            },
            Task::Multiclass { labels } => Classes {
                of_row: rows.map(|row| (0..labels.len()).find(|&c| is_positive(c, row)).unwrap_or(0)).collect(),
                names: labels.clone(),
            },
        })
    }
}
