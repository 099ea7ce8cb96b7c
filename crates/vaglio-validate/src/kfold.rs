//! K-fold cross-validation: folds, the choice of an engine, trials and scores.
//!
//! How a trial is scored, in reading order:
//!
//! 1. `evaluator` asks one `FoldEngine` a round for the trials of a subset's changes.
//! 2. `moments` and `hold_out_engine` are the engines. `vaglio_kernels::kfold` has their arithmetic.
//! 3. `crate::rounds` averages the trials over rounds, refits unreliable ones and takes the lowest over λ.
//! 4. `crate::fits` has the rows, folds and loss of a round, `RoundFits`. Its `SubsetFitter` fits one subset at any λ:
//!    every subset if there is no engine, else the unreliable trials. `crate::fold_groups` has the folds that train
//!    with equal weights; without balanced classes all do.
//! 5. `crate::mean` takes the mean over outputs.
//!
//! Before a search:
//!
//! 1. `folds` assigns rows to folds, and `crate::round` makes them [`Folds`] of the kernels.
//! 2. `cost` has the sizes of a search, [`CostFactors`], and [`choose`] takes the cheapest engine.
//! 3. `known_moments` finds or computes the moments of a design; `cells` shares their sums between subsets of the rows.

mod cells;
mod cost;
mod evaluator;
mod folds;
mod hold_out_engine;
mod known_moments;
mod moments;
mod settings;

use super::engine_names::{DECOMPOSITION, MOMENTS, REFIT, ROWS_HELD_OUT, estimate};
use super::fits::RoundFits;
use super::loo::Loo;
use super::mean;
use super::round::{retrain, to_folds};
use super::rounds::Rounds;
use super::shared_lambdas::SharedLambdas;
use cost::{CostFactors, choose};
pub(super) use evaluator::KFoldEvaluator;
pub use known_moments::searched_moments;
use ndarray::Array2;
pub use settings::{Engine, FoldBy, KFold};
use vaglio_core::{
    Cache, Criterion, CriterionTraits, Design, EngineEvaluator, Error, Estimate, Feature, HeldOut, Plan,
    ResamplingTraits, Result, Score, SearchExtent, in_loss_units, prediction_units, refit_each,
};
use vaglio_kernels::Folds;

impl Criterion for KFold {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        mean::evaluate(&*self.loss, design, |one| self.retrain(one, subset))
    }

    fn plan<'d>(&'d self, design: &'d Design, extent: &SearchExtent) -> Plan<'d> {
        let decide = |one: &Design| self.decide(one, extent);
        mean::plan(self, design, extent, decide, |one, engine, extent| self.open_engine(one, engine, extent))
    }

    fn folds(&self, design: &Design) -> Result<HeldOut> {
        self.rounds_of(design).map(HeldOut::Folds)
    }

    fn traits(&self) -> CriterionTraits {
        let own = ResamplingTraits { assignment: self.assignment.clone(), ..ResamplingTraits::default() };
        let ResamplingTraits { assignment, assignment_words, .. } =
            self.splits.as_ref().map_or(own, |splits| splits.traits());
        CriterionTraits {
            splits: self.splits.clone(),
            assignment,
            assignment_words,
            scores_each_output: true,
            is_of_sums: self.loss.kind() == "squared",
            ..CriterionTraits::from_loss(self.loss.clone())
        }
    }

    fn check_settings(&self) -> Result<()> {
        self.loss.check_settings().map_err(|error| error.under("loss"))?;
        self.check_settings_alone()
    }

    fn check(&self, design: &Design) -> Result<()> {
        mean::check(&self.loss, design)?;
        if self.engine == Engine::Moments && !self.loss.traits().measure.is_of_squares() {
            return Err(Error::setting(
                "engine",
                format!(
                    "moments know the squared losses alone, and the loss is `{}`; use `rows_held_out` or `auto`",
                    self.loss.kind()
                ),
            ));
        }
        if self.engine == Engine::Moments && prediction_units(design).is_some() {
            return Err(Error::setting(
                "engine",
                "moments know the errors of folds, not of the units over which predictions are averaged; use `rows_held_out` or `auto`",
            ));
        }
        self.rounds_of(design).map(|_| ())
    }
}

impl KFold {
    /// The rounds, cached because walks and estimates of a design need the same.
    fn rounds(&self, design: &Design) -> Result<Vec<Folds>> {
        let make = || Ok((self.clone(), self.rounds_of(design)?.iter().map(to_folds).collect()));
        let kept = design.session::<Cache<(KFold, Vec<Folds>)>>();
        Ok(kept.get_or_try_make(|known| known.0 == *self, make)?.1.clone())
    }

    /// Scores a subset by the definition, on a design whose outputs share λ.
    fn retrain(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let rounds = self.rounds(design)?;
        design.best_lambda(|lambda| {
            let predictions = rounds.iter().map(|folds| retrain(design, folds, subset, lambda));
            let predictions: Vec<Array2<f64>> = predictions.collect::<Result<_>>()?;
            Ok(self.pool(design, &rounds, &predictions))
        })
    }

    /// Chooses the engine on a design whose outputs share λ.
    fn decide(&self, design: &Design, extent: &SearchExtent) -> Estimate {
        let rounds = self.rounds(design).unwrap_or_default();
        if let Some(refit) = self.refit(design, &rounds, extent) {
            return refit;
        }
        let because = |reason: &str, estimate: Estimate| Estimate {
            reason: format!("{reason}; {}", estimate.reason),
            ..estimate
        };
        if let Some(loo) = self.left_out(design, &rounds) {
            return because("every fold is one row", loo.decide(design, extent));
        }
        let is_mapped = design.problem().in_folds().is_by_maps();
        // Before the maps are fitted, every fold is assumed to have the columns of all rows.
        let rounds = if is_mapped { rounds.iter().flat_map(Folds::each_fold).collect() } else { rounds };
        let common = self.common(design, &rounds, extent);
        if is_mapped { because("maps are fitted in each fold", common) } else { common }
    }

    /// The decision to refit, if no engine applies.
    fn refit(&self, design: &Design, rounds: &[Folds], extent: &SearchExtent) -> Option<Estimate> {
        let is_mapped = design.problem().in_folds().is_by_maps();
        let reason = match (design.readout().is_some(), is_mapped) {
            (false, _) => "the learner has no linear form, so every fold of every subset is refitted",
            (true, true) if !self.loss.traits().measure.is_of_rows() || prediction_units(design).is_some() => {
                "maps are fitted in each fold and the loss is of all rows together, so every fold of every subset is refitted"
            }
            (true, false) if !self.is_mean_of(rounds) => {
                "auc is of the rows of all repeats together, so every fold of every subset is refitted"
            }
            (true, _) => return None,
        };
        let folds: usize = rounds.iter().map(Folds::count_held_out).sum();
        let (rows, largest) = (design.planned_rows(), extent.largest);
        let flops = extent.trials * folds as f64 * rows as f64 * 2.0 * (largest as f64).powi(2);
        Some(estimate(REFIT, reason, flops, 8.0 * (rows * largest * folds) as f64))
    }

    /// Chooses one engine for all rounds. If they differ, it is the decomposition, which always applies.
    fn common(&self, design: &Design, rounds: &[Folds], extent: &SearchExtent) -> Estimate {
        let choice = |folds: &Folds| {
            let factors = CostFactors::new(self, design, folds, extent);
            (choose(self, design, folds, &factors), factors)
        };
        let choices: Vec<(Estimate, CostFactors)> = rounds.iter().map(choice).collect();
        let Some((first, factors)) = choices.first() else {
            return Estimate::unknown(DECOMPOSITION, "nothing is held out");
        };
        let is_common = first.engine == DECOMPOSITION || choices.iter().all(|(own, _)| own.engine == first.engine);
        let common = match is_common {
            true => first.clone(),
            false => factors.decomposition("what serves one round alone does not serve the others"),
        };
        common.times(rounds.len())
    }

    /// Creates the evaluator of an engine on a design whose outputs share λ. `None` if maps fitted in each fold make
    /// different columns.
    fn open_engine<'d>(
        &'d self,
        design: &'d Design,
        engine: &'static str,
        extent: &SearchExtent,
    ) -> Result<Option<EngineEvaluator<'d>>> {
        let rounds = self.rounds(design)?;
        if let Some(loo) = self.left_out(design, &rounds) {
            return loo.open_engine(design, engine, extent, false).map(Some);
        }
        let fits = |design: &'d Design, round, groups| RoundFits::from_folds(design, &self.loss, round, groups);
        let (each, originals): (Vec<(&Design, Folds)>, _) = if design.problem().in_folds().is_by_maps() {
            // Maps are refitted on the training rows of each fold, which is a round of its own.
            let trainings: Vec<Vec<usize>> = rounds.iter().flat_map(Folds::trainings).collect();
            let Some(designs) = refit_each(design, &trainings)? else { return Ok(None) };
            let each = designs.iter().zip(rounds.iter().flat_map(Folds::each_fold)).collect();
            let originals = rounds.into_iter().map(|round| fits(design, round, Vec::new()));
            (each, Some(originals.collect::<Result<_>>()?))
        } else {
            (rounds.into_iter().map(|round| (design, round)).collect(), None)
        };
        let factors: Vec<CostFactors> =
            each.iter().map(|(design, round)| CostFactors::new(self, design, round, extent)).collect();
        let (mut round_fits, mut engines) = (Vec::new(), Vec::new());
        for ((design, round), factors) in each.into_iter().zip(factors) {
            let by_columns = factors.by_columns.is_some();
            let own = fits(design, round, factors.groups_for(engine))?;
            engines.extend(match engine {
                MOMENTS => Some(moments::open(self, design, &own.rows, by_columns)?),
                ROWS_HELD_OUT => Some(hold_out_engine::open(&own)),
                _ => None,
            });
            round_fits.push(own);
        }
        let losses = SharedLambdas::for_losses(design, self, false)?;
        let (rounds, has_states) = (Rounds::new(design, round_fits, losses, originals), !engines.is_empty());
        Ok(Some(rounds.open(has_states, |rounds| KFoldEvaluator::new(rounds, engines))))
    }

    /// Returns leave-one-out if it is equivalent: every row is a fold, no fold preprocesses columns, and the user chose
    /// no engine.
    fn left_out(&self, design: &Design, rounds: &[Folds]) -> Option<Loo> {
        let (in_folds, [round]) = (design.problem().in_folds(), rounds) else { return None };
        let is_made_in_folds = in_folds.is_by_maps() || in_folds.is_by_formula();
        let are_rows = round.is_partition() && round.is_single() && round.train_on_all_others();
        let is_served = self.engine == Engine::Auto && are_rows && !is_made_in_folds;
        is_served.then(|| Loo { loss: self.loss.clone(), ..Loo::default() })
    }

    /// Whether the loss of several rounds is the mean of their losses, each with the weight of its held-out rows. True
    /// for means over rows, false for losses of order. True for means over classes if every round holds out all rows.
    fn is_mean_of(&self, rounds: &[Folds]) -> bool {
        let measure = self.loss.traits().measure;
        let are_whole = || measure.is_of_classes() && rounds.iter().all(Folds::is_partition);
        rounds.len() == 1 || measure.is_of_rows() || are_whole()
    }

    /// The loss of all held-out rows of all rounds together.
    fn pool(&self, design: &Design, rounds: &[Folds], predictions: &[Array2<f64>]) -> f64 {
        if self.is_mean_of(rounds) && rounds.iter().all(Folds::is_partition) {
            let losses = predictions.iter().map(|own| design.loss(&*self.loss, own.view()));
            return mean::mean(losses);
        }
        let round_rows = |(round, own): (usize, &Folds)| own.rows_held_out().into_iter().map(move |row| (round, row));
        let rows: Vec<(usize, usize)> = rounds.iter().enumerate().flat_map(round_rows).collect();
        let shape = (design.targets().nrows(), rows.len());
        let targets = Array2::from_shape_fn(shape, |(output, at)| design.targets()[[output, rows[at].1]]);
        let predictions = Array2::from_shape_fn(shape, |(output, at)| predictions[rows[at].0][[output, rows[at].1]]);
        let [targets, predictions] =
            [&targets, &predictions].map(|values| in_loss_units(design, &*self.loss, values.view()));
        let weights = design.weights().map(|weights| rows.iter().map(|(_, row)| weights[*row]).collect::<Vec<f64>>());
        self.loss.mean(targets.view(), predictions.view(), weights.as_deref())
    }
}
