//! Limits of a run.

use super::{TimeSpan, ValidPipeline};
use std::time::Duration;
use vaglio_core::setting;
use vaglio_tables::budget::{Budget, ByteSize};

/// Upper limits of a run.
#[setting]
#[derive(PartialEq, Eq, Default)]
#[serde(default)]
pub struct Limits {
    /// Time limit, as in `10m`, `1h 30m` or a number of seconds; the run then ends with its results so far.
    #[optional]
    pub time: Option<TimeSpan>,
    /// Memory limit, as in `8GiB`, `500 MB` or a number of bytes; by default 80 % of the memory of the machine or its
    /// control group.
    #[optional]
    pub memory: Option<ByteSize>,
}

impl Limits {
    /// The memory budget of the run.
    pub fn budget(&self) -> Budget {
        self.memory.map_or_else(Budget::for_machine, |bytes| Budget::new(bytes.0))
    }
}

impl ValidPipeline {
    /// Time limit of a run or a fit.
    pub fn most_time(&self) -> Option<Duration> {
        self.limits.time.map(|span| span.0)
    }
}
