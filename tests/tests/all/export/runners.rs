//! Runners of the languages: the evaluator of the tests, or an interpreter if there is one.

use super::evaluator::evaluated;
use super::{Folder, PredictedColumns, Value};
use crate::common::python;
use std::process::Command;
use std::sync::LazyLock;

/// All languages of models.
pub const FORMATS: [&str; 7] = ["json", "python", "sql", "r", "excel", "onnx", "pmml"];

/// Runs an exported model on a table.
pub struct Runner {
    format: &'static str,
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/export/exported.py");
const R_SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/export/exported.R");

/// Whether each language can be run here.
static RUNS: LazyLock<Vec<bool>> = LazyLock::new(|| {
    let succeeds = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    let runs = |format: &str| match format {
        "json" => true,
        "r" => succeeds(Command::new("Rscript").arg("--version")),
        _ => succeeds(Command::new(python()).args([SCRIPT, format, "there", "", ""])),
    };
    FORMATS.iter().map(|format| runs(format)).collect()
});

impl Runner {
    /// Runner of a language; `None`, with a message, if nothing runs it. Fails if `VAGLIO_TEST_EXPORTS` asks for all.
    pub fn new(format: &'static str) -> Option<Self> {
        let place = FORMATS.iter().position(|known| *known == format).unwrap();
        if RUNS[place] {
            return Some(Runner { format });
        }
        assert!(std::env::var_os("VAGLIO_TEST_EXPORTS").is_none(), "nothing runs {format} here");
        eprintln!("skipped: nothing runs {format} here; .ci/exporters installs what does");
        None
    }

    /// The predictions of the rows of a file by `model.FORMAT`.
    pub fn run(&self, folder: &Folder, data: &str) -> PredictedColumns {
        let described = folder.json("model.json");
        match self.format {
            "json" => evaluated(&described, &folder.read(data)),
            "r" => by_r(folder, data),
            format => {
                let model = format!("model.{format}");
                let mut command = Command::new(python());
                command.current_dir(&folder.0).args([SCRIPT, format, &model, data, "model.json"]);
                let output = command.output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{format}: {said}\n{}", folder.path(&model).display());
                let found: Value = serde_json::from_slice(&output.stdout).unwrap();
                let cells = |list: &Value| {
                    let cell = |cell: &Value| (!cell.is_null()).then(|| cell.clone());
                    list.as_array().unwrap().iter().map(cell).collect()
                };
                found.as_object().unwrap().iter().map(|(name, list)| (name.clone(), cells(list))).collect()
            }
        }
    }
}

fn by_r(folder: &Folder, data: &str) -> PredictedColumns {
    let mut command = Command::new("Rscript");
    command.current_dir(&folder.0).args(["--encoding=UTF-8", R_SCRIPT, "model.r", data, "found"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = folder.read("found");
    let column = |text: &str| {
        let mut parts = text.split('\u{1f}');
        let name = parts.next().unwrap().to_owned();
        let cell = |cell: &str| match cell {
            "" => None,
            cell if name == "label" => Some(cell.into()),
            cell => Some(cell.parse::<f64>().unwrap().into()),
        };
        let cells = parts.map(cell).collect();
        (name, cells)
    };
    found.split('\u{1e}').filter(|text| !text.is_empty()).map(column).collect()
}
