//! Implements the commands.

use crate::arguments::{CSV, PredictArguments, RunArguments};
use crate::exit;
use crate::failure::CliError;
use crate::loaded_pipeline::LoadedPipeline;
use crate::progress::TerminalProgress;
use crate::terminal::{BAR, note, note_written, print, print_to_stderr, put, several_lines};
use crate::{cluster, signals};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use vaglio::ValidPipeline;
use vaglio::core::{Error, StopReason};
use vaglio::files::{self, ExportTo, FileModel, Language, PredictOptions, RunOptions, RunOutcome};
use vaglio::search::Monitor;
use vaglio_pipeline::pipeline::{self, SavedModel};
use vaglio_report::comparison::Comparison;

/// Outcome of a command.
pub type Done = Result<u8, CliError>;

/// Plans, selects, fits, evaluates and writes.
pub fn run(arguments: RunArguments) -> Done {
    let usual = || Path::new("runs").join(arguments.pipeline.file_stem().unwrap_or("run".as_ref()));
    let out = arguments.out.clone().unwrap_or_else(usual);
    let (loaded, set) = load_with_arguments(&arguments)?;
    let settings = &loaded.pipeline;
    if let Some(cluster) = settings.engine.cluster() {
        return loaded.locate(cluster::run(&arguments, &set, &out, cluster.kind));
    }
    let options = RunOptions {
        folder: loaded.folder.clone(),
        pipeline: Some(arguments.pipeline.clone()),
        out: out.clone(),
        resume: arguments.resume,
        verify: arguments.verify,
    };
    signals::end_at_the_latest(settings.most_time());
    let outcome =
        with_progress(arguments.quiet, settings.engine.threads, |monitor| files::run(settings, &options, monitor));
    show_result(loaded.locate(outcome)?, arguments.quiet, arguments.json, loaded.by_default(), &out)
}

/// Shows the result of a run and its folder.
pub fn show_result(outcome: RunOutcome, quiet: bool, json: bool, by_default: Option<String>, out: &Path) -> Done {
    let text = if json {
        outcome.record.to_text()?
    } else if quiet {
        String::new()
    } else {
        outcome.record.table()
    };
    print(&text)?;
    if !quiet {
        if let Some(parts) = by_default {
            note(&format_args!("by default: {parts}"));
        }
        note_written(&out.join("report.html"));
    }
    Ok(match outcome.record.stop_reason {
        StopReason::Interrupted => exit::INTERRUPTED,
        reason if reason.is_partial() => exit::LIMITED,
        _ => exit::SUCCESS,
    })
}

/// The pipeline to run, with the assignments that override the file.
fn load_with_arguments(arguments: &RunArguments) -> Result<(LoadedPipeline, Vec<String>), CliError> {
    let written = |value: Option<usize>| value.map(|value| value.to_string());
    let others = [
        ("evaluate.nested.folds", written(arguments.nested)),
        ("evaluate.permutations", written(arguments.permutations)),
        ("evaluate.stability.pairs", written(arguments.stability)),
        ("limits.time", arguments.time_limit.clone()),
        ("evaluate.worth", arguments.worth.then(|| "all".to_owned())),
    ];
    let others = others.iter().filter_map(|(path, value)| value.as_ref().map(|value| format!("{path}={value}")));
    let set: Vec<String> = arguments.set.iter().cloned().chain(others).collect();
    let mut loaded = LoadedPipeline::read(&arguments.pipeline, &set)?;
    loaded.pipeline.engine.threads = choose_threads(arguments.threads, &loaded.pipeline)?;
    Ok((loaded, set))
}

/// Number of threads: the option, if it is given, else the setting.
pub fn choose_threads(option: Option<usize>, pipeline: &ValidPipeline) -> Result<usize, Error> {
    pipeline::check_threads("--threads", option.unwrap_or(0))?;
    Ok(option.unwrap_or(pipeline.engine.threads))
}

/// Prints a plan.
pub fn plan(path: &Path, assignments: &[String]) -> Done {
    print_result(&describe_plan(path, assignments)?)
}

/// Describes the planned run.
pub fn describe_plan(path: &Path, assignments: &[String]) -> Result<String, CliError> {
    let loaded = LoadedPipeline::read(path, assignments)?;
    let text = in_pool(loaded.pipeline.engine.threads, || files::plan(&loaded.pipeline, &loaded.folder));
    let mut text = loaded.locate(text)?;
    if let Some(cluster) = loaded.pipeline.engine.cluster() {
        text += &loaded.locate(cluster::workers(path, assignments, cluster.kind))?;
    }
    if let Some(parts) = loaded.by_default() {
        text += &format!("{:<12}{parts}\n", "by default");
    }
    Ok(text)
}

/// Predicts the rows of a file.
pub fn predict(arguments: PredictArguments) -> Done {
    let PredictArguments { model, data, out, keep, proba, interval, evaluate, raw } = arguments;
    let options =
        PredictOptions { keep, evaluate, probabilities: proba, intervals: interval, raw, ..PredictOptions::default() };
    let model = files::model_file(&model);
    if let Some(out) = &out {
        files::check_apart(out, [("the model", &model)])?;
    }
    let model = SavedModel::read(&model)?;
    let figures = match out {
        Some(out) => FileModel(&model).predict_to_file(&data, &options, &out)?,
        None => {
            let mut is_first = true;
            FileModel(&model).predict_in_batches(&data, &options, FileModel::ROWS, &mut |predictions| {
                put(predictions.to_csv(std::mem::take(&mut is_first))?)
            })?
        }
    };
    if let Some(sentence) = model.labels_beside_probabilities().filter(|_| proba) {
        note(&sentence);
    }
    if let Some(table) = figures {
        print_to_stderr(&several_lines(&table, usize::MAX));
    }
    Ok(exit::SUCCESS)
}

/// Compares runs.
pub fn compare(folders: &[PathBuf], out: Option<&Path>) -> Done {
    if let Some(out) = out {
        files::check_apart(out, folders.iter().map(|folder| ("of the run,", folder.join("selection.json"))))?;
    }
    let comparison = Comparison::read(folders)?;
    if let Some(out) = out {
        pipeline::write_file(out, &comparison.html())?;
    }
    print(&comparison.table())?;
    if let Some(out) = out {
        note_written(out);
    }
    Ok(exit::SUCCESS)
}

/// Exports the model of a run, or parts of its report.
pub fn export(folder: &Path, format: &str, out: Option<&Path>) -> Done {
    if format == CSV {
        let Some(out) = out else {
            return Err(Error::setting("--out", "tables are several files; name the folder to write").into());
        };
        for name in files::export_tables(folder, out)? {
            note_written(&out.join(name));
        }
        return Ok(exit::SUCCESS);
    }
    let to = ExportTo::from_word("--to", format)?;
    if let Some(out) = out {
        files::export_to_file(folder, to, out)?;
        return Ok(exit::SUCCESS);
    }
    if to == ExportTo::Model(Language::Onnx) && std::io::stdout().is_terminal() {
        return Err(Error::setting("--out", "ONNX is no text for a terminal; name the file to write, or a pipe").into());
    }
    let _goes_on = put(files::export(folder, to)?)?;
    Ok(exit::SUCCESS)
}

/// Prints an explanation of columns.
pub fn explain(folder: &Path, columns: &[String]) -> Done {
    print_result(&in_pool(0, || files::explain(folder, columns))?)
}

/// Renders the report of a run again.
pub fn report(folder: &Path) -> Done {
    files::report(folder)?;
    note_written(&folder.join("report.html"));
    Ok(exit::SUCCESS)
}

/// Prints a value as indented JSON.
pub fn pretty(value: &serde_json::Value) -> Done {
    print_result(&format!("{value:#}\n"))
}

/// Prints the result of a command that succeeded.
pub fn print_result(text: &str) -> Done {
    print(text)?;
    Ok(exit::SUCCESS)
}

/// Performs work on a pool of `threads` threads, with a progress bar unless `quiet`.
pub fn with_progress<T: Send>(
    quiet: bool,
    threads: usize,
    work: impl FnOnce(Monitor<'_>) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let mut progress = TerminalProgress::new(quiet);
    let monitor = progress.monitor();
    let done = in_pool(threads, || work(monitor));
    BAR.finish_and_clear();
    signals::run_ends();
    done
}

/// Performs work on a pool of `threads` threads.
pub fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    pipeline::pool(threads)?.install(work)
}
