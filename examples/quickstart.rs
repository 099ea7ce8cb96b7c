//! A first selection in Rust: which columns of a table predict its target?
//!
//! `cargo run -p vaglio-examples quickstart`

// ANCHOR: select
use linfa::prelude::*;
use vaglio::prelude::*;

/// Chooses at most five columns by their exact leave-one-out error, and tests the model on rows set aside.
fn select(data: Dataset<f64, f64, Ix1>) -> Result<(), Box<dyn std::error::Error>> {
    let (train, test) = data.split_with_ratio(0.8);
    let pipeline = Pipeline::new(Loo::default(), Greedy::new(5), Rls::default()).preprocess(Standardize::default());
    let fitted = pipeline.fit(&train)?;
    println!("{}", fitted.selected().join(", "));
    println!("test error {:.5}", fitted.predict(&test).mean_squared_error(&test)?);
    Ok(())
}
// ANCHOR_END: select

/// Selects among 20 columns, of which two make the target.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x = Array2::from_shape_fn((120, 20), |(row, column)| ((row * (17 + 2 * column) + column) % 101) as f64 / 100.0);
    let y = Array1::from_shape_fn(120, |row| 3.0 * x[[row, 4]] - 2.0 * x[[row, 7]] + 0.05 * (row % 7) as f64);
    let names = (0..20).map(|column| format!("x{column}")).collect();
    select(Dataset::new(x, y).with_feature_names(names))
}
