//! The tables of subsets that are as good, and of the share of each chosen column.

use super::columns::Section;
use super::number::{self, counted, short};
use super::source::{RecordView, finite};
use super::table::{Column, HtmlTable, bar};
use crate::record::{AlternativeRecord, ShareRecord};

/// Subsets whose table is open; that of more is folded away.
const OPEN: usize = 10;

/// The subsets that are as good as the chosen one, those of the fewest columns first, then the best.
pub fn alternatives(source: &RecordView<'_>) -> Option<Section> {
    let near = source.record.alternatives.as_ref()?;
    let mut rows: Vec<&AlternativeRecord> = near.smallest.iter().collect();
    rows.extend(
        near.subsets.iter().filter(|subset| !near.smallest.iter().any(|known| known.columns == subset.columns)),
    );
    let columns = vec![
        Column::count("Size", |of: &&AlternativeRecord| of.columns.len()),
        Column::list("Columns", |of: &&AlternativeRecord| match of.columns.len() {
            0 => "none".into(),
            _ => of.columns.join(", "),
        }),
        Column::number("Score", |of: &&AlternativeRecord| finite(of.score)),
        Column::number("Above the chosen one by", |of: &&AlternativeRecord| of.difference),
        Column::number("± its error", |of: &&AlternativeRecord| of.difference_error),
    ];
    let table = HtmlTable::of("As good", "“alternatives.subsets”", columns, &rows, |_| false);
    let table = if rows.len() > OPEN {
        table.folded(format!("{} as a table", counted(rows.len() as u64, "subset")))
    } else {
        table
    };
    let table = table.html();
    let note = match near.met {
        Some(_) => {
            "Scored again on all rows are the subsets after every step, those that the folds chose, and the chosen one without each column and with substitutes; others were not tried."
        }
        None => "",
    };
    let lead = super::labels::capital(&near.sentence()) + ".";
    Some(Section { id: "alternatives", heading: "Subsets as good".into(), lead, table, note: note.into() })
}

/// The share of each chosen column in what the score falls by.
pub fn shares(source: &RecordView<'_>) -> Option<Section> {
    let shares = source.record.shares.as_ref()?;
    let rows = shares.ranked();
    let most = rows.iter().map(|of| of.share.abs()).fold(0.0, f64::max);
    let ends = |of: &&ShareRecord, end: fn(f64, f64) -> f64| of.without_fold.iter().copied().reduce(end);
    let columns = vec![
        Column::name("Column", |of: &&ShareRecord| of.name.clone()),
        Column::html("Share", "share", move |of: &&ShareRecord| {
            let part = if most > 0.0 { of.share.max(0.0) / most } else { 0.0 };
            Some(bar(part, &number::html(Some(of.share))))
        }),
        Column::short("± of drawn orders", |of: &&ShareRecord| of.standard_error),
        Column::text("Part", |of: &&ShareRecord| {
            of.part.map_or_else(String::new, |part| format!("{:.1} %", 100.0 * part).replace('-', "−"))
        }),
        Column::short("± over folds", |of: &&ShareRecord| of.fold_error),
        Column::short("Least of the folds", move |of| ends(of, f64::min)),
        Column::short("Most of the folds", move |of| ends(of, f64::max)),
    ];
    let table = HtmlTable::of("Shares", "“shares.columns”", columns, &rows, |_| false).open_to(60).html();
    let lead = format!(
        "From no column to all chosen ones the score falls from {} to {}. The share of a column is what it falls by when the column enters, as a mean over all orders of the columns (Shapley values, by {}); shares add up to the whole.",
        short(shares.empty),
        short(shares.all),
        shares.how()
    );
    let mut note = String::from("Columns that say the same part what they say between them.");
    if source.record.pipeline.loss.is_none() {
        note.push_str(" The score of this criterion is no loss of predictions, and the shares are those of the score.");
    }
    if shares.folds > 0 {
        note.push_str(&format!(
            " Over folds: the same on the rows without each of {} folds, with the jackknife's standard error.",
            shares.folds
        ));
    }
    Some(Section { id: "shares", heading: "Share of each column".into(), lead, table, note })
}
