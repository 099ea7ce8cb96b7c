//! The check of a registry finds broken parts. It stands here since the tests of the test kit itself register none.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use vaglio_core::{Criterion, Design, Feature, Result, Score, part};
use vaglio_testkit::registry::check_registry;

/// A component with a required setting.
#[part(Criterion, "needs_a_setting")]
struct Needs {
    #[required]
    by: f64,
}

/// A component that accepts settings of any name.
#[part(Criterion, "takes_any_setting")]
#[serde(from = "BTreeMap<String, Value>")]
struct TakesAny {
    all: BTreeMap<String, f64>,
}

impl From<BTreeMap<String, Value>> for TakesAny {
    fn from(_: BTreeMap<String, Value>) -> Self {
        TakesAny::default()
    }
}

impl Criterion for Needs {
    fn evaluate(&self, _: &Design, _: &[Feature]) -> Result<Score> {
        Ok(Score::new(self.by))
    }
}

impl Criterion for TakesAny {
    fn evaluate(&self, _: &Design, _: &[Feature]) -> Result<Score> {
        Ok(Score::new(self.all.values().sum()))
    }
}

#[test]
fn settings_without_a_default_and_unknown_ones_that_are_taken_are_found_in_one_run() {
    let broken = check_registry(&[]).map_err(|broken| broken.to_string());
    let text = broken.expect_err("two of two are broken");
    let hint = r#"are given to the check: `&[json!({"kind": "needs_a_setting", …})]`, found the error `missing field"#;
    assert!(text.contains(hint), "{text}");
    assert!(text.contains("criterion `needs_a_setting` of vaglio-search: expected to be made from"), "{text}");
    let any = "criterion `takes_any_setting` of vaglio-search: expected to refuse the setting `no_such_setting`";
    assert!(text.contains(any) && text.ends_with("found that it is accepted"), "{text}");
    assert_eq!(text.lines().count(), 2);
    let given = check_registry(&[json!({"kind": "needs_a_setting", "by": 2.0})]).map_err(|broken| broken.to_string());
    assert!(!given.expect_err("one is broken").contains("needs_a_setting"));
}
