//! Shortcut: moments of the rows, and a state of the subset for each λ.

use crate::bound::lowest;
use crate::data::CenteredData;
use crate::definition::Definition;
use crate::spectrum;
use crate::state::{LambdaFit, SubsetFit};
use std::sync::Arc;
use vaglio_core::{Action, Evaluator, Feature, Loss, Part, Result, Score, Squared, SquaresBound};
use vaglio_kernels::parallel;

/// Evaluator of [`crate::Information`].
#[derive(Clone)]
pub(crate) struct InformationEvaluator<'d> {
    definition: Definition<'d>,
    data: Arc<CenteredData>,
    lambdas: Vec<f64>,
    /// Sum of weights times number of outputs, in the units of the data.
    divisor: f64,
    /// One state for each λ, created on demand.
    states: Option<Vec<LambdaFit>>,
}

impl<'d> InformationEvaluator<'d> {
    /// Starts at the empty subset. Cost O(mn).
    pub fn new(definition: Definition<'d>) -> Self {
        let lambdas = definition.design.lambdas().into_iter().flatten().collect();
        let design = definition.design;
        let rows = design.weights().map_or(design.rows() as f64, |w| w.iter().sum());
        let divisor = rows * design.targets().nrows() as f64;
        InformationEvaluator { data: CenteredData::from_design(design), definition, lambdas, divisor, states: None }
    }

    fn states(&mut self, subset: &[Feature]) -> &mut Vec<LambdaFit> {
        let (data, lambdas) = (&self.data, &self.lambdas);
        self.states.get_or_insert_with(|| lambdas.iter().map(|&l| LambdaFit::new(data, l, subset)).collect())
    }

    /// Bounds of the scores of all subsets of some columns.
    pub fn squares(&self) -> impl Fn(&[Feature]) -> SquaresBound + Send + use<'d> {
        let Definition { formula, units, .. } = self.definition;
        let (data, lambdas) = (Arc::clone(&self.data), self.lambdas.clone());
        let (divisor, intercept) = (self.divisor, self.definition.intercept());
        move |columns: &[Feature]| {
            let lambdas = lambdas.clone();
            let score = move |squares: f64, size: usize, least: f64| {
                let error = units.unscale_loss(squares.max(0.0) / divisor, 2);
                let lambda_score = |&lambda: &f64| {
                    let freedom = if least > 0.0 { size as f64 * least / (least + lambda) } else { 0.0 };
                    formula.score(error, intercept + 0.999_999_999 * freedom)
                };
                lambdas.iter().map(lambda_score).fold(f64::INFINITY, f64::min)
            };
            let columns = columns.iter().map(|&feature| data.column(feature).into_owned()).collect();
            SquaresBound { columns, targets: data.targets.clone(), held_out: None, score: Box::new(score) }
        }
    }

    /// Score of a trial at one λ, refitted if unreliable.
    fn reliable_score(&self, trial: SubsetFit, lambda: f64, subset: impl FnOnce() -> Vec<Feature>) -> Result<f64> {
        let trial = match trial.is_reliable {
            true => trial,
            false => {
                let subset = subset();
                match spectrum::fit(&self.data, &subset, lambda) {
                    Some(trial) => trial,
                    None => return self.definition.at(&subset, Some(lambda)),
                }
            }
        };
        let Definition { formula, units, .. } = &self.definition;
        let error = units.unscale_loss(trial.squares.max(0.0) / self.divisor, 2);
        Ok(formula.score(error, self.definition.intercept() + trial.freedom))
    }

    /// Computes each subset's lowest score over λ from its trials, λ × subsets.
    fn score_trials(
        &self,
        trials: &[Vec<SubsetFit>],
        count: usize,
        subset: impl Fn(usize) -> Vec<Feature> + Sync,
    ) -> Result<Vec<Score>> {
        let subset_score = |k: usize| -> Result<Score> {
            let mut best = Score::WORST;
            for (&lambda, trials) in self.lambdas.iter().zip(trials) {
                let loss = self.reliable_score(trials[k], lambda, || subset(k))?;
                if loss < best.loss {
                    best = Score { loss, lambda: Some(lambda) };
                }
            }
            Ok(self.definition.units.unscale_score(best, 0))
        };
        parallel::map(count, subset_score).into_iter().collect()
    }
}

impl Evaluator for InformationEvaluator<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        let trials: Vec<Vec<SubsetFit>> = self.states(subset).iter().map(|state| vec![state.current()]).collect();
        Ok(self.score_trials(&trials, 1, |_| subset.to_vec())?[0])
    }

    fn scores(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        let data = Arc::clone(&self.data);
        let trials = self.states(subset).iter_mut().map(|state| match change {
            Action::Add => state.additions(&data, candidates),
            Action::Remove => candidates.iter().map(|&candidate| state.removal(candidate)).collect(),
        });
        let trials: Vec<Vec<SubsetFit>> = trials.collect();
        self.score_trials(&trials, candidates.len(), |k| change.apply_to(subset, candidates[k]))
    }

    fn apply(&mut self, change: Action, subset: &[Feature], feature: Feature) -> Result<()> {
        let data = Arc::clone(&self.data);
        self.states(subset).iter_mut().for_each(|state| match change {
            Action::Add => state.add(&data, feature),
            Action::Remove => state.remove(&data, feature),
        });
        Ok(())
    }

    fn reset(&mut self, _: &[Feature]) -> Result<()> {
        self.states = None;
        Ok(())
    }

    /// Standard error of the training error, a mean over rows; none if rows are condensed.
    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        let is_condensed = self.definition.design.problem().labels().counts.is_some();
        if is_condensed || self.definition.formula.measure != crate::InformationMeasure::Training {
            return Ok(None);
        }
        let (lambda, design) = (self.score(subset)?.lambda, self.definition.design);
        let units = self.definition.units;
        let lambda = lambda.map(|lambda| units.lambda(lambda));
        let predictions = self.definition.predictions(subset, lambda)?;
        let squared = Part::<dyn Loss>::from(Squared);
        let error = squared.standard_error(design.targets(), predictions.view(), design.weights(), None);
        Ok(error.map(|error| units.unscale_loss(error, 2)))
    }

    fn fork(&mut self, subset: &[Feature], _: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        self.states(subset);
        Ok(Some(Box::new(self.clone())))
    }

    fn bound(&mut self, subset: &[Feature], later: &[Feature], _: usize) -> Result<f64> {
        let members = [subset, later].concat();
        let Some(errors) = lowest(&self.data, &members, &self.lambdas) else { return Ok(f64::NEG_INFINITY) };
        let states = self.states(subset);
        let freedom: Vec<f64> = states.iter().map(|state| state.current().freedom.max(0.0)).collect();
        let mut bound = f64::INFINITY;
        for ((squares, freedom), &lambda) in errors.into_iter().zip(freedom).zip(&self.lambdas) {
            let trial = SubsetFit { squares, freedom: 0.999_999_999 * freedom, is_reliable: true };
            bound = bound.min(self.reliable_score(trial, lambda, Vec::new)?);
        }
        Ok(bound)
    }
}
