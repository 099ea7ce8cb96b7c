//! Fits in every round of held-out rows, with the mean loss over rounds.

use super::fits::{SubsetFits, SubsetFitter};
use super::mean::mean;
use super::refits::SubsetScore;
use super::shared_lambdas::{LossAtLambda, SharedLambdas};
use super::trial_loss::Residuals;
use vaglio_core::{Design, Feature, Recorder, Result, Score, StopSign};

/// The fits of all rounds; the loss is the mean over them.
pub(super) struct Rounds<'d> {
    design: &'d Design,
    rounds: Vec<SubsetFits<'d>>,
    losses: SharedLambdas<LossAtLambda>,
    /// Each round's share of the weight of all held-out rows, unless the shares are equal.
    shares: Option<Vec<f64>>,
    /// The original rounds, in order, if `rounds` are their folds.
    wholes: Option<Vec<SubsetFits<'d>>>,
    /// Recorder of the trials of states.
    pub recorder: Recorder,
}

impl<'d> Rounds<'d> {
    /// Creates the fits; there must be at least one round. If the rounds are the folds of other rounds, `wholes` are these
    /// rounds, in order.
    pub fn new(
        design: &'d Design,
        rounds: Vec<SubsetFits<'d>>,
        losses: SharedLambdas<LossAtLambda>,
        wholes: Option<Vec<SubsetFits<'d>>>,
        recorder: Recorder,
    ) -> Self {
        let weights: Vec<f64> = rounds.iter().map(SubsetFits::weight).collect();
        let all: f64 = weights.iter().sum();
        let are_alike = weights.iter().all(|weight| *weight == weights[0]);
        let shares = (!are_alike).then(|| weights.iter().map(|weight| weight / all).collect());
        Rounds { design, rounds, losses, shares, wholes, recorder }
    }

    /// Each round's share of the weight of all held-out rows, unless the shares are equal.
    pub fn shares(&self) -> Option<&[f64]> {
        self.shares.as_deref()
    }

    /// The λ among which a score is the lowest.
    pub fn lambdas(&self) -> &[f64] {
        &self.losses.own
    }

    /// Stop sign; loops over many subsets check it before each.
    pub fn sign(&self) -> &StopSign {
        self.design.problem().sign()
    }

    pub fn iter(&self) -> impl Iterator<Item = &SubsetFits<'d>> {
        self.rounds.iter()
    }

    /// The single round, if there is only one.
    pub fn only(&self) -> Option<&SubsetFits<'d>> {
        if let [only] = &self.rounds[..] { Some(only) } else { None }
    }

    /// Whether a column is active in every round.
    pub fn is_active(&self, feature: Feature) -> bool {
        self.rounds.iter().all(|fits| fits.rows.is_active(feature))
    }

    /// The fits of a subset.
    pub fn fit(&self, subset: &[Feature]) -> Vec<SubsetFitter<'_, 'd>> {
        self.rounds.iter().map(|fits| fits.fit(subset)).collect()
    }

    /// The mean loss of a subset's fits at a λ, with the residuals of each. If the loss is proven to be above `lowest`,
    /// it may be inexact.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`] when a fit fails.
    pub fn loss_and_residuals(
        &self,
        fits: &[SubsetFitter<'_, '_>],
        lambda: f64,
        lowest: f64,
    ) -> Result<(f64, Vec<Residuals>)> {
        // With several rounds, one round above the lowest mean may still be outweighed.
        let bound = if fits.len() == 1 { lowest } else { f64::INFINITY };
        let settled = fits.iter().map(|fit| fit.loss_and_residuals(lambda, bound)).collect::<Result<Vec<_>>>()?;
        let (losses, residuals): (Vec<f64>, Vec<Residuals>) = settled.into_iter().unzip();
        Ok((mean(losses, self.shares()), residuals))
    }

    /// The score of a subset.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`] when a fit fails.
    pub fn score(&self, subset: &[Feature]) -> Result<SubsetScore> {
        let fits = self.fit(subset);
        SubsetScore::lowest(self.design, |lambda| self.loss_and_residuals(&fits, lambda, f64::INFINITY))
    }

    /// Like [`Rounds::score`], but computes the losses for the λ of all walks that reach the subset.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`] when a fit fails.
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

    /// The standard error of a score.
    pub fn error_of(&self, scored: &SubsetScore) -> Option<f64> {
        scored.error.or_else(|| if scored.residuals.is_empty() { None } else { self.standard_error(&scored.residuals) })
    }

    /// The mean over rounds of their standard errors. Rounds hold out the same rows, so more rounds add no information.
    pub fn standard_error(&self, residuals: &[Residuals]) -> Option<f64> {
        let errors: Option<Vec<f64>> = match &self.wholes {
            None => self.rounds.iter().zip(residuals).map(|(fits, own)| fits.standard_error(own)).collect(),
            Some(wholes) => {
                let mut fold_residuals = residuals.iter();
                wholes.iter().map(|whole| whole.standard_error(&whole.collect_residuals(&mut fold_residuals))).collect()
            }
        };
        errors.map(|errors| mean(errors, None))
    }
}
