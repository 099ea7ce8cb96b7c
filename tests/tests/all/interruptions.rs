//! An interruption leaves a valid result.

use crate::common::{Folder, pipeline, table};

#[cfg(unix)]
#[test]
fn an_interruption_leaves_the_result_so_far() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let folder = Folder::new("interrupt");
    folder.write("train.csv", table(2000, 300, &[("class", &crate::common::side)]));
    // Held-out classes take long enough at each of 300 steps for the search to be far from its end.
    let lines = "criterion: {kind: kfold, loss: zero_one}\nsearch: {kind: greedy, patience: 300, choose: best}\nengine: {threads: 1}";
    folder.write("p.yaml", pipeline(lines).replace("target: y", "target: class, exclude: [y]"));
    let mut command = folder.command(&["run", "p.yaml", "--out", "out", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Steps come into the journal as they are taken.
    let start = Instant::now();
    let has_step =
        || std::fs::read_to_string(folder.path("out/journal.jsonl")).is_ok_and(|text| text.lines().count() > 2);
    while !has_step() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), folder.read("out/selection.json"));
    let selection = folder.json("out/selection.json");
    assert_eq!((&selection["status"], &selection["stop_reason"]), (&"partial".into(), &"interrupted".into()));
    let steps = selection["steps"].as_array().unwrap().len();
    assert!((1..300).contains(&steps), "{steps}");
    assert_eq!(folder.files("out"), ["journal.jsonl", "model.json", "report.html", "resolved.yaml", "selection.json"]);
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 2001));
}
