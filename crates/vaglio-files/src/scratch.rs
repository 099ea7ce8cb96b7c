//! Scratch space for runs that do not fit the memory.

use std::path::Path;
use vaglio_core::{Cause, Error, Result};
use vaglio_pipeline::pipeline::{ScratchSpec, ValidPipeline};
use vaglio_tables::budget::release;
use vaglio_tables::scratch::{Scratch, default_folder};

/// Does some work, and does it again with scratch space where the memory does not suffice and `data.scratch` allows it.
/// A folder in `data.scratch` is used from the start. The space is open for as long as the second part of the result lives.
///
/// # Errors
/// Errors of the work; [`Error::Setting`] for a folder in which no scratch file can be made.
pub fn with_scratch<T>(
    pipeline: &ValidPipeline,
    folder: &Path,
    work: impl Fn() -> Result<T>,
) -> Result<(T, Option<Scratch>)> {
    match pipeline.scratch() {
        ScratchSpec::Never => Ok((work()?, None)),
        ScratchSpec::Folder(path) => {
            let path = folder.join(path);
            let scratch = Scratch::open(&path);
            let scratch =
                scratch.map_err(|e| Error::setting("data.scratch", Cause::after(&path.display().to_string(), e)))?;
            Ok((work()?, Some(scratch)))
        }
        ScratchSpec::Auto => {
            let refused = match work() {
                Err(error) if error.field() == Some("limits.memory") && can_be_read_again(pipeline, folder) => error,
                done => return Ok((done?, None)),
            };
            release();
            match Scratch::open(&default_folder()) {
                Ok(scratch) => {
                    tracing::info!("what does not fit the memory goes to scratch space: {refused}");
                    Ok((work()?, Some(scratch)))
                }
                Err(why) => {
                    tracing::info!("there is no scratch space in {}: {why}", default_folder().display());
                    Err(refused)
                }
            }
        }
    }
}

/// Whether the training files are none of what gives its bytes once, such as a pipe.
fn can_be_read_again(pipeline: &ValidPipeline, folder: &Path) -> bool {
    let names = pipeline.data.iter().flat_map(|data| data.train.iter());
    let is_once = |name: &String| folder.join(name).metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    !names.into_iter().any(is_once)
}
