//! Conversion between problems and linfa's data sets.

use ndarray::{Array1, Array2, ArrayView1};
use std::error::Error as OutsideError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use vaglio_core::{Columns, Error, Feature, Problem, Result, Task};

/// Kinds of targets that a model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKinds {
    /// Numbers.
    Numbers,
    /// Classes: each output against the others.
    Classes,
    /// Numbers and classes.
    Both,
}

/// Targets of one output over all rows.
#[derive(Debug, Clone, Copy)]
pub struct OutputTargets<'p> {
    targets: ArrayView1<'p, f64>,
    is_classes: bool,
}

impl OutputTargets<'_> {
    /// Targets as numbers; classes are ±1.
    pub fn numbers(&self) -> Array1<f64> {
        self.targets.to_owned()
    }

    /// Whether each row is of this output's class.
    pub fn classes(&self) -> Array1<bool> {
        self.targets.mapv(|y| y > 0.0)
    }

    /// Whether the output is a class against the others.
    pub fn is_classes(&self) -> bool {
        self.is_classes
    }
}

/// Rejects problems that a model cannot learn: with row weights, or with targets that it does not accept.
///
/// # Errors
/// [`Error::Setting`] at the `kind` of the learner.
pub fn check_problem(word: &str, takes: TargetKinds, problem: &Problem) -> Result<()> {
    check_task(word, takes, problem)?;
    match problem.weights() {
        None => Ok(()),
        Some(_) => Err(Error::setting("kind", format!("`{word}` takes no row weights; leave them out, or use `rls`"))),
    }
}

/// Rejects targets that a model does not accept.
///
/// # Errors
/// [`Error::Setting`] at the `kind` of the learner.
pub(crate) fn check_task(word: &str, takes: TargetKinds, problem: &Problem) -> Result<()> {
    let is_classes = *problem.task() != Task::Regression;
    match (takes, is_classes) {
        (TargetKinds::Numbers, true) => {
            Err(Error::setting("kind", format!("`{word}` predicts numbers, and the target is classes")))
        }
        (TargetKinds::Classes, false) => {
            Err(Error::setting("kind", format!("`{word}` tells classes, and the target is numbers")))
        }
        _ => Ok(()),
    }
}

/// Returns the columns as a rows × columns matrix; an empty set gives one column of zeros.
pub fn matrix(columns: &Columns) -> Array2<f64> {
    if columns.is_empty() {
        return Array2::zeros((columns.rows(), 1));
    }
    let all: Vec<_> = columns.iter().map(|column| column.values()).collect();
    Array2::from_shape_fn((columns.rows(), columns.len()), |(row, k)| all[k][row])
}

/// Sorts the subset by table order and builds its [`matrix`].
pub(crate) fn inputs(problem: &Problem, subset: &[Feature]) -> (Vec<Feature>, Array2<f64>) {
    let mut inputs = subset.to_vec();
    inputs.sort_unstable();
    let x = matrix(&problem.columns().select(&inputs));
    (inputs, x)
}

/// Fits one model per output; also returns the columns that the models read, in the order they read them.
///
/// # Errors
/// [`Error::Shape`] if all rows of an output are in one class; [`Error::Failed`] if `fit` fails; [`Error::Numerical`] if
/// it panics.
pub fn fit_each<M, E: Into<Box<dyn OutsideError + Send + Sync>>>(
    word: &str,
    problem: &Problem,
    subset: &[Feature],
    fit: impl Fn(&Array2<f64>, OutputTargets<'_>) -> Result<M, E>,
) -> Result<(Vec<Feature>, Vec<M>)> {
    let (inputs, x) = inputs(problem, subset);
    let is_classes = *problem.task() != Task::Regression;
    let one = |(targets, name): (ArrayView1<'_, f64>, &String)| {
        if is_classes {
            check_both(word, targets, name)?;
        }
        guarded_fit(word, || fit(&x, OutputTargets { targets, is_classes }))
    };
    let models =
        problem.targets().rows().into_iter().zip(problem.target_names().iter()).map(one).collect::<Result<_>>()?;
    Ok((inputs, models))
}

/// Rejects an output whose rows are all of one class.
pub(crate) fn check_both(word: &str, targets: ArrayView1<'_, f64>, name: &str) -> Result<()> {
    let positive = targets.iter().filter(|y| **y > 0.0).count();
    if positive > 0 && positive < targets.len() {
        return Ok(());
    }
    let rows = targets.len();
    let message = format!("`{word}` needs rows of both classes, and all {rows} training rows have one at `{name}`");
    Err(Error::Shape(message))
}

/// Predictions by one model per output, outputs × rows.
///
/// # Errors
/// [`Error::Numerical`] for predictions that are not finite or not one per row, and if `predict` panics.
pub fn predict_each<M>(
    word: &str,
    models: &[M],
    columns: &Columns,
    predict: impl Fn(&M, &Array2<f64>) -> Array1<f64>,
) -> Result<Array2<f64>> {
    let x = matrix(columns);
    let mut out = Array2::zeros((models.len(), x.nrows()));
    for (model, mut row) in models.iter().zip(out.rows_mut()) {
        let found = catch_panic(word, || predict(model, &x))?;
        if found.len() != row.len() {
            return Err(Error::Numerical(format!("`{word}` predicts {} of {} rows", found.len(), row.len())));
        }
        row.assign(&found);
    }
    finite(word, out)
}

/// Returns predictions if all are finite.
pub(crate) fn finite(word: &str, predictions: Array2<f64>) -> Result<Array2<f64>> {
    match predictions.iter().find(|p| !p.is_finite()) {
        Some(wrong) => Err(Error::Numerical(format!("`{word}` predicts {wrong}; are columns of unlike scale?"))),
        None => Ok(predictions),
    }
}

/// Rejects a model that cannot predict a row of zeros, since its parts do not fit its inputs.
///
/// # Errors
/// [`Error::Shape`].
pub fn check_saved(inputs: usize, predict: impl Fn(&Columns) -> Result<Array2<f64>>) -> Result<()> {
    let mut columns = Columns::new(1);
    (0..inputs).for_each(|_| columns.push(vec![0.0]));
    let refused = |why: String| Error::Shape(format!("the model does not predict from {inputs} columns: {why}"));
    let found = predict(&columns).map_err(|error| refused(error.to_string()))?;
    if found.is_empty() { Err(refused("it has no output".into())) } else { Ok(()) }
}

/// Calls a third-party model and turns a panic into an error.
pub(crate) fn catch_panic<T>(word: &str, call: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Error::Numerical(format!("`{word}` failed: {}", said.as_deref().unwrap_or("it does not say why")))
    })
}

/// Calls a third-party fit and turns a failure or panic into an error.
pub(crate) fn guarded_fit<T, E: Into<Box<dyn OutsideError + Send + Sync>>>(
    word: &str,
    fit: impl FnOnce() -> Result<T, E>,
) -> Result<T> {
    catch_panic(word, fit)?.map_err(|error| Error::failed(&format!("`{word}` cannot be fitted"), error))
}

/// Replaces scores by the probabilities exp(s_k)/Σ exp(s_j), and returns ln Σ exp(s_j).
pub(crate) fn softmax(scores: &mut [f64]) -> f64 {
    let most = scores.iter().fold(f64::NEG_INFINITY, |most, s| most.max(*s));
    scores.iter_mut().for_each(|s| *s = (*s - most).exp());
    let total: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|s| *s /= total);
    most + total.ln()
}

/// Makes a model of linfa a learner: one model per output, refitted for every subset, saved by serde.
///
/// The settings are a struct with `#[part(Learner, "word")]`. `fit` takes them, the rows as a matrix and an
/// [`OutputTargets`], and returns linfa's result. `predict` takes the fitted model and a matrix, and returns an array
/// with one number per row: a class as ±1, or a probability P as 2P − 1. `saved as` names the struct that is saved and
/// its word. Three checks may stand before `fit`, in this order: `check |own| …;` of the settings, `check problem
/// |problem| …;`, and `check model |model, inputs| …;` of each saved model and the number of its inputs.
///
/// # Example
/// ```
/// use linfa::prelude::*;
/// use linfa_elasticnet::{ElasticNet, ElasticNetError};
/// use vaglio_core::prelude::*;
///
/// /// Least absolute shrinkage.
/// #[part(Learner, "my_lasso")]
/// pub struct MyLasso {
///     /// The penalty.
///     #[default(0.1)]
///     pub penalty: f64,
/// }
///
/// vaglio_linfa::learner! {
///     MyLasso = "my_lasso", saved as MyLassoModel = "my_lasso_model", of Numbers, fitted ElasticNet<f64>;
///     fit |own, x, y| ElasticNet::lasso().penalty(own.penalty).fit(&Dataset::new(x.clone(), y.numbers()));
///     predict |model, x| x.dot(model.hyperplane()) + model.intercept()
/// }
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let model = MyLasso::default().fit(&problem, &[0, 3], None)?;
/// assert_eq!(model.inputs(), [0, 3]);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
#[macro_export]
macro_rules! learner {
    (
        $learner:ident = $word:literal, saved as $model:ident = $saved:literal, of $takes:ident, fitted $fitted:ty;
        $(check |$checked:ident| $check:expr;)?
        $(check problem |$problem:ident| $check_problem:expr;)?
        $(check model |$saved_model:ident, $inputs:ident| $check_model:expr;)?
        fit |$own:ident, $x:ident, $y:ident| $fit:expr;
        predict |$of:ident, $at:ident| $predict:expr
    ) => {
        /// Fitted models, one per output.
        #[::vaglio_core::saved(ModelData, $saved)]
        struct $model {
            inputs: ::std::vec::Vec<::vaglio_core::Feature>,
            #[serde(with = "::vaglio_linfa::sorted_maps")]
            outputs: ::std::vec::Vec<$fitted>,
        }

        impl ::vaglio_core::ModelData for $model {
            fn inputs(&self) -> &[::vaglio_core::Feature] {
                &self.inputs
            }

            fn check(&self) -> ::vaglio_core::Result<()> {
                $(for $saved_model in &self.outputs {
                    let $inputs = self.inputs.len();
                    $check_model?;
                })?
                $crate::check_saved(self.inputs.len(), |columns| self.predict(columns, None))
            }

            fn predict(
                &self,
                inputs: &::vaglio_core::Columns,
                _series: ::core::option::Option<&[u32]>,
            ) -> ::vaglio_core::Result<::ndarray::Array2<f64>> {
                let predict = |$of: &$fitted, $at: &::ndarray::Array2<f64>| -> ::ndarray::Array1<f64> { $predict };
                $crate::predict_each($word, &self.outputs, inputs, predict)
            }
        }

        impl ::vaglio_core::Learner for $learner {
            fn readout(&self) -> ::vaglio_core::Result<::core::option::Option<::vaglio_core::Readout>> {
                ::core::result::Result::Ok(::core::option::Option::None)
            }

            fn refit(
                &self,
                problem: &::vaglio_core::Problem,
                subset: &[::vaglio_core::Feature],
            ) -> ::vaglio_core::Result<::vaglio_core::Model> {
                ::vaglio_core::Learner::check_settings(self)?;
                let $own = self;
                let fit = |$x: &::ndarray::Array2<f64>, $y: $crate::OutputTargets<'_>| $fit;
                let (inputs, outputs) = $crate::fit_each($word, problem, subset, fit)?;
                ::vaglio_core::Model::new($model { inputs, outputs })
            }

            fn check_settings(&self) -> ::vaglio_core::Result<()> {
                $(let $checked = self; $check?;)?
                ::core::result::Result::Ok(())
            }

            fn check(&self, problem: &::vaglio_core::Problem) -> ::vaglio_core::Result<()> {
                $(let $problem = problem; $check_problem?;)?
                $crate::check_problem($word, $crate::TargetKinds::$takes, problem)
            }
        }
    };
}
