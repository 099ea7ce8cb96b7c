//! Subsets nearly as good as the best.

use serde::{Deserialize, Serialize};
use vaglio_core::{Feature, NearBest, shown};

/// The subsets whose scores are near the lowest, by the names of their columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlternativesRecord {
    /// The score up to which a subset is near.
    pub limit: f64,
    /// How many there are, as far as they were counted.
    pub count: u64,
    /// Whether every one of them was counted.
    pub is_whole: bool,
    /// Columns that are in all that were counted.
    pub in_all: Vec<String>,
    /// Columns that are in none of them.
    pub in_none: Vec<String>,
    /// The best of them, the lowest score first.
    pub subsets: Vec<AlternativeRecord>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlternativeRecord {
    /// Its columns, in the order of the candidates.
    pub columns: Vec<String>,
    /// Its score.
    pub score: f64,
}

/// Names that a sentence lists.
const LISTED: usize = 10;

impl AlternativesRecord {
    /// Of a search, with the names of features.
    pub fn new(near: &NearBest, name: impl Fn(Feature) -> String) -> Self {
        let NearBest { limit, count, is_whole, in_all, in_none, subsets } = near;
        let names = |features: &[Feature]| features.iter().map(|&feature| name(feature)).collect();
        let subset =
            |(features, score): &(Vec<Feature>, f64)| AlternativeRecord { columns: names(features), score: *score };
        AlternativesRecord {
            limit: *limit,
            count: *count,
            is_whole: *is_whole,
            in_all: names(in_all),
            in_none: names(in_none),
            subsets: subsets.iter().map(subset).collect(),
        }
    }

    /// How many there are, and what they share.
    pub fn sentence(&self) -> String {
        let AlternativesRecord { limit, count, is_whole, in_all, in_none, .. } = self;
        let least = if *is_whole { "" } else { "at least " };
        let listed = |names: &[String]| match names {
            [] => "no column".into(),
            few if few.len() <= LISTED => few.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", "),
            many => format!("{} columns", many.len()),
        };
        let (subsets, all) = if *count == 1 { ("subset scores", "it") } else { ("subsets score", "all of them") };
        format!("{least}{count} {subsets} {limit:.6} or less: in {all} {}; in none {}", listed(in_all), listed(in_none))
    }
}
