//! Criteria, losses and learners of [vaglio](vaglio_core) that are programs in any language, over standard input and
//! output.
//!
//! `use vaglio_external as _;` in a program registers `criterion: {kind: external}`, `loss: {kind: external}` and
//! `learner: {kind: external}` for pipeline files. A program named by a pipeline runs with the user's rights. So all
//! are rejected until [`allow_programs`] is called, as by `vaglio --allow-programs`.
//!
//! Messages are lines of JSON; tables are inside them, or follow as Arrow. The guide's page *Write a part in another
//! language* describes all of them.

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
