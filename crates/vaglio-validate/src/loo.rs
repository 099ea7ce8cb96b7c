//! Leave-one-out: the criterion, its engine and trials.
//!
//! Read `evaluator`, then `states`, which refits unreliable trials, then `vaglio_kernels::loo`. Without states, subsets
//! are scored like those of k-fold without an engine. `cost` chooses before a search.

mod cost;
mod evaluator;
mod states;

use super::engine_names::STATES;
use super::fits::RoundFits;
use super::fold_groups::single_row_groups;
use super::kernel::classes_of;
use super::kfold::KFoldEvaluator;
use super::mean;
use super::round::retrain;
use super::rounds::Rounds;
use super::shared_lambdas::SharedLambdas;
use evaluator::LooEvaluator;
use vaglio_core::{
    Criterion, CriterionTraits, Design, EngineEvaluator, Error, Estimate, Feature, HeldOut, Loss, Measure, Part, Plan,
    Result, Score, SearchExtent, part, prediction_units,
};
use vaglio_kernels::Folds;

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
    /// Loss, averaged over the left-out rows.
    pub loss: Part<dyn Loss>,
    /// Tries every candidate at every step, even those that are proven worse; the result is the same.
    #[serde(skip)]
    pub full_pass: bool,
}

impl Loo {
    /// Whether bounds may rule candidates out, if one state covers all rows.
    fn is_bounded(&self, design: &Design) -> bool {
        self.loss.traits().measure == Measure::Squared && prediction_units(design).is_none() && !self.full_pass
    }

    /// Chooses the engine of a search on a design whose outputs share λ.
    pub(super) fn decide(&self, design: &Design, extent: &SearchExtent) -> Estimate {
        cost::plan(&*self.loss, self.is_bounded(design), design, extent)
    }

    /// Scores a subset by the definition, on a design whose outputs share λ.
    fn retrain(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let rows = Folds::single(design.rows());
        design.best_lambda(|lambda| {
            let predictions = retrain(design, &rows, subset, lambda)?;
            Ok(design.loss(&*self.loss, predictions.view()))
        })
    }

    /// Creates the evaluator of an engine on a design whose outputs share λ. Standard errors are over independent rows,
    /// or over folds of one row.
    pub(super) fn open_engine<'d>(
        &self,
        design: &'d Design,
        engine: &'static str,
        extent: &SearchExtent,
        are_independent: bool,
    ) -> Result<EngineEvaluator<'d>> {
        let groups = single_row_groups(design).unwrap_or_default();
        let has_states = engine == STATES;
        let fits = RoundFits::from_rows(design, &self.loss, groups, are_independent, has_states)?;
        let losses = SharedLambdas::for_losses(design, self, are_independent)?;
        let rounds = Rounds::new(design, vec![fits], losses, None);
        Ok(match has_states {
            true => rounds.open(true, |rounds| LooEvaluator::new(rounds, self.is_bounded(design), extent)),
            false => rounds.open(false, |rounds| KFoldEvaluator::new(rounds, Vec::new())),
        })
    }
}

impl Criterion for Loo {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        mean::evaluate(&*self.loss, design, |one| self.retrain(one, subset))
    }

    fn plan<'d>(&'d self, design: &'d Design, extent: &SearchExtent) -> Plan<'d> {
        let decide = |one: &Design| self.decide(one, extent);
        mean::plan(self, design, extent, decide, |one, engine, extent| {
            self.open_engine(one, engine, extent, true).map(Some)
        })
    }

    fn check_settings(&self) -> Result<()> {
        self.loss.check_settings().map_err(|error| error.under("loss"))
    }

    fn check(&self, design: &Design) -> Result<()> {
        mean::check(&self.loss, design)?;
        if design.rows() < 2 && design.readout().is_none() {
            return Err(Error::setting("kind", "leaving one row out of one leaves none to train on; give more rows"));
        }
        if design.rows() < 2 && design.has_intercept() {
            return Err(Error::setting(
                "kind",
                "leaving one row out of one leaves none to estimate the intercept from; give more rows or set learner.intercept to false",
            ));
        }
        let Some(classes) = classes_of(design) else { return Ok(()) };
        let members = |class: usize| classes.per_row.iter().filter(|c| **c == class).count();
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

    fn traits(&self) -> CriterionTraits {
        CriterionTraits { scores_each_output: true, ..CriterionTraits::from_loss(self.loss.clone()) }
    }
}
