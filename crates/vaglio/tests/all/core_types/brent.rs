use argmin::core::{CostFunction, Executor};
use argmin::solver::brent::BrentOpt;
use std::cell::RefCell;
use vaglio_core::{Result, minimize};

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
