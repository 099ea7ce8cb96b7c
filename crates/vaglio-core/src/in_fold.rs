//! Columns that maps make anew of the training rows of each fold.

use crate::design::Training;
use crate::kept::{ByKey, Kept};
use crate::{Columns, Design, Error, Problem, Result};
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

/// Makes columns as maps make them that are fitted on some of the rows.
pub trait MadeAnew: Debug + Send + Sync {
    /// All columns of the problem, of all its rows, by what is learned from the rows `training`.
    ///
    /// # Errors
    /// Those of the maps.
    fn columns(&self, training: &[usize]) -> Result<Columns>;
}

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
    /// The same, of a problem whose columns are its own, with columns that are made anew of the training rows whenever some
    /// rows are held out.
    #[must_use]
    pub fn making_anew_in_folds(self, by: Arc<dyn MadeAnew>) -> Self {
        let mut design = self.afresh();
        design.anew = Some(by);
        design
    }

    /// Whether columns are made anew of the training rows whenever some rows are held out.
    pub fn is_mapped_in_folds(&self) -> bool {
        self.anew.is_some()
    }

    /// The design whose columns are made of the rows `training`, if columns are made anew whenever some rows are held out.
    ///
    /// Cost, the first time: that of the maps on all rows. As many such designs stay in memory as are asked for.
    ///
    /// # Errors
    /// Those of the maps; [`Error::Shape`] for columns of another shape.
    pub fn made_of(&self, training: &[usize]) -> Result<Option<Design>> {
        let Some(by) = &self.anew else { return Ok(None) };
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
        (design.anew, design.kept) = (None, kept);
        Ok(Some(design))
    }

    /// The designs of [`Design::made_of`] for several lists of training rows; `None` where nothing is made anew, or others
    /// were asked for before.
    ///
    /// # Errors
    /// Those of [`Design::made_of`].
    pub fn made_of_each(&self, trainings: &[Vec<usize>]) -> Result<Option<&[Design]>> {
        if self.in_fold.0.get().is_none() {
            let made =
                trainings.iter().map(|training| self.made_of(training)).collect::<Result<Option<Vec<Design>>>>()?;
            let Some(made) = made else { return Ok(None) };
            let _ = self.in_fold.0.set((trainings.to_vec(), made));
        }
        let made = self.in_fold.0.get().filter(|(own, _)| own == trainings);
        Ok(made.map(|(_, designs)| &designs[..]))
    }

    /// The same with the columns as all rows made them, whatever is held out.
    pub(crate) fn not_anew(&self) -> Design {
        let mut design = self.clone();
        design.anew = None;
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
