//! Tail of the χ² distribution.

/// ln P(χ² > `value`) with `freedom` degrees of freedom, without underflow; 0 if there are none. Relative error of P
/// about 1e-13.
///
/// Incomplete gamma function by its series below the mean and its continued fraction above (Abramowitz and Stegun,
/// 6.5.29 and 6.5.31).
pub(super) fn ln_tail(value: f64, freedom: f64) -> f64 {
    let (a, x) = (freedom / 2.0, value / 2.0);
    if !(a > 0.0 && x > 0.0) {
        return 0.0;
    }
    if x == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    let ln_size = a * x.ln() - x - libm::lgamma(a);
    if x < a + 1.0 {
        let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
        while term > f64::EPSILON * sum {
            k += 1.0;
            term *= x / k;
            sum += term;
        }
        return (-(ln_size.exp() * sum).min(1.0)).ln_1p();
    }
    // Lentz's method for the continued fraction.
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (f64::MAX, 1.0 / b);
    let mut fraction = d;
    for k in 1..10_000 {
        let k = f64::from(k);
        let along = k * (a - k);
        b += 2.0;
        d = 1.0 / (along * d + b);
        c = b + along / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    ln_size + fraction.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_1_SQRT_2;

    #[test]
    fn tails_have_their_closed_forms() {
        for value in [0.01, 0.5, 1.0, 2.0, 3.0, 3.841_458_820_694_124, 10.0, 40.0, 900.0] {
            let one = libm::erfc(f64::sqrt(value) * FRAC_1_SQRT_2).ln();
            // For even degrees of freedom a sum: e^(−x/2) Σ (x/2)^k/k!.
            let (half, two) = (value / 2.0, -value / 2.0);
            let six = two + (1.0 + half + half * half / 2.0).ln();
            for (freedom, expected) in [(1.0, one), (2.0, two), (6.0, six)] {
                let found = ln_tail(value, freedom);
                assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{value}, {freedom}: {found}");
            }
        }
        assert!((ln_tail(3.841_458_820_694_124, 1.0) - 0.05f64.ln()).abs() < 1e-12);
        assert_eq!((ln_tail(0.0, 3.0), ln_tail(5.0, 0.0), ln_tail(f64::INFINITY, 2.0)), (0.0, 0.0, f64::NEG_INFINITY));
        assert!(ln_tail(1e5, 1.0) < -4e4, "it does not underflow");
    }
}
