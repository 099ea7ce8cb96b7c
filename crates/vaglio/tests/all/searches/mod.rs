//! Searches against plain enumeration, with scores by the definition.

mod bias;
mod blocks;
mod bounded;
mod common;
mod constraints;
mod empty;
mod random;
mod settings;
mod subsets;
mod swaps;
mod walks;
