//! The command `condense`.

use crate::arguments::CondenseArguments;
use crate::commands::{Done, with_progress};
use crate::exit;
use crate::loaded_pipeline::LoadedPipeline;
use crate::terminal::note;
use std::path::{Path, PathBuf};
use vaglio::core::Error;
use vaglio::files;
use vaglio_pipeline::pipeline;

/// Condenses the table of a pipeline, or files.
pub fn condense(arguments: CondenseArguments) -> Done {
    let CondenseArguments { files: inputs, target, folds, seed, out, quiet } = arguments;
    let is_pipeline = |path: &String| {
        let ending = Path::new(path).extension().unwrap_or_default();
        ending.eq_ignore_ascii_case("yaml") || ending.eq_ignore_ascii_case("yml")
    };
    let (settings, folder, loaded) = match &inputs[..] {
        [path] if is_pipeline(path) => {
            if !target.is_empty() {
                return Err(Error::setting("--target", "the pipeline names its target; leave it out").into());
            }
            let loaded = LoadedPipeline::read(Path::new(path), &[])?;
            (loaded.pipeline.clone(), loaded.folder.clone(), Some(loaded))
        }
        _ => {
            if target.is_empty() {
                return Err(Error::setting("--target", "it is missing; name the column to predict").into());
            }
            let data = serde_json::json!({"train": inputs, "target": target, "task": "regression"});
            let text = serde_json::json!({"version": 1, "seed": seed, "data": data}).to_string();
            (pipeline::load(&text, "", &[])?.0, PathBuf::new(), None)
        }
    };
    let data = settings.data.iter();
    let tables = data.flat_map(|data| data.train.iter().chain(data.test.iter().flat_map(|test| test.iter())));
    files::check_apart_from_tables(&out, tables.map(|table| folder.join(table)))?;
    let condensed = with_progress(quiet, settings.engine.threads, |mut monitor| {
        files::condense(&settings, &folder, folds, &mut monitor)
    });
    let condensed = match loaded {
        Some(loaded) => loaded.locate(condensed)?,
        None => condensed?,
    };
    condensed.write(&out)?;
    if !quiet {
        note(&format_args!("{}: {condensed}", out.display()));
    }
    Ok(exit::SUCCESS)
}
