//! Criteria, losses and learners of [vaglio](vaglio_core) that are programs in any language, over standard input and output.
//!
//! `use vaglio_external as _;` in a program makes `criterion: {kind: external}`, `loss: {kind: external}` and
//! `learner: {kind: external}` known to its pipeline files. A pipeline that names a program runs it with the rights of the user:
//! so each is refused until [`allow_programs`] is called, which `vaglio --allow-programs` does.
//!
//! Messages are lines of JSON; tables come within them, or as Arrow after them. The guide's page *Write a part in another
//! language* has all of them.

mod child;
mod criterion;
mod learner;
mod loss;
mod pool;
mod program;
mod table;

pub use child::end_programs;
pub use criterion::ExternalCriterion;
pub use learner::ExternalLearner;
pub use loss::ExternalLoss;
pub use program::{ExternalProgram, allow_programs};
