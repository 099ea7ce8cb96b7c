//! Learning curve: held-out loss over the number of training rows.

use vaglio_core::{record, short};

/// Learning curve: the selection is repeated on shares of the training rows of outer folds.
#[record]
pub struct LearningCurve {
    /// Number of outer folds.
    pub folds: usize,
    /// Description of the splits, if they are not plain folds.
    #[optional]
    pub splits: Option<String>,
    /// Points in increasing order of the share.
    pub points: Vec<LearningPoint>,
}

/// Result for one share of the training rows of every fold.
#[record]
#[derive(Default)]
pub struct LearningPoint {
    /// Share of the training rows.
    pub share: f64,
    /// Number of training rows, as a mean over folds.
    pub rows: f64,
    /// Number of selected columns, as a mean over folds.
    pub size: Option<f64>,
    /// Loss pooled over all held-out rows; absent if the selection fails on so few rows.
    pub loss: Option<f64>,
    /// Standard error of the loss.
    pub standard_error: Option<f64>,
    /// Decrease of the loss from the previous point.
    pub gain: Option<f64>,
    /// Standard error of the decrease, on the same rows.
    pub gain_error: Option<f64>,
    /// Reason why there is no loss.
    #[optional]
    pub refused: Option<String>,
}

impl LearningCurve {
    /// Sentence that says whether more rows would help, by the last two points.
    pub fn sentence(&self) -> String {
        let known: Vec<&LearningPoint> = self.points.iter().filter(|point| point.loss.is_some()).collect();
        let (&[.., before, last], Some(gain)) = (&known[..], known.last().and_then(|last| last.gain)) else {
            return "The learning curve has too few points to say whether more rows would help.".into();
        };
        let percent = |point: &LearningPoint| format!("{:.0}", 100.0 * point.share);
        let steps = format!("from {} to {} % of the training rows", percent(before), percent(last));
        let way = if gain < 0.0 { "rises" } else { "falls" };
        let change = format!("{steps} the held-out loss {way} by {}", short(gain.abs()));
        match last.gain_error {
            None => format!("Learning curve: {change}."),
            Some(error) if gain > 1.96 * error => {
                format!("More rows would probably help: {change} ± {}.", short(error))
            }
            Some(error) => {
                let is_within = gain.abs() <= 1.96 * error;
                let within = if is_within { ", which is within two standard errors" } else { "" };
                format!("More rows of this kind would probably help little: {change} ± {}{within}.", short(error))
            }
        }
    }
}
