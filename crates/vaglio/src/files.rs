//! A run from files to files.

mod as_csv;
mod claim;
mod column_types;
mod correlations;
mod curve;
mod data;
mod destination;
mod figures;
mod findings;
mod folder;
mod halves;
mod holdout;
mod importance;
#[cfg(feature = "parquet")]
mod in_parquet;
mod init;
mod intervals;
mod journal;
mod memory;
mod monitor;
mod origins;
mod pair;
mod plan;
mod predict;
mod predictions;
mod read_options;
mod record;
mod repetition;
mod roles;
mod rows;
mod run;
mod series;
mod settings;
mod stream;
mod sync;
mod targets;
mod verify;
mod write;

use data::prepare_sample;
pub use data::{Prepared, prepare};
pub use folder::{report, set_previous_aside};
pub use init::{Draft, InitOptions, init};
pub use plan::plan;
pub use predictions::{Beside, Judged, Predictions};
pub use run::{RunOptions, RunOutcome, run};
pub use stream::Sink;
