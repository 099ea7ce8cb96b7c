//! What is searched: the learner's columns, feature-major, with what is fitted on them.

use crate::{Column, Columns, Error, Feature, Learner, Problem, Result, Task, ridge};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// The ridge readout that is fitted on the columns of a [`Design`].
#[derive(Debug, Clone, PartialEq)]
pub struct Readout {
    /// The λ to choose from, in increasing order; one for a fixed λ.
    pub lambdas: Vec<f64>,
    /// Whether there is an intercept, which is never penalised.
    pub intercept: bool,
}

impl Readout {
    /// A readout over the given λ, sorted.
    ///
    /// # Errors
    /// [`Error::Setting`] on `lambda` when there is none, or one that is not positive and finite.
    pub fn new(mut lambdas: Vec<f64>, intercept: bool) -> Result<Self> {
        if lambdas.is_empty() {
            return Err(Error::setting("lambda", "at least one value is needed"));
        }
        if let Some(bad) = lambdas.iter().find(|l| !(l.is_finite() && **l > 0.0)) {
            return Err(Error::setting("lambda", format!("{bad} is not a positive finite number")));
        }
        lambdas.sort_by(f64::total_cmp);
        lambdas.dedup();
        Ok(Readout { lambdas, intercept })
    }
}

/// How a [`Design`] is trained on some of its rows.
#[derive(Debug, Clone)]
enum Training {
    /// A ridge readout on the columns.
    Ridge(Readout),
    /// A learner that is trained by its own `fit` alone.
    Learner(Arc<dyn Learner>, Problem),
}

/// The columns that a search walks, with targets, row weights and the way to train on them.
#[derive(Debug, Clone)]
pub struct Design {
    columns: Arc<Columns>,
    names: Arc<[String]>,
    targets: Arc<Array2<f64>>,
    task: Task,
    weights: Option<Arc<[f64]>>,
    groups: Option<Arc<[u32]>>,
    training: Training,
}

impl Design {
    /// The design of a learner on a problem: by its linear form where it has one, else by refitting it.
    ///
    /// # Errors
    /// Those of the learner's linear form.
    pub fn of(problem: &Problem, learner: Arc<dyn Learner>) -> Result<Self> {
        if let Some(form) = learner.linear_form() {
            return form.design(problem);
        }
        let problem = problem.clone();
        let names = Arc::clone(problem.names());
        Ok(Design::assemble(
            &problem,
            Arc::clone(problem.columns()),
            names,
            Training::Learner(learner, problem.clone()),
        ))
    }

    /// The problem's own columns with a ridge readout on them.
    pub fn identity(problem: &Problem, readout: Readout) -> Self {
        let (columns, names) = (Arc::clone(problem.columns()), Arc::clone(problem.names()));
        Design::assemble(problem, columns, names, Training::Ridge(readout))
    }

    /// Columns that a learner's map made of the problem's, with a ridge readout on them.
    ///
    /// # Errors
    /// [`Error::Shape`] when rows or names do not fit.
    pub fn mapped(problem: &Problem, columns: Columns, names: Vec<String>, readout: Readout) -> Result<Self> {
        if columns.rows() != problem.rows() || names.len() != columns.len() {
            return Err(Error::Shape(format!(
                "a map made {} columns of {} rows with {} names out of {} rows",
                columns.len(),
                columns.rows(),
                names.len(),
                problem.rows()
            )));
        }
        Ok(Design::assemble(problem, Arc::new(columns), names.into(), Training::Ridge(readout)))
    }

    fn assemble(problem: &Problem, columns: Arc<Columns>, names: Arc<[String]>, training: Training) -> Self {
        Design {
            columns,
            names,
            targets: Arc::clone(problem.targets()),
            task: problem.task().clone(),
            weights: problem.weights().cloned(),
            groups: problem.groups().cloned(),
            training,
        }
    }

    /// Number of rows, m.
    pub fn rows(&self) -> usize {
        self.columns.rows()
    }

    /// Number of candidate columns, n.
    pub fn features(&self) -> usize {
        self.columns.len()
    }

    /// Candidate column `feature`.
    pub fn column(&self, feature: Feature) -> Column<'_> {
        self.columns.column(feature)
    }

    /// All candidate columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Name of each candidate column.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Targets, outputs × rows; classes are coded ±1.
    pub fn targets(&self) -> ArrayView2<'_, f64> {
        self.targets.view()
    }

    /// What is to be predicted.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Row weights, all positive, if there are any.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Group of each row, if given.
    pub fn groups(&self) -> Option<&[u32]> {
        self.groups.as_deref()
    }

    /// The ridge readout, unless the learner is trained by its own `fit` alone.
    pub fn readout(&self) -> Option<&Readout> {
        match &self.training {
            Training::Ridge(readout) => Some(readout),
            Training::Learner(..) => None,
        }
    }

    /// The λ that a criterion tries for every subset: those of the readout, or one `None` without a readout.
    pub fn lambdas(&self) -> Vec<Option<f64>> {
        self.readout().map_or_else(|| vec![None], |readout| readout.lambdas.iter().map(|&l| Some(l)).collect())
    }

    /// The columns whose entries are all equal.
    pub fn constant(&self) -> Vec<Feature> {
        (0..self.features()).filter(|&f| self.column(f).is_constant()).collect()
    }

    /// The entries of `subset` in `rows`, as features × rows.
    pub fn gather(&self, subset: &[Feature], rows: &[usize]) -> Array2<f64> {
        Array2::from_shape_fn((subset.len(), rows.len()), |(k, j)| self.column(subset[k]).get(rows[j]))
    }

    /// Trains on the rows `training` and columns `subset` alone and predicts the rows `held_out`: outputs × held out.
    ///
    /// This is plain retraining, from which every criterion defines itself. `lambda` is one of [`Design::lambdas`].
    ///
    /// # Errors
    /// [`Error::Numerical`] when the system is singular; the learner's own errors.
    pub fn retrain(
        &self,
        training: &[usize],
        held_out: &[usize],
        subset: &[Feature],
        lambda: Option<f64>,
    ) -> Result<Array2<f64>> {
        match &self.training {
            Training::Ridge(readout) => {
                let x = self.gather(subset, training);
                let y = self.targets.select(ndarray::Axis(1), training);
                let weights: Option<Vec<f64>> = self.weights().map(|w| training.iter().map(|&r| w[r]).collect());
                let lambda = lambda.unwrap_or(readout.lambdas[0]);
                let fitted = ridge::ridge(x.view(), y.view(), weights.as_deref(), lambda, readout.intercept)?;
                Ok(fitted.predict(self.gather(subset, held_out).view()))
            }
            Training::Learner(learner, problem) => {
                let model = learner.fit(&problem.select_rows(training), subset, lambda)?;
                model.predict(&problem.columns().select(model.inputs()).select_rows(held_out))
            }
        }
    }
}
