//! Parts that are programs: refused unless they are allowed, ended with the run, and equal to the same part in Rust.

use crate::common::{Folder, pipeline, python, ran, root, table};
use std::time::{Duration, Instant};

/// The Python that is there, if one is.
fn found_python() -> Option<String> {
    let python = python();
    let is_there = std::process::Command::new(&python).arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !is_there {
        assert!(std::env::var_os("VAGLIO_TEST_EXPORTS").is_none(), "there is no Python here");
        eprintln!("skipped: there is no Python here");
    }
    is_there.then_some(python)
}

const PART: &str = "{kind: external, program: [sh, -c, 'touch made; sleep 1000']}";

#[test]
fn a_program_is_refused_unless_it_is_allowed() {
    let folder = Folder::new("program_refused");
    folder.write("train.csv", table(20, 3, &[]));
    for (part, lines) in [
        ("criterion", format!("criterion: {PART}\nlearner: rls")),
        ("loss", format!("criterion: {{kind: kfold, loss: {PART}}}\nlearner: rls")),
        ("learner", format!("criterion: loo\nlearner: {PART}")),
    ] {
        folder.write(&format!("{part}.yaml"), pipeline(&format!("{lines}\nsearch: {{kind: greedy, max_features: 1}}")));
        for command in ["run", "plan"] {
            let ran = folder
                .vaglio(&[command, &format!("{part}.yaml")])
                .refused(2, "program`: `sh -c touch made; sleep 1000` is a program of the user's");
            assert!(ran.err.contains("`--allow-programs`"), "{}", ran.err);
        }
    }
    assert!(!folder.path("made").exists(), "it was run");
}

#[test]
#[cfg(unix)]
fn a_program_that_does_not_answer_is_ended_with_the_run() {
    let folder = Folder::new("program_stuck");
    folder.write("train.csv", table(20, 3, &[]));
    let text = pipeline("learner: rls\nsearch: {kind: greedy, max_features: 1}\nlimits: {time: 1s}\n");
    let says = r#"criterion: {kind: external, program: [sh, -c, 'echo $$ > made; read hello; echo "{\"vaglio\": 1, \"data\": \"json\"}"; read design; echo "{\"held_out\": \"nothing\"}"; while true; do :; done']}"#;
    folder.write("p.yaml", format!("{text}{says}\n"));
    let start = Instant::now();
    let ran = folder.vaglio(&["run", "p.yaml", "--allow-programs"]);
    assert!(start.elapsed() < Duration::from_secs(30), "{}", ran.err);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    let process = folder.read("made");
    assert!(!std::path::Path::new("/proc").join(process.trim()).exists(), "it goes on");
}

/// The concordance of held-out predictions by a program is that of `kfold` with the loss of that name.
#[test]
fn the_criterion_of_the_book_is_that_of_vaglio() {
    let Some(python) = found_python() else { return };
    let folder = Folder::new("program_concordance");
    let servo = std::fs::read_to_string(root().join("examples/data/servo.csv")).unwrap();
    let with_fold = |(number, line): (usize, &str)| match number {
        0 => format!("{line},fold\n"),
        row => format!("{line},{}\n", (row - 1) % 5),
    };
    folder.write("train.csv", servo.trim_end().lines().enumerate().map(with_fold).collect::<String>());
    folder.write("concordance.py", std::fs::read_to_string(root().join("examples/programs/concordance.py")).unwrap());
    let text = "version: 1\ndata: {train: train.csv, target: target, exclude: [EXCLUDE]}\npreprocess: [one_hot, standardize]\n\
                learner: {kind: rls, lambda: 1}\nsearch: {kind: greedy, max_features: 4, choose: last}\n";
    let program = format!("criterion: {{kind: external, program: [{python}, concordance.py]}}\n");
    folder.write("program.yaml", text.replace("EXCLUDE", "fold") + &program);
    folder.write(
        "rust.yaml",
        text.replace("EXCLUDE", "") + "criterion: {kind: kfold, assignment: fold, loss: concordance}\n",
    );
    for name in ["program", "rust"] {
        ran(folder.command(&["run", &format!("{name}.yaml"), "--out", name, "--allow-programs"]).env("TERM", "dumb"))
            .succeeded();
    }
    let (program, rust) = (folder.json("program/selection.json"), folder.json("rust/selection.json"));
    let scores = |of: &serde_json::Value| -> Vec<(String, f64)> {
        let step = |step: &serde_json::Value| (step["features"].to_string(), step["score"].as_f64().unwrap());
        of["path"].as_array().unwrap().iter().map(step).collect()
    };
    let (program, rust) = (scores(&program), scores(&rust));
    assert_eq!(program.len(), rust.len());
    for ((columns, score), (same, own)) in program.iter().zip(&rust) {
        assert_eq!(columns, same);
        assert!((score - own).abs() < 1e-12, "{columns}: {score} in place of {own}");
    }
}

#[test]
fn the_pipeline_of_the_book_runs() {
    if found_python().is_none() {
        return;
    }
    let folder = Folder::new("program_example");
    let out = folder.path("out");
    let arguments =
        ["run", "examples/programs/servo.yaml", "--allow-programs", "--quiet", "--out", out.to_str().unwrap()];
    ran(folder.command(&arguments).current_dir(root())).succeeded();
    assert_eq!(folder.json("out/selection.json")["pipeline"]["criterion"], "external");
}
