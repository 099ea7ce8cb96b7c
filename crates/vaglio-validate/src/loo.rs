//! Leave-one-out.

mod branch;
mod common;
mod evaluator;
mod predicted;
mod settle;

use super::balance;
use super::decomposed::{Decomposed, ENGINE};
use super::fits::Fits;
use super::linear::Linear;
use super::rounds::Rounds;
use super::units;
use common::{Common, MOST_PARTS, parts_of};
use evaluator::LooEvaluator;
use ndarray::Array2;
pub use predicted::predicted_left_out;
use std::sync::Arc;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{
    AnyLoss, Criterion, Design, Error, Estimate, Feature, Geometry, HeldOut, Measure, Outline, Result, Score, Shortcut,
    mean_over_outputs, part,
};

/// The mean loss of every row predicted from all others.
///
/// (1/Σ r_j) Σ_j r_j · loss(y_j, prediction of row j by the readout trained without row j); with a grid of λ the lowest
/// such mean over λ. A row of weight 2 counts as two equal rows that are left out together.
///
/// With a ridge readout every trial is exact and costs O(rows · outputs); no row is ever refitted.
///
/// # Reference
/// T. Pahikkala, A. Airola, T. Salakoski, *Feature selection for regularized least-squares: new computational
/// short-cuts and fast algorithmic implementations*, MLSP 2010.
#[part(
    Criterion,
    "loo",
    summary = "mean loss of every row predicted from all others, exact and without refitting",
    example = "criterion: {kind: loo, loss: squared}",
    title = "leave-one-out"
)]
#[derive(PartialEq)]
pub struct Loo {
    /// What is averaged over the rows left out.
    pub loss: AnyLoss,
    /// Tries every candidate at every step, even those that are proven worse; the result is the same.
    #[serde(skip)]
    #[doc(hidden)]
    pub full_pass: bool,
}

vaglio_core::setters!(Loo {; loss: AnyLoss; });

impl Loo {
    /// Of outputs that share λ.
    fn shortcut<'d>(&self, design: &'d Design, outline: &Outline) -> Result<Option<Shortcut<'d>>> {
        let Some(readout) = design.readout() else { return Ok(None) };
        let parts = parts_of(design);
        let has_states = !readout.refine && parts.as_ref().is_some_and(|parts| parts.len() <= MOST_PARTS);
        let fits = Fits::of_rows(design, &self.loss, parts.unwrap_or_default())?;
        if !has_states {
            return Ok(Some(Decomposed::shortcut(Rounds::new(design, vec![fits]))));
        }
        let mut common = Common::new(design, &self.loss, fits, &readout.lambdas);
        common.bounded &= !self.full_pass;
        common.changes_once = outline.start == outline.largest && outline.steps == 1;
        Ok(Some(Shortcut::new("dual", LooEvaluator::new(Arc::new(common)))))
    }
}

impl Criterion for Loo {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        if let Some(outputs) = design.of_outputs() {
            return mean_over_outputs(outputs, |one| self.evaluate(one, subset));
        }
        if let Some(score) = units::evaluated(self, &*self.loss, design, subset)? {
            return Ok(score);
        }
        let (outputs, rows) = design.targets().dim();
        design.best_lambda(|lambda| {
            let mut predictions = Array2::zeros((outputs, rows));
            for row in 0..rows {
                predictions.column_mut(row).assign(&left_out(design, subset, row, lambda)?.column(0));
            }
            Ok(design.loss(&*self.loss, predictions.view()))
        })
    }

    fn accelerate<'d>(&'d self, design: &'d Design, outline: &Outline) -> Result<Option<Shortcut<'d>>> {
        if let Some(told) = units::accelerated(self, &*self.loss, design, outline)? {
            return Ok(told);
        }
        let Some(outputs) = design.of_outputs() else { return self.shortcut(design, outline) };
        let shortcuts = outputs.iter().map(|one| self.shortcut(one, outline)).collect::<Result<Option<_>>>()?;
        Ok(shortcuts.and_then(Shortcut::of_outputs))
    }

    fn geometry<'d>(&'d self, design: &'d Design) -> Result<Box<dyn Geometry + 'd>> {
        Ok(Box::new(Linear::new(design)?))
    }

    fn check_settings(&self) -> Result<()> {
        self.loss.check_settings().map_err(|error| error.under("loss"))
    }

    fn check(&self, design: &Design) -> Result<()> {
        self.loss.check(design.task()).map_err(|error| error.under("loss"))?;
        design.check_outputs(&self.loss)?;
        units::check(&*self.loss, design)?;
        if design.rows() < 2 && design.readout().is_none() {
            return Err(Error::setting("kind", "leaving one row out of one leaves none to train on; give more rows"));
        }
        if design.rows() < 2 && design.readout().is_some_and(|r| r.intercept) {
            return Err(Error::setting(
                "kind",
                "leaving one row out of one leaves none to estimate the intercept from; give more rows or set learner.intercept to false",
            ));
        }
        let Some(classes) = balance::classes_of(design) else { return Ok(()) };
        let members = |class: usize| classes.of_row.iter().filter(|c| **c == class).count();
        match (0..classes.names.len()).find(|&class| members(class) == 1) {
            Some(class) => Err(Error::setting(
                "kind",
                format!(
                    "class `{}` has one row, and without it none is left to weigh the class by; give more rows of it, leave it out, or use the learner `rls`",
                    classes.names[class]
                ),
            )),
            None => Ok(()),
        }
    }

    fn folds(&self, _: &Design) -> Result<HeldOut> {
        Ok(HeldOut::EachRow)
    }

    fn scores_each_output(&self) -> bool {
        true
    }

    fn loss(&self) -> Option<AnyLoss> {
        Some(self.loss.clone())
    }

    fn estimate(&self, design: &Design, outline: &Outline) -> Estimate {
        if let Some(outputs) = design.of_outputs() {
            return self.estimate(&outputs[0], outline).times(outputs.len());
        }
        let Outline { largest, trials, .. } = *outline;
        let (rows, outputs) = (design.planned_rows() as f64, design.targets().nrows() as f64);
        let steps = largest as f64;
        let Some(readout) = design.readout() else {
            return Estimate {
                engine: "refit",
                reason: "the learner has no linear form, so every row of every subset is refitted".into(),
                flops: trials * rows * rows * steps * steps,
                bytes: 0.0,
            };
        };
        let parts = parts_of(design).map(|parts| parts.len());
        let decomposed = |reason: &str| Estimate {
            engine: ENGINE,
            reason: reason.into(),
            flops: trials * parts.unwrap_or(design.planned_rows()) as f64 * rows * steps * steps * 20.0,
            bytes: 8.0 * rows * 2.0 * steps * parts.unwrap_or(1) as f64,
        };
        if readout.refine {
            return decomposed(
                "every subset is decomposed once and lambda is searched on that; a grid would be faster",
            );
        }
        let Some(parts) = parts.filter(|parts| *parts <= MOST_PARTS) else {
            return decomposed(
                "a balanced readout of rows of so many weights keeps no states, so every subset is decomposed; k-fold would be faster",
            );
        };
        let active = design.candidates().len() as f64;
        let is_plain = balance::classes_of(design).is_none() && design.decisions().is_none();
        let bounded = self.loss.measure() == Measure::Squared && !self.full_pass && is_plain;
        // A state for each λ and part of the rows.
        let lambdas = (readout.lambdas.len() * parts) as f64;
        if outline.start > 0 {
            let start = outline.start as f64;
            return Estimate {
                engine: "dual",
                reason: "leave-one-out in closed form; a removal is tried in O(rows)".into(),
                flops: lambdas
                    * rows
                    * (4.0 * start * start + (4.0 + 6.0 * outputs) * trials + 4.0 * start * outline.steps as f64),
                bytes: lambdas * 8.0 * rows * (2.0 * start + 4.0 + 2.0 * outputs),
            };
        }
        if outline.steps == 0 && largest > 0 {
            let pruned = if bounded { ", and subtrees that a bound rules out are not visited" } else { "" };
            return Estimate {
                engine: "dual",
                reason: format!("leave-one-out in closed form; two updates of a column a subset{pruned}"),
                flops: lambdas * rows * trials * (4.0 + 6.0 * outputs),
                bytes: lambdas * 8.0 * rows * (active * steps / 2.0 + 4.0),
            };
        }
        if bounded {
            return Estimate {
                engine: "dual",
                reason: "leave-one-out in closed form; squared loss, so candidates are bounded by one pass over the data and only those that could win are tried".into(),
                flops: lambdas * steps * rows * (active * (4.0 + 2.0 * outputs) + 8.0 * steps),
                bytes: lambdas * 8.0 * rows * (steps + active / 8.0 + 6.0 + 3.0 * outputs),
            };
        }
        Estimate {
            engine: "dual",
            reason: format!(
                "leave-one-out in closed form; every candidate is tried in one pass a step for the loss `{}`",
                self.loss.name()
            ),
            flops: lambdas * steps * rows * active * (4.0 + 6.0 * outputs),
            bytes: lambdas * 8.0 * rows * (active + 4.0 + 2.0 * outputs),
        }
    }
}

fn left_out(design: &Design, subset: &[Feature], row: usize, lambda: Option<f64>) -> Result<Array2<f64>> {
    let others: Vec<usize> = (0..design.rows()).filter(|&r| r != row).collect();
    design.retrain(&others, &[row], subset, lambda)
}
