//! Selection of rows or columns of a problem, and replacement of its targets.

use super::{Block, Problem, finite_targets};
use crate::prediction_units::PredictionUnits;
use crate::{Columns, Error, Feature, Result};
use ndarray::Array2;
use std::sync::Arc;

impl Problem {
    /// Selects the rows `rows`, in that order. The copy no longer refits maps in folds.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        self.with_rows(rows, self.columns.select_rows(rows))
    }

    /// Like [`Problem::select_rows`], but copies a column when it is first read ([`Columns::view_rows`]).
    #[must_use]
    pub fn view_rows(&self, rows: &[usize]) -> Self {
        self.with_rows(rows, self.columns.view_rows(rows))
    }

    /// Replaces the targets, outputs × rows.
    ///
    /// # Errors
    /// [`Error::Shape`] for another shape, or different targets in one unit; [`Error::NonFinite`].
    pub fn with_targets(&self, targets: Array2<f64>) -> Result<Self> {
        if targets.dim() != self.targets.dim() {
            return Err(Error::Shape(format!("targets of {:?} for {:?}", targets.dim(), self.targets.dim())));
        }
        let targets = finite_targets(Arc::new(targets), &self.target_names)?;
        PredictionUnits::check(self.labels.units.as_deref(), &targets)?;
        Ok(Problem { targets, ..self.clone() })
    }

    fn with_rows(&self, rows: &[usize], columns: Columns) -> Self {
        Problem {
            columns: Arc::new(columns),
            targets: Arc::new(crate::select_rows(&*self.targets, rows)),
            labels: self.labels.select(rows),
            in_folds: self.in_folds.select_rows(rows),
            ..self.clone()
        }
    }

    /// Selects the columns `features`, in that order, with all labels of the rows. Blocks keep the selected columns
    /// only. The copy shares the values of columns.
    ///
    /// # Errors
    /// [`Error::Shape`] for a column that does not exist, or is listed twice.
    ///
    /// # Example
    /// ```
    /// use vaglio_core::{Columns, Problem, Task};
    /// let mut columns = Columns::new(2);
    /// columns.push(vec![1.0, 2.0]);
    /// columns.push(vec![5.0, 7.0]);
    /// let names = vec!["x".into(), "z".into()];
    /// let problem = Problem::new(columns, names, ndarray::array![[1.0, 2.0]], vec!["y".into()], Task::Regression)?;
    /// assert_eq!(problem.select_columns(&[1])?.names()[..], ["z"]);
    /// # Ok::<(), vaglio_core::Error>(())
    /// ```
    pub fn select_columns(&self, features: &[Feature]) -> Result<Self> {
        let mut place = vec![None; self.columns.len()];
        for (at, &feature) in features.iter().enumerate() {
            let Some(slot) = place.get_mut(feature) else {
                return Err(Error::Shape(format!("there is no column {feature}")));
            };
            if slot.replace(at).is_some() {
                return Err(Error::Shape(format!("the column `{}` is taken twice", self.names[feature])));
            }
        }
        let left = |block: &Block| {
            let mut columns: Vec<Feature> = block.columns.iter().filter_map(|&column| place[column]).collect();
            columns.sort_unstable();
            (!columns.is_empty()).then(|| Block { name: block.name.clone(), columns })
        };
        Ok(Problem {
            columns: Arc::new(self.columns.select(features)),
            largest: features.iter().map(|&feature| self.largest[feature]).collect(),
            names: features.iter().map(|&feature| self.names[feature].clone()).collect(),
            blocks: self.blocks.iter().filter_map(left).collect(),
            in_folds: self.in_folds.select_columns(features),
            bias: self.bias.and_then(|bias| place[bias]),
            ..self.clone()
        })
    }
}
