//! Mean squared error, with possible faults.

use super::Planted;
use super::Said::Found;
use crate::common::TOLERANCE;
use ndarray::{ArrayView2, Axis};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use vaglio_core::{LeftOut, Loss, LossTraits, Measure, saved};
use vaglio_testkit::{LawViolation, check_loss, check_loss_on_standard_data, data};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    NanAtZero,
    Degree,
    FirstOutput,
    State,
    Unweighted,
    OtherThanRows,
    PerfectIsWorst,
    ConstantError,
}

pub fn planted() -> Vec<Planted> {
    let problem = data::regression(16, 5, 4).outputs(2).weighted().problem();
    let all = [
        ("NaN where nothing is wrong", Fault::NanAtZero, Found("never_nan")),
        ("a wrong degree", Fault::Degree, Found("degree")),
        ("the first output alone", Fault::FirstOutput, Found("over_outputs")),
        ("a state", Fault::State, Found("repeated_rows")),
        ("a mean without weights", Fault::Unweighted, Found("repeated_rows")),
        ("a mean that is not of its rows", Fault::OtherThanRows, Found("of_rows")),
        ("a perfect prediction that is the worst", Fault::PerfectIsWorst, Found("perfect")),
        ("a constant standard error", Fault::ConstantError, Found("standard_error")),
    ];
    let tried = |fault| check_loss(&Mean { fault }, &problem, TOLERANCE);
    all.into_iter().map(|(name, fault, said)| (name, said, tried(fault))).collect()
}

pub fn sound() -> Vec<(&'static str, Result<(), LawViolation>)> {
    vec![("a loss", check_loss_on_standard_data(&Mean { fault: Fault::None }, TOLERANCE))]
}

/// The standard error of a loss of all rows jointly depends on the row count, too.
#[test]
fn the_standard_error_of_all_rows_together_falls_with_their_number() {
    #[saved(Loss, "outside_root")]
    struct Root {
        constant: bool,
    }

    impl Loss for Root {
        fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
            vaglio_core::Squared.mean(targets, predictions, weights).sqrt()
        }

        fn traits(&self) -> LossTraits {
            LossTraits { measure: Measure::Whole, ..LossTraits::default() }
        }

        fn standard_error(
            &self,
            y: ArrayView2<f64>,
            p: ArrayView2<f64>,
            weights: Option<&[f64]>,
            _: Option<&[LeftOut]>,
        ) -> Option<f64> {
            let without = |row: usize| {
                let rows: Vec<usize> = (0..y.ncols()).filter(|other| *other != row).collect();
                let weights: Option<Vec<f64>> = weights.map(|w| rows.iter().map(|&row| w[row]).collect());
                self.mean(y.select(Axis(1), &rows).view(), p.select(Axis(1), &rows).view(), weights.as_deref())
            };
            let all: Vec<f64> = (0..y.ncols()).map(without).collect();
            let (count, mean) = (all.len() as f64, all.iter().sum::<f64>() / all.len() as f64);
            let squares: f64 = all.iter().map(|loss| (loss - mean).powi(2)).sum();
            Some(if self.constant { 0.25 } else { ((count - 1.0) / count * squares).sqrt() })
        }
    }
    let problem = data::regression(30, 5, 4).problem();
    crate::common::holds(check_loss(&Root { constant: false }, &problem, TOLERANCE));
    let outcome = check_loss(&Root { constant: true }, &problem, TOLERANCE);
    assert_eq!(crate::common::broken_law(outcome), "standard_error");
}

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

#[saved(Loss, "outside_mean")]
struct Mean {
    fault: Fault,
}

impl Loss for Mean {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        let count = if self.fault == Fault::FirstOutput { 1 } else { targets.len() };
        let errors = targets.iter().zip(predictions).take(count).map(|(y, p)| y - p);
        let sum: f64 = match self.fault {
            Fault::PerfectIsWorst => errors.map(|e| -e.abs().powi(2)).sum(),
            _ => errors.map(|e| e * e).sum(),
        };
        match self.fault {
            Fault::NanAtZero if sum == 0.0 => f64::NAN,
            _ => sum / count as f64,
        }
    }

    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        let weights = weights.filter(|_| self.fault != Fault::Unweighted);
        let (mut sum, mut total) = (0.0, 0.0);
        for (row, (y, p)) in targets.columns().into_iter().zip(predictions.columns()).enumerate() {
            let weight = weights.map_or(1.0, |w| w[row]);
            sum += weight * self.row_loss(&y.to_vec(), &p.to_vec());
            total += weight;
        }
        match self.fault {
            Fault::State => sum / total * (1.0 + 1e-6 * CALLS.replace(CALLS.get() + 1) as f64),
            Fault::OtherThanRows => 1.1 * sum / total,
            _ => sum / total,
        }
    }

    fn standard_error(
        &self,
        y: ArrayView2<f64>,
        p: ArrayView2<f64>,
        weights: Option<&[f64]>,
        parts: Option<&[LeftOut]>,
    ) -> Option<f64> {
        match self.fault {
            Fault::ConstantError => Some(0.1),
            _ if self.fault == Fault::None => vaglio_core::Squared.standard_error(y, p, weights, parts),
            _ => None,
        }
    }

    fn traits(&self) -> LossTraits {
        let degree = Some(if self.fault == Fault::Degree { 1 } else { 2 });
        LossTraits { degree, is_over_outputs: true, ..LossTraits::default() }
    }
}
