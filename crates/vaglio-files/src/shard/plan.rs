//! Plan of a distributed run, the first file of its folder, and the build that it names.

use crate::work_units::WorkUnits;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use vaglio_core::{Cause, Error, Result, get_or_try_make, saved};
use vaglio_pipeline::document::LARGEST;
use vaglio_pipeline::pipeline::{ValidPipeline, load};
use vaglio_tables::disk::{read_regular, write_file};

pub const PLAN: &str = "shards.json";
const FORMAT: &str = "vaglio.shards/1";

/// Content of the plan file.
#[saved]
#[derive(Clone, PartialEq, Eq)]
pub struct ShardPlan {
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
pub fn key(pipeline: &ValidPipeline, data: &str) -> Result<String> {
    let content = json!([build()?, data, pipeline.configuration()?]);
    Ok(blake3::hash(content.to_string().as_bytes()).to_hex()[..16].to_owned())
}

impl ShardPlan {
    /// A plan of this build.
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
            read_regular(path, 2 * LARGEST as u64)?.ok_or_else(|| unreadable("it is larger than any plan".into()))?;
        let plan: ShardPlan =
            serde_json::from_slice(&bytes).map_err(|error| unreadable(Cause::after("it is damaged", error)))?;
        if plan.format != FORMAT || plan.of == 0 {
            return Err(unreadable(format!("its format is {}, and this program reads {FORMAT}", plan.format).into()));
        }
        Ok(plan)
    }
}

/// Version and hash prefix of the file with this code: a program, or a library loaded by an interpreter. The file is
/// read once.
///
/// # Errors
/// [`Error::Unreadable`] if the file cannot be read.
pub fn build() -> Result<String> {
    static BUILD: OnceLock<String> = OnceLock::new();
    get_or_try_make(&BUILD, hash_program).cloned()
}

fn hash_program() -> Result<String> {
    let path = match file_of_code() {
        Some(path) => path,
        None => std::env::current_exe().map_err(|error| Error::unreadable("this program", error))?,
    };
    let mut hasher = blake3::Hasher::new();
    let file = std::fs::File::open(&path).map_err(|error| Error::unreadable(&path, error))?;
    hasher.update_reader(file).map_err(|error| Error::unreadable(path, error))?;
    Ok(format!("{} {}", env!("CARGO_PKG_VERSION"), &hasher.finalize().to_hex()[..16]))
}

/// Path of the file that this code was loaded from, if the system tells.
fn file_of_code() -> Option<PathBuf> {
    let here = file_of_code as fn() -> Option<PathBuf> as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let bound = |text: &str| usize::from_str_radix(text, 16).ok();
        let is_here = (bound(from)?..bound(to)?).contains(&here);
        // Permissions, offset, device and inode precede the path.
        let path = rest.splitn(5, ' ').last()?.trim_start();
        is_here.then(|| PathBuf::from(path)).filter(|path| path.is_file())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_its_file() {
        assert_eq!(build().unwrap(), hash_program().unwrap());
        assert!(build().unwrap().starts_with(env!("CARGO_PKG_VERSION")));
        if cfg!(target_os = "linux") {
            assert_eq!(file_of_code().unwrap(), std::env::current_exe().unwrap().canonicalize().unwrap());
        }
    }
}
