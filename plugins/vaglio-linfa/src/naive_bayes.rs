//! Gaussian naive Bayes of linfa.

use crate::conversion::{catch_panic, finite, guarded_fit, inputs, softmax};
use crate::{TargetKinds, check_problem, check_saved, matrix};
use linfa::prelude::*;
use linfa_bayes::{GaussianNb, NaiveBayes as _};
use ndarray::{Array1, Array2};
use vaglio_core::{Columns, Error, Feature, Learner, Model, ModelData, Problem, Readout, Result, part, saved};

/// Gaussian naive Bayes of linfa: in each class every column is normal, and columns are independent.
///
/// Predictions are 2P − 1 with the posterior probability P, computed from linfa's logarithms. Linfa itself
/// exponentiates them without a common factor, so that outlying rows become NaN. A class without rows has P = 0; if no
/// column varies, P is the share of the class. Cost O(rows · columns).
#[part(
    Learner,
    "naive_bayes",
    summary = "Gaussian naive Bayes of linfa in the chosen columns, refitted for every subset",
    example = "learner: {kind: naive_bayes, smoothing: 1.0e-9}"
)]
#[derive(Copy, PartialEq)]
pub struct NaiveBayes {
    /// Share of the largest variance of a column that is added to all variances.
    #[default(1e-9)]
    pub smoothing: f64,
}

/// Shares of the classes, and linfa's model unless no column varies.
#[saved(ModelData, "linfa_naive_bayes")]
struct NaiveBayesModel {
    inputs: Vec<Feature>,
    /// Shares of the classes; with two classes the negative one is first.
    shares: Vec<f64>,
    #[serde(with = "crate::sorted_maps")]
    fitted: Option<GaussianNb<f64, usize>>,
}

impl ModelData for NaiveBayesModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn check(&self) -> Result<()> {
        let total: f64 = self.shares.iter().sum();
        if self.shares.len() < 2 || (total - 1.0).abs() > 1e-9 || self.shares.iter().any(|share| *share < 0.0) {
            return Err(Error::Shape(format!("shares of classes {:?}", self.shares)));
        }
        if let Some(fitted) = &self.fitted {
            let parts = serde_json::to_value(fitted)?;
            let wanted = Some(self.inputs.len().max(1) as u64);
            let known =
                |key: &str| key.parse().is_ok_and(|class: usize| self.shares.get(class).is_some_and(|s| *s > 0.0));
            let classes = parts["class_info"].as_object();
            let fits = |info: &serde_json::Value| {
                ["theta", "sigma"].iter().all(|part| info[part]["dim"][0].as_u64() == wanted)
            };
            let is_whole = classes.is_some_and(|all| {
                all.len() == self.shares.iter().filter(|share| **share > 0.0).count()
                    && all.iter().all(|(key, info)| known(key) && fits(info))
            });
            if !is_whole {
                return Err(Error::Shape("the classes, means and variances do not fit together".into()));
            }
        }
        check_saved(self.inputs.len(), |columns| self.predict(columns, None))
    }

    fn predict(&self, inputs: &Columns, _series: Option<&[u32]>) -> Result<Array2<f64>> {
        let (x, classes) = (matrix(inputs), self.shares.len());
        let known =
            self.fitted.as_ref().map(|fitted| catch_panic("naive_bayes", || fitted.joint_log_likelihood(x.view())));
        let known = known.transpose()?;
        let mut out = Array2::zeros((if classes == 2 { 1 } else { classes }, x.nrows()));
        for (row, mut column) in out.columns_mut().into_iter().enumerate() {
            let score = |class: usize| match &known {
                Some(known) => known.get(&class).map_or(f64::NEG_INFINITY, |all: &Array1<f64>| all[row]),
                None => self.shares[class].ln(),
            };
            let mut probabilities: Vec<f64> = (0..classes).map(score).collect();
            softmax(&mut probabilities);
            match classes {
                2 => column[0] = probabilities[1] - probabilities[0],
                _ => column.iter_mut().zip(&probabilities).for_each(|(out, p)| *out = 2.0 * p - 1.0),
            }
        }
        finite("naive_bayes", out)
    }
}

impl Learner for NaiveBayes {
    fn readout(&self) -> Result<Option<Readout>> {
        Ok(None)
    }

    fn check_settings(&self) -> Result<()> {
        Error::unless_between("smoothing", self.smoothing, 1e-15..=1.0)
    }

    fn check(&self, problem: &Problem) -> Result<()> {
        check_problem("naive_bayes", TargetKinds::Classes, problem)
    }

    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        self.check_settings()?;
        let (inputs, x) = inputs(problem, subset);
        let classes = problem.targets().nrows().max(2);
        let labels = Array1::from(problem.classes().map(|classes| classes.per_row).unwrap_or_default());
        let share = |k: usize| labels.iter().filter(|l| **l == k).count() as f64 / labels.len() as f64;
        let varies = x.columns().into_iter().any(|column| column.iter().any(|v| *v != column[0]));
        let params = GaussianNb::<f64, usize>::params().var_smoothing(self.smoothing);
        let fit = || params.fit(&Dataset::new(x.clone(), labels.clone()));
        let fitted = if varies { Some(guarded_fit("naive_bayes", fit)?) } else { None };
        Model::new(NaiveBayesModel { inputs, shares: (0..classes).map(share).collect(), fitted })
    }
}
