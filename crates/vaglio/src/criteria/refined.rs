//! Scores with the penalty searched for every subset.

use rayon::prelude::*;
use vaglio_core::{Design, Error, Evaluator, Feature, Result, Score, larger, smaller};

/// The losses of one subset for any λ.
pub(super) type Losses<'f> = Box<dyn Fn(f64) -> Result<f64> + 'f>;

/// A way to fit a subset once for every λ.
pub(super) trait Fits: Send + Sync {
    /// The losses of a subset, each cheap once the subset is decomposed.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn fit<'f>(&'f self, subset: &[Feature]) -> Result<Losses<'f>>;

    /// The standard error of the loss of a subset with a λ, where it is a mean.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    fn standard_error(&self, subset: &[Feature], lambda: f64) -> Result<Option<f64>>;
}

/// The evaluator that decomposes every subset anew and searches its λ: no state is shared between the subsets, since
/// each has a λ of its own.
pub(super) struct Refined<'d, F> {
    design: &'d Design,
    fits: F,
}

impl<'d, F: Fits> Refined<'d, F> {
    pub(super) fn new(design: &'d Design, fits: F) -> Self {
        Refined { design, fits }
    }

    fn evaluate(&self, subset: &[Feature]) -> Result<Score> {
        let losses = self.fits.fit(subset)?;
        let loss = |lambda: Option<f64>| losses(lambda.ok_or_else(|| Error::setting("lambda", "it is missing"))?);
        self.design.best_lambda(loss)?.checked()
    }

    fn all(&self, subsets: Vec<Vec<Feature>>, scores: &mut [Score]) -> Result<()> {
        let found: Vec<Score> = subsets.par_iter().map(|subset| self.evaluate(subset)).collect::<Result<_>>()?;
        scores.copy_from_slice(&found);
        Ok(())
    }
}

impl<F: Fits> Evaluator for Refined<'_, F> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        self.evaluate(subset)
    }

    fn score_additions(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.all(candidates.iter().map(|&candidate| larger(subset, candidate)).collect(), scores)
    }

    fn score_removals(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.all(candidates.iter().map(|&candidate| smaller(subset, candidate)).collect(), scores)
    }

    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        let Some(lambda) = self.evaluate(subset)?.lambda else { return Ok(None) };
        self.fits.standard_error(subset, lambda)
    }
}
