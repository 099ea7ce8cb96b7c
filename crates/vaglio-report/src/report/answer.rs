//! The answer of the page: the error on new rows, the choice, and how far to trust them.

use super::chart::{Chart, ChartScale, Mark, ScaleKind};
use super::error_cards::{cards, shuffled};
use super::number::{count, counted, percent, short, significant};
use super::record_view::{RecordView, capital, finite, score_title, vertical};
use super::section::{ContentBlock, Section, TextStyle};
use crate::record::{HeldOutError, PredictionRows, Status, interval_text};
use vaglio_core::{Absolute, Role, Squared, shown, title};

/// Sentences with the error on a new row, compared with the baseline, and the choice of columns.
pub fn answer(view: &RecordView<'_>, errors: &[HeldOutError<'_>]) -> String {
    let worth = errors.first().map_or_else(|| unknown_error(view), |error| expected_error(view, error));
    format!("{worth} {}", choice(view))
}

/// Sentence with the chosen columns and the way they were chosen.
fn choice(view: &RecordView<'_>) -> String {
    let record = view.record;
    let by = format!("by {} with the {}", title(Role::Search, &record.pipeline.search), score_title(view));
    let all = counted(record.data.features as u64, "column");
    let model = record.model.as_ref().map(|model| format!(" The final model is {}.", model.words()));
    match record.selected.len() as u64 {
        0 => format!("No column of {all} is chosen, {by}."),
        1 => format!("1 of {all} is chosen, {by}.{}", model.unwrap_or_default()),
        k => format!("{} of {all} are chosen, {by}.{}", count(k), model.unwrap_or_default()),
    }
}

fn unknown_error(view: &RecordView<'_>) -> String {
    let why = match view.record.pipeline.loss {
        Some(_) => "no rows were held out",
        None => "the score of the search is no error of predictions",
    };
    format!("The error on new rows is unknown: {why}. Test data or --nested 5 measure it.")
}

fn expected_error(view: &RecordView<'_>, error: &HeldOutError<'_>) -> String {
    let sentence = match &view.record.data.classes {
        None => error_in_units(view, error),
        Some(classes) => hits(view, error, classes),
    };
    let rows = if error.origin == PredictionRows::Test { "on" } else { "in" };
    format!("{}, measured {rows} {}.", sentence.unwrap_or_else(|| mean_loss(view, error)), error.how)
}

/// `On a new row the prediction errs by about 53.7 (RMSE; 95 % interval 49.5 to 58.5), 30 % less than the mean does`.
fn error_in_units(view: &RecordView<'_>, error: &HeldOutError<'_>) -> Option<String> {
    let loss = view.loss();
    let is_squared = loss.is(&Squared);
    let value = if is_squared { view.record.rmse(error)? } else { error.loss };
    if !is_squared && !loss.is(&Absolute) {
        return None;
    }
    let in_units = |loss: f64| if is_squared { loss.max(0.0).sqrt() } else { loss };
    let name = if is_squared { "RMSE" } else { "mean absolute error" };
    let interval = error.interval.map(|(ends, level)| format!("; {}", digits(ends.map(in_units), level)));
    let median = median_error(view, error.origin).map(|median| format!("; median {}", significant(median, 3)));
    let gain = error.baseline.map(in_units).filter(|baseline| *baseline > 0.0).map(|baseline| {
        let gain = 1.0 - value / baseline;
        let word = if gain < 0.0 { "more" } else { "less" };
        format!(", {} {word} than the mean does", percent(gain.abs()))
    });
    let (interval, median, gain) = (interval.unwrap_or_default(), median.unwrap_or_default(), gain.unwrap_or_default());
    Some(format!(
        "On a new row the prediction errs by about {} ({name}{interval}{median}){gain}",
        significant(value, 3)
    ))
}

fn digits([low, high]: [f64; 2], level: f64) -> String {
    let level = crate::record::level_text(level);
    format!("{level} interval {} to {}", significant(low, 3), significant(high, 3))
}

/// Median absolute error of the recorded predictions from a source, for a single target.
fn median_error(view: &RecordView<'_>, origin: PredictionRows) -> Option<f64> {
    let drawn = view.record.report.predictions.as_ref().filter(|drawn| drawn.from == origin)?;
    let ([observed], [predicted]) = (&drawn.observed[..], &drawn.predicted[..]) else { return None };
    let mut errors: Vec<f64> = observed.iter().zip(predicted).map(|(o, p)| (o - p).abs()).collect();
    errors.retain(|error| error.is_finite());
    errors.sort_by(f64::total_cmp);
    let middle = errors.len() / 2;
    match errors.len() {
        0 => None,
        n if n % 2 == 1 => Some(errors[middle]),
        _ => Some((errors[middle - 1] + errors[middle]) / 2.0),
    }
}

/// Sentence with hits and false alarms per hundred rows of two classes, or else errors per hundred rows, and the AUC.
fn hits(view: &RecordView<'_>, error: &HeldOutError<'_>, classes: &[String]) -> Option<String> {
    let of_hundred = |share: f64| significant(100.0 * share, 2);
    let auc = error.auc(&view.loss()).map(|(auc, interval)| {
        let interval = interval.map(|ends| format!(" ({})", digits(ends, 0.95))).unwrap_or_default();
        format!("; AUC {}{interval}", significant(auc, 3))
    });
    let auc = auc.unwrap_or_default();
    let two = error.figures.and_then(|figures| figures.confusion.as_deref());
    if let (Some([negatives, positives]), [_, positive]) = (two, classes) {
        let share = |row: &[usize]| Some(*row.get(1)? as f64 / row.iter().sum::<usize>().max(1) as f64);
        return Some(format!(
            "Of 100 new rows of “{}” about {} are found, with {} false alarms among 100 others{auc}",
            shown(positive),
            of_hundred(share(positives)?),
            of_hundred(share(negatives)?)
        ));
    }
    let (rate, [low, high]) = error.error_rate()?;
    let always = error.figures.and_then(|figures| view.record.always_text(figures));
    let always = always.map(|always| format!("; {always}")).unwrap_or_default();
    Some(format!(
        "Of 100 new rows about {} get the wrong class (95 % interval {} to {}{always}){auc}",
        of_hundred(rate),
        of_hundred(low),
        of_hundred(high)
    ))
}

/// `On new rows the huber loss is 1.2 (95 % interval 1.1 to 1.3), 30 % less than without features`.
fn mean_loss(view: &RecordView<'_>, error: &HeldOutError<'_>) -> String {
    let interval = error.interval.map(|(ends, level)| format!(" ({})", digits(ends, level))).unwrap_or_default();
    let gain = error.baseline.filter(|baseline| *baseline > 0.0).map(|baseline| {
        let gain = 1.0 - error.loss / baseline;
        format!(", {} {} than without features", percent(gain.abs()), if gain < 0.0 { "more" } else { "less" })
    });
    let (title, gain) = (view.loss().title().to_owned(), gain.unwrap_or_default());
    format!("On new rows the {title} is {}{interval}{gain}", significant(error.loss, 4))
}

/// Section with warnings, then each error with its baselines.
pub fn trust(view: &RecordView<'_>, errors: &[HeldOutError<'_>]) -> Section {
    let record = view.record;
    let mut section = Section::new("worth", "How far to trust it");
    for warning in warnings(view) {
        section = section.styled(TextStyle::Warning, warning);
    }
    let passed = record.chosen.gain_sentence().map(|sentence| format!("{}.", capital(&sentence)));
    let meaning = record.interval_meaning().map(|sentence| format!("{}.", capital(&sentence)));
    let cross = errors.first().is_some_and(|first| first.origin == PredictionRows::CrossValidation);
    let choice =
        "Cross-validation chose size and λ, so its error is slightly too low; --nested 5 repeats that choice too.";
    section
        .text(passed.unwrap_or_default())
        .text(errors.first().map_or("", gain_in_doubt))
        .text(null_sentence(view))
        .block(ContentBlock::Cards(cards(view, errors)))
        .note(meaning.unwrap_or_default())
        .note(if cross { choice } else { "" })
        .note(optimism(view))
}

/// Reason to doubt a gain over no features that was not tested.
fn gain_in_doubt(error: &HeldOutError<'_>) -> &'static str {
    let (Some(baseline), Some(([low, high], _)), None) = (error.baseline, error.interval, error.difference) else {
        return "";
    };
    match baseline - error.loss {
        gain if gain <= 0.0 => "By this error the columns do not help to predict the target.",
        gain if gain < (high - low) / 2.0 => "The gain over no features is within the interval: it may be chance.",
        _ => "",
    }
}

/// Sentence on the losses that the search reaches on shuffled targets.
fn null_sentence(view: &RecordView<'_>) -> String {
    let Some((null, is_cross_validated)) = shuffled(view) else { return String::new() };
    let own = if is_cross_validated { view.record.chosen.cross_validated.and_then(finite) } else { view.score() };
    let (Some(own), Some(mean)) = (own, finite(null.mean)) else { return String::new() };
    let count = null.values.len();
    let what = if is_cross_validated { "a cross-validated loss" } else { "a score" };
    let is_least = count < 99 && null.p <= (1.0 + 1e-9) / (count as f64 + 1.0);
    let least = if is_least { ", the lowest that so few shuffles can give" } else { "" };
    format!(
        "On shuffled targets the same search reaches {what} of {} on average ({}), beside {} here: p = {}{least}.",
        short(mean),
        counted(count as u64, "shuffle"),
        short(own),
        significant(null.p, 3),
    )
}

/// Sentence that explains why the score of the search is optimistic.
fn optimism(view: &RecordView<'_>) -> String {
    let who = if view.record.tuned.is_some() { "Tuning and selection" } else { "The selection" };
    match view.record.pipeline.loss {
        Some(_) => format!("{who} minimized the score of the search, so that score is optimistic."),
        None => "The score of the search ranks subsets. It is not an error of predictions.".into(),
    }
}

/// Sentences that a reader must know before believing the result.
fn warnings(view: &RecordView<'_>) -> Vec<String> {
    let record = view.record;
    let mut out = Vec::new();
    if record.status == Status::Partial {
        out.push(format!(
            "The search was cut short: {}. The result is valid for the steps that were taken.",
            record.stop_reason.sentence()
        ));
    }
    out.extend(record.may_be_chance().map(|sentence| format!("{sentence}.")));
    out.extend(record.warnings.iter().map(|warning| {
        let stop = if warning.message.ends_with('.') { "" } else { "." };
        format!("{}{stop}", capital(&warning.message))
    }));
    // The score of a criterion without a loss need not compare with that of the empty subset.
    let Some(empty) = view.empty_score().filter(|_| record.pipeline.loss.is_some()) else { return out };
    let best = view.best_entry().and_then(|entry| entry.score);
    match (best, view.score()) {
        (Some(best), _) if best >= empty => out.push(format!(
            "No subset scores below the empty one: the best score is {}, without features it is {}.",
            short(best),
            short(empty)
        )),
        (Some(_), Some(score)) if score >= empty && !record.selected.is_empty() => out.push(format!(
            "The chosen subset does not score below the empty one ({} beside {}); another size does.",
            short(score),
            short(empty)
        )),
        _ => {}
    }
    out
}

/// Row of the comparison: an error with its interval, its baseline and related values.
struct ComparedError {
    name: &'static str,
    class: &'static str,
    value: f64,
    interval: Option<([f64; 2], f64)>,
    baseline: Option<f64>,
    parts: Vec<f64>,
}

/// Chart of all errors with their baselines; includes the score if it has the units of the losses.
pub fn comparison(view: &RecordView<'_>, errors: &[HeldOutError<'_>]) -> Option<Chart> {
    let null = shuffled(view).filter(|(_, is_cross_validated)| *is_cross_validated || view.comparable);
    let null = null.and_then(|(null, _)| Some((finite(null.mean)?, null.values.clone())));
    let null = null.map(|(value, parts)| ComparedError {
        name: "shuffled targets",
        class: "empty",
        value,
        interval: None,
        baseline: None,
        parts,
    });
    let held_out = errors.iter().rev().map(|error| ComparedError {
        name: error.origin.title(),
        class: error.origin.class(),
        value: error.loss,
        interval: error.interval,
        baseline: error.baseline,
        parts: match (&view.record.nested, error.origin) {
            (Some(nested), PredictionRows::Nested) => {
                nested.per_fold.iter().filter_map(|fold| finite(fold.loss)).collect()
            }
            _ => Vec::new(),
        },
    });
    let score = view.score().filter(|_| view.comparable).map(|value| ComparedError {
        name: "score of the search",
        class: "inner",
        value,
        interval: None,
        baseline: view.empty_score(),
        parts: Vec::new(),
    });
    let rows: Vec<ComparedError> = null.into_iter().chain(held_out).chain(score).collect();
    let mut marks = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        let at = k as f64;
        let baseline = row.baseline.map(|value| format!("; without features {}", short(value))).unwrap_or_default();
        let interval = row.interval.map(|(ends, level)| format!(" ({})", interval_text(ends, level)));
        let tip = format!("{}: {}{}{baseline}", row.name, short(row.value), interval.unwrap_or_default());
        let parts = row.parts.iter().filter(|value| value.is_finite()).map(|x| [[*x, at - 0.2], [*x, at + 0.2]]);
        marks.push(Mark::bars(&format!("tickmark {}", row.class), parts.collect(), Vec::new()));
        let ends = row.interval.map(|([low, high], _)| [[low, at], [high, at]]);
        marks.push(Mark::bars(&format!("spread {}", row.class), ends.into_iter().collect(), Vec::new()));
        let without = row.baseline.map(|value| [value, at]);
        let tips = vec!["without features".to_owned(); usize::from(without.is_some())];
        marks.push(Mark::points("without features", "without", without.into_iter().collect(), tips));
        marks.push(Mark::points("", row.class, vec![[row.value, at]], vec![tip]));
    }
    let names = rows.iter().map(|row| row.name.to_owned()).collect();
    let (x, y) =
        (ChartScale::new(vertical(&view.loss()), ScaleKind::Auto), ChartScale::new("", ScaleKind::Names(names)));
    let chart = Chart::new("Errors beside their baselines", x, y).marks(marks);
    let caption = "Lower is better. A bar is the 95 % interval; small strokes are single folds or shuffles.";
    (rows.iter().map(|row| 1 + usize::from(row.baseline.is_some())).sum::<usize>() > 1).then(|| chart.caption(caption))
}
