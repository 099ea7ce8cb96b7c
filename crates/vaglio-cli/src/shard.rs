//! `vaglio shard`: distributed runs.

use crate::arguments::{Shard, ShardRun};
use crate::commands::{Done, choose_threads, in_pool, pretty, print_result, show_result, with_progress};
use crate::exit;
use crate::loaded_pipeline::LoadedPipeline;
use crate::terminal::note;
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use vaglio::core::{Error, pluralize};
use vaglio::files::{RunOptions, ShardProgress, ShardState, Shards};
use vaglio_pipeline::pipeline;

/// Plans, runs, shows or merges a distributed run.
pub fn shard(command: Shard) -> Done {
    match command {
        Shard::Plan { pipeline, of, folder, set, json } => plan(&pipeline, of, &folder, &set, json),
        Shard::Run(arguments) => run(&arguments),
        Shard::Status { folder, json } => status(&folder, json),
        Shard::Merge { folder, out, partial, verify, threads, quiet, json } => {
            let shards = Shards::open(&folder)?;
            let out = out.unwrap_or(folder);
            let options = RunOptions { out: out.clone(), verify, ..RunOptions::default() };
            let threads = choose_threads(threads, &shards.pipeline)?;
            let outcome = with_progress(quiet, threads, |monitor| shards.merge(partial, &options, monitor))?;
            show_result(outcome, quiet, json, None, &out)
        }
    }
}

fn plan(path: &Path, of: usize, folder: &Path, set: &[String], json: bool) -> Done {
    let loaded = LoadedPipeline::read(path, set)?;
    let planned = || Shards::plan(&loaded.pipeline, &loaded.folder, Some(of), of, |_| folder.to_owned());
    let shards = loaded.locate(in_pool(loaded.pipeline.engine.threads, planned))?;
    let phases = shards.phases();
    let units = shards.units();
    if json {
        let phase_json = |(name, count): &(&str, usize)| json!({"name": name, "units": count});
        let phases: Vec<_> = phases.iter().map(phase_json).collect();
        return pretty(&json!({"indexes": of, "units": units, "phases": phases}));
    }
    let named: Vec<String> = phases.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let mut text = format!("{} in {}: {}\n", pluralize(units, "unit"), indexes(of), named.join(", "));
    if units == 1 {
        text += "the search on all rows and its folds are one unit; `evaluate` makes others\n";
    }
    if units < of {
        text += &format!("--of {of} leaves {} idle\n", indexes(of - units));
    }
    if shards.has_dependent() {
        text += "halves wait for the search, which is of index 0: give `--wait`, or run the others again after it\n";
    }
    print_result(&text)
}

fn run(arguments: &ShardRun) -> Done {
    let ShardRun { folder, index, wait, threads, quiet, json } = arguments;
    let wait = wait.as_ref().map_or(Ok(Duration::ZERO), |text| pipeline::parse_duration(text));
    let wait = wait.map_err(|error| Error::setting("--wait", error.to_string()))?;
    let shards = Shards::open(folder)?;
    let threads = choose_threads(*threads, &shards.pipeline)?;
    let done = with_progress(*quiet, threads, |monitor| shards.run(*index, wait, monitor))?;
    if *json {
        pretty(&json!(done))?;
    } else if !quiet {
        note(&line(&done));
    }
    Ok(if done.state == ShardState::Done { exit::SUCCESS } else { exit::LIMITED })
}

fn status(folder: &Path, json: bool) -> Done {
    let all = Shards::open(folder)?.progress()?;
    if json {
        return pretty(&json!(all));
    }
    let lines: String = all.iter().map(|shard| line(shard) + "\n").collect();
    let done = all.iter().filter(|shard| shard.state == ShardState::Done).count();
    print_result(&format!("{lines}{done} of {} done\n", indexes(all.len())))
}

fn line(shard: &ShardProgress) -> String {
    let ShardProgress { index, state, units, done, .. } = shard;
    let state = match state {
        ShardState::Done => "done".to_owned(),
        ShardState::Absent => "not begun".to_owned(),
        ShardState::Begun => "begun".to_owned(),
        _ if units - done == 1 => "1 unit waits for the search of index 0; run it again".to_owned(),
        _ => format!("{} units wait for the search of index 0; run it again", units - done),
    };
    format!("index {index}: {done} of {}, {state}", pluralize(*units, "unit"))
}

fn indexes(count: usize) -> String {
    if count == 1 { "1 index".into() } else { format!("{count} indexes") }
}
