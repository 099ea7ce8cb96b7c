//! Memory limit, checked before memory is taken.

mod machine;
mod size;

pub use machine::{memory_below, peak, register_release, release, resident, resident_within};
pub use size::{ByteSize, shown};

use crate::scratch;
use std::fmt;
use vaglio_core::{Error, Result};

/// Memory limit of the process.
///
/// It is checked with the bytes needed before something large is allocated or read. The memory already held is measured
/// from the system, so nothing has to be returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    limit: u64,
    /// Memory of the machine, or of the control group, if that limits it.
    machine: Option<u64>,
}

/// Name of the setting.
const FIELD: &str = "limits.memory";

/// Bytes below which no check is made: the program's overhead varies as much.
const SMALL: u64 = 1 << 20;

impl Budget {
    /// Limit of this many bytes.
    pub fn new(limit: u64) -> Self {
        Budget { limit, machine: None }
    }

    /// 80 % of the memory of this machine, or of a lower limit of the process; no limit if neither is known.
    pub fn for_machine() -> Self {
        let machine = machine::memory();
        Budget { limit: machine.map_or(u64::MAX, |memory| memory / 5 * 4), machine }
    }

    /// Bytes of memory that may be taken.
    pub fn memory(&self) -> u64 {
        self.limit
    }

    /// Bytes that may be taken, memory and scratch space together.
    pub fn limit(&self) -> u64 {
        self.limit.saturating_add(scratch::bytes().map_or(0, |[used, free]| used + free))
    }

    /// Rejects an allocation of `bytes` that would exceed the limit.
    ///
    /// # Errors
    /// [`Error::Setting`] at `limits.memory`, with the purpose, the bytes needed and the remedy.
    pub fn need(&self, bytes: f64, what: impl fmt::Display, remedy: &str) -> Result<()> {
        if bytes < SMALL as f64 {
            return Ok(());
        }
        let resident = machine::resident().unwrap_or(0);
        let held = resident + scratch::bytes().map_or(0, |[used, _]| used);
        match held as f64 + bytes > self.limit() as f64 || resident > self.limit {
            true => {
                let (needed, held) = (shown(bytes), shown(held as f64));
                let message = format_args!("{what} would take about {needed} beside the {held} that are held");
                Err(self.limit_error(message, remedy))
            }
            false => Ok(()),
        }
    }

    /// Fails if the process already exceeds the limit.
    ///
    /// # Errors
    /// Returns the errors of [`Budget::need`].
    pub fn check_limit(&self, what: impl fmt::Display, remedy: &str) -> Result<()> {
        self.need(SMALL as f64, what, remedy)
    }

    /// Rejects something that needs `bytes` in total, whatever the process holds.
    ///
    /// # Errors
    /// [`Error::Setting`] at `limits.memory`, like [`Budget::need`].
    pub fn need_in_total(&self, bytes: f64, what: impl fmt::Display, remedy: &str) -> Result<()> {
        match bytes > self.limit() as f64 {
            true => Err(self.limit_error(format_args!("{what} would take about {}", shown(bytes)), remedy)),
            false => Ok(()),
        }
    }

    /// Error of an allocation that the system refused.
    ///
    /// # Errors
    /// [`Error::Setting`], always.
    pub fn refuse<T>(&self, bytes: f64, what: impl fmt::Display, remedy: &str) -> Result<T> {
        let message = format_args!("{what} would take about {}, which the system does not give", shown(bytes));
        Err(self.limit_error(message, remedy))
    }

    fn limit_error(&self, message: fmt::Arguments<'_>, remedy: &str) -> Error {
        Error::setting(FIELD, format!("{message}, and the limit is {self}; {remedy}"))
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(self.limit as f64))?;
        if let Some(memory) = self.machine {
            write!(f, ", 80 % of the {} of this machine", shown(memory as f64))?;
        }
        match scratch::bytes() {
            Some([used, free]) => write!(f, " and {} of scratch space", shown((used + free) as f64)),
            None => Ok(()),
        }
    }
}
