//! Leave-one-out on random walks of additions and removals, against plain retraining.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use vaglio::core::{Criterion, Loss};
use vaglio::criteria::Loo;
use vaglio_testkit::data::{self, Recipe};
use vaglio_testkit::{Broken, criterion};

const STEPS: usize = 500;

/// Every λ with and without an intercept; half of them by bounds, half by the full pass.
fn walks(recipe: &Recipe, tolerance: impl Fn(f64) -> f64, loss: Loss) -> Result<(), Broken> {
    for (k, lambda) in [1.0, 1e-3, 1e-6, 1e-9].into_iter().enumerate() {
        for intercept in [true, false] {
            let criterion = Loo { loss, full_pass: (k % 2 == 0) == intercept };
            let design = recipe.design(&[lambda], intercept);
            criterion::walk(&criterion, &design, STEPS, 7 + k as u64, tolerance(lambda))
                .map_err(|b| b.within(&format!("lambda {lambda:e}, intercept {intercept}")))?;
        }
    }
    Ok(())
}

fn plain(lambda: f64) -> f64 {
    if lambda <= 1e-6 { 1e-7 } else { 1e-9 }
}

#[test]
fn weights_and_a_duplicate() -> Result<(), Broken> {
    walks(&data::regression(24, 8, 51).weighted().duplicates(1), plain, Loss::Squared)
}

#[test]
fn collinear_columns() -> Result<(), Broken> {
    walks(&data::regression(24, 8, 52).collinear(1e-3), |_| 1e-6, Loss::Squared)
}

#[test]
fn several_outputs_and_bytes() -> Result<(), Broken> {
    walks(&data::regression(22, 7, 53).outputs(3).weighted().bytes(), plain, Loss::Absolute)
}

#[test]
fn more_columns_than_rows() -> Result<(), Broken> {
    walks(&data::regression(9, 14, 54), |_| 1e-6, Loss::Squared)
}

#[test]
fn a_grid_of_lambda() -> Result<(), Broken> {
    let design = data::regression(24, 8, 55).weighted().design(&[1e-6, 1e-2, 10.0], true);
    criterion::walk(&Loo::default() as &dyn Criterion, &design, STEPS, 3, 1e-7)
}
