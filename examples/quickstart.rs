//! A first selection in Rust: which columns of a table predict its target?
//!
//! `cargo run -p vaglio-examples --example quickstart`

// ANCHOR: select
use linfa::prelude::*;
use vaglio::prelude::*;

/// Prints how well the best subset of each size does, and how well the chosen one predicts rows that were set aside.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 120 rows of 20 columns, of which two count; put your own here.
    let x = Array2::from_shape_fn((120, 20), |(row, column)| ((row * (17 + 2 * column) + column) % 101) as f64 / 100.0);
    let y = Array1::from_shape_fn(120, |row| 3.0 * x[[row, 4]] - 2.0 * x[[row, 7]] + 0.05 * (row % 7) as f64);
    let names = (0..20).map(|column| format!("x{column}")).collect();
    let (train, test) = Dataset::new(x, y).with_feature_names(names).split_with_ratio(0.8);

    let learner = Rls::new(Lambda::grid(1e-3, 1e3, 13));
    let pipeline = Pipeline::new(Loo::default(), Greedy::new(5), learner).preprocess(Standardize::default());
    let fitted = pipeline.fit(&train)?;

    for entry in fitted.entries() {
        println!("{} columns: leave-one-out error {:.5}", entry.subset.len(), entry.score.loss);
    }
    println!("{} are taken", fitted.selected().join(" and "));
    println!("test error {:.5}", fitted.predict(&test).mean_squared_error(&test)?);
    fitted.save(std::env::temp_dir().join("model.json"))?;
    Ok(())
}
// ANCHOR_END: select
