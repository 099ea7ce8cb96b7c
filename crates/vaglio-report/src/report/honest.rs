//! What the selection is worth: the figures of rows that it had not seen, the most trustworthy first.

use super::labels;
use super::number::{self, counted, rounded, short, significant};
pub use super::origin::Origin;
use super::source::{RecordView, finite};
use crate::record::{Against, Figures, LossDifference, LossName, NullFigure, level_text};
use serde::Serialize;
use vaglio_core::{Auc, Rule, Squared, ZeroOne};

/// The loss on rows that the selection had not seen.
pub struct Honest<'r> {
    pub origin: Origin,
    pub loss: f64,
    pub error: Option<f64>,
    /// Between what the truth lies, with its level, in place of the error.
    pub interval: Option<([f64; 2], f64)>,
    pub empty: Option<f64>,
    /// What they lose more than no column.
    pub difference: Option<&'r LossDifference>,
    /// All figures, where predictions were kept.
    pub figures: Option<&'r Figures>,
    /// Rows, each as often as it was held out.
    repeats: usize,
    /// How it came about: `5 outer folds`.
    pub how: String,
}

/// A figure in large type.
#[derive(Serialize)]
pub struct Card {
    label: String,
    value: String,
    full: String,
    spread: String,
    note: String,
    class: &'static str,
}

/// Every figure of rows that the selection had not seen: nested, cross-validated, test.
pub fn honest<'r>(source: &RecordView<'r>) -> Vec<Honest<'r>> {
    let record = source.record;
    let mut out = Vec::new();
    let times = |repeats: usize| if repeats > 1 { format!(", {repeats} times") } else { String::new() };
    if let Some((nested, loss)) = record.nested.as_ref().and_then(|n| Some((n, finite(n.loss)?))) {
        out.push(Honest {
            origin: Origin::Nested,
            loss,
            error: nested.standard_error.and_then(finite),
            interval: nested.interval.zip(nested.level),
            difference: nested.difference.as_ref(),
            empty: finite(nested.empty_loss),
            figures: Some(&nested.figures),
            repeats: nested.repeats.max(1),
            how: match &nested.splits {
                Some(splits) => format!("{splits}, everything repeated{}", times(nested.repeats)),
                None => {
                    let folds = counted(nested.folds as u64, "outer fold");
                    format!("{folds} that repeat everything{}", times(nested.repeats))
                }
            },
        });
    }
    let chosen = &record.chosen;
    if let (Some(loss), Some(folds)) = (chosen.cross_validated.and_then(finite), chosen.folds) {
        out.push(Honest {
            origin: Origin::Cross,
            loss,
            error: chosen.standard_error.and_then(finite),
            interval: chosen.interval.zip(chosen.level),
            difference: chosen.differences.iter().find(|of| of.against == Against::Empty),
            empty: chosen.empty_loss.and_then(finite),
            // Those of the first repeat.
            figures: record.report.figures.as_ref().filter(|_| !chosen.mapped),
            repeats: 1,
            how: {
                let what = match &chosen.splits {
                    Some(splits) => format!("{splits}, the search repeated"),
                    None => format!("{} that repeat the search", counted(folds as u64, "fold")),
                };
                format!("{what}{}{}", times(chosen.repeats.unwrap_or(1)), record.chosen_scale())
            },
        });
    }
    if let Some((test, loss)) = record.test.as_ref().and_then(|test| Some((test, finite(test.loss)?))) {
        out.push(Honest {
            origin: Origin::Test,
            loss,
            error: test.standard_error.and_then(finite),
            interval: None,
            difference: None,
            empty: test.empty_loss.and_then(finite),
            figures: Some(test),
            repeats: 1,
            how: counted(test.rows as u64, "test row"),
        });
    }
    out
}

impl Honest<'_> {
    /// The error rate with its standard error, where it is not the loss itself.
    fn rate(&self, loss: &LossName) -> Option<(f64, f64)> {
        let figures = self.figures.filter(|_| !loss.is(&ZeroOne))?;
        let rate = figures.error_rate?;
        // Older records have no error of it: that of rows that do not depend on each other.
        let rows = (figures.rows / self.repeats).max(1) as f64;
        Some((rate, figures.error_rate_error.unwrap_or((rate * (1.0 - rate) / rows).sqrt())))
    }
}

/// The root of a squared error of numbers, in the unit of the target.
pub fn root(source: &RecordView<'_>, loss: f64) -> Option<String> {
    (source.loss().is(&Squared) && source.record.data.classes.is_none()).then(|| significant(loss.sqrt(), 4))
}

/// The null figure that answers to a loss on rows held out, or else to the score.
pub fn shuffled<'r>(source: &RecordView<'r>) -> Option<(&'r NullFigure, bool)> {
    let permutations = source.record.permutations.as_ref()?;
    match &permutations.cross_validated {
        Some(figure) => Some((figure, true)),
        None => Some((&permutations.score, false)),
    }
}

impl Card {
    /// With an interval in place of the error.
    fn bounded(self, interval: Option<([f64; 2], f64)>) -> Self {
        let Some(([low, high], level)) = interval else { return self };
        Card { spread: format!("{}: {} to {}", level_text(level), short(low), short(high)), ..self }
    }

    fn new(label: &str, value: f64, error: Option<f64>, note: String, class: &'static str) -> Self {
        let (text, spread) = rounded(value, error);
        let spread = spread.map(|spread| format!("± {spread}")).unwrap_or_default();
        Card { label: labels::capital(label), value: text, full: number::full(value), spread, note, class }
    }
}

/// `0.142 ± 0.023`.
fn with_spread(value: f64, error: Option<f64>) -> String {
    match rounded(value, error) {
        (value, Some(error)) => format!("{value} ± {error}"),
        (value, None) => value,
    }
}

/// A share in whole percent, or with two digits below one.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent.abs() < 1.0 {
        format!("{} %", significant(percent, 2))
    } else {
        format!("{percent:.0} %").replace('-', "−")
    }
}

/// Whether the empty model has an AUC, or an error rate, worth naming: not by leaving rows out one by one.
fn against(own: f64, empty: Option<f64>, loss: &LossName) -> String {
    match empty {
        Some(empty) if loss.is(&Auc) => format!("without any column {}", short(1.0 - empty)),
        Some(empty) if empty > 0.0 => {
            format!("{} of the {} without any column", percent(own / empty), short(empty))
        }
        _ => String::new(),
    }
}

/// The figures in large type: the honest ones, the shuffled floor, and the inner score last.
pub fn cards(source: &RecordView<'_>, honest: &[Honest<'_>]) -> Vec<Card> {
    let mut out: Vec<Card> =
        honest.iter().enumerate().flat_map(|(place, figure)| of_figure(source, figure, place == 0)).collect();
    let loss = source.loss();
    if let Some((null, is_cross)) = shuffled(source).filter(|(null, _)| null.mean.is_finite()) {
        let what = if is_cross { "cross-validated" } else { "inner score" };
        let count = counted(null.values.len() as u64, "shuffle");
        let note = format!("{what}, {count}; p = {}", significant(null.p, 3));
        let is_auc = loss.is(&Auc) && (is_cross || source.comparable);
        let (label, value) = match is_auc {
            true => ("AUC on shuffled targets", 1.0 - null.mean),
            false => ("Shuffled targets", null.mean),
        };
        out.push(Card::new(label, value, None, note, "card empty"));
    }
    if let Some(value) = source.score() {
        let is_loss = source.record.pipeline.loss.is_some();
        let empty = source.empty_score().filter(|_| is_loss);
        let optimistic = if is_loss { ", optimistic" } else { "" };
        let mut note = format!("{}{optimistic}", labels::score(source));
        if let Some(empty) = empty {
            note.push_str(&format!("; without any column {}", short(empty)));
        }
        out.push(Card::new("inner score", value, None, note, "card inner"));
    }
    out
}

/// The cards of one origin: for classes the error rate or AUC first, for numbers R² last.
fn of_figure(source: &RecordView<'_>, figure: &Honest<'_>, is_first: bool) -> Vec<Card> {
    let (loss, title, class) = (source.loss(), figure.origin.title(), style(figure.origin, is_first));
    let how = |words: String| if words.is_empty() { figure.how.clone() } else { format!("{}; {words}", figure.how) };
    let mut out = Vec::new();
    if loss.is(&Auc) {
        let auc = 1.0 - figure.loss;
        let interval = figure.interval.map(|([low, high], level)| ([1.0 - high, 1.0 - low], level));
        let card = Card::new(
            &format!("{title} AUC"),
            auc,
            figure.error,
            how(against(figure.loss, figure.empty, &loss)),
            class,
        );
        out.push(card.bounded(interval));
    }
    if let Some((rate, error)) = figure.rate(&loss) {
        let note = figure.figures.and_then(|f| source.record.always_text(f)).unwrap_or_default();
        out.push(Card::new(&format!("{title} error rate"), rate, Some(error), how(note), class));
    }
    if !loss.is(&Auc) {
        let label = format!("{title} {}", loss.title());
        let (empty, one_answer) = source.record.baselines(figure.empty, figure.figures);
        let root = root(source, figure.loss).map(|root| format!("root {root}"));
        let told = [against(figure.loss, empty, &loss)]
            .into_iter()
            .filter(|told| !told.is_empty())
            .chain(one_answer)
            .chain(root);
        let note = told.collect::<Vec<_>>().join("; ");
        out.push(Card::new(&label, figure.loss, figure.error, how(note), class).bounded(figure.interval));
    }
    if let Some(r2) = figure.figures.and_then(|f| f.r2).filter(|_| source.record.data.classes.is_none()) {
        // Of a squared loss the variance of these rows is known, and with it what no column and an error are worth.
        let variance = (figure.loss / (1.0 - r2)).abs();
        let in_variance = |value: f64| Some(value / variance).filter(|v| loss.is(&Squared) && v.is_finite());
        let empty = figure.empty.and_then(in_variance).map(|v| {
            let r2 = format!("{:.2}", 1.0 - v).replace("-0.00", "0.00").replace('-', "−");
            format!("; without any column {r2}")
        });
        let note = format!("share of the variance explained{}", empty.unwrap_or_default());
        let interval = figure
            .interval
            .and_then(|([low, high], level)| Some(([1.0 - in_variance(high)?, 1.0 - in_variance(low)?], level)));
        let card = Card::new(&format!("{title} R²"), r2, figure.error.and_then(in_variance), note, class);
        out.push(card.bounded(interval));
    }
    out
}

fn style(origin: Origin, is_first: bool) -> &'static str {
    match (origin, is_first) {
        (Origin::Nested, true) => "card nested first",
        (Origin::Cross, true) => "card cross first",
        (Origin::Test, true) => "card test first",
        (Origin::Nested, false) => "card nested",
        (Origin::Cross, false) => "card cross",
        (Origin::Test, false) => "card test",
    }
}

/// What the most trustworthy figure says, in a paragraph.
pub fn verdict(source: &RecordView<'_>, honest: &[Honest<'_>]) -> String {
    let Some(first) = honest.first() else { return nothing(source) };
    let loss = source.loss();
    let chance = source.record.may_be_chance().map_or_else(String::new, |sentence| format!("{sentence}. "));
    let gain = source.record.chosen.gain_sentence().map(|sentence| format!("{}. ", labels::capital(&sentence)));
    let mut out = chance
        + &gain.unwrap_or_default()
        + &match first.origin {
            Origin::Test => format!("On {} that it never saw", first.how),
            _ => format!("On rows held out in {}", first.how),
        };
    if let Some((rate, error)) = first.rate(&loss) {
        let floor = first.figures.and_then(|f| source.record.always_text(f)).map(|always| format!(" ({always})"));
        out.push_str(&format!(", the error rate is {}{}", with_spread(rate, Some(error)), floor.unwrap_or_default()));
    }
    let told = |figure: &Honest<'_>| {
        let rooted = |value: f64| root(source, value).map(|root| format!(" (root {root})")).unwrap_or_default();
        let (empty, _) = source.record.baselines(figure.empty, figure.figures);
        let empty = empty.map(|e| format!("; without any column it is {}{}", short(e), rooted(e)));
        let interval = figure.interval.map(|([low, high], level)| {
            format!("{} ({} interval {} to {})", short(figure.loss), level_text(level), short(low), short(high))
        });
        let (value, spread) = (interval.unwrap_or_else(|| with_spread(figure.loss, figure.error)), rooted(figure.loss));
        format!("the {} is {value}{spread}{}.", loss.title(), empty.unwrap_or_default())
    };
    out.push_str(&format!(", {}", told(first)));
    out.push_str(reading(first));
    if first.origin == Origin::Cross {
        out.push_str(" Size and λ were chosen by this figure, which makes it a little too good; --nested 5 repeats that choice too.");
    }
    if let Some(sentence) = source.record.what_intervals_hold() {
        out.push_str(&format!(" The {sentence}."));
    }
    for other in honest.iter().skip(1).filter(|other| other.origin == Origin::Test) {
        out.push_str(&format!(" On {} that it never saw, {}", other.how, told(other)));
    }
    out
}

/// Whether the columns help, by the spread.
fn reading(figure: &Honest<'_>) -> &'static str {
    if figure.difference.is_some() {
        // The first sentence says where it may be nothing.
        return "";
    }
    let (Some(empty), Some(error)) = (figure.empty, figure.error) else { return "" };
    match empty - figure.loss {
        gain if gain <= 0.0 => " By this figure the columns do not help to predict the target.",
        gain if gain < 2.0 * error => " The gain over no column is within two standard errors: it may be chance.",
        _ => "",
    }
}

fn nothing(source: &RecordView<'_>) -> String {
    let give = "--nested 5, or test data, give an honest figure.";
    if source.record.pipeline.loss.is_some() {
        format!("No figure on this page comes from rows that the selection had not seen; {give}")
    } else {
        format!("No figure on this page is an error of predictions; {give}")
    }
}

/// What shuffled targets say, in a sentence; empty without them.
pub fn floor(source: &RecordView<'_>) -> String {
    let Some((null, is_cross)) = shuffled(source) else { return String::new() };
    let own = if is_cross { source.record.chosen.cross_validated.and_then(finite) } else { source.score() };
    let (Some(own), Some(mean)) = (own, finite(null.mean)) else { return String::new() };
    let count = null.values.len();
    let what = if is_cross { "a cross-validated loss" } else { "an inner score" };
    let least = 1.0 / (count as f64 + 1.0);
    let lowest = if null.p <= least * (1.0 + 1e-9) { ", the lowest that so few shuffles can give" } else { "" };
    let lowest = if count >= 99 { "" } else { lowest };
    format!(
        "With shuffled targets, where nothing can be learned, the same search reaches {what} of {} on average ({}), against {} here: p = {}{lowest}.",
        short(mean),
        counted(count as u64, "shuffle"),
        short(own),
        significant(null.p, 3),
    )
}

/// How many columns would do, by name: the fewest whose cross-validated loss is within one standard error of what it and the
/// lowest differ by.
pub fn fewest(source: &RecordView<'_>) -> String {
    let Some(table) = &source.record.report.table else { return String::new() };
    let Ok((_, best)) = table.pick(Rule::Best) else { return String::new() };
    let chosen = &source.record.chosen;
    let place = table.lambdas.iter().position(|lambda| *lambda == chosen.lambda).unwrap_or(0);
    let cells = table.of_lambda(place);
    // Older records have none.
    if !cells.iter().any(|cell| cell.difference_error.is_some_and(|error| error > 0.0)) {
        return String::new();
    }
    let lowest = best.loss;
    let Some(least) = cells.iter().find(|cell| cell.is_near(lowest)) else { return String::new() };
    let within = format!(
        "within one standard error of their difference to the lowest cross-validated loss ({})",
        rounded(lowest, best.standard_error).0
    );
    if least.size == 0 {
        return format!("No column would do: even the empty model is {within}.");
    }
    if least.size == source.record.selected.len() {
        return format!("No fewer would do: smaller subsets are not {within}.");
    }
    let Some(entry) = source.path.iter().find(|entry| entry.size == least.size) else { return String::new() };
    let shown = 12;
    let names = source.names(&entry.subset[..entry.subset.len().min(shown)]);
    let more = match least.size.saturating_sub(shown) {
        0 => String::new(),
        n => format!(" and {} more", number::count(n as u64)),
    };
    let verb = if least.size == 1 {
        "1 column would do".into()
    } else {
        format!("{} columns would do", number::count(least.size as u64))
    };
    let sources = source.record.source_count(entry.subset.iter().copied());
    let sources = match source.record.data.made.is_empty() || sources == least.size {
        true => String::new(),
        false => format!(" (of {sources} in the data)"),
    };
    let (loss, error) = rounded(least.loss - lowest, least.difference_error);
    format!(
        "{verb}{sources}: {names}{more}. Their cross-validated loss {} is {within}: {loss} ± {} above it.",
        short(least.loss),
        error.unwrap_or_default()
    )
}
