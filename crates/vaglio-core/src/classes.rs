//! The classes of rows.

use crate::{Problem, Task, row_weights};
use ndarray::{ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};
use vaglio_columns::{argsort_by, tied_classes};

/// The classes of the rows of a [`Problem`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The class of each row, an index into the labels.
    pub per_row: Vec<usize>,
    /// The classes' labels.
    pub names: Vec<String>,
}

/// Classes by their weight in training, largest first; equal ones in the order of their numbers.
///
/// Breaks ties: of the classes with the largest prediction, to rounding, a row gets the first in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClassOrder(Vec<usize>);

impl ClassOrder {
    /// The order of the classes in targets coded ±1, outputs × rows, by the weight of their rows.
    pub fn new(targets: ArrayView2<'_, f64>, weights: Option<&[f64]>) -> Self {
        let first = usize::from(targets.nrows() == 1);
        let mut class_weights = vec![0.0; targets.nrows() + first];
        for (row, target) in targets.columns().into_iter().enumerate() {
            let class = target.iter().position(|y| *y > 0.0).map_or(0, |output| output + first);
            class_weights[class] += row_weights(weights)(row);
        }
        ClassOrder(argsort_by(class_weights.len(), |a, b| class_weights[b].total_cmp(&class_weights[a])))
    }

    /// Predicted class of a row, given one prediction per output; ties go to the first class in this order.
    pub fn class_of(&self, predictions: ArrayView1<'_, f64>) -> usize {
        let tied = largest_classes(predictions);
        let named = self.0.iter().find(|class| tied.contains(class)).or(tied.first());
        named.copied().unwrap_or(0)
    }

    /// Class numbers in this order; empty if the order is unknown.
    pub fn places(&self) -> &[usize] {
        &self.0
    }
}

/// Whether several classes share the largest prediction of a row, to rounding.
pub fn is_tie(predictions: ArrayView1<'_, f64>) -> bool {
    largest_classes(predictions).len() > 1
}

fn largest_classes(predictions: ArrayView1<'_, f64>) -> Vec<usize> {
    tied_classes(predictions.len(), |output| predictions[output], 1.0).collect()
}

impl Problem {
    /// Class of each row, with the labels of the classes; `None` for regression.
    pub fn classes(&self) -> Option<Classes> {
        let rows = 0..self.rows();
        let is_positive = |class: usize, row: usize| self.targets[[class, row]] > 0.0;
        let per_row = match &self.task {
            Task::Regression => return None,
            Task::Binary { .. } => rows.map(|row| usize::from(is_positive(0, row))).collect(),
            Task::Multiclass { labels } => {
                rows.map(|row| (0..labels.len()).find(|&c| is_positive(c, row)).unwrap_or(0)).collect()
            }
        };
        Some(Classes { per_row, names: self.task.classes() })
    }

    /// Order of the classes by the weight of their rows; `None` for regression.
    pub fn class_order(&self) -> Option<ClassOrder> {
        (self.task != Task::Regression).then(|| ClassOrder::new(self.targets.view(), self.weights()))
    }
}
