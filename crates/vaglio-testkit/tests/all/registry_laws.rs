//! Linked components are found, built and tested.

use crate::common::{ByDefinition, TOLERANCE, broken_law, holds};
use serde_json::json;
use vaglio_core::{Criterion, Design, Feature, Result, Score, part};
use vaglio_testkit::registry::{check_registry, every, every_search};
use vaglio_testkit::{check_learner, check_search, data};

/// A criterion with a setting that has no default.
#[part(Criterion, "scaled", summary = "a multiple", example = "criterion: {kind: scaled, by: 2.0}")]
struct Scaled {
    #[required]
    by: f64,
}

impl Criterion for Scaled {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let score = ByDefinition {}.evaluate(design, subset)?;
        Ok(Score { loss: self.by * score.loss, ..score })
    }
}

#[test]
fn every_component_is_made_by_its_kind() {
    let settings = [json!({"kind": "scaled", "by": 2.0})];
    let criteria = every::<dyn Criterion>(&settings).unwrap();
    assert_eq!(criteria.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["by_definition", "scaled"]);
    assert_eq!(format!("{:?}", criteria[1].1), "Scaled { by: 2.0 }");
    assert!(every_search(&[]).unwrap().iter().any(|(kind, _)| *kind == "forward"));
    assert_eq!(every::<dyn vaglio_core::Learner>(&[]).unwrap()[0].0, "plain");
}

#[test]
fn every_component_can_be_tried() {
    let design = data::regression(12, 4, 2).design(&[0.5], true);
    for (kind, search) in every_search(&[]).unwrap() {
        holds(check_search(&search, &ByDefinition {}, &design, TOLERANCE).map_err(|broken| broken.within(kind)));
    }
    for (kind, learner) in every::<dyn vaglio_core::Learner>(&[]).unwrap() {
        let problem = data::regression(12, 4, 2).problem();
        holds(check_learner(&*learner, &problem, TOLERANCE).map_err(|broken| broken.within(kind)));
    }
}

#[test]
fn a_component_that_cannot_be_made_or_is_not_there_is_found() {
    assert_eq!(every::<dyn Criterion>(&[]).unwrap_err().law, "registered");
    assert_eq!(every::<dyn vaglio_core::Map>(&[]).unwrap_err().law, "registered");
    let typo = [json!({"kind": "scale", "by": 2.0})];
    assert_eq!(every::<dyn Criterion>(&typo).unwrap_err().law, "registered");
}

#[test]
fn every_component_is_written_as_it_is_read() {
    holds(check_registry(&[json!({"kind": "scaled", "by": 2.0})]));
    assert_eq!(broken_law(check_registry(&[])), "registry");
}
