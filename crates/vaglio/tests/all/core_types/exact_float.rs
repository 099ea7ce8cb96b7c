use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Exact(#[serde(with = "vaglio_core::exact_float")] f64);

#[test]
fn numbers_are_read_back_to_the_last_bit() {
    for number in [0.1, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 1.0 / 3.0, 1e300, 7.0] {
        let text = serde_json::to_string(&Exact(number)).unwrap();
        let Exact(read) = serde_json::from_str(&text).unwrap();
        assert_eq!(read.to_bits(), number.to_bits(), "{text}");
    }
}
