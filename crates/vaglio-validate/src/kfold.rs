//! K-fold cross-validation.

mod apart;
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
use super::round::{Round, mean_of};
use super::rounds::Rounds;
use super::units;
use cost::{choose, is_light};
use engine::{EveryRound, FoldEngine, Kind};
use evaluator::{KFoldEvaluator, Shared};
use hold_out::HoldOutEngine;
use moments::MomentEngine;
use ndarray::{Array2, Axis, concatenate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{
    AnyLoss, AnyResampling, Criterion, Design, Error, Estimate, Feature, Geometry, HeldOut, Measure, Outline, Recorder,
    Result, Score, Shortcut, mean_over_outputs, part,
};

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
#[part(
    Criterion,
    "kfold",
    summary = "mean loss of every row predicted without its fold, exact and without refitting",
    example = "criterion: {kind: kfold, folds: 10, loss: squared}",
    title = "cross-validated"
)]
#[derive(PartialEq)]
pub struct KFold {
    /// How many folds; 10 by default, with `by: groups` one for each group.
    #[schemars(extend("minimum" = 2))]
    pub folds: Option<usize>,
    /// Whether rows (or groups) are shuffled first, by the pipeline's seed.
    pub shuffle: bool,
    /// Whether every class is spread evenly over the folds.
    pub stratified: bool,
    /// Rows of one group stay in one fold.
    pub by: Option<By>,
    /// The column of the data that gives every row its fold.
    pub assignment: Option<String>,
    /// Rows that are held out otherwise than once each, in place of all the above but `stratified`.
    pub splits: Option<AnyResampling>,
    /// What is averaged over the rows held out.
    pub loss: AnyLoss,
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

impl KFold {
    /// So many folds.
    pub fn new(folds: usize) -> Self {
        KFold { folds: Some(folds), ..KFold::default() }
    }

    /// Rows that are held out otherwise than once each: `KFold::of(Forward::new(5))`.
    pub fn of(splits: impl Into<AnyResampling>) -> Self {
        KFold::default().splits(splits)
    }

    /// The same with rows that are held out otherwise. How many folds there are is then said by `splits` alone: what
    /// [`KFold::new`] was given is refused beside it, so begin with [`KFold::of`].
    #[must_use]
    pub fn splits(self, splits: impl Into<AnyResampling>) -> Self {
        KFold { splits: Some(splits.into()), ..self }
    }

    /// The groups of the rows as folds: [`By::Groups`].
    pub fn by_groups() -> Self {
        KFold { by: Some(By::Groups), ..KFold::default() }
    }
}

vaglio_core::setters!(KFold {
    shuffle: bool,
    stratified: bool,
    engine: Engine,
    ;
    by: Option<By>,
    assignment: Option<String>,
    loss: AnyLoss,
    ;
});

impl Criterion for KFold {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        if let Some(outputs) = design.of_outputs() {
            return mean_over_outputs(outputs, |one| self.evaluate(one, subset));
        }
        if let Some(score) = units::evaluated(self, &*self.loss, design, subset)? {
            return Ok(score);
        }
        let rounds = self.rounds(design)?;
        let (outputs, rows) = design.targets().dim();
        design.best_lambda(|lambda| {
            let predictions = |round: &Round| {
                let mut predictions = Array2::zeros((outputs, rows));
                for fold in 0..round.held_out {
                    let held_out = round.folds.held_out(fold);
                    let predicted = design.retrain(&round.folds.training(fold), held_out, subset, lambda)?;
                    for (&row, column) in held_out.iter().zip(predicted.columns()) {
                        predictions.column_mut(row).assign(&column);
                    }
                }
                Ok(predictions)
            };
            let predictions: Vec<Array2<f64>> = rounds.iter().map(predictions).collect::<Result<_>>()?;
            Ok(self.pooled(design, &rounds, &predictions))
        })
    }

    fn accelerate<'d>(&'d self, design: &'d Design, outline: &Outline) -> Result<Option<Shortcut<'d>>> {
        if let Some(told) = units::accelerated(self, &*self.loss, design, outline)? {
            return Ok(told);
        }
        if let Some(outputs) = design.of_outputs() {
            let shortcuts = outputs.iter().map(|one| self.accelerate(one, outline)).collect::<Result<Option<_>>>()?;
            return Ok(shortcuts.and_then(Shortcut::of_outputs));
        }
        let Some(readout) = design.readout() else { return Ok(None) };
        let rounds = self.rounds(design)?;
        if !self.is_mean_of(&rounds) {
            return Ok(None);
        }
        let Some((each, apart)) = apart::of_designs(self, design, rounds)? else { return Ok(None) };
        let parts: Vec<Option<Vec<balance::Part>>> =
            each.iter().map(|(design, round)| balance::parts(design, round, round.held_out)).collect();
        let kinds = each.iter().zip(&parts).map(|((design, round), parts)| {
            let parts = parts.as_ref().map(Vec::len);
            choose(self, design, round, parts, outline).0
        });
        // What serves one round alone serves not the others; decomposing each subset always does.
        let kind = kinds.reduce(|kind, other| if kind == other { kind } else { Kind::Decomposition });
        let kind = kind.unwrap_or(Kind::Decomposition);
        let (mut fits, mut engines) = (Vec::new(), Vec::new());
        let lambdas = readout.lambdas.clone();
        for ((design, round), parts) in each.into_iter().zip(parts) {
            let (held_out, mut parts) = (round.held_out, parts.unwrap_or_default());
            let are_refitted = design.in_folds().is_by_formula()
                || !round.folds.is_of_others()
                || !are_decomposed(parts.len(), held_out)
                || is_light(design, &round);
            if kind != Kind::HoldOut && are_refitted {
                parts.clear();
            }
            let mut own = Fits::of_folds(design, &self.loss, round, parts)?;
            let engine: Option<Box<dyn FoldEngine + 'd>> = match kind {
                Kind::Decomposition => None,
                Kind::Moments => {
                    let moments = own.moments.insert(moments::of(self, design, &own.rows, held_out)?);
                    Some(Box::new(MomentEngine::new(Arc::clone(moments), &lambdas)))
                }
                Kind::HoldOut => Some(Box::new(HoldOutEngine::new(design, &self.loss, &own, &lambdas))),
            };
            engines.extend(engine);
            fits.push(own);
        }
        let rounds = match apart {
            None => Rounds::new(design, fits),
            Some(apart) => Rounds::of_folds(design, fits, apart),
        };
        let shares = rounds.shares().map(<[f64]>::to_vec);
        let engine: Box<dyn FoldEngine + 'd> = match engines.len() {
            0 => return Ok(Some(Decomposed::shortcut(rounds))),
            1 if shares.is_none() => engines.remove(0),
            _ => Box::new(EveryRound { engines, shares }),
        };
        Ok(Some(Shortcut::new(
            kind.name(),
            KFoldEvaluator::new(Shared { rounds, lambdas, recorder: Recorder::new() }, engine),
        )))
    }

    fn geometry<'d>(&'d self, design: &'d Design) -> Result<Box<dyn Geometry + 'd>> {
        Ok(Box::new(Linear::new(design)?))
    }

    fn folds(&self, design: &Design) -> Result<HeldOut> {
        self.rounds_of(design).map(HeldOut::Folds)
    }

    fn assignment(&self) -> Option<&str> {
        self.splits.as_ref().map_or(self.assignment.as_deref(), |splits| splits.assignment())
    }

    fn assignment_words(&self) -> &'static [&'static str] {
        self.splits.as_ref().map_or(&[], |splits| splits.assignment_words())
    }

    fn check_settings(&self) -> Result<()> {
        self.loss.check_settings().map_err(|error| error.under("loss"))?;
        self.check_settings_alone()
    }

    fn check(&self, design: &Design) -> Result<()> {
        self.loss.check(design.task()).map_err(|error| error.under("loss"))?;
        design.check_outputs(&self.loss)?;
        units::check(&*self.loss, design)?;
        if self.engine == Engine::Primal && self.loss.measure() != Measure::Squared {
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
        self.rounds_of(design).map(|_| ())
    }

    fn estimate(&self, design: &Design, outline: &Outline) -> Estimate {
        if let Some(outputs) = design.of_outputs() {
            return self.estimate(&outputs[0], outline).times(outputs.len());
        }
        let rounds = self.rounds(design).unwrap_or_default();
        let folds: usize = rounds.iter().map(|round| round.held_out).sum();
        let is_mean = match design.in_folds().is_by_maps() {
            true => apart::is_mean_of_folds(&*self.loss, design),
            false => self.is_mean_of(&rounds),
        };
        let has_readout = design.readout().is_some();
        if let (true, true, true, Some(round)) = (design.in_folds().is_by_maps(), is_mean, has_readout, rounds.first())
        {
            let one = round.each_fold().next().map(|fold| {
                let parts = balance::parts(design, &fold, fold.held_out).map(|parts| parts.len());
                choose(self, design, &fold, parts, outline).1.times(folds)
            });
            if let Some(one) = one {
                return Estimate { reason: format!("maps are fitted in each fold; {}", one.reason), ..one };
            }
        }
        if let (true, true, Some(round)) = (is_mean, has_readout, rounds.first()) {
            let parts = balance::parts(design, round, round.held_out).map(|parts| parts.len());
            return choose(self, design, round, parts, outline).1.times(rounds.len());
        }
        let reason = match has_readout {
            true if design.in_folds().is_by_maps() => {
                "maps are fitted in each fold and the loss is of all rows together, so every fold of every subset is refitted"
            }
            true => "auc is of the rows of all repeats together, so every fold of every subset is refitted",
            false => "the learner has no linear form, so every fold of every subset is refitted",
        };
        Estimate {
            engine: "refit",
            reason: reason.into(),
            flops: outline.trials
                * folds as f64
                * design.planned_rows() as f64
                * 2.0
                * (outline.largest as f64).powi(2),
            bytes: 8.0 * (design.planned_rows() * outline.largest * folds) as f64,
        }
    }

    fn scores_each_output(&self) -> bool {
        true
    }

    fn loss(&self) -> Option<AnyLoss> {
        Some(self.loss.clone())
    }
}

impl KFold {
    fn rounds(&self, design: &Design) -> Result<Vec<Round>> {
        Ok(self.rounds_of(design)?.iter().map(Round::new).collect())
    }

    /// Whether the loss of several rounds is the mean of theirs, each by the weight of what it holds out: as it is of rows, and
    /// not of their order, and of classes where every round has all rows.
    fn is_mean_of(&self, rounds: &[Round]) -> bool {
        let measure = self.loss.measure();
        let are_whole = || measure == Measure::BalancedError && rounds.iter().all(Round::is_partition);
        rounds.len() == 1 || measure.is_of_rows() || are_whole()
    }

    /// The loss of the rows held out in all rounds together.
    fn pooled(&self, design: &Design, rounds: &[Round], predictions: &[Array2<f64>]) -> f64 {
        if self.is_mean_of(rounds) && rounds.iter().all(Round::is_partition) {
            let losses: Vec<f64> = predictions.iter().map(|own| design.loss(&*self.loss, own.view())).collect();
            return mean_of(&losses).unwrap_or(f64::NAN);
        }
        let held_out: Vec<Vec<usize>> = rounds
            .iter()
            .map(|round| (0..round.held_out).flat_map(|fold| round.folds.held_out(fold)).copied().collect())
            .collect();
        let of_rounds = |of_round: &dyn Fn(usize) -> Array2<f64>| {
            let all: Vec<Array2<f64>> =
                (0..rounds.len()).map(|at| of_round(at).select(Axis(1), &held_out[at])).collect();
            concatenate(Axis(1), &all.iter().map(|part| part.view()).collect::<Vec<_>>())
        };
        let (targets, predictions) =
            (of_rounds(&|_| design.targets().to_owned()), of_rounds(&|at| predictions[at].clone()));
        let weights = design.weights().map(|w| held_out.iter().flatten().map(|&row| w[row]).collect::<Vec<f64>>());
        match (targets, predictions) {
            (Ok(targets), Ok(predictions)) => {
                design.mean_loss(&*self.loss, targets.view(), predictions.view(), weights.as_deref())
            }
            _ => f64::NAN,
        }
    }
}
