use vaglio_core::{Absolute, Huber, Loss, Part, Pinball, Squared, ndarray};

#[test]
fn errors_count_as_their_losses_say() {
    let (targets, predictions) = (ndarray::array![[0.0, 0.0, 0.0]], ndarray::array![[-1.0, 0.5, 3.0]]);
    let mean = |loss: Part<dyn Loss>| loss.mean(targets.view(), predictions.view(), Some(&[1.0, 2.0, 1.0]));
    assert_eq!(mean(Squared.into()), (1.0 + 2.0 * 0.25 + 9.0) / 4.0);
    assert_eq!(mean(Absolute.into()), (1.0 + 2.0 * 0.5 + 3.0) / 4.0);
    assert_eq!(mean(Huber { delta: 2.0 }.into()), (0.5 + 2.0 * 0.125 + 2.0 * (3.0 - 1.0)) / 4.0);
    assert_eq!(mean(Pinball { quantile: 0.75 }.into()), (0.75 + 2.0 * 0.125 + 0.25 * 3.0) / 4.0);
}

#[test]
fn settings_that_cannot_be_are_refused() {
    for delta in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert!(Huber { delta }.check_settings().is_err(), "{delta}");
    }
    for quantile in [0.0, 1.0, f64::NAN] {
        assert!(Pinball { quantile }.check_settings().is_err(), "{quantile}");
    }
}
