//! The criteria keep every law, and have the values of their formulas.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

mod hsic;
mod mrmr_correlation;
mod mrmr_information;
mod qpfs;

use vaglio_core::{Criterion, Design, Feature, Problem, Readout};
use vaglio_testkit::{Broken, registry};

#[track_caller]
fn holds(outcome: Result<(), Broken>) {
    if let Err(broken) = outcome {
        panic!("{broken}");
    }
}

fn design(problem: &Problem) -> Design {
    Design::identity(problem, Readout::new(vec![1.0], true).unwrap())
}

fn score(criterion: &dyn Criterion, problem: &Problem, subset: &[Feature]) -> f64 {
    criterion.evaluate(&design(problem), subset).unwrap().loss
}

#[test]
fn they_are_registered_and_written_as_they_are_read() {
    holds(registry::check_registry(&[]));
    let all = registry::every_criterion(&[]).unwrap();
    assert_eq!(
        all.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
        ["hsic", "mrmr", "mrmr_information", "nhsic", "qpfs"]
    );
}
