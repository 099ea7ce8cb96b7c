//! Kernel logistic regression as the paper judges columns with it.

use super::{distances, largest, median};
use ndarray::{Array2, ArrayView1};
use vaglio_core::{Error, Feature, Learner, Problem, Result};
use vaglio_lssvm::{Bandwidth, KernelLogistic};

/// Folds by which width and λ are chosen.
const FOLDS: usize = 3;
/// Widths as multiples of the median distance, and penalties.
const WIDTHS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
const PENALTIES: [f64; 5] = [1e-4, 1e-3, 1e-2, 1e-1, 1.0];

/// The share of test rows whose class it finds; width and λ are those of most hits in three folds with all classes alike in each, the first among
/// equals from the middle width and the largest penalty on.
pub fn accuracy(train: &Problem, test: &Problem, subset: &[Feature]) -> Result<f64> {
    let x = train.columns().matrix(subset);
    let width = median(&distances(x.view(), x.view())).sqrt();
    let folds = folds(train);
    let mut best: Option<(f64, KernelLogistic)> = None;
    for factor in [WIDTHS[2], WIDTHS[1], WIDTHS[3], WIDTHS[0], WIDTHS[4]] {
        for lambda in PENALTIES.into_iter().rev() {
            let learner = KernelLogistic { lambda, bandwidth: Bandwidth::Value(factor * width) };
            let mut found = 0.0;
            for fold in 0..FOLDS {
                let rows =
                    |is_held: bool| (0..folds.len()).filter(|&row| (folds[row] == fold) == is_held).collect::<Vec<_>>();
                let held = train.select_rows(&rows(true));
                found += hits(&learner, &train.select_rows(&rows(false)), &held, subset)? * held.rows() as f64;
            }
            if best.as_ref().is_none_or(|(most, _)| found > *most) {
                best = Some((found, learner));
            }
        }
    }
    let (_, learner) = best.ok_or_else(|| Error::Shape("there is no width".into()))?;
    hits(&learner, train, test, subset)
}

/// The share of rows of `test` whose class is found by a fit on `train`.
fn hits(learner: &KernelLogistic, train: &Problem, test: &Problem, subset: &[Feature]) -> Result<f64> {
    let model = learner.fit(train, subset, None)?;
    let predicted: Array2<f64> = model.predict(&test.columns().select(model.inputs()), None)?;
    let pairs = predicted.columns().into_iter().zip(test.targets().columns());
    Ok(pairs.filter(|(p, y)| largest(p.view()) == largest(y.view())).count() as f64 / test.rows() as f64)
}

/// The fold of each row: those of a class go to the folds by turns.
fn folds(problem: &Problem) -> Vec<usize> {
    let mut seen = vec![0; problem.targets().nrows()];
    let of_row = |y: ArrayView1<'_, f64>| {
        let class = largest(y);
        seen[class] += 1;
        (seen[class] - 1) % FOLDS
    };
    problem.targets().columns().into_iter().map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_testkit::data;

    #[test]
    fn folds_have_every_class_and_columns_of_the_class_are_worth_more_than_noise() {
        let problem = data::multiclass(120, 9, 3, 5).problem();
        let (train, test) =
            (problem.select_rows(&(0..90).collect::<Vec<_>>()), problem.select_rows(&(90..120).collect::<Vec<_>>()));
        let folds = folds(&train);
        for class in 0..3 {
            let of_class = (0..90).filter(|&row| largest(train.targets().column(row)) == class);
            let counts = of_class.fold([0; FOLDS], |mut counts, row| {
                counts[folds[row]] += 1;
                counts
            });
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
        let all = accuracy(&train, &test, &(0..9).collect::<Vec<_>>()).unwrap();
        let none = accuracy(&train, &test, &[]).unwrap();
        assert!(all > none + 0.1, "{all} {none}");
    }
}
