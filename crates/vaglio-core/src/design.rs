//! What is searched: the learner's columns, feature-major, with what is fitted on them.

use crate::decisions::Decisions;
use crate::kept::Kept;
use crate::model::Identity;
use crate::outputs::OfOutputs;
use crate::part::{Part, Parted};
use crate::refit::InFold;
use crate::units::{InUnits, largest};
use crate::{
    Block, Column, Columns, Error, Feature, FeatureMap, Form, InFolds, Learner, Model, Problem, Readout, Result, Score,
    StopSign, Task, Trained, lambda,
};
use ndarray::{Array2, ArrayView2, s};
use std::sync::Arc;

/// How a [`Design`] is trained on some of its rows.
#[derive(Debug, Clone)]
pub(crate) enum Training {
    /// A ridge readout on the columns, which a map made.
    Ridge(Readout, Arc<dyn FeatureMap>),
    /// A learner that is trained by its own `fit` alone.
    Learner(Arc<dyn Learner>, Box<Problem>),
}

/// The columns that a search walks, with targets, row weights and the way to train on them.
#[derive(Debug, Clone)]
pub struct Design {
    pub(crate) columns: Arc<Columns>,
    names: Arc<[String]>,
    pub(crate) targets: Arc<Array2<f64>>,
    task: Task,
    pub(crate) weights: Option<Arc<[f64]>>,
    groups: Option<Arc<[u32]>>,
    assignment: Option<Arc<[u32]>>,
    series: Option<Arc<[u32]>>,
    time: Option<Arc<[u32]>>,
    blocks: Arc<[Block]>,
    pub(crate) decisions: Option<Arc<Decisions>>,
    seed: u64,
    pub(crate) in_folds: InFolds,
    pub(crate) in_fold: InFold,
    pub(crate) bias: Option<Feature>,
    /// Shared with the designs of other λ.
    pub(crate) kept: Arc<Kept>,
    pub(crate) of_outputs: OfOutputs,
    pub(crate) in_units: InUnits,
    /// The power of two that targets were divided by.
    pub(crate) target_unit: i32,
    /// The largest magnitude of each column, or more; `None` where the numbers are over their units already.
    pub(crate) largest: Option<Arc<[f64]>>,
    walks: usize,
    pub(crate) has_errors: bool,
    /// The rows of the design that this is a sample of.
    pub(crate) planned: Option<usize>,
    pub(crate) parted: Option<Parted>,
    pub(crate) part: Option<Arc<Part>>,
    /// The columns that may be selected, where they are not all that are not constant.
    among: Option<Arc<[Feature]>>,
    sign: StopSign,
    pub(crate) training: Training,
}

impl Design {
    /// The design of a learner on a problem: by its linear form where it has one, else by refitting it.
    ///
    /// # Errors
    /// Those of [`Learner::check_problem`] and of the learner's linear form; [`Error::Setting`] for a problem with a bias and a learner that has another
    /// intercept, or none to be selected.
    pub fn of(problem: &Problem, learner: Arc<dyn Learner>) -> Result<Self> {
        learner.check_problem(problem)?;
        if let Form::Linear(form) = learner.form() {
            let design = form.design(problem)?;
            design.refuse_bias(problem)?;
            return Ok(design);
        }
        let (columns, names) = (Arc::clone(problem.columns()), Arc::clone(problem.names()));
        let design = Design::assemble(problem, columns, names, Training::Learner(learner, Box::new(problem.clone())));
        design.refuse_bias(problem)?;
        Ok(design)
    }

    /// The problem's own columns with a ridge readout on them.
    pub fn identity(problem: &Problem, readout: Readout) -> Self {
        let (columns, names) = (Arc::clone(problem.columns()), Arc::clone(problem.names()));
        Design::assemble(problem, columns, names, Training::Ridge(readout, Arc::new(Identity)))
    }

    /// Columns that a learner's `map` made of the problem's, with a ridge readout on them.
    ///
    /// A map that drops rows gives the problem of those that it keeps.
    ///
    /// # Errors
    /// [`Error::Shape`] when rows or names do not fit.
    pub fn mapped(
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
        let blocks: Arc<[Block]> = Arc::from([]);
        let training = Training::Ridge(readout, map);
        let largest = Some(columns.iter().map(largest).collect());
        Ok(Design {
            blocks,
            bias: None,
            largest,
            ..Design::assemble(problem, Arc::new(columns), names.into(), training)
        })
    }

    fn assemble(problem: &Problem, columns: Arc<Columns>, names: Arc<[String]>, training: Training) -> Self {
        Design {
            columns,
            names,
            targets: Arc::clone(problem.targets()),
            task: problem.task().clone(),
            weights: problem.weights().cloned(),
            groups: problem.groups().cloned(),
            series: problem.series().cloned(),
            time: problem.time().cloned(),
            assignment: problem.assignment().cloned(),
            blocks: Arc::clone(problem.blocks()),
            decisions: None,
            seed: problem.seed(),
            in_folds: InFolds::default(),
            in_fold: InFold::default(),
            bias: problem.bias(),
            kept: Arc::default(),
            of_outputs: OfOutputs::default(),
            in_units: InUnits::default(),
            target_unit: 0,
            largest: Some(Arc::clone(&problem.largest)),
            walks: 1,
            has_errors: true,
            planned: None,
            parted: None,
            part: None,
            among: None,
            sign: StopSign::default(),
            training,
        }
    }

    /// The same with the seed from which every random choice follows.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Design { seed, ..self.alone() }
    }

    /// The same with predictions that are averaged over the rows of each unit, and losses that are means over units.
    ///
    /// # Errors
    /// [`Error::Shape`] for a wrong length, or rows of one unit with unlike targets.
    pub fn deciding_by(self, units: &[u32]) -> Result<Self> {
        let decisions = Decisions::new(units, self.targets.view(), self.weights())?;
        Ok(Design { decisions: Some(Arc::new(decisions)), ..self.alone() })
    }

    /// The same for work that ends when the sign says so.
    #[must_use]
    pub fn stopping_at(self, sign: StopSign) -> Self {
        Design { sign, ..self }
    }

    /// Whether the run is to end: what loops over trials that each take long ask before each.
    pub fn sign(&self) -> &StopSign {
        &self.sign
    }

    /// The same with one λ in place of those of the readout; a learner without a readout has none and stays.
    #[must_use]
    pub fn at_lambda(&self, lambda: Option<f64>) -> Self {
        let mut design = self.clone();
        if let (Training::Ridge(readout, _), Some(lambda)) = (&mut design.training, lambda) {
            *readout = Readout { lambdas: vec![lambda], refine: false, each_output: false, ..readout.clone() };
        }
        design
    }

    /// The same, of whose columns only these may be selected; the others keep their indices.
    #[must_use]
    pub fn among(&self, columns: &[Feature]) -> Self {
        let mut among = columns.to_vec();
        among.sort_unstable();
        Design { among: Some(among.into()), kept: Arc::default(), ..self.clone().alone() }
    }

    /// The same, of which so many walks share what is kept: one for each of several λ.
    #[must_use]
    pub fn shared_by(self, walks: usize) -> Self {
        Design { walks: walks.max(1), ..self }
    }

    /// The same, whose walks are judged on other rows, so that entries of paths need no standard errors.
    #[must_use]
    pub fn without_errors(self) -> Self {
        Design { has_errors: false, ..self }
    }

    /// How many walks share what is kept.
    pub fn walks(&self) -> usize {
        self.walks
    }

    /// What a criterion kept of this design or of the same at another λ, if it kept such a thing.
    pub fn kept<T: std::any::Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.kept.get()
    }

    /// Keeps what was computed of columns, targets and weights alone, for the same design at other λ.
    pub fn keep<T: std::any::Any + Send + Sync>(&self, value: Arc<T>) {
        self.kept.set(value);
    }

    /// The same with one output alone, as a number to be predicted, which has what is kept to itself.
    pub(crate) fn of_output(&self, output: usize) -> Design {
        let targets = self.targets.slice(s![output..output + 1, ..]).to_owned();
        let mut design = self.clone();
        if let Training::Ridge(readout, _) = &mut design.training {
            *readout = Readout { each_output: false, ..readout.clone() };
        }
        Design { targets: Arc::new(targets), task: Task::Regression, kept: Arc::default(), ..design }
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

    /// The series of each row, if given; the rows of one stand together, in the order of time.
    pub fn series(&self) -> Option<&[u32]> {
        self.series.as_deref()
    }

    /// The place of each row's time among all times, from 0, if given.
    pub fn time(&self) -> Option<&[u32]> {
        self.time.as_deref()
    }

    /// Columns that a map made of one, such as the levels of a text column.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The seed from which every random choice follows.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the candidates are the problem's own columns.
    pub fn is_of(&self, problem: &Problem) -> bool {
        Arc::ptr_eq(&self.columns, problem.columns())
    }

    /// The ridge readout, unless the learner is trained by its own `fit` alone.
    pub fn readout(&self) -> Option<&Readout> {
        match &self.training {
            Training::Ridge(readout, _) => Some(readout),
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

    /// The column that may be selected although it is constant, if there is one.
    pub fn bias(&self) -> Option<Feature> {
        self.bias
    }

    /// Whether all entries of a column are equal, so that it cannot be selected; the bias can.
    pub fn is_constant(&self, feature: Feature) -> bool {
        self.bias != Some(feature) && self.columns.is_constant(feature)
    }

    /// The columns whose entries are all equal, without the bias.
    pub fn constant(&self) -> Vec<Feature> {
        (0..self.features()).filter(|&f| self.is_constant(f)).collect()
    }

    /// The columns that may be selected, in increasing order: those that are not constant, and the bias, of those that
    /// [`Design::among`] leaves.
    pub fn candidates(&self) -> Vec<Feature> {
        let is_left = |f: &Feature| self.among.as_ref().is_none_or(|among| among.binary_search(f).is_ok());
        (0..self.features()).filter(|f| is_left(f) && !self.is_constant(*f)).collect()
    }

    /// The entries of `subset` in `rows`, as features × rows.
    pub fn gather(&self, subset: &[Feature], rows: &[usize]) -> Array2<f64> {
        Array2::from_shape_fn((subset.len(), rows.len()), |(k, j)| self.column(subset[k]).get(rows[j]))
    }

    /// The units over which predictions are averaged, if the design decides by these.
    pub fn decisions(&self) -> Option<&Decisions> {
        self.decisions.as_deref()
    }

    /// The model of a readout that was trained on the columns `subset` and all rows.
    ///
    /// # Errors
    /// Those of the learner's map; [`Error::Setting`] where there is no readout.
    pub fn model(&self, subset: &[Feature], trained: Trained) -> Result<Model> {
        match &self.training {
            Training::Ridge(_, map) => map.model(subset, trained),
            Training::Learner(..) => Err(Error::setting("kind", "the learner has no readout")),
        }
    }
}
