//! Holding out the last rows, with possible faults.

use super::Planted;
use super::Said::{Found, Legal};
use std::cell::Cell;
use vaglio_core::{Classes, Design, Resampling, Split, saved, setting};
use vaglio_testkit::{LawViolation, check_resampling_on_standard_data};

#[setting]
#[derive(Copy, PartialEq)]
enum Fault {
    None,
    InBoth,
    Moves,
    Beyond,
    ByTarget,
}

pub fn planted() -> Vec<Planted> {
    let spreads = "folds that spread classes go by targets as well; what such a loss means is the author's to say";
    let all = [
        ("a row in both parts", Fault::InBoth, Found("sound")),
        ("splits that move", Fault::Moves, Found("repeatable")),
        ("a row that is not there", Fault::Beyond, Found("sound")),
        ("splits by the target", Fault::ByTarget, Legal(spreads)),
    ];
    all.into_iter().map(|(name, fault, said)| (name, said, tried(fault))).collect()
}

pub fn sound() -> Vec<(&'static str, Result<(), LawViolation>)> {
    vec![("a resampling", tried(Fault::None))]
}

fn tried(fault: Fault) -> Result<(), LawViolation> {
    check_resampling_on_standard_data(&Last { fault })
}

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

#[saved(Resampling, "outside_last")]
struct Last {
    fault: Fault,
}

impl Resampling for Last {
    fn splits(&self, design: &Design, _: Option<&Classes>) -> vaglio_core::Result<Vec<Split>> {
        let rows = design.rows();
        let mut order: Vec<usize> = (0..rows).collect();
        if self.fault == Fault::ByTarget {
            let target = |row: usize| design.targets()[[0, row]];
            order.sort_by(|&a, &b| target(a).total_cmp(&target(b)));
        }
        let first = rows - rows.min(4) / 2;
        let split = Split::holding_out(order[first..].to_vec()).training_on(order[..first].to_vec());
        Ok(vec![match self.fault {
            Fault::InBoth => Split::holding_out(vec![0]).training_on((0..rows).collect()),
            Fault::Moves => Split::holding_out(vec![CALLS.replace(CALLS.get() + 1) % rows]),
            Fault::Beyond => Split::holding_out(vec![rows]),
            _ => split,
        }])
    }
}
