//! Shapley values of the chosen columns.

use super::Record;
use crate::names::join_up_to;
use crate::page::{self, Section, TableBuilder, TableCell};
use vaglio_core::{Feature, clip, escape_controls, record, short};

/// Shapley values of the chosen columns. Their sum is the criterion's score without features minus that of all of them.
#[record]
pub struct SharesRecord {
    /// Number of subsets of the chosen columns, if all were scored.
    #[optional]
    pub subsets: Option<u64>,
    /// Number of random orders of the columns, if not all subsets were scored.
    #[optional]
    pub permutations: Option<usize>,
    /// Score without features.
    pub empty: f64,
    /// Score of all chosen columns.
    pub all: f64,
    /// The chosen columns, in order of entry.
    pub columns: Vec<ShareRecord>,
}

/// Shapley value of one column.
#[record]
pub struct ShareRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Shapley value: mean decrease of the score when the column enters, over all orders of the columns.
    pub share: f64,
    /// Shapley value as a fraction of the sum of all, if this is positive.
    pub part: Option<f64>,
    /// Standard error of the mean over random orders, if orders were drawn.
    #[optional]
    pub standard_error: Option<f64>,
}

/// Largest number of columns listed in a sentence.
const LISTED: usize = 5;

impl SharesRecord {
    /// Columns in decreasing order of their values; ties in order of entry.
    pub fn by_decreasing_value(&self) -> Vec<&ShareRecord> {
        let mut ranked: Vec<&ShareRecord> = self.columns.iter().collect();
        ranked.sort_by(|a, b| b.share.total_cmp(&a.share));
        ranked
    }

    /// Method of computation in words: `all 64 subsets`.
    pub fn method(&self) -> String {
        match (self.subsets, self.permutations) {
            (Some(subsets), _) => format!("all {subsets} subsets"),
            (None, drawn) => format!("{} random orders", drawn.unwrap_or(0)),
        }
    }

    /// Sentence with the largest values.
    pub fn sentence(&self) -> String {
        let text = |column: &&ShareRecord| {
            let part = column.part.map_or_else(|| short(column.share), page::whole_percent);
            format!("{} {part}", clip(&escape_controls(&column.name), 24))
        };
        format!(
            "Shapley values of the decrease of the score from {} to {} ({}): {}",
            short(self.empty),
            short(self.all),
            self.method(),
            join_up_to(self.by_decreasing_value().iter().map(text), LISTED)
        )
    }
}

/// The Shapley value of each chosen column.
pub(crate) fn shares_section(record: &Record) -> Option<Section> {
    let shares = record.shares.as_ref()?;
    let rows = shares.by_decreasing_value();
    let most = rows.iter().map(|row| row.share.abs()).fold(0.0, f64::max);
    let lead = format!(
        "The columns lower the score from {} to {}. The share of a column is its part of this decrease, as a mean over all orders of \
         entry (Shapley value, by {}).",
        page::short(shares.empty),
        page::short(shares.all),
        shares.method()
    );
    let no_loss = " The score of this criterion is no loss of predictions, and the shares are those of the score.";
    let no_loss = if record.pipeline.loss.is_none() { no_loss } else { "" };
    let table = TableBuilder::new("“shares.columns”", &rows)
        .name("Column", |row| &row.name)
        .cells("Share", "share", |row| TableCell::number(row.share).bar(row.share / most))
        .number("Standard error", |row| row.standard_error)
        .text("Part of the decrease", |row| row.part.map(|part| format!("{:.1} %", 100.0 * part).replace('-', "−")));
    let note = format!("Redundant columns divide what they have in common.{no_loss}");
    Some(Section::new("Share of each column").text(lead).table(table).note(note))
}
