//! Held-out predictions pooled over folds.

use super::loss_sums::{EVERY, LossSums, TargetsAndPredictions};
use ndarray::{Array2, Axis, concatenate, s};
use vaglio_core::{ClassOrder, Error, Loss, Result, ZeroOne};
use vaglio_report::record::Figures;

/// Largest number of rows for which standard errors keep every cluster.
const MOST_ROWS: usize = 1 << 20;
/// Number of clusters per fold for more rows; the standard error is off by at most 1/√(2·2¹⁶), or 0.28 %.
const MOST_CLUSTERS: u32 = 1 << 16;

/// Targets, predictions and weights of the held-out rows of all folds.
pub struct Pooled {
    /// Targets, outputs × rows.
    pub targets: Array2<f64>,
    /// Predictions, outputs × rows.
    pub predictions: Array2<f64>,
    /// Weight of each row.
    pub weights: Vec<f64>,
    /// Cluster of each row.
    clusters: Vec<u32>,
    /// Index of each row among all rows; empty if unknown.
    pub places: Vec<u32>,
    /// End of the rows of each fold.
    pub ends: Vec<usize>,
}

impl Pooled {
    /// Concatenates the held-out rows of folds.
    ///
    /// # Errors
    /// [`Error::Shape`] for folds with different outputs, which do not occur.
    pub fn new<'a>(parts: impl Iterator<Item = TargetsAndPredictions<'a>>) -> Result<Self> {
        let parts: Vec<TargetsAndPredictions<'_>> = parts.collect();
        let rows = parts.iter().map(|part| part.targets.ncols()).sum();
        let (mut targets, mut predictions, mut weights) = (Vec::new(), Vec::new(), Vec::with_capacity(rows));
        let (mut clusters, mut ends) = (Vec::with_capacity(rows), Vec::new());
        for part in parts {
            targets.push(part.targets);
            predictions.push(part.predictions);
            weights.extend(part.weights.map_or_else(|| vec![1.0; part.targets.ncols()], <[f64]>::to_vec));
            let before = clusters.len() as u32;
            clusters.extend(
                part.clusters.map_or_else(|| (before..before + part.targets.ncols() as u32).collect(), <[u32]>::to_vec),
            );
            ends.push(weights.len());
        }
        let failed = |e: ndarray::ShapeError| Error::failed("folds differ", e);
        Ok(Pooled {
            targets: concatenate(Axis(1), &targets).map_err(failed)?,
            predictions: concatenate(Axis(1), &predictions).map_err(failed)?,
            weights,
            clusters,
            places: Vec::new(),
            ends,
        })
    }

    /// Sets the row indices of each fold, if they match the pooled rows in number.
    pub fn placed<'r>(&mut self, folds: impl Iterator<Item = &'r Vec<usize>>) {
        let folds: Vec<&Vec<usize>> = folds.collect();
        let starts = std::iter::once(&0).chain(&self.ends);
        let sizes = starts.zip(&self.ends).map(|(start, end)| end - start);
        if sizes.eq(folds.iter().map(|rows| rows.len())) {
            self.places = folds.into_iter().flatten().map(|&row| row as u32).collect();
        }
    }

    /// Standard error of a loss of these rows, given the number of random splits.
    pub fn error(&self, loss: &dyn Loss, repeats: usize) -> Option<f64> {
        let fold = |(from, to): (usize, usize)| {
            let of = TargetsAndPredictions {
                targets: self.targets.slice(s![.., from..to]),
                predictions: self.predictions.slice(s![.., from..to]),
                weights: Some(&self.weights[from..to]),
                units: None,
                clusters: Some(&self.clusters[from..to]),
            };
            LossSums::new(loss, of, if self.targets.ncols() <= MOST_ROWS { EVERY } else { MOST_CLUSTERS })
        };
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let tallies: Vec<LossSums> = starts.zip(self.ends.iter().copied()).map(fold).collect();
        LossSums::pooled(loss, &tallies.iter().collect::<Vec<_>>(), repeats).ok()?.1
    }

    /// Error figures of these rows; `classes` breaks ties of classes.
    pub fn figures(&self, classes: Option<&ClassOrder>, loss: &dyn Loss, repeats: usize) -> Figures {
        let (targets, predictions) = (self.targets.view(), self.predictions.view());
        let figures = Figures::new(classes, loss, targets, predictions, Some(&self.weights));
        Figures {
            standard_error: self.error(loss, repeats),
            error_rate_error: figures.error_rate.and_then(|_| self.error(&ZeroOne, repeats)),
            ..figures
        }
    }
}
