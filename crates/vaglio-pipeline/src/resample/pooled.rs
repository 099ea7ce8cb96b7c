//! Predictions of rows held out, those of all folds in one place.

use super::behind::RowLabels;
use super::tally::{Compared, EVERY, Tally};
use ndarray::{Array2, Axis, concatenate, s};
use std::borrow::Cow;
use vaglio_core::{ClassOrder, Error, Loss, Result, ZeroOne};
use vaglio_report::record::Figures;

/// Rows of all folds up to which a standard error keeps every cluster.
const MOST_ROWS: usize = 1 << 20;
/// Clusters of each fold where there are more rows; the standard error has a relative one of 1/√(2·2¹⁶) at most, or 0.28 %.
const MOST_CLUSTERS: u32 = 1 << 16;

/// Targets, predictions and weights of rows held out, those of all folds.
pub struct Pooled {
    /// Outputs × rows.
    pub targets: Array2<f64>,
    /// Outputs × rows.
    pub predictions: Array2<f64>,
    /// How much each row counts; all alike when absent.
    weights: Option<Vec<f64>>,
    /// The cluster of each row; each is one when absent, and its place tells it.
    clusters: Option<Vec<u32>>,
    /// The place of each row among all rows; none where they are not known.
    pub places: Vec<u32>,
    /// Where each fold ends.
    pub ends: Vec<usize>,
}

impl Pooled {
    /// # Errors
    /// [`Error::Shape`] for folds of unlike outputs, which do not occur.
    pub fn new<'a>(parts: impl Iterator<Item = Compared<'a>>) -> Result<Self> {
        let parts: Vec<Compared<'_>> = parts.collect();
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
        let failed = |e: ndarray::ShapeError| Error::Shape(format!("folds differ: {e}"));
        Ok(Pooled {
            targets: concatenate(Axis(1), &targets).map_err(failed)?,
            predictions: concatenate(Axis(1), &predictions).map_err(failed)?,
            weights: Some(weights),
            clusters: Some(clusters),
            places: Vec::new(),
            ends,
        })
    }

    /// With the places of the rows of each fold, where that has as many as were pooled of it.
    pub fn placed<'r>(&mut self, folds: impl Iterator<Item = &'r Vec<usize>>) {
        let folds: Vec<&Vec<usize>> = folds.collect();
        let starts = std::iter::once(&0).chain(&self.ends);
        let sizes = starts.zip(&self.ends).map(|(start, end)| end - start);
        if sizes.eq(folds.iter().map(|rows| rows.len())) {
            self.places = folds.into_iter().flatten().map(|&row| row as u32).collect();
        }
    }

    /// How much each row counts.
    pub fn weights(&self) -> Cow<'_, [f64]> {
        self.weights.as_ref().map_or_else(|| vec![1.0; self.targets.ncols()].into(), |weights| weights.into())
    }

    /// The rows of folds one after another, from the size of each, and its predictions with the places of its rows among those of the labels.
    /// A fold is dropped before the next is asked for, so that no predictions of many rows are in memory twice.
    pub fn of_rows(labels: &RowLabels, sizes: &[usize], folds: impl Iterator<Item = (Array2<f64>, Vec<u32>)>) -> Self {
        let (targets, rows) = (&labels.targets, sizes.iter().sum());
        let mut pooled = Pooled {
            targets: Array2::zeros((targets.nrows(), rows)),
            predictions: Array2::zeros((targets.nrows(), rows)),
            weights: labels.weights.as_ref().map(|_| Vec::with_capacity(rows)),
            clusters: labels.clusters.as_ref().map(|_| Vec::with_capacity(rows)),
            places: Vec::with_capacity(rows),
            ends: Vec::new(),
        };
        for (predictions, own) in folds {
            let from = pooled.places.len();
            for (mut to, all) in pooled.targets.rows_mut().into_iter().zip(targets.rows()) {
                to.iter_mut().skip(from).zip(&own).for_each(|(to, &row)| *to = all[row as usize]);
            }
            if let (Some(to), Some(weights)) = (&mut pooled.weights, &labels.weights) {
                to.extend(own.iter().map(|&row| weights[row as usize]));
            }
            if let (Some(to), Some(clusters)) = (&mut pooled.clusters, &labels.clusters) {
                to.extend(own.iter().map(|&row| clusters[row as usize]));
            }
            pooled.predictions.slice_mut(s![.., from..from + own.len()]).assign(&predictions);
            pooled.places.extend(own);
            pooled.ends.push(pooled.places.len());
        }
        pooled
    }

    /// What is printed after ± of a loss of these rows, whose folds were dealt so often.
    pub fn error(&self, loss: &dyn Loss, repeats: usize) -> Option<f64> {
        let fold = |(from, to): (usize, usize)| {
            let of = Compared {
                targets: self.targets.slice(s![.., from..to]),
                predictions: self.predictions.slice(s![.., from..to]),
                weights: self.weights.as_ref().map(|weights| &weights[from..to]),
                units: None,
                clusters: Some(&self.clusters.as_ref().unwrap_or(&self.places)[from..to]),
            };
            Tally::new(loss, of, if self.targets.ncols() <= MOST_ROWS { EVERY } else { MOST_CLUSTERS })
        };
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let tallies: Vec<Tally> = starts.zip(self.ends.iter().copied()).map(fold).collect();
        Tally::pooled(loss, &tallies.iter().collect::<Vec<_>>(), repeats).ok()?.1
    }

    /// Figures of these rows, of classes with the order that decides ties.
    pub fn figures(&self, classes: Option<&ClassOrder>, loss: &dyn Loss, repeats: usize) -> Figures {
        let (targets, predictions) = (self.targets.view(), self.predictions.view());
        let figures = Figures::of(classes, loss, targets, predictions, self.weights.as_deref());
        Figures {
            standard_error: self.error(loss, repeats),
            error_rate_error: figures.error_rate.and_then(|_| self.error(&ZeroOne, repeats)),
            ..figures
        }
    }
}
