//! 68 faults in six roles, planted by an independent engineer: laws find all but four, which are no faults.

mod criteria;
mod learners;
mod losses;
mod maps;
mod resamplings;
mod searches;

use vaglio_testkit::LawViolation;

/// Expected verdict on a planted fault.
enum Said {
    /// This law finds it.
    Found(&'static str),
    /// No fault, for this reason.
    Legal(&'static str),
}
use Said::{Found, Legal};

/// A fault, its expected verdict, and the outcome of the laws.
type Planted = (&'static str, Said, Result<(), LawViolation>);

/// Returns the names of the violated laws.
fn laws(outcome: &Result<(), LawViolation>) -> Vec<&'static str> {
    let broken = outcome.as_ref().err();
    broken.iter().flat_map(|b| std::iter::once(*b).chain(&b.others)).map(|b| b.law).collect()
}

fn all() -> Vec<Planted> {
    [
        criteria::planted(),
        searches::planted(),
        learners::planted(),
        losses::planted(),
        maps::planted(),
        resamplings::planted(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_planted_fault_is_found_by_its_law_or_is_none() {
    let all = all();
    let mut wrong = Vec::new();
    for (fault, said, outcome) in &all {
        let laws = laws(outcome);
        match said {
            Found(law) if !laws.contains(law) => wrong.push(format!("{fault} is to break `{law}`; broken: {laws:?}")),
            Legal(why) if !laws.is_empty() => wrong.push(format!("{fault} is none, since {why}: {outcome:?}")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let legal = all.iter().filter(|(_, said, _)| matches!(said, Legal(_))).count();
    assert_eq!((all.len(), legal), (68, 4));
}

#[test]
fn eight_sound_parts_keep_every_law() {
    let sound =
        [criteria::sound(), searches::sound(), learners::sound(), losses::sound(), maps::sound(), resamplings::sound()];
    let all: Vec<_> = sound.into_iter().flatten().collect();
    all.iter().for_each(|(what, outcome)| assert!(outcome.is_ok(), "{what}: {outcome:?}"));
    assert_eq!(all.len(), 8);
}
