//! Evaluator of walks that need no scores.

use vaglio_core::{Action, Design, Evaluator, Feature, Result, Score};

/// Evaluator of unscored walks ([`vaglio_core::SearchExtent::is_unscored`]): every score is 0.
pub(crate) struct Unscored {
    lambda: Option<f64>,
}

impl Unscored {
    /// An evaluator that reports the first λ of the design.
    pub fn new(design: &Design) -> Self {
        Unscored { lambda: design.lambdas().first().copied().flatten() }
    }
}

impl Evaluator for Unscored {
    fn score(&mut self, _: &[Feature]) -> Result<Score> {
        Ok(Score { loss: 0.0, lambda: self.lambda })
    }

    fn scores(&mut self, _: Action, _: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        Ok(vec![self.score(&[])?; candidates.len()])
    }
}
