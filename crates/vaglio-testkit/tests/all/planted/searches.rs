//! The greedy search of `search_laws`, with typical authors' faults.

use super::Planted;
use crate::common::{ByDefinition, TOLERANCE, design};
use crate::search_laws::{Fault, Wrong};
use vaglio_testkit::check_search;

const FAULTS: [(&str, Fault, Option<&str>); 14] = [
    ("a wrong score", Fault::StepScore, Some("steps")),
    ("the last of columns that tie", Fault::HighestWins, Some("ties")),
    ("a stop that is ignored", Fault::IgnoresStop, Some("stops")),
    ("constant columns that are picked", Fault::TakesConstants, Some("constants")),
    ("constant columns that the result is to have", Fault::CountsConstants, Some("lacking")),
    ("a result that is not there", Fault::ChosenOutside, Some("entries")),
    ("an extent that is too small", Fault::OutlineShort, Some("extent")),
    ("a path that differs from run to run", Fault::Random, Some("deterministic")),
    ("an entry that is missing", Fault::EntryMissing, Some("entries")),
    ("an observer that is not told", Fault::Unobserved, Some("steps")),
    ("no result", Fault::NothingChosen, Some("entries")),
    ("a wrong standard error", Fault::StandardError, Some("entries")),
    ("a search that ends before the largest size", Fault::EndsEarly, None),
    ("the first entry as the result", Fault::ChoosesFirst, None),
];

pub fn planted() -> Vec<Planted> {
    let tried = |fault| check_search(&Wrong { fault }.into(), &ByDefinition {}, &design(), TOLERANCE);
    let all = FAULTS.map(|(name, fault, law)| (name, law, tried(fault)));
    all.into_iter().chain([("a right search", None, tried(Fault::None))]).collect()
}
