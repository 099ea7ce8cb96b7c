//! `selection.json`, and files that appear whole.

use super::TestFigures;
use crate::tune::Tuned;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path as FilePath;
use vaglio_core::{Action, Certificate, Coefficients, Error, Feature, Path, PathEntry, Result, Step, StopReason};

/// The content of `selection.json`, in the order of its keys.
#[derive(Debug, Clone, Serialize)]
pub struct RunRecord {
    schema: &'static str,
    status: &'static str,
    stop_reason: StopReason,
    pipeline: PipelineWords,
    #[serde(skip_serializing_if = "Option::is_none")]
    tuned: Option<Tuned>,
    data: DataWords,
    empty_score: f64,
    steps: Vec<StepRecord>,
    path: Vec<EntryRecord>,
    selected: Vec<SelectedRecord>,
    score: Option<f64>,
    lambda: Option<f64>,
    intercept: Value,
    excluded: Vec<ExcludedRecord>,
    /// Of results by dependence or by a least-angle path, where near-copies are the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    redundancy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<CertificateRecord>,
    test: Option<TestFigures>,
    nested: Option<Value>,
    verify: Option<Value>,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
}

/// The words for the parts of a run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PipelineWords {
    pub learner: String,
    pub criterion: String,
    pub search: String,
    pub loss: Option<&'static str>,
    pub engine: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approximation: Option<&'static str>,
}

/// What the data are.
#[derive(Debug, Clone, Serialize)]
pub(super) struct DataWords {
    pub rows: usize,
    pub features: usize,
    pub outputs: usize,
    pub sha256: String,
}

/// Wall-clock seconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Seconds {
    pub read: f64,
    pub search: f64,
    pub fit: f64,
    pub total: f64,
}

#[derive(Debug, Clone, Serialize)]
struct StepRecord {
    step: usize,
    action: Action,
    index: Feature,
    name: String,
    /// The columns of a block that moved together; absent for a column alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<Feature>,
    score: f64,
    lambda: Option<f64>,
    size: usize,
    tied: Vec<Feature>,
    /// Where a least-angle path is after the step; absent for other searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    mu: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<Vec<f64>>,
}

#[derive(Debug, Clone, Serialize)]
struct EntryRecord {
    size: usize,
    subset: Vec<Feature>,
    score: f64,
    lambda: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
struct CertificateRecord {
    optimal: bool,
    visited: u64,
    pruned: u64,
    /// What is left to prove, where a search was stopped and it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<f64>,
}

impl CertificateRecord {
    fn new(certificate: Certificate) -> Self {
        let Certificate { optimal, visited, pruned, gap } = certificate;
        CertificateRecord { optimal, visited, pruned, gap: gap.filter(|_| !optimal) }
    }
}

/// The entries as the walk came to them: from the largest down when it began with a removal, else from the smallest up.
pub(super) fn in_order(path: &Path) -> Vec<&PathEntry> {
    let mut entries: Vec<&PathEntry> = path.entries.iter().collect();
    if path.steps.first().is_some_and(|step| step.action == Action::Remove) {
        entries.reverse();
    }
    entries
}

#[derive(Debug, Clone, Serialize)]
struct SelectedRecord {
    index: Feature,
    name: String,
    weight: Value,
    /// The criterion's own coefficient, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
struct ExcludedRecord {
    index: Feature,
    name: String,
    reason: &'static str,
}

/// What a record is made from.
pub(super) struct Facts<'a> {
    pub pipeline: PipelineWords,
    pub tuned: Option<&'a Tuned>,
    pub data: DataWords,
    pub names: &'a [String],
    pub path: &'a Path,
    pub coefficients: Option<&'a Coefficients>,
    /// The criterion's own coefficients on the result.
    pub alpha: Option<&'a [f64]>,
    /// Mean absolute correlation of pairs of chosen columns.
    pub redundancy: Option<f64>,
    pub lambda: Option<f64>,
    pub constant: &'a [Feature],
    pub test: Option<TestFigures>,
    pub seconds: Seconds,
}

impl RunRecord {
    pub(super) fn new(facts: Facts<'_>) -> Self {
        let Facts {
            pipeline,
            tuned,
            data,
            names,
            path,
            coefficients,
            alpha,
            redundancy,
            lambda,
            constant,
            test,
            seconds,
        } = facts;
        let name = |feature: Feature| names.get(feature).cloned().unwrap_or_default();
        let subset = path.result().map_or(&[][..], |entry| &entry.subset);
        let weight = |k: usize| coefficients.map_or(Value::Null, |c| one_or_list(c.weights.row(k).to_vec()));
        RunRecord {
            schema: "vaglio.selection/1",
            status: if path.stop_reason.is_partial() { "partial" } else { "complete" },
            stop_reason: path.stop_reason,
            pipeline,
            tuned: tuned.cloned(),
            data,
            empty_score: path.empty.loss,
            steps: path
                .steps
                .iter()
                .enumerate()
                .map(|(k, step)| StepRecord::new(k + 1, step, name(step.feature)))
                .collect(),
            path: in_order(path).into_iter().map(EntryRecord::new).collect(),
            selected: subset
                .iter()
                .enumerate()
                .map(|(k, &index)| SelectedRecord {
                    index,
                    name: name(index),
                    weight: weight(k),
                    alpha: alpha.and_then(|alpha| alpha.get(k).copied()),
                })
                .collect(),
            score: Some(path.result().map_or(path.empty.loss, |entry| entry.score.loss)),
            lambda,
            intercept: coefficients.map_or(Value::Null, |c| one_or_list(c.intercept.clone())),
            excluded: constant
                .iter()
                .map(|&index| ExcludedRecord { index, name: name(index), reason: "constant" })
                .collect(),
            redundancy,
            certificate: path.certificate.map(CertificateRecord::new),
            test,
            nested: None,
            verify: None,
            seconds,
            peak_memory_bytes: peak_memory(),
        }
    }

    /// Whether the search was cut short.
    pub fn is_partial(&self) -> bool {
        self.stop_reason.is_partial()
    }

    /// Why the search ended.
    pub fn stop_reason(&self) -> StopReason {
        self.stop_reason
    }

    /// The text of `selection.json`.
    ///
    /// # Errors
    /// [`Error::Numerical`] when a number cannot be written.
    pub fn to_text(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        text.map(|t| t + "\n").map_err(|e| Error::Numerical(format!("the result cannot be written: {e}")))
    }

    /// A short table for people: the chosen columns with their weights, and the figures.
    pub fn table(&self) -> String {
        let width = self.selected.iter().map(|s| s.name.chars().count()).max().unwrap_or(0).max(6);
        let mut out = format!("{:>4}  {:<width$}  {:>12}\n", "", "column", "weight");
        for (k, chosen) in self.selected.iter().enumerate() {
            let weight = match &chosen.weight {
                Value::Number(w) => format!("{:.6}", w.as_f64().unwrap_or(f64::NAN)),
                Value::Array(list) => format!("({} outputs)", list.len()),
                _ => String::new(),
            };
            out.push_str(&format!("{:>4}  {:<width$}  {weight:>12}\n", k + 1, chosen.name));
        }
        let words = &self.pipeline;
        out.push_str(&format!(
            "\n{} of {} columns, {} rows; {} on {}{}, {}\n",
            self.selected.len(),
            self.data.features,
            self.data.rows,
            words.search,
            words.criterion,
            words.loss.map(|l| format!(" ({l})")).unwrap_or_default(),
            words.learner,
        ));
        if let Some(tuned) = &self.tuned {
            let values = tuned.parameters();
            let values: Vec<String> = values.iter().map(|(path, value)| format!("{path} = {value}")).collect();
            let (method, count) = (tuned.tune().method.name(), tuned.trials().len());
            out.push_str(&format!("tuned by {method}, {count} evaluations: {}\n", values.join(", ")));
        }
        if let Some(score) = self.score {
            let lambda = self.lambda.map(|l| format!(", lambda {l}")).unwrap_or_default();
            out.push_str(&format!("score {score:.6} (no columns: {:.6}){lambda}\n", self.empty_score));
        }
        if let Some(test) = &self.test {
            out.push_str(&format!("test  {} rows, mean squared error {:.6}", test.rows, test.mse));
            if let Some(rate) = test.error_rate {
                out.push_str(&format!(", error rate {rate:.4}"));
            }
            out.push('\n');
        } else {
            let who = if self.tuned.is_some() { "tuning and selection" } else { "the selection" };
            out.push_str(&format!(
                "The score is optimistic: {who} saw these rows. Give test data for an honest figure.\n"
            ));
        }
        if let Some(certificate) = &self.certificate {
            let CertificateRecord { optimal, visited, pruned, .. } = certificate;
            let proven = if *optimal { "the best subset of every size is proven" } else { "not proven to be the best" };
            out.push_str(&format!("{visited} subsets scored, {pruned} ruled out unscored: {proven}\n"));
        }
        if self.is_partial() {
            out.push_str("The search was cut short; this is the valid result so far.\n");
        }
        if self.pipeline.loss.is_some() && self.score.is_some_and(|score| score >= self.empty_score) {
            out.push_str("No subset on the path beats the empty one.\n");
        }
        out
    }
}

impl StepRecord {
    fn new(number: usize, step: &Step, name: String) -> Self {
        StepRecord {
            step: number,
            action: step.action,
            index: step.feature,
            name,
            columns: if step.with.is_empty() { Vec::new() } else { [&[step.feature], &step.with[..]].concat() },
            score: step.score.loss,
            lambda: step.score.lambda,
            size: step.size,
            tied: step.tied.clone(),
            mu: step.knot.as_ref().map(|knot| knot.mu),
            alpha: step.knot.as_ref().map(|knot| knot.alpha.clone()),
        }
    }
}

impl EntryRecord {
    fn new(entry: &PathEntry) -> Self {
        EntryRecord {
            size: entry.subset.len(),
            subset: entry.subset.clone(),
            score: entry.score.loss,
            lambda: entry.score.lambda,
        }
    }
}

/// A number for one output, a list for several.
fn one_or_list(values: Vec<f64>) -> Value {
    match values.as_slice() {
        [value] => json!(value),
        _ => json!(values),
    }
}

/// The process's peak resident set, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Writes a file under another name first, so that it appears whole or not at all.
///
/// # Errors
/// [`Error::Unwritable`].
pub fn write_file(path: &FilePath, text: &str) -> Result<()> {
    let failed = |e: std::io::Error| Error::Unwritable { path: path.to_owned(), message: e.to_string() };
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    write().map_err(|e| {
        let _ = std::fs::remove_file(&temporary);
        failed(e)
    })
}
