//! Centering of columns.

use vaglio_columns::center;

#[test]
fn the_mean_of_values_far_from_0_is_taken_off_to_their_last_digits() {
    let weights = [1.0, 0.5, 2.0, 0.25];
    let mut values = [1e9 + 0.25, 1e9 - 0.5, 1e9 + 0.125, 1e9];
    let parts = center((&mut values[..]).into(), |j| weights[j], 3.75);
    let left: f64 = values.iter().zip(&weights).map(|(v, w)| v * w).sum();
    assert!(left.abs() < 1e-15 && parts[1].abs() < 1e-6, "{left} {parts:?}");
}
