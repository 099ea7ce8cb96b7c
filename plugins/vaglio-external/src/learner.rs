//! Learners run as external programs.

use crate::child::{message, predictions};
use crate::pool::{ProgramUse, ask};
use crate::program::ExternalProgram;
use crate::table::SentTable;
use ndarray::Array2;
use serde_json::{Map, Value, json};
use vaglio_core::{Error, Result, prelude::*};

/// A learner that is a program: it fits, returns its trained state, and predicts from that state.
///
/// The state is any JSON value and is stored in the model, with the program and the digest of its files. `vaglio
/// predict` runs the program again, if programs are allowed.
///
/// Cost: criteria refit it for every subset and every row or fold left out, and send the rows each time. If that is too
/// slow, select with another learner and train this one as `model`.
#[part(
    Learner,
    "external",
    summary = "a program of the user's, which fits and predicts",
    example = "learner: {kind: external, program: [python3, learner.py]}"
)]
#[derive(PartialEq)]
pub struct ExternalLearner {
    /// The command: the program and its arguments, with paths relative to the working directory.
    pub program: ExternalProgram,
    /// Settings passed to the program when it starts.
    pub settings: Map<String, Value>,
}

impl Learner for ExternalLearner {
    fn readout(&self) -> Result<Option<Readout>> {
        Ok(None)
    }

    fn check_settings(&self) -> Result<()> {
        self.program.check()
    }

    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        let started = ProgramUse { program: self.program.clone(), part: "learner", settings: self.settings.clone() };
        let names: Vec<&String> = subset.iter().map(|&column| &problem.names()[column]).collect();
        let (rows, outputs, task) = (problem.rows(), problem.targets().nrows(), problem.task().name());
        let columns = subset.iter().map(|column| problem.columns().column(*column).values());
        let table = SentTable::training(columns, problem.targets().view(), problem.weights())
            .and_numbers("series", problem.series())
            .and_numbers("group", problem.groups());
        let learned = ask(&started, 0, |child| {
            let about = json!({"rows": rows, "names": names, "outputs": outputs, "task": task, "seed": problem.seed()});
            let said = child.ask(message("fit", about), Some(&table))?;
            said.get("model").map(Value::to_string).ok_or_else(|| child.wrong(&said, r#"`{"model": any value}`"#))
        })?;
        let (program, settings, inputs) =
            (self.program.clone(), Value::Object(self.settings.clone()).to_string(), subset.to_vec());
        Model::new(ExternalModel { inputs, columns: subset.len(), program, settings, outputs, learned })
    }
}

/// A model learned by a program.
#[saved(ModelData, "external")]
struct ExternalModel {
    inputs: Vec<Feature>,
    /// Number of columns that the program has learned from.
    columns: usize,
    program: ExternalProgram,
    /// Settings, as JSON.
    settings: String,
    outputs: usize,
    /// The learned model, as JSON.
    learned: String,
}

impl ModelData for ExternalModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn check(&self) -> Result<()> {
        if self.outputs == 0 || self.columns != self.inputs.len() {
            let found = format!("{} outputs, and {} inputs of {}", self.outputs, self.inputs.len(), self.columns);
            return Err(Error::Shape(found));
        }
        self.values()?;
        self.program.check()
    }

    fn predict(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Array2<f64>> {
        let (settings, learned) = self.values()?;
        let started = ProgramUse { program: self.program.clone(), part: "learner", settings };
        let table =
            SentTable::default().and('x', inputs.iter().map(|column| column.values())).and_numbers("series", series);
        let rows = inputs.rows();
        ask(&started, 0, |child| {
            let said = child.ask(message("predict", json!({"rows": rows, "model": learned})), Some(&table))?;
            predictions(child, &said, self.outputs, rows)
        })
    }
}

impl ExternalModel {
    fn values(&self) -> Result<(Map<String, Value>, Value)> {
        let failed = |error: serde_json::Error| Error::failed("no JSON", error);
        Ok((
            serde_json::from_str(&self.settings).map_err(failed)?,
            serde_json::from_str(&self.learned).map_err(failed)?,
        ))
    }
}
