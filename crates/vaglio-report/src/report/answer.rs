//! The answer of the page: the error on new rows, the choice, and how far to trust them.

use crate::LEVEL;
use crate::names::{capital, clause, sentence};
use crate::page::{Section, TableBuilder, TableCell, count, element, finite, full, percent, short, significant};
use crate::record::{
    ConfidenceInterval, Figures, FinalModelRecord, HeldOutError, PredictionRows, Record, Status, interval_name,
    interval_text,
};
use vaglio_core::{Absolute, Auc, Role, Squared, ZeroOne, pluralize, title};

/// Sentences with the error on a new row, compared with the baseline, and the choice of columns.
pub fn answer(record: &Record) -> String {
    let errors = record.held_out_errors();
    let worth = errors.first().map_or_else(|| unknown_error(record), expected_error);
    format!("{worth} {}", choice(record))
}

/// Sentence with the chosen columns and the way they were chosen.
fn choice(record: &Record) -> String {
    let by = match (&*record.pipeline.search, record.score_title()) {
        ("all", score) => format!("without a search; the score is the {score}"),
        (search, score) => format!("by {} with the {score}", title(Role::Search, search)),
    };
    let all = pluralize(record.data.features, "column");
    let model = clause(" The final model is {}.", record.model.as_ref().map(FinalModelRecord::words));
    let chosen = match record.selected.len() {
        0 => return format!("None of {all} is chosen, {by}."),
        1 => format!("1 of {all} is"),
        k => format!("{} of {all} are", count(k)),
    };
    format!("{chosen} chosen, {by}.{model}")
}

fn unknown_error(record: &Record) -> String {
    let why = match record.pipeline.loss {
        Some(_) => "no rows were held out",
        None => "the score of the search is no error of predictions",
    };
    format!("The error on new rows is unknown: {why}. Test data or `--nested 5` measure it.")
}

fn expected_error(error: &HeldOutError<'_>) -> String {
    let sentence = match &error.record.data.classes {
        None => error_in_units(error),
        Some(classes) => hits(error, classes),
    };
    let rows = if error.origin == PredictionRows::Test { "on" } else { "in" };
    format!("{}, measured {rows} {}.", sentence.unwrap_or_else(|| mean_loss(error)), error.how)
}

/// `On a new row the prediction errs by about 53.7 (RMSE; 95 % interval 49.5 to 58.5), 30 % less than the mean does`.
fn error_in_units(error: &HeldOutError<'_>) -> Option<String> {
    let (name, in_units): (&str, fn(f64) -> f64) = match error.rmse() {
        Some(_) => ("RMSE", |loss| loss.max(0.0).sqrt()),
        None if error.record.loss().is(&Absolute) => ("mean absolute error", |loss| loss),
        None => return None,
    };
    let value = in_units(error.loss);
    let interval = clause("; {}", error.interval.map(|(ends, level)| digits((ends.map(in_units), level))));
    let median = clause("; median error {}", median_error(error).map(|median| significant(median, 3)));
    let gain = gain(value, error.baseline.map(in_units), "the mean does");
    Some(format!(
        "On a new row the prediction errs by about {} ({name}{interval}{median}){gain}",
        significant(value, 3)
    ))
}

/// `, 30 % less than without features`; empty without a positive baseline.
fn gain(value: f64, baseline: Option<f64>, than: &str) -> String {
    let Some(baseline) = baseline.filter(|baseline| *baseline > 0.0) else { return String::new() };
    let gain = 1.0 - value / baseline;
    format!(", {} {} than {than}", percent(gain.abs()), if gain < 0.0 { "more" } else { "less" })
}

fn digits(([low, high], level): ConfidenceInterval) -> String {
    format!("{} {} to {}", interval_name(level), significant(low, 3), significant(high, 3))
}

/// Weighted median absolute error of the recorded predictions of these rows, for a single target.
fn median_error(error: &HeldOutError<'_>) -> Option<f64> {
    let drawn = error.record.report.predictions.as_ref().filter(|drawn| drawn.from == error.origin)?;
    let ([observed], [predicted]) = (&drawn.observed[..], &drawn.predicted[..]) else { return None };
    let weights = drawn.weights.iter().copied().chain(std::iter::repeat(1.0));
    let errors = observed.iter().zip(predicted).map(|(o, p)| (o - p).abs());
    let mut errors: Vec<(f64, f64)> =
        errors.zip(weights).filter(|(error, weight)| error.is_finite() && *weight > 0.0).collect();
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = errors.iter().map(|row| row.1).sum();
    let mut below = 0.0;
    let mut middle = errors.iter().filter(|(_, weight)| {
        below += weight;
        2.0 * below >= total && 2.0 * (below - weight) <= total
    });
    let first = middle.next()?.0;
    Some((first + middle.next().map_or(first, |row| row.0)) / 2.0)
}

/// Sentence with hits and false alarms, or else errors, per hundred rows, and the AUC.
fn hits(error: &HeldOutError<'_>, classes: &[String]) -> Option<String> {
    let percentage = |share: f64| significant(100.0 * share, 2);
    let auc = error.auc().map(|(auc, interval)| significant(auc, 3) + &clause(" ({})", interval.map(digits)));
    let auc = clause("; AUC {}", auc);
    let two = error.figures.and_then(|figures| figures.confusion.as_deref());
    if let (Some([negatives, positives]), [_, positive]) = (two, classes) {
        let share = |row: &[usize]| Some(*row.get(1)? as f64 / row.iter().sum::<usize>().max(1) as f64);
        return Some(format!(
            "Of 100 new rows of “{positive}” about {} are found, with {} false alarms among 100 others{auc}",
            percentage(share(positives)?),
            percentage(share(negatives)?)
        ));
    }
    let (rate, [low, high]) = error.error_rate()?;
    let always = error.figures.and_then(Figures::always);
    let always = always.and_then(|always| Some((percentage(always.error_rate), classes.get(always.class)?)));
    let always = clause("; {}", always.map(|(rate, class)| format!("{rate} if all are called “{class}”")));
    Some(format!(
        "Of 100 new rows about {} get the wrong class (95 % interval {} to {}{always}){auc}",
        percentage(rate),
        percentage(low),
        percentage(high)
    ))
}

/// `On new rows the huber loss is 1.2 (95 % interval 1.1 to 1.3), 30 % less than without features`.
fn mean_loss(error: &HeldOutError<'_>) -> String {
    let interval = clause(" ({})", error.interval.map(digits));
    let (loss, gain) = (error.record.loss(), gain(error.loss, error.baseline, "without features"));
    format!("On new rows the {} is {}{interval}{gain}", loss.title(), significant(error.loss, 4))
}

/// Section with warnings, then each error with its baselines.
pub fn trust(record: &Record) -> Option<Section> {
    let errors = record.held_out_errors();
    let cross = errors.first().is_some_and(|first| first.origin == PredictionRows::CrossValidation);
    let choice =
        "Cross-validation chose size and λ, so its error is slightly too low; `--nested 5` repeats that choice too.";
    let section = warnings(record).into_iter().fold(Section::new("How far to trust it"), Section::warning);
    let section = section
        .text(record.chosen.gain_sentence())
        .text(record.shuffled_line())
        .with(&cards(record, &errors))
        .note(record.interval_meaning().map(sentence).unwrap_or_default())
        .note(if cross { choice } else { "" });
    Some(section)
}

/// Table of all errors, each as a share of its baseline, and of a score in the losses' units.
pub fn baselines(record: &Record) -> Option<Section> {
    let errors = record.held_out_errors();
    let score = finite(record.score).filter(|_| record.is_comparable());
    let score = score.map(|score| ("score of the search", score, None, finite(record.empty_score)));
    let errors = errors.iter().map(|error| (error.origin.title(), error.loss, error.interval, error.baseline));
    let rows: Vec<_> = errors.chain(score).collect();
    let table = TableBuilder::new("", &rows)
        .name("Error", |row| row.0)
        .cells(&capital(&record.loss().axis_title()), "share", |row| {
            let cell = TableCell::number(row.1);
            if let Some(baseline) = row.3 { cell.bar(row.1 / baseline) } else { cell }
        })
        .text("Interval", |row| row.2.map(interval_text))
        .number("Without features", |row| row.3);
    Some(Section::new("Errors and their baselines").table(table))
}

/// Sentences that a reader must know before believing the result.
fn warnings(record: &Record) -> Vec<String> {
    let mut out = Vec::new();
    if record.status == Status::Partial {
        out.push(format!(
            "The search was cut short: {}. The result is valid for the steps that were taken.",
            record.stop_reason.sentence()
        ));
    }
    out.extend(record.may_be_chance().map(sentence));
    out.extend(record.warnings.iter().map(|warning| sentence(&warning.message)));
    out.extend(record.nothing_gained().map(sentence));
    out
}

/// Cards of the errors, then of the optimistic score.
fn cards(record: &Record, errors: &[HeldOutError<'_>]) -> String {
    let mut cards: Vec<String> = errors.iter().flat_map(error_cards).collect();
    if let Some(score) = finite(record.score) {
        let is_loss = record.pipeline.loss.is_some();
        let baseline = finite(record.empty_score).filter(|_| is_loss);
        let baseline = clause("; without features {}", baseline.map(short));
        let optimistic = if is_loss { ", optimistic" } else { "" };
        let note = format!("{}{optimistic}{baseline}", record.score_title());
        cards.push(card("score of the search", score, None, note, "inner"));
    }
    format!("<div class=\"cards\">\n{}</div>\n", cards.concat())
}

/// Cards of one origin: the AUC, the error rate, the loss, R².
fn error_cards(error: &HeldOutError<'_>) -> Vec<String> {
    let (record, loss, origin) = (error.record, error.record.loss(), error.origin.title());
    let how = &error.how;
    let mut cards = Vec::new();
    let mut add = |figure: &str, value: f64, interval: Option<ConfidenceInterval>, note: String| {
        cards.push(card(&format!("{origin} {figure}"), value, interval, note, origin));
    };
    if let Some((auc, interval)) = error.auc() {
        let baseline = error.baseline.filter(|_| loss.is(&Auc)).map(|baseline| short(1.0 - baseline));
        add("AUC", auc, interval, format!("{how}{}", clause("; without features {}", baseline)));
    }
    if let Some((rate, interval)) = error.error_rate().filter(|_| !loss.is(&ZeroOne)) {
        let always = error.figures.and_then(|figures| record.always_text(figures));
        add("error rate", rate, Some((interval, LEVEL)), format!("{how}{}", clause("; {}", always)));
    }
    if !loss.is(&Auc) {
        let (baseline, always) = error.baselines();
        let baseline = baseline.filter(|baseline| *baseline > 0.0);
        let share = baseline.map(|baseline| format!("{} of {}", percent(error.loss / baseline), short(baseline)));
        let (share, always) = (clause("; {} without features", share), clause("; {}", always));
        let rmse = clause("; RMSE {}", error.rmse().map(|rmse| significant(rmse, 4)));
        add(loss.title(), error.loss, error.interval, format!("{how}{share}{always}{rmse}"));
    }
    let r2 = error.figures.filter(|_| record.data.classes.is_none()).and_then(|figures| figures.r2);
    if let Some(r2) = r2.filter(|_| loss.is(&Squared)) {
        // A squared error and its R² give the variance of these rows.
        let variance = (error.loss / (1.0 - r2)).abs();
        let interval =
            error.interval.map(|([low, high], level)| ([1.0 - high / variance, 1.0 - low / variance], level));
        let interval = interval.filter(|([low, _], _)| low.is_finite());
        add("R²", r2, interval, "share of the variance explained".to_owned());
    }
    cards
}

fn card(label: &str, value: f64, interval: Option<ConfidenceInterval>, note: String, class: &str) -> String {
    let interval = interval.map(interval_text).unwrap_or_default();
    let label = element("div class=\"label\"", &capital(label));
    let value = element(&format!("div class=\"value\" title=\"{}\"", full(value)), &short(value));
    let (interval, note) = (element("div class=\"interval\"", &interval), element("div class=\"note\"", &note));
    format!("<div class=\"card {class}\">{label}{value}{interval}{note}</div>\n")
}
