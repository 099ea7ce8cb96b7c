//! Laws that every vaglio component must keep, as functions to call from tests.
//!
//! A law takes any implementation. On failure it returns [`LawViolation`], one sentence with the law, the data and the
//! difference. Data too small to test a law also count as a failure, so no law passes unchecked.
//!
//! Tests of a plug-in call [`check_criterion_on_standard_data`], [`check_search_on_standard_data`],
//! [`check_learner_on_standard_data`], [`check_map_on_standard_data`], [`check_target_map_on_standard_data`],
//! [`check_loss_on_standard_data`] or [`check_resampling_on_standard_data`]. Each runs all laws of a role on data with
//! weights, classes, copies and missing cells, and reports every violation.
//!
//! [`check_criterion`], [`check_search`], [`check_learner`], [`check_map`], [`check_loss`] and [`check_resampling`] take
//! the data; [`CriterionLaws`], [`SearchLaws`], [`LearnerLaws`] and [`map`] have the laws one by one. [`data`] makes
//! seeded problems, [`registry`] finds every linked component.
//!
//! ```no_run
//! use vaglio_testkit::{check_criterion, data, registry};
//! for (kind, criterion) in registry::every::<dyn vaglio_core::Criterion>(&[])? {
//!     let design = data::regression(20, 6, 1).weighted().design(&[1.0], true);
//!     check_criterion(&*criterion, &design, 1e-9).map_err(|broken| broken.within(kind))?;
//! }
//! # Ok::<(), vaglio_testkit::LawViolation>(())
//! ```

mod criterion;
pub mod data;
pub mod design_copies;
mod law_violation;
mod learner;
mod loss;
pub mod map;
mod random;
pub mod registry;
mod replay;
mod resampling;
mod search;
mod tables;
mod target_map;
mod traces;
mod trial;
mod variation;

pub use criterion::{CriterionLaws, check_criterion, check_criterion_on_standard_data};
pub use law_violation::{LawResult, LawViolation, Tolerance};
pub use learner::{LearnerLaws, check_learner, check_learner_on_standard_data};
pub use loss::{check_loss, check_loss_on_standard_data};
pub use map::{check_map, check_map_on_standard_data};
pub use random::SplitMix64;
pub use resampling::{check_resampling, check_resampling_on_standard_data};
pub use search::{SearchLaws, check_search, check_search_on_standard_data};
pub use target_map::check_target_map_on_standard_data;

/// Whether `VAGLIO_CASES=all` asks the tests for all cases.
pub fn tries_all_cases() -> bool {
    std::env::var("VAGLIO_CASES").is_ok_and(|asked| asked == "all")
}

/// Runs work in a pool of one thread. Handing a small problem over to another thread takes longer than computing it.
pub fn on_one_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}
