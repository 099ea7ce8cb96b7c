//! Choice of the penalty from a grid, and between its values by Brent's method.

use crate::brent::minimize;
use crate::{Result, Score};

/// Width in log λ at which a search ends. The loss is flat at its minimum, so its error is of the order of the square.
const WIDTH: f64 = 1e-6;
/// Largest number of evaluations, enough for any interval.
const MOST: usize = 60;

/// The lowest loss over the increasing grid `lambdas`; with `refine`, also between the best λ and its neighbors. The
/// smallest λ wins ties.
///
/// The grid finds the valley and Brent's method its bottom, in log λ. Every evaluation of Brent's method is traced.
///
/// # Reference
/// R. P. Brent, *Algorithms for minimization without derivatives*, Prentice-Hall 1973, chapter 5.
pub(crate) fn lowest(
    lambdas: &[Option<f64>],
    refine: bool,
    mut loss: impl FnMut(Option<f64>) -> Result<f64>,
) -> Result<Score> {
    let (mut score, mut best) = (Score::WORST, 0);
    for (k, &lambda) in lambdas.iter().enumerate() {
        let loss = loss(lambda)?;
        if loss < score.loss {
            (score, best) = (Score { loss, lambda }, k);
        }
    }
    let near = |k: usize| lambdas.get(k).copied().flatten();
    let ends = near(best.saturating_sub(1)).zip(near(best + 1).or(near(best)));
    let has_valley = refine && score.loss < f64::INFINITY;
    let Some((low, high)) = ends.filter(|(low, high)| has_valley && low < high) else { return Ok(score) };
    let mut bottom: Option<(f64, f64)> = None;
    minimize(low.ln(), high.ln(), WIDTH, MOST, |log| {
        let lambda = log.exp();
        let found = loss(Some(lambda))?;
        if bottom.is_none_or(|(at, lowest)| found < lowest || found == lowest && lambda < at) {
            bottom = Some((lambda, found));
        }
        tracing::debug!(lambda, loss = found, "lambda");
        Ok(found)
    })?;
    if let Some((lambda, loss)) = bottom
        && (loss < score.loss || loss == score.loss && Some(lambda) < score.lambda)
    {
        score = Score { loss, lambda: Some(lambda) };
    }
    Ok(score)
}
