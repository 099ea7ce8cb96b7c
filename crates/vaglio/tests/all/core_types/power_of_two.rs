use vaglio_core::times_power;

#[test]
fn powers_of_two_are_exact_as_far_as_doubles_go() {
    for (x, exponent) in [(1.5, 0), (3.0, 1000), (0.7, -1000), (-2.5, 1022), (1e-300, 1900), (1e300, -1900)] {
        let (direct, there) = (times_power(x, exponent), times_power(times_power(x, exponent), -exponent));
        assert!(direct.is_finite() && direct != 0.0, "{x} {exponent}: {direct}");
        assert_eq!(there, x, "{exponent}");
    }
    assert_eq!(times_power(1.0, 2000), f64::INFINITY);
    assert_eq!(times_power(1.0, -2000), 0.0);
    assert_eq!(times_power(f64::INFINITY, -1000), f64::INFINITY);
}
