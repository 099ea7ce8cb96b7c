//! Every law of a loss fails on a faulty one, and holds on a correct one.

use crate::common::{TOLERANCE, breaks, broken_law};
use ndarray::{ArrayView2, Axis};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use vaglio_core::{LeftOut, Loss, LossTraits, Measure, Squared, row_weights, saved};
use vaglio_testkit::{check_loss, check_loss_on_standard_data, data, registry};

/// The planted fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    NanAtZero,
    IgnoresWeights,
    State,
    RowOrder,
    OtherThanRows,
    WrongDegree,
    FirstOutput,
    TooNarrow,
    PerfectIsWorst,
    ConstantError,
    PanicsOnFewRows,
}

const FAULTS: [(Fault, &str); 11] = [
    (Fault::NanAtZero, "never_nan"),
    (Fault::IgnoresWeights, "repeated_rows"),
    (Fault::State, "repeated_rows"),
    (Fault::RowOrder, "row_order"),
    (Fault::OtherThanRows, "of_rows"),
    (Fault::WrongDegree, "degree"),
    (Fault::FirstOutput, "over_outputs"),
    (Fault::TooNarrow, "perfect"),
    (Fault::PerfectIsWorst, "perfect"),
    (Fault::ConstantError, "standard_error"),
    (Fault::PanicsOnFewRows, "few_rows"),
];

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Mean squared error with one fault.
#[saved(Loss, "wrong_mean")]
struct Mean {
    fault: Fault,
}

impl Loss for Mean {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        let count = if self.fault == Fault::FirstOutput { 1 } else { targets.len() };
        let sum: f64 = targets.iter().zip(predictions).take(count).map(|(y, p)| (y - p) * (y - p)).sum();
        match self.fault {
            Fault::NanAtZero if sum == 0.0 => f64::NAN,
            Fault::PerfectIsWorst => -sum / count as f64,
            _ => sum / count as f64,
        }
    }

    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        assert!(self.fault != Fault::PanicsOnFewRows || targets.ncols() > 4, "an index is out of bounds");
        let weight_of = row_weights(weights.filter(|_| self.fault != Fault::IgnoresWeights));
        let (mut sum, mut total) = (0.0, 0.0);
        for (row, (y, p)) in targets.columns().into_iter().zip(predictions.columns()).enumerate() {
            let weight = weight_of(row) * if self.fault == Fault::RowOrder { row as f64 } else { 1.0 };
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
            _ => Squared.standard_error(y, p, weights, parts).filter(|_| self.fault == Fault::None),
        }
    }

    fn traits(&self) -> LossTraits {
        LossTraits {
            degree: Some(if self.fault == Fault::WrongDegree { 1 } else { 2 }),
            is_over_outputs: true,
            range: [LossTraits::default().range[0], if self.fault == Fault::TooNarrow { 1.0 } else { f64::INFINITY }],
            ..LossTraits::default()
        }
    }
}

#[test]
fn what_is_right_keeps_every_law_on_the_standard_data() {
    check_loss_on_standard_data(&Mean { fault: Fault::None }, TOLERANCE).unwrap();
    for (kind, loss) in registry::every::<dyn Loss>(&[]).unwrap() {
        check_loss_on_standard_data(&*loss, TOLERANCE).map_err(|broken| broken.within(kind)).unwrap();
    }
}

#[test]
fn every_fault_is_found_by_its_law() {
    let problem = data::regression(16, 5, 4).outputs(2).weighted().problem();
    let check = |fault| check_loss(&Mean { fault }, &problem, TOLERANCE);
    FAULTS.into_iter().for_each(|(fault, law)| breaks(fault, law, check(fault)));
}

/// The standard error of a loss of all rows jointly depends on the row count, too.
#[test]
fn the_standard_error_of_all_rows_together_falls_with_their_number() {
    #[saved(Loss, "wrong_root")]
    struct Root {
        constant: bool,
    }

    impl Loss for Root {
        fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
            Squared.mean(targets, predictions, weights).sqrt()
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
    check_loss(&Root { constant: false }, &problem, TOLERANCE).unwrap();
    assert_eq!(broken_law(check_loss(&Root { constant: true }, &problem, TOLERANCE)), "standard_error");
}
