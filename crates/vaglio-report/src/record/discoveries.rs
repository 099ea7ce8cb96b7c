//! Selection of columns with control of the false discovery rate.

use super::Record;
use crate::names::{clause, join_up_to};
use crate::page::{self, Section, TableBuilder};
use vaglio_core::{Feature, pluralize, record, setting};

/// Verdicts on the columns by random dummies (the T-Rex selector).
#[record]
pub struct FalseDiscoveries {
    /// Bound on the expected share of false discoveries among confirmed columns.
    pub rate: f64,
    /// Number of experiments, each with new dummies.
    pub experiments: usize,
    /// Number of dummies of an experiment.
    pub dummies: usize,
    /// Whether dummies are virtual: only their inner products were drawn, not their rows.
    pub are_virtual: bool,
    /// Every candidate column.
    pub columns: Vec<ColumnVerdict>,
}

/// Verdict on a column.
#[record]
pub struct ColumnVerdict {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Name.
    pub name: String,
    /// Verdict.
    pub verdict: Verdict,
    /// Q-value: smallest rate at which the column is taken; null above twice the requested rate.
    pub q: Option<f64>,
    /// Share of experiments in which the column entered before the dummies.
    pub votes: f64,
    /// Column that the data do not distinguish from this one, which is therefore not confirmed.
    #[optional]
    pub rival: Option<String>,
    /// Column that equals this one up to units and represents both.
    #[optional]
    pub same_as: Option<String>,
}

/// Whether a column is a discovery.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Q-value is at most the rate.
    Confirmed,
    /// Q-value is at most twice the rate, or a rival explains the same.
    Tentative,
    /// Neither.
    Rejected,
}

/// Largest number of listed verdicts.
const VERDICTS: usize = 60;
/// Largest number of columns named in a sentence.
pub(super) const NAMED: usize = 12;

impl FalseDiscoveries {
    /// Verdict on a candidate column in words: `confirmed (q 0.04)`.
    pub fn verdict_text(&self, index: Feature) -> Option<String> {
        let column = self.columns.iter().find(|column| column.index == index)?;
        let q = clause(" (q {})", column.q.map(|q| (1e4 * q).round() / 1e4));
        Some(format!("{}{q}", column.verdict.word()))
    }

    /// Columns with a verdict, in increasing order of q-value, then in decreasing order of votes.
    pub fn with_verdict(&self, verdict: Verdict) -> Vec<&ColumnVerdict> {
        let mut verdicts: Vec<&ColumnVerdict> =
            self.columns.iter().filter(|column| column.verdict == verdict).collect();
        let q = |column: &ColumnVerdict| column.q.unwrap_or(f64::INFINITY);
        verdicts.sort_by(|a, b| q(a).total_cmp(&q(b)).then(b.votes.total_cmp(&a.votes)));
        verdicts
    }

    /// Sentence with the confirmed and tentative columns.
    pub fn sentence(&self) -> String {
        let named = |verdict: Verdict| {
            let names: Vec<&String> = self.with_verdict(verdict).iter().map(|column| &column.name).collect();
            (names.len(), join_up_to(names, NAMED))
        };
        let ((sure, confirmed), (unsure, tentative)) = (named(Verdict::Confirmed), named(Verdict::Tentative));
        let is = |count: usize| if count == 1 { "is" } else { "are" };
        let rate = self.rate;
        let also = (unsure > 0).then(|| format!("{unsure} {} tentative ({tentative})", is(unsure)));
        let also = clause("; {}", also);
        if sure == 0 {
            return format!("No column is confirmed at a false discovery rate of {rate}{also}");
        }
        let columns = pluralize(sure, "column");
        format!("{columns} {} confirmed at a false discovery rate of {rate} ({confirmed}){also}", is(sure))
    }
}

/// Columns that are confirmed or tentative at a false discovery rate.
pub(crate) fn discoveries_section(record: &Record) -> Option<Section> {
    let fdr = record.fdr.as_ref()?;
    let rows = [fdr.with_verdict(Verdict::Confirmed), fdr.with_verdict(Verdict::Tentative)].concat();
    let why = |column: &&ColumnVerdict| match (&column.rival, &column.same_as) {
        (_, Some(same)) => format!("equals {same}, which represents both"),
        (Some(rival), _) => format!("the data do not tell it from {rival}"),
        _ if column.verdict == Verdict::Tentative => format!("is taken at a rate above {}", fdr.rate),
        _ => String::new(),
    };
    let lead = format!(
        "{}. On average at most {} % of the columns confirmed at this rate are false. The others of {} are rejected.",
        fdr.sentence(),
        page::significant(100.0 * fdr.rate, 3),
        pluralize(fdr.columns.len(), "column"),
    );
    let note = format!(
        "The q-value is the smallest rate at which a column is taken. Votes are the share of {} experiments in which it entered before {} {} (T-Rex selector).",
        fdr.experiments,
        page::count(fdr.dummies),
        if fdr.are_virtual { "virtual dummies" } else { "dummies" },
    );
    let table = TableBuilder::new("“fdr”", &rows)
        .name("Column", |column| &column.name)
        .text("Verdict", |column| column.verdict.word().to_owned())
        .number("q-value", |column| column.q)
        .share("Votes", |column| column.votes)
        .text("Why", why)
        .highlight(|row| record.is_chosen(row.index))
        .most(VERDICTS);
    Some(Section::new("False discoveries").text(lead).table(table).note(note))
}
