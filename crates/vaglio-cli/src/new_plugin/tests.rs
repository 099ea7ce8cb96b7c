//! Tests that the templates pass the laws of their roles; they are parts of this test program only.

#[path = "../../template/criterion.rs"]
mod criterion;
#[path = "../../template/learner.rs"]
mod learner;
#[path = "../../template/loss.rs"]
mod loss;
#[path = "../../template/map.rs"]
mod map;
#[path = "../../template/resampling.rs"]
mod resampling;
#[path = "../../template/search.rs"]
mod search;
#[path = "../../template/target_map.rs"]
mod target_map;

use vaglio::core::{Role, descriptions};
use vaglio::criteria::Loo;
use vaglio_testkit as kit;

#[test]
fn every_template_keeps_the_laws() -> Result<(), kit::LawViolation> {
    kit::check_criterion_on_standard_data(&criterion::Template::default(), 1e-9)?;
    kit::check_search_on_standard_data(&search::Template::default().into(), &Loo::default(), 1e-9)?;
    kit::check_learner_on_standard_data(&learner::Template::default(), 1e-9)?;
    kit::check_map_on_standard_data(&map::Template::default(), 1e-9)?;
    kit::check_target_map_on_standard_data(&target_map::Template::default(), 1e-9)?;
    kit::check_loss_on_standard_data(&loss::Template::default(), 1e-9)?;
    kit::check_resampling_on_standard_data(&resampling::Template::default())?;
    assert_eq!(descriptions().iter().filter(|d| d.kind == "template").count(), Role::ALL.len());
    Ok(())
}
