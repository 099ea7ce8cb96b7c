//! Drop-column importance: the score without each chosen column, and with others in its place.

use super::{Record, SelectedRecord};
use crate::page::{Section, TableBuilder, TableCell, finite, short, significant};
use vaglio_core::{Feature, join, pluralize, record, setting};

/// How much is computed of drop-column importance.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum DropColumnBudget {
    /// Results that take at most a quarter of the search's work; the rest is named as omitted.
    #[default]
    Auto,
    /// All results.
    All,
    /// No result.
    None,
}

/// Figures of chosen columns that were not computed; `vaglio explain` and `vaglio run --worth` compute them.
#[record]
#[derive(Eq, Default)]
pub struct WorthRecord {
    /// Chosen columns whose drop-column score was not computed.
    pub no_without: Vec<Feature>,
    /// Chosen columns whose substitutes were not tried.
    pub no_substitutes: Vec<Feature>,
}

impl WorthRecord {
    /// Sentence with the missing figures and how to compute them; `None` if there are none.
    pub fn sentence(&self) -> Option<String> {
        let parts = [("the score without", &self.no_without), ("substitutes of", &self.no_substitutes)];
        let parts = parts.into_iter().filter(|(_, columns)| !columns.is_empty());
        let parts = join(parts.map(|(what, of)| format!("{what} {}", pluralize(of.len(), "chosen column"))), " and ");
        (!parts.is_empty()).then(|| format!(
            "not computed, as it would take long compared with the search: {parts}; `vaglio explain` with the folder of this run computes it, \
             as does `vaglio run --worth`"
        ))
    }
}

/// Table of the importance of each chosen column: score alone, score without it, and substitutes.
pub(crate) fn drop_column_section(record: &Record) -> Option<Section> {
    let selected = &record.selected;
    let (empty, score) = (finite(record.empty_score), finite(record.score));
    let alone = move |column: &SelectedRecord| Some(empty? - column.alone.and_then(finite)?);
    let rise = move |column: &SelectedRecord| Some(column.without.and_then(finite)? - score?);
    let most = selected.iter().flat_map(|column| [alone(column), rise(column)]).flatten().fold(0.0, f64::max);
    let bar = move |value: f64| TableCell::number(value).bar(value / most);
    let table = TableBuilder::new("“selected”", selected)
        .name("Column", |column| &column.name)
        .cells("Score rises without it by", "share", |column| rise(column).map(bar))
        .cells("Alone it lowers the score by", "share", |column| alone(column).map(bar))
        .cells("Variance inflation", "text", |column| column.vif.map(inflation))
        .text("Substitutes (score)", |column| {
            let found = column.substitutes.iter().flatten();
            join(found.map(|s| format!("{} ({})", s.name, short(s.score))), ", ")
        });
    let any = |is_known: fn(&SelectedRecord) -> bool| selected.iter().any(is_known);
    let inflation_note = "Variance inflation is 1/(1 − R²) of the column on the other chosen ones; above 5 to 10 its weight is uncertain.";
    let note = if any(|column| column.vif.is_some()) { inflation_note } else { "" };
    let is_unknown = !any(|column| column.without.is_some()) && !selected.is_empty();
    let not_computed = record.worth.as_ref().and_then(WorthRecord::sentence);
    let not_computed = not_computed.or(is_unknown.then(|| "the score without each column was not computed".into()));
    let section = Section::new("What each chosen column is worth").table(table);
    Some(section.note(note).text(not_computed))
}

fn inflation(factor: f64) -> TableCell {
    TableCell::text(if factor.is_finite() { significant(factor, 3) } else { "∞".into() })
}
