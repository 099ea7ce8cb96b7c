//! Outcomes of laws, a correct learner, and data to test faulty components on.

use std::fmt::Debug;
use vaglio_core::{
    Action, Coefficients, Columns, Design, Feature, Learner, Model, ModelData, Problem, Readout, Result, Score,
    TrainedReadout, part, ridge, saved,
};
use vaglio_search::SubsetScorer;
use vaglio_testkit::{LawResult, data};

pub const TOLERANCE: f64 = 1e-9;

/// Builds a design with copies and constants, on which every law has cases to test.
pub fn design() -> Design {
    data::regression(14, 5, 3).weighted().duplicates(1).constants(1).design(&[0.3], true)
}

/// Returns the violated law; panics if all laws hold.
#[track_caller]
pub fn broken_law(outcome: LawResult) -> &'static str {
    let broken = outcome.expect_err("a law fails on what is wrong");
    assert!(broken.to_string().contains(broken.law) && !broken.on.is_empty(), "{broken}");
    broken.law
}

/// Returns the names of all violated laws.
pub fn laws(outcome: &LawResult) -> Vec<&'static str> {
    let broken = outcome.as_ref().err();
    broken.iter().flat_map(|b| std::iter::once(*b).chain(&b.others)).map(|b| b.law).collect()
}

/// Panics unless a fault violates its law.
#[track_caller]
pub fn breaks(fault: impl Debug, law: &str, outcome: LawResult) {
    let laws = laws(&outcome);
    assert!(laws.contains(&law), "{fault:?} is to break `{law}`; broken: {laws:?}");
}

/// Ridge regression on the raw columns.
#[part(Learner, "plain", summary = "ridge regression", example = "learner: {kind: plain, lambda: 1.0}")]
pub struct Plain {
    #[default(1.0)]
    pub lambda: f64,
}

impl Learner for Plain {
    fn readout(&self) -> Result<Option<Readout>> {
        Readout::new(vec![self.lambda], true).map(Some)
    }

    fn fit(&self, problem: &Problem, subset: &[Feature], lambda: Option<f64>) -> Result<Model> {
        Model::new(Fitted::new(problem, subset, lambda.unwrap_or(self.lambda), problem.weights())?)
    }
}

#[saved(ModelData, "fitted")]
#[derive(Clone)]
pub struct Fitted {
    pub inputs: Vec<Feature>,
    pub lambda: f64,
    pub coefficients: Coefficients,
}

impl Fitted {
    pub fn new(problem: &Problem, subset: &[Feature], lambda: f64, weights: Option<&[f64]>) -> Result<Self> {
        let x = entries(&problem.columns().select(subset));
        let coefficients = ridge::ridge(x.view(), problem.targets().view(), weights, lambda, true)?;
        Ok(Fitted { inputs: subset.to_vec(), lambda, coefficients })
    }
}

impl ModelData for Fitted {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn readout(&self) -> Option<TrainedReadout<'_>> {
        Some(TrainedReadout { lambda: self.lambda, coefficients: &self.coefficients, map: None })
    }
}

/// Features × rows.
fn entries(columns: &Columns) -> ndarray::Array2<f64> {
    ndarray::Array2::from_shape_fn((columns.len(), columns.rows()), |(k, row)| columns.column(k).get(row))
}

/// Scores one addition.
pub fn addition(subset: &mut SubsetScorer<'_>, feature: Feature) -> Result<Score> {
    Ok(subset.scores(Action::Add, &[feature])?[0])
}
