//! A run whose repetitions several processes share, by a folder that all of them see.
//!
//! A run is a function of its data, its settings and the pieces that its journal keeps. A plan numbers those that depend on
//! nothing but these, outer folds, shuffles, points of a learning curve and halves, and the search on all rows; an index of N does
//! every N-th, and the pieces of all indexes are the journal from which one run goes on to its result. Pieces are the same
//! wherever they were done, so the result is that of one process.
//!
//! The search on all rows may be made by several processes together, each of which makes what is asked of some of the columns (`parts`).
//!
//! The folder holds `shards.json`, the plan; while index I is run `shards/I/journal.jsonl`, to which finished work is appended;
//! and `shards/I.jsonl`, which appears whole when all units of the index are done. Every line of both has a checksum. An attempt apart,
//! beside one that is slow or lost, is in `shards/I.1`, the next in `shards/I.2`.

mod build;
mod ledger;
mod merge;
mod parts;
mod plan;
mod run;
mod share;
mod state;
mod units;
mod work;

pub use build::build;
pub use ledger::{ShardLead, Shards};
pub use plan::ShardCount;
pub use state::{ShardProgress, ShardState};
pub(super) use units::WorkUnits;
