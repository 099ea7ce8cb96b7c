//! Results of repeating the selection: outer folds, selection frequencies, false discoveries.

use super::number::{count, percent, short, significant};
use super::section::Section;
use super::table::TableBuilder;
use crate::record::names::listed;
use crate::record::{ColumnVerdict, Frequency, Record, Verdict};
use std::collections::HashSet;
use vaglio_core::pluralize;

/// Rates of false discoveries for which stable columns are counted.
const RATES: [f64; 2] = [0.1, 0.2];
/// Largest number of columns with listed frequencies.
const FREQUENT: usize = 25;
/// Largest number of listed verdicts.
const VERDICTS: usize = 60;

/// Table of the outer folds.
pub fn outer_folds(record: &Record) -> Option<Section> {
    let nested = record.nested.as_ref()?;
    let mut table = TableBuilder::new("Outer folds", "“nested.per_fold”", &nested.per_fold);
    if nested.repeats > 1 {
        table = table.count("Repeat", |fold| fold.repeat);
    }
    let table = table
        .count("Fold", |fold| fold.fold)
        .count("Rows", |fold| fold.rows)
        .number("Loss", |fold| fold.loss)
        .number("Without features", |fold| fold.empty_loss)
        .number("Cross-validated", |fold| fold.cross_validated)
        .number("Score", |fold| fold.score)
        .count("Size", |fold| fold.size)
        .number("λ", |fold| fold.lambda)
        .text("Columns", |fold| listed(&fold.selected, 12));
    Some(Section::new("folds", "Outer folds").table(table))
}

/// Selection frequencies of columns in outer folds and half-samples.
pub fn frequencies(record: &Record) -> Section {
    let selected: HashSet<String> = record.selected.iter().map(|column| record.column_name(column.index)).collect();
    let made = record.data.made.iter();
    let made = made.filter(|made| made.columns.iter().any(|&index| record.is_chosen(index)));
    let sources = made.flat_map(|made| made.of.clone());
    let sources: HashSet<String> = sources.chain(selected.iter().cloned()).collect();
    let nested = record.nested.as_ref().map(|of| ("In outer folds", &of.by_source, &of.frequency));
    let halves = record.stability.as_ref().map(|of| ("In halves", &of.by_source, &of.frequency));
    let tables = nested.into_iter().chain(halves).flat_map(|(head, by_source, by_column)| {
        [
            frequency_table("Column of the data", head, by_source, &sources),
            frequency_table("Column", head, by_column, &selected),
        ]
    });
    let section = Section::new("frequencies", "Which columns come back").text(repetitions(record));
    section.with(&tables.collect::<String>()).note("Chosen columns are marked.")
}

fn frequency_table(name: &str, head: &str, list: &[Frequency], chosen: &HashSet<String>) -> String {
    TableBuilder::new(head, "“frequency”", list)
        .name(name, |row| row.name.clone())
        .share(head, |row| row.share)
        .marked(|row| chosen.contains(&row.name))
        .most(FREQUENT)
        .html()
}

fn repetitions(record: &Record) -> String {
    let mut out = Vec::new();
    if let Some(nested) = &record.nested {
        let folds = pluralize(nested.per_fold.len(), "outer fold");
        let shared =
            nested.jaccard.map(|share| format!("; two folds share {} of their columns on average", percent(share)));
        out.push(format!("{folds} repeated the selection{}.", shared.unwrap_or_default()));
    }
    if let Some(stability) = &record.stability {
        let splits = stability.splits.as_ref().map_or_else(String::new, |splits| format!(" ({splits})"));
        let pairs = pluralize(stability.pairs, "pair");
        let size = short(stability.size);
        out.push(format!("{pairs} of complementary halves of the rows{splits} selected {size} columns on average."));
        for rate in RATES {
            let stable = stability.columns.iter().filter(|column| column.q <= rate).count();
            if stable > 0 {
                out.push(format!(
                    "By stability paths integrated over sizes 1 to {} (IPSS), {} with at most {} % expected false.",
                    stability.sizes,
                    if stable == 1 { "1 column is selected".into() } else { format!("{stable} columns are selected") },
                    significant(100.0 * rate, 3),
                ));
            }
        }
    }
    out.join(" ")
}

/// Columns that are confirmed or tentative at a false discovery rate.
pub fn discoveries(record: &Record) -> Option<Section> {
    let fdr = record.fdr.as_ref()?;
    let rows = [fdr.with_verdict(Verdict::Confirmed), fdr.with_verdict(Verdict::Tentative)].concat();
    let why = |column: &&ColumnVerdict| match (&column.rival, &column.same_as) {
        (_, Some(same)) => format!("equals {same}, which represents both"),
        (Some(rival), _) => format!("the data do not tell it from {rival}"),
        _ if column.verdict == Verdict::Tentative => format!("is taken at a rate above {}", fdr.rate),
        _ => String::new(),
    };
    let lead = format!(
        "{}. Of columns confirmed at this rate at most {} % are false on average; the others of {} are rejected.",
        fdr.sentence(),
        significant(100.0 * fdr.rate, 3),
        pluralize(fdr.columns.len(), "column"),
    );
    let note = format!(
        "The q-value is the smallest rate at which a column is taken. Votes are the share of {} experiments in which it entered before {} {} (T-Rex selector).",
        fdr.experiments,
        count(fdr.dummies),
        if fdr.are_virtual { "virtual dummies" } else { "dummies" },
    );
    let table = TableBuilder::new("Verdicts", "“fdr”", &rows)
        .name("Column", |column| column.name.clone())
        .text("Verdict", |column| column.verdict.word().to_owned())
        .number("q-value", |column| column.q)
        .share("Votes", |column| column.votes)
        .text("Why", why)
        .marked(|row| record.is_chosen(row.index))
        .most(VERDICTS);
    Some(Section::new("discoveries", "False discoveries").text(lead).table(table).note(note))
}
