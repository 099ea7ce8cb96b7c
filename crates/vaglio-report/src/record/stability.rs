//! Stability selection, and how often columns come back.

use super::{Frequency, MOST_REPETITIONS, Record, check_splits};
use crate::names::clause;
use crate::page::{self, Section, TableBuilder};
use std::collections::HashSet;
use vaglio_core::{Error, Feature, Part, Resampling, Result, pluralize, record, setting};

/// Rates of false discoveries for which stable columns are counted.
const RATES: [f64; 2] = [0.1, 0.2];
/// Largest number of columns with listed frequencies.
const FREQUENT: usize = 25;

/// Pairs of complementary half-samples.
#[setting]
#[derive(PartialEq)]
pub struct Pairs {
    /// Number of pairs.
    #[default(50)]
    #[schemars(extend("minimum" = 1, "maximum" = MOST_REPETITIONS))]
    pub pairs: usize,
    /// Splits whose held-out rows form blocks that half-samples keep whole. By default ten blocks of time if the
    /// criterion's splits are forward in time.
    #[optional]
    pub splits: Option<Part<dyn Resampling>>,
}

impl Pairs {
    /// Checks the number of pairs and the splits.
    ///
    /// # Errors
    /// [`Error::Setting`] with the path of the field.
    pub(super) fn check(&self) -> Result<()> {
        Error::unless_between("pairs", self.pairs, 1..=MOST_REPETITIONS)?;
        check_splits(self.splits.as_ref())
    }
}

/// Stability selection: selection frequencies on complementary half-samples.
#[record]
pub struct Stability {
    /// Number of pairs of half-samples.
    pub pairs: usize,
    /// Mean number of columns selected on a half-sample.
    pub size: f64,
    /// Share of half-samples that selected each column; columns that none selected are left out.
    pub frequency: Vec<Frequency>,
    /// Share of half-samples that selected a candidate made of each column of the data, if maps make candidates.
    #[optional]
    pub by_source: Vec<Frequency>,
    /// Largest size up to which stability paths are integrated, from 1.
    #[serde(default)]
    pub sizes: usize,
    /// Columns with a positive score, the highest first.
    #[serde(default)]
    pub columns: Vec<StableColumn>,
    /// Description of the units that are not split between halves, if they are neither rows nor groups.
    #[optional]
    pub splits: Option<String>,
}

/// Column with the score of its integrated stability path.
#[record]
pub struct StableColumn {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Mean over sizes of (2π − 1)³, or 0 for π below ½, where π is the share of half-samples that select the column.
    pub score: f64,
    /// Bound on the expected number of chance columns with at least this score.
    pub expected_false: f64,
    /// Q-value: lowest bound on the share of chance columns, over all thresholds at or below this score.
    pub q: f64,
}

/// Selection frequencies of columns in outer folds and half-samples.
pub(crate) fn frequencies_section(record: &Record) -> Option<Section> {
    let selected: HashSet<String> = record.selected.iter().map(|column| record.column_name(column.index)).collect();
    let made = record.data.made.iter();
    let made = made.filter(|made| made.columns.iter().any(|&index| record.is_chosen(index)));
    let sources = made.flat_map(|made| made.of.clone());
    let sources: HashSet<String> = sources.chain(selected.iter().cloned()).collect();
    let nested = record.nested.as_ref().map(|nested| ("In outer folds", &nested.by_source, &nested.frequency));
    let halves = record.stability.as_ref().map(|halves| ("In half-samples", &halves.by_source, &halves.frequency));
    let tables = nested.into_iter().chain(halves).flat_map(|(head, by_source, by_column)| {
        [
            frequency_table("Column of the data", head, by_source, &sources),
            frequency_table("Column", head, by_column, &selected),
        ]
    });
    let section = Section::new("Which columns come back").text(repetitions(record));
    Some(tables.fold(section, Section::table).note("Chosen columns are marked."))
}

fn frequency_table<'r>(
    name: &str,
    head: &str,
    list: &'r [Frequency],
    chosen: &HashSet<String>,
) -> TableBuilder<'r, Frequency> {
    TableBuilder::new("“frequency”", list)
        .name(name, |row| row.name.clone())
        .share(head, |row| row.share)
        .highlight(|row| chosen.contains(&row.name))
        .most(FREQUENT)
}

fn repetitions(record: &Record) -> String {
    let mut out = Vec::new();
    if let Some(nested) = &record.nested {
        let folds = pluralize(nested.per_fold.len(), "outer fold");
        let shared = nested.jaccard.map(page::percent);
        let shared = clause("; two folds share {} of their columns on average (Jaccard index)", shared);
        out.push(format!("{folds} repeated the selection{shared}."));
    }
    if let Some(stability) = &record.stability {
        let splits = clause(" ({})", stability.splits.as_ref());
        let pairs = pluralize(stability.pairs, "pair");
        let size = page::short(stability.size);
        out.push(format!(
            "On {pairs} of complementary halves of the rows{splits}, {size} columns were selected on average."
        ));
        for rate in RATES {
            let stable = stability.columns.iter().filter(|column| column.q <= rate).count();
            if stable > 0 {
                out.push(format!(
                    "By stability paths integrated over sizes 1 to {} (IPSS), {} with at most {} % expected false.",
                    stability.sizes,
                    if stable == 1 { "1 column is selected".into() } else { format!("{stable} columns are selected") },
                    page::significant(100.0 * rate, 3),
                ));
            }
        }
    }
    out.join(" ")
}
