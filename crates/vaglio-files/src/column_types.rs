//! Inferred types of the training file's columns, and checks of columns that look wrong.

use super::roles::Roles;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use vaglio_core::numerals::holds;
use vaglio_core::{Cells, Error, Result, Table};
use vaglio_pipeline::pipeline::ColumnType;
use vaglio_report::record::ColumnRun;
use vaglio_tables::quoted;
use vaglio_tables::read::{BEYOND_DOUBLES, ColumnProfile, Hint, InferredType, LEADING_ZEROS, TableProfile, date_span};

/// Type hints before reading, from the settings and from the roles of labels and targets.
pub(super) fn hints(roles: &Roles<'_>) -> HashMap<String, Hint> {
    let spec = roles.spec;
    let test_rows = spec.test_rows.as_ref().map(|test| test.column.as_str());
    let labels = [spec.groups.as_deref(), spec.series.as_deref(), roles.assigned_by(), test_rows];
    let labels = labels.into_iter().flatten().map(|name| (name.to_owned(), Hint::Label));
    let weights = spec.weights.iter().map(|name| (name.clone(), Hint::Auto));
    // Time labels such as `01`, `02` are numbers.
    let time = spec.time.iter().map(|name| (name.clone(), Hint::Target));
    let targets = spec.target.names().iter().map(|name| (name.clone(), Hint::Target));
    let typed = spec.types.iter().map(|(name, kind)| (name.clone(), hint(*kind)));
    let filters = spec.filters().map(|(_, filter)| (filter.column.clone(), Hint::Auto));
    filters.chain(weights).chain(time).chain(labels).chain(targets).chain(typed).collect()
}

/// Like [`hints`], for further rows with the columns of a table that was read: inferred types are fixed.
pub(super) fn hints_like(roles: &Roles<'_>, profile: &TableProfile) -> HashMap<String, Hint> {
    let mut hints = hints(roles);
    for column in &profile.columns {
        let known = hints.entry(column.name.clone()).or_default();
        if *known == Hint::Auto && column.taken != InferredType::Empty {
            *known = ColumnType::from_profile(column).map_or(Hint::Number, hint);
        }
    }
    hints
}

/// Removes columns without any value, and rejects text features that are not declared as classes and numeric-looking
/// targets.
///
/// # Errors
/// [`Error::Setting`] with the column, its inferred type and a remedy.
pub(super) fn check(roles: &Roles<'_>, table: &mut Table, profile: &TableProfile) -> Result<()> {
    let spec = roles.spec;
    let is_judged = |taken| matches!(taken, InferredType::Empty | InferredType::Text | InferredType::Identifier);
    let is_beyond = |column: &ColumnProfile| column.note.as_deref() == Some(BEYOND_DOUBLES);
    for column in profile.columns.iter().filter(|column| is_judged(column.taken) || is_beyond(column)) {
        let name = &column.name;
        if table.get(name).is_none() || spec.types.contains_key(name) || roles.is_row_role(name) {
            continue;
        }
        let is_target = spec.target.names().contains(name);
        if is_beyond(column) {
            let are_classes = spec.task.is_some() || spec.positive.is_some() || column.levels == 2;
            if let Some(cells) = table.get(name).filter(|_| !is_target || !are_classes) {
                return Err(beyond(name, cells, |row| profile.place(table.origin(row)), is_target));
            }
        } else if column.taken == InferredType::Empty {
            if !is_target {
                table.take(name);
            }
        } else if column.levels > 0 && is_target {
            if spec.task.is_none() {
                let message = format!(
                    "`{name}` holds text of {} levels in {} rows, too many to be taken for classes; correct its cells, or \
                     set data.task: multiclass",
                    column.levels,
                    table.rows()
                );
                return Err(Error::setting("data.target", message));
            }
        } else if column.levels > 0 {
            let looks = match column.taken {
                InferredType::Identifier => "another text in every row, as identifiers do",
                _ => "text of too many levels to be a class",
            };
            let as_number = match column.note.as_deref() {
                Some(LEADING_ZEROS) => ", or number, which drops the zeros it begins with",
                _ => "",
            };
            // Text of a file with declared types was not inspected.
            let is_date = |cells: &Cells| {
                let first = (0..cells.len()).find(|&row| !cells.is_missing(row));
                first.is_some_and(|row| date_span(&cells.label(row), spec.read.dates).is_some())
            };
            let as_date = if table.get(name).is_some_and(is_date) { ", or date" } else { "" };
            let message = format!(
                "the column `{name}` holds {looks} ({} levels in {} rows); add it to data.exclude, or set data.types: \
                 {{{}: class}} if each level is to be a column{as_date}{as_number}",
                column.levels,
                table.rows(),
                quoted(name)
            );
            return Err(Error::setting("data.types", message));
        }
    }
    Ok(())
}

/// Error for a numeric column with a value that no double represents.
pub(super) fn beyond<'s>(
    name: &str,
    cells: &Cells,
    place: impl Fn(usize) -> (Option<&'s PathBuf>, usize),
    is_target: bool,
) -> Error {
    let is_held = |text: &str| text.parse().is_ok_and(|value| holds(text, value));
    let row = (0..cells.len()).find(|&row| !is_held(&cells.label(row))).unwrap_or(0);
    let (file, at) = place(row);
    let typed = quoted(name);
    let remedy = match is_target {
        true => format!("set data.types: {{{typed}: class}} if its values are classes"),
        false => format!(
            "if it is an identifier, add it to data.exclude, from where groups, series and rows may still name it; set data.types: \
             {{{typed}: class}} if each value is to be a column"
        ),
    };
    let message = format!(
        "row {}, column `{name}`: a double cannot hold {} exactly; {remedy}, or {{{typed}: number}} for the next double",
        at + 1,
        cells.label(row)
    );
    Error::unreadable(file.cloned().unwrap_or_default(), message)
}

/// Inferred use of every column; neighbors with the same use share an entry.
pub(super) fn taken(roles: &Roles<'_>, profile: &TableProfile, header: &[String]) -> Vec<ColumnRun> {
    let (spec, aside, row_roles) = (roles.spec, &profile.aside, roles.row_roles());
    let alone: HashSet<&str> = roles.for_filters_alone(aside).collect();
    let is_used = |column: &&ColumnProfile| {
        spec.types.get(&column.name) != Some(&ColumnType::Drop) && !alone.contains(column.name.as_str())
    };
    let used = profile.columns.iter().filter(is_used);
    let used: HashMap<&str, &ColumnProfile> = used.map(|column| (column.name.as_str(), column)).collect();
    let mut all: Vec<ColumnRun> = Vec::new();
    for name in header {
        let why = aside.iter().find(|(aside, _)| aside == name).map(|(_, why)| (*why).to_owned());
        let of_rows = row_roles.iter().copied().find(|(_, of_rows)| of_rows == name);
        let found = used.get(name.as_str()).copied();
        let role = match found {
            Some(_) if spec.target.names().contains(name) => Some("target"),
            Some(_) if let Some((field, _)) = of_rows => Some(field.rsplit('.').next().unwrap_or(field)),
            Some(found) if found.taken != InferredType::Empty => None,
            _ => Some("left out"),
        };
        let role = role.map(|role| if matches!(role, "assignment" | "column") { "folds" } else { role });
        let next = ColumnRun {
            name: name.clone(),
            to: None,
            columns: 1,
            taken: found.map(|found| found.taken),
            role: role.map(str::to_owned),
            missing: found.map_or(0, |found| found.missing),
            levels: found.map_or(0, |found| found.levels),
            note: found.and_then(|found| found.note.clone()).or(why),
        };
        match all.last_mut() {
            Some(last) if is_alike(last, &next) => {
                (last.to, last.columns) = (Some(next.name), last.columns + 1);
                last.missing = last.missing.max(next.missing);
            }
            _ => all.push(next),
        }
    }
    all
}

fn is_alike(a: &ColumnRun, b: &ColumnRun) -> bool {
    let alone = |columns: &ColumnRun| columns.role.as_deref().is_some_and(|role| role != "left out");
    !alone(a)
        && a.taken == b.taken
        && a.role == b.role
        && a.levels == b.levels
        && a.note == b.note
        && (a.missing == 0) == (b.missing == 0)
}

/// The hint for a declared type.
pub(super) fn hint(kind: ColumnType) -> Hint {
    match kind {
        ColumnType::Number => Hint::Number,
        ColumnType::Class => Hint::Class,
        ColumnType::Text | ColumnType::Drop => Hint::Text,
        ColumnType::Date => Hint::Date,
    }
}
