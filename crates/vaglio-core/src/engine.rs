//! Questions that engines and search drivers ask of a design. Authors of criteria need not read them.

pub use crate::brent::minimize;
use crate::design::{FoldLineage, Training};
use crate::{
    Design, Error, Feature, Found, Loss, Model, PerFoldPreprocessing, Problem, ProcessGroup, Readout, Result, StopSign,
    Task, Trained, times_power,
};
use ndarray::{Array2, ArrayView2, s};
use std::any::Any;
use std::sync::Arc;

/// Selects rows of an outputs × rows array, in the given order and in standard layout. Cost O(rows · outputs).
///
/// `ndarray`'s `select` along that axis makes a view of each row first and takes six times the memory.
pub fn select_rows<'a>(all: impl Into<ArrayView2<'a, f64>>, rows: &[usize]) -> Array2<f64> {
    let all = all.into();
    let mut out = Array2::zeros((all.nrows(), rows.len()));
    for (mut to, from) in out.rows_mut().into_iter().zip(all.rows()) {
        to.iter_mut().zip(rows).for_each(|(to, &row)| *to = from[row]);
    }
    out
}

/// Extends [`Design`] by the questions of engines and search drivers.
pub trait EngineDesign {
    /// The design.
    fn design(&self) -> &Design;

    /// A copy with one λ instead of the readout's own; unchanged without a readout.
    #[must_use]
    fn at_lambda(&self, lambda: Option<f64>) -> Design {
        match (&self.design().data().training, lambda) {
            (Training::Ridge(readout, map), Some(lambda)) => {
                let one = Readout { lambdas: vec![lambda], refine: false, each_output: false, ..readout.clone() };
                let training = Training::Ridge(one, Arc::clone(map));
                self.design().sharing(|data| data.training = training)
            }
            _ => self.design().clone(),
        }
    }

    /// A copy with other λ to choose from, in increasing order.
    #[must_use]
    fn at_lambdas(&self, lambdas: &[f64]) -> Design {
        match &self.design().data().training {
            Training::Ridge(readout, map) => {
                let others = Readout { lambdas: lambdas.to_vec(), ..readout.clone() };
                let training = Training::Ridge(others, Arc::clone(map));
                self.design().sharing(|data| data.training = training)
            }
            Training::Learner(..) => self.design().clone(),
        }
    }

    /// A copy whose work ends when `sign` is raised.
    #[must_use]
    fn stopping_at(&self, sign: StopSign) -> Design {
        self.design().sharing(|data| {
            if let Training::Learner(_, problem) = &mut data.training {
                **problem = Problem::clone(problem).stopping_at(sign.clone());
            }
            data.sign = sign;
        })
    }

    /// The design with each output's mean subtracted from its numeric targets. Only done if an intercept makes up for
    /// the shift. Residuals then keep the digits that predictions far from 0 lose.
    #[must_use]
    fn centered(&self) -> Design {
        let design = self.design();
        if *design.task() != Task::Regression || !design.readout().is_some_and(|readout| readout.intercept) {
            return design.clone();
        }
        design.derived(|data| {
            let targets = Arc::make_mut(&mut data.targets);
            for mut row in targets.rows_mut() {
                let mean = row.mean().unwrap_or(0.0);
                row -= mean;
            }
        })
    }

    /// A copy that several processes search together. Designs derived from it are searched by one process.
    #[must_use]
    fn searched_by(&self, process_group: Option<Arc<dyn ProcessGroup>>) -> Design {
        self.design().sharing(|data| data.process_group = process_group)
    }

    /// The processes that search the design together, if there are several; they share work on all columns.
    fn process_group(&self) -> Option<&Arc<dyn ProcessGroup>> {
        self.design().data().process_group.as_ref()
    }

    /// The sign that ends the run. Loops over trials that each take long check it before each trial.
    fn sign(&self) -> &StopSign {
        &self.design().data().sign
    }

    /// A copy whose walks at these λ share their computations.
    #[must_use]
    fn shared_by(&self, lambdas: &[Option<f64>]) -> Design {
        self.design().sharing(|data| data.shared_lambdas = lambdas.iter().copied().flatten().collect())
    }

    /// The λ of the walks that share their computations; empty if they do not share.
    fn shared_lambdas(&self) -> &[f64] {
        &self.design().data().shared_lambdas
    }

    /// The number of rows of positive weight. Criteria count rows by it, since only ratios of weights matter.
    fn counted_rows(&self) -> f64 {
        self.design().rows() as f64
    }

    /// The weights over their mean, which add up to [`EngineDesign::counted_rows`]; 1 without weights.
    fn relative_weights(&self) -> Vec<f64> {
        let relative = |weights: &[f64]| crate::labels::relative_weights(weights, self.counted_rows());
        self.design().weights().map_or_else(|| vec![1.0; self.design().rows()], relative)
    }

    /// Number of walks that share their computations, at least 1.
    fn walks(&self) -> usize {
        self.shared_lambdas().len().max(1)
    }

    /// A copy whose paths have no standard errors, because its walks are compared on other rows.
    #[must_use]
    fn without_errors(&self) -> Design {
        self.design().sharing(|data| data.has_errors = false)
    }

    /// Whether entries of paths have standard errors.
    fn has_errors(&self) -> bool {
        self.design().data().has_errors
    }

    /// A copy marked as a sample of `rows` rows. Cost estimates are for these; everything else is for the rows present.
    #[must_use]
    fn sampled_from(&self, rows: usize) -> Design {
        self.design().sharing(|data| data.planned_rows = Some(rows))
    }

    /// A copy whose subsets of rows are searched as well. Rows with equal entries in every list of `subsets` are in the
    /// same designs. Ignored if a list has another length than the rows, or maps are refitted in folds.
    #[must_use]
    fn with_subsets(&self, subsets: &[Vec<usize>]) -> Design {
        let is_of_rows = subsets.iter().all(|part| part.len() == self.design().rows());
        if subsets.is_empty() || !is_of_rows || self.design().in_folds().is_by_maps() {
            return self.design().clone();
        }
        let mut numbers = std::collections::HashMap::new();
        let label = |row: usize| {
            let next = numbers.len() as u32;
            *numbers.entry(subsets.iter().map(|part| part[row]).collect::<Vec<_>>()).or_insert(next)
        };
        let labels = (0..self.design().rows()).map(label).collect();
        self.design().sharing(|data| data.lineage = FoldLineage::Root(labels))
    }

    /// The design restricted to some columns, numbered anew in their order. It serves criteria whose scores are [of a
    /// subset alone](crate::CriterionTraits::is_of_subset_alone). Models still refer to the whole design. Returns
    /// `None` if the learner is trained by its own `fit`, or maps are refitted in folds.
    fn restrict_columns(&self, columns: &[Feature]) -> Option<Design> {
        let design = self.design();
        if design.readout().is_none() || design.in_folds().is_by_maps() {
            return None;
        }
        Some(design.of_other_columns(|data| {
            data.columns = Arc::new(data.columns.select(columns));
            data.names = columns.iter().map(|&feature| data.names[feature].clone()).collect();
            data.blocks = Arc::from([]);
            data.among = None;
            data.bias = data.bias.and_then(|bias| columns.iter().position(|&feature| feature == bias));
            data.in_folds = data.in_folds.select_columns(columns);
            let largest = |of: &Arc<[f64]>| columns.iter().map(|&feature| of[feature]).collect();
            data.scale.largest = data.scale.largest.as_ref().map(largest);
        }))
    }

    /// A label of each row, if subsets of the rows are searched too. Rows with equal labels are in the same subsets.
    fn subset_labels(&self) -> Option<&[u32]> {
        match &self.design().data().lineage {
            FoldLineage::Root(labels) => Some(labels),
            _ => None,
        }
    }

    /// A copy linked to `root` as its subset of rows `rows`. Ignored if the number of rows differs.
    ///
    /// Columns, targets and weights may differ from those of `root`.
    #[must_use]
    fn as_subset_of(&self, root: &Design, rows: &[usize]) -> Design {
        let is_part = rows.len() == self.design().rows() && rows.iter().all(|&row| row < root.rows());
        if !is_part {
            return self.design().clone();
        }
        self.design().sharing(|data| data.lineage = FoldLineage::Subset(Arc::new((root.clone(), rows.to_vec()))))
    }

    /// The design that this is a subset of, with the index there of each row.
    fn root(&self) -> Option<(&Design, &[usize])> {
        match &self.design().data().lineage {
            FoldLineage::Subset(subset) => Some((&subset.0, &subset.1)),
            _ => None,
        }
    }

    /// Upper bound of the magnitude of each column; `None` for a rescaled design.
    fn largest(&self) -> Option<&[f64]> {
        self.design().data().scale.largest.as_deref()
    }

    /// Whether the candidates are the problem's own columns.
    fn is_of(&self, problem: &Problem) -> bool {
        Arc::ptr_eq(&self.design().data().columns, problem.columns())
    }

    /// Findings of the fit of the learner's map, if it has one.
    fn found(&self) -> Found {
        match &self.design().data().training {
            Training::Ridge(_, map) => map.found(),
            Training::Learner(..) => Found::default(),
        }
    }

    /// The entries of `subset` in `rows`, as features × rows.
    fn gather(&self, subset: &[Feature], rows: &[usize]) -> Array2<f64> {
        Array2::from_shape_fn((subset.len(), rows.len()), |(k, j)| self.design().column(subset[k]).get(rows[j]))
    }

    /// The model of a readout trained on the columns `subset` and all rows.
    ///
    /// # Errors
    /// Returns the error of [`FeatureMap::model`](crate::FeatureMap::model), or [`Error::Setting`] without a readout.
    fn model(&self, subset: &[Feature], trained: Trained) -> Result<Model> {
        match &self.design().data().training {
            Training::Ridge(_, map) => map.model(subset, trained),
            Training::Learner(..) => Err(Error::setting("kind", "the learner has no readout")),
        }
    }

    /// The design with its maps refitted on the rows `training`; `None` if maps are not refitted in folds.
    ///
    /// Cost, the first time: fitting the maps and applying them to all rows. Every design asked for stays in memory.
    ///
    /// # Errors
    /// Returns an error of the maps, or [`Error::Shape`] for columns of another shape.
    fn refitted(&self, training: &[usize]) -> Result<Option<Design>> {
        let design = self.design();
        let PerFoldPreprocessing::Maps(by) = design.in_folds() else { return Ok(None) };
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
            (data.columns, data.in_folds) = (columns, PerFoldPreprocessing::default());
        })))
    }

    /// The designs of [`EngineDesign::refitted`] for several lists of training rows. Returns `None` if no maps are
    /// refitted, or the first call had other lists.
    ///
    /// # Errors
    /// Returns an error of [`EngineDesign::refitted`].
    fn refitted_each(&self, trainings: &[Vec<usize>]) -> Result<Option<&[Design]>> {
        let folds = &self.design().own().folds;
        if folds.get().is_none() {
            let made = trainings.iter().map(|training| self.refitted(training));
            let Some(made) = made.collect::<Result<Option<Vec<Design>>>>()? else { return Ok(None) };
            let _ = folds.set((trainings.to_vec(), made));
        }
        Ok(folds.get().filter(|(own, _)| own == trainings).map(|(_, designs)| &designs[..]))
    }

    /// The designs of single outputs, if there are several and each has its own λ.
    fn of_outputs(&self) -> Option<&[Design]> {
        let design = self.design();
        let outputs = design.targets().nrows();
        if outputs < 2 || !design.readout().is_some_and(|readout| readout.each_output) {
            return None;
        }
        let made = || (0..outputs).map(|output| of_output(design, output)).collect();
        Some(vaglio_columns::get_or_make(&design.own().outputs, made).as_slice())
    }

    /// The mean loss of some rows or units of the design, by [`Loss::mean`]. Targets and predictions are in the
    /// design's units. A loss without a [`Loss::degree`] sees them in the data's units.
    fn mean_loss(
        &self,
        loss: &dyn Loss,
        targets: ArrayView2<'_, f64>,
        predictions: ArrayView2<'_, f64>,
        weights: Option<&[f64]>,
    ) -> f64 {
        match self.design().target_unit(loss) {
            0 => loss.mean(targets, predictions, weights),
            unit => {
                let in_own = |values: ArrayView2<'_, f64>| values.mapv(|x| times_power(x, unit));
                loss.mean(in_own(targets).view(), in_own(predictions).view(), weights)
            }
        }
    }

    /// A criterion's cached value of type `S` that depends on labels, targets and weights of the rows only, such as
    /// their folds. Like [`Design::session`], but shared with designs of some of the columns.
    fn row_session<S: Any + Default + Send + Sync>(&self) -> Arc<S> {
        self.design().of_rows().of()
    }

    /// Refuses targets whose loss would over- or underflow, for a loss that grows with their power `degree`.
    ///
    /// # Errors
    /// Returns [`Error::Numerical`] for such targets.
    fn check_targets(&self, degree: i32) -> Result<()> {
        self.design().target_units().check_targets(degree)
    }

    /// Exponent of the power of two by which a loss without a [`Loss::degree`] multiplies targets and predictions; 0
    /// for other losses.
    fn target_unit(&self, loss: &dyn Loss) -> i32 {
        if loss.degree().is_some() { 0 } else { self.design().data().scale.targets }
    }
}

impl EngineDesign for Design {
    fn design(&self) -> &Design {
        self
    }
}

/// The design of one output alone, as a number to predict.
fn of_output(design: &Design, output: usize) -> Design {
    let targets = design.targets().slice(s![output..output + 1, ..]).to_owned();
    design.derived(|data| {
        if let Training::Ridge(readout, _) = &mut data.training {
            readout.each_output = false;
        }
        data.lineage = design.data().lineage.clone();
        (data.targets, data.task) = (Arc::new(targets), Task::Regression);
    })
}
