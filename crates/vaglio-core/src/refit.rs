//! Designs whose maps are refitted on the training rows of folds.

use crate::design::Training;
use crate::{Design, Error, InFolds, Problem, Result};
use std::sync::Arc;

/// The design whose maps are refitted on the rows `training`, where maps are refitted in folds.
pub(crate) fn refitted(design: &Design, training: &[usize]) -> Result<Option<Design>> {
    let InFolds::Maps(by) = design.in_folds() else { return Ok(None) };
    let all = &design.shared().refitted;
    let (columns, shared) = match all.known(training) {
        Some(known) => known,
        None => {
            let columns = by.columns(training)?;
            if (columns.len(), columns.rows()) != (design.features(), design.rows()) {
                let (rows, count) = (columns.rows(), columns.len());
                return Err(Error::Shape(format!("{rows} rows of {count} columns were made for a fold")));
            }
            all.keep(training.to_vec(), (Arc::new(columns), Arc::default()))
        }
    };
    Ok(Some(design.derived_with(shared, |data| {
        if let Training::Learner(_, problem) = &mut data.training {
            **problem = Problem::clone(problem).with_columns(Arc::clone(&columns));
        }
        (data.columns, data.in_folds) = (columns, InFolds::default());
    })))
}

/// The designs of [`refitted`] for several lists of training rows.
pub(crate) fn refitted_each<'d>(design: &'d Design, trainings: &[Vec<usize>]) -> Result<Option<&'d [Design]>> {
    let folds = &design.own().folds;
    if folds.get().is_none() {
        let made = trainings.iter().map(|training| refitted(design, training));
        let Some(made) = made.collect::<Result<Option<Vec<Design>>>>()? else { return Ok(None) };
        let _ = folds.set((trainings.to_vec(), made));
    }
    Ok(folds.get().filter(|(own, _)| own == trainings).map(|(_, designs)| &designs[..]))
}
