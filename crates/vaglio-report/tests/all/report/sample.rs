//! Records to make pages of.

use super::{Record, render};
use serde_json::{Value, json};
use vaglio_report::record::MOST_CORRELATED;

/// The content of a `selection.json`, to be changed before it is read.
pub struct Sample(pub Value);

impl Sample {
    /// Greedy search on the diabetes data, computed independently.
    pub fn diabetes() -> Sample {
        Sample(serde_json::from_str(include_str!("sample.json")).unwrap())
    }

    /// [`Sample::diabetes`] with all evaluations.
    pub fn whole() -> Sample {
        let mut sample = Sample::diabetes();
        let figures = json!({"rows": 354, "loss": 2950.0, "empty_loss": 6000.0, "mse": 2950.0, "r2": 0.5, "nrmse": 0.71,
            "error_rate": null, "balanced_error_rate": null, "auc": null, "standard_error": 210.0, "confusion": null});
        let fold = |k: usize| {
            json!({"fold": k, "repeat": 1, "rows": 177, "loss": 2900.0 + 50.0 * k as f64, "empty_loss": 6000.0, "size": 4,
                "lambda": 10.0, "score": 2890.0, "cross_validated": 2930.0, "selected": ["bmi", "s5", "bp", "s3"]})
        };
        let frequency = json!([{"index": 2, "name": "bmi", "share": 1.0}, {"index": 8, "name": "s5", "share": 0.5},
            {"index": null, "name": "of a fold alone", "share": 0.5}]);
        let value = &mut sample.0;
        value["nested"] = json!({"folds": 2, "repeats": 1, "loss": 2950.0, "standard_error": 210.0, "empty_loss": 6000.0,
            "figures": figures, "per_fold": [fold(1), fold(2)], "frequency": frequency, "jaccard": 0.61});
        let shuffled = json!({"mean": 5900.0, "p": 0.05, "values": vec![5900.0; 19]});
        value["permutations"] = json!({"count": 19, "score": shuffled, "cross_validated": null});
        value["stability"] = json!({"pairs": 10, "size": 4.5, "frequency": frequency,
            "sizes": 5, "columns": [
                {"index": 2, "name": "bmi", "score": 0.9, "expected_false": 0.04, "q": 0.03},
                {"index": 8, "name": "s5", "score": 0.6, "expected_false": 0.06, "q": 0.03},
                {"index": 3, "name": "bp", "score": 0.1, "expected_false": 0.36, "q": 0.12}]});
        let verdict = |index: usize, name: &str, verdict: &str, q: Option<f64>, votes: f64| json!({"index": index, "name": name, "verdict": verdict, "q": q, "votes": votes});
        let mut rival = verdict(4, "s1", "tentative", None, 0.7);
        rival["rival"] = json!("s2");
        value["fdr"] = json!({"rate": 0.1, "experiments": 20, "dummies": 100, "are_virtual": true, "confirmed": 1,
            "tentative": 2, "columns": [verdict(2, "bmi", "confirmed", Some(0.04), 1.0),
                verdict(8, "s5", "tentative", Some(0.15), 0.8), rival, verdict(0, "age", "rejected", None, 0.0)]});
        value["chosen"] = json!({"by": "cross_validation", "rule": "best", "size": 6, "lambda": 10.0,
            "cross_validated": 2920.0, "standard_error": 200.0, "empty_loss": 5990.0, "folds": 5, "repeats": 1});
        let cell = |size: usize, loss: f64| {
            json!({"size": size, "loss": loss, "standard_error": 200.0,
            "difference_error": 60.0})
        };
        value["report"]["table"] = json!({"lambdas": [0.1, 1.0, 10.0], "cells":
            [[cell(0, 5990.0), cell(1, 3950.0)], [cell(6, 2990.0)],
             [cell(0, 5990.0), cell(3, 3100.0), cell(4, 2975.0), cell(5, 2960.0), cell(6, 2920.0)]]});
        for (k, entry) in value["path"].as_array_mut().unwrap().iter_mut().enumerate() {
            entry["cross_validated"] = json!(entry["score"].as_f64().unwrap() + if k < 6 { 24.0 } else { 80.0 });
            entry["cross_validated_error"] = json!(200.0);
        }
        let rows = |shift: f64| (0..50).map(|k| f64::from(k) * 5.0 + shift * f64::from(k % 7)).collect::<Vec<_>>();
        value["report"]["predictions"] =
            json!({"from": "nested", "rows": 354, "observed": [rows(0.0)], "predicted": [rows(3.0)]});
        for column in value["selected"].as_array_mut().unwrap() {
            column["without"] = json!(3000.0);
            column["original_weight"] = json!(0.123_45);
            column["substitutes"] = json!([{"index": 9, "name": "s6", "score": 3001.5}]);
        }
        sample
    }

    /// [`Sample::whole`] with diagnostics of columns and residuals, and names that act on a page.
    pub fn with_diagnostics() -> Sample {
        let mut sample = Sample::whole();
        let value = &mut sample.0;
        let odd = "<b>&\u{202e}";
        value["candidates"][7] = json!(odd);
        for (k, column) in value["selected"].as_array_mut().unwrap().iter_mut().enumerate() {
            column["alone"] = json!(5000.0 - 100.0 * k as f64);
            column["vif"] = if k == 1 { Value::Null } else { json!(1.5 + k as f64) };
            column["over_folds"] = json!({"folds": 2, "low": if k == 3 { -1.0 } else { 1.0 }, "high": 2.5,
                "original_low": 0.1, "original_high": 0.25, "changes_sign": k == 3});
        }
        value["outside"] = json!([
            {"index": 7, "name": odd, "alone": 4900.0, "rank_alone": 3, "nearest": {"step": 2, "rank": 2, "above": 12.5},
                "explained": 0.93},
            {"index": 9, "name": "s6", "alone": null, "explained": 0.2}
        ]);
        let rows: Vec<f64> = (0..40).map(f64::from).collect();
        let drawn = |index: usize, slope: Option<f64>| {
            let values: Vec<Option<f64>> = rows.iter().map(|row| (*row != 7.0).then(|| row.sin())).collect();
            json!({"index": index, "values": values, "slope": slope, "center": 0.1,
                "trend": [[-0.9, 3.0], [0.0, 0.5], [0.9, -2.0]]})
        };
        value["report"]["residuals"] = json!({"fitted": rows.iter().map(|r| r.cos()).collect::<Vec<_>>(),
            "columns": [drawn(2, Some(4.0)), drawn(8, None), drawn(3, Some(-1.0))],
            "largest": [{"row": 17, "observed": [310.0], "predicted": [120.5]}], "largest_from": "nested"});
        value["chosen"]["sizes"] = json!({"over": "folds", "sizes": [6, 4, 9, 6, 6]});
        sample
    }

    /// A floating search of `steps` additions among them some removals, on error rates of three classes.
    pub fn floating(additions: usize) -> Sample {
        let (mut steps, mut path, mut subset) = (Vec::new(), Vec::<Value>::new(), Vec::new());
        let score = |size: usize| 0.05 + 0.6 / (1.0 + size as f64) + 1e-7 * (size * size) as f64;
        for next in 0..additions {
            subset.push(next);
            let tied = if next == 1 { vec![99] } else { vec![] };
            steps.push(step(steps.len() + 1, "add", next, score(subset.len()), subset.len(), tied));
            if path.len() < subset.len() {
                path.push(entry(&subset, steps.len(), score(subset.len())));
            }
            if next % 7 == 5 {
                let gone = subset.remove(next / 2);
                steps.push(step(steps.len() + 1, "remove", gone, score(subset.len()), subset.len(), vec![]));
            }
        }
        let best = (path.len() * 2 / 3).min(path.len() - 1);
        let chosen = path[best]["of"].as_array().unwrap().iter().map(|i| i.as_u64().unwrap() as usize);
        let chosen: Vec<usize> = chosen.collect();
        let best = path[best]["score"].clone();
        path.iter_mut().for_each(|entry| drop(entry.as_object_mut().unwrap().remove("of")));
        let weight = |i: usize| json!([0.1 * i as f64, -0.2, 1e-9 * i as f64]);
        let selected = chosen.iter().map(|&i| column(i, weight(i))).collect::<Vec<_>>();
        let features = 1284;
        let names: Vec<String> = (0..features).map(|i| if i == 99 { String::new() } else { name(i) }).collect();
        Sample(json!({
            "schema": "vaglio.selection/2", "status": "partial", "stop_reason": "limit", "version": "0.1.0", "seed": 3,
            "warnings": [{"kind": "lambda_edge", "message": "lambda 1 is the <largest> that was tried"}],
            "pipeline": {"learner": "rls", "criterion": "loo", "search": "floating", "loss": "squared", "engine": "states",
                "settings": {"preprocess": []}},
            "data": {"rows": 60000, "features": features, "outputs": 3, "targets": ["kind"], "classes": ["left", "<right>", "up"],
                "digest": format!("blake3:{}", "0f".repeat(32)), "test_rows": null},
            "candidates": names, "empty_score": 0.66, "steps": steps, "path": path,
            "chosen": {"by": "setting", "rule": null, "size": chosen.len(), "lambda": 1.0, "cross_validated": null,
                "standard_error": null, "empty_loss": null, "folds": null, "repeats": null},
            "selected": selected, "score": best, "lambda": 1.0, "intercept": [0.1, 0.2, -0.3],
            "excluded": [{"index": 780, "name": "p780", "reason": "constant"}],
            "test": {"rows": 30, "loss": 0.3, "empty_loss": 0.9, "mse": 0.3, "r2": 0.6, "nrmse": null, "error_rate": 0.2,
                "balanced_error_rate": 0.2, "auc": null, "standard_error": 0.02, "always": {"class": 0, "error_rate": 2.0 / 3.0},
                "confusion": [[9, 1, 0], [0, 7, 3], [1, 1, 8]]},
            "nested": null, "permutations": null, "stability": null, "verify": null,
            "seconds": {"read": 1.5, "search": 130.0, "choose": 0.0, "evaluate": 0.0, "fit": 0.2, "total": 132.0},
            "peak_memory_bytes": 1_234_567_890_u64,
            "report": {"correlations": triangle(chosen.len()), "table": null, "predictions": null}
        }))
    }

    /// Greedy search for so many classes.
    pub fn classes(classes: usize) -> Sample {
        let mut sample = Sample::floating(12);
        let value = &mut sample.0;
        let names: Vec<String> = (0..classes).map(|k| format!("class {k}")).collect();
        value["data"]["classes"] = json!(names);
        value["data"]["outputs"] = json!(classes);
        value["intercept"] = json!(vec![0.1; classes]);
        for column in value["selected"].as_array_mut().unwrap() {
            column["weight"] = json!((0..classes).map(|k| (k as f64).sin()).collect::<Vec<_>>());
        }
        let row =
            |k: usize| (0..classes).map(|j| if j == k { 18 } else { usize::from(j == k + 1) }).collect::<Vec<_>>();
        value["test"]["confusion"] = json!((0..classes).map(row).collect::<Vec<_>>());
        sample
    }

    /// Two classes with an AUC.
    pub fn binary() -> Sample {
        let mut sample = Sample::whole();
        let value = &mut sample.0;
        value["data"]["classes"] = json!(["healthy", "ill"]);
        value["pipeline"]["loss"] = json!("1 - auc");
        value["nested"]["figures"]["auc"] = json!(0.9);
        value["nested"]["figures"]["error_rate"] = json!(0.25);
        value["nested"]["figures"]["confusion"] = json!([[40, 10], [15, 35]]);
        value["nested"]["loss"] = json!(0.1);
        value["nested"]["empty_loss"] = json!(0.5);
        value["report"]["predictions"] = json!({"from": "nested", "rows": 6,
            "observed": [[0.0, 1.0, 1.0, 0.0, 1.0, 0.0]], "predicted": [[-1.0, 0.9, 0.5, 0.5, 1.2, 0.1]]});
        sample
    }

    /// The page, unless the record is refused.
    pub fn page(&self) -> std::result::Result<String, String> {
        let record = Record::from_text(&self.0.to_string()).map_err(|refused| refused.to_string())?;
        Ok(render(&record, "diabetes", "version: 1\ndata: {train: a<b.csv}\n"))
    }

    pub fn render(&self) -> String {
        self.page().unwrap()
    }
}

/// Correlations of each of so many columns with those before it; none where they are many.
fn triangle(columns: usize) -> Vec<Vec<f64>> {
    let correlation = |i: usize, j: usize| ((i * 7 + j * 13) as f64).sin() * 0.4 + ((i + j) as f64).cos() * 0.5;
    let few = if columns > MOST_CORRELATED { 0 } else { columns };
    (0..few).map(|i| (0..i).map(|j| correlation(j, i)).collect()).collect()
}

fn entry(subset: &[usize], step: usize, score: f64) -> Value {
    json!({"size": subset.len(), "step": step, "score": score, "standard_error": 0.1 * score, "lambda": 1.0, "of": subset,
        "cross_validated": null, "cross_validated_error": null, "train": 0.9 * score, "test": 1.2 * score})
}

fn column(index: usize, weight: Value) -> Value {
    json!({"index": index, "name": name(index), "weight": weight, "original_weight": null, "without": null, "substitutes": null})
}

pub fn name(index: usize) -> String {
    format!("column_number_{index}")
}

fn step(step: usize, action: &str, index: usize, score: f64, size: usize, tied: Vec<usize>) -> Value {
    json!({"step": step, "action": action, "index": index, "name": name(index), "score": score, "standard_error": null,
        "lambda": 1.0, "size": size, "tied": tied})
}
