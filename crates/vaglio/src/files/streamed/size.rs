//! Whether a table is so large that it is read in batches.

use super::file_rows::FileRows;
use super::served::served;
use crate::pipeline::{Precision, Streaming, ValidPipeline};
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result};
use vaglio_tables::budget::shown;

/// A table takes at most so many times the bytes of its files.
const LEAST_SHARE: u64 = 64;

/// The training files, where they are read in batches; else, where they may be too large to be read whole, why not.
///
/// # Errors
/// What moments cannot serve, where the pipeline says `always`; those of the files then.
pub(super) fn batches(pipeline: &ValidPipeline, folder: &Path) -> Result<std::result::Result<FileRows, Option<Error>>> {
    let settings = &pipeline.0;
    let Some(spec) = settings.data.as_ref() else { return Ok(Err(None)) };
    let paths: Vec<PathBuf> = spec.train.names().iter().map(|name| folder.join(name)).collect();
    let budget = pipeline.budget();
    match settings.engine.stream {
        Streaming::Never => return Ok(Err(None)),
        Streaming::Always => {
            served(pipeline)?;
            return FileRows::open(&paths, &spec.read, budget).map(Ok);
        }
        Streaming::Auto => {}
    }
    let width = match settings.engine.precision {
        Precision::Double => size_of::<f64>(),
        Precision::Single => size_of::<f32>(),
    };
    let bytes: u64 = paths.iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum();
    // Numbers take a few bits at least.
    if paths.iter().all(|path| path.is_file()) && bytes <= budget.limit() / LEAST_SHARE {
        return Ok(Err(None));
    }
    let files = match FileRows::open(&paths, &spec.read, budget) {
        Ok(files) => files,
        Err(why) => return Ok(Err(Some(why))),
    };
    if files.bytes_in_memory(width) <= budget.limit() as f64 {
        return Ok(Err(None));
    }
    let needed = shown(files.bytes_in_memory(width));
    Ok(match served(pipeline) {
        Ok(()) => {
            tracing::info!("the table would take about {needed}, and is read in batches");
            Ok(files)
        }
        Err(why) => {
            tracing::info!("the table would take about {needed}, and cannot be read in batches: {why}");
            Err(Some(why))
        }
    })
}
