//! The columns that a search selects from, with targets, row weights and the way to train on them.

mod losses;
mod run_context;
mod scaling;
mod training;
mod variants;

use crate::learner::Identity;
use crate::power_of_two::{PowerOfTwoScaling, largest};
use crate::session::SharedCaches;
use crate::{
    Column, Columns, Error, Feature, FeatureMap, Learner, PerFoldPreprocessing, Problem, Readout, Result, Score, lambda,
};
pub use losses::{in_loss_units, prediction_units, target_unit};
use ndarray::ArrayView2;
pub use run_context::{FoldLineage, ProcessGroup, RunContext};
pub use scaling::{far_exponent, rescale};
use std::sync::{Arc, OnceLock};
pub use training::training_weights;
pub use variants::{feature_map, refit_each, single_outputs};

/// The columns that a search walks, with targets, row weights and the way to train on them.
///
/// Methods are for authors of criteria, learners and searches. Engines and runs also use functions of a design:
/// [`rescale`], [`single_outputs`], [`refit_each`], [`feature_map`], [`prediction_units`], [`in_loss_units`] and
/// [`training_weights`].
///
/// A copy shares all cached values. Only the functions of this file pass them on to another design.
#[derive(Debug, Clone)]
pub struct Design {
    /// The searched columns, with targets, labels of the rows and the preprocessing that is fitted again in each fold.
    problem: Problem,
    /// Columns that may be selected, in increasing order; `None` for all that are not constant.
    among: Option<Arc<[Feature]>>,
    /// Training on some of the rows.
    training: TrainingMethod,
    /// Exponent of the power of two by which targets were divided, if the numbers were rescaled.
    rescaled: Option<i32>,
    /// The run that the design is searched in.
    run: RunContext,
    shared: Arc<SharedCaches>,
    own: Arc<OwnCaches>,
}

/// Designs that follow from one design.
#[derive(Debug, Default)]
struct OwnCaches {
    /// The rescaled design; `None` if it needs no rescaling.
    pub scaled: OnceLock<Option<Box<(PowerOfTwoScaling, Design)>>>,
    /// The design of each output.
    pub outputs: OnceLock<Vec<Design>>,
    /// The designs refitted on the first requested lists of training rows.
    pub folds: OnceLock<(Vec<Vec<usize>>, Vec<Design>)>,
}

/// How a [`Design`] is trained on some of its rows.
#[derive(Debug, Clone)]
enum TrainingMethod {
    /// A ridge readout on the columns that a map made.
    Ridge(Readout, Arc<dyn FeatureMap>),
    /// A learner that is trained by its own `fit` alone.
    Learner(Arc<dyn Learner>),
}

impl Design {
    /// The design of a learner: the features of its readout, or a design that refits it. A map stops at
    /// [`Problem::sign`].
    ///
    /// # Errors
    /// Errors of [`Learner::check`] and [`Learner::design`]; [`Error::Setting`] for a bias that is refused.
    pub fn from_problem(problem: &Problem, learner: Arc<dyn Learner>) -> Result<Self> {
        learner.check(problem)?;
        let design = match learner.readout()? {
            Some(readout) => learner.design(problem, readout)?,
            None => Design::assemble(problem.clone(), TrainingMethod::Learner(learner)),
        };
        let Some(name) = problem.bias().map(|bias| &problem.names[bias]) else { return Ok(design) };
        match design.readout().filter(|_| design.problem().has_columns_of(problem)) {
            Some(readout) if readout.intercept => Err(Error::setting(
                "intercept",
                format!("`{name}` is a bias that is selected and penalized like other columns; set it to false"),
            )),
            Some(_) => Ok(design),
            None => Err(Error::setting(
                "kind",
                format!(
                    "`{name}` is a bias for ridge regression on the columns themselves; use `rls`, or leave it out"
                ),
            )),
        }
    }

    /// The problem's own columns with a ridge readout on them.
    pub fn identity(problem: &Problem, readout: Readout) -> Self {
        Design::assemble(problem.clone(), TrainingMethod::Ridge(readout, Arc::new(Identity)))
    }

    /// Columns that a learner's `map` made from the problem's, with a ridge readout on them.
    ///
    /// For a map that drops rows, `problem` holds the rows that are kept.
    ///
    /// # Errors
    /// [`Error::Shape`] if rows or names do not fit.
    pub fn from_map(
        problem: &Problem,
        columns: Columns,
        names: Vec<String>,
        readout: Readout,
        map: Arc<dyn FeatureMap>,
    ) -> Result<Self> {
        if columns.rows() != problem.rows() || names.len() != columns.len() {
            return Err(Error::Shape(format!(
                "a map made {} columns of {} rows with {} names out of {} rows",
                columns.len(),
                columns.rows(),
                names.len(),
                problem.rows()
            )));
        }
        let problem = Problem {
            largest: columns.iter().map(largest).collect(),
            columns: Arc::new(columns),
            names: names.into(),
            blocks: Arc::from([]),
            bias: None,
            ..problem.clone()
        };
        Ok(Design::assemble(problem, TrainingMethod::Ridge(readout, map)))
    }

    /// A design without the problem's preprocessing in folds.
    fn assemble(problem: Problem, training: TrainingMethod) -> Self {
        Design {
            problem: problem.with_preprocessing(PerFoldPreprocessing::default()),
            among: None,
            training,
            rescaled: None,
            run: RunContext::default(),
            shared: Arc::default(),
            own: Arc::default(),
        }
    }

    /// A changed copy without lineage, process group or cached values.
    fn with_change(&self, change: impl FnOnce(&mut Design)) -> Self {
        self.derived_with(Arc::default(), change)
    }

    /// Like [`Design::with_change`], with the caches of a design that differs in λ alone.
    fn derived_with(&self, shared: Arc<SharedCaches>, change: impl FnOnce(&mut Design)) -> Self {
        self.sharing(|design| {
            (design.run.process_group, design.run.lineage) = (None, FoldLineage::Alone);
            design.shared = shared;
            change(design);
        })
    }

    /// A copy that differs in λ or the run alone, and shares the caches that depend on neither.
    fn sharing(&self, change: impl FnOnce(&mut Design)) -> Self {
        let mut design = Design { own: Arc::default(), ..self.clone() };
        change(&mut design);
        design
    }

    /// The searched columns as a problem, with targets and labels of the rows. Preprocessing of the problem is fitted
    /// again on the training rows of each fold.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Number of rows, m.
    pub fn rows(&self) -> usize {
        self.problem.rows()
    }

    /// Number of candidate columns, n.
    pub fn features(&self) -> usize {
        self.problem.columns.len()
    }

    /// Candidate column `feature`.
    pub fn column(&self, feature: Feature) -> Column<'_> {
        self.problem.columns.column(feature)
    }

    /// Targets, outputs × rows; classes are coded ±1.
    pub fn targets(&self) -> ArrayView2<'_, f64> {
        self.problem.targets.view()
    }

    /// Row weights, all positive, if there are any.
    pub fn weights(&self) -> Option<&[f64]> {
        self.problem.weights()
    }

    /// The ridge readout, unless the learner is trained by its own `fit` alone.
    pub fn readout(&self) -> Option<&Readout> {
        match &self.training {
            TrainingMethod::Ridge(readout, _) => Some(readout),
            TrainingMethod::Learner(..) => None,
        }
    }

    /// Whether there is a readout with an intercept.
    pub fn has_intercept(&self) -> bool {
        self.readout().is_some_and(|readout| readout.intercept)
    }

    /// λ values that are tried for every subset: the readout's, or one `None` without a readout.
    pub fn lambdas(&self) -> Vec<Option<f64>> {
        self.readout().map_or_else(|| vec![None], |readout| readout.lambdas.iter().map(|&l| Some(l)).collect())
    }

    /// Lowest loss over [`Design::lambdas`], and between them if the readout refines λ; ties take the smallest λ.
    pub fn best_lambda(&self, loss: impl FnMut(Option<f64>) -> Result<f64>) -> Result<Score> {
        lambda::lowest(&self.lambdas(), self.readout().is_some_and(|readout| readout.refine), loss)
    }

    /// Columns that may be selected, in increasing order: the bias and all that are not constant, limited to
    /// [`Design::among`].
    pub fn candidates(&self) -> Vec<Feature> {
        let is_left = |f: &Feature| self.among.as_ref().is_none_or(|among| among.binary_search(f).is_ok());
        (0..self.features()).filter(|f| is_left(f) && !self.problem().is_constant(*f)).collect()
    }
}
