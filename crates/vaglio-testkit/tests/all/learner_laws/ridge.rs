//! Ridge regression by a readout or refitted, with one fault.

use crate::common::Fitted;
use crate::map_laws::single;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{
    Columns, Error, Feature, Learner, Model, ModelData, Problem, Readout, ReadoutMap, Result, TrainedReadout,
    row_weights, saved,
};

/// The planted fault.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
pub enum Fault {
    None,
    IgnoresWeights,
    LosesADigit,
    OtherLambda,
    ShiftedPredictions,
    NoCoefficients,
    NanWithoutRows,
    FailsOnCopies,
    FailsOnEmpty,
    AnyFile,
    PanicsOnFile,
    WrongRows,
    Nan,
    OddSettings,
    /// No fault; this one and those below have no readout.
    Refitted,
    WeightsUnseen,
    Batch,
    SubsetOrder,
    UnsavedField,
    Restless,
    RowOrder,
    UncheckedFile,
    PanicsOnEmpty,
    PanicsOnFewRows,
    Outside,
    CountsOutside,
    Names,
    GroupNumbers,
    /// No fault: each group has equal weight.
    GroupSizes,
}

#[saved(Learner, "wrong")]
pub struct Wrong {
    pub fault: Fault,
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

impl Wrong {
    /// Returns the fault's offset of the predictions.
    fn shift(&self, problem: &Problem, subset: &[Feature]) -> f64 {
        let others = || (0..problem.columns().len()).filter(|f| !subset.contains(f));
        1e-3 * match self.fault {
            Fault::SubsetOrder => subset.first().map_or(0.0, |&f| f as f64),
            Fault::Restless => CALLS.fetch_add(1, Ordering::SeqCst) as f64,
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
            (Fault::IgnoresWeights | Fault::WeightsUnseen, _) => None,
            (Fault::GroupSizes, Some(groups)) => {
                let weight = row_weights(own.as_deref());
                let group_weight =
                    |group: u32| (0..groups.len()).filter(|&row| groups[row] == group).map(weight).sum::<f64>();
                Some((0..groups.len()).map(|row| weight(row) / group_weight(groups[row])).collect())
            }
            _ => own,
        }
    }

    fn fails(&self, problem: &Problem, subset: &[Feature]) -> bool {
        let bits = |at: usize| problem.columns().column(subset[at]).values().to_vec();
        let copies = || (1..subset.len()).any(|k| (0..k).any(|l| bits(k) == bits(l)));
        self.fault == Fault::FailsOnCopies && copies() || self.fault == Fault::FailsOnEmpty && subset.is_empty()
    }
}

impl Learner for Wrong {
    fn readout(&self) -> Result<Option<Readout>> {
        (self.fault < Fault::Refitted).then(|| Readout::new(vec![1.0], true)).transpose()
    }

    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        self.fit(problem, subset, None)
    }

    fn fit(&self, problem: &Problem, subset: &[Feature], lambda: Option<f64>) -> Result<Model> {
        let bounds = |holds: bool| assert!(holds, "an index is out of bounds");
        match self.fault {
            Fault::PanicsOnEmpty => bounds(!subset.is_empty()),
            Fault::PanicsOnFewRows => bounds(problem.rows() > 4),
            _ if self.fails(problem, subset) => return Err(Error::Numerical("singular".into())),
            _ => {}
        }
        let lambda = if self.fault == Fault::OtherLambda { 2.0 } else { lambda.unwrap_or(1.0) };
        let mut inner = Fitted::new(problem, subset, lambda, self.weights(problem).as_deref())?;
        if self.fault == Fault::NanWithoutRows && problem.rows() < problem.columns().len() {
            inner.coefficients.intercept[0] = f64::NAN;
        }
        let (rounded, shift) = (inner.coefficients.intercept.clone(), self.shift(problem, subset));
        Model::new(WrongModel { fault: self.fault, rounded, inner, shift, unsaved: 1.0 })
    }

    fn check_settings(&self) -> Result<()> {
        if self.fault == Fault::OddSettings { Err(Error::setting("units", "0 is not positive")) } else { Ok(()) }
    }
}

#[saved(ModelData, "wrong_model")]
struct WrongModel {
    fault: Fault,
    inner: Fitted,
    #[serde(serialize_with = "single")]
    rounded: Vec<f64>,
    shift: f64,
    #[serde(skip)]
    unsaved: f64,
}

impl ModelData for WrongModel {
    fn inputs(&self) -> &[Feature] {
        &self.inner.inputs
    }

    fn readout(&self) -> Option<TrainedReadout<'_>> {
        let Fitted { lambda, coefficients, .. } = &self.inner;
        let is_own = self.fault == Fault::NoCoefficients || self.fault >= Fault::Refitted;
        (!is_own).then_some(TrainedReadout { lambda: *lambda, coefficients, map: Some(self) })
    }

    fn check(&self) -> Result<()> {
        match self.fault {
            Fault::UncheckedFile => Ok(()),
            _ if self.readout().is_some() => Ok(()),
            _ if !self.shift.is_finite() => Err(Error::Shape("the shift is no number".into())),
            _ => self.inner.coefficients.check(self.inner.inputs.len()),
        }
    }

    fn predict(&self, inputs: &Columns, _: Option<&[u32]>) -> Result<Array2<f64>> {
        let coefficients = &self.inner.coefficients;
        let unchecked = |o: usize, row: usize| -> f64 {
            let terms = (0..inputs.len()).map(|k| coefficients.weights[[k, o]] * inputs.column(k).get(row));
            coefficients.intercept[o] + terms.sum::<f64>()
        };
        let mut predictions = match self.fault {
            Fault::UncheckedFile => {
                Array2::from_shape_fn((coefficients.intercept.len(), inputs.rows()), |(o, row)| unchecked(o, row))
            }
            _ => coefficients.predict_columns(inputs)?,
        };
        predictions += self.shift;
        match self.fault {
            Fault::Batch => predictions += 1e-3 * inputs.rows() as f64,
            Fault::UnsavedField => predictions += self.unsaved,
            _ => {}
        }
        Ok(predictions)
    }
}

impl ReadoutMap for WrongModel {
    fn check(&self) -> Result<()> {
        match self.rounded.is_empty() && self.fault != Fault::PanicsOnFile {
            true => Err(Error::Shape("nothing is rounded".into())),
            false => Ok(()),
        }
    }

    fn count(&self) -> usize {
        if self.fault == Fault::AnyFile { self.inner.coefficients.weights.nrows() } else { self.inner.inputs.len() }
    }

    fn features(&self, inputs: &Columns, _: Option<&[u32]>) -> Result<Columns> {
        let mut features = inputs.clone();
        (inputs.len()..self.count()).for_each(|_| features.push(vec![0.0; inputs.rows()]));
        Ok(features)
    }

    fn decide(&self, values: Array2<f64>, _: Option<&[u32]>) -> Result<Array2<f64>> {
        Ok(match self.fault {
            Fault::LosesADigit => values + (self.rounded[0] - self.inner.coefficients.intercept[0]),
            Fault::PanicsOnFile => values + 0.0 * self.rounded[0],
            Fault::ShiftedPredictions => values + 1e-3,
            Fault::WrongRows => values.reversed_axes(),
            Fault::Nan => values * f64::NAN,
            _ => values,
        })
    }
}
