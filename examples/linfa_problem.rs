//! Counts in place of an array, and settings that are tuned.
//!
//! `cargo run -p vaglio-examples linfa_problem`

use linfa::prelude::*;
use vaglio::prelude::*;

// ANCHOR: counts
use vaglio::core::{Columns, Problem};

/// The columns of a sparse matrix, at a byte a cell.
fn counted(rows: usize, indptr: &[usize], indices: &[usize], data: &[u8]) -> Columns {
    let mut columns = Columns::new(rows);
    for ends in indptr.windows(2) {
        let mut column = vec![0u8; rows];
        (ends[0]..ends[1]).for_each(|at| column[indices[at]] = data[at]);
        columns.push(column);
    }
    columns
}

/// Selects the words that predict the stars of a review.
fn words() -> Result<FittedPipeline<f64, Ix1>, FitError> {
    let (indptr, indices) = ([0, 3, 5, 8], [0, 2, 4, 1, 3, 2, 4, 5]);
    let columns = counted(6, &indptr, &indices, &[1, 2, 3, 1, 1, 4, 2, 7]);
    let names = ["good", "so", "bad"].map(String::from).to_vec();
    let stars = ndarray::array![[1.0, 0.1, 2.1, 0.0, 2.9, 0.0]];
    let problem = Problem::new(columns, names, stars, vec!["stars".into()], Task::Regression)?;
    Pipeline::new(Loo::default(), Greedy::new(1), Rls::new(0.1)).fit_problem(&problem)
}
// ANCHOR_END: counts

/// Fits counts, and a learner whose settings are tuned.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    assert_eq!(words()?.selected(), ["good"]);
    let dataset = vaglio_examples::diabetes()?;
    // ANCHOR: tune
    let tune = Tune::new(20).log("learner.lambda", 0.01..=1000.0).particle_swarm();
    let pipeline = Pipeline::new(Loo::default(), Greedy::new(5), Rls::new(1.0)).preprocess(Standardize::default());
    let fitted = pipeline.tune(tune).fit(&dataset)?;
    // ANCHOR_END: tune
    println!("lambda {:?}", fitted.lambda());
    assert!(fitted.lambda().is_some_and(|lambda| (0.01..=1000.0).contains(&lambda) && lambda != 1.0));
    Ok(())
}
