//! The sentences of the page: what was selected, and how far to trust it.

use super::number::{count, counted, short};
use super::source::RecordView;
use crate::record::{LossName, PredictedOn, ShownPredictions, Status};
use vaglio_core::{Absolute, Role, Squared, title};

/// The inner score as a phrase: `leave-one-out squared error`.
pub fn score(source: &RecordView<'_>) -> String {
    let parts = &source.record.pipeline;
    let criterion = title(Role::Criterion, &parts.criterion);
    format!("{criterion} {}{}", parts.loss.as_ref().map_or("score", LossName::title), parts.scale())
}

/// The same text with a capital first letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The target by its name; of several the first few.
pub fn target(source: &RecordView<'_>) -> String {
    let names = &source.record.data.targets;
    let shown = names.len().min(3);
    let more =
        if names.len() > shown { format!(" and {} more", count((names.len() - shown) as u64)) } else { String::new() };
    names[..shown].join(", ") + &more
}

/// What was chosen, in one sentence.
pub fn headline(source: &RecordView<'_>) -> String {
    let record = source.record;
    let by = format!("by {} on the {}", title(Role::Search, &record.pipeline.search), score(source));
    let of = counted(record.data.features as u64, "column");
    match record.selected.len() as u64 {
        0 => format!("No column of {of} chosen {by}."),
        k => {
            let of_model = record.model.as_ref().map(|model| {
                format!(
                    " The model, {}, is trained on {}; all figures but the score are of it.",
                    model.words(),
                    if k == 1 { "it" } else { "these" }
                )
            });
            format!("{} of {of} chosen {by}.{}", count(k), of_model.unwrap_or_default())
        }
    }
}

/// A loss along an axis; of AUC its complement.
pub fn vertical(loss: &LossName) -> String {
    match loss {
        _ if loss.is(&Squared) => "mean squared error".into(),
        _ if loss.is(&Absolute) => "mean absolute error".into(),
        _ => loss.title().into(),
    }
}

/// Where predictions were made.
pub fn on(shown: &ShownPredictions) -> String {
    match shown.from {
        PredictedOn::Nested => "rows held out in outer folds".into(),
        PredictedOn::CrossValidation => "rows held out in the folds of the search".into(),
        PredictedOn::Test => "test rows".into(),
    }
}

/// The class in the style sheet of predictions.
pub fn class_of(from: PredictedOn) -> &'static str {
    match from {
        PredictedOn::Nested => "nested",
        PredictedOn::CrossValidation => "cross",
        PredictedOn::Test => "test",
    }
}

/// How far the inner score may be trusted.
pub fn optimism(source: &RecordView<'_>) -> String {
    let record = source.record;
    let (score, rows) = (score(source), counted(record.data.rows as u64, "row"));
    let tuned = record.tuned.is_some();
    let who = if tuned { "tuning and selection" } else { "the selection" };
    if record.pipeline.loss.is_some() {
        let settings = if tuned { " and settings" } else { "" };
        format!(
            "The inner score, the {score}, is optimistic: {who} saw these {rows} and kept the columns{settings} that make it small."
        )
    } else {
        format!(
            "The inner score, the {score}, ranks subsets and is not an error of predictions; {who} also saw these {rows} it is computed on."
        )
    }
}

/// What a reader must know before believing the result.
pub fn warnings(source: &RecordView<'_>) -> Vec<String> {
    let mut out = Vec::new();
    if source.record.status == Status::Partial {
        out.push(format!(
            "The search was cut short: {}. The result is valid for the steps that were taken; subsets beyond them were not tried.",
            source.record.stop_reason.sentence()
        ));
    }
    out.extend(source.record.warnings.iter().map(|warning| sentence(&warning.message)));
    // A score that is no loss, such as mRMR's, need not compare with that of the empty subset.
    let Some(empty) = source.empty_score().filter(|_| source.record.pipeline.loss.is_some()) else { return out };
    let best = source.best_entry().and_then(|entry| entry.score);
    match (best, source.score()) {
        (Some(best), _) if best >= empty => out.push(format!(
            "No subset scored below the empty one: the best score is {} and without any column it is {}. By this score the columns do not help to predict the target.",
            short(best),
            short(empty)
        )),
        (Some(_), Some(score)) if score >= empty && !source.record.selected.is_empty() => out.push(format!(
            "The chosen subset does not score below the empty one ({} against {}); another size does.",
            short(score),
            short(empty)
        )),
        _ => {}
    }
    out
}

/// A message with a capital and a full stop.
fn sentence(message: &str) -> String {
    let stop = if message.ends_with('.') { "" } else { "." };
    format!("{}{stop}", capital(message))
}

/// How much the chosen size hangs on how rows were dealt into folds; empty where that is not known.
pub fn dealt(source: &RecordView<'_>) -> String {
    let chosen = &source.record.chosen;
    let sizes = chosen.sizes.as_ref();
    sizes.map_or_else(String::new, |sizes| format!("{}.", capital(&sizes.sentence(chosen.size))))
}
