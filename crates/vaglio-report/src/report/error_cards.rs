//! Cards of the errors on new rows, of shuffled targets, and of the score.

use super::lookups::{capital, finite};
use super::number::{counted, element, full, percent, short, significant};
use crate::record::{HeldOutError, Permutations, Record, interval_text};
use vaglio_core::{Auc, Squared, ZeroOne, joined};

/// Cards of the errors, then of shuffled targets, then of the optimistic score.
pub fn cards(record: &Record, errors: &[HeldOutError<'_>]) -> String {
    let mut cards: Vec<String> = errors.iter().flat_map(error_cards).collect();
    if let Some((null, is_cross_validated)) =
        record.permutations.as_ref().map(Permutations::figure).filter(|(null, _)| null.mean.is_finite())
    {
        let is_auc = record.loss().is(&Auc) && (is_cross_validated || record.is_comparable());
        let (label, value) =
            if is_auc { ("AUC on shuffled targets", 1.0 - null.mean) } else { ("Shuffled targets", null.mean) };
        let what = if is_cross_validated { "cross-validated" } else { "score" };
        let count = counted(null.values.len(), "shuffle");
        let note = format!("{what}, {count}; p = {}", significant(null.p, 3));
        cards.push(card(label, value, None, note, "empty"));
    }
    if let Some(score) = finite(record.score) {
        let is_loss = record.pipeline.loss.is_some();
        let baseline = finite(record.empty_score).filter(|_| is_loss);
        let baseline = baseline.map(|value| format!("; without features {}", short(value))).unwrap_or_default();
        let optimistic = if is_loss { ", optimistic" } else { "" };
        let note = format!("{}{optimistic}{baseline}", record.score_title());
        cards.push(card("score of the search", score, None, note, "inner"));
    }
    format!("<div class=\"cards\">\n{}</div>\n", cards.concat())
}

/// Cards of one origin: the AUC, the error rate, the loss, R².
fn error_cards(error: &HeldOutError<'_>) -> Vec<String> {
    let (record, loss, origin) = (error.record, error.record.loss(), error.origin.title());
    let mut cards = Vec::new();
    if let Some((auc, interval)) = error.auc() {
        let baseline = error.baseline.filter(|_| loss.is(&Auc));
        let note = baseline.map(|baseline| format!("{}; without features {}", error.how, short(1.0 - baseline)));
        let interval = interval.map(|interval| (interval, 0.95));
        cards.push(card(&format!("{origin} AUC"), auc, interval, note.unwrap_or(error.how.clone()), origin));
    }
    let always = error.figures.and_then(|figures| record.always_text(figures));
    if let Some((rate, interval)) = error.error_rate().filter(|_| !loss.is(&ZeroOne)) {
        let note = joined([error.how.clone()].into_iter().chain(always), "; ");
        cards.push(card(&format!("{origin} error rate"), rate, Some((interval, 0.95)), note, origin));
    }
    if !loss.is(&Auc) {
        let (baseline, always) = error.baselines();
        let baseline = baseline.filter(|baseline| *baseline > 0.0);
        let share =
            |baseline: f64| format!("{} of {} without features", percent(error.loss / baseline), short(baseline));
        let rmse = error.rmse().map(|rmse| format!("RMSE {}", significant(rmse, 4)));
        let parts = [Some(error.how.clone()), baseline.map(share), always, rmse];
        let note = joined(parts.into_iter().flatten(), "; ");
        cards.push(card(&format!("{origin} {}", loss.title()), error.loss, error.interval, note, origin));
    }
    let r2 = error.figures.filter(|_| record.data.classes.is_none()).and_then(|figures| figures.r2);
    if let Some(r2) = r2.filter(|_| loss.is(&Squared)) {
        // A squared error and its R² give the variance of these rows.
        let variance = (error.loss / (1.0 - r2)).abs();
        let interval =
            error.interval.map(|([low, high], level)| ([1.0 - high / variance, 1.0 - low / variance], level));
        let note = "share of the variance explained".to_owned();
        cards.push(card(&format!("{origin} R²"), r2, interval.filter(|([low, _], _)| low.is_finite()), note, origin));
    }
    cards
}

fn card(label: &str, value: f64, interval: Option<([f64; 2], f64)>, note: String, class: &str) -> String {
    let interval = interval.map(|(ends, level)| interval_text(ends, level)).unwrap_or_default();
    let label = element("div class=\"label\"", &capital(label));
    let value = element(&format!("div class=\"value\" title=\"{}\"", full(value)), &short(value));
    let (interval, note) = (element("div class=\"interval\"", &interval), element("div class=\"note\"", &note));
    format!("<div class=\"card {class}\">{label}{value}{interval}{note}</div>\n")
}
