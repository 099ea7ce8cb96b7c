//! `vaglio init`: drafts a pipeline for a table.

use crate::arguments::Init;
use crate::commands::Done;
use crate::exit;
use crate::failure::CliError;
use crate::terminal::{note, note_written};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use vaglio::core::Error;
use vaglio::files::{self, Draft, InitOptions, TestOption};

/// Writes a commented pipeline to the current folder and the decisions to standard error.
pub fn init(arguments: Init) -> Done {
    let out = arguments.out.clone().unwrap_or_else(|| default_out(&arguments.table));
    // Devices and pipes can be written to.
    let exists = std::fs::metadata(&out).map_or_else(|_| out.is_symlink(), |there| there.is_file() || there.is_dir());
    if exists && !arguments.force {
        let message = format!("{} is there already; name another file, or write over it by `--force`", out.display());
        return Err(CliError::from(Error::setting("--out", message)));
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let test = arguments.test.map(|test| match test.parse() {
        Ok(share) => TestOption::Fraction(share),
        Err(_) => TestOption::File(PathBuf::from(test)),
    });
    let tables = std::iter::once(&arguments.table).chain(match &test {
        Some(TestOption::File(file)) => Some(file),
        _ => None,
    });
    files::check_apart_from_tables(&out, tables)?;
    let options = InitOptions {
        targets: arguments.target,
        exclude: None,
        test,
        classes: arguments.task,
        groups: arguments.groups,
        time: arguments.time,
        name: Some(out.display().to_string()),
    };
    let mut draft = files::init(&arguments.table, folder, &options)?;
    if arguments.interactive {
        let options = ask_for_columns(&draft, options)?;
        draft = files::init(&arguments.table, folder, &options)?;
    }
    vaglio_pipeline::pipeline::write_file(&out, &draft.text)?;
    draft.notes.iter().for_each(|line| note(line));
    note_written(&out);
    match draft.fault {
        None => {
            note(&format_args!("next: vaglio run {}", for_shell(&out.display().to_string())));
            Ok(exit::SUCCESS)
        }
        Some(fault) => {
            note(&format_args!("it does not run as it stands: {fault}"));
            Ok(exit::code(fault.class()))
        }
    }
}

/// Asks for the columns; an empty line accepts the proposal.
fn ask_for_columns(draft: &Draft, known: InitOptions) -> Result<InitOptions, CliError> {
    draft.notes.iter().for_each(|line| note(line));
    let targets = names("columns to predict, with commas between", &draft.targets)?;
    let exclude = names("columns to leave out, with commas between", &draft.excluded)?;
    Ok(InitOptions { targets, exclude: Some(exclude), ..known })
}

fn names(question: &str, proposed: &[String]) -> Result<Vec<String>, CliError> {
    let failed = |error: std::io::Error| CliError::from(Error::unreadable("standard input", error));
    let mut terminal = std::io::stderr();
    write!(terminal, "{question} [{}]: ", proposed.join(", ")).and_then(|()| terminal.flush()).map_err(failed)?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(failed)?;
    let names: Vec<String> =
        line.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Ok(if names.is_empty() { proposed.to_vec() } else { names })
}

/// Quotes a file name for a POSIX shell.
fn for_shell(name: &str) -> String {
    let name = if name.starts_with('-') { format!("./{name}") } else { name.to_owned() };
    if name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | ',' | '+' | '@')) {
        name
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

/// Name of the table with `.yaml`, in the current folder.
fn default_out(table: &Path) -> PathBuf {
    let name = table.file_name().and_then(|name| name.to_str()).unwrap_or("pipeline");
    let stem = name.split('.').find(|stem| !stem.is_empty() && !stem.contains(['*', '?', '['])).unwrap_or("pipeline");
    PathBuf::from(format!("{stem}.yaml"))
}
