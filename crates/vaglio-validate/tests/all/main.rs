//! Leave-one-out and k-fold against their definitions.
#![allow(missing_docs, clippy::unwrap_used)]

mod cells;
mod designs;
mod engines;
mod held_out_predictions;
