//! Degrees of freedom of a ridge fit.

use ndarray::Array2;
use vaglio_kernels::freedom::ridge;
use vaglio_kernels::linalg;
use vaglio_testkit::SplitMix64;

#[test]
fn they_are_the_sum_over_singular_values() {
    let mut random = SplitMix64::new(3);
    for (rows, size, lambda) in [(20, 5, 0.7), (4, 6, 0.1), (30, 3, 1e-9), (8, 0, 1.0)] {
        let x = Array2::from_shape_fn((rows, size), |_| random.normal());
        let expected: f64 = if size == 0 {
            0.0
        } else {
            let (values, _) = linalg::eigh(linalg::gram(x.view()).view()).unwrap();
            values.iter().map(|v| v / (v + lambda)).sum()
        };
        let found = ridge(x.view(), lambda).unwrap();
        assert!((found - expected).abs() < 1e-9, "{rows} × {size}: {found} is not {expected}");
    }
}
