//! Diagnostics of columns: score alone, rank at the steps of the search, correlation, weights over folds.

use super::PerOutput;
use crate::infinity;
use serde::{Deserialize, Serialize};
use vaglio_core::Feature;

/// The weights of a chosen column in the models of the outer folds that chose it.
///
/// They say how the weight moves when the selection is repeated on other rows. They are no confidence interval and no test: the
/// folds share most of their rows, and a fold that left the column out has no weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightSpread {
    /// Outer folds that chose the column, over all repeats.
    pub folds: usize,
    /// The lowest weight among them, of each output.
    pub low: PerOutput,
    /// The highest.
    pub high: PerOutput,
    /// The lowest weight for one unit of the column as it was read, where `original_weight` is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_low: Option<PerOutput>,
    /// The highest of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_high: Option<PerOutput>,
    /// Whether weights of one output, that of the result among them, have both signs.
    pub changes_sign: bool,
}

/// A column that was not chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// The score of the column alone.
    #[serde(
        default,
        serialize_with = "infinity::optional::serialize",
        deserialize_with = "infinity::where_computed",
        skip_serializing_if = "Option::is_none"
    )]
    pub alone: Option<f64>,
    /// Rank by that among all candidates, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_alone: Option<usize>,
    /// Where it came nearest to being chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestStep>,
    /// The share of its variance that least squares on the chosen columns explain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<f64>,
    /// The chosen column with which it correlates most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_alike: Option<SimilarColumn>,
    /// The folds in whose training rows it is constant.
    #[serde(default, skip_serializing_if = "ConstantIn::is_empty")]
    pub constant_in: ConstantIn,
    /// The share of training rows in which it, or a column that it is made of, is missing.
    pub missing: f64,
}

/// Where a column came nearest to being chosen.
///
/// Step k tries it beside the first k − 1 chosen columns, in their order of entry; the step after the last is that of the whole
/// result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NearestStep {
    /// The step at which its rank was lowest, the first of equals, from 1.
    pub step: usize,
    /// Rank there by the score, among the candidates that were not chosen before, from 1.
    pub rank: usize,
    /// By how much its score was above that of the column that was chosen there, or after the last step above that of the
    /// result; below where it is negative.
    pub above: f64,
}

/// A chosen column like one that was not chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimilarColumn {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Their correlation over the training rows.
    pub correlation: f64,
}

/// Folds in whose training rows a column is constant, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantIn {
    /// Folds of the first repeat of the cross-validated search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choose: Vec<usize>,
    /// Outer folds of the first repeat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<usize>,
}

impl ConstantIn {
    /// Whether it varies in every fold.
    pub fn is_empty(&self) -> bool {
        self.choose.is_empty() && self.nested.is_empty()
    }

    /// `constant in fold 3 of the search and in outer folds 1 and 2`; nothing where it varies in every fold.
    pub fn sentence(&self) -> Option<String> {
        let list = |folds: &[usize]| {
            let numbers: Vec<String> = folds.iter().map(usize::to_string).collect();
            match &numbers[..] {
                [one] => format!(" {one}"),
                [first @ .., last] => format!("s {} and {last}", first.join(", ")),
                [] => String::new(),
            }
        };
        let of_search = (!self.choose.is_empty()).then(|| format!("fold{} of the search", list(&self.choose)));
        let outer = (!self.nested.is_empty()).then(|| format!("outer fold{}", list(&self.nested)));
        let all: Vec<String> = of_search.into_iter().chain(outer).collect();
        (!all.is_empty()).then(|| format!("constant in {}", all.join(" and in ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_listed() {
        let told = |choose: &[usize], nested: &[usize]| {
            ConstantIn { choose: choose.to_vec(), nested: nested.to_vec() }.sentence().unwrap_or_default()
        };
        assert_eq!(told(&[], &[]), "");
        assert_eq!(told(&[3], &[]), "constant in fold 3 of the search");
        assert_eq!(told(&[1, 2, 4], &[5]), "constant in folds 1, 2 and 4 of the search and in outer fold 5");
    }
}
