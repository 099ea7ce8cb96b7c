//! What can be said on the command line.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};
use vaglio::core::Role;

/// Exact, fast feature selection for regularized least squares.
#[derive(Debug, Parser)]
#[command(name = "vaglio", version, about, max_term_width = 100)]
pub struct Arguments {
    /// Show what happens inside (twice for more), on standard error.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Let the pipeline or the model run the programs that it names, with your rights.
    #[cfg(feature = "external")]
    #[arg(long, global = true)]
    pub allow_programs: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Plan, select, fit, evaluate, and write a folder with the result.
    Run(Run),
    /// Say what a run would do and cost, without running it.
    Plan {
        /// The pipeline file.
        pipeline: PathBuf,
        /// Overrides a setting of the file.
        #[arg(long, value_name = "PATH=VALUE")]
        set: Vec<String>,
    },
    /// Write a commented pipeline for a table, which runs as it stands.
    Init(Init),
    /// Predict new rows, columns matched by name.
    Predict(Predict),
    /// Compare runs: a table, and with `--out` a page with their curves and shared columns.
    Compare {
        /// The folders of the runs, two or more.
        #[arg(required = true, num_args = 2.., value_name = "DIR")]
        folders: Vec<PathBuf>,
        /// Where to write the page.
        #[arg(long, value_name = "FILE.html")]
        out: Option<PathBuf>,
    },
    /// Say what columns of a run are worth, chosen or not: their scores, without them and with others in their place, how near those
    /// left out came, and what the chosen ones explain of them.
    Explain {
        /// The folder of the run.
        folder: PathBuf,
        /// Candidate columns; all chosen ones by default.
        #[arg(value_name = "COLUMN")]
        columns: Vec<String>,
    },
    /// Write the model of a run in another language, or the tables and methods of its report.
    Export {
        /// The folder of the run.
        folder: PathBuf,
        /// What to write: `sql`, `python`, `r`, `excel`, `onnx`, `pmml` or `json` of the model; `csv`, `methods` of the report.
        #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
        to: ExportFormat,
        /// The file to write, of `csv` the folder; standard output by default.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Write the report of a run anew, from the other files in its folder.
    Report {
        /// The folder of the run.
        folder: PathBuf,
    },
    /// Share the repetitions of a run between processes, by a folder that all of them see.
    #[command(subcommand)]
    Shard(Shard),
    /// List every criterion, search, learner, map and loss that is linked in, or all settings of one.
    List {
        /// One of these roles, or the kind of a part, such as `greedy`.
        kind: Option<String>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the pipeline file.
    Schema,
    /// Print completions for a shell.
    #[cfg(feature = "manual")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    #[cfg(feature = "manual")]
    Man,
    /// Write a plug-in crate, which builds and keeps the laws of its part as it stands.
    NewPlugin(NewPlugin),
}

impl Command {
    /// Where what happens is to be written.
    pub fn trace(&self) -> Option<&Path> {
        match self {
            Command::Run(run) => run.trace.as_deref(),
            _ => None,
        }
    }
}

/// What `vaglio new-plugin` takes.
#[derive(Debug, Args)]
pub struct NewPlugin {
    /// The name of the crate and of its folder, such as `vaglio-median`; the part is called the same, without `vaglio-`.
    pub name: String,
    /// What it adds.
    #[arg(long, value_parser = role(), default_value = Role::Criterion.name())]
    pub kind: Role,
    /// Take vaglio from this folder, which holds its source; by default from the source that this program was built from.
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
    /// Take vaglio from the registry, in this version.
    #[arg(long, conflicts_with = "path")]
    pub published: bool,
    /// A learner that is trained anew for every subset, in place of a ridge readout.
    #[arg(long)]
    pub refit: bool,
    /// Without a program that holds it: for a workspace that has one for several plug-ins.
    #[arg(long)]
    pub no_program: bool,
}

/// A role by its name.
fn role() -> impl TypedValueParser<Value = Role> {
    let named = |name: String| Role::ALL.into_iter().find(|role| role.name() == name).ok_or("there is no such role");
    PossibleValuesParser::new(Role::ALL.map(Role::name)).try_map(named)
}

/// What `vaglio init` takes.
#[derive(Debug, Args)]
pub struct Init {
    /// The table: .csv, .tsv, .parquet, .arrow, …
    pub table: PathBuf,
    /// A column to predict; may be given again. Guessed by default.
    #[arg(long, value_name = "COLUMN")]
    pub target: Vec<String>,
    /// Test rows: another table, or the share of the rows that is set aside, 0 for none. By default a fifth, or those that a
    /// column names.
    #[arg(long, value_name = "FILE|FRACTION")]
    pub test: Option<String>,
    /// What the target holds, `regression` or `classification`; as it looks by default.
    #[arg(long, value_enum, hide_possible_values = true)]
    pub task: Option<Task>,
    /// The column whose rows of one value belong together.
    #[arg(long, value_name = "COLUMN")]
    pub groups: Option<String>,
    /// The column of time: later rows are predicted from earlier ones.
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,
    /// The pipeline file; the name of the table with .yaml by default.
    #[arg(long, value_name = "FILE.yaml")]
    pub out: Option<PathBuf>,
    /// Ask which column to predict, and what to leave out.
    #[arg(long)]
    pub interactive: bool,
    /// Write over a file of that name.
    #[arg(long)]
    pub force: bool,
}

/// What a target holds.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Task {
    /// Numbers.
    Regression,
    /// Classes.
    Classification,
}

/// What `vaglio export` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A query of a table.
    Sql,
    /// A module without dependencies.
    Python,
    /// A function of a data frame.
    R,
    /// A row of formulas.
    Excel,
    /// A graph of the Open Neural Network Exchange.
    Onnx,
    /// The Predictive Model Markup Language.
    Pmml,
    /// The formulas themselves.
    Json,
    /// Every table of the report.
    Csv,
    /// A paragraph of methods, and the REFORMS checklist.
    Methods,
}

/// What `vaglio predict` takes.
#[derive(Debug, Args)]
pub struct Predict {
    /// The model.json of a run.
    #[arg(long)]
    pub model: PathBuf,
    /// The new rows: .csv, .parquet or .arrow.
    #[arg(long)]
    pub data: PathBuf,
    /// Where to write the predictions, as Parquet where it ends in .parquet, else as CSV; standard output by default.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Write this column of the data before the predictions, as it is there; may be given again.
    #[arg(long, value_name = "COLUMN")]
    pub keep: Vec<String>,
    /// Write the probability of each class, calibrated on training rows that were held out.
    #[arg(long)]
    pub proba: bool,
    /// Write `lower` and `upper`, between which the target is expected: `evaluate.intervals` of the run.
    #[arg(long)]
    pub interval: bool,
    /// Compare the predictions with the targets in the data, on standard error.
    #[arg(long)]
    pub evaluate: bool,
    /// Write text to CSV as it is, also where a spreadsheet would run it as a formula; by default an apostrophe stands before.
    #[arg(long)]
    pub raw: bool,
}

/// What `vaglio run` takes.
#[derive(Debug, Args)]
pub struct Run {
    /// The pipeline file.
    pub pipeline: PathBuf,
    /// The folder to write; `runs/<file stem>` by default.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Overrides a setting of the file, as in `--set search.max_features=5`.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Go on from `journal.jsonl` in the folder, which a run that was stopped or killed has left there.
    #[arg(long)]
    pub resume: bool,
    /// Recompute so many random steps by plain retraining, and end with 4 where one is off by more than 1e-6.
    #[arg(long, value_name = "N")]
    pub verify: Option<usize>,
    /// Threads; 0 for as many as there are processors. The result does not depend on it.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Stop after this time with the result so far: `limits.time`.
    #[arg(long, value_name = "10m")]
    pub time_limit: Option<String>,
    /// Repeat everything in so many outer folds, for an honest figure: `evaluate.nested.folds`.
    #[arg(long, value_name = "K")]
    pub nested: Option<usize>,
    /// Repeat everything on so many shuffles of the target: `evaluate.permutations`.
    #[arg(long, value_name = "B")]
    pub permutations: Option<usize>,
    /// Repeat the search on so many pairs of complementary halves: `evaluate.stability.pairs`.
    #[arg(long, value_name = "PAIRS")]
    pub stability: Option<usize>,
    /// Compute all of what chosen columns are worth, however long it takes: `evaluate.worth: all`.
    #[arg(long)]
    pub worth: bool,
    /// Write what the run does and when, as JSON for a viewer of Chrome's traces.
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// No progress and no table.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print selection.json instead of the table.
    #[arg(long)]
    pub json: bool,
}

/// What `vaglio shard` does.
#[derive(Debug, Subcommand)]
pub enum Shard {
    /// Number the units of work of a pipeline, and write that into a folder.
    Plan {
        /// The pipeline file.
        pipeline: PathBuf,
        /// How many indexes share the units.
        #[arg(long, value_name = "N")]
        of: usize,
        /// The folder of the ledger.
        folder: PathBuf,
        /// Overrides a setting of the file.
        #[arg(long, value_name = "PATH=VALUE")]
        set: Vec<String>,
        /// Print the plan as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Do the units of one index that are not done.
    Run(ShardRun),
    /// Say how far every index is.
    Status {
        /// The folder of the ledger.
        folder: PathBuf,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Put the units of all indexes together, and write the files of the run.
    Merge {
        /// The folder of the ledger.
        folder: PathBuf,
        /// The folder to write; that of the ledger by default.
        #[arg(long)]
        out: Option<PathBuf>,
        /// Where units are missing, write the result so far, as of a run that was stopped, and end with its code.
        #[arg(long, value_name = "WHY", num_args = 0..=1, require_equals = true, default_missing_value = "limit")]
        partial: Option<Partial>,
        /// Recompute so many random steps by plain retraining, and end with 4 where one is off by more than 1e-6.
        #[arg(long, value_name = "N")]
        verify: Option<usize>,
        /// Threads; 0 for as many as there are processors. The result does not depend on it.
        #[arg(long)]
        threads: Option<usize>,
        /// No progress and no table.
        #[arg(long, short)]
        quiet: bool,
        /// Print selection.json instead of the table.
        #[arg(long)]
        json: bool,
    },
}

/// Why a run has no more units than it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Partial {
    /// A limit was hit: code 5.
    Limit,
    /// Somebody has stopped it: code 130.
    Interrupted,
}

/// What `vaglio shard run` takes.
#[derive(Debug, Args)]
pub struct ShardRun {
    /// The folder of the ledger.
    pub folder: PathBuf,
    /// Which index, from 0.
    #[arg(long, value_name = "I")]
    pub index: usize,
    /// Wait so long at most for the search of index 0, where units need it.
    #[arg(long, value_name = "10m")]
    pub wait: Option<String>,
    /// Threads; 0 for as many as there are processors. The result does not depend on it.
    #[arg(long)]
    pub threads: Option<usize>,
    /// No progress and no line at the end.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print how far the index is as JSON.
    #[arg(long)]
    pub json: bool,
}
