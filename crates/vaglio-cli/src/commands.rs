//! What each command does.

use crate::arguments::{Predict, Run};
use crate::failure::{Failure, not_available};
use crate::progress::Watch;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vaglio::ValidPipeline;
use vaglio::compare::Comparison;
use vaglio::core::{Error, Place, StopReason};
use vaglio::document::Document;
use vaglio::pipeline::{self, Beside, RunOptions, SavedModel};

type Done = Result<ExitCode, Failure>;

/// Plans, selects, fits, evaluates and writes.
pub fn run(arguments: Run) -> Done {
    let later = [
        (arguments.resume, "`--resume`", "run again; a run starts from the beginning"),
        (
            arguments.verify.is_some(),
            "`--verify`",
            "leave it out; the test suite recomputes every step by plain retraining",
        ),
        (arguments.time_limit.is_some(), "`--time-limit`", "interrupt with Ctrl-C; what was found is written"),
    ];
    let out = arguments.out.clone().unwrap_or_else(|| default_out(&arguments.pipeline));
    pipeline::set_previous_aside(&out)?;
    if let Some((_, what, instead)) = later.into_iter().find(|(given, ..)| *given) {
        return Err(not_available(what, instead));
    }
    let evaluated = [
        ("evaluate.nested.folds", arguments.nested),
        ("evaluate.permutations", arguments.permutations),
        ("evaluate.stability.pairs", arguments.stability),
    ];
    let evaluated = evaluated.iter().filter_map(|(path, value)| value.map(|value| format!("{path}={value}")));
    let set: Vec<String> = arguments.set.iter().cloned().chain(evaluated).collect();
    let loaded = Loaded::read(&arguments.pipeline, &set)?;
    let settings = match arguments.threads {
        Some(threads) => loaded.pipeline.clone().on_threads(threads),
        None => loaded.pipeline.clone(),
    };
    let options = RunOptions { folder: loaded.folder.clone(), out: out.clone() };
    let mut watch = Watch::new(arguments.quiet);
    let outcome = in_pool(settings.threads(), || pipeline::run(&settings, &options, &mut watch))?
        .map_err(|error| loaded.failure(error))?;
    watch.finish();

    let text = if arguments.json {
        outcome.record.to_text()?
    } else if arguments.quiet {
        String::new()
    } else {
        outcome.record.table()
    };
    print(&text)?;
    if !arguments.quiet {
        eprintln!("wrote {}", out.join("report.html").display());
    }
    Ok(match outcome.record.stop_reason {
        StopReason::Interrupted => ExitCode::from(130),
        reason if reason.is_partial() => ExitCode::from(5),
        _ => ExitCode::SUCCESS,
    })
}

/// Says what a run would do.
pub fn plan(path: &Path, assignments: &[String]) -> Done {
    let loaded = Loaded::read(path, assignments)?;
    let text = in_pool(loaded.pipeline.threads(), || pipeline::plan(&loaded.pipeline, &loaded.folder))?
        .map_err(|error| loaded.failure(error))?;
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Predicts the rows of a file.
pub fn predict(arguments: Predict) -> Done {
    let Predict { model, data, out, keep, proba, interval, evaluate } = arguments;
    let beside = Beside { keep, evaluate, probabilities: proba, intervals: interval };
    let predictions = SavedModel::read(&model)?.predict_file_with(&data, &beside)?;
    let text = predictions.to_csv()?;
    match out {
        Some(out) => pipeline::write_file(&out, &text)?,
        None => print(&text)?,
    }
    if let Some(table) = predictions.table() {
        eprint!("{table}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares runs.
pub fn compare(folders: &[PathBuf], out: Option<&Path>) -> Done {
    let comparison = Comparison::read(folders)?;
    if let Some(out) = out {
        pipeline::write_file(out, &comparison.page()?)?;
    }
    print(&comparison.table())?;
    if let Some(out) = out {
        eprintln!("wrote {}", out.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the report of a run anew.
pub fn report(folder: &Path) -> Done {
    pipeline::report(folder)?;
    eprintln!("wrote {}", folder.join("report.html").display());
    Ok(ExitCode::SUCCESS)
}

/// Lists what is linked in.
pub fn list(json: bool) -> Done {
    let components = pipeline::component_list();
    if json {
        return pretty(&components);
    }
    let mut text = String::new();
    for component in components.as_array().into_iter().flatten() {
        let word = |key: &str| component.get(key).and_then(|v| v.as_str()).unwrap_or_default();
        let example = word("example").replace('\n', &format!("\n{:29}", ""));
        text.push_str(&format!("{:<10} {:<17} {}\n", word("role"), word("kind"), word("summary")));
        text.push_str(&format!("{:<10} {:<17} {} {}; {}\n", "", "", word("crate"), word("version"), example));
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the schema.
pub fn schema() -> Done {
    pretty(&pipeline::pipeline_schema())
}

fn pretty(value: &serde_json::Value) -> Done {
    print(&format!("{value:#}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// A pipeline with its text, for errors that point into it.
struct Loaded {
    pipeline: ValidPipeline,
    document: Document,
    text: String,
    folder: PathBuf,
}

impl Loaded {
    fn read(path: &Path, assignments: &[String]) -> Result<Self, Failure> {
        let file = path.display().to_string();
        let unreadable =
            |message: String| Error::Syntax { message, place: Some(Place { file: file.clone(), line: 0, column: 0 }) };
        let bytes = std::fs::read(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => unreadable("there is no such file".into()),
            _ => unreadable(format!("it cannot be read: {e}")),
        })?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text".into()))?;
        match pipeline::load(&text, &path.display().to_string(), assignments) {
            Ok((pipeline, document)) => {
                let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
                Ok(Loaded { pipeline, document, text, folder })
            }
            Err(error) => Err(Failure::in_text(error, path, &text)),
        }
    }

    fn failure(&self, error: Error) -> Failure {
        let error = self.document.locate(error);
        let file = error.place().map(|place| place.file.clone()).unwrap_or_default();
        Failure::in_text(error, Path::new(&file), &self.text)
    }
}

fn default_out(pipeline: &Path) -> PathBuf {
    Path::new("runs").join(pipeline.file_stem().unwrap_or("run".as_ref()))
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    vaglio::pipeline::pool(threads).map(|pool| pool.install(work)).map_err(Failure::from)
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // A reader that has seen enough, such as `head`, is no failure.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|e| Error::Unwritable { path: "standard output".into(), message: e.to_string() }.into()),
    }
}
