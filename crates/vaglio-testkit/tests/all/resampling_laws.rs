//! Every law of a resampling fails on a faulty one, and holds on a correct one.

use crate::common::breaks;
use std::cell::Cell;
use vaglio_core::{Classes, Error, Problem, Resampling, Result, Split, saved, setting};
use vaglio_testkit::check_resampling_on_standard_data;

/// The planted fault.
#[setting]
#[derive(Copy, PartialEq)]
enum Fault {
    None,
    NoSplits,
    NoRows,
    NoTraining,
    Outside,
    Twice,
    TrainsOnThem,
    Restless,
    PanicsOnFewRows,
    /// No fault: folds that spread classes go by targets as well; the meaning of such a loss is the author's decision.
    ByTarget,
}

const FAULTS: [(Fault, &str); 8] = [
    (Fault::NoSplits, "sound"),
    (Fault::NoRows, "sound"),
    (Fault::NoTraining, "sound"),
    (Fault::Outside, "sound"),
    (Fault::Twice, "sound"),
    (Fault::TrainsOnThem, "sound"),
    (Fault::Restless, "repeatable"),
    (Fault::PanicsOnFewRows, "few_rows"),
];

/// Holds out the last rows, with one fault.
#[saved(Resampling, "last")]
struct Last {
    fault: Fault,
}

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

impl Resampling for Last {
    fn splits(&self, problem: &Problem, _: Option<&Classes>) -> Result<Vec<Split>> {
        let rows = problem.rows();
        assert!(self.fault != Fault::PanicsOnFewRows || rows > 4, "an index is out of bounds");
        if rows < 8 {
            return Err(Error::setting("rows", "four rows are held out, and as many are to be left"));
        }
        let mut order: Vec<usize> = (0..rows).collect();
        if self.fault == Fault::ByTarget {
            let target = |row: usize| problem.targets()[[0, row]];
            order.sort_by(|&a, &b| target(a).total_cmp(&target(b)));
        }
        let split = Split::holding_out(order[rows - 4..].to_vec());
        Ok(vec![match self.fault {
            Fault::NoSplits => return Ok(Vec::new()),
            Fault::NoRows => Split::holding_out(Vec::new()),
            Fault::NoTraining => split.training_on(Vec::new()),
            Fault::Outside => Split::holding_out(vec![rows]),
            Fault::Twice => Split::holding_out(vec![0, 0]),
            Fault::TrainsOnThem => split.training_on((0..rows).collect()),
            Fault::Restless => Split::holding_out(vec![CALLS.replace(CALLS.get() + 1) % rows]),
            _ => split.training_on(order[..rows - 6].to_vec()),
        }])
    }
}

#[test]
fn what_is_right_keeps_every_law() {
    for fault in [Fault::None, Fault::ByTarget] {
        check_resampling_on_standard_data(&Last { fault }).unwrap();
    }
}

#[test]
fn every_fault_is_found_by_its_law() {
    let check = |fault| check_resampling_on_standard_data(&Last { fault });
    FAULTS.into_iter().for_each(|(fault, law)| breaks(fault, law, check(fault)));
}
