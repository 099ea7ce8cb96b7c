//! Plain words for the kinds, losses and reasons that stand in `selection.json`.

use super::number::{count, counted, short};
use super::record::Record;

/// The search as a phrase: `greedy search`.
pub fn search(kind: &str) -> String {
    match kind {
        "backward" => "backward elimination".into(),
        "lars" => "least-angle regression".into(),
        "" => "a search".into(),
        kind => format!("{kind} search"),
    }
}

/// The loss as a phrase: `squared error`.
pub fn loss(kind: &str) -> &str {
    match kind {
        "squared" => "squared error",
        "zero_one" => "error rate",
        "balanced_error" => "balanced error rate",
        "absolute" => "absolute error",
        "auc" => "1 − AUC",
        kind => kind,
    }
}

/// The inner score as a phrase: `leave-one-out squared error`.
pub fn score(record: &Record) -> String {
    let criterion = match record.criterion.as_str() {
        "loo" => "leave-one-out",
        "kfold" => "cross-validated",
        "mrmr" => "mRMR",
        "nhsic" => "NHSIC",
        "" => "inner",
        kind => kind,
    };
    match &record.loss {
        Some(kind) => format!("{criterion} {}", loss(kind)),
        None => format!("{criterion} score"),
    }
}

/// Why the search ended.
pub fn stop_reason(reason: &str) -> String {
    match reason {
        "max_features" => "the largest size was reached".into(),
        "tolerance" => "no step reached the tolerance".into(),
        "patience" => "too many steps in a row brought no improvement".into(),
        "no_candidates" => "no candidate was left".into(),
        "interrupted" => "it was interrupted".into(),
        "limit" => "a limit was hit".into(),
        "" => "–".into(),
        other => other.replace('_', " "),
    }
}

/// The same text with a capital first letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What was chosen, in one sentence.
pub fn headline(record: &Record) -> String {
    let by = format!("by {} on the {}", search(&record.search), score(record));
    let of = record.features.map(|n| format!(" of {}", counted(n, "column")));
    match (record.selected.len() as u64, of) {
        (0, of) => format!("No column{} chosen {by}.", of.unwrap_or_default()),
        (k, Some(of)) => format!("{}{of} chosen {by}.", count(k)),
        (k, None) => format!("{} chosen {by}.", counted(k, "column")),
    }
}

/// How far the inner score may be trusted.
pub fn optimism(record: &Record, tuned: bool) -> String {
    let rows = record.rows.map_or_else(|| "these rows".into(), |n| format!("these {}", counted(n, "row")));
    let saw = if record.loss.is_some() {
        format!(
            "The {} is optimistic: {} saw {rows} and kept the columns{} that make it small.",
            score(record),
            if tuned { "tuning and selection" } else { "the selection" },
            if tuned { " and settings" } else { "" }
        )
    } else {
        format!(
            "The {} ranks subsets and is not an error of predictions; {} also saw {rows} it is computed on.",
            score(record),
            if tuned { "tuning and selection" } else { "the selection" }
        )
    };
    let honest = match (&record.test, test_sentence(record)) {
        (Some(_), Some(sentence)) => sentence,
        (Some(_), None) => "Test data were given, but no figure on them is at hand.".into(),
        (None, _) => "No test data were given, so no figure on this page is free of that.".into(),
    };
    format!("{saw} {honest}")
}

fn test_sentence(record: &Record) -> Option<String> {
    let (name, value) = test_figure(record)?;
    let rows = record.test?.rows.map_or_else(|| "test rows".into(), |n| counted(n, "test row"));
    Some(format!("On {rows} that it never saw, the {name} is {}.", short(value)))
}

/// The test figure that answers to the inner score, or else the squared error, with its name.
pub fn test_figure(record: &Record) -> Option<(&'static str, f64)> {
    let test = record.test?;
    let same = match record.loss.as_deref() {
        Some("zero_one") => test.error_rate.map(|v| ("error rate", v)),
        Some("balanced_error") => test.balanced_error_rate.map(|v| ("balanced error rate", v)),
        Some("auc") => test.auc.map(|v| ("1 − AUC", 1.0 - v)),
        Some("squared") => test.mse.map(|v| ("mean squared error", v)),
        _ => test.error_rate.map(|v| ("error rate", v)),
    };
    same.or_else(|| test.mse.map(|v| ("mean squared error", v)))
}

/// What a reader must know before believing the result.
pub fn warnings(record: &Record) -> Vec<String> {
    let mut out = Vec::new();
    if record.status == "partial" {
        out.push(format!(
            "The search was cut short: {}. The result is valid for the steps that were taken; subsets beyond them were not tried.",
            stop_reason(&record.stop_reason)
        ));
    }
    // A score that is no loss, such as mRMR's, need not compare with that of the empty subset.
    let Some(empty) = record.empty_score.filter(|_| record.loss.is_some()) else { return out };
    let best = record.best_entry().and_then(|entry| entry.score);
    match (best, record.score) {
        (Some(best), _) if best >= empty => out.push(format!(
            "No subset scored below the empty one: the best score is {} and without any column it is {}. By this score the columns do not help to predict the target.",
            short(best),
            short(empty)
        )),
        (Some(_), Some(score)) if score >= empty && !record.selected.is_empty() => out.push(format!(
            "The chosen subset does not score below the empty one ({} against {}); another size does.",
            short(score),
            short(empty)
        )),
        _ => {}
    }
    out
}
