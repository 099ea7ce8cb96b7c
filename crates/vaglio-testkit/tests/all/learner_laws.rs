//! Every law of a learner fails on a faulty one, and holds on a correct one.

use crate::common::{Fitted, Plain, TOLERANCE, broken_law, holds};
use serde::{Deserialize, Serialize, Serializer};
use vaglio_core::{
    Columns, Error, Feature, Form, Learner, LinearForm, Model, ModelData, ModelParts, Predict, Predictor, Problem,
    Readout, ReadoutMap, Refit, Result, saved,
};
use vaglio_testkit::{check_learner, check_learner_on_standard_data, data, learner};

/// The planted fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    NoForm,
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
    OddSettings,
    Restless,
}

/// Ridge regression with one fault.
#[saved(Learner, "wrong")]
struct Wrong {
    fault: Fault,
}

impl LinearForm for Wrong {
    fn readout(&self) -> Result<Readout> {
        Readout::new(vec![1.0], true)
    }
}

static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

impl Learner for Wrong {
    fn form(&self) -> Form<'_> {
        if matches!(self.fault, Fault::NoForm | Fault::Restless) { Form::Refit(self) } else { Form::Linear(self) }
    }

    fn fit(&self, problem: &Problem, subset: &[Feature], lambda: Option<f64>) -> Result<Model> {
        let copies = (1..subset.len()).any(|k| {
            let bits = |at: usize| problem.columns().column(subset[at]).values().to_vec();
            (0..k).any(|l| bits(k) == bits(l))
        });
        if self.fault == Fault::FailsOnCopies && copies || self.fault == Fault::FailsOnEmpty && subset.is_empty() {
            return Err(Error::Numerical("singular".into()));
        }
        let weights = problem.weights().map(|w| &w[..]).filter(|_| self.fault != Fault::IgnoresWeights);
        let mut lambda = if self.fault == Fault::OtherLambda { 2.0 } else { lambda.unwrap_or(1.0) };
        if self.fault == Fault::Restless {
            lambda += CALLS.fetch_add(1, std::sync::atomic::Ordering::SeqCst) as f64;
        }
        let mut inner = Fitted::of(problem, subset, lambda, weights)?;
        if self.fault == Fault::NanWithoutRows && problem.rows() < problem.columns().len() {
            inner.coefficients.intercept[0] = f64::NAN;
        }
        Model::new(WrongModel { fault: self.fault, rounded: inner.coefficients.intercept.clone(), inner })
    }

    fn check(&self) -> Result<()> {
        if self.fault == Fault::OddSettings { Err(Error::setting("units", "0 is not positive")) } else { Ok(()) }
    }
}

impl Refit for Wrong {
    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        self.fit(problem, subset, None)
    }
}

#[saved(ModelData, "wrong_model")]
struct WrongModel {
    fault: Fault,
    inner: Fitted,
    #[serde(serialize_with = "single")]
    rounded: Vec<f64>,
}

/// Serializes in single precision.
fn single<S: Serializer>(values: &[f64], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    values.iter().map(|&v| v as f32).collect::<Vec<f32>>().serialize(serializer)
}

impl ModelData for WrongModel {
    fn parts(&self) -> ModelParts<'_> {
        let Fitted { inputs, lambda, coefficients } = &self.inner;
        let readout = Predictor::Readout { lambda: *lambda, coefficients, map: Some(self) };
        ModelParts {
            inputs,
            predictor: if self.fault == Fault::NoCoefficients { Predictor::Own(self) } else { readout },
        }
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

    fn decide(&self, values: ndarray::Array2<f64>, _: Option<&[u32]>) -> Result<ndarray::Array2<f64>> {
        Ok(match self.fault {
            Fault::LosesADigit => values + (self.rounded[0] - self.inner.coefficients.intercept[0]),
            Fault::PanicsOnFile => values + 0.0 * self.rounded[0],
            Fault::ShiftedPredictions => values + 1e-3,
            Fault::WrongRows => values.reversed_axes(),
            _ => values,
        })
    }
}

impl Predict for WrongModel {
    fn check(&self) -> Result<()> {
        self.inner.coefficients.check(self.inner.inputs.len())
    }

    fn predict(&self, inputs: &Columns, _: Option<&[u32]>) -> Result<ndarray::Array2<f64>> {
        self.inner.coefficients.predict_columns(inputs)
    }
}

/// A model with a serialization tag that cannot be loaded.
#[saved(Learner, "unsaved")]
struct Unsaved {}

impl Learner for Unsaved {
    fn form(&self) -> Form<'_> {
        Form::Refit(self)
    }
}

impl Refit for Unsaved {
    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        let inner = Fitted::of(problem, subset, 1.0, None)?;
        Model::new(Infinite { bound: f64::INFINITY, inner })
    }
}

/// JSON has no infinity: it becomes null.
#[saved(ModelData, "infinite")]
struct Infinite {
    bound: f64,
    inner: Fitted,
}

impl ModelData for Infinite {
    fn parts(&self) -> ModelParts<'_> {
        ModelParts { inputs: &self.inner.inputs, predictor: Predictor::Own(self) }
    }
}

impl Predict for Infinite {
    fn check(&self) -> Result<()> {
        self.inner.coefficients.check(self.inner.inputs.len())
    }

    fn predict(&self, inputs: &Columns, _: Option<&[u32]>) -> Result<ndarray::Array2<f64>> {
        Ok(self.inner.coefficients.predict_columns(inputs)?.mapv(|v| v.min(self.bound)))
    }
}

fn law_of(fault: Fault) -> &'static str {
    let problem = data::regression(16, 5, 4).weighted().problem();
    broken_law(check_learner(&Wrong { fault }, &problem, TOLERANCE))
}

#[test]
fn what_is_right_keeps_every_law_on_the_standard_data() {
    holds(check_learner_on_standard_data(&Plain::default(), TOLERANCE));
    for fault in [Fault::None, Fault::NoForm] {
        holds(check_learner_on_standard_data(&Wrong { fault }, TOLERANCE));
    }
}

#[test]
fn a_learner_that_ignores_weights_is_found() {
    let problem = data::regression(16, 5, 4).problem();
    let wrong = Wrong { fault: Fault::IgnoresWeights };
    assert_eq!(broken_law(learner::whole_weights(&wrong, &problem, TOLERANCE)), "whole_weights");
    assert_eq!(law_of(Fault::IgnoresWeights), "retrained");
}

#[test]
fn a_model_that_loses_a_digit_in_saving_is_found() {
    assert_eq!(law_of(Fault::LosesADigit), "saved");
}

#[test]
fn a_model_that_cannot_be_loaded_is_found() {
    let problem = data::regression(16, 5, 4).problem();
    assert_eq!(broken_law(learner::saved(&Unsaved {}, &problem)), "saved");
}

#[test]
fn coefficients_that_are_not_what_predicts_are_found() {
    assert_eq!(law_of(Fault::ShiftedPredictions), "coefficients");
    assert_eq!(law_of(Fault::NoCoefficients), "coefficients");
}

#[test]
fn a_fit_that_is_not_its_linear_form_is_found() {
    assert_eq!(law_of(Fault::OtherLambda), "retrained");
}

#[test]
fn a_fit_that_is_not_repeatable_is_found() {
    assert_eq!(law_of(Fault::Restless), "retrained");
}

#[test]
fn predictions_that_are_no_numbers_or_no_predictions_are_found() {
    assert_eq!(law_of(Fault::NanWithoutRows), "degenerate");
    assert_eq!(law_of(Fault::FailsOnCopies), "degenerate");
    assert_eq!(law_of(Fault::FailsOnEmpty), "degenerate");
    assert_eq!(law_of(Fault::WrongRows), "saved");
}

#[test]
fn a_model_of_a_damaged_file_that_is_not_refused_is_found() {
    assert_eq!(law_of(Fault::AnyFile), "damaged");
    assert_eq!(law_of(Fault::PanicsOnFile), "damaged");
}

#[test]
fn settings_that_are_refused_are_found() {
    assert_eq!(law_of(Fault::OddSettings), "check");
}

#[test]
fn data_with_nothing_to_see_are_refused() {
    let problem = data::regression(16, 2, 4).problem();
    assert_eq!(broken_law(check_learner(&Plain::default(), &problem, TOLERANCE)), "saved");
}
