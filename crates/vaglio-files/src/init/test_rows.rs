//! Detects a column that marks test rows.

use super::options::TestOption;
use super::order::{CodedColumn, is_among, words};

const TRAIN: &str = "train training tr calibration learn learning";
const TEST: &str = "test testing te holdout validation valid val ts";
// No 0 and 1: they may mean who was trained, or the result of a test.
const NO: &str = "f false";
const YES: &str = "t true";

/// Detects the test value from the cells, or from the name and the cells. `is_truth`: 0 and 1 were words for truth.
pub fn find(column: &CodedColumn<'_>, is_truth: bool) -> Option<TestOption> {
    let levels = column.levels(3).filter(|_| column.cells.missing().is_none())?;
    let levels = levels.into_iter().map(|(label, rows)| match (is_truth, label.as_str()) {
        (true, label) => (if label == "1" { "true" } else { "false" }.to_owned(), rows),
        (false, _) => (label, rows),
    });
    let levels: Vec<(String, usize)> = levels.collect();
    let level = |among: &str| {
        let rank = |label: &str| among.split(' ').position(|word| label.eq_ignore_ascii_case(word));
        levels.iter().filter_map(|level| Some((rank(&level.0)?, level))).min().map(|(_, level)| level.clone())
    };
    let words = words(column.name);
    let named = |list: &str| levels.len() == 2 && words.len() == 1 && is_among(&words[0], list);
    let (is, rows) = match (level(TRAIN), level(TEST)) {
        (Some(_), Some(test)) => test,
        _ if named("train training") && level(YES).is_some() => level(NO)?,
        _ if named("test testing holdout") && level(NO).is_some() => level(YES)?,
        _ => return None,
    };
    let is_part = rows > 1 && 3 * rows <= 2 * column.cells.len();
    is_part.then(|| TestOption::Column { column: column.name.to_owned(), is, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_core::Cells;

    #[test]
    fn columns_that_say_train_and_test_are_found() {
        let text = |levels: &[&str]| Cells::Text((0..40).map(|row| levels[row % levels.len()].to_owned()).collect());
        let value = |name: &str, cells: Cells, is_truth: bool| match find(&CodedColumn::new(name, &cells), is_truth) {
            Some(TestOption::Column { is, .. }) => Some(is),
            _ => None,
        };
        let is = |name: &str, cells: Cells| value(name, cells, false);
        for (name, levels, expected) in [
            ("x", &["train", "test"][..], Some("test")),
            ("case", &["Test", "Train", "Train"], Some("Test")),
            ("cells", &["Tr", "Te"], Some("Te")),
            ("split", &["train", "validation", "test"], Some("test")),
            ("split", &["train", "validation"], Some("validation")),
            ("train", &["T", "F"], Some("F")),
            ("Train", &["TRUE", "TRUE", "FALSE"], Some("FALSE")),
            ("test", &["F", "F", "T"], Some("T")),
            ("test", &["yes", "no"], None),
            ("train", &["T"], None),
            ("pretest", &["T", "F"], None),
            ("smoker", &["T", "F"], None),
            ("x", &["train", "bus"], None),
            ("x", &["train", "test", "test", "test"], None),
        ] {
            assert_eq!(is(name, text(levels)).as_deref(), expected, "{name} {levels:?}");
        }
        let numbers =
            |values: [f64; 3]| Cells::Numbers((0..30).map(|row| values[row % 3]).collect::<Vec<f64>>().into());
        assert_eq!(is("train", numbers([1.0, 1.0, 0.0])), None);
        assert_eq!(is("test", numbers([1.0, 0.0, 0.0])), None);
        assert_eq!(value("test", numbers([1.0, 0.0, 0.0]), true).as_deref(), Some("true"));
    }
}
