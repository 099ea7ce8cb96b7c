//! A criterion of your own with an evaluator, which computes once what every subset needs.
//!
//! `cargo run -p vaglio-examples own_evaluator`

use linfa::prelude::*;
use vaglio::{
    Selector,
    learners::Rls,
    search::{Choose, Greedy},
};

// ANCHOR: definition
use vaglio_core::{Result, prelude::*, standardize_column, standardize_outputs, sum_of_products};

/// 1 − the mean strength of the columns.
#[part(Criterion, "strength", summary = "how strongly each column alone follows the targets")]
pub struct Strength {}

impl Criterion for Strength {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        Ok(score(subset, strength(design)))
    }

    fn plan<'d>(&'d self, design: &'d Design, extent: &SearchExtent) -> Plan<'d> {
        let (rows, columns) = (design.planned_rows() as f64, design.features() as f64);
        let estimate = Estimate {
            engine: "strengths",
            reason: "the strength of each column is kept".into(),
            flops: 10.0 * rows * columns + extent.trials * extent.largest as f64,
            bytes: 8.0 * columns,
        };
        let start = move || Ok(Strengths((0..design.features()).map(strength(design)).collect()));
        Plan::by_engine(estimate, start)
    }
}

/// The strength of each column.
struct Strengths(Vec<f64>);

impl Evaluator for Strengths {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        Ok(score(subset, |feature| self.0[feature]))
    }
}

/// Function of a column: the sum of its squared correlations with the targets.
fn strength(design: &Design) -> impl Fn(Feature) -> f64 {
    let targets = standardize_outputs(design);
    move |feature| {
        let column = standardize_column(design, feature);
        targets.iter().map(|target| sum_of_products(&column, target).powi(2)).sum()
    }
}

fn score(subset: &[Feature], strength: impl Fn(Feature) -> f64) -> Score {
    let sum: f64 = subset.iter().map(|&feature| strength(feature)).sum();
    Score::new(1.0 - sum / subset.len().max(1) as f64)
}
// ANCHOR_END: definition

/// Selects three columns by the criterion above.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dataset = vaglio_examples::diabetes()?;
    let search = Greedy::new(3).choose(Choose::Last);
    let fitted = Selector::params(Strength::default(), search, Rls::default()).fit(&dataset)?;
    assert_eq!(fitted.selected(), ["bmi", "s5", "bp"]);
    assert_eq!(fitted.selection().map(|selection| &*selection.engine), Some("strengths"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Strength;

    #[test]
    fn it_keeps_the_laws() -> Result<(), vaglio_testkit::LawViolation> {
        vaglio_testkit::check_criterion_on_standard_data(&Strength::default(), 1e-9)
    }
}
