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
/// Makes at most 1 + `most` evaluations. The bracket shrinks by the parabola through the three lowest points if its
/// step stays inside the bracket and is less than half of the step before the last; else by the golden section. A value
/// of −∞ ends the search.
///
/// # Errors
/// Returns the errors of `f`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use argmin::core::{CostFunction, Executor};
    use argmin::solver::brent::BrentOpt;
    use std::cell::RefCell;

    type Function = Box<dyn Fn(f64) -> f64>;

    /// A function that remembers where it was evaluated.
    struct Traced<'f>(&'f Function, RefCell<Vec<u64>>);

    impl CostFunction for &Traced<'_> {
        type Param = f64;
        type Output = f64;

        fn cost(&self, x: &f64) -> Result<f64, argmin::core::Error> {
            self.1.borrow_mut().push(x.to_bits());
            Ok((self.0)(*x))
        }
    }

    fn functions() -> Vec<Function> {
        let mut functions: Vec<Function> = vec![
            Box::new(|x| x * x),
            Box::new(|x| x),
            Box::new(|x| -x),
            Box::new(|_| 3.0),
            Box::new(f64::abs),
            Box::new(f64::sin),
            Box::new(f64::exp),
            Box::new(|x| (-x).exp() - (5.0 - x / 2.0).exp()),
            Box::new(|x| x.floor()),
            Box::new(|x| if x < 0.3 { 1.0 } else { 0.0 }),
            Box::new(|x| if x < 0.3 { f64::INFINITY } else { x }),
            Box::new(|x| if x > 0.7 { f64::NEG_INFINITY } else { x }),
            Box::new(|_| f64::INFINITY),
            Box::new(|_| f64::NEG_INFINITY),
            Box::new(|x| if x > 0.1 { f64::NAN } else { -x }),
            Box::new(|x| 1e300 * x * x),
            Box::new(|x| 1e-300 * x * x),
        ];
        for k in 0..40 {
            let (k, center) = (f64::from(k), (f64::from(k) * 0.7).sin() * 9.0);
            functions.push(Box::new(move |x| (x - center).powi(2) + (k * x).sin()));
            functions.push(Box::new(move |x| (x - center).abs().powf(0.3 + k / 20.0)));
            functions.push(Box::new(move |x| (1.0 + (k * (x - center)).exp()).ln() - 0.3 * x));
        }
        functions
    }

    #[test]
    fn every_evaluation_is_that_of_argmin_to_the_last_bit() {
        let mut parabolic = 0;
        for (number, function) in functions().iter().enumerate() {
            for (low, high) in [(-10.0, 10.0), (0.0, 1.0), (-6.9, 6.9), (-3.0, -2.9), (1e-9, 5.0), (-20.0, 0.25)] {
                for tolerance in [1e-6, 1e-3, 1e-8] {
                    for most in [60, 13, 1, 0] {
                        let traced = Traced(function, RefCell::default());
                        let solver = BrentOpt::new(low, high).set_tolerance(tolerance, tolerance);
                        let run = Executor::new(&traced, solver).configure(|state| state.max_iters(most as u64)).run();
                        let state = run.unwrap().state;
                        let mut evaluated = Vec::new();
                        let found = minimize(low, high, tolerance, most, |x| {
                            evaluated.push(x.to_bits());
                            Ok(function(x))
                        });
                        let found = found.unwrap();
                        let case = format!("function {number} on {low}..{high}, {tolerance}, {most}");
                        assert_eq!(evaluated, *traced.1.borrow(), "{case}");
                        assert_eq!(Some(found.to_bits()), state.param.map(f64::to_bits), "{case}");
                        assert_eq!(function(found).to_bits(), state.cost.to_bits(), "{case}");
                        parabolic += usize::from(evaluated.len() < 12 && most == 60);
                    }
                }
            }
        }
        assert!(parabolic > 100, "{parabolic}");
    }
}
