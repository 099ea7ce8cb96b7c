//! Types of targets and their numeric coding.

use super::series::number_cells;
use ndarray::Array2;
use vaglio_core::numerals::{normalize_number, numeral};
use vaglio_core::{Cells, Error, Result, Table, Task};
use vaglio_pipeline::document::Label;
use vaglio_pipeline::pipeline::DataSpec;
use vaglio_tables::quote_for_yaml;

/// Task of the targets, with class labels.
pub fn task(spec: &DataSpec, targets: &[(String, Cells)]) -> Result<Task> {
    let wrong = |field: &str, message: String| Err(Error::setting(field, message));
    let (name, cells) = match targets {
        [] => return wrong("data.target", "it is missing".into()),
        [(name, cells)] => (name, cells),
        several => {
            if let Some((name, _)) = several.iter().find(|(_, cells)| cells.numbers().is_none()) {
                return wrong(
                    "data.target",
                    format!("the column `{name}` holds text; several targets must be numbers"),
                );
            }
            if spec.positive.is_some() || spec.task.is_some_and(|kind| !kind.is_regression()) {
                let message = "several target columns are for regression; give one column of classes";
                return wrong("data.target", message.into());
            }
            return Ok(Task::Regression);
        }
    };
    let is_text = cells.numbers().is_none();
    let has_many = || cells.numbers().is_some_and(|numbers| !are_two_whole_numbers(&numbers.values()));
    if spec.task.map_or_else(|| spec.positive.is_none() && has_many(), |kind| kind.is_regression()) {
        return if is_text {
            wrong("data.task", format!("it is regression and the target `{name}` holds text"))
        } else {
            Ok(Task::Regression)
        };
    }
    let labels = labels(cells);
    let is_multiclass = match spec.task {
        Some(kind) => kind.is_multiclass(),
        None => spec.positive.is_none() && is_text && labels.len() > 2,
    };
    let place = |positive: &Label| {
        let known = || labels.iter().map(String::as_str);
        let unknown = || Error::unknown("data.positive", "label", &positive.0, known());
        place_of_label(known(), &positive.0).ok_or_else(unknown)
    };
    let positive = spec.positive.as_ref().filter(|_| !is_multiclass).map(place).transpose()?;
    if let [only] = &labels[..] {
        let message = format!(
            "every training row of `{name}` has the label `{only}`; two classes are needed (a word of data.read.na is none, unless \
             data.read.na_by_column says so)"
        );
        return wrong("data.target", message);
    }
    if is_multiclass && labels.len() > (cells.len() / 2).clamp(5, 1000) {
        let message = format!(
            "`{name}` has {} labels in {} rows: of more than five, at most 1000 and one for every two rows are taken as classes; for numbers \
             set data.types: {{{}: number}}, else name another target",
            labels.len(),
            cells.len(),
            quote_for_yaml(name)
        );
        return wrong("data.target", message);
    }
    let positive = match (positive, labels.len()) {
        _ if is_multiclass => return Ok(Task::Multiclass { labels }),
        (Some(positive), _) => positive,
        (None, 2) => 1,
        (None, count) => {
            let message =
                format!("it is binary and `{name}` has {count} labels; name one with data.positive or use multiclass");
            return wrong("data.task", message);
        }
    };
    let negative = (labels.len() == 2).then(|| labels[1 - positive].clone());
    Ok(Task::Binary { negative, positive: labels[positive].clone() })
}

/// Class of each row, if the target is categorical.
pub fn classes_of_rows(spec: &DataSpec, table: &Table) -> Option<Vec<u32>> {
    let target = spec.target.names().first()?;
    let cells = vec![(target.clone(), table.get(target)?.clone())];
    let task = task(spec, &cells).ok().filter(|_| spec.target.names().len() == 1)?;
    match (task, spec.positive.as_ref()) {
        (Task::Regression, _) => None,
        (Task::Binary { positive, .. }, Some(_)) => {
            Some((0..table.rows()).map(|row| u32::from(same_label(&cells[0].1.label(row), &positive))).collect())
        }
        _ => Some(number_cells(&cells[0].1)),
    }
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
pub fn encode(
    task: &Task,
    targets: &[(String, Cells)],
    field: &str,
    origin: impl Fn(usize) -> usize,
) -> Result<Array2<f64>> {
    let rows = targets.first().map_or(0, |(_, cells)| cells.len());
    let sign = |yes: bool| if yes { 1.0 } else { -1.0 };
    let mut out = Vec::new();
    for (name, cells) in targets {
        let (labels, coded): (Vec<&str>, _) = match task {
            Task::Regression => {
                let wrong = || format!("the target `{name}` holds text and the task is regression");
                let numbers = cells.numbers().ok_or_else(|| Error::setting(field, wrong()))?;
                out.extend(numbers.values().iter());
                continue;
            }
            Task::Binary { negative: None, positive } => {
                out.extend((0..rows).map(|row| sign(same_label(&cells.label(row), positive))));
                continue;
            }
            Task::Binary { negative: Some(negative), positive } => (vec![negative.as_str(), positive.as_str()], 1..2),
            Task::Multiclass { labels } => (labels.iter().map(String::as_str).collect(), 0..labels.len()),
        };
        let class = |row: usize| {
            let label = cells.label(row);
            place_of_label(labels.iter().copied(), &label).ok_or_else(|| {
                let message = format!(
                    "row {}, column `{name}`: the label `{label}` is not among those of the training rows ({})",
                    origin(row) + 1,
                    labels.join(", ")
                );
                Error::setting(field, message)
            })
        };
        let class_of_row = (0..rows).map(class).collect::<Result<Vec<usize>>>()?;
        for class in coded {
            out.extend(class_of_row.iter().map(|&own| sign(own == class)));
        }
    }
    let outputs = out.len().checked_div(rows).unwrap_or(0);
    Array2::from_shape_vec((outputs, rows), out).map_err(|e| Error::failed("targets", e))
}

/// Whether two texts are one label: equal, or the same number.
pub fn same_label(a: &str, b: &str) -> bool {
    a == b || normalize_number(a).is_some_and(|a| normalize_number(b).is_some_and(|b| a == b))
}

/// The index of the label that equals `text`, or else is the same number.
fn place_of_label<'l>(mut labels: impl Iterator<Item = &'l str> + Clone, text: &str) -> Option<usize> {
    let alike = labels.clone().position(|label| label == text);
    alike.or_else(|| labels.position(|label| same_label(label, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_is_one_label() {
        for (a, b) in [("1", "1.0"), ("01", "1"), ("true", "1"), ("False", "0"), ("-0", "0"), ("1e3", "1000")] {
            assert!(same_label(a, b), "{a} {b}");
        }
        assert!(same_label("01500000000000000060.0", "1500000000000000060"));
        for (a, b) in [("1500000000000000060", "1500000000000000061"), ("a", "A"), ("inf", "INF"), ("yes", "1")] {
            assert!(!same_label(a, b), "{a} {b}");
        }
        assert_eq!(place_of_label(["1", "1.0"].into_iter(), "1.0"), Some(1));
        assert_eq!(place_of_label(["2", "1"].into_iter(), "1.00"), Some(1));
    }
}
