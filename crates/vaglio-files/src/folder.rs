//! The folder of a run: renders the report again and sets earlier results aside.

use super::run_folder::RunFolder;
use std::path::{Path, PathBuf};
use vaglio_core::{Cause, Error, Result};
use vaglio_pipeline::document::{LARGEST, Node};
use vaglio_report::record::{PartNames, Record};
use vaglio_report::report::{heading, render};
use vaglio_tables::disk::{check_apart, read_regular, write_file};

/// Rewrites the `report.html` of a run from its `selection.json` and `resolved.yaml`: the page that the run itself
/// wrote.
///
/// # Errors
/// [`Error::Unreadable`] if one of the two is missing, damaged or of another run; [`Error::Unwritable`], also while a
/// run is in the folder.
pub fn report(folder: &Path) -> Result<()> {
    let _lock = RunFolder::existing(folder)?;
    let selection = folder.join("selection.json");
    let resolved = folder.join("resolved.yaml");
    let again = format!("run the pipeline again with `--out {}`", folder.display());
    let again = |error: Error| match error {
        Error::Unreadable { path, message } => {
            Error::unreadable(path, message.reword(|message| format!("{message}; {again}")))
        }
        other => other,
    };
    let record = Record::read(&selection).map_err(again)?;
    let configuration = read_resolved(&resolved, &record.pipeline).map_err(again)?;
    let page = folder.join("report.html");
    check_apart(&page, [&selection, &resolved].map(|file| ("a link to", file)))?;
    write_file(&page, &render(&record, &heading(folder), &configuration))
}

/// Reads a resolved configuration, after checking that it is of a run with these parts.
pub fn read_resolved(path: &Path, parts: &PartNames) -> Result<String> {
    let unreadable = |message: Cause| Error::unreadable(path, message);
    let bytes =
        read_regular(path, LARGEST as u64)?.ok_or_else(|| unreadable("it is larger than any configuration".into()))?;
    let text = String::from_utf8(bytes).map_err(|e| unreadable(Cause::new("it is not UTF-8 text", e)))?;
    let document = Node::parse(&text, &path.display().to_string());
    let document = document.map_err(|error| unreadable(Cause::after("it is damaged", error)))?;
    let is_of = |path: &str, kind: &str| document.kind(path).is_some_and(|(found, _)| found == kind);
    // A comparison of searches names its winner.
    let compared = (0..).map(|place| format!("tune.search[{place}]")).take_while(|path| document.get(path).is_some());
    let is_compared = |kind: &str| compared.clone().any(|path| is_of(&path, kind));
    for (role, kind) in [("learner", &parts.learner), ("criterion", &parts.criterion), ("search", &parts.search)] {
        if !(is_of(role, kind) || role == "search" && is_compared(kind)) {
            return Err(unreadable(format!("it is not of the run of selection.json, whose {role} is `{kind}`").into()));
        }
    }
    Ok(text)
}

/// Renames the result of an earlier run in `out` to `selection.previous.json`, with its other files. A failed run then
/// leaves no result that looks like its own. `pipeline`, the file of the failed run, stays even if it is one of
/// them. Does nothing if another run is in the folder.
///
/// # Errors
/// [`Error::Unwritable`] if a file cannot be renamed.
pub fn set_previous_aside(out: &Path, pipeline: Option<&Path>) -> Result<()> {
    match RunFolder::existing(out) {
        Ok(Some(run_folder)) => run_folder.set_aside(pipeline),
        Ok(None) | Err(_) => Ok(()),
    }
}

/// `file` relative to `folder`; absolute if they share no root.
pub fn relative(file: &Path, folder: &Path) -> String {
    // A pattern names no file, but its folder exists.
    let absolute = |path: &Path| {
        let known = path.ancestors().find_map(|known| Some((known, std::fs::canonicalize(known).ok()?)));
        let Some((known, absolute)) = known else { return path.to_owned() };
        path.strip_prefix(known).map_or(absolute.clone(), |rest| absolute.join(rest))
    };
    let file = absolute(file);
    let folder = absolute(folder);
    let common = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return file.to_string_lossy().into_owned();
    }
    let up = folder.components().skip(common).map(|_| std::path::Component::ParentDir);
    let down = file.components().skip(common);
    up.chain(down).collect::<PathBuf>().to_string_lossy().into_owned()
}
