//! The plan of a run that several processes share: the first file of its folder.

use super::build::build;
use super::ledger::refused;
use super::units::WorkUnits;
use crate::Prepared;
use crate::run::{RunOptions, resolved};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::Path;
use vaglio_core::{Error, Result};
use vaglio_pipeline::document::LARGEST;
use vaglio_pipeline::pipeline::{ValidPipeline, load};
use vaglio_tables::disk::{regular, write_file};

pub(super) const PLAN: &str = "shards.json";
const FORMAT: &str = "vaglio.shards/1";
/// Indexes where their number is not given, at most.
const MOST: usize = 1024;

/// In how many indexes a run is given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardCount {
    /// How many; without a number as many as the plan that is there has, and without one an index a unit, and 1024 at most.
    pub of: Option<usize>,
    /// How many processes there may be at a time: the search on all rows is made by as many parts, where it may be.
    pub workers: usize,
}

impl From<usize> for ShardCount {
    fn from(of: usize) -> Self {
        ShardCount::from(Some(of))
    }
}

impl From<Option<usize>> for ShardCount {
    fn from(of: Option<usize>) -> Self {
        ShardCount { of, workers: of.unwrap_or(1) }
    }
}

/// What the first file of the folder says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    format: String,
    pub build: String,
    /// How many indexes there are.
    pub of: usize,
    /// The hash of the data.
    pub data: String,
    pub units: WorkUnits,
    /// The pipeline with every default, its paths relative to the folder.
    pipeline: String,
}

/// Digits that name a run by what it is of.
pub(super) fn key(pipeline: &ValidPipeline, prepared: &Prepared) -> Result<String> {
    let of = json!([build()?, prepared.digest.written()?, pipeline.configuration()?]);
    let mut digits = format!("{:x}", Sha256::digest(of.to_string()));
    digits.truncate(16);
    Ok(digits)
}

impl Plan {
    /// That of a pipeline, whose paths are relative to the folder that comes with its data.
    ///
    /// # Errors
    /// [`Error::Setting`] for folds that cannot be made; those of a plan that is there.
    pub fn of(
        pipeline: &ValidPipeline,
        (prepared, data): (&Prepared, &Path),
        (count, is_in_parts): (ShardCount, bool),
        folder: &Path,
    ) -> Result<Self> {
        let options = RunOptions { folder: data.to_owned(), out: folder.to_owned(), ..RunOptions::default() };
        let units = WorkUnits::of(&prepared.searched(pipeline), prepared)?;
        let there = match count.of {
            None if folder.join(PLAN).exists() => Some(Plan::read(folder)?),
            _ => None,
        };
        let processes = there.as_ref().map_or(count.workers, |there| there.units.parts());
        let units = if is_in_parts { units.in_parts(processes) } else { units };
        let of = count.of.or(there.map(|there| there.of)).unwrap_or_else(|| units.count().min(MOST));
        let (build, data) = (build()?, prepared.digest.written()?);
        Ok(Plan { format: FORMAT.into(), build, of, data, units, pipeline: resolved(pipeline, &options)? })
    }

    /// Writes it where none is; one that is there has to be the same, but for where its files and its engine are.
    ///
    /// # Errors
    /// [`Error::JournalRefused`] for another; [`Error::Unwritable`].
    pub fn put(&self, folder: &Path) -> Result<()> {
        let path = folder.join(PLAN);
        if path.exists() {
            let there = Plan::read(folder)?;
            if there == *self {
                return Ok(());
            }
            if let Some(what) = self.differs(&there, folder)? {
                return Err(refused(path, format!("it is a plan of {what}; give another folder, or remove this one")));
            }
        }
        let failed = |e: serde_json::Error| Error::Unwritable { path: path.clone(), message: e.to_string() };
        write_file(&path, &(serde_json::to_string_pretty(self).map_err(failed)? + "\n"))
    }

    /// What two plans have not in common.
    fn differs(&self, there: &Plan, folder: &Path) -> Result<Option<&'static str>> {
        Ok(if there.build != self.build {
            Some("another build")
        } else if there.data != self.data {
            Some("other data")
        } else if there.of != self.of {
            Some("another number of indexes")
        } else if there.units != self.units
            || there.pipeline(folder)?.configuration()? != self.pipeline(folder)?.configuration()?
        {
            Some("another pipeline")
        } else {
            None
        })
    }

    /// Its pipeline.
    ///
    /// # Errors
    /// Those of a pipeline file.
    pub fn pipeline(&self, folder: &Path) -> Result<ValidPipeline> {
        Ok(load(&self.pipeline, &folder.join(PLAN).display().to_string(), &[])?.0)
    }

    /// That of a folder.
    ///
    /// # Errors
    /// [`Error::Unreadable`].
    pub fn read(folder: &Path) -> Result<Self> {
        let path = &folder.join(PLAN);
        let unreadable = |message: String| Error::Unreadable { path: path.clone(), message };
        if !path.exists() {
            return Err(unreadable("there is no plan here; `vaglio shard plan PIPELINE --of N DIR` makes one".into()));
        }
        let bytes =
            regular(path, 2 * LARGEST as u64)?.ok_or_else(|| unreadable("it is larger than any plan".into()))?;
        let plan: Plan =
            serde_json::from_slice(&bytes).map_err(|error| unreadable(format!("it is damaged: {error}")))?;
        if plan.format != FORMAT || plan.of == 0 {
            return Err(unreadable(format!("its format is {}, and this program reads {FORMAT}", plan.format)));
        }
        Ok(plan)
    }
}
