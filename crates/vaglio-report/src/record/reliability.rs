//! Calibration of class probabilities.

use super::{PredictionRows, Record, interval_name};
use crate::interval::{LEVEL, normal_interval};
use crate::page::{self, Chart, Mark, Section};
use ndarray::ArrayView2;
use vaglio_core::{record, row_weights};

/// Reliability of held-out class probabilities, each by a logistic map fitted on the other folds.
#[record]
pub struct ReliabilityRecord {
    /// Source of the rows held out.
    pub from: PredictionRows,
    /// Number of held-out rows.
    pub rows: usize,
    /// Brier score: the mean of (p − y)² for two classes, of Σ (p − y)² over classes for more.
    pub brier: f64,
    /// Brier score if every row gets the class frequencies as probabilities.
    pub base: f64,
    /// Bins of rows with similar probability, the lowest first. The probability is that of the positive of two classes,
    /// else of the predicted class.
    pub bins: Vec<ReliabilityBin>,
}

/// Bin of rows with similar probability.
#[record]
#[derive(Copy)]
pub struct ReliabilityBin {
    /// Number of rows.
    pub rows: usize,
    /// Mean probability of the rows.
    pub predicted: f64,
    /// Share of the rows that belong to the class.
    pub observed: f64,
    /// Standard error of the observed share.
    pub error: f64,
}

/// Largest number of bins.
const BINS: usize = 10;
/// Smallest number of rows per bin.
const ROWS: usize = 5;

/// Brier score of probabilities, classes × rows, for ±1 targets, outputs × rows: the weighted mean over rows of
/// Σ (p − y)². One output counts only the positive class. Cost O(rows · classes).
///
/// # Reference
/// G. W. Brier, *Verification of forecasts expressed in terms of probability*, Monthly Weather Review 78 (1950).
pub fn brier(targets: ArrayView2<f64>, probabilities: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
    let weight = row_weights(weights);
    let squared_errors = |row: usize| -> f64 {
        let apart = |(output, target): (usize, &f64)| {
            let probability = probabilities[[if targets.nrows() == 1 { 1 } else { output }, row]];
            (probability - f64::from(u8::from(*target > 0.0))).powi(2)
        };
        targets.column(row).iter().enumerate().map(apart).sum()
    };
    let total: f64 = (0..targets.ncols()).map(weight).sum();
    (0..targets.ncols()).map(|row| weight(row) * squared_errors(row)).sum::<f64>() / total
}

impl ReliabilityRecord {
    /// Computes scores and bins from ±1 targets, outputs × rows, and probabilities, classes × rows.
    pub fn new(
        from: PredictionRows,
        targets: ArrayView2<f64>,
        probabilities: ArrayView2<f64>,
        weights: &[f64],
    ) -> Self {
        let rows = targets.ncols();
        let total: f64 = weights.iter().sum();
        let share = |output: usize| {
            let class_rows = (0..rows).filter(|&row| targets[[output, row]] > 0.0);
            class_rows.map(|row| weights[row]).sum::<f64>() / total
        };
        let base = match targets.nrows() {
            1 => share(0) * (1.0 - share(0)),
            classes => 1.0 - (0..classes).map(|class| share(class).powi(2)).sum::<f64>(),
        };
        // Weight, probability and outcome of each row.
        let event = |row: usize| {
            let [class, output] = match targets.nrows() {
                1 => [1, 0],
                _ => [super::largest(&probabilities.column(row).to_vec()); 2],
            };
            [weights[row], probabilities[[class, row]], f64::from(u8::from(targets[[output, row]] > 0.0))]
        };
        let mut events: Vec<[f64; 3]> = (0..rows).filter(|&row| weights[row] > 0.0).map(event).collect();
        events.sort_by(|a, b| a[1].total_cmp(&b[1]));
        let bins = (events.len() / ROWS).clamp(1, BINS);
        let bin = |number: usize| {
            let members = &events[number * events.len() / bins..(number + 1) * events.len() / bins];
            let weight: f64 = members.iter().map(|event| event[0]).sum();
            let mean = |part: usize| members.iter().map(|event| event[0] * event[part]).sum::<f64>() / weight;
            let observed = mean(2);
            ReliabilityBin {
                rows: members.len(),
                predicted: mean(1),
                observed,
                error: (observed * (1.0 - observed) / members.len() as f64).sqrt(),
            }
        };
        ReliabilityRecord {
            from,
            rows: events.len(),
            brier: brier(targets, probabilities, Some(weights)),
            base,
            bins: if events.is_empty() { Vec::new() } else { (0..bins).map(bin).collect() },
        }
    }
}

/// Section with the calibration of class probabilities.
pub(crate) fn calibration_section(record: &Record) -> Option<Section> {
    let (calibration, classes) = (record.calibration.as_ref()?, record.data.classes.as_ref()?);
    let what = match &classes[..] {
        [_, positive] => format!("“{positive}”"),
        _ => "the class that the row is given".into(),
    };
    let gain = if calibration.base > 0.0 { 1.0 - calibration.brier / calibration.base } else { 0.0 };
    let lead = format!(
        "The Brier score of {} {} is {}; predicting the class frequencies gives {} (skill {}).",
        page::count(calibration.rows),
        calibration.from.rows(),
        page::short(calibration.brier),
        page::short(calibration.base),
        page::percent(gain)
    );
    let class = calibration.from.title();
    let ends = |bin: &ReliabilityBin| {
        let [low, high] = normal_interval(bin.observed, bin.error, [0.0, 1.0]);
        [Some([bin.predicted, low, high]), None]
    };
    let ends = Mark::band(interval_name(LEVEL), class, calibration.bins.iter().flat_map(ends).collect());
    let points = calibration.bins.iter().map(|bin| Some([bin.predicted, bin.observed])).collect();
    let chart = Chart::unit_square("Calibration of probabilities", "probability", "observed share")
        .marks(ends)
        .mark(Mark::line("", class, points))
        .caption(format!(
            "Groups of rows with similar probability of {what}. On the diagonal the probabilities are right."
        ));
    Some(Section::new("Calibration of probabilities").text(lead).chart(chart))
}
