//! A stump without a linear form and ridge regression with one, with possible faults.

use super::Planted;
use crate::common::TOLERANCE;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{
    Coefficients, Columns, Design, Error, Feature, FeatureMap, Form, Learner, LinearForm, Model, ModelData, ModelParts,
    Predict, Predictor, Problem, Readout, ReadoutMap, Refit, Result, Trained, saved,
};
use vaglio_testkit::{check_learner, data};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    IgnoresWeights,
    PanicsOnEmpty,
    UnsavedField,
    WrongWidth,
    Nan,
    FalseCoefficients,
    Batch,
    SubsetOrder,
    RandomPerCall,
    ColumnOrder,
    TargetsInMap,
    ChecksNothing,
}

const OF_STUMP: [(&str, Fault, &str); 8] = [
    ("row weights that are ignored", Fault::IgnoresWeights, "whole_weights"),
    ("a panic without columns", Fault::PanicsOnEmpty, "degenerate"),
    ("a field that is not saved", Fault::UnsavedField, "saved"),
    ("another width that is taken", Fault::WrongWidth, "damaged"),
    ("NaN", Fault::Nan, "saved"),
    ("coefficients that do not predict", Fault::FalseCoefficients, "coefficients"),
    ("predictions that depend on the rows beside", Fault::Batch, "rows_alone"),
    ("a model that depends on the order of the subset", Fault::SubsetOrder, "subset_order"),
];

const OF_RIDGE: [(&str, Fault, &str); 5] = [
    ("features that are drawn anew in each call", Fault::RandomPerCall, "retrained"),
    ("features that depend on the rows beside", Fault::Batch, "rows_alone"),
    ("columns in the wrong order", Fault::ColumnOrder, "retrained"),
    ("a field of the map that is not saved", Fault::UnsavedField, "saved"),
    ("targets that leak into the features", Fault::TargetsInMap, "targets_unseen"),
];

pub fn planted() -> Vec<Planted> {
    let problem = data::regression(16, 5, 4).weighted().problem();
    let stump = |fault| check_learner(&Stump { fault }, &problem, TOLERANCE);
    let ridge = |fault| check_learner(&Ridge { fault }, &problem, TOLERANCE);
    let mut all: Vec<Planted> = OF_STUMP.map(|(name, fault, law)| (name, Some(law), stump(fault))).to_vec();
    all.extend(OF_RIDGE.map(|(name, fault, law)| (name, Some(law), ridge(fault))));
    all.push(("a right learner", None, stump(Fault::None).and(ridge(Fault::None))));
    all
}

#[test]
fn a_model_that_checks_nothing_when_it_is_read_is_found() {
    let problem = data::regression(16, 5, 4).weighted().problem();
    let broken = check_learner(&Ridge { fault: Fault::ChecksNothing }, &problem, TOLERANCE).unwrap_err();
    assert_eq!((broken.law, broken.others.len()), ("damaged", 0), "{broken}");
}

#[test]
fn a_model_that_is_read_with_what_it_does_not_know_is_found() {
    #[saved(Learner, "planted_mean")]
    struct Mean {}

    impl Learner for Mean {
        fn form(&self) -> Form<'_> {
            Form::Refit(self)
        }
    }

    impl Refit for Mean {
        fn refit(&self, _: &Problem, subset: &[Feature]) -> Result<Model> {
            let coefficients = Coefficients { weights: Array2::zeros((subset.len(), 1)), intercept: vec![0.5] };
            Model::new(Open { inputs: subset.to_vec(), coefficients })
        }
    }

    #[saved(ModelData, "planted_open")]
    #[serde(from = "Loose")]
    struct Open {
        inputs: Vec<Feature>,
        coefficients: Coefficients,
    }

    #[derive(Deserialize)]
    struct Loose {
        inputs: Vec<Feature>,
        coefficients: Coefficients,
    }

    impl From<Loose> for Open {
        fn from(Loose { inputs, coefficients }: Loose) -> Self {
            Open { inputs, coefficients }
        }
    }

    impl ModelData for Open {
        fn parts(&self) -> ModelParts<'_> {
            let Open { inputs, coefficients } = self;
            ModelParts { inputs, predictor: Predictor::Readout { lambda: 1.0, coefficients, map: None } }
        }
    }
    let broken = check_learner(&Mean {}, &data::regression(16, 5, 4).problem(), TOLERANCE).unwrap_err();
    assert!(
        broken.to_string().ends_with("with a field `no_such_field`: expected to be refused, found that it is read")
    );
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Predicts the target mean on either side of the mean of the most informative column.
#[saved(Learner, "planted_stump")]
struct Stump {
    fault: Fault,
}

impl Learner for Stump {
    fn form(&self) -> Form<'_> {
        Form::Refit(self)
    }
}

impl Refit for Stump {
    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        assert!(self.fault != Fault::PanicsOnEmpty || !subset.is_empty(), "an index is out of bounds");
        let weights = problem.weights().filter(|_| self.fault != Fault::IgnoresWeights);
        let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
        let y = problem.targets().row(0).to_vec();
        let mean = |rows: &[usize], values: &[f64]| {
            let total: f64 = rows.iter().map(|&r| weight(r)).sum();
            if total > 0.0 { rows.iter().map(|&r| weight(r) * values[r]).sum::<f64>() / total } else { 0.0 }
        };
        let all: Vec<usize> = (0..problem.rows()).collect();
        let mut best = StumpModel {
            inputs: subset.to_vec(),
            width: subset.len(),
            column: 0,
            at: f64::MAX,
            sides: [mean(&all, &y); 2],
            claimed: (self.fault == Fault::FalseCoefficients).then(|| first_of(subset.len())),
            fault: self.fault,
            field: 1.0,
        };
        let mut least = f64::INFINITY;
        // Ties go to the lowest column index, whatever the subset order.
        let mut places: Vec<usize> = (0..subset.len()).collect();
        if self.fault != Fault::SubsetOrder {
            places.sort_by_key(|&place| subset[place]);
        }
        for place in places {
            let x = problem.columns().column(subset[place]).values().to_vec();
            let at = mean(&all, &x);
            let (below, above): (Vec<usize>, Vec<usize>) = all.iter().partition(|&&row| x[row] < at);
            let sides = [mean(&below, &y), mean(&above, &y)];
            let error: f64 = all.iter().map(|&r| weight(r) * (y[r] - sides[usize::from(x[r] >= at)]).powi(2)).sum();
            if error < least || self.fault == Fault::SubsetOrder {
                (least, best.column, best.at, best.sides) = (error, place, at, sides);
            }
        }
        Model::new(best)
    }
}

/// Coefficients that select the first of `count` features.
fn first_of(count: usize) -> Coefficients {
    let weights = Array2::from_shape_fn((count, 1), |(k, _)| if k == 0 { 1.0 } else { 0.0 });
    Coefficients { weights, intercept: vec![0.0] }
}

#[saved(ModelData, "planted_stump_model")]
struct StumpModel {
    inputs: Vec<Feature>,
    width: usize,
    column: usize,
    at: f64,
    sides: [f64; 2],
    claimed: Option<Coefficients>,
    fault: Fault,
    #[serde(skip)]
    field: f64,
}

impl StumpModel {
    fn fits(&self) -> Result<()> {
        let is_there = self.column < self.width.max(1) && self.width == self.inputs.len();
        let fits = self.fault == Fault::WrongWidth || is_there;
        if fits { Ok(()) } else { Err(Error::Shape("there is no such column".into())) }
    }
}

impl ModelData for StumpModel {
    fn parts(&self) -> ModelParts<'_> {
        let own = Predictor::Own(self);
        let readout = |coefficients| Predictor::Readout { lambda: 1.0, coefficients, map: Some(self) };
        ModelParts { inputs: &self.inputs, predictor: self.claimed.as_ref().map_or(own, readout) }
    }
}

impl Predict for StumpModel {
    fn check(&self) -> Result<()> {
        self.fits()
    }

    fn predict(&self, inputs: &Columns, _: Option<&[u32]>) -> Result<Array2<f64>> {
        let value = |row: usize| if inputs.is_empty() { 0.0 } else { inputs.column(self.column).get(row) };
        let mean = (0..inputs.rows()).map(value).sum::<f64>() / inputs.rows() as f64;
        let side = |row: usize| self.sides[usize::from(value(row) >= self.at)];
        Ok(Array2::from_shape_fn((1, inputs.rows()), |(_, row)| match self.fault {
            Fault::Nan => f64::NAN,
            Fault::UnsavedField => side(row) + self.field,
            Fault::Batch => side(row) + mean,
            _ => side(row),
        }))
    }
}

impl ReadoutMap for StumpModel {
    fn check(&self) -> Result<()> {
        self.fits()
    }

    fn count(&self) -> usize {
        self.inputs.len()
    }

    fn features(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Columns> {
        let predictions = self.predict(inputs, series)?;
        let mut features = Columns::new(inputs.rows());
        (0..self.count()).for_each(|_| features.push(predictions.row(0).to_vec()));
        Ok(features)
    }
}

/// Ridge regression on mixtures of all columns, as many as there are columns.
#[saved(Learner, "planted_ridge")]
struct Ridge {
    fault: Fault,
}

impl Learner for Ridge {
    fn form(&self) -> Form<'_> {
        Form::Linear(self)
    }
}

impl LinearForm for Ridge {
    fn readout(&self) -> Result<Readout> {
        Readout::new(vec![1.0], true)
    }

    fn design(&self, problem: &Problem) -> Result<Design> {
        let count = problem.columns().len();
        let by = match self.fault {
            Fault::RandomPerCall => 1.0 + CALLS.fetch_add(1, Ordering::SeqCst) as f64,
            Fault::TargetsInMap => 1.0 + problem.targets()[[0, 0]].abs(),
            _ => 1.0,
        };
        let rows = (0..count).map(|k| (0..count).map(|j| by * ((2 + k * 7 + j * j * 3) % 11) as f64).collect());
        let mixtures = Mixtures { inputs: (0..count).collect(), rows: rows.collect(), shift: 1.0, fault: self.fault };
        let columns = mixtures.of(problem.columns());
        let names = (0..count).map(|k| format!("mixture {k}")).collect();
        Design::mapped(problem, columns, names, self.readout()?, Arc::new(mixtures))
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mixtures {
    inputs: Vec<Feature>,
    /// Coefficients of each feature on the inputs.
    rows: Vec<Vec<f64>>,
    #[serde(skip)]
    shift: f64,
    fault: Fault,
}

impl Mixtures {
    fn of(&self, inputs: &Columns) -> Columns {
        let mut features = Columns::new(inputs.rows());
        for shares in &self.rows {
            let entry = |row: usize| -> f64 { shares.iter().zip(inputs.iter()).map(|(s, x)| s * x.get(row)).sum() };
            let mut values: Vec<f64> = (0..inputs.rows()).map(entry).collect();
            let mean = values.iter().sum::<f64>() / inputs.rows() as f64;
            match self.fault {
                Fault::Batch => values.iter_mut().for_each(|v| *v -= mean),
                Fault::UnsavedField => values.iter_mut().for_each(|v| *v = (*v + 8.0 * self.shift).abs()),
                _ => {}
            }
            features.push(values);
        }
        features
    }
}

impl FeatureMap for Mixtures {
    fn model(&self, subset: &[Feature], readout: Trained) -> Result<Model> {
        let mut picked = subset.to_vec();
        if self.fault == Fault::ColumnOrder {
            picked.sort_unstable();
        }
        let rows = picked.iter().map(|&f| self.rows[f].clone()).collect();
        let Trained { lambda, coefficients } = readout;
        Model::new(RidgeModel { map: Mixtures { rows, ..self.clone() }, lambda, coefficients })
    }
}

#[saved(ModelData, "planted_ridge_model")]
struct RidgeModel {
    map: Mixtures,
    lambda: f64,
    coefficients: Coefficients,
}

impl ModelData for RidgeModel {
    fn parts(&self) -> ModelParts<'_> {
        let RidgeModel { map, lambda, coefficients } = self;
        let predictor = Predictor::Readout { lambda: *lambda, coefficients, map: Some(map) };
        ModelParts { inputs: &map.inputs, predictor }
    }
}

impl ReadoutMap for Mixtures {
    fn check(&self) -> Result<()> {
        let fit = self.rows.iter().all(|row| row.len() == self.inputs.len()) || self.fault == Fault::ChecksNothing;
        if fit { Ok(()) } else { Err(Error::Shape("a mixture of another number of columns".into())) }
    }

    fn count(&self) -> usize {
        self.rows.len()
    }

    fn features(&self, inputs: &Columns, _: Option<&[u32]>) -> Result<Columns> {
        Ok(self.of(inputs))
    }
}
