//! Types of targets and their numeric coding.

use crate::labels::{place_of_label, same_label};
use ndarray::Array2;
use vaglio_core::numerals::numeral;
use vaglio_core::{Cells, Error, Result, Task};
use vaglio_pipeline::pipeline::{DataSpec, TaskKind};
use vaglio_tables::quoted;

/// Task of the targets, with class labels.
pub(super) fn task(spec: &DataSpec, targets: &[(String, Cells)]) -> Result<Task> {
    let Some((name, cells)) = targets.first() else { return Err(Error::setting("data.target", "it is missing")) };
    let text = targets.iter().find(|(_, cells)| cells.numbers().is_none());
    let wrong = |field: &str, message: String| Err(Error::setting(field, message));
    if targets.len() > 1 {
        if let Some((name, _)) = text {
            return wrong("data.target", format!("the column `{name}` holds text; several targets must be numbers"));
        }
        if spec.positive.is_some() || matches!(spec.task, Some(TaskKind::Binary | TaskKind::Multiclass)) {
            let message = "several target columns are for regression; give one column of classes";
            return wrong("data.target", message.into());
        }
        return Ok(Task::Regression);
    }
    let is_regression = match spec.task {
        Some(kind) => kind == TaskKind::Regression,
        None => {
            spec.positive.is_none() && cells.numbers().is_some_and(|numbers| !are_two_whole_numbers(&numbers.values()))
        }
    };
    // Regression needs no labels, of which there may be as many as rows.
    let labels = if is_regression { Vec::new() } else { labels(cells) };
    let kind = match spec.task {
        Some(kind) => kind,
        None if is_regression => TaskKind::Regression,
        None if spec.positive.is_none() && text.is_some() && labels.len() > 2 => TaskKind::Multiclass,
        None => TaskKind::Binary,
    };
    match kind {
        TaskKind::Regression => {
            if text.is_some() {
                return wrong("data.task", format!("it is regression and the target `{name}` holds text"));
            }
            Ok(Task::Regression)
        }
        TaskKind::Binary => {
            if let Some(positive) = &spec.positive {
                let known = || labels.iter().map(String::as_str);
                let Some(label) = place_of_label(known(), &positive.0).map(|at| &labels[at]) else {
                    return Err(Error::unknown("data.positive", "label", &positive.0, known()));
                };
                if labels.len() < 2 {
                    return Err(single_class(name, label));
                }
                let negative = if labels.len() == 2 { labels.iter().find(|l| *l != label).cloned() } else { None };
                return Ok(Task::Binary { negative, positive: label.clone() });
            }
            match labels.as_slice() {
                [negative, positive] => {
                    Ok(Task::Binary { negative: Some(negative.clone()), positive: positive.clone() })
                }
                [only] => Err(single_class(name, only)),
                _ => wrong(
                    "data.task",
                    format!(
                        "it is binary and `{name}` has {} labels; name one with data.positive or use multiclass",
                        labels.len()
                    ),
                ),
            }
        }
        TaskKind::Multiclass => match labels.as_slice() {
            [only] => Err(single_class(name, only)),
            _ if labels.len() > (cells.len() / 2).clamp(5, 1000) => wrong(
                "data.target",
                format!(
                    "`{name}` has {} labels in {} rows: of more than five, at most 1000 and one for every two rows are taken as classes; for numbers \
                     set data.types: {{{}: number}}, else name another target",
                    labels.len(),
                    cells.len(),
                    quoted(name)
                ),
            ),
            _ => Ok(Task::Multiclass { labels }),
        },
    }
}

fn single_class(name: &str, label: &str) -> Error {
    Error::setting(
        "data.target",
        format!(
            "every training row of `{name}` has the label `{label}`; two classes are needed (a word of data.read.na is none, unless \
             data.read.na_by_column says so)"
        ),
    )
}

/// Whether there are two values, both whole: classes by default.
fn are_two_whole_numbers(values: &[f64]) -> bool {
    let mut found = Vec::new();
    let is_third = |value: &f64| {
        let is_new = !found.contains(value);
        if is_new {
            found.push(*value);
        }
        found.len() > 2 || value.fract() != 0.0
    };
    !values.iter().any(is_third) && found.len() == 2
}

/// Distinct labels, sorted by value if all are numbers, else by text.
fn labels(cells: &Cells) -> Vec<String> {
    match cells {
        Cells::Numbers(numbers) => {
            let mut values = numbers.view().values().into_owned();
            values.sort_by(f64::total_cmp);
            values.dedup();
            values.iter().map(|value| numeral(*value)).collect()
        }
        other => {
            let distinct: std::collections::BTreeSet<String> = (0..other.len()).map(|row| other.label(row)).collect();
            distinct.into_iter().collect()
        }
    }
}

/// Targets as outputs × rows, with classes coded ±1; `origin` gives a row's position in its file.
pub(super) fn encode(
    task: &Task,
    targets: &[(String, Cells)],
    field: &str,
    origin: impl Fn(usize) -> usize,
) -> Result<Array2<f64>> {
    let rows = targets.first().map_or(0, |(_, cells)| cells.len());
    let sign = |yes: bool| if yes { 1.0 } else { -1.0 };
    let mut out = Vec::new();
    for (name, cells) in targets {
        let classes = |known: &[&str]| {
            let class = |row: usize| {
                let label = cells.label(row);
                place_of_label(known.iter().copied(), &label).ok_or_else(|| {
                    let message = format!(
                        "row {}, column `{name}`: the label `{label}` is not among those of the training rows ({})",
                        origin(row) + 1,
                        known.join(", ")
                    );
                    Error::setting(field, message)
                })
            };
            (0..rows).map(class).collect::<Result<Vec<usize>>>()
        };
        match task {
            Task::Regression => match cells.numbers() {
                Some(numbers) => out.extend(numbers.values().iter()),
                None => {
                    let message = format!("the target `{name}` holds text and the task is regression");
                    return Err(Error::setting(field, message));
                }
            },
            Task::Binary { negative: None, positive } => {
                out.extend((0..rows).map(|row| sign(same_label(&cells.label(row), positive))));
            }
            Task::Binary { negative: Some(negative), positive } => {
                let class_of_row = classes(&[negative.as_str(), positive.as_str()])?;
                out.extend(class_of_row.into_iter().map(|class| sign(class == 1)));
            }
            Task::Multiclass { labels } => {
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                let class_of_row = classes(&labels)?;
                for class in 0..labels.len() {
                    out.extend(class_of_row.iter().map(|&own| sign(own == class)));
                }
            }
        }
    }
    let outputs = out.len().checked_div(rows).unwrap_or(0);
    Array2::from_shape_vec((outputs, rows), out).map_err(|e| Error::failed("targets", e))
}
