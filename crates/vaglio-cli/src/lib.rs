//! The command line of vaglio as a library, so that a program with other plug-ins is three lines.
//!
//! ```no_run
//! // use my_plugin as _;
//! fn main() -> std::process::ExitCode {
//!     vaglio_cli::main()
//! }
//! ```

mod arguments;
mod cluster;
mod commands;
#[cfg(feature = "parquet")]
mod condense;
mod exit;
mod failure;
mod init;
mod list;
mod loaded_pipeline;
#[cfg(feature = "manual")]
mod manual;
#[cfg(all(feature = "large-pages", target_os = "linux", target_env = "gnu"))]
mod memory;
#[cfg(not(all(feature = "large-pages", target_os = "linux", target_env = "gnu")))]
#[path = "memory/system.rs"]
mod memory;
pub mod messages;
mod new_plugin;
mod progress;
mod shard;
mod signals;
mod terminal;
#[cfg(feature = "trace")]
mod trace;

#[cfg(feature = "beam")]
use vaglio_beam as _;
#[cfg(feature = "elm")]
use vaglio_elm as _;
#[cfg(feature = "information")]
use vaglio_information as _;
#[cfg(feature = "knn")]
use vaglio_knn as _;
#[cfg(feature = "linfa")]
use vaglio_linfa as _;
#[cfg(feature = "lssvm")]
use vaglio_lssvm as _;
#[cfg(feature = "reservoir")]
use vaglio_reservoir as _;

pub use memory::{keep_memory, offer_scratch_space};

use arguments::{Arguments, Command};
use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;
use vaglio_pipeline::pipeline;

/// Runs the command line of this process: data on standard output, everything else on standard error.
///
/// The exit code is 0 when done, 2 for usage or configuration, 3 for data, 4 for arithmetic, 5 for a limit, 130 when
/// interrupted.
pub fn main() -> ExitCode {
    main_with(std::env::args_os()).into()
}

/// Like [`main`], with explicit arguments including the program name; returns the exit code. For other programs, such
/// as an interpreter. Call it once: it handles interruptions from then on.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    memory::grow_by_large_pages();
    memory::offer_scratch_space();
    signals::listen();
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return failure::usage(error),
    };
    let trace = match &arguments.command {
        Command::Run(run) => run.trace.as_deref(),
        _ => None,
    };
    if let Err(error) = progress::start_tracing(arguments.verbose, trace) {
        return failure::CliError::from(error).report();
    }
    #[cfg(feature = "external")]
    if arguments.allow_programs {
        vaglio_external::allow_programs();
    }
    let exit = match pipeline::check_environment() {
        Ok(()) => done(arguments.command),
        Err(error) => Err(error.into()),
    }
    .unwrap_or_else(|failure| failure.report());
    end_helpers();
    exit
}

/// Ends the trace and the programs that were started.
fn end_helpers() {
    #[cfg(feature = "trace")]
    trace::finish();
    #[cfg(feature = "external")]
    vaglio_external::end_programs();
}

fn done(command: Command) -> commands::Done {
    match command {
        Command::Run(run) => commands::run(run),
        Command::Plan { pipeline, set } => commands::plan(&pipeline, &set),
        Command::Init(arguments) => init::init(arguments),
        #[cfg(feature = "parquet")]
        Command::Condense(condense) => condense::condense(condense),
        Command::Predict(predict) => commands::predict(predict),
        Command::Compare { folders, out } => commands::compare(&folders, out.as_deref()),
        Command::List { kind, json } => list::list(kind.as_deref(), json),
        Command::Schema => commands::pretty(&pipeline::pipeline_schema()),
        Command::Explain { folder, columns } => commands::explain(&folder, &columns),
        Command::Export { folder, to, out } => commands::export(&folder, &to, out.as_deref()),
        Command::Report { folder } => commands::report(&folder),
        Command::Shard(shard) => shard::shard(shard),
        #[cfg(feature = "manual")]
        Command::Completions { shell } => manual::completions(shell),
        #[cfg(feature = "manual")]
        Command::Man => manual::page(),
        Command::NewPlugin(arguments) => new_plugin::new_plugin(&arguments),
    }
}
