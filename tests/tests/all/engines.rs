//! Engines with workers: what a pipeline says of them, and what the program says where it cannot start them.
#![cfg(unix)]

use crate::common::{Folder, Ran, pipeline, table};
use std::os::unix::fs::PermissionsExt;
use vaglio::files::{self, RunOptions, ShardState, Shards};

const ENGINE: &str = "engine: {kind: dask, scheduler: 'tcp://127.0.0.1:1', ledger: ledger}";

fn folder(name: &str, engine: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(48, 4, &[]));
    folder.write("p.yaml", pipeline(&format!("search: {{kind: greedy, max_features: 2}}\n{engine}")));
    folder
}

/// A program in the place of Python, which says its version when asked for that.
fn with_python(folder: &Folder, version: &str, otherwise: &str, arguments: &[&str]) -> Ran {
    let text = format!("#!/bin/sh\nif [ \"$1\" = -c ]; then {version}; exit; fi\n{otherwise}\n");
    folder.write("python", text);
    let path = folder.path("python");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    crate::common::ran(folder.command(arguments).env("VAGLIO_PYTHON", &path))
}

const OWN: &str = concat!("echo ", env!("CARGO_PKG_VERSION"));

#[test]
fn settings_of_an_engine_are_checked() {
    let cases = [
        ("{kind: dask, ledger: l}", "`engine.scheduler`: `dask` needs it, as in `tcp://host:8786`"),
        ("{kind: dask, scheduler: ' ', ledger: l}", "`engine.scheduler`: `dask` needs it"),
        ("{kind: dask, scheduler: a}", "`engine.ledger`: `dask` needs it, a folder that all workers see"),
        ("{kind: spark, ledger: l}", "`engine.master`: `spark` needs it, as in `spark://host:7077`"),
        (
            "{kind: spark, master: a, scheduler: b, ledger: l}",
            "`engine.scheduler`: `spark` takes none; it is of `kind: dask`",
        ),
        ("{ledger: l}", "`engine.ledger`: `local` takes none; it is of `kind: dask` and `kind: spark`"),
        ("{kind: dusk}", "did you mean `dask`?"),
    ];
    for (engine, expected) in cases {
        let ran = folder("engine-settings", &format!("engine: {engine}")).vaglio(&["run", "p.yaml"]);
        assert_eq!(ran.code, Some(2), "{engine}\n{}", ran.err);
        assert!(ran.err.contains("p.yaml:") && ran.err.contains(expected), "{engine}\n{}", ran.err);
    }
}

#[test]
fn what_python_lacks_is_said() {
    let folder = folder("engine-python", ENGINE);
    for command in ["run", "plan"] {
        let arguments = [command, "p.yaml"];
        let says = |ran: &Ran, words: &[&str]| {
            assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{}", ran.err);
            assert!(words.iter().all(|word| ran.err.contains(word)), "{}", ran.err);
        };
        let nowhere = folder.path("nowhere");
        let none = crate::common::ran(folder.command(&arguments).env("VAGLIO_PYTHON", &nowhere));
        says(
            &none,
            &["`engine.kind`: `dask` is reached by Python", "nowhere` is not there; VAGLIO_PYTHON names another"],
        );
        let missing = with_python(&folder, "exit 1", "exit 9", &arguments);
        says(&missing, &["has no package `vaglio`: install `vaglio[dask]==0.1.0`"]);
        let other = with_python(&folder, "echo 9.9.9", "exit 9", &arguments);
        says(&other, &["has version 9.9.9 of the package `vaglio`, and this program is 0.1.0"]);
    }
    let traced = with_python(&folder, OWN, "exit 9", &["run", "p.yaml", "--trace", "t.json"]);
    assert!(
        traced.code == Some(2) && traced.err.contains("`--trace`: a run on workers is not traced"),
        "{}",
        traced.err
    );
}

#[test]
fn python_runs_in_the_place_of_the_program() {
    let folder = folder("engine-run", ENGINE);
    let arguments = ["run", "p.yaml", "--out", "o", "--permutations", "5", "--threads", "2", "--json"];
    let ran = with_python(&folder, OWN, "echo \"$@\"; exit 5", &arguments);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    let expected = "-m vaglio.distributed run p.yaml --set evaluate.permutations=5 --out o --threads 2 --json\n";
    assert_eq!(ran.out, expected);
}

#[test]
fn a_plan_says_units_and_workers() {
    let folder = folder("engine-plan", &format!("{ENGINE}\nevaluate: {{nested: {{folds: 3}}, permutations: 4}}"));
    let told = r#"echo '{"workers": "7 workers of Dask"}'"#;
    let plan = with_python(&folder, OWN, told, &["plan", "p.yaml"]).succeeded();
    assert!(plan.out.contains("units       8: 1 search, 3 outer folds, 4 shuffles\n"), "{}", plan.out);
    assert!(plan.out.contains("workers     7 workers of Dask\n"), "{}", plan.out);
    let refused = r#"echo '{"error": "nobody answers", "setting": "engine.scheduler"}'"#;
    let plan = with_python(&folder, OWN, refused, &["plan", "p.yaml"]);
    assert_eq!((plan.code, &*plan.out), (Some(2), ""), "{}", plan.err);
    assert!(plan.err.contains("p.yaml:") && plan.err.contains("`engine.scheduler`: nobody answers"), "{}", plan.err);
    let broken = with_python(&folder, OWN, "echo a >&2; echo it broke >&2; exit 1", &["plan", "p.yaml"]);
    assert!(broken.code == Some(2) && broken.err.contains("failed: it broke"), "{}", broken.err);
}

#[test]
fn a_plan_of_units_is_the_same_wherever_its_engine_is() {
    let folder = folder("engine-units", ENGINE);
    let shard = |arguments: &[&str]| {
        folder.vaglio(&[&["shard"], arguments].concat()).succeeded();
    };
    shard(&["plan", "p.yaml", "--of", "1", "ledger"]);
    shard(&["run", "ledger", "--index", "0"]);
    shard(&["plan", "p.yaml", "--of", "1", "ledger", "--set", "engine.scheduler=tcp://127.0.0.1:2"]);
    assert!(folder.read("ledger/shards.json").contains("127.0.0.1:2"));
    std::fs::create_dir(folder.path("moved")).unwrap();
    std::fs::rename(folder.path("train.csv"), folder.path("moved/train.csv")).unwrap();
    shard(&["plan", "p.yaml", "--of", "1", "ledger", "--set", "data.train=moved/train.csv"]);
    shard(&["merge", "ledger", "--out", "out/run", "--quiet"]);
    let resolved = folder.read("out/run/resolved.yaml");
    assert!(resolved.contains("../../moved/train.csv") && resolved.contains("ledger: ../../ledger"), "{resolved}");
}

#[test]
fn the_library_computes_on_this_machine_alone() {
    let folder = folder("engine-library", ENGINE);
    let (pipeline, _) = vaglio::pipeline::load(&folder.read("p.yaml"), "p.yaml", &[]).unwrap();
    let options = RunOptions { folder: folder.path(""), out: folder.path("out"), ..RunOptions::default() };
    let error = files::run(&pipeline, &options, &mut vaglio::search::Silent).unwrap_err();
    assert!(error.to_string().contains("`engine.kind`: `dask` is started by the program"), "{error}");
    assert!(!folder.path("out").exists());
    let cluster = pipeline.engine.cluster().unwrap();
    assert_eq!((cluster.kind, cluster.address, cluster.ledger), ("dask", "tcp://127.0.0.1:1", "ledger"));
}

#[test]
fn what_is_there_makes_a_partial_result() {
    let folder = folder("engine-partial", "evaluate: {permutations: 6}");
    for arguments in [&["plan", "p.yaml", "--of", "2", "ledger"][..], &["run", "ledger", "--index", "0"]] {
        folder.vaglio(&[&["shard"], arguments].concat()).succeeded();
    }
    for (partial, code) in [("--partial", 5), ("--partial=interrupted", 130)] {
        let ran = folder.vaglio(&["shard", "merge", "ledger", "--out", "partial", partial, "--quiet"]);
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        let record = folder.json("partial/selection.json");
        assert_eq!(record["status"], "partial");
        assert_eq!(record["steps"].as_array().unwrap().len(), 2, "{record:#}");
    }
}

/// An attempt apart begins with what others have done, is in nobody's way, and cleans up.
#[test]
fn attempts_apart_share_what_is_known() {
    let lines = "evaluate: {permutations: 6}\nengine: {threads: 1}";
    let folder = folder("engine-apart", lines);
    let (pipeline, _) = vaglio::pipeline::load(&folder.read("p.yaml"), "p.yaml", &[]).unwrap();
    let ledger = folder.path("ledger");
    let shards = Shards::plan(&pipeline, &folder.path(""), None, 1, |_| ledger.clone()).unwrap();
    assert_eq!((shards.progress().unwrap().len(), shards.units()), (7, 7));
    let again = Shards::plan(&pipeline, &folder.path(""), None, 1, |_| ledger.clone()).unwrap();
    assert_eq!(again.progress().unwrap().len(), 7);
    shards.lead().unwrap();
    let error = Shards::open(&ledger).unwrap().lead().unwrap_err().to_string();
    assert!(error.contains("another driver gives out the units of this ledger"), "{error}");
    shards.leave();
    shards.lead().unwrap();

    // Index 0 is claimed, as by an attempt that hangs: its journal is there, and another attempt goes on from it.
    let hangs =
        std::fs::create_dir_all(ledger.join("shards/0")).and_then(|()| std::fs::File::open(ledger.join("shards/0")));
    let hangs = hangs.unwrap();
    hangs.try_lock().unwrap();
    let wait = std::time::Duration::ZERO;
    let error = shards.run(0, wait, &mut vaglio::search::Silent).unwrap_err().to_string();
    assert!(error.contains("another process runs index 0"), "{error}");
    shards.run_apart(0, &mut vaglio::search::Silent).unwrap();
    shards.run_apart(1, &mut vaglio::search::Silent).unwrap();
    assert!(!ledger.join("shards/0").exists() && !ledger.join("shards/0.1").exists());

    let options = RunOptions { out: folder.path("partial"), ..RunOptions::default() };
    let limit = vaglio::core::StopReason::Limit;
    let outcome = shards.merge(Some(limit), &options, &mut vaglio::search::Silent).unwrap();
    assert_eq!(outcome.record.stop_reason, limit);
    assert_eq!(outcome.record.steps.len(), 2);
}

/// Others put what is done in place while a process looks for it: it is there or not, and never half.
#[test]
fn what_others_put_in_place_is_there_or_not() {
    let folder = folder("engine-looks", "evaluate: {permutations: 2}\nengine: {threads: 1}");
    let (pipeline, _) = vaglio::pipeline::load(&folder.read("p.yaml"), "p.yaml", &[]).unwrap();
    let shards = Shards::plan(&pipeline, &folder.path(""), None, 1, |_| folder.path("ledger")).unwrap();
    shards.run_apart(1, &mut vaglio::search::Silent).unwrap();
    let (done, aside) = (folder.path("ledger/shards/1.jsonl"), folder.path("ledger/aside"));
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mover = scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                std::fs::rename(&done, &aside).unwrap();
                std::fs::rename(&aside, &done).unwrap();
            }
        });
        let (mut seen, mut failure) = ([0, 0], None);
        while failure.is_none() && (seen[0] + seen[1] < 500 || seen.contains(&0)) {
            match shards.progress() {
                Ok(progress) => seen[usize::from(progress[1].state == ShardState::Done)] += 1,
                Err(error) => failure = Some(error),
            }
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        mover.join().unwrap();
        assert!(failure.is_none(), "{failure:?}");
    });
    folder.write("ledger/shards/1.jsonl", "");
    let error = shards.progress().unwrap_err().to_string();
    assert!(error.contains("1.jsonl: it is cut short"), "{error}");
}
