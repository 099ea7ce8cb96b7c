//! How other files with the columns of the training rows are read.

use crate::pipeline::{ColumnType, DataSpec, DateOrder, ReadSpec};
use crate::read::{ColumnSurvey, DAY_FIRST, MONTH_FIRST, Source, Survey, Taken};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How files are read whose rows are to be predicted: as the training rows were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// How text files are read.
    pub read: ReadSpec,
    /// What columns hold that are not numbers.
    pub types: BTreeMap<String, ColumnType>,
}

impl Reading {
    /// How other files are read alike: the mark before decimals and the order of dates are those that were found.
    pub(super) fn of(spec: &DataSpec, source: &Source, survey: &Survey) -> Self {
        let decimal = source.settled().decimal;
        let noted = |note: &str| survey.columns.iter().any(|column| column.note.as_deref() == Some(note));
        let dates = match spec.read.dates {
            DateOrder::Auto if noted(DAY_FIRST) => DateOrder::DayFirst,
            DateOrder::Auto if noted(MONTH_FIRST) => DateOrder::MonthFirst,
            known => known,
        };
        let kind = |column: &ColumnSurvey| match column.taken {
            Taken::Date => Some(ColumnType::Date),
            _ if column.levels > 0 => Some(ColumnType::Class),
            _ => None,
        };
        let found = survey.columns.iter().filter_map(|column| Some((column.name.clone(), kind(column)?)));
        Reading { read: ReadSpec { decimal, dates, ..spec.read.clone() }, types: found.collect() }
    }
}
