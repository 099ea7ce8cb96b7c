//! A criterion of your own, by its definition alone, under the greedy search.
//!
//! `cargo run -p vaglio-examples --example own_criterion`

use linfa::prelude::*;
use vaglio::{Selector, learners::Rls, search::Greedy};

// ANCHOR: definition
use vaglio_core::{Criterion, Design, Feature, Result, Score, part};

/// 1 − the mean squared correlation of the columns with the first target.
#[part(Criterion, "relevance", summary = "how strongly each column alone follows the target")]
pub struct Relevance {}

impl Criterion for Relevance {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let target = design.targets().row(0).to_vec();
        let weight = |row: usize| design.weights().map_or(1.0, |weights| weights[row]);
        let strengths = subset.iter().map(|&f| correlation(&design.column(f).values(), &target, weight).powi(2));
        let mean = strengths.sum::<f64>() / subset.len().max(1) as f64;
        Ok(Score::of(1.0 - mean))
    }
}

fn correlation(x: &[f64], y: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let sum = |of: &dyn Fn(usize) -> f64| (0..x.len()).map(|row| weight(row) * of(row)).sum::<f64>();
    let (total, along_x, along_y) = (sum(&|_| 1.0), sum(&|row| x[row]), sum(&|row| y[row]));
    let (x, y) = (|row: usize| x[row] - along_x / total, |row: usize| y[row] - along_y / total);
    let scale = (sum(&|row| x(row) * x(row)) * sum(&|row| y(row) * y(row))).sqrt();
    if scale > 0.0 { sum(&|row| x(row) * y(row)) / scale } else { 0.0 }
}
// ANCHOR_END: definition

/// Selects three columns by the criterion above and trains ridge regression on them.
pub fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let dataset = vaglio_examples::diabetes()?;
    // ANCHOR: use
    let search = Greedy::new(3).choose(vaglio_core::Choose::Last);
    let fitted = Selector::params(Relevance::default(), search, Rls::default()).fit(&dataset)?;
    // ANCHOR_END: use
    println!("{}", fitted.selected().join(", "));
    assert_eq!(fitted.selected(), ["bmi", "s5", "bp"]);
    // It is known to pipeline files as well.
    assert!(vaglio_core::descriptions().iter().any(|d| d.kind == "relevance"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Relevance;

    // ANCHOR: laws
    #[test]
    fn it_keeps_the_laws() -> Result<(), vaglio_testkit::Broken> {
        vaglio_testkit::check_criterion_on_standard_data(&Relevance::default(), 1e-9)
    }
    // ANCHOR_END: laws
}
