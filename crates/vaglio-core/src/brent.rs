//! Minimum of a function of one variable, without derivatives.

use crate::Result;

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
