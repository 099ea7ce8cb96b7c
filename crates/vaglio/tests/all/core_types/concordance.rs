use ndarray::Array2;
use vaglio_core::{Concordance, Loss, ndarray, row_weights};

#[test]
fn pairs_are_counted_as_a_plain_loop_counts_them() {
    for (seed, rows, outputs) in [(1usize, 1usize, 1usize), (2, 7, 1), (3, 60, 2), (4, 61, 1)] {
        let draw = |k: usize, modulus: usize| ((k * k * 31 + 17 * k * seed + seed) % modulus) as f64;
        let targets = Array2::from_shape_fn((outputs, rows), |(o, j)| draw(o + 2 * j, 13) - 6.0);
        let predictions = Array2::from_shape_fn((outputs, rows), |(o, j)| draw(3 * o + j, 11) / 3.0 - 1.0);
        let weights: Vec<f64> = (0..rows).map(|j| 1.0 + draw(j, 3)).collect();
        for weights in [None, Some(&weights[..])] {
            let weight = row_weights(weights);
            let plain = |o: usize| {
                let (mut wrong, mut all) = (0.0, 0.0);
                for (i, j) in (0..rows).flat_map(|i| (0..rows).map(move |j| (i, j))) {
                    if targets[[o, i]] < targets[[o, j]] {
                        let (p, q) = (predictions[[o, i]], predictions[[o, j]]);
                        let own = weight(i) * weight(j);
                        wrong += if p > q {
                            own
                        } else if p == q {
                            0.5 * own
                        } else {
                            0.0
                        };
                        all += own;
                    }
                }
                wrong / all
            };
            let expected = (0..outputs).map(plain).sum::<f64>() / outputs as f64;
            let found = Concordance.mean(targets.view(), predictions.view(), weights);
            assert!((found - expected).abs() < 1e-12 || rows == 1 && found.is_nan(), "{found} {expected}");
        }
    }
}

#[test]
fn orders_have_the_losses_that_they_are_known_by() {
    let targets = ndarray::array![[1.0, 2.0, 3.0, 4.0]];
    let of = |p: [f64; 4]| Concordance.mean(targets.view(), ndarray::array![p].view(), None);
    assert_eq!((of([5.0, 6.0, 7.0, 9.0]), of([4.0, 3.0, 2.0, 1.0]), of([2.0; 4])), (0.0, 1.0, 0.5));
    assert_eq!(of([1.0, 1.0, 3.0, 2.0]), 1.5 / 6.0);
    assert!(of([1.0, f64::NAN, 2.0, 3.0]).is_nan());
}
