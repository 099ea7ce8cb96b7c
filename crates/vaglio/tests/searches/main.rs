//! Searches against plain enumeration, with scores by the definition.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod blocks;
mod common;
mod settings;
mod subsets;
mod swaps;
mod walks;
