//! Settings that a run found for reading its files.

use vaglio_pipeline::pipeline::{ColumnType, DataSpec, DateOrder, ReadSpec, SavedReadOptions};
use vaglio_tables::read::{ColumnSurvey, DAY_FIRST, InferredType, MONTH_FIRST, Notation, Survey};

/// Settings for reading further files alike, with the decimal mark and date order that were found.
pub(super) fn reading(spec: &DataSpec, settled: &ReadSpec, survey: &Survey) -> SavedReadOptions {
    let noted = |note: &str| survey.columns.iter().any(|column| column.note.as_deref() == Some(note));
    let dates = match spec.read.dates {
        DateOrder::Auto if noted(DAY_FIRST) && !noted(MONTH_FIRST) => DateOrder::DayFirst,
        DateOrder::Auto if noted(MONTH_FIRST) && !noted(DAY_FIRST) => DateOrder::MonthFirst,
        known => known,
    };
    let kind = |column: &ColumnSurvey| match column.taken {
        InferredType::Date => Some(ColumnType::Date),
        _ if column.levels > 0 => Some(ColumnType::Class),
        _ => None,
    };
    let found = survey.columns.iter().filter_map(|column| Some((column.name.clone(), kind(column)?)));
    let known = |column: &ColumnSurvey| Some((column.name.clone(), column.notation?));
    let notations: Option<Vec<(String, Notation)>> = survey.columns.iter().map(known).collect();
    let is_special = |(_, notation): &(String, Notation)| *notation != Notation::default();
    let notations = notations.map(|all| all.into_iter().filter(is_special).collect());
    SavedReadOptions {
        notations,
        read: ReadSpec { decimal: settled.decimal, first_index: settled.first_index, dates, ..spec.read.clone() },
        types: found.collect(),
    }
}
