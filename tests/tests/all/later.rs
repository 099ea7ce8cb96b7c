//! An interruption leaves a valid result.

use crate::common::{Folder, pipeline, table};

#[cfg(unix)]
#[test]
fn an_interruption_leaves_the_result_so_far() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let folder = Folder::new("interrupt");
    folder.write("train.csv", table(2000, 300, &[("class", &crate::common::side)]));
    let lines = "criterion: {kind: loo, loss: zero_one}\nsearch: {kind: greedy, patience: 300}\nengine: {threads: 1}";
    folder.write("p.yaml", pipeline(lines).replace("target: y", "target: class, exclude: [y]"));
    let mut command = folder.command(&["run", "p.yaml", "--out", "out", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The folder is made just before the search starts.
    let start = Instant::now();
    while !folder.path("out").exists() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
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
