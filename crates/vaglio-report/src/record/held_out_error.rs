//! Errors on rows that the selection has not seen.

use super::{Figures, PredictionRows, Record, interval_text};
use crate::interval::{LEVEL, has_width, normal_interval};
use crate::names::clause;
use vaglio_core::{Auc, Squared, ZeroOne, escape_controls, is_lower, join, pluralize, short, significant};

/// Sources of held-out errors, the most trustworthy first.
const BY_TRUST: [PredictionRows; 3] = [PredictionRows::Nested, PredictionRows::Test, PredictionRows::CrossValidation];

/// Ends of an interval, and its level.
pub(crate) type ConfidenceInterval = ([f64; 2], f64);

/// The mean loss on rows that the selection has not seen.
#[derive(Debug)]
pub struct HeldOutError<'r> {
    /// Result of the run.
    pub record: &'r Record,
    /// Source of the rows.
    pub origin: PredictionRows,
    /// The mean loss.
    pub loss: f64,
    /// Interval of the mean loss, with its level.
    pub interval: Option<ConfidenceInterval>,
    /// The loss of the same rows without features.
    pub baseline: Option<f64>,
    /// All figures of the predictions, where these were kept.
    pub figures: Option<&'r Figures>,
    /// Number of times that each row was held out.
    pub repeats: usize,
    /// Description of how the rows were held out: `5 outer folds, each with its own selection`.
    pub how: String,
}

impl Record {
    /// The errors of outer folds, test rows and cross-validation, the most trustworthy first.
    pub fn held_out_errors(&self) -> Vec<HeldOutError<'_>> {
        BY_TRUST.into_iter().filter_map(|origin| self.held_out_error(origin)).collect()
    }

    /// The error on rows from one source, if it is known and finite.
    pub fn held_out_error(&self, origin: PredictionRows) -> Option<HeldOutError<'_>> {
        let (chosen, mut figures) = (&self.chosen, self.figures(origin));
        let (loss, baseline, recorded, standard_error, repeats, how) = match origin {
            PredictionRows::Nested => {
                let nested = self.nested.as_ref()?;
                let how =
                    repetition(&nested.splits, pluralize(nested.folds, "outer fold"), "selection", nested.repeats);
                let recorded = nested.interval.zip(nested.level);
                (nested.loss, Some(nested.empty_loss), recorded, nested.standard_error, nested.repeats.max(1), how)
            }
            PredictionRows::Test => {
                let test = self.test.as_ref()?;
                (test.loss, test.empty_loss, None, test.standard_error, 1, pluralize(test.rows, "test row"))
            }
            PredictionRows::CrossValidation => {
                let (loss, folds) = chosen.cross_validated.zip(chosen.folds)?;
                let repeats = chosen.repeats.unwrap_or(1);
                let how = repetition(&chosen.splits, pluralize(folds, "fold"), "search", repeats);
                figures = figures.filter(|_| !chosen.mapped);
                let recorded = chosen.interval.zip(chosen.level);
                // Predictions are kept of the first repeat.
                (loss, chosen.empty_loss, recorded, chosen.standard_error, 1, how + &self.chosen_scale())
            }
        };
        let by_error = |error: f64| has_width(loss, error).then(|| (self.loss().interval(loss, error), LEVEL));
        let interval = recorded.or_else(|| standard_error.and_then(by_error));
        let baseline = baseline.filter(|loss| loss.is_finite());
        let error = HeldOutError { record: self, origin, loss, interval, baseline, figures, repeats, how };
        loss.is_finite().then_some(error)
    }

    /// Figures of the predictions from one source, if they were kept.
    fn figures(&self, origin: PredictionRows) -> Option<&Figures> {
        match origin {
            PredictionRows::Nested => self.nested.as_ref().map(|nested| &nested.figures),
            PredictionRows::Test => self.test.as_ref(),
            PredictionRows::CrossValidation => self.report.figures.as_ref(),
        }
    }

    /// Most trustworthy figures of predictions, with words for the predicted rows.
    pub(crate) fn most_trusted_figures(&self) -> Option<(&Figures, &'static str)> {
        BY_TRUST.into_iter().find_map(|origin| Some((self.figures(origin)?, origin.rows())))
    }

    /// `always No: 0.0335`: the error rate of the most frequent class.
    pub(crate) fn always_text(&self, figures: &Figures) -> Option<String> {
        let always = figures.always()?;
        let class = self.data.classes.as_ref()?.get(always.class)?;
        Some(format!("always {}: {}", escape_controls(class), short(always.error_rate)))
    }
}

/// Describes the splits and the work repeated in each: `2 times 5 outer folds, each with its own selection`.
fn repetition(splits: &Option<String>, folds: String, repeated: &str, repeats: usize) -> String {
    let times = if repeats > 1 { format!("{repeats} times ") } else { String::new() };
    format!("{times}{}, each with its own {repeated}", splits.as_ref().unwrap_or(&folds))
}

impl HeldOutError<'_> {
    /// The RMSE, if the loss is the squared error of numbers in the units of the data.
    pub fn rmse(&self) -> Option<f64> {
        let record = self.record;
        let is_mapped = self.origin == PredictionRows::CrossValidation && record.chosen.mapped;
        (record.loss().is(&Squared) && record.data.classes.is_none() && !is_mapped).then(|| self.loss.sqrt())
    }

    /// The loss without features and, where the loss is the error rate, the error rate of the most frequent class.
    ///
    /// If the rate of the most frequent class is lower, the loss without features is `None`.
    pub(crate) fn baselines(&self) -> (Option<f64>, Option<String>) {
        let record = self.record;
        let figures = self.figures.or(record.nested.as_ref().map(|nested| &nested.figures));
        let figures = figures.filter(|_| record.loss().is(&ZeroOne));
        let always = figures.and_then(Figures::always);
        let is_higher = |loss: &f64| always.is_some_and(|always| is_lower(always.error_rate, *loss));
        (self.baseline.filter(|loss| !is_higher(loss)), figures.and_then(|figures| record.always_text(figures)))
    }

    /// Loss with interval, RMSE and baselines: `2888.5, 95 % interval 2449 to 3423 (RMSE 53.7; without features 5963)`.
    pub(super) fn text(&self) -> String {
        const NO_INTERVAL: &str = ", no interval (rows are too few or err alike, or one has nearly all the weight)";
        let interval = self.interval.map_or(NO_INTERVAL.into(), |interval| format!(", {}", interval_text(interval)));
        let (baseline, always) = self.baselines();
        let rmse = self.rmse().map(|rmse| format!("RMSE {}", significant(rmse, 4)));
        let baseline = baseline.map(|loss| format!("without features {}", short(loss)));
        let notes = clause(" ({})", Some(join([rmse, baseline, always].into_iter().flatten(), "; ")));
        let is_scaled = self.origin == PredictionRows::CrossValidation;
        let scale = if is_scaled { self.record.chosen_scale() } else { String::new() };
        format!("{}{interval}{notes}{scale}{}", short(self.loss), self.other_errors())
    }

    /// Error rate or mean squared error, if it is not the loss itself.
    fn other_errors(&self) -> String {
        let Some(figures) = self.figures else { return String::new() };
        let loss = self.record.loss();
        let rate = figures.error_rate.filter(|_| !loss.is(&ZeroOne)).map(short);
        let always = rate.as_ref().and_then(|_| self.record.always_text(figures));
        let is_number = self.record.data.classes.is_none();
        let is_other = self.origin == PredictionRows::Test && is_number && !loss.is(&Squared);
        let squared = is_other.then(|| short(figures.mse));
        clause(", mean squared error {}", squared) + &clause(", error rate {}", rate) + &clause(" ({})", always)
    }

    /// The error rate with its 95 % interval.
    pub fn error_rate(&self) -> Option<(f64, [f64; 2])> {
        let figures = self.figures?;
        let rate = figures.error_rate?;
        // Without a recorded standard error, rows count as independent.
        let rows = (figures.rows / self.repeats).max(1) as f64;
        let error = figures.error_rate_error.unwrap_or((rate * (1.0 - rate) / rows).sqrt());
        Some((rate, normal_interval(rate, error, [0.0, 1.0])))
    }

    /// Area under the ROC curve, with an interval and its level: from the loss, or at 95 % by Hanley and McNeil.
    ///
    /// # Reference
    /// J. A. Hanley and B. J. McNeil, *The meaning and use of the area under a receiver operating characteristic (ROC)
    /// curve*, Radiology 143, 29–36, 1982.
    pub fn auc(&self) -> Option<(f64, Option<ConfidenceInterval>)> {
        if self.record.loss().is(&Auc) {
            let interval = self.interval.map(|([low, high], level)| ([1.0 - high, 1.0 - low], level));
            return Some((1.0 - self.loss, interval));
        }
        let figures = self.figures?;
        let auc = figures.auc?;
        let rows: Vec<f64> = figures.confusion.iter().flatten().map(|row| row.iter().sum::<usize>() as f64).collect();
        let [negatives, positives] = rows[..] else { return Some((auc, None)) };
        let [negatives, positives] = [negatives, positives].map(|rows| rows / self.repeats as f64);
        let by_positive = auc / (2.0 - auc) - auc * auc;
        let by_negative = 2.0 * auc * auc / (1.0 + auc) - auc * auc;
        let sum = auc * (1.0 - auc) + (positives - 1.0) * by_positive + (negatives - 1.0) * by_negative;
        let error = (sum / (positives * negatives)).max(0.0).sqrt();
        Some((auc, error.is_finite().then(|| (normal_interval(auc, error, [0.0, 1.0]), LEVEL))))
    }
}
