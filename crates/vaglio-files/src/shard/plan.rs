//! Plan of a distributed run: the first file of its folder.

use super::build::build;
use crate::work_units::WorkUnits;
use serde_json::json;
use std::path::Path;
use vaglio_core::{Cause, Error, Result, saved};
use vaglio_pipeline::document::LARGEST;
use vaglio_pipeline::pipeline::{ValidPipeline, load};
use vaglio_tables::disk::{regular, write_file};

pub(super) const PLAN: &str = "shards.json";
const FORMAT: &str = "vaglio.shards/1";

/// Content of the plan file.
#[saved]
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ShardPlan {
    format: String,
    pub build: String,
    /// Number of indexes.
    pub of: usize,
    /// Hash of the data.
    pub data: String,
    pub units: WorkUnits,
    /// The pipeline with all defaults, and paths relative to the folder.
    pipeline: String,
}

/// Hash digits that identify a run by build, data and settings.
pub(super) fn key(pipeline: &ValidPipeline, data: &str) -> Result<String> {
    let of = json!([build()?, data, pipeline.configuration()?]);
    Ok(blake3::hash(of.to_string().as_bytes()).to_hex()[..16].to_owned())
}

impl ShardPlan {
    /// A plan of this build.
    ///
    /// # Errors
    /// Returns the errors of [`build`].
    pub fn new(of: usize, units: WorkUnits, data: String, pipeline: String) -> Result<Self> {
        Ok(ShardPlan { format: FORMAT.into(), build: build()?, of, data, units, pipeline })
    }

    /// Writes the plan unless one exists, which must be the same except for the places of its files and engine.
    ///
    /// # Errors
    /// [`Error::JournalRefused`] for another plan; [`Error::Unwritable`].
    pub fn put(&self, folder: &Path) -> Result<()> {
        let path = folder.join(PLAN);
        if path.exists() {
            let there = ShardPlan::read(folder)?;
            if there == *self {
                return Ok(());
            }
            if let Some(what) = self.differs(&there, folder)? {
                return Err(Error::journal_refused(
                    path,
                    format!("it is a plan of {what}; give another folder, or remove this one"),
                ));
            }
        }
        write_file(&path, &(serde_json::to_string_pretty(self)? + "\n"))
    }

    /// Names a difference between two plans.
    fn differs(&self, there: &ShardPlan, folder: &Path) -> Result<Option<&'static str>> {
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

    /// Keys of the units of an index.
    pub fn keys_at(&self, index: usize) -> Vec<String> {
        self.units.keys_at(index, self.of)
    }

    /// Keys of the units of an index that are not known.
    pub fn missing(&self, index: usize, is_known: impl Fn(&str) -> bool) -> Vec<String> {
        self.keys_at(index).into_iter().filter(|key| !is_known(key)).collect()
    }

    /// The pipeline of the plan.
    ///
    /// # Errors
    /// Returns the errors of a pipeline file.
    pub fn pipeline(&self, folder: &Path) -> Result<ValidPipeline> {
        Ok(load(&self.pipeline, &folder.join(PLAN).display().to_string(), &[])?.0)
    }

    /// Reads the plan in a folder.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a missing or damaged plan.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = &folder.join(PLAN);
        let unreadable = |message: Cause| Error::unreadable(path, message);
        if !path.exists() {
            return Err(unreadable("there is no plan here; `vaglio shard plan PIPELINE --of N DIR` makes one".into()));
        }
        let bytes =
            regular(path, 2 * LARGEST as u64)?.ok_or_else(|| unreadable("it is larger than any plan".into()))?;
        let plan: ShardPlan =
            serde_json::from_slice(&bytes).map_err(|error| unreadable(Cause::after("it is damaged", error)))?;
        if plan.format != FORMAT || plan.of == 0 {
            return Err(unreadable(format!("its format is {}, and this program reads {FORMAT}", plan.format).into()));
        }
        Ok(plan)
    }
}
