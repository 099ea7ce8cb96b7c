//! Fits in every round of held-out rows, with the mean loss over rounds; they replace unreliable trials.

use super::fits::{Residuals, RoundFits, SubsetFitter};
use super::mean::mean;
use super::shared_lambdas::{LossAtLambda, SharedLambdas};
use super::subset_score::{SubsetScore, in_order_of_bounds, lowest_conditioning, score_trials, scores};
use std::sync::Arc;
use vaglio_core::{
    Design, Diagnostics, EngineEvaluator, Evaluator, Feature, Recorder, Result, RowsHeldOut, Score, SquaresBound,
    StopSign, Winner, gather, max_abs, minimum,
};
use vaglio_kernels::{Trial, parallel};

/// The fits of all rounds; the loss is the mean over them.
pub(super) struct Rounds<'d> {
    design: &'d Design,
    rounds: Vec<RoundFits<'d>>,
    /// Losses of decomposed subsets, and the λ.
    pub losses: SharedLambdas<LossAtLambda>,
    /// Each round's share of the weight of all held-out rows, unless the shares are equal.
    shares: Option<Vec<f64>>,
    /// The original rounds, in order, if `rounds` are their folds.
    originals: Option<Vec<RoundFits<'d>>>,
    /// Recorder of the trials of states.
    pub recorder: Recorder,
}

impl<'d> Rounds<'d> {
    /// Creates the fits; there must be at least one round. If the rounds are the folds of other rounds, `originals` are these
    /// rounds, in order.
    pub fn new(
        design: &'d Design,
        rounds: Vec<RoundFits<'d>>,
        losses: SharedLambdas<LossAtLambda>,
        originals: Option<Vec<RoundFits<'d>>>,
    ) -> Self {
        let weights: Vec<f64> = rounds.iter().map(RoundFits::weight).collect();
        let all: f64 = weights.iter().sum();
        let are_alike = weights.iter().all(|weight| *weight == weights[0]);
        let shares = (!are_alike).then(|| weights.iter().map(|weight| weight / all).collect());
        Rounds { design, rounds, losses, shares, originals, recorder: Recorder::default() }
    }

    /// Opens an evaluator of the rounds. If it has states, it records their diagnostics, and squares bound its scores.
    pub fn open<E: Evaluator + 'd>(
        mut self,
        has_states: bool,
        make: impl FnOnce(Arc<Self>) -> E,
    ) -> EngineEvaluator<'d> {
        if !has_states {
            return make(Arc::new(self)).into();
        }
        self.recorder = Recorder::new();
        let (recorder, rounds) = (self.recorder.clone(), Arc::new(self));
        let squares = rounds.squares();
        EngineEvaluator { recorder, ..make(rounds).into() }.with_squares(squares)
    }

    /// The λ among which a score is the lowest.
    pub fn lambdas(&self) -> &[f64] {
        &self.losses.own
    }

    /// Stop sign; loops over many subsets check it before each.
    pub fn sign(&self) -> &StopSign {
        self.design.problem().sign()
    }

    /// The first round.
    pub fn first(&self) -> &RoundFits<'d> {
        &self.rounds[0]
    }

    pub fn iter(&self) -> impl Iterator<Item = &RoundFits<'d>> {
        self.rounds.iter()
    }

    /// The single round, if there is only one.
    pub fn only(&self) -> Option<&RoundFits<'d>> {
        if let [only] = &self.rounds[..] { Some(only) } else { None }
    }

    /// Bounds of the scores of all subsets of some columns, for means of held-out squares: each square is at least the one
    /// that the fit of all rows leaves. A single round also counts the leverage of held-out rows.
    fn squares(self: &Arc<Self>) -> Option<impl Fn(&[Feature]) -> SquaresBound + Send + use<'d>> {
        let is_bounded = |fits: &RoundFits<'_>| {
            fits.are_whole() && fits.rows.folds.train_on_all_others() && fits.scorer.is_of_squares()
        };
        let rounds = self.iter().all(is_bounded).then(|| Arc::clone(self))?;
        Some(move |columns: &[Feature]| {
            let (data, scorer) = (&rounds.first().rows.data, rounds.first().scorer.clone());
            let (unit, lambda) = (data.unit.clone(), max_abs(rounds.lambdas()));
            SquaresBound {
                columns: columns.iter().map(|&column| data.scaled_column(column)).collect(),
                targets: data.centered.clone(),
                held_out: rounds.only().map(|fits| RowsHeldOut { parts: fits.rows.folds.fold_of_rows(), unit, lambda }),
                score: Box::new(move |squares: f64, _: usize, _: f64| scorer.mean_of(squares)),
            }
        })
    }

    /// Whether a column is active in every round.
    pub fn is_active(&self, feature: Feature) -> bool {
        self.rounds.iter().all(|fits| fits.rows.data.is_active(feature))
    }

    /// The fits of a subset.
    pub fn fit(&self, subset: &[Feature]) -> Vec<SubsetFitter<'_, 'd>> {
        self.rounds.iter().map(|fits| fits.fit(subset)).collect()
    }

    /// The mean loss of a subset's fits at a λ, with the residuals of each. If the loss is proven to be above `lowest`,
    /// it may be inexact.
    pub fn loss_and_residuals(
        &self,
        fits: &[SubsetFitter<'_, '_>],
        lambda: f64,
        lowest: f64,
    ) -> Result<(f64, Vec<Residuals>)> {
        // With several rounds, one round above the lowest mean may still be outweighed.
        let bound = if fits.len() == 1 { lowest } else { f64::INFINITY };
        let fitted = fits.iter().map(|fit| fit.loss_and_residuals(lambda, bound)).collect::<Result<Vec<_>>>()?;
        let (losses, residuals): (Vec<f64>, Vec<Residuals>) = fitted.into_iter().unzip();
        Ok((self.mean(losses), residuals))
    }

    /// The mean over rounds.
    fn mean(&self, values: impl IntoIterator<Item = f64>) -> f64 {
        match &self.shares {
            None => mean(values),
            Some(shares) => values.into_iter().zip(shares).map(|(value, share)| value * share).sum(),
        }
    }

    /// Averages the trials of all rounds, each λ × subsets. The result is as reliable as the least reliable round.
    pub fn mean_trials(&self, mut rounds: Vec<Vec<Vec<Trial>>>) -> Vec<Vec<Trial>> {
        if rounds.len() == 1 && self.shares.is_none() {
            return rounds.remove(0);
        }
        let Some(first) = rounds.first() else { return Vec::new() };
        let one = |l: usize, k: usize| {
            let average = |f: &dyn Fn(&Trial) -> f64| self.mean(rounds.iter().map(|round| f(&round[l][k])));
            Trial {
                loss: average(&|trial| trial.loss),
                is_unreliable: rounds.iter().any(|round| round[l][k].is_unreliable),
                lower_bound: average(&|trial| trial.lower_bound),
                conditioning: rounds.iter().map(|round| round[l][k].conditioning).fold(1.0, f64::min),
                whole: Vec::new(),
            }
        };
        first.iter().enumerate().map(|(l, trials)| (0..trials.len()).map(|k| one(l, k)).collect()).collect()
    }

    /// The score of a subset.
    pub fn score(&self, subset: &[Feature]) -> Result<SubsetScore> {
        let fits = self.fit(subset);
        SubsetScore::lowest(self.design, |lambda| self.loss_and_residuals(&fits, lambda, f64::INFINITY))
    }

    /// Like [`Rounds::score`], but computes the losses for the λ of all walks that reach the subset.
    pub fn scored_together(&self, subset: &[Feature]) -> Result<SubsetScore> {
        if !self.losses.are_several() {
            return self.score(subset);
        }
        let fits = self.fit(subset);
        let known = self.losses.score(subset, |lambda| {
            let (loss, residuals) = self.loss_and_residuals(&fits, lambda, f64::INFINITY)?;
            Ok(Some((loss, (!self.design.run().skips_errors).then(|| self.standard_error(&residuals)).flatten())))
        })?;
        Ok(known.unwrap_or_else(|| SubsetScore::new(Score::WORST)))
    }

    /// The mean over rounds of their standard errors. Rounds hold out the same rows, so more rounds add no information.
    pub fn standard_error(&self, residuals: &[Residuals]) -> Option<f64> {
        let errors: Option<Vec<f64>> = match &self.originals {
            None => self.rounds.iter().zip(residuals).map(|(fits, own)| fits.standard_error(own)).collect(),
            Some(originals) => {
                let mut fold_residuals = residuals.iter();
                let error = |fits: &RoundFits<'_>| fits.standard_error(&fits.collect_residuals(&mut fold_residuals));
                originals.iter().map(error).collect()
            }
        };
        errors.map(mean)
    }

    /// Scores subsets from their trials at each λ and records the diagnostics. Refits unreliable trials; a single subset
    /// keeps the residuals of these.
    pub fn score_trials(
        &self,
        mut trials: Vec<Vec<Trial>>,
        count: usize,
        subset: impl Fn(usize) -> Vec<Feature> + Sync,
    ) -> Result<Vec<SubsetScore>> {
        let unreliable: Vec<usize> =
            (0..count).filter(|&place| !unreliable_lambdas(&trials, place).is_empty()).collect();
        if !unreliable.is_empty() {
            tracing::trace!(subsets = unreliable.len(), "refitted from the rows");
        }
        let refit = |&place: &usize| {
            if count > 1 {
                self.sign().check()?;
            }
            self.refit(&trials, place, &subset(place))
        };
        let refits = parallel::map_slice(&unreliable, refit).into_iter().collect::<Result<Vec<_>>>()?;
        for (&place, refits) in unreliable.iter().zip(&refits) {
            refits.iter().for_each(|(lambda, loss, _)| trials[*lambda][place].loss = *loss);
        }
        let mut scored = score_trials(self.lambdas(), &trials)?;
        let remade = refits.iter().map(Vec::len).sum::<usize>() as u64;
        self.recorder.note(Diagnostics {
            conditioning: lowest_conditioning(&scored),
            remade,
            ..Diagnostics::default()
        });
        if let [only] = &mut scored[..] {
            for (lambda, _, residuals) in refits.into_iter().flatten() {
                if Some(self.lambdas()[lambda]) == only.score.lambda {
                    only.residuals = residuals;
                }
            }
        }
        Ok(scored)
    }

    /// Refits λ by λ until the next bound is above the lowest loss; the remaining λ cannot be best. Returns the index of
    /// each λ, with the loss and the residuals of each round.
    fn refit(
        &self,
        trials: &[Vec<Trial>],
        place: usize,
        subset: &[Feature],
    ) -> Result<Vec<(usize, f64, Vec<Residuals>)>> {
        let (fits, mut refits) = (self.fit(subset), Vec::new());
        let mut lowest = lowest_reliable(trials, place);
        for lambda in unreliable_lambdas(trials, place) {
            if trials[lambda][place].lower_bound > lowest {
                break;
            }
            let (loss, residuals) = self.loss_and_residuals(&fits, self.lambdas()[lambda], lowest)?;
            lowest = lowest.min(loss);
            refits.push((lambda, loss, if trials[lambda].len() == 1 { residuals } else { Vec::new() }));
        }
        Ok(refits)
    }

    /// Whether a column is constant; states do not cover such columns.
    pub fn has_constant(&self, subset: &[Feature]) -> bool {
        subset.iter().any(|&f| !self.is_active(f))
    }

    /// Improves trials of removals; if several need a refit, one decomposition of the subset gives them.
    pub fn removals(
        &self,
        mut trials: Vec<Vec<Trial>>,
        subset: &[Feature],
        candidates: &[Feature],
    ) -> Result<Vec<Vec<Trial>>> {
        // One decomposition of the subset costs about as much as one refit without a column.
        let is_unreliable = |place: &usize| !unreliable_lambdas(&trials, *place).is_empty();
        let are_many = (0..candidates.len()).filter(is_unreliable).nth(1).is_some();
        if are_many && let Some(fits) = self.only().filter(|fits| fits.are_whole()) {
            let fit = fits.fit(subset);
            let unreliable = |lambda_trials: &Vec<Trial>| lambda_trials.iter().any(|trial| trial.is_unreliable);
            let concerned =
                trials.iter_mut().zip(self.lambdas()).filter(|(lambda_trials, _)| unreliable(lambda_trials));
            for (lambda_trials, &lambda) in concerned {
                if let Some(found) = fit.removals(candidates, lambda)? {
                    *lambda_trials = found;
                }
            }
        }
        Ok(trials)
    }

    /// The best of the candidates, refitted if necessary in the order of their lower bounds.
    pub fn best(
        &self,
        trials: &[Vec<Trial>],
        candidates: &[Feature],
        subset: impl Fn(Feature) -> Vec<Feature> + Sync,
    ) -> Result<Option<Winner>> {
        let bound = |k: usize| minimum(trials.iter().map(|lambda_trials| lambda_trials[k].lower_bound));
        let bounds = (0..candidates.len()).map(|k| (bound(k), k)).collect();
        let scored = in_order_of_bounds(bounds, usize::MAX, 1, |places, _| {
            let batch = |lambda_trials: &Vec<Trial>| places.iter().map(|&k| lambda_trials[k].clone()).collect();
            let batch_trials = trials.iter().map(batch).collect();
            self.score_trials(batch_trials, places.len(), |k| subset(candidates[places[k]]))
        })?;
        let (places, scored) = scored.unwrap_or_default();
        Ok(Winner::among(&gather(candidates, &places), &scores(&scored)))
    }
}

/// The λ at which the trial of a subset is unreliable and may still be the lowest, in the order of their lower bounds.
fn unreliable_lambdas(trials: &[Vec<Trial>], place: usize) -> Vec<usize> {
    let lowest = lowest_reliable(trials, place);
    let bound = |l: usize| trials[l][place].lower_bound;
    let may_win = |&l: &usize| trials[l][place].is_unreliable && bound(l) <= lowest;
    let mut lambdas: Vec<usize> = (0..trials.len()).filter(may_win).collect();
    lambdas.sort_by(|&a, &b| bound(a).total_cmp(&bound(b)));
    lambdas
}

/// The lowest reliable loss of a subset over λ.
fn lowest_reliable(trials: &[Vec<Trial>], place: usize) -> f64 {
    let own = trials.iter().map(|lambda_trials| &lambda_trials[place]);
    minimum(own.filter(|trial| !trial.is_unreliable).map(|trial| trial.loss))
}
