//! Files that commands write: devices, pipes and links stay what they are, nothing that is read or stands there is lost.
#![cfg(unix)]

use crate::common::{Folder, pipeline, ran, table};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// Two runs of a small table, `a` and `b`.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(60, 4, &[]));
    folder.write("p.yaml", pipeline("search: {kind: greedy, max_features: 2, choose: best}"));
    for out in ["a", "b"] {
        folder.vaglio(&["run", "p.yaml", "--quiet", "--out", out]).succeeded();
    }
    folder
}

/// All commands that write a file by `--out`, without the name of that.
const WRITING: [&[&str]; 6] = [
    &["compare", "a", "b", "--out"],
    &["init", "train.csv", "--target", "y", "--force", "--out"],
    &["predict", "--model", "a/model.json", "--data", "train.csv", "--out"],
    &["export", "a", "--to", "python", "--out"],
    &["export", "a", "--to", "methods", "--out"],
    &["export", "a", "--to", "onnx", "--out"],
];

/// Bytes that a command writes into a plain file.
fn plain(folder: &Folder, command: &[&str]) -> Vec<u8> {
    folder.vaglio(&[command, &["plain.yaml"]].concat()).succeeded();
    let bytes = std::fs::read(folder.path("plain.yaml")).unwrap();
    std::fs::remove_file(folder.path("plain.yaml")).unwrap();
    assert!(!bytes.is_empty(), "{command:?}");
    bytes
}

#[test]
fn every_command_writes_into_pipes_and_devices_and_through_links() {
    let folder = folder("pipes");
    for command in WRITING {
        let (to, expected) = (|name: &str| folder.vaglio(&[command, &[name]].concat()), plain(&folder, command));
        let pipe = folder.path("plain.yaml");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn(move || (std::fs::read(&pipe).unwrap(), pipe));
        to("plain.yaml").succeeded();
        let (read, pipe) = reader.join().unwrap();
        assert!(read == expected, "{command:?}");
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo(), "{command:?}");
        std::fs::remove_file(&pipe).unwrap();
        to("/dev/null").succeeded();
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device(), "{command:?}");
        folder.write("real/target", "before");
        symlink("real/target", folder.path("link")).unwrap();
        to("link").succeeded();
        assert!(folder.path("link").is_symlink() && folder.path("real/target").is_file(), "{command:?}");
        assert!(std::fs::read(folder.path("real/target")).unwrap() != b"before", "{command:?}");
        assert_eq!(folder.files("real"), ["target"]);
        std::fs::remove_file(folder.path("link")).unwrap();
    }
    // What the shell opened for a program stays as well, with what was in it.
    let program = folder.command(&[]).get_program().to_string_lossy().into_owned();
    let line = format!("'{program}' compare a b --out /dev/stdout >> kept.html");
    folder.write("kept.html", "kept\n");
    ran(Command::new("sh").args(["-c", &line]).current_dir(&folder.0)).succeeded();
    assert!(folder.read("kept.html").starts_with("kept\n") && folder.read("kept.html").contains("<html"));
}

#[test]
fn no_command_writes_over_what_it_reads() {
    let folder = folder("inputs");
    folder.write("kept", "");
    let run = folder.vaglio(&["run", "p.yaml", "--out", "kept"]);
    run.refused(3, "kept: cannot be written: it is a file; name a folder");
    let before = ["train.csv", "a/model.json", "a/selection.json", "p.yaml"].map(|name| folder.read(name));
    symlink("train.csv", folder.path("link.csv")).unwrap();
    symlink("selection.json", folder.path("a/linked.html")).unwrap();
    std::fs::create_dir_all(folder.path("parts/k=1")).unwrap();
    folder.write("parts/k=1/part.csv", table(20, 4, &[]));
    let predict = ["predict", "--model", "a/model.json", "--data", "train.csv", "--out"];
    let parts = ["predict", "--model", "a/model.json", "--data", "parts", "--out"];
    let init = ["init", "train.csv", "--target", "y", "--force", "--out"];
    let by_pattern = ["init", "*.csv", "--target", "y", "--force", "--out"];
    let tested = ["init", "train.csv", "--target", "y", "--test", "parts/k=1/part.csv", "--force", "--out"];
    let run = ["run", "p.yaml", "--quiet", "--out", "a", "--trace"];
    for (command, out, other) in [
        (&predict[..], "train.csv", "train.csv"),
        (&predict, "link.csv", "train.csv"),
        (&predict, "a/model.json", "a/model.json"),
        (&parts, "parts/k=1/part.csv", "parts/k=1/part.csv"),
        (&init, "train.csv", "train.csv"),
        (&init, "./a/../link.csv", "train.csv"),
        (&by_pattern, "train.csv", "train.csv"),
        (&tested, "parts/k=1/part.csv", "parts/k=1/part.csv"),
        (&["compare", "a", "b", "--out"], "a/linked.html", "a/selection.json"),
        (&["export", "a", "--to", "json", "--out"], "a/model.json", "a/model.json"),
        (&["export", "a", "--to", "methods", "--out"], "a/selection.json", "a/selection.json"),
        (&run, "p.yaml", "no trace"),
        (&run, "train.csv", "no trace"),
    ] {
        let ran = folder.vaglio(&[command, &[out]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{command:?} {out}: {ran:?}");
        assert!(ran.err.contains(out) && ran.err.contains(other), "{command:?} {out}: {}", ran.err);
        assert!(ran.err.contains("; name another file"), "{}", ran.err);
    }
    assert_eq!(before, ["train.csv", "a/model.json", "a/selection.json", "p.yaml"].map(|name| folder.read(name)));
    // A report that is a link to what it is made of.
    std::fs::remove_file(folder.path("b/report.html")).unwrap();
    symlink("selection.json", folder.path("b/report.html")).unwrap();
    let ran = folder.vaglio(&["report", "b"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(folder.json("b/selection.json").is_object());
    // A trace is written over an earlier one.
    for _ in 0..2 {
        folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "a", "--trace", "t.json"]).succeeded();
        assert!(folder.json("t.json").is_array());
    }
}

#[test]
fn what_stands_in_the_folder_of_a_run_is_set_aside() {
    let folder = folder("strays");
    for name in ["report.html", "model.json"] {
        folder.write(&format!("c/{name}"), format!("mine: {name}"));
    }
    std::fs::copy(folder.path("p.yaml"), folder.path("c/resolved.yaml")).unwrap();
    let own = folder.read("p.yaml").replace("train.csv", "../train.csv");
    folder.write("c/resolved.yaml", &own);
    let run = || folder.vaglio(&["run", "c/resolved.yaml", "--quiet", "--out", "c"]);
    run().succeeded();
    for name in ["report.html", "model.json"] {
        let (stem, ending) = name.split_once('.').unwrap();
        assert_eq!(folder.read(&format!("c/{stem}.previous.{ending}")), format!("mine: {name}"));
    }
    assert_eq!(folder.read("c/resolved.previous.yaml"), own);
    assert!(folder.json("c/selection.json")["status"] == "complete" && folder.read("c/resolved.yaml") != own);
    // Beside a result that is kept, a file of nobody takes a name that is free.
    run().succeeded();
    std::fs::remove_file(folder.path("c/selection.json")).unwrap();
    let result = folder.read("c/selection.previous.json");
    for number in [2, 3] {
        folder.write("c/report.html", format!("{number}"));
        folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "c"]).succeeded();
        assert_eq!(folder.read(&format!("c/report.previous-{number}.html")), number.to_string());
        assert_eq!(folder.read("c/selection.previous.json"), result);
        std::fs::remove_file(folder.path("c/selection.json")).unwrap();
    }
    // Links and pipes go aside as they are, and what they stand for stays.
    folder.write("elsewhere.html", "elsewhere");
    symlink("../elsewhere.html", folder.path("a/linked")).unwrap();
    std::fs::rename(folder.path("a/linked"), folder.path("a/report.html")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path("a/pipe")).status().unwrap().success());
    std::fs::rename(folder.path("a/pipe"), folder.path("a/model.json")).unwrap();
    folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "a"]).succeeded();
    assert!(folder.path("a/report.previous.html").is_symlink() && folder.read("elsewhere.html") == "elsewhere");
    let previous = std::fs::metadata(folder.path("a/model.previous.json")).unwrap();
    assert!(previous.file_type().is_fifo() && folder.json("a/model.json").is_object());
}

#[test]
fn after_a_failure_no_file_of_the_run_before_stands_in_its_place() {
    const FILES: [&str; 4] = ["model.json", "resolved.yaml", "report.html", "selection.json"];
    let folder = folder("failed");
    folder.write("bad.yaml", folder.read("p.yaml").replace("train.csv", "none.csv"));
    let written = |out: &str| FILES.map(|name| folder.read(&format!("{out}/{name}")));
    // Settings that are refused touch nothing.
    let before = written("a");
    let ran = folder.vaglio(&["run", "p.yaml", "--set", "sed=1", "--out", "a"]);
    assert!(ran.code == Some(2) && written("a") == before, "{ran:?}");
    let before = written("b");
    let ran = folder.vaglio(&["run", "bad.yaml", "--out", "b"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let left: Vec<&str> = FILES.into_iter().filter(|name| folder.path(&format!("b/{name}")).exists()).collect();
    assert!(left.is_empty(), "{left:?}");
    let aside = FILES.map(|name| {
        let (stem, ending) = name.split_once('.').unwrap();
        folder.read(&format!("b/{stem}.previous.{ending}"))
    });
    assert_eq!(aside, before);
    // The pipeline of the run that failed is no file of the run before.
    folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "b"]).succeeded();
    let own = folder.read("b/resolved.yaml").replace("train.csv", "none.csv");
    folder.write("b/resolved.yaml", &own);
    for _ in 0..2 {
        assert_eq!(folder.vaglio(&["run", "b/resolved.yaml", "--out", "b"]).code, Some(3));
        assert!(folder.read("b/resolved.yaml") == own && !folder.path("b/model.json").exists());
    }
}

#[test]
fn a_link_laid_in_the_way_is_not_followed() {
    let folder = folder("laid");
    let program = folder.command(&[]).get_program().to_string_lossy().into_owned();
    for (links, command) in [
        ("a/.probe.$$ a/.probe.$$.part a/.model.json.$$.part a/.journal.jsonl.$$.part", "run p.yaml --quiet --out a"),
        (".page.html.$$.part", "compare a b --out page.html"),
        (".new.yaml.$$.part", "init train.csv --target y --out new.yaml"),
        (".new.csv.$$.part", "predict --model b/model.json --data train.csv --out new.csv"),
        (".new.py.$$.part", "export b --to python --out new.py"),
        ("b/.report.html.$$.part", "report b"),
    ] {
        folder.write("victim", "kept");
        let victim = folder.path("victim");
        // The process keeps its number when it becomes the program.
        let line = format!("for l in {links}; do ln -s '{}' $l; done; exec '{program}' {command}", victim.display());
        ran(Command::new("sh").args(["-c", &line]).current_dir(&folder.0)).succeeded();
        assert_eq!(folder.read("victim"), "kept", "{command}");
    }
    for at in [".", "a", "b"] {
        let names = folder.files(at);
        let left: Vec<&String> = names.iter().filter(|name| name.ends_with(".part")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_that_are_written_again_keep_their_permissions() {
    const FILES: [&str; 5] = ["model.json", "resolved.yaml", "report.html", "selection.json", "journal.jsonl"];
    let folder = folder("modes");
    let set = |name: &str, mode: u32| {
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for command in WRITING {
        folder.write("again", "");
        for own in [0o600, 0o660, 0o604] {
            set("again", own);
            folder.vaglio(&[command, &["again"]].concat()).succeeded();
            assert_eq!(mode(&folder.path("again")), own, "{command:?}");
        }
        folder.write("again", "before");
        set("again", 0o444);
        let ran = folder.vaglio(&[command, &["again"]].concat());
        assert_eq!(ran.code, Some(3), "{command:?} {ran:?}");
        assert!(ran.err.contains("again: cannot be written: it may be read only"), "{}", ran.err);
        assert_eq!(folder.read("again"), "before");
        std::fs::remove_file(folder.path("again")).unwrap();
    }
    FILES.iter().for_each(|name| set(&format!("a/{name}"), 0o600));
    let kept = || FILES.iter().all(|name| mode(&folder.path(&format!("a/{name}"))) == 0o600);
    folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "a"]).succeeded();
    assert!(kept());
    folder.vaglio(&["report", "a"]).succeeded();
    assert!(kept());
    // A failure in between does not open them.
    assert_eq!(folder.vaglio(&["run", "p.yaml", "--out", "a", "--set", "sed=1"]).code, Some(2));
    folder.vaglio(&["run", "p.yaml", "--quiet", "--out", "a"]).succeeded();
    assert!(kept());
}
