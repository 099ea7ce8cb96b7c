//! Choice of the penalty from a grid, and between its values by Brent's method.

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

/// A point and the value of the function there.
#[derive(Clone, Copy)]
struct BrentPoint {
    x: f64,
    value: f64,
}

/// Finds a local minimum of `f` between `low` and `high`, to within 3·`tolerance`·(1 + |x|).
///
/// Makes at most 1 + `most` evaluations. The bracket shrinks by the parabola through the three lowest points, or else
/// by the golden section. The parabola's step must stay inside the bracket and be less than half of the last but one. A
/// value of −∞ ends the search.
///
/// # Reference
/// R. P. Brent, *Algorithms for minimization without derivatives*, Prentice-Hall 1973, section 5.8, `localmin`.
pub fn minimize(
    mut low: f64,
    mut high: f64,
    tolerance: f64,
    most: usize,
    mut f: impl FnMut(f64) -> Result<f64>,
) -> Result<f64> {
    let golden = (3.0 - 5_f64.sqrt()) / 2.0;
    let mut at = |x: f64| f(x).map(|value| BrentPoint { x, value });
    let mut best = at(low + golden * (high - low))?;
    let (mut second, mut third) = (best, best);
    // The last step, and the one before it.
    let (mut step, mut earlier) = (0.0_f64, 0.0_f64);
    for _ in 0..most {
        let x = best.x;
        let near = tolerance * x.abs() + tolerance;
        let middle = (low + high) / 2.0;
        if best.value <= f64::NEG_INFINITY || (x - middle).abs() <= 2.0 * near - (high - low) / 2.0 {
            break;
        }
        // The vertex of the parabola is at x + p/q.
        let (to_second, to_third) = (x - second.x, x - third.x);
        let (above_second, above_third) = (best.value - second.value, best.value - third.value);
        let p = to_third * to_third * above_second - to_second * to_second * above_third;
        let q = 2.0 * (to_second * above_third - to_third * above_second);
        let (p, q) = if q >= 0.0 { (p, q) } else { (-p, -q) };
        let is_golden =
            earlier.abs() <= near || p < q * (low - x) || p > q * (high - x) || 2.0 * p.abs() >= q * earlier.abs();
        if is_golden {
            earlier = if x < middle { high } else { low } - x;
            step = golden * earlier;
        } else {
            earlier = step;
            step = p / q;
            let (from_low, from_high) = (x + step - low, high - x - step);
            if from_low < 2.0 * near || from_high < 2.0 * near {
                step = (middle - x).signum() * near;
            }
        }
        let next = at(x + if step.abs() >= near { step } else { step.signum() * near })?;
        if next.value <= best.value {
            if next.x < x {
                high = x
            } else {
                low = x
            }
            (third, second, best) = (second, best, next);
        } else {
            if next.x < x {
                low = next.x
            } else {
                high = next.x
            }
            if next.value <= second.value || second.x == x {
                (third, second) = (second, next);
            } else if next.value <= third.value || third.x == x || third.x == second.x {
                third = next;
            }
        }
    }
    Ok(best.x)
}
