//! K-fold cross-validation.

mod cells;
mod cost;
mod engine;
mod evaluator;
mod folds;
mod hold_out;
mod moments;

use super::balance;
use super::decomposed::Decomposed;
use super::fits::{Fits, are_decomposed};
use super::linear::Linear;
use cost::choose;
use engine::{FoldEngine, Kind};
use evaluator::{KFoldEvaluator, Shared};
use hold_out::HoldOutEngine;
use moments::MomentEngine;
use ndarray::Array2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vaglio_core::{
    Criterion, Design, Error, Estimate, Feature, Geometry, HeldOut, Loss, Outline, Result, Score, Shortcut,
};
use vaglio_kernels::Folds;

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

/// How the scores are computed.
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
    "criterion: {kind: kfold, folds: 10, loss: squared}",
    "cross-validated"
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
        let folds = Folds::new(&self.folds_of(design)?);
        let parts = balance::parts(design, &folds, folds.count());
        let (kind, _) = choose(self, design, &folds, parts.as_ref().map(Vec::len), outline);
        let mut parts = parts.unwrap_or_default();
        if kind != Kind::HoldOut && (design.is_standardized_in_folds() || !are_decomposed(parts.len(), folds.count())) {
            parts.clear();
        }
        let fits = Fits::of_folds(design, self.loss, folds, parts)?;
        let lambdas = readout.lambdas.clone();
        let engine: Box<dyn FoldEngine + 'd> = match kind {
            Kind::Decomposition => return Ok(Some(Decomposed::shortcut(fits))),
            Kind::Moments => Box::new(MomentEngine::new(moments::of(self, design, &fits.rows)?, &lambdas)),
            Kind::HoldOut => Box::new(HoldOutEngine::new(design, self.loss, &fits, &lambdas)),
        };
        Ok(Some(Shortcut::new(kind.name(), KFoldEvaluator::new(Shared { fits, lambdas }, engine))))
    }

    fn geometry<'d>(&'d self, design: &'d Design) -> Result<Box<dyn Geometry + 'd>> {
        Ok(Box::new(Linear::new(design)?))
    }

    fn folds(&self, design: &Design) -> Result<HeldOut> {
        self.folds_of(design).map(HeldOut::Folds)
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
        if design.readout().is_some() {
            let parts = balance::parts(design, &folds, folds.count()).map(|parts| parts.len());
            return choose(self, design, &folds, parts, outline).1;
        }
        Estimate {
            engine: "refit",
            reason: "the learner has no linear form, so every fold of every subset is refitted".into(),
            flops: outline.trials
                * folds.count() as f64
                * design.rows() as f64
                * 2.0
                * (outline.largest as f64).powi(2),
            bytes: 8.0 * (design.rows() * outline.largest * folds.count()) as f64,
        }
    }

    fn loss(&self) -> Option<Loss> {
        Some(self.loss)
    }
}
