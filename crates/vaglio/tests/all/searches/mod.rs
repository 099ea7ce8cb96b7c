//! Searches against plain enumeration, with scores by the definition.

mod bias;
mod blocks;
mod bounded_tree;
mod common;
mod constraints;
mod empty_subset;
mod random;
mod settings;
mod subsets;
mod swaps;
mod walks;
