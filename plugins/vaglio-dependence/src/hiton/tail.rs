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
