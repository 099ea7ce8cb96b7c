//! Typical authors' faults, one component each: the laws find all but those that are no faults.

mod criteria;
mod learners;
mod maps;
mod searches;

use vaglio_testkit::LawViolation;

/// A faulty component, the law expected to find it (`None` for no fault), and the outcome of the laws.
type Planted = (&'static str, Option<&'static str>, Result<(), LawViolation>);

fn of_parts() -> Vec<Planted> {
    [criteria::planted(), searches::planted(), learners::planted(), maps::planted()].concat()
}

#[test]
fn every_fault_is_found_by_its_law_and_what_is_no_fault_is_not() {
    for (fault, law, outcome) in of_parts() {
        let broken = outcome.as_ref().err();
        let laws: Vec<&str> = broken.iter().flat_map(|b| std::iter::once(*b).chain(&b.others)).map(|b| b.law).collect();
        match law {
            Some(law) => assert!(laws.contains(&law), "{fault} is to break `{law}`; broken: {laws:?}"),
            None => assert!(laws.is_empty(), "{fault} is no fault: {outcome:?}"),
        }
    }
}

/// Four more concern linked components: settings without a default and accepted unknown settings (`registry`), and
/// differing or missing identifiers, which do not compile since a component has one attribute.
#[test]
fn all_faults_of_parts_are_tried() {
    assert_eq!(of_parts().len(), 52 + 4, "with a part of each role that has no fault");
}
