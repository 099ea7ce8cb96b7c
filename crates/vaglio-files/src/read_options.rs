//! Settings that a run found for reading its files.

use vaglio_pipeline::pipeline::{ColumnType, DataSpec, DateOrder, ReadSpec, SavedReadOptions};
use vaglio_tables::read::{ColumnProfile, DAY_FIRST, MONTH_FIRST, Notation, TableProfile};

/// Settings for reading further files alike, with the decimal mark and date order that were found.
pub(super) fn reading(spec: &DataSpec, settled: &ReadSpec, profile: &TableProfile) -> SavedReadOptions {
    let noted = |note: &str| profile.columns.iter().any(|column| column.note.as_deref() == Some(note));
    let dates = match spec.read.dates {
        DateOrder::Auto if noted(DAY_FIRST) && !noted(MONTH_FIRST) => DateOrder::DayFirst,
        DateOrder::Auto if noted(MONTH_FIRST) && !noted(DAY_FIRST) => DateOrder::MonthFirst,
        known => known,
    };
    let kind = |column: &ColumnProfile| Some((column.name.clone(), ColumnType::from_profile(column)?));
    let special = profile.columns.iter().filter(|column| column.notation != Notation::default());
    SavedReadOptions {
        notations: Some(special.map(|column| (column.name.clone(), column.notation)).collect()),
        read: ReadSpec { decimal: settled.decimal, first_index: settled.first_index, dates, ..spec.read.clone() },
        types: profile.columns.iter().filter_map(kind).collect(),
    }
}
