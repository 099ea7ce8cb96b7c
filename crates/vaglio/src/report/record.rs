//! The result as read from `selection.json`: what is there, and nothing invented for what is not.

use super::{Report, SizePoint};
use serde_json::Value;
use std::collections::HashMap;

/// The best subset of one size.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    pub size: usize,
    pub subset: Vec<usize>,
    pub score: Option<f64>,
    pub lambda: Option<f64>,
    pub standard_error: Option<f64>,
    pub curve: SizePoint,
}

/// One step of the search.
#[derive(Debug, Clone)]
pub struct StepRecord {
    pub step: usize,
    pub added: bool,
    pub index: usize,
    /// The columns that moved: of a block all of it.
    pub columns: Vec<usize>,
    pub score: Option<f64>,
    pub lambda: Option<f64>,
    pub size: usize,
    pub tied: Vec<usize>,
    /// Coefficients at the end of the step of a least-angle path, in order of entry.
    pub alpha: Option<Vec<f64>>,
}

/// One chosen feature; a weight per output.
#[derive(Debug, Clone)]
pub struct Chosen {
    pub index: usize,
    pub weights: Vec<f64>,
}

/// Figures on the test rows.
#[derive(Debug, Clone, Copy)]
pub struct TestFigures {
    pub rows: Option<u64>,
    pub mse: Option<f64>,
    pub nrmse: Option<f64>,
    pub error_rate: Option<f64>,
    pub balanced_error_rate: Option<f64>,
    pub auc: Option<f64>,
}

/// What `selection.json` says, in types.
#[derive(Debug, Clone)]
pub struct Record {
    pub status: String,
    pub stop_reason: String,
    pub learner: String,
    pub criterion: String,
    pub search: String,
    pub loss: Option<String>,
    pub engine: String,
    pub rows: Option<u64>,
    pub features: Option<u64>,
    pub outputs: u64,
    pub sha256: String,
    pub empty_score: Option<f64>,
    pub score: Option<f64>,
    pub lambda: Option<f64>,
    pub intercepts: Vec<f64>,
    pub steps: Vec<StepRecord>,
    pub path: Vec<Entry>,
    pub selected: Vec<Chosen>,
    /// Name and reason.
    pub excluded: Vec<(usize, String)>,
    /// Mean absolute correlation of pairs of chosen columns.
    pub redundancy: Option<f64>,
    pub test: Option<TestFigures>,
    /// Steps recomputed by retraining, and the largest relative error among them.
    pub verify: Option<(u64, f64)>,
    pub seconds: Value,
    pub peak_memory: Option<f64>,
    names: HashMap<usize, String>,
}

impl Record {
    /// Reads what is there; entries of the wrong type count as absent.
    pub fn read(report: &Report<'_>) -> Record {
        let s = report.selection;
        let mut names = HashMap::new();
        for list in ["steps", "selected", "excluded"] {
            for item in items(s, list) {
                if let (Some(index), Some(name)) = (whole(item, "index"), item.get("name").and_then(Value::as_str)) {
                    names.insert(index as usize, name.to_owned());
                }
            }
        }
        let (pipeline, data) = (&s["pipeline"], &s["data"]);
        Record {
            status: text(s, "status"),
            stop_reason: text(s, "stop_reason"),
            learner: text(pipeline, "learner"),
            criterion: text(pipeline, "criterion"),
            search: text(pipeline, "search"),
            loss: pipeline.get("loss").and_then(Value::as_str).map(str::to_owned),
            engine: text(pipeline, "engine"),
            rows: whole(data, "rows"),
            features: whole(data, "features"),
            outputs: whole(data, "outputs").unwrap_or(1),
            sha256: text(data, "sha256"),
            empty_score: finite(s, "empty_score"),
            score: finite(s, "score"),
            lambda: finite(s, "lambda"),
            intercepts: numbers(&s["intercept"]),
            steps: items(s, "steps").iter().enumerate().map(|(place, step)| step_record(place, step)).collect(),
            path: path(report),
            selected: items(s, "selected").iter().filter_map(chosen).collect(),
            excluded: items(s, "excluded")
                .iter()
                .filter_map(|e| Some((whole(e, "index")? as usize, text(e, "reason"))))
                .collect(),
            redundancy: finite(s, "redundancy"),
            test: s.get("test").filter(|t| t.is_object()).map(test_figures),
            verify: whole(&s["verify"], "steps").zip(finite(&s["verify"], "max_relative_error")),
            seconds: s["seconds"].clone(),
            peak_memory: finite(s, "peak_memory_bytes"),
            names,
        }
    }

    /// The name of a column, or its index where no name is known.
    pub fn name(&self, index: usize) -> String {
        self.names.get(&index).cloned().unwrap_or_else(|| format!("column {index}"))
    }

    /// The entry of the path that is the result.
    pub fn chosen_entry(&self) -> Option<&Entry> {
        self.path.iter().find(|entry| entry.size == self.selected.len())
    }

    /// The entry of the lowest score, the smallest among equals.
    pub fn best_entry(&self) -> Option<&Entry> {
        self.path
            .iter()
            .filter_map(|entry| Some((entry.score?, entry)))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.size.cmp(&b.1.size)))
            .map(|(_, entry)| entry)
    }

    /// The step with which a column last entered.
    pub fn entry_step(&self, index: usize) -> Option<&StepRecord> {
        self.steps.iter().rev().find(|step| step.added && step.columns.contains(&index))
    }
}

fn path(report: &Report<'_>) -> Vec<Entry> {
    let curve: HashMap<usize, SizePoint> = report.curve.iter().map(|point| (point.size, *point)).collect();
    let mut path: Vec<Entry> = items(report.selection, "path")
        .iter()
        .enumerate()
        .map(|(place, entry)| {
            let subset: Vec<usize> = indices(&entry["subset"]);
            let size = whole(entry, "size").map_or(subset.len(), |size| size as usize);
            Entry {
                size,
                subset,
                score: finite(entry, "score"),
                lambda: finite(entry, "lambda"),
                standard_error: report.standard_errors.get(place).copied().flatten().filter(|e| e.is_finite()),
                curve: curve.get(&size).map(|point| tidy(*point)).unwrap_or_default(),
            }
        })
        .collect();
    path.sort_by_key(|entry| entry.size);
    path
}

fn tidy(point: SizePoint) -> SizePoint {
    let keep = |x: Option<f64>| x.filter(|x| x.is_finite());
    SizePoint {
        size: point.size,
        train: keep(point.train),
        test: keep(point.test),
        train_error: keep(point.train_error),
        test_error: keep(point.test_error),
    }
}

fn step_record(place: usize, step: &Value) -> StepRecord {
    StepRecord {
        step: whole(step, "step").map_or(place + 1, |n| n as usize),
        added: text(step, "action") != "remove",
        index: whole(step, "index").unwrap_or(0) as usize,
        columns: match step.get("columns") {
            Some(columns) => indices(columns),
            None => whole(step, "index").into_iter().map(|index| index as usize).collect(),
        },
        score: finite(step, "score"),
        lambda: finite(step, "lambda"),
        size: whole(step, "size").unwrap_or(0) as usize,
        tied: indices(&step["tied"]),
        alpha: step.get("alpha").filter(|a| a.is_array()).map(numbers),
    }
}

fn chosen(feature: &Value) -> Option<Chosen> {
    Some(Chosen { index: whole(feature, "index")? as usize, weights: numbers(&feature["weight"]) })
}

fn test_figures(test: &Value) -> TestFigures {
    TestFigures {
        rows: whole(test, "rows"),
        mse: finite(test, "mse"),
        nrmse: finite(test, "nrmse"),
        error_rate: finite(test, "error_rate"),
        balanced_error_rate: finite(test, "balanced_error_rate"),
        auc: finite(test, "auc"),
    }
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The finite number at `key`.
pub fn finite(value: &Value, key: &str) -> Option<f64> {
    value.get(key).and_then(Value::as_f64).filter(|x| x.is_finite())
}

fn whole(value: &Value, key: &str) -> Option<u64> {
    value.get(key).and_then(Value::as_u64)
}

fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn indices(value: &Value) -> Vec<usize> {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(|v| v.as_u64().map(|n| n as usize)).collect()
}

/// A number, or the numbers of a list.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().filter_map(Value::as_f64).collect(),
        other => other.as_f64().into_iter().collect(),
    }
}
