//! What engines and those who run searches ask of a design, which the author of a criterion need not read.

use crate::design::{Relation, Training};
use crate::{
    AnyLoss, Design, Error, Feature, Loss, Model, Problem, Readout, Result, StopSign, Trained, outputs, refit, scaled,
    times_power,
};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// What engines and those who run searches ask of a [`Design`].
pub trait EngineDesign: Sized {
    /// The same with one λ in place of those of the readout; a learner without a readout has none and stays.
    #[must_use]
    fn at_lambda(&self, lambda: Option<f64>) -> Self;

    /// The same for work that ends when the sign says so.
    #[must_use]
    fn stopping_at(self, sign: StopSign) -> Self;

    /// Whether the run is to end: what loops over trials that each take long ask before each.
    fn sign(&self) -> &StopSign;

    /// The same, of which so many walks share what is computed: one for each of several λ.
    #[must_use]
    fn shared_by(self, walks: usize) -> Self;

    /// How many walks share what is computed.
    fn walks(&self) -> usize;

    /// The same, whose walks are judged on other rows, so that entries of paths need no standard errors.
    #[must_use]
    fn without_errors(self) -> Self;

    /// The same as a sample of a design of so many rows: estimates are of these, everything else is of the rows that are
    /// there.
    #[must_use]
    fn sampled_from(self, rows: usize) -> Self;

    /// The same, parts of which are to be searched too: rows with the same entry in every one of `parts` are in the same
    /// parts. Lists of another length than the rows say nothing, nor do any of a design whose maps are refitted in each.
    #[must_use]
    fn parted(self, parts: &[Vec<usize>]) -> Self;

    /// A label of each row, where parts of the rows are searched too: rows of one label are in the same parts.
    fn parts(&self) -> Option<&[u32]>;

    /// The same as a part of another design, whose rows `rows` are the own rows; where they are not as many, it is none.
    ///
    /// Columns, targets and weights may still differ.
    #[must_use]
    fn part_of(self, whole: &Design, rows: &[usize]) -> Self;

    /// The design of which this is a part, and the row of that for each row.
    fn whole(&self) -> Option<(&Design, &[usize])>;

    /// Whether the candidates are the problem's own columns.
    fn is_of(&self, problem: &Problem) -> bool;

    /// The entries of `subset` in `rows`, as features × rows.
    fn gather(&self, subset: &[Feature], rows: &[usize]) -> Array2<f64>;

    /// The model of a readout that was trained on the columns `subset` and all rows.
    ///
    /// # Errors
    /// Those of the learner's map; [`Error::Setting`] where there is no readout.
    fn model(&self, subset: &[Feature], trained: Trained) -> Result<Model>;

    /// The design whose maps are refitted on the rows `training`, where maps are refitted in folds.
    ///
    /// Cost, the first time: that of the maps on all rows. As many such designs stay in memory as are asked for.
    ///
    /// # Errors
    /// Those of the maps; [`Error::Shape`] for columns of another shape.
    fn refitted(&self, training: &[usize]) -> Result<Option<Design>>;

    /// The designs of [`EngineDesign::refitted`] for several lists of training rows; `None` where no maps are refitted, or
    /// others were asked for before.
    ///
    /// # Errors
    /// Those of [`EngineDesign::refitted`].
    fn refitted_each(&self, trainings: &[Vec<usize>]) -> Result<Option<&[Design]>>;

    /// The designs of single outputs, where there are several and each has its own λ.
    fn of_outputs(&self) -> Option<&[Design]>;

    /// Refuses a λ for each output with a loss that is not a mean over outputs.
    ///
    /// # Errors
    /// [`Error::Setting`] on `loss`.
    fn check_outputs(&self, loss: &AnyLoss) -> Result<()>;

    /// An upper bound of the binary logarithm of the largest sum of squares of a column, with row weights; −∞ where it was
    /// asked for in other units.
    fn log_squares(&self) -> f64;

    /// The mean loss of some rows or units of the design, [`Loss::mean`]. Targets and predictions are in the units of the
    /// design, and a loss that has no [`Loss::degree`] sees them in those of the data.
    fn mean_loss(
        &self,
        loss: &dyn Loss,
        targets: ArrayView2<'_, f64>,
        predictions: ArrayView2<'_, f64>,
        weights: Option<&[f64]>,
    ) -> f64;

    /// The power of two by which a loss that has no [`Loss::degree`] multiplies targets and predictions; 0 for others.
    fn target_unit(&self, loss: &dyn Loss) -> i32;
}

impl EngineDesign for Design {
    fn at_lambda(&self, lambda: Option<f64>) -> Self {
        match (&self.data().training, lambda) {
            (Training::Ridge(readout, map), Some(lambda)) => {
                let one = Readout { lambdas: vec![lambda], refine: false, each_output: false, ..readout.clone() };
                let training = Training::Ridge(one, Arc::clone(map));
                self.sharing(|data| data.training = training)
            }
            _ => self.clone(),
        }
    }

    fn stopping_at(self, sign: StopSign) -> Self {
        self.sharing(|data| data.sign = sign)
    }

    fn sign(&self) -> &StopSign {
        &self.data().sign
    }

    fn shared_by(self, walks: usize) -> Self {
        self.sharing(|data| data.extent.walks = walks.max(1))
    }

    fn walks(&self) -> usize {
        self.data().extent.walks
    }

    fn without_errors(self) -> Self {
        self.sharing(|data| data.extent.has_errors = false)
    }

    fn sampled_from(self, rows: usize) -> Self {
        self.sharing(|data| data.extent.planned = Some(rows))
    }

    fn parted(self, parts: &[Vec<usize>]) -> Self {
        let is_of_rows = parts.iter().all(|part| part.len() == self.rows());
        if parts.is_empty() || !is_of_rows || self.in_folds().is_by_maps() {
            return self;
        }
        let mut numbers = std::collections::HashMap::new();
        let label = |row: usize| {
            let next = numbers.len() as u32;
            *numbers.entry(parts.iter().map(|part| part[row]).collect::<Vec<_>>()).or_insert(next)
        };
        let labels = (0..self.rows()).map(label).collect();
        self.sharing(|data| data.relation = Relation::Whole(labels))
    }

    fn parts(&self) -> Option<&[u32]> {
        match &self.data().relation {
            Relation::Whole(labels) => Some(labels),
            _ => None,
        }
    }

    fn part_of(self, whole: &Design, rows: &[usize]) -> Self {
        let is_part = rows.len() == self.rows() && rows.iter().all(|&row| row < whole.rows());
        if !is_part {
            return self;
        }
        self.sharing(|data| data.relation = Relation::Part(Arc::new((whole.clone(), rows.to_vec()))))
    }

    fn whole(&self) -> Option<(&Design, &[usize])> {
        match &self.data().relation {
            Relation::Part(part) => Some((&part.0, &part.1)),
            _ => None,
        }
    }

    fn is_of(&self, problem: &Problem) -> bool {
        Arc::ptr_eq(&self.data().columns, problem.columns())
    }

    fn gather(&self, subset: &[Feature], rows: &[usize]) -> Array2<f64> {
        Array2::from_shape_fn((subset.len(), rows.len()), |(k, j)| self.column(subset[k]).get(rows[j]))
    }

    fn model(&self, subset: &[Feature], trained: Trained) -> Result<Model> {
        match &self.data().training {
            Training::Ridge(_, map) => map.model(subset, trained),
            Training::Learner(..) => Err(Error::setting("kind", "the learner has no readout")),
        }
    }

    fn refitted(&self, training: &[usize]) -> Result<Option<Design>> {
        refit::refitted(self, training)
    }

    fn refitted_each(&self, trainings: &[Vec<usize>]) -> Result<Option<&[Design]>> {
        refit::refitted_each(self, trainings)
    }

    fn of_outputs(&self) -> Option<&[Design]> {
        outputs::of_outputs(self)
    }

    fn check_outputs(&self, loss: &AnyLoss) -> Result<()> {
        outputs::check(self, loss)
    }

    fn log_squares(&self) -> f64 {
        scaled::log_squares(self)
    }

    fn mean_loss(
        &self,
        loss: &dyn Loss,
        targets: ArrayView2<'_, f64>,
        predictions: ArrayView2<'_, f64>,
        weights: Option<&[f64]>,
    ) -> f64 {
        match self.target_unit(loss) {
            0 => loss.mean(targets, predictions, weights),
            unit => {
                let in_own = |values: ArrayView2<'_, f64>| values.mapv(|x| times_power(x, unit));
                loss.mean(in_own(targets).view(), in_own(predictions).view(), weights)
            }
        }
    }

    fn target_unit(&self, loss: &dyn Loss) -> i32 {
        if loss.degree().is_some() { 0 } else { self.data().scale.targets }
    }
}
