//! Engine settings: machine or workers, threads and precision.

use super::{ScratchSpec, check_threads};
use serde::{Deserialize, Serialize};
use vaglio_core::{Error, Result, join, setting};
use vaglio_tables::scratch::default_folder;

/// Where and on how many threads to compute, and in which precision.
///
/// With `dask` and `spark`, workers share the work units of `files::Shards`; the program starts them through the Python
/// package.
#[setting]
#[derive(PartialEq, Eq, Default)]
#[serde(default)]
pub struct EngineSpec {
    /// Location: this machine, or the workers of Dask or Spark.
    kind: Location,
    /// Address of Dask's scheduler, as in `tcp://host:8786`.
    #[optional]
    scheduler: Option<String>,
    /// Address of Spark's master, as in `spark://host:7077` or `local[2]`.
    #[optional]
    master: Option<String>,
    /// Folder of the workers' shared ledger, relative to this file; all workers see it under the same path.
    #[optional]
    pub ledger: Option<String>,
    /// Number of threads; 0 for the number of processors, or one per work unit on a worker. The result does not depend
    /// on it.
    pub threads: usize,
    /// Read as `data.scratch` from files of earlier versions, and never written.
    #[serde(skip_serializing)]
    #[schemars(skip)]
    stream: Option<OldStream>,
    /// Precision of stored numeric columns; columns stored as bytes stay so.
    precision: Precision,
}

/// Words of `engine.stream`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OldStream {
    Auto,
    Always,
    Never,
}

/// Precision of stored columns.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// Double precision, 53 bits.
    #[default]
    Double,
    /// Single precision, 24 bits, at half the memory. Sums use doubles, and `numerics.single` of the result reports the
    /// effect.
    Single,
}

/// Location of the computation.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
enum Location {
    /// This machine.
    #[default]
    Local,
    /// Workers of a Dask scheduler.
    Dask,
    /// Executors of Spark.
    Spark,
}

/// A cluster engine with workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cluster<'a> {
    /// `dask` or `spark`.
    pub kind: &'static str,
    /// Address of the scheduler or master.
    pub address: &'a str,
    /// Setting that holds the address.
    pub setting: &'static str,
    /// The folder of the ledger, relative to the pipeline file.
    pub ledger: &'a str,
    /// Number of threads for each work unit; 0 means one.
    pub threads: usize,
}

impl EngineSpec {
    /// Checks the settings that need no data.
    pub(super) fn check(&self) -> Result<()> {
        use Location::{Dask, Spark};
        check_threads("engine.threads", self.threads)?;
        let settings = [
            ("engine.scheduler", &self.scheduler, &[Dask][..], "as in `tcp://host:8786`"),
            ("engine.master", &self.master, &[Spark], "as in `spark://host:7077` or `local[2]`"),
            ("engine.ledger", &self.ledger, &[Dask, Spark], "a folder that all workers see"),
        ];
        for (field, value, of, example) in settings {
            let kind = self.kind.word();
            match value.as_deref().map(str::trim) {
                Some(_) if !of.contains(&self.kind) => {
                    let kinds = join(of.iter().map(|kind| format!("`kind: {}`", kind.word())), " and ");
                    return Err(Error::setting(field, format!("`{kind}` takes none; it is of {kinds}")));
                }
                None | Some("") if of.contains(&self.kind) => {
                    return Err(Error::setting(field, format!("`{kind}` needs it, {example}")));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether columns are stored in single precision.
    pub fn is_single(&self) -> bool {
        self.precision == Precision::Single
    }

    /// The cluster that computes; `None` for this machine.
    pub fn cluster(&self) -> Option<Cluster<'_>> {
        let (setting, address) = match self.kind {
            Location::Local => return None,
            Location::Dask => ("engine.scheduler", self.scheduler.as_deref()?),
            Location::Spark => ("engine.master", self.master.as_deref()?),
        };
        let (kind, ledger, threads) = (self.kind.word(), self.ledger.as_deref()?, self.threads);
        Some(Cluster { kind, address, setting, ledger, threads })
    }

    /// Scratch space by the older setting `engine.stream`.
    pub(super) fn scratch(&self) -> Option<ScratchSpec> {
        Some(match self.stream? {
            OldStream::Auto => ScratchSpec::Auto,
            OldStream::Never => ScratchSpec::Never,
            OldStream::Always => ScratchSpec::Folder(default_folder().display().to_string()),
        })
    }

    /// Refuses to compute on this machine if the settings name a cluster.
    ///
    /// # Errors
    /// [`Error::Setting`] on `engine.kind`.
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
