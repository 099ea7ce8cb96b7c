//! K-fold cross-validation.

mod any_lambda;
mod cost;
mod dual;
mod evaluator;
mod folds;
mod primal;
mod way;

use super::balance;
use super::kernel::{kernel_data, scorer, weighing};
use super::linear::Linear;
use super::refined::Refined;
use any_lambda::AnyLambda;
use cost::choose;
use dual::{Dual, Part, Parts, has_states};
use evaluator::{KFoldEvaluator, Shared};
use ndarray::Array2;
use primal::Primal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::OnceLock;
use vaglio_core::{Criterion, Design, Error, Estimate, Feature, Geometry, Loss, Outline, Result, Score, Shortcut};
use vaglio_kernels::Scorer;
use vaglio_kernels::kfold::{Folds, Rows};
use way::Way;

/// The mean loss of every row predicted by the readout trained on the rows of all other folds.
///
/// (1/Σ r_j) Σ_j r_j · loss(y_j, prediction of row j without its fold); with several λ the lowest such mean over λ. All
/// rows are pooled: it is a mean over rows, not of means over folds. With a ridge readout no fold is ever refitted.
///
/// Folds are contiguous by default, the first rows mod `folds` of them with one row more.
///
/// # Reference
/// P. Buteneers, K. Caluwaerts, J. Dambre, D. Verstraeten, B. Schrauwen, *Optimized parameter search for large datasets
/// of the regularization parameter and feature selection for ridge regression*, Neural Processing Letters 2013.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KFold {
    /// How many folds; 10 by default, with `by: groups` one for each group.
    pub folds: Option<usize>,
    /// Whether rows (or groups) are shuffled first, by the pipeline's seed.
    pub shuffle: bool,
    /// Whether every class is spread evenly over the folds.
    pub stratified: bool,
    /// Rows of one group stay in one fold.
    pub by: Option<By>,
    /// The column of the data that gives every row its fold.
    pub assignment: Option<String>,
    /// What is averaged over the rows held out.
    pub loss: Loss,
    /// How the scores are computed; it changes none of them.
    pub engine: Engine,
}

/// What folds are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The groups of `data.groups`.
    Groups,
}

/// The way to the scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// The cheapest by predicted cost.
    #[default]
    Auto,
    /// Moments of the columns in each fold: O(1) a trial after one pass of O(rows · columns²). Squared loss only.
    Primal,
    /// Rows held out: O(rows) a trial, for any loss.
    Dual,
}

vaglio_core::describe!(
    Criterion,
    KFold,
    "kfold",
    "mean loss of every row predicted without its fold, exact and without refitting",
    "criterion: {kind: kfold, folds: 10, loss: squared}"
);

#[typetag::serde(name = "kfold")]
impl Criterion for KFold {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let folds = Folds::new(&self.folds_of(design)?);
        let (outputs, rows) = design.targets().dim();
        design.best_lambda(|lambda| {
            let mut predictions = Array2::zeros((outputs, rows));
            for fold in 0..folds.count() {
                let held_out = folds.held_out(fold);
                let predicted = design.retrain(&folds.training(fold), held_out, subset, lambda)?;
                for (&row, column) in held_out.iter().zip(predicted.columns()) {
                    predictions.column_mut(row).assign(&column);
                }
            }
            Ok(design.loss(self.loss, predictions.view()))
        })
    }

    fn accelerate<'d>(&'d self, design: &'d Design, outline: &Outline) -> Result<Option<Shortcut<'d>>> {
        let Some(readout) = design.readout() else { return Ok(None) };
        if self.refits(design).is_some() {
            return Ok(None);
        }
        let folds = Folds::new(&self.folds_of(design)?);
        let choice = self.choice(design, &folds, outline);
        let data = kernel_data(design, readout.intercept)?;
        let plain = Rows::new(data, folds, readout.intercept, design.is_standardized_in_folds());
        let rows = Arc::new(match balance::classes_of(design) {
            Some(classes) => plain.balancing(classes.of_row),
            None => plain,
        });
        let scorer = scorer(design, Arc::clone(rows.targets()), self.loss, None);
        if readout.refine {
            return Ok(Some(Shortcut::new("decomposition", Refined::new(design, AnyLambda { rows, scorer }))));
        }
        let lambdas = readout.lambdas.clone();
        let way: Box<dyn Way + 'd> = if choice.engine == "primal" {
            Box::new(Primal::new(&rows, &lambdas)?)
        } else {
            let Some(parts) = self.parts(design, &rows, &scorer)? else { return Ok(None) };
            Box::new(Dual::new(parts))
        };
        let shared = Shared { fits: AnyLambda { rows, scorer }, lambdas };
        Ok(Some(Shortcut::new(choice.engine, KFoldEvaluator::new(shared, way))))
    }

    fn geometry<'d>(&'d self, design: &'d Design) -> Result<Box<dyn Geometry + 'd>> {
        Ok(Box::new(Linear::new(design)?))
    }

    fn folds(&self, design: &Design) -> Result<Option<Vec<u32>>> {
        self.folds_of(design).map(Some)
    }

    fn assignment(&self) -> Option<&str> {
        self.assignment.as_deref()
    }

    fn check(&self, design: &Design) -> Result<()> {
        self.loss.check(design.task())?;
        if self.engine == Engine::Primal && self.loss != Loss::Squared {
            return Err(Error::setting(
                "engine",
                format!(
                    "moments know the squared loss alone, and the loss is `{}`; use `dual` or `auto`",
                    self.loss.name()
                ),
            ));
        }
        if self.engine == Engine::Primal && design.decisions().is_some() {
            return Err(Error::setting(
                "engine",
                "moments know the errors of folds, not of the units over which predictions are averaged; use `dual` or `auto`",
            ));
        }
        self.folds_of(design).map(|_| ())
    }

    fn estimate(&self, design: &Design, outline: &Outline) -> Estimate {
        let folds = Folds::new(&self.folds_of(design).unwrap_or_default());
        let trials = outline.trials * design.lambdas().len() as f64;
        let refit = |engine, reason: &str, lambdas: f64| Estimate {
            engine,
            reason: reason.into(),
            flops: trials / lambdas
                * folds.count() as f64
                * design.rows() as f64
                * 2.0
                * (outline.largest as f64).powi(2),
            bytes: 8.0 * (design.rows() * outline.largest * folds.count()) as f64,
        };
        match design.readout() {
            None => refit("refit", "the learner has no linear form, so every fold of every subset is refitted", 1.0),
            Some(_) if self.refits(design).is_some() => refit("refit", self.refits(design).unwrap_or_default(), 1.0),
            Some(readout) if readout.refine => refit(
                "decomposition",
                "the folds of every subset are decomposed once and lambda is searched on that; a grid would be faster",
                readout.lambdas.len() as f64,
            ),
            Some(_) => self.choice(design, &folds, outline),
        }
    }

    fn loss(&self) -> Option<Loss> {
        Some(self.loss)
    }
}

impl KFold {
    /// Why every fold of every subset is refitted, where it is.
    fn refits(&self, design: &Design) -> Option<&'static str> {
        if !design.is_standardized_in_folds() {
            return None;
        }
        if balance::classes_of(design).is_some() {
            return Some(
                "columns are standardized in each fold by other weights than a balanced readout has, so every fold is refitted; `scope: train` would be faster",
            );
        }
        // Columns differ from fold to fold, and rows must be predicted: no closed form.
        let must_predict = self.loss != Loss::Squared || design.decisions().is_some();
        must_predict.then_some(
            "columns are standardized in each fold and rows must be predicted for this loss, so every fold is refitted; `scope: train` would be faster",
        )
    }

    fn choice(&self, design: &Design, folds: &Folds, outline: &Outline) -> Estimate {
        let moments = self.loss == Loss::Squared && design.decisions().is_none();
        choose(design, folds, outline, self.engine, moments)
    }

    /// The rows in parts that share their training weights; `None` where a fold leaves none of a class.
    fn parts<'d>(&self, design: &'d Design, rows: &Arc<Rows<'d>>, scorer: &Scorer) -> Result<Option<Parts<'d>>> {
        let (folds, intercept) = (rows.folds(), design.readout().is_some_and(|readout| readout.intercept));
        let order = folds.order();
        let in_order = Arc::new(rows.targets().permuted(order));
        let permuted = super::kernel::scorer(design, in_order, self.loss, Some(order));
        let parts = match balance::classes_of(design) {
            None => vec![Part {
                rows: Arc::clone(rows),
                scorer: scorer.clone(),
                permuted: permuted.clone(),
                folds: (0..folds.count()).collect(),
                copies: OnceLock::new(),
            }],
            Some(classes) => {
                let Some(parts) = balance::held_out(design, &classes, folds) else { return Ok(None) };
                let part = |(part, of): (balance::Part, Vec<usize>)| -> Result<Part<'d>> {
                    let data = weighing(design, Some(&part.weights), intercept)?;
                    let rows = Rows::new(data, folds.clone(), intercept, false);
                    Ok(Part {
                        scorer: scorer.of_part(rows.targets(), |row| part.rows[row]),
                        permuted: permuted.of_part(&rows.targets().permuted(order), |at| part.rows[order[at]]),
                        rows: Arc::new(rows),
                        folds: of,
                        copies: OnceLock::new(),
                    })
                };
                parts.into_iter().map(part).collect::<Result<_>>()?
            }
        };
        let (lambdas, outputs) =
            (design.readout().map_or_else(Vec::new, |r| r.lambdas.clone()), design.targets().nrows());
        let entries = design.rows() * design.candidates().len();
        let has_states = has_states(parts.len() as f64, lambdas.len() as f64, entries as f64);
        Ok(Some(Parts { parts, scorer: scorer.clone(), permuted, lambdas, outputs, has_states }))
    }
}
