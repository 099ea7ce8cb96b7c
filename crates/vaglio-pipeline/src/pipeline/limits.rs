//! What a run may take.

use super::{TimeSpan, ValidPipeline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use vaglio_tables::budget::{Budget, ByteSize};

/// What a run may take at most.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Time, as in `10m`, `1h 30m` or a number of seconds, after which a run ends with what it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeSpan>,
    /// Memory, as in `8GiB`, `500 MB` or a number of bytes; 80 % of what the machine, or its control group, has when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
}

impl Limits {
    /// Whether nothing is limited but by default.
    pub fn is_empty(&self) -> bool {
        *self == Limits::default()
    }

    /// The memory that the run may take.
    pub fn budget(&self) -> Budget {
        self.memory.map_or_else(Budget::of_machine, |bytes| Budget::of(bytes.0))
    }
}

impl ValidPipeline {
    /// The time that a run, or a fit, may take.
    #[doc(hidden)]
    pub fn most_time(&self) -> Option<Duration> {
        self.0.limits.time.map(|span| span.0)
    }

    /// The memory that it may take, where the settings say so.
    pub(crate) fn most_memory(&self) -> Option<Budget> {
        self.0.limits.memory.map(|bytes| Budget::of(bytes.0))
    }
}
