//! What is searched: the learner's columns, feature-major, with what is fitted on them.

use crate::{Block, Column, Columns, Error, Feature, Learner, Problem, Result, Score, Task, lambda, ridge};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// The ridge readout that is fitted on the columns of a [`Design`].
#[derive(Debug, Clone, PartialEq)]
pub struct Readout {
    /// The λ to choose from, in increasing order; one for a fixed λ.
    pub lambdas: Vec<f64>,
    /// Whether the λ between the best of them and its neighbours are searched as well.
    pub refine: bool,
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
        Ok(Readout { lambdas, refine: false, intercept })
    }

    /// The same with a search between the best λ and its neighbours.
    #[must_use]
    pub fn refined(self) -> Self {
        Readout { refine: true, ..self }
    }
}

/// The classes of the rows of a [`Design`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The class of each row, an index into the labels.
    pub of_row: Vec<usize>,
    /// The classes' labels.
    pub names: Vec<String>,
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
    assignment: Option<Arc<[u32]>>,
    blocks: Arc<[Block]>,
    seed: u64,
    standardized_in_folds: bool,
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
            assignment: problem.assignment().cloned(),
            blocks: Arc::clone(problem.blocks()),
            seed: 0,
            standardized_in_folds: false,
            training,
        }
    }

    /// The same with the seed from which every random choice follows.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Design { seed, ..self }
    }

    /// The same with columns that are standardized anew on the training rows whenever some rows are held out.
    #[must_use]
    pub fn standardizing_in_folds(self) -> Self {
        Design { standardized_in_folds: true, ..self }
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

    /// The fold that the user gave each row, if any.
    pub fn assignment(&self) -> Option<&[u32]> {
        self.assignment.as_deref()
    }

    /// Columns that a map made of one, such as the levels of a text column.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The seed from which every random choice follows.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether columns are standardized anew on the training rows whenever some rows are held out.
    pub fn is_standardized_in_folds(&self) -> bool {
        self.standardized_in_folds
    }

    /// Whether the candidates are the problem's own columns.
    pub fn is_of(&self, problem: &Problem) -> bool {
        Arc::ptr_eq(&self.columns, problem.columns())
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

    /// The lowest of a loss over the λ of [`Design::lambdas`], and between them where the readout says so; the smallest
    /// λ among equals.
    ///
    /// # Errors
    /// Those of `loss`.
    pub fn best_lambda(&self, mut loss: impl FnMut(Option<f64>) -> Result<f64>) -> Result<Score> {
        match self.readout() {
            Some(readout) if readout.refine => lambda::refine(&readout.lambdas, |l| loss(Some(l))),
            _ => {
                let mut best = Score::WORST;
                for lambda in self.lambdas() {
                    let loss = loss(lambda)?;
                    if loss < best.loss {
                        best = Score { loss, lambda };
                    }
                }
                Ok(best)
            }
        }
    }

    /// The class of each row, with the classes' labels; `None` for numbers.
    pub fn classes(&self) -> Option<Classes> {
        let rows = 0..self.rows();
        let is_positive = |class: usize, row: usize| self.targets[[class, row]] > 0.0;
        Some(match &self.task {
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

    /// The columns whose entries are all equal.
    pub fn constant(&self) -> Vec<Feature> {
        (0..self.features()).filter(|&f| self.column(f).is_constant()).collect()
    }

    /// The columns that may be selected, in increasing order: those that are not constant.
    pub fn candidates(&self) -> Vec<Feature> {
        (0..self.features()).filter(|&f| !self.column(f).is_constant()).collect()
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
                let mut x = self.gather(subset, training);
                let y = self.targets.select(ndarray::Axis(1), training);
                let weights: Option<Vec<f64>> = self.weights().map(|w| training.iter().map(|&r| w[r]).collect());
                let lambda = lambda.unwrap_or(readout.lambdas[0]);
                let mut held = self.gather(subset, held_out);
                if self.standardized_in_folds {
                    standardize(&mut x, &mut held, weights.as_deref());
                }
                let fitted = ridge::ridge(x.view(), y.view(), weights.as_deref(), lambda, readout.intercept)?;
                Ok(fitted.predict(held.view()))
            }
            Training::Learner(learner, problem) => {
                let model = learner.fit(&problem.select_rows(training), subset, lambda)?;
                model.predict(&problem.columns().select(model.inputs()).select_rows(held_out))
            }
        }
    }
}

/// Subtracts the weighted mean of each row of `x` from both and divides by its population standard deviation; a row
/// whose entries in `x` are all equal is divided by 1.
fn standardize(x: &mut Array2<f64>, held: &mut Array2<f64>, weights: Option<&[f64]>) {
    let weight = |j: usize| weights.map_or(1.0, |w| w[j]);
    let total: f64 = (0..x.ncols()).map(weight).sum();
    for (mut x, mut held) in x.rows_mut().into_iter().zip(held.rows_mut()) {
        let Some(&first) = x.first() else { continue };
        if x.iter().all(|v| *v == first) {
            x.fill(0.0);
            held -= first;
            continue;
        }
        // The second pass takes off what rounding left in the first.
        for _ in 0..2 {
            let mean = x.iter().enumerate().map(|(j, v)| weight(j) * v).sum::<f64>() / total;
            x -= mean;
            held -= mean;
        }
        let deviation = (x.iter().enumerate().map(|(j, v)| weight(j) * v * v).sum::<f64>() / total).sqrt();
        x /= deviation;
        held /= deviation;
    }
}
