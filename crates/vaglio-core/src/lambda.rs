//! Refinement of the penalty between the values of a grid, by Brent's method.

use crate::brent::minimize;
use crate::{Result, Score};

/// Width in log λ at which a search ends. The loss is flat at its minimum, so its error is of the order of the square.
const WIDTH: f64 = 1e-6;
/// Largest number of evaluations, enough for any interval.
const MOST: usize = 60;

/// The lowest loss over the increasing grid `lambdas`, refined between the best λ and its neighbours. The smallest λ
/// wins ties.
///
/// The grid finds the valley and Brent's method its bottom, in log λ. Every evaluation is traced.
///
/// # Errors
/// Returns an error of `loss`.
///
/// # Reference
/// R. P. Brent, *Algorithms for minimization without derivatives*, Prentice-Hall 1973, chapter 5.
pub(crate) fn refine(lambdas: &[f64], mut loss: impl FnMut(f64) -> Result<f64>) -> Result<Score> {
    let mut best: Option<(usize, f64)> = None;
    for (k, &lambda) in lambdas.iter().enumerate() {
        let found = loss(lambda)?;
        if best.is_none_or(|(_, lowest)| found < lowest) && found < f64::INFINITY {
            best = Some((k, found));
        }
    }
    let Some((k, lowest)) = best else { return Ok(Score::WORST) };
    let mut score = Score { loss: lowest, lambda: Some(lambdas[k]) };
    let (low, high) = (lambdas[k.saturating_sub(1)], lambdas[(k + 1).min(lambdas.len() - 1)]);
    if low == high {
        return Ok(score);
    }
    let mut bottom: Option<(f64, f64)> = None;
    minimize(low.ln(), high.ln(), WIDTH, MOST, |log| {
        let lambda = log.exp();
        let found = loss(lambda)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn the_bottom_of_a_valley_is_found_between_grid_points() {
        let loss = |l: f64| Ok((l.ln() - 0.3).powi(2) + 2.0);
        let score = refine(&[1e-3, 1e-1, 10.0, 1e3], loss).unwrap();
        assert!((score.loss - 2.0).abs() < 1e-12 && (score.lambda.unwrap().ln() - 0.3).abs() < 1e-5, "{score:?}");
    }

    #[test]
    fn ends_of_the_range_and_flat_losses_give_the_smallest_lambda() {
        assert_eq!(refine(&[1.0, 10.0, 100.0], Ok).unwrap(), Score { loss: 1.0, lambda: Some(1.0) });
        let high = refine(&[1.0, 10.0, 100.0], |l| Ok(-l)).unwrap();
        assert_eq!(high, Score { loss: -100.0, lambda: Some(100.0) });
        assert_eq!(refine(&[1.0, 10.0, 100.0], |_| Ok(5.0)).unwrap(), Score { loss: 5.0, lambda: Some(1.0) });
    }

    #[test]
    fn errors_come_through() {
        let failing = |l: f64| if l == 1.0 || l == 10.0 { Ok(l) } else { Err(Error::Numerical("overflow".into())) };
        assert!(matches!(refine(&[1.0, 10.0], failing), Err(Error::Numerical(m)) if m == "overflow"));
    }
}
