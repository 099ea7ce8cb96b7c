//! Designs whose columns are fitted again on the training rows of each fold.

use crate::design::Training;
use crate::kept::{ByKey, Kept};
use crate::{Columns, Design, Error, InFolds, Problem, Result};
use std::sync::{Arc, OnceLock};

/// What was made of a design for the training rows of folds, shared by the designs of all λ.
type OfTrainings = ByKey<Vec<usize>, Made>;

/// Columns, with what criteria keep of them.
type Made = (Arc<Columns>, Arc<Kept>);

/// The designs that the training rows of folds make, from the first time that they are asked for; a copy of a design makes
/// its own.
#[derive(Debug, Default)]
pub(crate) struct InFold(OnceLock<(Vec<Vec<usize>>, Vec<Design>)>);

impl Clone for InFold {
    fn clone(&self) -> Self {
        InFold::default()
    }
}

impl Design {
    /// The same with what is fitted again on the training rows whenever some rows are held out; maps make all columns of a
    /// problem, whose own they are. Standardizing leaves nothing of a bias.
    #[must_use]
    pub fn fitted_in_folds(self, in_folds: InFolds) -> Self {
        let mut design = self.alone();
        if in_folds.is_standardized() {
            design.bias = None;
        }
        (design.in_folds, design.kept) = (in_folds, Arc::default());
        design
    }

    /// What is fitted again on the training rows whenever some rows are held out.
    pub fn in_folds(&self) -> &InFolds {
        &self.in_folds
    }

    /// The design whose maps are refitted on the rows `training`, where maps are refitted in folds.
    ///
    /// Cost, the first time: that of the maps on all rows. As many such designs stay in memory as are asked for.
    ///
    /// # Errors
    /// Those of the maps; [`Error::Shape`] for columns of another shape.
    pub fn refitted(&self, training: &[usize]) -> Result<Option<Design>> {
        let InFolds::Maps(by) = &self.in_folds else { return Ok(None) };
        let all = self.kept.get_or_default::<OfTrainings>();
        let (columns, kept) = match all.known(training) {
            Some(made) => made,
            None => {
                let columns = by.columns(training)?;
                if (columns.len(), columns.rows()) != (self.features(), self.rows()) {
                    let (rows, count) = (columns.rows(), columns.len());
                    return Err(Error::Shape(format!("{rows} rows of {count} columns were made for a fold")));
                }
                all.keep(training.to_vec(), (Arc::new(columns), Arc::default()))
            }
        };
        let mut design = self.clone().with_columns(columns);
        (design.in_folds, design.kept) = (InFolds::default(), kept);
        Ok(Some(design))
    }

    /// The designs of [`Design::refitted`] for several lists of training rows; `None` where no maps are refitted, or others
    /// were asked for before.
    ///
    /// # Errors
    /// Those of [`Design::refitted`].
    pub fn refitted_each(&self, trainings: &[Vec<usize>]) -> Result<Option<&[Design]>> {
        if self.in_fold.0.get().is_none() {
            let made =
                trainings.iter().map(|training| self.refitted(training)).collect::<Result<Option<Vec<Design>>>>()?;
            let Some(made) = made else { return Ok(None) };
            let _ = self.in_fold.0.set((trainings.to_vec(), made));
        }
        let made = self.in_fold.0.get().filter(|(own, _)| own == trainings);
        Ok(made.map(|(_, designs)| &designs[..]))
    }

    /// The same with columns of maps as all rows made them, whatever is held out.
    pub(crate) fn without_refit(&self) -> Design {
        let mut design = self.clone();
        if design.in_folds.is_by_maps() {
            design.in_folds = InFolds::default();
        }
        design
    }

    fn with_columns(mut self, columns: Arc<Columns>) -> Self {
        if let Training::Learner(_, problem) = &mut self.training {
            **problem = Problem::clone(problem).with_columns(Arc::clone(&columns));
        }
        self.columns = columns;
        self.alone()
    }
}
