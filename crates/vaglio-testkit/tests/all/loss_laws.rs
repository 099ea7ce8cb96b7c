//! Every law of a loss fails on a faulty one, and holds on a correct one.

use crate::common::{TOLERANCE, breaks};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use vaglio_core::{Loss, LossTraits, row_weights, saved};
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
    PanicsOnFewRows,
}

const FAULTS: [(Fault, &str); 10] = [
    (Fault::NanAtZero, "never_nan"),
    (Fault::IgnoresWeights, "repeated_rows"),
    (Fault::State, "repeated_rows"),
    (Fault::RowOrder, "row_order"),
    (Fault::OtherThanRows, "of_rows"),
    (Fault::WrongDegree, "degree"),
    (Fault::FirstOutput, "over_outputs"),
    (Fault::TooNarrow, "perfect"),
    (Fault::PerfectIsWorst, "perfect"),
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
