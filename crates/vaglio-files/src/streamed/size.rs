//! Whether a table is so large that it is read in batches.

use super::Loading;
use super::file_rows::FileRows;
use super::served::served;
use std::path::{Path, PathBuf};
use vaglio_core::Result;
use vaglio_pipeline::pipeline::{Precision, Streaming, ValidPipeline};
use vaglio_tables::budget::shown;

/// A table takes at most so many times the bytes of its files.
const LEAST_SHARE: u64 = 64;

/// Whether the training files are read in batches.
///
/// # Errors
/// What moments cannot serve, where the pipeline says `always`; those of the files then.
pub(super) fn loading(pipeline: &ValidPipeline, folder: &Path) -> Result<Loading<FileRows>> {
    let settings = pipeline.settings();
    let Some(spec) = settings.data.as_ref() else { return Ok(Loading::Whole(None)) };
    let paths: Vec<PathBuf> = spec.train.names().iter().map(|name| folder.join(name)).collect();
    let budget = pipeline.budget();
    match settings.engine.stream {
        Streaming::Never => return Ok(Loading::Whole(None)),
        Streaming::Always => {
            served(pipeline)?;
            return FileRows::open(&paths, &spec.read, budget).map(Loading::Batches);
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
        return Ok(Loading::Whole(None));
    }
    let files = match FileRows::open(&paths, &spec.read, budget) {
        Ok(files) => files,
        Err(why) => return Ok(Loading::Whole(Some(why))),
    };
    if files.bytes_in_memory(width) <= budget.limit() as f64 {
        return Ok(Loading::Whole(None));
    }
    let needed = shown(files.bytes_in_memory(width));
    Ok(match served(pipeline) {
        Ok(()) => {
            tracing::info!("the table would take about {needed}, and is read in batches");
            Loading::Batches(files)
        }
        Err(why) => {
            tracing::info!("the table would take about {needed}, and cannot be read in batches: {why}");
            Loading::Whole(Some(why))
        }
    })
}
