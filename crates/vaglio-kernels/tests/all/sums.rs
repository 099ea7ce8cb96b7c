//! Sums over one column.

use vaglio_columns::Column;
use vaglio_kernels::Level;
use vaglio_kernels::sums::product;

#[test]
fn products_agree_on_every_level_and_with_the_plain_sum() {
    for m in [0, 1, 15, 16, 17, 1000, 4099] {
        let bytes: Vec<u8> = (0..m).map(|j| (j * 37 % 251) as u8).collect();
        let doubles: Vec<f64> = bytes.iter().map(|&b| f64::from(b)).collect();
        let v: Vec<f64> = (0..m).map(|j| ((j * 13 % 101) as f64 - 50.0) / 7.0).collect();
        let plain: f64 = doubles.iter().zip(&v).map(|(x, v)| (x - 3.5) * v).sum();
        let reference = Level::available()[0].within(|| product(Column::Double(&doubles), 3.5, &v));
        assert!((reference - plain).abs() <= 1e-12 * plain.abs().max(1.0));
        for level in Level::available() {
            level.within(|| {
                assert_eq!(product(Column::Double(&doubles), 3.5, &v), reference);
                assert_eq!(product(Column::Byte(&bytes), 3.5, &v), reference);
            });
        }
    }
}
