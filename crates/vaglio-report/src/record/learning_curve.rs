//! The loss on rows held out by how many rows the procedure is trained on.

use crate::infinity;
use serde::{Deserialize, Serialize};
use vaglio_core::short;

/// The whole procedure repeated on parts of the training rows of outer folds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningCurve {
    /// Outer folds.
    pub folds: usize,
    /// How rows are parted, where that is not into folds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splits: Option<String>,
    /// By the share of the training rows, in increasing order.
    pub points: Vec<LearningPoint>,
}

/// A share of the training rows of every fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningPoint {
    /// The share.
    pub share: f64,
    /// How many rows that is, as a mean over folds.
    pub rows: f64,
    /// Columns that were selected, as a mean over folds.
    pub size: Option<f64>,
    /// The loss of all rows held out, pooled; absent where the procedure cannot be made on so few rows.
    #[serde(default, with = "infinity::optional")]
    pub loss: Option<f64>,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// How much lower the loss is than that of the point before.
    pub gain: Option<f64>,
    /// The standard error of that difference, on the same rows.
    pub gain_error: Option<f64>,
    /// Why there is no loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl LearningCurve {
    /// Whether more rows help, by the last step of the curve.
    pub fn sentence(&self) -> String {
        let known: Vec<&LearningPoint> = self.points.iter().filter(|point| point.loss.is_some()).collect();
        let [.., before, last] = known[..] else {
            return "The learning curve has too few points to say whether more rows would help.".into();
        };
        let percent = |point: &LearningPoint| format!("{:.0}", 100.0 * point.share);
        let steps = format!("from {} to {} % of the training rows", percent(before), percent(last));
        let way = |gain: f64| if gain < 0.0 { "rises" } else { "falls" };
        match (last.gain, last.gain_error) {
            (Some(gain), Some(error)) if gain > 1.96 * error => format!(
                "More rows would probably help: {steps} the held-out loss falls by {} ± {}.",
                short(gain),
                short(error)
            ),
            (Some(gain), Some(error)) => format!(
                "More rows of this kind would probably help little: {steps} the held-out loss {} by {} ± {}{}.",
                way(gain),
                short(gain.abs()),
                short(error),
                if gain.abs() <= 1.96 * error { ", which is within two standard errors" } else { "" }
            ),
            (Some(gain), None) => {
                format!("Learning curve: {steps} the held-out loss {} by {}.", way(gain), short(gain.abs()))
            }
            _ => "The learning curve has too few points to say whether more rows would help.".into(),
        }
    }
}
