//! Arguments of the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use vaglio::core::{Role, StopReason};
use vaglio::files::ExportTo;

/// Exact, fast feature selection for regularized least squares.
#[derive(Parser)]
#[command(name = "vaglio", version, about, max_term_width = 100)]
pub struct Arguments {
    /// Log details to standard error; give it twice for more.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Allow the pipeline or the model to run external programs that it names, with your permissions.
    #[cfg(feature = "external")]
    #[arg(long, global = true)]
    pub allow_programs: bool,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Plan, select, fit, evaluate, and write a folder with the result.
    Run(RunArguments),
    /// Describe a run and its cost without running it.
    Plan {
        /// The pipeline file.
        pipeline: PathBuf,
        /// Override a setting of the file.
        #[arg(long, value_name = "PATH=VALUE")]
        set: Vec<String>,
    },
    /// Write a commented pipeline for a table, ready to run.
    Init(Init),
    /// Condense a table to a few weighted rows with the weights, sums and products of all rows, fold by fold.
    #[cfg(feature = "parquet")]
    Condense(CondenseArguments),
    /// Predict new rows; columns are matched by name.
    Predict(PredictArguments),
    /// Compare runs: a table, and with `--out` a page with their curves and shared columns.
    Compare {
        /// The folders of the runs, two or more.
        #[arg(required = true, num_args = 2.., value_name = "DIR")]
        folders: Vec<PathBuf>,
        /// The page to write.
        #[arg(long, value_name = "FILE.html")]
        out: Option<PathBuf>,
    },
    /// Explain columns of a run: scores with a column added, removed or replaced, how near others came to being chosen,
    /// and how far the chosen ones explain them.
    Explain {
        /// The folder of the run.
        folder: PathBuf,
        /// Candidate columns; by default all chosen ones.
        #[arg(value_name = "COLUMN")]
        columns: Vec<String>,
    },
    /// Export the model of a run to another language, or the tables and methods of its report.
    Export {
        /// The folder of the run, or its model.json.
        folder: PathBuf,
        /// Format: `sql`, `python`, `r`, `excel`, `onnx`, `pmml` or `json` for the model; `csv` or `methods` for the
        /// report.
        #[arg(long, value_parser = formats(), value_name = "FORMAT", hide_possible_values = true)]
        to: String,
        /// The file to write, for `csv` a folder; by default standard output.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Render the report of a run again from the other files in its folder.
    Report {
        /// The folder of the run.
        folder: PathBuf,
    },
    /// Distribute a run over several processes through a shared folder.
    #[command(subcommand)]
    Shard(Shard),
    /// List the criteria, searches, learners, maps and losses of this build, or all settings of one.
    List {
        /// A role, such as `search`, or a part, such as `greedy`.
        kind: Option<String>,
        /// Print as JSON.
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
    /// Write a plug-in crate that builds and passes the tests of its kind.
    NewPlugin(NewPlugin),
}

/// Arguments of `vaglio new-plugin`.
#[derive(Args)]
pub struct NewPlugin {
    /// Name of the crate and its folder, such as `vaglio-median`; the part gets the name without `vaglio-`.
    pub name: String,
    /// The role of the new part.
    #[arg(long, value_parser = role(), default_value = Role::Criterion.word())]
    pub kind: Role,
    /// Depend on the vaglio source in this folder; by default on the source that this program was built from.
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
    /// Depend on this version of vaglio from the registry.
    #[arg(long, conflicts_with = "path")]
    pub published: bool,
    /// Write a learner that is refitted for every subset, instead of a ridge readout.
    #[arg(long)]
    pub refit: bool,
    /// Write no program; for a workspace with one program for several plug-ins.
    #[arg(long)]
    pub no_program: bool,
}

/// A role by its name.
fn role() -> impl TypedValueParser<Value = Role> {
    let named = |name: String| Role::ALL.into_iter().find(|role| role.word() == name).ok_or("there is no such role");
    PossibleValuesParser::new(Role::ALL.map(Role::word)).try_map(named)
}

/// Arguments of `vaglio init`.
#[derive(Args)]
pub struct Init {
    /// The table: .csv, .tsv, .parquet, .arrow, …
    pub table: PathBuf,
    /// A column to predict; repeatable. By default guessed.
    #[arg(long, value_name = "COLUMN")]
    pub target: Vec<String>,
    /// Test rows: another table, or the share of the rows to split off, 0 for none. By default a fifth, or those that a
    /// column marks.
    #[arg(long, value_name = "FILE|FRACTION")]
    pub test: Option<String>,
    /// Type of the target, `regression` or `classification`; by default detected.
    #[arg(long, value_parser = target_types(), hide_possible_values = true)]
    pub task: Option<bool>,
    /// The column of groups: rows with the same value belong together.
    #[arg(long, value_name = "COLUMN")]
    pub groups: Option<String>,
    /// The column of time: later rows are predicted from earlier ones.
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,
    /// The pipeline file; by default the name of the table with .yaml.
    #[arg(long, value_name = "FILE.yaml")]
    pub out: Option<PathBuf>,
    /// Ask which columns to predict and which to leave out.
    #[arg(long)]
    pub interactive: bool,
    /// Overwrite an existing file.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `vaglio condense`.
#[derive(Args)]
pub struct CondenseArguments {
    /// A pipeline, whose maps are applied, or the files of a table, which may be condensed themselves.
    #[arg(required = true, value_name = "PIPELINE|FILE")]
    pub files: Vec<String>,
    /// A column to predict; repeatable. Needed for files, given by a pipeline.
    #[arg(long, value_name = "COLUMN")]
    pub target: Vec<String>,
    /// Number of folds; condensed tables keep theirs.
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub folds: usize,
    /// Seed that shuffles the rows of files; a pipeline has its own.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    /// The file to write.
    #[arg(long, value_name = "FILE.parquet")]
    pub out: PathBuf,
    /// Print no progress and no final line.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Words for the types of a target, as whether it holds classes.
fn target_types() -> impl TypedValueParser<Value = bool> {
    let [numbers, classes] = ["regression", "classification"].map(PossibleValue::new);
    PossibleValuesParser::new([numbers.help("Numbers"), classes.help("Classes")]).map(|word| word == "classification")
}

/// Words for the formats of `vaglio export`.
fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(ExportTo::FORMATS.into_iter().map(|(word, _)| word).chain([CSV]))
}

/// Word for the format of a report's tables.
pub const CSV: &str = "csv";

/// Arguments of `vaglio predict`.
#[derive(Args)]
pub struct PredictArguments {
    /// The model.json of a run, or the folder of the run.
    #[arg(long)]
    pub model: PathBuf,
    /// The new rows: .csv, .parquet or .arrow.
    #[arg(long)]
    pub data: PathBuf,
    /// The file to write: Parquet if it ends in .parquet, else CSV; by default standard output.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Copy this column of the data before the predictions; repeatable.
    #[arg(long, value_name = "COLUMN")]
    pub keep: Vec<String>,
    /// Add the probability of each class, calibrated on held-out training rows.
    #[arg(long)]
    pub proba: bool,
    /// Add prediction intervals, `lower` and `upper`; needs `evaluate.intervals` in the run.
    #[arg(long)]
    pub interval: bool,
    /// Compare the predictions with the targets in the data, on standard error.
    #[arg(long)]
    pub evaluate: bool,
    /// Write text to CSV unescaped; by default an apostrophe precedes text that a spreadsheet would run as a formula.
    #[arg(long)]
    pub raw: bool,
}

/// Arguments of `vaglio run`.
#[derive(Args)]
pub struct RunArguments {
    /// The pipeline file.
    pub pipeline: PathBuf,
    /// The folder to write; by default `runs/<file stem>`.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Override a setting of the file, as in `--set search.max_features=5`.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Resume from `journal.jsonl` in the folder, left by a run that was stopped or killed.
    #[arg(long)]
    pub resume: bool,
    /// Recompute this many random steps by plain retraining; exit with 4 if one is off by more than 1e-6.
    #[arg(long, value_name = "N")]
    pub verify: Option<usize>,
    /// Threads; 0 for as many as processors. The result does not depend on it.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Stop after this time with the result so far: `limits.time`.
    #[arg(long, value_name = "10m")]
    pub time_limit: Option<String>,
    /// Estimate the error of the whole procedure in this many outer folds: `evaluate.nested.folds`.
    #[arg(long, value_name = "K")]
    pub nested: Option<usize>,
    /// Repeat the whole procedure on this many shuffles of the target: `evaluate.permutations`.
    #[arg(long, value_name = "B")]
    pub permutations: Option<usize>,
    /// Repeat the search on this many pairs of complementary half-samples: `evaluate.stability.pairs`.
    #[arg(long, value_name = "PAIRS")]
    pub stability: Option<usize>,
    /// Compute the drop-column importance of all chosen columns, however long it takes: `evaluate.worth: all`.
    #[arg(long)]
    pub worth: bool,
    /// Write a timed trace of the run as JSON for Chrome's trace viewer.
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// Print no progress and no table.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print selection.json instead of the table.
    #[arg(long)]
    pub json: bool,
}

/// Subcommands of `vaglio shard`.
#[derive(Subcommand)]
pub enum Shard {
    /// Plan the units of work of a pipeline and write the plan to a folder.
    Plan {
        /// The pipeline file.
        pipeline: PathBuf,
        /// Number of indexes that share the units.
        #[arg(long, value_name = "N")]
        of: usize,
        /// The folder of the ledger.
        folder: PathBuf,
        /// Override a setting of the file.
        #[arg(long, value_name = "PATH=VALUE")]
        set: Vec<String>,
        /// Print the plan as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Compute the remaining units of one index.
    Run(ShardRun),
    /// Show the progress of every index.
    Status {
        /// The folder of the ledger.
        folder: PathBuf,
        /// Print as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Merge the units of all indexes and write the files of the run.
    Merge {
        /// The folder of the ledger.
        folder: PathBuf,
        /// The folder to write; by default that of the ledger.
        #[arg(long)]
        out: Option<PathBuf>,
        /// If units are missing, write the result so far, like a run that was stopped, and exit with its code.
        #[arg(long, value_name = "WHY", num_args = 0..=1, require_equals = true, default_missing_value = "limit",
              value_parser = stop_reasons())]
        partial: Option<StopReason>,
        /// Recompute this many random steps by plain retraining; exit with 4 if one is off by more than 1e-6.
        #[arg(long, value_name = "N")]
        verify: Option<usize>,
        /// Threads; 0 for as many as processors. The result does not depend on it.
        #[arg(long)]
        threads: Option<usize>,
        /// Print no progress and no table.
        #[arg(long, short)]
        quiet: bool,
        /// Print selection.json instead of the table.
        #[arg(long)]
        json: bool,
    },
}

/// Words for the reasons of incomplete units.
fn stop_reasons() -> impl TypedValueParser<Value = StopReason> {
    let limit = PossibleValue::new("limit").help("A limit was hit: code 5");
    let interrupted = PossibleValue::new("interrupted").help("Interrupted by the user: code 130");
    let reason = |word: String| if word == "limit" { StopReason::Limit } else { StopReason::Interrupted };
    PossibleValuesParser::new([limit, interrupted]).map(reason)
}

/// Arguments of `vaglio shard run`.
#[derive(Args)]
pub struct ShardRun {
    /// The folder of the ledger.
    pub folder: PathBuf,
    /// The index, from 0.
    #[arg(long, value_name = "I")]
    pub index: usize,
    /// Maximum wait for the search of index 0, if units need it.
    #[arg(long, value_name = "10m")]
    pub wait: Option<String>,
    /// Threads; 0 for as many as processors. The result does not depend on it.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Print no progress and no final line.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the progress of the index as JSON.
    #[arg(long)]
    pub json: bool,
}
