//! A first selection in Rust: which columns of the diabetes data predict its progress?
//!
//! `cargo run -p vaglio-examples --example quickstart`

use linfa::prelude::*;
use vaglio::learners::{Lambda, Rls};
use vaglio::{Pipeline, criteria::Loo, maps::Standardize, search::Greedy};

/// Prints the order in which columns enter, and how well the chosen ones predict rows that were set aside.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (train, test) = vaglio_examples::diabetes()?.split_with_ratio(0.8);
    // ANCHOR: select
    let lambda = Lambda::grid(1e-3, 1e3, 13);
    let learner = Rls { lambda, ..Rls::default() };
    let pipeline = Pipeline::new(Loo::default(), Greedy::new(5), learner).preprocess(Standardize::default());
    let fitted = pipeline.fit(&train)?;

    for (name, step) in fitted.selected().iter().zip(&fitted.path().steps) {
        println!("{name:<4} leave-one-out error {:.1}", step.score.loss);
    }
    println!("test error {:.1}", fitted.predict(&test).mean_squared_error(&test)?);
    // ANCHOR_END: select
    assert_eq!(&fitted.selected()[..2], ["bmi", "s5"]);
    Ok(())
}
