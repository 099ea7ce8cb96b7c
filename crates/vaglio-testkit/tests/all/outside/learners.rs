//! Refitted ridge regression, with possible faults.

use super::Planted;
use super::Said::Found;
use crate::common::{Fitted, TOLERANCE};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{
    Columns, Error, Feature, Form, Learner, LinearForm, Model, ModelData, ModelParts, Predict, Predictor, Problem,
    Readout, Refit, Result, saved,
};
use vaglio_testkit::{LawViolation, check_learner, check_learner_on_standard_data, data};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    IgnoresWeights,
    Batch,
    SubsetOrder,
    Unsaved,
    Drifts,
    RowOrder,
    UncheckedFile,
    Outside,
    CountsOutside,
    Names,
    GroupNumbers,
    /// No fault: each group has equal weight.
    GroupSizes,
}

pub fn planted() -> Vec<Planted> {
    use Fault as F;
    let all = [
        ("weights that are ignored", F::IgnoresWeights, "whole_weights"),
        ("the rows beside", F::Batch, "rows_alone"),
        ("the order of the subset", F::SubsetOrder, "subset_order"),
        ("a field that is not saved", F::Unsaved, "saved"),
        ("models that drift", F::Drifts, "retrained"),
        ("the order of the rows", F::RowOrder, "whole_weights"),
        ("a file that is not checked", F::UncheckedFile, "damaged"),
        ("columns outside of the subset", F::Outside, "outside_unseen"),
        ("names", F::Names, "names_unseen"),
        ("groups, by their numbers", F::GroupNumbers, "group_numbers_unseen"),
    ];
    all.into_iter().map(|(name, fault, law)| (name, Found(law), tried(fault))).collect()
}

pub fn sound() -> Vec<(&'static str, std::result::Result<(), LawViolation>)> {
    vec![
        ("a learner that is refitted", check_learner_on_standard_data(&Ridge { fault: Fault::None }, TOLERANCE)),
        ("a learner of a linear form", check_learner_on_standard_data(&Linear {}, TOLERANCE)),
    ]
}

#[test]
fn how_many_columns_are_outside_is_not_to_matter_and_which_rows_are_one_group_may() {
    let counted = tried(Fault::CountsOutside);
    assert_eq!(super::laws(&counted), ["outside_unseen"]);
    crate::common::holds(tried(Fault::GroupSizes));
}

fn tried(fault: Fault) -> std::result::Result<(), LawViolation> {
    check_learner(&Ridge { fault }, &data::regression(16, 5, 4).groups(4).problem(), TOLERANCE)
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Ridge regression as a linear form.
#[saved(Learner, "outside_linear")]
struct Linear {}

impl Learner for Linear {
    fn form(&self) -> Form<'_> {
        Form::Linear(self)
    }
}

impl LinearForm for Linear {
    fn readout(&self) -> Result<Readout> {
        Readout::new(vec![0.5], true)
    }
}

#[saved(Learner, "outside_ridge")]
struct Ridge {
    fault: Fault,
}

impl Learner for Ridge {
    fn form(&self) -> Form<'_> {
        Form::Refit(self)
    }
}

impl Ridge {
    /// Returns the fault's offset of the predictions.
    fn shift(&self, problem: &Problem, subset: &[Feature]) -> f64 {
        let others = || (0..problem.columns().len()).filter(|f| !subset.contains(f));
        1e-3 * match self.fault {
            Fault::SubsetOrder => subset.first().map_or(0.0, |&f| f as f64),
            Fault::Drifts => CALLS.fetch_add(1, Ordering::SeqCst) as f64,
            Fault::RowOrder => problem.targets().row(0).iter().enumerate().map(|(row, y)| row as f64 * y).sum(),
            Fault::Outside => others().map(|f| problem.columns().column(f).get(0)).sum(),
            Fault::CountsOutside => others().count() as f64,
            Fault::Names => problem.names().iter().map(|name| name.len() as f64).sum(),
            Fault::GroupNumbers => problem.groups().map_or(0.0, |groups| f64::from(groups.iter().sum::<u32>())),
            _ => 0.0,
        }
    }

    fn weights(&self, problem: &Problem) -> Option<Vec<f64>> {
        let own = problem.weights().map(|w| w.to_vec());
        match (self.fault, problem.groups()) {
            (Fault::IgnoresWeights, _) => None,
            (Fault::GroupSizes, Some(groups)) => {
                let weight = |row: usize| own.as_ref().map_or(1.0, |w| w[row]);
                let of = |group: u32| (0..groups.len()).filter(|&row| groups[row] == group).map(weight).sum::<f64>();
                Some((0..groups.len()).map(|row| weight(row) / of(groups[row])).collect())
            }
            _ => own,
        }
    }
}

impl Refit for Ridge {
    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        let inner = Fitted::of(problem, subset, 0.5, self.weights(problem).as_deref())?;
        let shift = self.shift(problem, subset);
        Model::new(Shifted { fault: self.fault, inner, shift, unsaved: 1.0 })
    }
}

#[saved(ModelData, "outside_shifted")]
struct Shifted {
    fault: Fault,
    inner: Fitted,
    shift: f64,
    #[serde(skip)]
    unsaved: f64,
}

impl ModelData for Shifted {
    fn parts(&self) -> ModelParts<'_> {
        ModelParts { inputs: &self.inner.inputs, predictor: Predictor::Own(self) }
    }
}

impl Predict for Shifted {
    fn check(&self) -> Result<()> {
        match self.fault {
            Fault::UncheckedFile => Ok(()),
            _ if !self.shift.is_finite() => Err(Error::Shape("the shift is no number".into())),
            _ => self.inner.coefficients.check(self.inner.inputs.len()),
        }
    }

    fn predict(&self, inputs: &Columns, _: Option<&[u32]>) -> Result<Array2<f64>> {
        let mut predictions = match self.fault {
            Fault::UncheckedFile => {
                let of = &self.inner.coefficients;
                let sum = |o: usize, row: usize| -> f64 {
                    let terms = (0..inputs.len()).map(|k| of.weights[[k, o]] * inputs.column(k).get(row));
                    of.intercept[o] + terms.sum::<f64>()
                };
                Array2::from_shape_fn((of.intercept.len(), inputs.rows()), |(o, row)| sum(o, row))
            }
            _ => self.inner.coefficients.predict_columns(inputs)?,
        };
        predictions += self.shift;
        match self.fault {
            Fault::Batch => predictions += 1e-3 * inputs.rows() as f64,
            Fault::Unsaved => predictions += self.unsaved,
            _ => {}
        }
        Ok(predictions)
    }
}
