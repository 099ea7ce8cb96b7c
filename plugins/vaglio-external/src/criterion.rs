//! A criterion that is a program.

use crate::child::{Child, answer, message};
use crate::pool::{Started, ask};
use crate::program::ExternalProgram;
use crate::table::Sent;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use vaglio_core::{Criterion, Design, Error, Feature, Found, HeldOut, Result, Round, Score, part};

/// The score of a program, which is asked for every subset.
///
/// The program gets the design once: columns, targets, weights. Then it gets subsets and answers with scores, lower is better. It
/// may ask back for predictions of rows that are held out, by the pipeline's own learner; so a score of held-out predictions
/// is a program of a few lines. The guide has the messages in full.
///
/// Cost: that of the program, and a line there and back for each subset; nothing is shared between subsets. As many programs run as
/// there are threads.
///
/// # Errors
/// [`Error::Setting`] where programs are not allowed or it cannot be started; [`Error::Numerical`] where it ends, or answers
/// what is no score, with the last line that it wrote to standard error.
#[part(
    Criterion,
    "external",
    summary = "a program of the user's, which scores each subset",
    example = "criterion: {kind: external, program: [python3, criterion.py]}"
)]
#[derive(PartialEq)]
pub struct ExternalCriterion {
    /// The command: the program and its arguments, paths from the working directory.
    pub program: ExternalProgram,
    /// What the program is given when it starts.
    pub settings: Map<String, Value>,
    /// Whether the score of no columns compares with that of others, so that a search whose best is no better takes none.
    pub compares_with_empty: bool,
}

/// The number of a design among all that programs get.
struct Number(u64);

impl Default for Number {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Number(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Rows that a program wants to be predicted from others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Retrain {
    training: Vec<usize>,
    held_out: Vec<usize>,
    columns: Vec<Feature>,
    lambda: Option<f64>,
}

impl ExternalCriterion {
    /// Of a program that takes no settings.
    pub fn new(program: ExternalProgram) -> Self {
        ExternalCriterion { program, ..ExternalCriterion::default() }
    }

    /// Asks a program that has the design.
    fn ask<T>(&self, design: &Design, questions: impl FnOnce(&mut Child, &Value) -> Result<T>) -> Result<T> {
        let Number(number) = *design.session::<Number>();
        let started = Started { program: &self.program, part: "criterion", settings: &self.settings };
        ask(&started, number, |child| {
            let held_out = match child.holds.take() {
                Some((held, said)) if held == number => said,
                _ => child.ask(described(design), Some(&sent(design)))?,
            };
            let value = questions(child, &held_out)?;
            child.holds = Some((number, held_out));
            Ok(value)
        })
    }
}

/// What a design is beside its columns.
fn described(design: &Design) -> Map<String, Value> {
    let (names, outputs) = (design.names(), design.targets().nrows());
    let task = design.task().name();
    message(
        "design",
        json!({"rows": design.rows(), "names": names, "outputs": outputs, "task": task, "seed": design.seed()}),
    )
}

fn sent(design: &Design) -> Sent<'_> {
    Sent::training(design.columns().iter().map(|column| column.values()), design.targets(), design.weights())
        .and_numbers("series", design.series())
        .and_numbers("group", design.groups())
        .and_numbers("time", design.time())
}

impl Criterion for ExternalCriterion {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        self.ask(design, |child, _| {
            let mut question = message("evaluate", json!(subset));
            question.insert("lambdas".into(), json!(design.lambdas()));
            loop {
                let said = child.ask(question, None)?;
                let Some(wanted) = said.get("retrain") else {
                    let lambda = serde_json::from_value::<Option<f64>>(said["lambda"].clone()).ok();
                    let lambda = lambda.filter(|lambda| lambda.is_none() || design.lambdas().contains(lambda));
                    let lambda = lambda.ok_or_else(|| child.wrong(&said, "a `lambda` of `lambdas`"))?;
                    return Score { lambda, ..Score::of(child.number(&said, "score")?) }.checked();
                };
                question = answer(
                    retrained(design, wanted)
                        .map_err(|error| match error {
                            Error::Shape(why) => child.wrong(&said, &why),
                            error => error,
                        })?
                        .view(),
                );
            }
        })
    }

    fn folds(&self, design: &Design) -> Result<HeldOut> {
        self.ask(design, |child, said| {
            let wrong = || child.wrong(said, r#"`{"held_out": "nothing", "each_row" or the fold of each row}`"#);
            match &said["held_out"] {
                Value::String(word) if word == "nothing" => Ok(HeldOut::Nothing),
                Value::String(word) if word == "each_row" => Ok(HeldOut::EachRow),
                folds => {
                    let folds: Vec<Option<u32>> = serde_json::from_value(folds.clone()).map_err(|_| wrong())?;
                    let most = folds.iter().flatten().max();
                    if folds.len() != design.rows() {
                        let rows = design.rows();
                        return Err(
                            child.wrong(said, &format!("the fold of each of {rows} rows, not of {}", folds.len()))
                        );
                    }
                    let fit = most.is_some_and(|most| (*most as usize) < design.rows());
                    if fit { Ok(HeldOut::Folds(vec![Round::new(folds)])) } else { Err(wrong()) }
                }
            }
        })
    }

    fn check_settings(&self) -> Result<()> {
        self.program.check()
    }

    fn compares_with_empty(&self) -> bool {
        self.compares_with_empty
    }

    fn found(&self, _design: &Design, _subset: &[Feature]) -> Result<Found> {
        Ok(Found::of("program", self.program.clone()))
    }
}

/// The predictions that a program wants.
///
/// # Errors
/// [`Error::Shape`] for what cannot be trained or predicted; those of training.
fn retrained(design: &Design, wanted: &Value) -> Result<ndarray::Array2<f64>> {
    let Retrain { training, held_out, columns, lambda } = serde_json::from_value(wanted.clone()).map_err(|error| {
        Error::Shape(format!(
            r#"`{{"retrain": {{"training": rows, "held_out": rows, "columns": numbers, "lambda": one of `lambdas`}}}}`: {error}"#
        ))
    })?;
    let (rows, features) = (design.rows(), design.features());
    if training.is_empty() || training.iter().chain(&held_out).any(|row| *row >= rows) {
        return Err(Error::Shape(format!("rows to train on, all below {rows}")));
    }
    if columns.iter().any(|column| *column >= features) {
        return Err(Error::Shape(format!("columns below {features}")));
    }
    if !design.lambdas().contains(&lambda) {
        return Err(Error::Shape("a `lambda` of `lambdas`".into()));
    }
    design.retrain(&training, &held_out, &columns, lambda)
}
