//! Where, on what and in which precision a run computes.

use super::check_threads;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vaglio_core::Result;

/// Where and on how many threads to compute, and whether the table is kept in memory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EngineSpec {
    /// Where: on this machine.
    kind: Location,
    /// Threads; 0 for as many as there are processors. The result does not depend on it.
    pub threads: usize,
    /// Whether training files are read in batches and reduced to their moments.
    pub stream: Streaming,
    /// How many digits columns of numbers are kept with; bytes stay bytes.
    pub precision: Precision,
}

/// Whether training files are read in batches, so that they may be larger than memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Streaming {
    /// Where the table would take more than `limits.memory`, and its moments serve all that is asked.
    #[default]
    Auto,
    /// In any case; what moments cannot serve is refused.
    Always,
    /// Never: a table that would take more than `limits.memory` is refused.
    Never,
}

/// How many digits columns are kept with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// All 53 bits of doubles.
    #[default]
    Double,
    /// The 24 bits of single precision, at half the memory; sums are of doubles, and `numerics.single` of the result says what it
    /// changed.
    Single,
}

/// The word for this machine in pipeline files, where there is no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Location {
    /// On this machine.
    #[default]
    Local,
}

impl EngineSpec {
    /// Checks what needs no data.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] with the field's path in the pipeline.
    pub(super) fn check(&self) -> Result<()> {
        check_threads("engine.threads", self.threads)
    }
}
