//! Exponential and hyperbolic tangent, against the standard library.

use vaglio_kernels::Level;
use vaglio_kernels::elementary_functions::{exp, tanh};

fn spread() -> Vec<f64> {
    let mut values: Vec<f64> = (-4000..=4000).map(|k| f64::from(k) * 0.187_301).collect();
    values.extend((-330..=2).flat_map(|k| [10f64.powi(k), -1.7 * 10f64.powi(k)]));
    values.extend([0.0, -0.0, 0.346_573_590_27, 0.346_573_590_29, 19.999, 20.001, 709.78, -745.1, 1e300, -1e300]);
    values
}

/// Returns the distance in units in the last place of the larger number.
fn units(a: f64, b: f64) -> f64 {
    if a == b {
        return 0.0;
    }
    (a - b).abs() / (f64::EPSILON * a.abs().max(b.abs())).max(f64::from_bits(1))
}

#[test]
fn they_are_the_functions_to_a_few_units_in_the_last_place() {
    let x = spread();
    let (mut e, mut t) = (x.clone(), x.clone());
    exp(&mut e);
    tanh(&mut t);
    for ((x, e), t) in x.iter().zip(&e).zip(&t) {
        assert!(units(*e, x.exp()) <= 1.0, "exp({x}) = {e}, not {}", x.exp());
        assert!(units(*t, x.tanh()) <= 3.0, "tanh({x}) = {t}, not {}", x.tanh());
    }
    assert_eq!(t[x.iter().position(|x| x.to_bits() == (-0.0f64).to_bits()).unwrap()].to_bits(), (-0.0f64).to_bits());
}

#[test]
fn every_level_and_place_gives_the_same_bits() {
    let x = spread();
    for f in [exp, tanh] {
        let mut baseline = x.clone();
        Level::available()[0].within(|| f(&mut baseline));
        for level in Level::available() {
            level.within(|| {
                let (mut whole, mut part) = (x.clone(), x[3..].to_vec());
                f(&mut whole);
                f(&mut part);
                assert!(whole.iter().zip(&baseline).all(|(a, b)| a.to_bits() == b.to_bits()), "{}", level.name());
                assert!(part.iter().zip(&baseline[3..]).all(|(a, b)| a.to_bits() == b.to_bits()), "{}", level.name());
            });
        }
    }
}

#[test]
fn what_is_not_a_number_stays_so() {
    let mut values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    exp(&mut values);
    assert!(values[0].is_nan() && values[1] == f64::INFINITY && values[2] == 0.0);
    let mut values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    tanh(&mut values);
    assert!(values[0].is_nan() && values[1] == 1.0 && values[2] == -1.0);
}
