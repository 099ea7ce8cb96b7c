//! A criterion of your own, by its definition alone, under the greedy search.
//!
//! `cargo run -p vaglio-examples own_criterion`

use linfa::prelude::*;
use vaglio::{
    Selector,
    learners::Rls,
    search::{Choose, Greedy},
};

// ANCHOR: definition
use vaglio_core::{Criterion, Design, Feature, Result, Score, part};

/// 1 − the mean squared correlation of the columns with the first target.
#[part(Criterion, "relevance", summary = "how strongly each column alone follows the target")]
pub struct Relevance {}

impl Criterion for Relevance {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let y = design.targets().row(0).to_vec();
        let w = design.weights().map_or(vec![1.0; y.len()], <[f64]>::to_vec);
        let strengths = subset.iter().map(|&f| squared_correlation(&design.column(f).values(), &y, &w));
        Ok(Score::new(1.0 - strengths.sum::<f64>() / subset.len().max(1) as f64))
    }
}

fn squared_correlation(x: &[f64], y: &[f64], w: &[f64]) -> f64 {
    let mean = |f: &dyn Fn(usize) -> f64| (0..w.len()).map(|i| w[i] * f(i)).sum::<f64>() / w.iter().sum::<f64>();
    let (x_mean, y_mean) = (mean(&|i| x[i]), mean(&|i| y[i]));
    let product = mean(&|i| (x[i] - x_mean).powi(2)) * mean(&|i| (y[i] - y_mean).powi(2));
    if product > 0.0 { mean(&|i| (x[i] - x_mean) * (y[i] - y_mean)).powi(2) / product } else { 0.0 }
}
// ANCHOR_END: definition

/// Selects three columns by the criterion above and trains ridge regression on them.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dataset = vaglio_examples::diabetes()?;
    // ANCHOR: use
    let search = Greedy::new(3).choose(Choose::Last);
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
    fn it_keeps_the_laws() -> Result<(), vaglio_testkit::LawViolation> {
        vaglio_testkit::check_criterion_on_standard_data(&Relevance::default(), 1e-9)
    }
    // ANCHOR_END: laws
}
