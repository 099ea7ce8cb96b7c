//! A run from files to files.

mod as_csv;
mod calibration;
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
mod model;
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
mod streamed;
mod taken;
mod targets;
mod verified;
mod watched;
mod worth;
mod written;

pub use calibration::{Calibration, HeldOutBy, Logistic};
use data::prepare_sample;
pub use data::{Prepared, prepare};
pub(crate) use folder::heading;
pub use folder::{report, set_previous_aside, write_file};
pub use init::{Draft, InitOptions, init};
pub use intervals::{Bounds, FoldModel, SavedIntervals};
pub use model::{Observed, SavedModel};
pub use plan::plan;
pub use predictions::{Beside, Judged, Predictions};
pub use reading::Reading;
pub use run::{Outcome, RunOptions, run};
pub use streamed::Sink;
