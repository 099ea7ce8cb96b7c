//! Linked components are found, built and tested.

use crate::common::broken_law;
use crate::search_laws::RIGHT;
use serde_json::json;
use vaglio_core::{Criterion, Design, Feature, Learner, Map, Result, Score, part};
use vaglio_search::Search;
use vaglio_testkit::registry::{check_registry, every};

/// A criterion with a setting that has no default.
#[part(Criterion, "scaled", summary = "a multiple", example = "criterion: {kind: scaled, by: 2.0}")]
struct Scaled {
    #[required]
    by: f64,
}

impl Criterion for Scaled {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let score = RIGHT.evaluate(design, subset)?;
        Ok(Score { loss: self.by * score.loss, ..score })
    }
}

#[test]
fn every_component_is_made_by_its_kind() {
    let criteria = every::<dyn Criterion>(&[json!({"kind": "scaled", "by": 2.0})]).unwrap();
    assert_eq!(format!("{criteria:?}"), r#"[("scaled", Scaled { by: 2.0 })]"#);
    assert!(every::<Search>(&[]).unwrap().iter().any(|(kind, _)| *kind == "greedy"));
    assert_eq!(every::<dyn Learner>(&[]).unwrap()[0].0, "plain");
}

#[test]
fn a_component_that_cannot_be_made_or_is_not_there_is_found() {
    assert_eq!(every::<dyn Criterion>(&[]).unwrap_err().law, "registered");
    assert_eq!(every::<dyn Map>(&[]).unwrap_err().law, "registered");
    assert_eq!(every::<dyn Criterion>(&[json!({"kind": "scale", "by": 2.0})]).unwrap_err().law, "registered");
}

#[test]
fn every_component_is_written_as_it_is_read() {
    check_registry(&[json!({"kind": "scaled", "by": 2.0})]).unwrap();
    assert_eq!(broken_law(check_registry(&[])), "registry");
}
