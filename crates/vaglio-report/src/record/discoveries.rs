//! Which columns are no false discoveries.

use serde::{Deserialize, Serialize};
use vaglio_core::{Feature, counted};

/// Verdicts on the columns by random dummies (the T-Rex selector).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FalseDiscoveries {
    /// The share of false discoveries among confirmed columns, on average at most.
    pub rate: f64,
    /// Experiments, each with dummies of its own.
    pub experiments: usize,
    /// Dummies of an experiment.
    pub dummies: usize,
    /// Whether only what paths ask of dummies was drawn.
    pub are_virtual: bool,
    /// Columns that are confirmed.
    pub confirmed: usize,
    /// Columns that are tentative.
    pub tentative: usize,
    /// Every candidate column.
    pub columns: Vec<ColumnVerdict>,
}

/// Verdict on a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnVerdict {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Whether it is confirmed.
    pub verdict: Verdict,
    /// The smallest rate at which it is taken; null where that is more than twice the one that was asked for.
    pub q: Option<f64>,
    /// The share of experiments in which it entered before the dummies.
    pub votes: f64,
    /// The column from which the data do not tell it apart, which keeps it from being confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<String>,
    /// The column that it equals but for its units, which stands for both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
}

/// Whether a column is a discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Q-value is at most the rate.
    Confirmed,
    /// Q-value is at most twice the rate, or it is not told from a rival.
    Tentative,
    /// Neither.
    Rejected,
}

impl Verdict {
    /// Word.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Confirmed => "confirmed",
            Verdict::Tentative => "tentative",
            Verdict::Rejected => "rejected",
        }
    }
}

/// Columns that are named at most.
const NAMED: usize = 12;

impl FalseDiscoveries {
    /// Verdict on a candidate column in words: `confirmed (q 0.04)`.
    pub fn verdict_text(&self, index: Feature) -> Option<String> {
        let column = self.columns.iter().find(|column| column.index == index)?;
        let q = column.q.map(|q| format!(" (q {})", (1e4 * q).round() / 1e4));
        Some(format!("{}{}", column.verdict.word(), q.unwrap_or_default()))
    }

    /// Columns of a verdict, the smallest q-value first, then the most votes.
    pub fn with_verdict(&self, verdict: Verdict) -> Vec<&ColumnVerdict> {
        let mut of: Vec<&ColumnVerdict> = self.columns.iter().filter(|column| column.verdict == verdict).collect();
        let q = |column: &ColumnVerdict| column.q.unwrap_or(f64::INFINITY);
        of.sort_by(|a, b| q(a).total_cmp(&q(b)).then(b.votes.total_cmp(&a.votes)));
        of
    }

    /// The verdict on a column, by its index.
    pub fn verdict(&self, index: Feature) -> Option<&ColumnVerdict> {
        self.columns.iter().find(|column| column.index == index)
    }

    /// In words: how many are confirmed at the rate, and which; how many are tentative.
    pub fn sentence(&self) -> String {
        let names = |of: &[&ColumnVerdict]| {
            let shown: Vec<&str> = of.iter().take(NAMED).map(|column| column.name.as_str()).collect();
            let more = of.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            if of.is_empty() { String::new() } else { format!(" ({}{more})", shown.join(", ")) }
        };
        let count = |of: usize| counted(of, "column");
        let (confirmed, tentative) = (self.with_verdict(Verdict::Confirmed), self.with_verdict(Verdict::Tentative));
        let (sure, unsure) = (names(&confirmed), names(&tentative));
        let rate = self.rate;
        let of = if confirmed.is_empty() {
            "No column is".into()
        } else {
            format!("{} {}", count(confirmed.len()), if confirmed.len() == 1 { "is" } else { "are" })
        };
        let also = match tentative.len() {
            0 => String::new(),
            some => format!("; {} tentative{unsure}", if some == 1 { "1 is".into() } else { format!("{some} are") }),
        };
        format!("{of} confirmed at a false discovery rate of {rate}{sure}{also}")
    }
}
