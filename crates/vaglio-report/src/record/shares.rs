//! The share of each chosen column in what the loss falls by.

use crate::infinity;
use serde::{Deserialize, Serialize};
use vaglio_core::{Feature, clip, short, shown};

/// Shapley values of the chosen columns in the criterion's score: they add up to what it falls by from no column to all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharesRecord {
    /// How many subsets of the chosen columns were scored, where all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subsets: Option<u64>,
    /// How many orders of the columns were drawn, where not all subsets were scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permutations: Option<usize>,
    /// The score without any column.
    #[serde(with = "infinity")]
    pub empty: f64,
    /// The score of all chosen columns.
    #[serde(with = "infinity")]
    pub all: f64,
    /// The folds without each of which shares were computed again; 0 where the columns cannot be scored there.
    pub folds: usize,
    /// The chosen columns, in order of entry.
    pub columns: Vec<ShareRecord>,
}

/// Shapley value of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Fall of the score when it enters, as a mean over all orders of the columns.
    pub share: f64,
    /// The value as a part of the whole fall, if there is one.
    pub part: Option<f64>,
    /// The standard error of that mean, where orders were drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// The share on the rows without each fold; 0 where the column is constant there.
    pub without_fold: Vec<f64>,
    /// The standard error of the share by the folds left out in turn (the jackknife).
    pub fold_error: Option<f64>,
}

/// Columns that a sentence lists.
const LISTED: usize = 5;

impl SharesRecord {
    /// The columns by their shares, the largest first, of equals the first to enter.
    pub fn ranked(&self) -> Vec<&ShareRecord> {
        let mut ranked: Vec<&ShareRecord> = self.columns.iter().collect();
        ranked.sort_by(|a, b| b.share.total_cmp(&a.share));
        ranked
    }

    /// How they were computed: `all 64 subsets`.
    pub fn method(&self) -> String {
        match (self.subsets, self.permutations) {
            (Some(subsets), _) => format!("all {subsets} subsets"),
            (None, drawn) => format!("{} drawn orders", drawn.unwrap_or(0)),
        }
    }

    /// The largest of them.
    pub fn sentence(&self) -> String {
        let of = |column: &&ShareRecord| {
            let part = column.part.map_or_else(|| short(column.share), |part| format!("{:.0} %", 100.0 * part));
            format!("{} {part}", clip(&shown(&column.name), 24))
        };
        let listed: Vec<String> = self.ranked().iter().take(LISTED).map(of).collect();
        let more = match self.columns.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (from, to) = (short(self.empty), short(self.all));
        format!("shares of the fall of the score from {from} to {to} ({}): {}{more}", self.method(), listed.join(", "))
    }
}
