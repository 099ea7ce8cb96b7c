//! Where, on what and in which precision a run computes.

use super::check_threads;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vaglio_core::{Error, Result};

/// Where and on how many threads to compute, and whether the table is kept in memory.
///
/// `dask` and `spark` share the units of `files::Shards` between the workers of such an engine; the program starts
/// them, by the Python package.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EngineSpec {
    /// Where: on this machine, or on the workers of Dask or Spark.
    kind: Location,
    /// The address of the scheduler of Dask, as in `tcp://host:8786`.
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduler: Option<String>,
    /// The master of Spark, as in `spark://host:7077` or `local[2]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    master: Option<String>,
    /// The folder of the ledger of a run on workers, relative to this file; all of them see it under one path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ledger: Option<String>,
    /// Threads; 0 for as many as there are processors, and one for a unit on a worker. The result does not depend on it.
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

/// Where a run is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Location {
    /// On this machine.
    #[default]
    Local,
    /// On the workers of a scheduler of Dask.
    Dask,
    /// On the executors of Spark.
    Spark,
}

impl Location {
    fn word(self) -> &'static str {
        match self {
            Location::Local => "local",
            Location::Dask => "dask",
            Location::Spark => "spark",
        }
    }
}

/// An engine that has workers of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cluster<'a> {
    /// `dask` or `spark`.
    pub kind: &'static str,
    /// Where it is reached.
    pub address: &'a str,
    /// The setting that says so.
    pub setting: &'static str,
    /// The folder of the ledger, relative to the pipeline file.
    pub ledger: &'a str,
    /// Threads of a unit; 0 for one.
    pub threads: usize,
}

impl EngineSpec {
    /// Checks what needs no data.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path in the pipeline.
    pub(super) fn check(&self) -> Result<()> {
        check_threads("engine.threads", self.threads)?;
        self.check_location()
    }

    /// Asks for what an engine needs, and refuses what is another's.
    fn check_location(&self) -> Result<()> {
        use Location::{Dask, Spark};
        let settings = [
            ("engine.scheduler", &self.scheduler, &[Dask][..], "as in `tcp://host:8786`"),
            ("engine.master", &self.master, &[Spark], "as in `spark://host:7077` or `local[2]`"),
            ("engine.ledger", &self.ledger, &[Dask, Spark], "a folder that all workers see"),
        ];
        for (field, value, of, example) in settings {
            let kind = self.kind.word();
            match value.as_deref().map(str::trim) {
                Some(_) if !of.contains(&self.kind) => {
                    let kinds: Vec<String> = of.iter().map(|kind| format!("`kind: {}`", kind.word())).collect();
                    return Err(Error::setting(
                        field,
                        format!("`{kind}` takes none; it is of {}", kinds.join(" and ")),
                    ));
                }
                None | Some("") if of.contains(&self.kind) => {
                    return Err(Error::setting(field, format!("`{kind}` needs it, {example}")));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The engine whose workers are to compute; `None` where it is this machine.
    pub fn cluster(&self) -> Option<Cluster<'_>> {
        let (setting, address) = match self.kind {
            Location::Local => return None,
            Location::Dask => ("engine.scheduler", self.scheduler.as_deref()?),
            Location::Spark => ("engine.master", self.master.as_deref()?),
        };
        let (kind, ledger, threads) = (self.kind.word(), self.ledger.as_deref()?, self.threads);
        Some(Cluster { kind, address, setting, ledger, threads })
    }

    /// The folder of the ledger that workers share, to be changed.
    #[doc(hidden)]
    pub fn ledger_mut(&mut self) -> Option<&mut String> {
        self.ledger.as_mut()
    }

    /// Refuses to compute on this machine what is to be computed on others.
    ///
    /// # Errors
    /// [`Error::Setting`].
    #[doc(hidden)]
    pub fn check_is_here(&self) -> Result<()> {
        match self.cluster() {
            None => Ok(()),
            Some(Cluster { kind, .. }) => Err(Error::setting(
                "engine.kind",
                format!(
                    "`{kind}` is started by the program `vaglio` or by `vaglio.distributed` of the Python package, and this is \
                     neither; leave it out, or share the units by `files::Shards`"
                ),
            )),
        }
    }
}
