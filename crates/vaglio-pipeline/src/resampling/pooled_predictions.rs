//! Error figures of held-out predictions pooled over folds.

use super::loss_sums::{EVERY, FoldLosses, LossSums, Pooled, TargetsAndPredictions};
use ndarray::s;
use vaglio_core::{ClassOrder, Loss, ZeroOne};
use vaglio_report::record::Figures;

/// Largest number of rows for which standard errors keep every cluster.
const MOST_ROWS: usize = 1 << 20;
/// Number of clusters per fold for more rows; the standard error is off by at most 1/√(2·2¹⁶), or 0.28 %.
const MOST_CLUSTERS: u32 = 1 << 16;

impl Pooled {
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
        FoldLosses::new(&tallies, repeats).pooled(loss).ok()?.1
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
