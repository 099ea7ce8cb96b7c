//! Losses computed by external programs.

use crate::child::message;
use crate::pool::{ProgramUse, ask};
use crate::program::ExternalProgram;
use crate::table::SentTable;
use ndarray::ArrayView2;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};
use vaglio_core::{Error, Loss, LossTasks, LossTraits, Measure, Result, lock, part};

/// A loss computed by a program over all rows together.
///
/// The program gets targets, predictions and weights and answers with a number, lower is better. Standard errors are
/// those of a jackknife of at most 100 parts. Classes are coded ±1.
///
/// Cost: that of the program, and the time to send 2 · rows · outputs numbers, for every trial.
#[part(
    Loss,
    "external",
    summary = "a program of the user's, which rates predictions",
    example = "criterion: {kind: kfold, loss: {kind: external, program: [python3, loss.py]}}"
)]
#[derive(PartialEq)]
pub struct ExternalLoss {
    /// The command: the program and its arguments, with paths relative to the working directory.
    pub program: ExternalProgram,
    /// Settings passed to the program when it starts.
    pub settings: Map<String, Value>,
    /// Whether it is a loss of classes.
    pub classes: bool,
}

impl ExternalLoss {
    fn program_use(&self) -> ProgramUse {
        ProgramUse { program: self.program.clone(), part: "loss", settings: self.settings.clone() }
    }
}

/// Errors that occurred where none can be returned.
static FAILED: LazyLock<Mutex<HashMap<ProgramUse, Error>>> = LazyLock::new(Mutex::default);

impl Loss for ExternalLoss {
    /// The number that the program answers, or NaN after a failure, until [`Loss::failure`] takes it.
    fn mean(&self, targets: ArrayView2<'_, f64>, predictions: ArrayView2<'_, f64>, weights: Option<&[f64]>) -> f64 {
        let program = self.program_use();
        if lock(&FAILED).contains_key(&program) {
            return f64::NAN;
        }
        let table = SentTable::default()
            .and_rows('y', targets)
            .and_rows('p', predictions)
            .and_column("weight", weights.map(Cow::Borrowed));
        let (outputs, rows) = targets.dim();
        let answer = ask(&program, 0, |child| {
            let said = child.ask(message("loss", json!({"rows": rows, "outputs": outputs})), Some(&table))?;
            child.number(&said, "loss")
        });
        answer.unwrap_or_else(|error| {
            lock(&FAILED).entry(program).or_insert(error);
            f64::NAN
        })
    }

    fn failure(&self) -> Option<Error> {
        lock(&FAILED).remove(&self.program_use())
    }

    fn traits(&self) -> LossTraits {
        LossTraits {
            measure: Measure::Whole,
            tasks: if self.classes { LossTasks::Classes } else { LossTasks::Any },
            slow_reason: Some("a program is asked for every trial, with all targets and predictions".into()),
            ..LossTraits::default()
        }
    }

    fn check_settings(&self) -> Result<()> {
        self.program.check()
    }
}
