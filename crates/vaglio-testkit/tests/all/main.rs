//! Tests of the laws: correct components pass, faulty ones are caught.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test stops at what is wrong")]

mod common;
mod criterion_laws;
mod data_is_what_it_says;
mod learner_laws;
mod loss_laws;
mod map_laws;
mod registry_laws;
mod resampling_laws;
mod search_laws;
