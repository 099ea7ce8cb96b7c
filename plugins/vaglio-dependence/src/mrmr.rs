//! Minimum redundancy, maximum relevance: one objective over a measure of pairs of columns.

pub(crate) mod correlation;
mod evaluator;
mod information;
mod pairwise_dependence;

pub use correlation::Mrmr;
pub use information::MrmrInformation;
pub use pairwise_dependence::Scheme;
