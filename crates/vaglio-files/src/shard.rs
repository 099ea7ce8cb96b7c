//! Distributed runs: several processes share the repetitions of a run through a common folder.
//!
//! A run is a function of its data, its settings and the pieces in its journal. A plan numbers the independent pieces:
//! outer folds, shuffles, learning-curve points, half-samples and the search on all rows. Index I of N computes every
//! N-th piece from I. The pieces of all indexes form the journal that one final run resumes from. Pieces do not depend
//! on where they were computed, so the result equals that of one process.
//!
//! The search on all rows is one piece of work. Other processes assist it only with a criterion that gathers numbers of
//! all columns, such as `nhsic`: each computes the numbers of some columns (`parts`).
//!
//! The folder holds the plan, `shards.json`. A running index I appends completed work to `shards/I/journal.jsonl`; when
//! all its units are done, `shards/I.jsonl` appears complete. Every line of both has a checksum. A second attempt at a
//! slow or lost index uses `shards/I.1`, the next `shards/I.2`.

mod ledger;
mod parts;
mod plan;
mod run;

pub use ledger::{ShardProgress, ShardState, Shards};
pub use plan::build;
