//! Criteria computed by external programs.

use crate::child::{Child, answer, message};
use crate::pool::{ProgramUse, ask};
use crate::program::ExternalProgram;
use crate::table::SentTable;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use vaglio_core::{Error, Result, prelude::*};

/// A score computed by a program, which is asked for every subset.
///
/// The program gets the design once: columns, targets, weights. Then it gets subsets and answers with scores, lower is
/// better. It may request predictions of held-out rows by the pipeline's own learner, so a score of held-out
/// predictions is a program of a few lines. The guide describes all messages.
///
/// Cost: that of the program, and a line back and forth for each subset; subsets share nothing. As many programs run as
/// there are threads.
///
/// # Errors
/// [`Error::Setting`] if programs are not allowed or it cannot be started; [`Error::Numerical`] if it ends or answers
/// with an invalid score, with the last line that it wrote to standard error.
#[part(
    Criterion,
    "external",
    summary = "a program of the user's, which scores each subset",
    example = "criterion: {kind: external, program: [python3, criterion.py]}"
)]
#[derive(PartialEq)]
pub struct ExternalCriterion {
    /// The command: the program and its arguments, with paths relative to the working directory.
    pub program: ExternalProgram,
    /// Settings passed to the program when it starts.
    pub settings: Map<String, Value>,
    /// Whether the score of the empty subset is comparable with others, so that a search selects no columns if none are
    /// better.
    pub compares_with_empty: bool,
}

/// Number of a design, unique in this process.
struct DesignId(u64);

impl Default for DesignId {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        DesignId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Request to predict rows from others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Retrain {
    training: Vec<usize>,
    held_out: Vec<usize>,
    columns: Vec<Feature>,
    lambda: Option<f64>,
}

impl ExternalCriterion {
    /// Asks a program that holds the design.
    fn ask<T>(&self, design: &Design, questions: impl FnOnce(&mut Child, &Value) -> Result<T>) -> Result<T> {
        let DesignId(number) = *design.session::<DesignId>();
        let started = ProgramUse { program: self.program.clone(), part: "criterion", settings: self.settings.clone() };
        ask(&started, number, |child| {
            let held_out = match child.holds.take() {
                Some((held, said)) if held == number => said,
                _ => child.ask(describe(design), Some(&sent_table(design)))?,
            };
            let value = questions(child, &held_out)?;
            child.holds = Some((number, held_out));
            Ok(value)
        })
    }
}

/// Description of a design without its columns.
fn describe(design: &Design) -> Map<String, Value> {
    let (names, outputs) = (design.problem().names(), design.targets().nrows());
    let task = design.problem().task().name();
    message(
        "design",
        json!({"rows": design.rows(), "names": names, "outputs": outputs, "task": task, "seed": design.problem().seed()}),
    )
}

fn sent_table(design: &Design) -> SentTable<'_> {
    SentTable::training(
        design.problem().columns().iter().map(|column| column.values()),
        design.targets(),
        design.weights(),
    )
    .and_numbers("series", design.problem().series())
    .and_numbers("group", design.problem().groups())
    .and_numbers("time", design.problem().labels().time.as_deref())
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
                    return Score { lambda, ..Score::new(child.number(&said, "score")?) }.checked();
                };
                question = answer(
                    retrain(design, wanted)
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

    fn traits(&self) -> CriterionTraits {
        CriterionTraits { compares_with_empty: self.compares_with_empty, ..CriterionTraits::default() }
    }

    fn found(&self, _design: &Design, _subset: &[Feature]) -> Result<PartOutputs> {
        Ok(PartOutputs::new("program", self.program.clone()))
    }
}

/// Predictions requested by a program.
///
/// # Errors
/// [`Error::Shape`] for an invalid request; errors of training.
fn retrain(design: &Design, wanted: &Value) -> Result<ndarray::Array2<f64>> {
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
