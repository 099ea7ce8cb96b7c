//! Every law of a resampling fails on a faulty one, and holds on a correct one.

use crate::common::{broken_law, design, holds};
use std::cell::Cell;
use vaglio_core::{Classes, Design, Error, Resampling, Result, Split, saved, setting};
use vaglio_testkit::{check_resampling, check_resampling_on_standard_data};

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
}

/// Holds out the last rows, with one fault.
#[saved(Resampling, "planted_last")]
struct Last {
    fault: Fault,
}

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

impl Resampling for Last {
    fn splits(&self, design: &Design, _: Option<&Classes>) -> Result<Vec<Split>> {
        let rows = design.rows();
        if rows < 8 {
            return Err(Error::setting("rows", "four rows are held out, and as many are to be left"));
        }
        let last: Vec<usize> = (rows - 4..rows).collect();
        let split = Split::holding_out(last.clone());
        Ok(vec![match self.fault {
            Fault::None => split.training_on((0..rows - 6).collect()),
            Fault::NoSplits => return Ok(Vec::new()),
            Fault::NoRows => Split::holding_out(Vec::new()),
            Fault::NoTraining => split.training_on(Vec::new()),
            Fault::Outside => Split::holding_out(vec![rows]),
            Fault::Twice => Split::holding_out(vec![0, 0]),
            Fault::TrainsOnThem => split.training_on((0..rows).collect()),
            Fault::Restless => Split::holding_out(vec![CALLS.replace(CALLS.get() + 1) % rows]),
        }])
    }
}

#[test]
fn what_is_right_keeps_every_law_on_the_standard_data() {
    holds(check_resampling_on_standard_data(&Last { fault: Fault::None }));
}

#[test]
fn a_resampling_that_is_wrong_is_found() {
    for (fault, law) in [
        (Fault::NoSplits, "sound"),
        (Fault::NoRows, "sound"),
        (Fault::NoTraining, "sound"),
        (Fault::Outside, "sound"),
        (Fault::Twice, "sound"),
        (Fault::TrainsOnThem, "sound"),
        (Fault::Restless, "repeatable"),
    ] {
        assert_eq!(broken_law(check_resampling(&Last { fault }, &design())), law, "{fault:?}");
    }
}
