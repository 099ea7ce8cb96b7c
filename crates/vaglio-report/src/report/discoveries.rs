//! Which columns are no false discoveries.

use super::columns::Section;
use super::number::{count, counted, significant};
use super::source::RecordView;
use super::table::{Column, HtmlTable};
use crate::record::{ColumnVerdict, Verdict};
use std::collections::HashSet;

/// Columns that are listed at most.
const LISTED: usize = 60;

/// The verdicts on columns that are confirmed or tentative.
pub fn discoveries(source: &RecordView<'_>) -> Option<Section> {
    let fdr = source.record.fdr.as_ref()?;
    let mut rows = [fdr.of(Verdict::Confirmed), fdr.of(Verdict::Tentative)].concat();
    let all = rows.len();
    rows.truncate(LISTED);
    let chosen: HashSet<usize> = source.selected().into_iter().collect();
    let rate = fdr.rate;
    let why = move |column: &&ColumnVerdict| match (&column.rival, &column.same_as) {
        (_, Some(same)) => format!("is the same as {same}, which stands for both"),
        (Some(rival), _) => format!("the data do not tell it from {rival}"),
        _ if column.verdict == Verdict::Tentative => format!("is taken at a rate above {rate}"),
        _ => String::new(),
    };
    let columns = vec![
        Column::name("Column", |column: &&ColumnVerdict| column.name.clone()),
        Column::text("Verdict", |column: &&ColumnVerdict| column.verdict.word().into()),
        Column::short("q-value", |column: &&ColumnVerdict| column.q),
        Column::share("Votes", |column: &&ColumnVerdict| Some(column.votes)),
        Column::list("Why", why),
    ];
    let table = HtmlTable::of("Verdicts", "“fdr”", columns, &rows, |row| chosen.contains(&row.index)).html();
    let kind = if fdr.are_virtual { "virtual dummies" } else { "dummies" };
    let lead = format!(
        "{}. Of columns that are confirmed like this at most {} % are false on average; the others of {} are rejected.",
        fdr.sentence(),
        significant(100.0 * rate, 3),
        counted(fdr.columns.len() as u64, "column"),
    );
    let more = match all > LISTED {
        true => format!(" … and {} more, see “fdr” in selection.json.", count((all - LISTED) as u64)),
        false => String::new(),
    };
    let note = format!(
        "The q-value is the smallest rate at which a column is taken. {} experiments put {} {kind} beside the columns; votes are \
         the share of them in which the column entered before the dummies (T-Rex selector). Chosen columns are marked.{more}",
        fdr.experiments,
        count(fdr.dummies as u64),
    );
    Some(Section { id: "discoveries", heading: "Which columns are no chance".into(), lead, table, note })
}
