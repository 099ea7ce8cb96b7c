//! Runs on engines with workers, through the Python package.

use crate::arguments::RunArguments;
use serde_json::Value;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};
use vaglio::core::{Cause, Error};

/// Environment variable with the Python interpreter, and the default interpreter.
const PYTHON: &str = "VAGLIO_PYTHON";
const USUAL: &str = "python3";
/// Python module that performs the run.
const MODULE: &str = "vaglio.distributed";
/// Python code that prints the version of the package.
const VERSION: &str = "import importlib.metadata as m; print(m.version('vaglio'))";

/// Interpreter that is called.
fn python() -> OsString {
    std::env::var_os(PYTHON).filter(|name| !name.is_empty()).unwrap_or_else(|| USUAL.into())
}

/// Command of the Python module on a pipeline, after a check that the interpreter has the package. `kind` names the
/// engine.
fn module(kind: &str, command: &str, pipeline: &Path, set: &[String]) -> Result<Command, Error> {
    check(kind)?;
    let mut python = Command::new(python());
    python.args(["-m", MODULE, command]).arg(pipeline).args(set.iter().flat_map(|set| ["--set", set]));
    Ok(python)
}

/// Replaces this process by a Python process that runs the pipeline on workers. Returns only if that fails, or, on
/// systems without process replacement, after the run.
pub fn run(arguments: &RunArguments, set: &[String], out: &Path, kind: &str) -> Result<u8, Error> {
    if arguments.trace.is_some() {
        return Err(Error::setting("--trace", "a run on workers is not traced; leave it out"));
    }
    let mut command = module(kind, "run", &arguments.pipeline, set)?;
    command.arg("--out").arg(out);
    for (name, value) in [("--threads", arguments.threads), ("--verify", arguments.verify)] {
        command.args(value.iter().flat_map(|value| [name.to_owned(), value.to_string()]));
    }
    command.args(
        [("--quiet", arguments.quiet), ("--json", arguments.json)].iter().filter(|(_, is)| *is).map(|(name, _)| name),
    );
    #[cfg(unix)]
    {
        Err(not_started(kind, std::os::unix::process::CommandExt::exec(&mut command)))
    }
    #[cfg(not(unix))]
    {
        let ended = command.status().map_err(|error| not_started(kind, error))?;
        Ok(ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::exit::FAILURE))
    }
}

/// Describes the workers in a line of a plan.
///
/// # Errors
/// [`Error::Setting`] if none can be reached.
pub fn workers(pipeline: &Path, set: &[String], kind: &str) -> Result<String, Error> {
    let output = module(kind, "workers", pipeline, set)?.output();
    let Output { stdout, stderr, .. } = output.map_err(|error| not_started(kind, error))?;
    let said: Value = serde_json::from_slice(&stdout).unwrap_or_default();
    match (said["workers"].as_str(), said["error"].as_str()) {
        (Some(workers), _) => Ok(format!("{:<12}{workers}\n", "workers")),
        (None, Some(message)) => Err(Error::setting(said["setting"].as_str().unwrap_or("engine"), message)),
        (None, None) => {
            let said = String::from_utf8_lossy(&stderr);
            let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            Err(Error::setting("engine.kind", format!("`{MODULE}` of the Python package failed: {last}")))
        }
    }
}

/// Checks that the interpreter has the package in this version.
fn check(kind: &str) -> Result<(), Error> {
    let own = env!("CARGO_PKG_VERSION");
    let found = Command::new(python()).args(["-c", VERSION]).output().map_err(|error| not_started(kind, error))?;
    let version = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    let message = match found.status.success() {
        true if version == own => return Ok(()),
        true => format!(
            "has version {version} of the package `vaglio`, and this program is {own}: install `vaglio[{kind}]=={own}`"
        ),
        false => format!("has no package `vaglio`: install `vaglio[{kind}]=={own}`"),
    };
    Err(interpreter_error(kind, message.into()))
}

fn not_started(kind: &str, error: std::io::Error) -> Error {
    let what = match error.kind() {
        ErrorKind::NotFound => Cause::new("is not there", error),
        _ => Cause::after("cannot be started", error),
    };
    interpreter_error(kind, what)
}

/// Error for an interpreter without the package or version.
fn interpreter_error(kind: &str, what: Cause) -> Error {
    let python = python();
    let python = python.to_string_lossy();
    let whole = |what: &str| {
        format!("`{kind}` is reached by Python, and `{python}` {what}; {PYTHON} names another interpreter")
    };
    Error::setting("engine.kind", what.reword(whole))
}
