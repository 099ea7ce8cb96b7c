//! A run from files to files.

mod as_csv;
mod beside;
mod claim;
mod correlations;
mod curve;
mod data;
mod destination;
mod evaluated;
mod folder;
#[cfg(feature = "parquet")]
mod in_parquet;
mod init;
mod intervals;
mod journal;
mod memory;
mod monitor;
mod paired;
mod plan;
mod predicting;
mod predictions;
mod reading;
mod recorded;
mod repetition;
mod roles;
mod run;
mod series;
mod set_aside;
mod settings;
mod streamed;
mod taken;
mod targets;
mod verified;
mod worth;
mod written;

use data::prepare_sample;
pub use data::{Prepared, prepare};
pub use folder::{report, set_previous_aside};
pub use init::{Draft, InitOptions, init};
pub use plan::plan;
pub use predictions::{Beside, Judged, Predictions};
pub use run::{RunOptions, RunOutcome, run};
pub use streamed::Sink;
