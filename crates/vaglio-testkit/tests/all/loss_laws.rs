//! Every law of a loss fails on a faulty one, and holds on a correct one.

use crate::common::{TOLERANCE, broken_law, holds};
use ndarray::ArrayView2;
use vaglio_core::{Loss, LossTraits, Measure, saved};
use vaglio_testkit::{check_loss, check_loss_on_standard_data, data, registry};

/// The planted fault.
#[derive(Debug, Clone, Copy, PartialEq, vaglio_core::serde::Serialize, vaglio_core::serde::Deserialize)]
#[serde(crate = "vaglio_core::serde")]
enum Fault {
    None,
    Nan,
    IgnoresWeights,
    RowOrder,
    OtherRows,
    WrongDegree,
    NotOverOutputs,
    TooNarrow,
}

/// Mean squared error with one fault.
#[saved(Loss, "planted_loss")]
struct Wrong {
    fault: Fault,
}

impl Loss for Wrong {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        let square = |(y, p): (&f64, &f64)| (y - p) * (y - p);
        let sum: f64 = targets.iter().zip(predictions).map(square).sum();
        let outputs = if self.fault == Fault::NotOverOutputs { 1.0 } else { targets.len() as f64 };
        if self.fault == Fault::OtherRows { sum + 1.0 } else { sum / outputs }
    }

    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        let weights = weights.filter(|_| self.fault != Fault::IgnoresWeights);
        let (mut sum, mut total) = (0.0, 0.0);
        for (row, (y, p)) in targets.columns().into_iter().zip(predictions.columns()).enumerate() {
            let weight = weights.map_or(1.0, |w| w[row]) * if self.fault == Fault::RowOrder { row as f64 } else { 1.0 };
            let right = Wrong { fault: if self.fault == Fault::OtherRows { Fault::None } else { self.fault } };
            sum += weight * right.row_loss(&y.to_vec(), &p.to_vec());
            total += weight;
        }
        if self.fault == Fault::Nan { f64::NAN } else { sum / total }
    }

    fn traits(&self) -> LossTraits {
        LossTraits {
            measure: if self.fault == Fault::RowOrder { Measure::Whole } else { Measure::Rows },
            degree: Some(if self.fault == Fault::WrongDegree { 1 } else { 2 }),
            is_over_outputs: true,
            range: [0.0, if self.fault == Fault::TooNarrow { 1.0 } else { f64::INFINITY }],
            ..LossTraits::default()
        }
    }
}

#[test]
fn what_is_right_keeps_every_law_on_the_standard_data() {
    holds(check_loss_on_standard_data(&Wrong { fault: Fault::None }, TOLERANCE));
    for (kind, loss) in registry::every::<dyn Loss>(&[]).unwrap() {
        holds(check_loss_on_standard_data(&*loss, TOLERANCE).map_err(|broken| broken.within(kind)));
    }
}

#[test]
fn a_loss_that_is_wrong_is_found() {
    let problem = data::regression(16, 5, 4).outputs(2).weighted().problem();
    for (fault, law) in [
        (Fault::Nan, "never_nan"),
        (Fault::IgnoresWeights, "repeated_rows"),
        (Fault::RowOrder, "repeated_rows"),
        (Fault::OtherRows, "of_rows"),
        (Fault::WrongDegree, "degree"),
        (Fault::NotOverOutputs, "over_outputs"),
        (Fault::TooNarrow, "perfect"),
    ] {
        assert_eq!(broken_law(check_loss(&Wrong { fault }, &problem, TOLERANCE)), law, "{fault:?}");
    }
}
