//! Designs made from a design, for engines and runs; the author of a criterion need not read them.

use super::{RunContext, TrainingMethod};
use crate::{Design, Error, Feature, FeatureMap, PerFoldPreprocessing, Problem, Result, StopSign, Task};
use ndarray::s;
use rayon::prelude::*;
use std::any::{Any, TypeId};
use std::convert::Infallible;
use std::sync::Arc;

impl Design {
    /// A copy with another problem, whose candidates keep the limits of [`Design::among`]; models refer to the columns
    /// before the change.
    ///
    /// Maps that are refitted in folds make all columns of the problem, which must be the design's own. Standardizing in
    /// folds removes a bias.
    #[must_use]
    pub fn with_problem(&self, change: impl FnOnce(Problem) -> Problem) -> Design {
        let mut problem = change(self.problem().clone());
        problem.bias = problem.bias.filter(|_| !problem.in_folds.is_standardized());
        self.with_change(|design| design.problem = problem)
    }

    /// A copy that selects from these columns alone; all columns keep their indices.
    #[must_use]
    pub fn among(&self, columns: &[Feature]) -> Self {
        let mut among = columns.to_vec();
        among.sort_unstable();
        self.with_change(|design| design.among = Some(among.into()))
    }

    /// A copy that chooses λ among other values, in increasing order; a single value is not refined. Unchanged without
    /// values, or without a readout.
    #[must_use]
    pub fn at_lambda(&self, values: impl IntoIterator<Item = f64>) -> Design {
        let values = Vec::from_iter(values);
        if values.is_empty() || self.readout().is_none() {
            return self.clone();
        }
        self.sharing(|design| {
            if let TrainingMethod::Ridge(readout, _) = &mut design.training {
                readout.refine &= values.len() > 1;
                readout.lambdas = values;
            }
        })
    }

    /// A copy with a changed run, which shares the caches.
    #[must_use]
    pub fn with_run(&self, change: impl FnOnce(&mut RunContext)) -> Design {
        self.sharing(|design| change(&mut design.run))
    }

    /// The run that the design is searched in.
    pub fn run(&self) -> &RunContext {
        &self.run
    }

    /// Number of rows for which costs are estimated: the full design's if this is a sample, else its own.
    pub fn planned_rows(&self) -> usize {
        self.run.planned_rows.unwrap_or_else(|| self.rows())
    }

    /// A copy whose work ends when `sign` is raised.
    #[must_use]
    pub fn with_sign(&self, sign: StopSign) -> Design {
        self.sharing(|design| design.problem.sign = sign)
    }

    /// Cached value of a criterion, by its type: initially the default, and shared by all λ. It must follow from
    /// columns, targets and weights alone.
    pub fn session<S: Any + Default + Send + Sync>(&self) -> Arc<S> {
        let make = || Ok::<Arc<dyn Any + Send + Sync>, Infallible>(Arc::<S>::default());
        let Ok(session) = self.shared.sessions.get_or_try_make(TypeId::of::<S>(), make);
        session.downcast().unwrap_or_default()
    }

    /// Design with maps refitted on the rows `training`, if maps are refitted in folds.
    ///
    /// The first call costs a fit of the maps on all rows; every such design stays in memory.
    pub(super) fn refit(&self, training: &[usize]) -> Result<Option<Design>> {
        let PerFoldPreprocessing::Maps(by) = &self.problem().in_folds else { return Ok(None) };
        let (columns, shared) = self.shared.refitted.get_or_try_make(training.to_vec(), || {
            let columns = by(training)?;
            if (columns.len(), columns.rows()) != (self.features(), self.rows()) {
                let (rows, count) = (columns.rows(), columns.len());
                return Err(Error::Shape(format!("{rows} rows of {count} columns were made for a fold")));
            }
            Ok((Arc::new(columns), Arc::default()))
        })?;
        Ok(Some(self.derived_with(shared, |design| {
            (design.problem.columns, design.problem.in_folds) = (columns, PerFoldPreprocessing::default());
        })))
    }
}

/// The fitted map that made the columns of a design, unless the learner is trained by its own `fit` alone.
pub fn feature_map(design: &Design) -> Option<&dyn FeatureMap> {
    match &design.training {
        TrainingMethod::Ridge(_, map) => Some(&**map),
        TrainingMethod::Learner(_) => None,
    }
}

/// Designs with maps refitted on each of several lists of training rows, on all threads. Returns `None` if no maps are
/// refitted, or other lists were requested before.
///
/// # Errors
/// Errors of the maps; [`Error::Shape`] for columns of another shape.
pub fn refit_each<'d>(design: &'d Design, trainings: &[Vec<usize>]) -> Result<Option<&'d [Design]>> {
    let folds = &design.own.folds;
    if folds.get().is_none() {
        let made = trainings.par_iter().map(|training| design.refit(training));
        let Some(made) = made.collect::<Result<Option<Vec<Design>>>>()? else { return Ok(None) };
        let _ = folds.set((trainings.to_vec(), made));
    }
    Ok(folds.get().filter(|(own, _)| own == trainings).map(|(_, designs)| &designs[..]))
}

/// Designs of the single outputs, if there are several and each has its own λ.
pub fn single_outputs(design: &Design) -> Option<&[Design]> {
    let outputs = design.targets().nrows();
    if outputs < 2 || !design.readout().is_some_and(|readout| readout.each_output) {
        return None;
    }
    let single = |output: usize| {
        let targets = design.targets().slice(s![output..output + 1, ..]).to_owned();
        design.with_change(|single| {
            if let TrainingMethod::Ridge(readout, _) = &mut single.training {
                readout.each_output = false;
            }
            single.run.lineage = design.run.lineage.clone();
            let problem = &mut single.problem;
            (problem.targets, problem.task) = (Arc::new(targets), Task::Regression);
            problem.target_names = Arc::from([problem.target_names[output].clone()]);
        })
    };
    Some(vaglio_columns::get_or_make(&design.own.outputs, || (0..outputs).map(single).collect()).as_slice())
}
