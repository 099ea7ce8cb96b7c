//! Every law of a learner fails on a faulty one, and holds on a correct one.

mod mixtures;
mod ridge;

use crate::common::{Fitted, Plain, TOLERANCE, breaks, broken_law, laws};
use ndarray::Array2;
use ridge::{Fault, Wrong};
use serde::Deserialize;
use vaglio_core::{
    Coefficients, Columns, Feature, Learner, Model, ModelData, Problem, Readout, Result, TrainedReadout, saved,
};
use vaglio_testkit::{LearnerLaws, check_learner, check_learner_on_standard_data, data};

/// Faults with the law that finds each.
const FAULTS: [(Fault, &str); 27] = [
    (Fault::IgnoresWeights, "retrained"),
    (Fault::IgnoresWeights, "whole_weights"),
    (Fault::LosesADigit, "saved"),
    (Fault::WrongRows, "saved"),
    (Fault::Nan, "saved"),
    (Fault::OtherLambda, "retrained"),
    (Fault::ShiftedPredictions, "coefficients"),
    (Fault::NoCoefficients, "coefficients"),
    (Fault::NanWithoutRows, "degenerate"),
    (Fault::FailsOnCopies, "degenerate"),
    (Fault::FailsOnEmpty, "degenerate"),
    (Fault::AnyFile, "damaged"),
    (Fault::PanicsOnFile, "damaged"),
    (Fault::OddSettings, "check"),
    (Fault::WeightsUnseen, "whole_weights"),
    (Fault::RowOrder, "whole_weights"),
    (Fault::Batch, "rows_alone"),
    (Fault::SubsetOrder, "subset_order"),
    (Fault::UnsavedField, "saved"),
    (Fault::Restless, "retrained"),
    (Fault::UncheckedFile, "damaged"),
    (Fault::PanicsOnEmpty, "degenerate"),
    (Fault::PanicsOnFewRows, "few_rows"),
    (Fault::Outside, "outside_unseen"),
    (Fault::CountsOutside, "outside_unseen"),
    (Fault::Names, "names_unseen"),
    (Fault::GroupNumbers, "group_numbers_unseen"),
];

fn problem() -> Problem {
    data::regression(16, 5, 4).groups(4).weighted().problem()
}

#[test]
fn what_is_right_keeps_every_law() {
    check_learner_on_standard_data(&Plain::default(), TOLERANCE).unwrap();
    for fault in [Fault::None, Fault::Refitted] {
        check_learner_on_standard_data(&Wrong { fault }, TOLERANCE).unwrap();
    }
    check_learner(&Wrong { fault: Fault::GroupSizes }, &problem(), TOLERANCE).unwrap();
    check_learner(&mixtures::Mixed { fault: mixtures::Fault::None }, &problem(), TOLERANCE).unwrap();
}

#[test]
fn every_fault_is_found_by_its_law() {
    for (fault, law) in FAULTS {
        breaks(fault, law, check_learner(&Wrong { fault }, &problem(), TOLERANCE));
    }
    for (fault, law) in mixtures::FAULTS {
        breaks(fault, law, check_learner(&mixtures::Mixed { fault }, &problem(), TOLERANCE));
    }
    // No other law sees a file that is not checked, or columns that are counted.
    let unchecked = mixtures::Mixed { fault: mixtures::Fault::ChecksNothing };
    assert_eq!(laws(&check_learner(&unchecked, &problem(), TOLERANCE)), ["damaged"]);
    let counted = Wrong { fault: Fault::CountsOutside };
    assert_eq!(laws(&check_learner(&counted, &problem(), TOLERANCE)), ["outside_unseen"]);
}

#[test]
fn a_model_that_cannot_be_loaded_is_found() {
    #[saved(Learner, "unsaved")]
    struct Unsaved {}

    impl Learner for Unsaved {
        fn readout(&self) -> Result<Option<Readout>> {
            Ok(None)
        }

        fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
            let inner = Fitted::new(problem, subset, 1.0, None)?;
            Model::new(Infinite { bound: f64::INFINITY, inner })
        }
    }

    /// JSON has no infinity: it becomes null.
    #[saved(ModelData, "infinite")]
    struct Infinite {
        bound: f64,
        inner: Fitted,
    }

    impl ModelData for Infinite {
        fn inputs(&self) -> &[Feature] {
            &self.inner.inputs
        }

        fn check(&self) -> Result<()> {
            self.inner.coefficients.check(self.inner.inputs.len())
        }

        fn predict(&self, inputs: &Columns, _: Option<&[u32]>) -> Result<Array2<f64>> {
            Ok(self.inner.coefficients.predict_columns(inputs)?.mapv(|v| v.min(self.bound)))
        }
    }
    assert_eq!(broken_law(LearnerLaws::new(&Unsaved {}, &problem(), 0.0).saved()), "saved");
}

#[test]
fn a_model_that_is_read_with_what_it_does_not_know_is_found() {
    #[saved(Learner, "mean")]
    struct Mean {}

    impl Learner for Mean {
        fn readout(&self) -> Result<Option<Readout>> {
            Ok(None)
        }

        fn refit(&self, _: &Problem, subset: &[Feature]) -> Result<Model> {
            let coefficients = Coefficients { weights: Array2::zeros((subset.len(), 1)), intercept: vec![0.5] };
            Model::new(Open { inputs: subset.to_vec(), coefficients })
        }
    }

    #[saved(ModelData, "open")]
    #[serde(from = "Loose")]
    struct Open {
        inputs: Vec<Feature>,
        coefficients: Coefficients,
    }

    #[derive(Deserialize)]
    struct Loose {
        inputs: Vec<Feature>,
        coefficients: Coefficients,
    }

    impl From<Loose> for Open {
        fn from(Loose { inputs, coefficients }: Loose) -> Self {
            Open { inputs, coefficients }
        }
    }

    impl ModelData for Open {
        fn inputs(&self) -> &[Feature] {
            &self.inputs
        }

        fn readout(&self) -> Option<TrainedReadout<'_>> {
            Some(TrainedReadout { lambda: 1.0, coefficients: &self.coefficients, map: None })
        }
    }
    let broken = check_learner(&Mean {}, &data::regression(16, 5, 4).problem(), TOLERANCE).unwrap_err().to_string();
    assert!(
        broken.ends_with("with a field `no_such_field`: expected to be refused, found that it is read"),
        "{broken}"
    );
}

#[test]
fn data_with_nothing_to_see_are_refused() {
    let problem = data::regression(16, 2, 4).problem();
    assert_eq!(broken_law(check_learner(&Plain::default(), &problem, TOLERANCE)), "saved");
}
