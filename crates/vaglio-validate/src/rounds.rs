//! Fits in every round of held-out rows; a loss is the mean over them.

use super::fits::{Fit, RoundFits};
use super::mean::mean;
use super::settle::Scored;
use super::shared_lambdas::SharedLosses;
use super::trial_loss::Residuals;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, Feature, Result, Score, StopSign};

/// The fits of all rounds; a loss is the mean over them.
pub(super) struct Rounds<'d> {
    design: &'d Design,
    rounds: Vec<RoundFits<'d>>,
    losses: SharedLosses,
    /// The part of the weight of all rows held out that each round has, where these are not alike.
    shares: Option<Vec<f64>>,
    /// Where rounds are folds, the rounds of which they are, one after another.
    wholes: Option<Vec<RoundFits<'d>>>,
}

/// Folds that are rounds by themselves, since each is of columns of its own.
pub(super) struct Apart<'d> {
    /// The part of the weight of all rows held out that each fold has.
    pub shares: Vec<f64>,
    /// The rounds of which they are the folds, one after another.
    pub rounds: Vec<RoundFits<'d>>,
}

impl<'d> Rounds<'d> {
    /// There is at least one round.
    pub fn new(design: &'d Design, rounds: Vec<RoundFits<'d>>, losses: SharedLosses) -> Self {
        let weights: Vec<f64> = rounds.iter().map(RoundFits::weight).collect();
        let all: f64 = weights.iter().sum();
        let are_alike = weights.iter().all(|weight| *weight == weights[0]);
        let shares = (!are_alike).then(|| weights.iter().map(|weight| weight / all).collect());
        Rounds { design, rounds, losses, shares, wholes: None }
    }

    /// Rounds that are the folds of others.
    pub fn of_folds(design: &'d Design, rounds: Vec<RoundFits<'d>>, losses: SharedLosses, apart: Apart<'d>) -> Self {
        Rounds { design, rounds, losses, shares: Some(apart.shares), wholes: Some(apart.rounds) }
    }

    /// The part of the weight of all rows held out that each round has, where these are not alike.
    pub fn shares(&self) -> Option<&[f64]> {
        self.shares.as_deref()
    }

    /// What loops over many subsets ask before each.
    pub fn sign(&self) -> &StopSign {
        self.design.sign()
    }

    pub fn iter(&self) -> impl Iterator<Item = &RoundFits<'d>> {
        self.rounds.iter()
    }

    /// The only round, where there is no other.
    pub fn only(&self) -> Option<&RoundFits<'d>> {
        if let [only] = &self.rounds[..] { Some(only) } else { None }
    }

    /// Whether a column takes part.
    pub fn is_active(&self, feature: Feature) -> bool {
        self.rounds.iter().all(|fits| fits.rows.is_active(feature))
    }

    /// The fits of a subset.
    pub fn fit(&self, subset: &[Feature]) -> Vec<Fit<'_, 'd>> {
        self.rounds.iter().map(|fits| fits.fit(subset)).collect()
    }

    /// The mean loss of a subset's fits for a λ, with the residuals of each; of one that is proven to be above `lowest`, only
    /// that it is.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`].
    pub fn settled(&self, fits: &[Fit<'_, '_>], lambda: f64, lowest: f64) -> Result<(f64, Vec<Residuals>)> {
        // Of several, one that is above the lowest mean may yet be outweighed.
        let bound = if fits.len() == 1 { lowest } else { f64::INFINITY };
        let settled = fits.iter().map(|fit| fit.settled(lambda, bound)).collect::<Result<Vec<_>>>()?;
        let (losses, residuals): (Vec<f64>, Vec<Residuals>) = settled.into_iter().unzip();
        Ok((mean(losses, self.shares()), residuals))
    }

    /// The score of a subset.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`].
    pub fn scored(&self, subset: &[Feature]) -> Result<Scored> {
        let fits = self.fit(subset);
        Scored::lowest(self.design, |lambda| self.loss(&fits, lambda))
    }

    /// Like [`Rounds::scored`], for the λ of all walks that come to the subset.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`].
    pub fn scored_together(&self, subset: &[Feature]) -> Result<Scored> {
        if !self.losses.lambdas.are_several() {
            return self.scored(subset);
        }
        let known = self.losses.score(subset, |lambdas| {
            let fits = self.fit(subset);
            let at = |&lambda: &f64| {
                let (loss, residuals) = self.loss(&fits, lambda)?;
                Ok(Some((loss, self.standard_error(&residuals).filter(|_| self.design.has_errors()))))
            };
            lambdas.iter().map(at).collect()
        })?;
        let (score, error) = known.unwrap_or((Score::WORST, None));
        Ok(Scored { score, residuals: Vec::new(), error })
    }

    fn loss(&self, fits: &[Fit<'_, 'd>], lambda: f64) -> Result<(f64, Vec<Residuals>)> {
        let residuals: Vec<Residuals> = fits.iter().map(|fit| fit.residuals(lambda)).collect::<Result<_>>()?;
        let losses = self.rounds.iter().zip(&residuals).map(|(fits, own)| fits.scorer.loss(own));
        Ok((mean(losses, self.shares()), residuals))
    }

    /// The standard error of a score.
    pub fn error_of(&self, scored: &Scored) -> Option<f64> {
        scored.error.or_else(|| if scored.residuals.is_empty() { None } else { self.standard_error(&scored.residuals) })
    }

    /// The mean over rounds of the standard errors: rounds hold out the same rows, so more of them tell no more.
    pub fn standard_error(&self, residuals: &[Residuals]) -> Option<f64> {
        let errors: Option<Vec<f64>> = match &self.wholes {
            None => self.rounds.iter().zip(residuals).map(|(fits, own)| fits.standard_error(own)).collect(),
            Some(wholes) => {
                let mut of_folds = residuals.iter();
                wholes.iter().map(|whole| whole.standard_error(&whole.gathered(&mut of_folds))).collect()
            }
        };
        errors.map(|errors| mean(errors, None))
    }
}
