//! Tests the laws of target maps.

use vaglio_template::Template;

#[test]
fn every_law_holds() -> Result<(), vaglio_testkit::LawViolation> {
    vaglio_testkit::check_target_map_on_standard_data(&Template::default(), 1e-9)
}

#[test]
fn it_is_known_by_its_word() -> Result<(), vaglio_testkit::LawViolation> {
    vaglio_testkit::registry::check_registry(&[])
}
