//! Target encoding of text columns.

use super::LearnedOn;
use super::columns;
use crate::folds::FoldAssignment;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use vaglio_core::{Error, LearnedLevels, Map, Result, prelude::*, row_weights};

/// Replaces every level of text columns by the mean target of its training rows, shrunk towards the overall mean: (Σ w
/// y + s ȳ) / (Σ w + s), with smoothing s and weights w divided by their mean.
///
/// Encoding is out of fold: a training row is encoded from the rows of other folds, so that its own target does not
/// leak; other rows are encoded from all training rows. With several outputs or classes, column `x` becomes one column
/// for each, `x_class`. An unknown level becomes the overall mean; a missing cell stays missing. Cost O(rows · folds ·
/// outputs) per column.
///
/// # Errors
/// Fewer than two rows, or groups, to split into folds.
///
/// # Reference
/// D. Micci-Barreca, *A preprocessing scheme for high-cardinality categorical attributes in classification and
/// prediction problems*, ACM SIGKDD Explorations 3(1), 2001.
#[part(
    Map,
    "target_encode",
    summary = "the mean of the target in each level of a text column, out of fold",
    example = "preprocess: [{kind: target_encode, smoothing: 10.0, folds: 5, columns: [size]}]"
)]
#[derive(PartialEq)]
pub struct TargetEncode {
    /// Smoothing: number of rows at the overall mean that are added to each level.
    #[default(10.0)]
    pub smoothing: f64,
    /// Number of folds of the training rows. Groups and series stay together; fewer groups than this make fewer folds.
    #[default(5)]
    pub folds: usize,
    /// Seed of the folds; by default the pipeline's.
    pub seed: Option<u64>,
    /// Columns to encode; by default all text columns. Named columns may also hold numbers, whose values are levels.
    pub columns: Option<Vec<String>>,
    /// Rows on which the encoding is learned during cross-validation.
    #[default(LearnedOn::Train)]
    pub scope: LearnedOn,
}

/// Means of one column by level, and overall, with one value per output.
#[setting]
pub struct LevelMeans {
    levels: BTreeMap<String, Vec<f64>>,
    all: Vec<f64>,
}

impl Map for TargetEncode {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let folds = self.folds_of(rows)?;
        let chosen = columns::levels(rows.table, self.columns.as_deref())?;
        let chosen: BTreeSet<&str> = chosen.into_iter().map(|(name, _)| name).collect();
        let outputs = if rows.targets.nrows() > 1 { rows.outputs.to_vec() } else { Vec::new() };
        let (mut columns, mut encoded, mut training) = (BTreeMap::new(), Vec::new(), rows.table.clone());
        for (name, cells) in training.take_columns() {
            if !chosen.contains(name.as_str()) {
                encoded.push((name, cells));
                continue;
            }
            let (levels, level_of) = levels_of_rows(&cells);
            let (means, all) = level_means(rows, &level_of, levels.len(), self.smoothing, |_| true);
            let mut own = vec![vec![f64::NAN; cells.len()]; rows.targets.nrows()];
            for fold in 0..=folds.iter().copied().max().unwrap_or(0) {
                let (others, _) = level_means(rows, &level_of, levels.len(), self.smoothing, |row| folds[row] != fold);
                for row in (0..cells.len()).filter(|&row| folds[row] == fold) {
                    let Some(level) = level_of[row] else { continue };
                    own.iter_mut().zip(&others[level]).for_each(|(column, mean)| column[row] = *mean);
                }
            }
            let own = own.into_iter().map(|values| Cells::Numbers(Numbers::from(values)));
            encoded.extend(names(&name, &outputs).into_iter().zip(own));
            let levels = levels.into_iter().map(Cow::into_owned).zip(means).collect();
            columns.insert(name, LevelMeans { levels, all });
        }
        Ok(formulas(&columns, &outputs).with_training(training.with_columns(encoded)?))
    }

    fn traits(&self) -> MapTraits {
        self.scope.traits()
    }

    fn check_settings(&self) -> Result<()> {
        if !(self.smoothing.is_finite() && self.smoothing >= 0.0) {
            return Err(Error::setting("smoothing", format!("{} is no number from 0 on", self.smoothing)));
        }
        if self.folds < 2 {
            return Err(Error::setting("folds", format!("{} is too few; 2 is the least", self.folds)));
        }
        columns::check(self.columns.as_deref())
    }
}

impl TargetEncode {
    /// Fold number of each row.
    fn folds_of(&self, rows: &TrainingRows<'_>) -> Result<Vec<u32>> {
        let several = |series: &&[u32]| series.iter().any(|label| *label != series[0]);
        let series = rows.table.series().filter(several);
        let labels: Vec<&[u32]> = rows.groups.into_iter().chain(series).collect();
        let fold_assignment = FoldAssignment::from_labels(&labels, rows.table.rows(), None);
        let (most, folds) = (fold_assignment.count, self.folds.min(fold_assignment.count));
        if folds < 2 {
            let what = if labels.is_empty() { "rows" } else { "groups of rows" };
            return Err(Error::setting("folds", format!("{most} {what} cannot be dealt into folds")));
        }
        fold_assignment.folds(folds, self.seed.unwrap_or(rows.seed))
    }
}

/// Distinct levels of a column, sorted, and the place of each row's level; `None` for a missing cell.
fn levels_of_rows(cells: &Cells) -> (Vec<Cow<'_, str>>, Vec<Option<usize>>) {
    let there = |row: usize| (!cells.is_missing(row)).then(|| cells.text(row));
    let names: BTreeSet<Cow<'_, str>> = (0..cells.len()).filter_map(there).collect();
    let names: Vec<Cow<'_, str>> = names.into_iter().collect();
    let places = (0..cells.len()).map(|row| names.binary_search(&there(row)?).ok()).collect();
    (names, places)
}

/// Mean of every output in each level, and overall, over the rows with `trains`.
fn level_means(
    rows: &TrainingRows<'_>,
    level_of: &[Option<usize>],
    levels: usize,
    smoothing: f64,
    trains: impl Fn(usize) -> bool,
) -> (Vec<Vec<f64>>, Vec<f64>) {
    let outputs = rows.targets.nrows();
    let mut sums = vec![vec![0.0; outputs + 1]; levels];
    let (mut whole, mut count) = (vec![0.0; outputs + 1], 0);
    for row in (0..level_of.len()).filter(|&row| trains(row)) {
        let weight = row_weights(rows.weights)(row);
        let add = |sums: &mut [f64]| {
            sums.iter_mut().zip(rows.targets.column(row)).for_each(|(sum, y)| *sum += weight * y);
            sums[outputs] += weight;
        };
        add(&mut whole);
        count += usize::from(weight > 0.0);
        if let Some(level) = level_of[row] {
            add(&mut sums[level]);
        }
    }
    let all: Vec<f64> =
        whole[..outputs].iter().map(|sum| if whole[outputs] > 0.0 { sum / whole[outputs] } else { 0.0 }).collect();
    // Smoothing counts rows of mean weight.
    let smoothing = if count > 0 { smoothing * whole[outputs] / count as f64 } else { smoothing };
    let mean = |sums: &Vec<f64>| {
        let count = sums[outputs] + smoothing;
        let one = |(sum, all): (&f64, &f64)| if count > 0.0 { (sum + smoothing * all) / count } else { *all };
        sums[..outputs].iter().zip(&all).map(one).collect()
    };
    (sums.iter().map(mean).collect(), all)
}

pub fn formulas(columns: &BTreeMap<String, LevelMeans>, outputs: &[String]) -> MapFormulas {
    let formulas = columns.iter().flat_map(|(column, means)| {
        names(column, outputs).into_iter().enumerate().map(move |(output, name)| {
            // A damaged model may lack outputs.
            let mean = |means: &[f64]| means.get(output).copied().unwrap_or(f64::NAN);
            let levels = means.levels.iter().map(|(level, means)| (level.clone(), mean(means))).collect();
            Expression::levels(column, levels, mean(&means.all)).named(name).in_block()
        })
    });
    let levels =
        |(column, means): (&String, &LevelMeans)| LearnedLevels::new(column, means.levels.keys().cloned(), None);
    let levels = columns.iter().map(levels).collect();
    formulas.collect::<MapFormulas>().named_by("columns").with_levels(levels)
}

/// Output columns of a column; `outputs` are the suffixes of several outputs.
fn names(column: &str, outputs: &[String]) -> Vec<String> {
    if outputs.is_empty() {
        return vec![column.to_owned()];
    }
    outputs.iter().map(|output| format!("{column}_{output}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maps::tests::{self, text, values};
    use ndarray::{Array2, array};
    use vaglio_core::Table;

    fn table(levels: &[&str]) -> Table {
        tests::table([("c", text(levels))])
    }

    fn rows<'a>(table: &'a Table, targets: &'a Array2<f64>, outputs: &'a [String]) -> TrainingRows<'a> {
        TrainingRows { table, targets: targets.view(), outputs, lagged: &[], weights: None, groups: None, seed: 0 }
    }

    #[test]
    fn new_rows_are_encoded_by_all_training_rows() {
        let (table, y) = (table(&["a", "b", "a", "", "b", "b"]), array![[1.0, 2.0, 3.0, 10.0, 4.0, 4.0]]);
        let names = ["y".to_owned()];
        let map = TargetEncode { smoothing: 2.0, ..TargetEncode::default() };
        let fitted = map.fit(&rows(&table, &y, &names)).unwrap();
        let new = self::table(&["a", "b", "z", ""]);
        let out = values(&fitted.transform(new).unwrap(), "c");
        // The overall mean is 4.
        assert_eq!(out[..3], [(4.0 + 8.0) / 4.0, (10.0 + 8.0) / 5.0, 4.0]);
        assert!(out[3].is_nan());
        let mut twice = rows(&table, &y, &names);
        twice.weights = Some(&[2.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
        let fitted = map.fit(&twice).unwrap();
        // The overall mean is 12 / 5, and two rows of mean weight weigh 2.5.
        assert_eq!(values(&fitted.transform(self::table(&["a"])).unwrap(), "c"), [(2.0 + 2.5 * 2.4) / 4.5]);
    }

    #[test]
    fn a_training_row_is_encoded_by_the_other_folds_alone() {
        let levels: Vec<&str> = (0..40).map(|row| ["a", "b", "c"][row * 7 % 3]).collect();
        let table = table(&levels);
        let y: Array2<f64> = Array2::from_shape_fn((1, 40), |(_, row)| ((row * 13) % 11) as f64);
        let names = ["y".to_owned()];
        let groups: Vec<u32> = (0..40).map(|row| row / 4).collect();
        for groups in [None, Some(&groups[..])] {
            let map = TargetEncode { smoothing: 1.0, folds: 4, ..TargetEncode::default() };
            let encoded = |y: &Array2<f64>| {
                let rows = TrainingRows { groups, ..rows(&table, y, &names) };
                values(&map.fit(&rows).unwrap().training.unwrap(), "c")
            };
            let before = encoded(&y);
            let folds = map.folds_of(&TrainingRows { groups, ..rows(&table, &y, &names) }).unwrap();
            if let Some(groups) = groups {
                assert!((1..40).all(|row| groups[row] != groups[row - 1] || folds[row] == folds[row - 1]));
            }
            for changed in [0, 17, 39] {
                let mut other = y.clone();
                other[[0, changed]] += 100.0;
                let after = encoded(&other);
                for row in 0..40 {
                    let same = before[row].to_bits() == after[row].to_bits();
                    assert!(same == (folds[row] == folds[changed]) || !same, "{row} of {changed}");
                    assert!(same || folds[row] != folds[changed], "{row} of {changed}");
                }
            }
            // Plain computation of the definition.
            for row in 0..40 {
                let others = || (0..40).filter(|&other| folds[other] != folds[row]);
                let all = others().map(|other| y[[0, other]]).sum::<f64>() / others().count() as f64;
                let alike: Vec<f64> =
                    others().filter(|&other| levels[other] == levels[row]).map(|other| y[[0, other]]).collect();
                let expected = (alike.iter().sum::<f64>() + all) / (alike.len() as f64 + 1.0);
                assert!((before[row] - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn each_class_has_a_column() {
        let (table, y) = (table(&["a", "b", "a", "b"]), array![[1.0, -1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0]]);
        let names = ["p".to_owned(), "q".to_owned()];
        let map = TargetEncode { smoothing: 0.0, ..TargetEncode::default() };
        let fitted = map.fit(&rows(&table, &y, &names)).unwrap();
        let out = fitted.transform(table.clone()).unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["c_p", "c_q"]);
        assert_eq!(fitted.training.as_ref().unwrap().names().collect::<Vec<_>>(), ["c_p", "c_q"]);
        assert_eq!(
            (values(&out, "c_p"), values(&out, "c_q")),
            (vec![1.0, -1.0, 1.0, -1.0], vec![-1.0, 1.0, -1.0, 1.0])
        );
        assert_eq!((fitted.sources("c_q"), fitted.sources("d")), (vec!["c".into()], vec!["d".into()]));
        assert_eq!(fitted.get("c_q").map(|formula| formula.unit), Some(vaglio_core::OutputUnit::Other));
        let saved = serde_json::to_string(&fitted).unwrap();
        let loaded: MapFormulas = serde_json::from_str(&saved).unwrap();
        assert_eq!(values(&loaded.transform(table).unwrap(), "c_p"), values(&out, "c_p"));
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        for (json, words) in [
            (r#"{"smoothing": -1}"#, "`smoothing`: -1 is no number from 0 on"),
            (r#"{"folds": 1}"#, "`folds`: 1 is too few"),
            (r#"{"columns": []}"#, "`columns`: it is empty"),
        ] {
            let map: TargetEncode = serde_json::from_str(json).unwrap();
            let error = map.check_settings().unwrap_err().to_string();
            assert!(error.contains(words), "{json}: {error}");
        }
        let (table, y, names) = (table(&["a", "b"]), array![[1.0, 2.0]], ["y".to_owned()]);
        let together = TrainingRows { groups: Some(&[7, 7]), ..rows(&table, &y, &names) };
        let error = TargetEncode::default().fit(&together).unwrap_err().to_string();
        assert!(error.contains("`folds`: 1 groups of rows cannot be dealt into folds"), "{error}");
    }
}
