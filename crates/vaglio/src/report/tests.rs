use super::*;
use crate::record::{MOST_CORRELATED, SizePoint};
use serde_json::{Value, json};
use vaglio_mrmr as _;

/// The content of a `selection.json`, to be changed before it is read.
struct Sample(Value);

impl Sample {
    /// Greedy search on the diabetes data, computed independently.
    fn diabetes() -> Sample {
        let all: Value = serde_json::from_str(include_str!("sample.json")).unwrap();
        let curve: Vec<(usize, f64, f64)> = serde_json::from_value(all["curve"].clone()).unwrap();
        let point = |(size, train, test): &(usize, f64, f64)| SizePoint {
            size: *size,
            train_error: Some(*train),
            test_error: Some(*test),
        };
        let correlations: Vec<Vec<f64>> = serde_json::from_value(all["correlation"].clone()).unwrap();
        let mut selection = all["selection"].clone();
        selection["report"] = json!({
            "standard_errors": all["standard_errors"],
            "curve": curve.iter().map(point).collect::<Vec<_>>(), "correlations": triangle(&correlations)
        });
        Sample(selection)
    }

    /// A floating search of `steps` additions among them some removals, on error rates of three classes.
    fn floating(additions: usize) -> Sample {
        let (mut steps, mut path, mut subset, mut next) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let score = |size: usize| 0.05 + 0.6 / (1.0 + size as f64) + 1e-7 * (size * size) as f64;
        for k in 0..additions {
            subset.push(next);
            steps.push(step(
                steps.len() + 1,
                "add",
                next,
                score(subset.len()),
                subset.len(),
                if k == 1 { vec![99] } else { vec![] },
            ));
            path.push(json!({"size": subset.len(), "subset": subset, "score": score(subset.len()), "lambda": 1.0}));
            next += 1;
            if k % 7 == 5 {
                let gone = subset.remove(k / 2);
                steps.push(step(steps.len() + 1, "remove", gone, score(subset.len()), subset.len(), vec![]));
            }
        }
        path.sort_by_key(|e| e["size"].as_u64());
        path.dedup_by_key(|e| e["size"].as_u64());
        let best = path[(path.len() * 2 / 3).min(path.len() - 1)].clone();
        let chosen: Vec<usize> = serde_json::from_value(best["subset"].clone()).unwrap();
        let weight = |i: usize| json!([0.1 * i as f64, -0.2, 1e-9 * i as f64]);
        let selected =
            chosen.iter().map(|&i| json!({"index": i, "name": name(i), "weight": weight(i)})).collect::<Vec<_>>();
        let point = |size: usize| SizePoint {
            size,
            train_error: Some(0.8 * score(size)),
            test_error: Some(1.1 * score(size) + 0.01 * (size % 3) as f64),
        };
        let correlation = |i: usize, j: usize| {
            if i == j { 1.0 } else { ((i * 7 + j * 13) as f64).sin() * 0.4 + ((i + j) as f64).cos() * 0.5 }
        };
        let n = chosen.len();
        let few = if n > MOST_CORRELATED { 0 } else { n };
        let correlations: Vec<Vec<f64>> = (0..few).map(|i| (0..few).map(|j| correlation(j, i)).collect()).collect();
        Sample(json!({
                "schema": "vaglio.selection/1", "status": "partial", "stop_reason": "limit",
                "pipeline": {"learner": "rls", "criterion": "loo", "search": "floating", "loss": "zero_one", "engine": "dual"},
                "data": {"rows": 60000, "features": 1284, "outputs": 3, "sha256": "0f".repeat(32)},
                "empty_score": 0.66, "steps": steps, "path": path, "selected": selected, "score": best["score"],
                "lambda": 1.0, "intercept": [0.1, 0.2, -0.3],
                "excluded": [{"index": 780, "name": "p780", "reason": "constant"}],
                "test": {"rows": 10000, "mse": 0.3, "nrmse": null, "error_rate": 0.08, "balanced_error_rate": 0.09, "auc": null},
                "nested": null, "verify": null,
                "seconds": {"read": 1.5, "search": 130.0, "fit": 0.2, "total": 132.0}, "peak_memory_bytes": 1_234_567_890_u64,
                "report": {
                    "correlations": triangle(&correlations),
                    "standard_errors": path.iter().map(|e| 0.1 * e["score"].as_f64().unwrap()).collect::<Vec<_>>(),
                    "curve": path.iter().map(|e| point(e["size"].as_u64().unwrap() as usize)).collect::<Vec<_>>()
                }
        }))
    }

    /// The page, unless the record is refused.
    fn page(&self) -> std::result::Result<String, String> {
        let record = Record::of_text(&self.0.to_string())?;
        Ok(render(&record, "diabetes", "version: 1\ndata: {train: a<b.csv}\n").unwrap())
    }

    fn render(&self) -> String {
        self.page().unwrap()
    }
}

/// Of a matrix what stands left of the diagonal.
fn triangle(matrix: &[Vec<f64>]) -> Vec<&[f64]> {
    matrix.iter().enumerate().map(|(k, row)| &row[..k]).collect()
}

fn name(index: usize) -> String {
    format!("column_number_{index}")
}

fn step(step: usize, action: &str, index: usize, score: f64, size: usize, tied: Vec<usize>) -> Value {
    json!({"step": step, "action": action, "index": index, "name": name(index), "score": score, "lambda": 1.0, "size": size, "tied": tied})
}

/// Checks that every element is closed in order, and that no number is missing or infinite.
fn check(page: &str) {
    let void = ["meta", "br", "hr", "img", "link"];
    let (mut open, mut rest) = (Vec::new(), page);
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        assert!(!tag.contains('<'), "`<` inside a tag: {tag}");
        if tag.starts_with('!') || tag.ends_with('/') {
            continue;
        }
        let word = tag.split_whitespace().next().unwrap();
        match word.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop().as_deref(), Some(closed)),
            None if void.contains(&word) => {}
            None => open.push(word.to_owned()),
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    assert!(!page.contains("NaN"));
    let letters = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic());
    for (at, _) in page.match_indices("inf") {
        let (before, after) = (page[..at].chars().next_back(), page[at + 3..].chars().next());
        assert!(letters(before) || letters(after), "…{}…", &page[at.saturating_sub(30)..at + 10]);
    }
    for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn the_page_says_what_was_chosen() {
    let page = Sample::diabetes().render();
    check(&page);
    assert!(page.contains("6 of 10 columns chosen by greedy search on the leave-one-out squared error."));
    assert!(page.contains("On 88 test rows that it never saw, the mean squared error is 3320.4."));
    assert!(page.contains(">2896.1<"));
    assert!(!page.contains("Take care."));
}

#[test]
fn plots_have_as_many_points_as_sizes() {
    let page = Sample::diabetes().render();
    assert_eq!(page.matches("class=\"dot inner\"").count(), 10 + 10 + 1, "score and λ, and one in a legend");
    assert_eq!(page.matches("class=\"dot test\"").count(), 10 + 1);
    assert_eq!(page.matches("class=\"stay\"").count(), 10);
    assert_eq!(page.matches("and bmi: ").count(), 6);
}

#[test]
fn names_are_escaped() {
    let mut sample = Sample::diabetes();
    for list in ["steps", "selected"] {
        for item in sample.0[list].as_array_mut().unwrap() {
            if item["index"] == 2 {
                item["name"] = json!("<script>alert('&\"')</script>");
            }
        }
    }
    let page = sample.render();
    check(&page);
    assert!(!page.contains("<script"));
    assert!(page.matches("&lt;script&gt;").count() >= 5);
    assert!(page.contains("a&lt;b.csv"));
}

#[test]
fn several_outputs_removals_and_a_limit() {
    let page = Sample::floating(20).render();
    check(&page);
    assert!(page.contains("cut short: a limit was hit"));
    assert!(page.contains("Weight, output 3"));
    assert!(page.contains("Mean squared error against size"));
    assert!(page.contains("class=\"exit"));
    assert!(page.contains("column 99"), "a tied column without a known name");
    assert!(page.contains("60\u{202f}000"));
}

#[test]
fn a_thousand_sizes() {
    let sample = Sample::floating(1100);
    let page = sample.render();
    check(&page);
    let sizes = sample.0["path"].as_array().unwrap().len();
    assert!(sizes > 900);
    assert_eq!(page.matches("class=\"dot inner\"").count(), sizes + 1);
    assert!(page.contains("drawn for at most 60 chosen columns"));
    assert!(!page.contains("class=\"stay\""));
}

#[test]
fn one_size() {
    check(&Sample::floating(1).render());
}

#[test]
fn infinite_scores_leave_gaps() {
    let mut sample = Sample::diabetes();
    for key in ["score", "lambda"] {
        let none = if key == "score" { json!("Infinity") } else { Value::Null };
        sample.0["path"][3][key] = none.clone();
        sample.0["steps"][3][key] = none;
    }
    sample.0["empty_score"] = json!("Infinity");
    sample.0["report"]["standard_errors"][0] = Value::Null;
    sample.0["report"]["curve"][2]["test"] = Value::Null;
    sample.0["report"]["correlations"][1][0] = Value::Null;
    let page = sample.render();
    check(&page);
    assert_eq!(page.matches("class=\"dot inner\"").count(), 9 + 9 + 1);
    for list in ["path", "steps"] {
        for item in sample.0[list].as_array_mut().unwrap() {
            item["score"] = json!("Infinity");
        }
    }
    sample.0["score"] = json!("Infinity");
    check(&sample.render());
}

#[test]
fn a_record_with_a_key_that_is_missing_or_wrong_is_refused_or_shown() {
    let mut refused = 0;
    for key in Sample::floating(9).0.as_object().unwrap().keys() {
        for other in [None, Some(Value::Null), Some(json!("text")), Some(json!([1])), Some(json!(-1.5))] {
            let mut sample = Sample::floating(9);
            let map = sample.0.as_object_mut().unwrap();
            match other {
                None => map.remove(key),
                Some(value) => map.insert(key.clone(), value),
            };
            match sample.page() {
                Ok(page) => check(&page),
                Err(message) => refused += usize::from(!message.is_empty()),
            }
        }
    }
    assert!(refused > 80, "{refused}");
    assert!(Sample(Value::Null).page().is_err());
}

#[test]
fn what_is_read_is_written_again_and_what_was_changed_is_refused() {
    let text = Record::of_text(&Sample::diabetes().0.to_string()).unwrap().to_text().unwrap();
    assert_eq!(Record::of_text(&text).unwrap().to_text().unwrap(), text);
    for (pointer, value, words) in [
        ("/schema", json!("vaglio.selection/9"), "of version `vaglio.selection/9`"),
        ("/score", json!(1.0), "not on the path"),
        ("/selected/0/index", json!(3), "not on the path"),
        ("/steps/1/index", json!(1000), "step 2 moves a column beyond"),
        ("/path/2/size", json!(7), "the subset of size 7"),
        ("/status", json!("partial"), "the status is not"),
        ("/report/standard_errors", json!([]), "what the report shows"),
        ("/report/correlations/1", json!([]), "what the report shows"),
        ("/stop_reason", json!("boredom"), "it is damaged"),
    ] {
        let mut sample = Sample::diabetes();
        *sample.0.pointer_mut(pointer).unwrap() = value;
        let message = sample.page().unwrap_err();
        assert!(message.contains(words), "{pointer}: {message}");
    }
}

#[test]
fn a_score_that_is_no_better_than_nothing_is_a_warning() {
    let mut sample = Sample::diabetes();
    sample.0["empty_score"] = json!(2000.0);
    sample.0["test"] = Value::Null;
    let page = sample.render();
    check(&page);
    assert!(page.contains("No subset scored below the empty one"));
    assert!(page.contains("No test data were given"));
    sample.0["pipeline"]["loss"] = Value::Null;
    sample.0["pipeline"]["criterion"] = json!("mrmr");
    let page = sample.render();
    check(&page);
    assert!(page.contains("on the mRMR score.") && page.contains("is not an error of predictions"));
    assert!(!page.contains("Take care."));
}

/// `cargo test -p vaglio report -- --ignored` writes samples to look at into the temporary folder.
#[test]
#[ignore = "writes files to look at"]
fn samples_to_look_at() {
    let pages = [
        ("diabetes", Sample::diabetes().render()),
        ("floating", Sample::floating(24).render()),
        ("large", Sample::floating(1100).render()),
        ("one", Sample::floating(1).render()),
    ];
    for (name, page) in pages {
        std::fs::write(std::env::temp_dir().join(format!("vaglio-report-{name}.html")), page).unwrap();
    }
}
