//! Which columns come back when the selection is repeated.

use super::columns::Section;
use super::number::{count, counted, short, significant};
use super::source::RecordView;
use super::table::{Column, HtmlTable};
use crate::record::{Frequency, MadeColumns};
use std::collections::{HashMap, HashSet};

/// Bounds on the share of columns that are there by chance, for which columns are counted.
const RATES: [f64; 2] = [0.1, 0.2];
/// Columns of which the frequencies are shown.
const FREQUENT: usize = 25;

/// How often columns come back when the selection is repeated.
pub fn frequencies(source: &RecordView<'_>) -> Option<Section> {
    let (nested, stability) = (&source.record.nested, &source.record.stability);
    let by_source = [nested.as_ref().map(|n| &n.by_source[..]), stability.as_ref().map(|s| &s.by_source[..])];
    let made = source.record.data.made.iter().flat_map(|made| &made.of);
    let selected: HashSet<String> = source.selected().into_iter().map(|index| source.name(index)).collect();
    let of_selected = |made: &MadeColumns| made.columns.iter().any(|&index| selected.contains(&source.name(index)));
    let sources = source.record.data.made.iter().filter(|made| of_selected(made)).flat_map(|made| made.of.clone());
    let sources: HashSet<String> = sources.chain(selected.iter().cloned()).collect();
    let heads = ("Column of the data", "Frequencies of columns of the data", "“by_source”");
    let (mut table, mut note) = match made.count() {
        0 => (String::new(), String::new()),
        _ => shares(heads, by_source, &sources),
    };
    let lists = [nested.as_ref().map(|n| &n.frequency[..]), stability.as_ref().map(|s| &s.frequency[..])];
    let (of_columns, more) = shares(("Column", "Selection frequencies", "“frequency”"), lists, &selected);
    table += &of_columns;
    note = format!(
        "Chosen columns are marked. Columns that come back are there for a reason; those that come once may be chance.{note}{more}"
    );
    let heading = "Which columns come back".into();
    (!table.is_empty()).then(|| Section { id: "frequencies", heading, lead: lead(source), table, note })
}

/// A table of how often names come back in outer folds and in halves, and what to say of those that are cut.
fn shares(
    (head, label, key): (&str, &str, &str),
    lists: [Option<&[Frequency]>; 2],
    chosen: &HashSet<String>,
) -> (String, String) {
    type Shares<'n> = (&'n str, [Option<f64>; 2]);
    let mut rows: Vec<Shares<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (k, list) in lists.iter().enumerate() {
        for frequency in list.unwrap_or_default() {
            let place = *places.entry(&frequency.name).or_insert_with(|| {
                rows.push((&frequency.name, [lists[0].map(|_| 0.0), lists[1].map(|_| 0.0)]));
                rows.len() - 1
            });
            rows[place].1[k] = Some(frequency.share);
        }
    }
    let sum = |shares: &[Option<f64>; 2]| shares[0].unwrap_or(0.0) + shares[1].unwrap_or(0.0);
    rows.sort_by(|a, b| sum(&b.1).total_cmp(&sum(&a.1)));
    let all = rows.len();
    rows.truncate(FREQUENT);
    let columns = vec![
        Column::name(head, |row: &Shares<'_>| row.0.to_owned()),
        Column::share("In outer folds", |row: &Shares<'_>| row.1[0]),
        Column::share("In halves", |row: &Shares<'_>| row.1[1]),
    ];
    let table = HtmlTable::of(label, key, columns, &rows, |row: &Shares<'_>| chosen.contains(row.0)).html();
    let more = match all > FREQUENT {
        true => format!(" … and {} more, see {key} in selection.json.", count((all - FREQUENT) as u64)),
        false => String::new(),
    };
    (table, more)
}

fn lead(source: &RecordView<'_>) -> String {
    let mut out = Vec::new();
    if let Some(nested) = &source.record.nested {
        let alike = nested.jaccard.map(|j| {
            format!(
                ": on average, of the columns that either of two folds selected both have {} %",
                significant(100.0 * j, 2)
            )
        });
        let folds = counted(nested.per_fold.len() as u64, "outer fold");
        out.push(format!("{folds} selected anew{}.", alike.unwrap_or_default()));
    }
    if let Some(stability) = &source.record.stability {
        let pairs = counted(stability.pairs as u64, "pair");
        let made = stability.splits.as_ref().map_or_else(String::new, |splits| format!(" ({splits})"));
        out.push(format!(
            "{pairs} of complementary halves of the rows{made} selected {} columns on average.",
            short(stability.size)
        ));
        for rate in RATES {
            let stable = stability.columns.iter().filter(|column| column.q <= rate).count();
            if stable > 0 {
                out.push(format!(
                    "By stability paths integrated over sizes 1 to {} (IPSS), {} {} selected with at most {} % expected to be there by chance.",
                    stability.sizes,
                    counted(stable as u64, "column"),
                    if stable == 1 { "is" } else { "are" },
                    significant(100.0 * rate, 3),
                ));
            }
        }
    }
    out.join(" ")
}
