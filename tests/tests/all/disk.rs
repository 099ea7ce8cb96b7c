//! Runs on a disk that has room for some of their files: the earlier result stays as it was, and with more room the run
//! goes on.
#![cfg(target_os = "linux")]

use crate::common::{Folder, case_stride, pipeline, table, timeless};
use std::process::Command;

/// Runs into a disk of a size and a number of files of its own, `full`, and once more when it has room, `resumed`: from the
/// journal, unless that is still the one of the earlier result.
const SCRIPT: &str = r#"
mount -t tmpfs -o size="$2",nr_inodes="$3" none room || exit 99
if [ -n "$4" ]; then cp -a "$4" room/out || exit 98; fi
run() { "$program" run p.yaml --quiet --out room/out --set seed=5 "$@" >"$kept.out" 2>"$kept.err"; echo $? >"$kept.code"; }
program=$1 kept=full
run
mkdir full resumed && { [ ! -d room/out ] || cp -a room/out/. full; } || exit 97
mount -o remount,size=64m,nr_inodes=10000 room || exit 96
kept=resumed
if grep -q '"seed":1' room/out/journal.jsonl; then run; else run --resume; fi
cp -a room/out/. resumed || exit 95
"#;

/// The files of a result.
const FILES: [(&str, &str); 4] = [("model", "json"), ("resolved", "yaml"), ("report", "html"), ("selection", "json")];

fn bytes(folder: &Folder, at: &str, age: &str) -> Vec<Vec<u8>> {
    let path = |(stem, ending): &(&str, &str)| folder.path(&format!("{at}/{stem}{age}.{ending}"));
    FILES.iter().map(|file| std::fs::read(path(file)).unwrap_or_default()).collect()
}

/// Fills a disk; the exit code of the run that met it, or nothing where what is there before does not fit.
fn filled(folder: &Folder, size: &str, files: usize, earlier: &str) -> Option<i32> {
    for name in ["full", "resumed"] {
        let _ = std::fs::remove_dir_all(folder.path(name));
    }
    let program = folder.command(&[]).get_program().to_owned();
    let mut script = Command::new("unshare");
    script.args(["-rm", "sh", "-c", SCRIPT, "sh"]).arg(program).args([size, &files.to_string(), earlier]);
    let output = script.env("VAGLIO_JOURNAL", "every").current_dir(&folder.0).output().unwrap();
    match output.status.code() {
        Some(0) => {}
        Some(98) => return None,
        code => panic!("{size}, {files} files: {code:?} {}", String::from_utf8_lossy(&output.stderr)),
    }
    Some(folder.read("full.code").trim().parse().unwrap())
}

fn tried(folder: &Folder, size: &str, files: usize, earlier: &str) -> Option<i32> {
    let code = filled(folder, size, files, earlier)?;
    let told = folder.read("full.err");
    let what = format!("{size}, {files} files, after `{earlier}`: {told} {:?}", folder.files("full"));
    assert!(code == 0 || code == 3, "{code} {what}");
    for at in ["full", "resumed"] {
        assert!(folder.files(at).iter().all(|name| !name.starts_with('.')), "{what} {:?}", folder.files(at));
    }
    assert_eq!(folder.read("full.out"), "");
    if code == 3 {
        assert!(told.contains("cannot be written: ") && told.chars().count() < 2000, "{what}");
        assert!(!folder.path("full/selection.json").exists(), "{what}");
        if !earlier.is_empty() {
            assert!(bytes(folder, "full", ".previous") == bytes(folder, earlier, ""), "{what}");
        }
    }
    assert_eq!(folder.read("resumed.code").trim(), "0", "{what}: {}", folder.read("resumed.err"));
    let [a, b] = ["whole/out", "resumed"].map(|at| timeless(folder.json(&format!("{at}/selection.json"))));
    assert!(a == b, "{what}\n{a:#}\n{b:#}");
    assert!(bytes(folder, "whole/out", "")[..2] == bytes(folder, "resumed", "")[..2], "{what}");
    if !earlier.is_empty() {
        assert!(bytes(folder, "resumed", ".previous") == bytes(folder, earlier, ""), "{what}");
    }
    Some(code)
}

fn can_mount() -> bool {
    let tried = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    let can = tried.is_ok_and(|output| output.status.success());
    if !can {
        println!("no file system can be mounted here, so no disk is filled");
    }
    can
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(60, 8, &[]));
    folder.write(
        "p.yaml",
        pipeline("learner: rls\nsearch: {kind: greedy, max_features: 3, choose: {rule: best, folds: 3}}"),
    );
    std::fs::create_dir(folder.path("room")).unwrap();
    for (out, seed) in [("whole/out", 5), ("earlier", 1)] {
        folder.vaglio(&["run", "p.yaml", "--quiet", "--out", out, "--set", &format!("seed={seed}")]).succeeded();
    }
    folder
}

/// Checks the exit codes of all sizes, from a disk that is too small to one that is large enough.
fn from_failure_to_success(codes: &[Option<i32>]) {
    let codes: Vec<i32> = codes.iter().flatten().copied().collect();
    assert!(codes.len() > 3 && codes.first() == Some(&3) && codes.last() == Some(&0), "{codes:?}");
}

#[test]
fn a_disk_of_any_size_keeps_the_earlier_result() {
    if !can_mount() {
        return;
    }
    let folder = folder("disk");
    for (earlier, most) in [("", 180), ("earlier", 360)] {
        let sizes = (6..=most).step_by(6 * case_stride(3)).map(|kilobytes| format!("{kilobytes}k"));
        let codes: Vec<Option<i32>> = sizes.map(|size| tried(&folder, &size, 1000, earlier)).collect();
        from_failure_to_success(&codes);
    }
}

#[test]
fn a_disk_of_few_files_keeps_the_earlier_result() {
    if !can_mount() {
        return;
    }
    let folder = folder("files");
    for earlier in ["", "earlier"] {
        let codes: Vec<Option<i32>> =
            (2..26).step_by(case_stride(2)).map(|files| tried(&folder, "1m", files, earlier)).collect();
        from_failure_to_success(&codes);
    }
}
